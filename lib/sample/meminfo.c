/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "sample/meminfo.h"

/* A node's file has 40 lines of 40 bytes, today; /proc/meminfo 55. */
#define TEXT_MAX 65536u

enum field {
        FIELD_TOTAL,
        FIELD_FREE,
        FIELD_ACTIVE_FILE,
        FIELD_INACTIVE_FILE,
        FIELD_DIRTY,
        FIELD_WRITEBACK,
        _FIELD_MAX,
};

static const char *const field_names[_FIELD_MAX] = {
        [FIELD_TOTAL] = "MemTotal:",
        [FIELD_FREE] = "MemFree:",
        [FIELD_ACTIVE_FILE] = "Active(file):",
        [FIELD_INACTIVE_FILE] = "Inactive(file):",
        [FIELD_DIRTY] = "Dirty:",
        [FIELD_WRITEBACK] = "Writeback:",
};

static void parse_line(const char *line, size_t n, uint64_t *fields) {
        const char *key, *value;
        size_t key_length, value_length;
        uint64_t kib;

        if (hn_has_prefix(line, n, "Node ")) {
                if (!hn_next_word(&line, &n, &key, &key_length) ||
                    !hn_next_word(&line, &n, &key, &key_length))
                        return;
        }
        if (!hn_next_word(&line, &n, &key, &key_length) || !hn_next_word(&line, &n, &value, &value_length))
                return;
        for (size_t i = 0; i < _FIELD_MAX; i++) {
                if (key_length != strlen(field_names[i]) || memcmp(key, field_names[i], key_length) != 0)
                        continue;
                if (hn_parse_u64(value, value_length, &kib) == 0 && kib <= UINT64_MAX / 1024)
                        fields[i] = kib * 1024;
        }
}

static uint64_t sum(uint64_t a, uint64_t b) {
        return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

void hn_meminfo_parse(const char *text, size_t n, struct hn_meminfo *ret) {
        uint64_t f[_FIELD_MAX] = {}, cache, unclean;
        struct hn_meminfo m;
        const char *line;
        size_t length;

        while (hn_next_line(&text, &n, &line, &length))
                parse_line(line, length, f);

        cache = sum(f[FIELD_ACTIVE_FILE], f[FIELD_INACTIVE_FILE]);
        unclean = sum(f[FIELD_DIRTY], f[FIELD_WRITEBACK]);
        m = (struct hn_meminfo){
                .total = f[FIELD_TOTAL],
                .free = f[FIELD_FREE],
                .reclaimable = cache > unclean ? cache - unclean : 0,
        };
        /* The kernel counts each of them at another moment: they may add up to more than there is. */
        if (m.total > 0) {
                m.free = HN_MIN(m.free, m.total);
                m.reclaimable = HN_MIN(m.reclaimable, m.total - m.free);
        }
        *ret = m;
}

static int parse_if_there(ssize_t n, const char *text, struct hn_meminfo *ret) {
        if (n == -ENOMEM)
                return -ENOMEM;
        if (n < 0)
                *ret = HN_MEMINFO_NULL;
        else
                hn_meminfo_parse(text, (size_t) n, ret);
        return 0;
}

int hn_meminfo_read_node(const struct hn_sysroot *root, unsigned id, struct hn_meminfo *ret) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        ssize_t n;

        n = hn_read_all_at(root->fd, TEXT_MAX, &text, "sys/devices/system/node/node%u/meminfo", id);
        return parse_if_there(n, text, ret);
}

int hn_meminfo_read(const struct hn_sysroot *root, struct hn_meminfo *ret) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        ssize_t n;

        n = hn_read_all_at(root->fd, TEXT_MAX, &text, "proc/meminfo");
        return parse_if_there(n, text, ret);
}
