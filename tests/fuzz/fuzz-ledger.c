/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act/ledger.h"
#include "base/parse.h"

#define BOOT "11111111-2222-3333-4444-555555555555"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static uint32_t crc32_feed(uint32_t crc, const char *data, size_t n) {
        for (size_t i = 0; i < n; i++) {
                crc ^= (unsigned char) data[i];
                for (unsigned bit = 0; bit < 8; bit++)
                        crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
        }
        return crc;
}

/* What is printed reads as what it was, and prints as it did. */
static void check_round_trip(const char *line, size_t n) {
        static struct hn_record rec, back;
        static char text[HN_RECORD_LINE_MAX], again[HN_RECORD_LINE_MAX];
        const char *boot = BOOT;
        int k;

        if (hn_record_parse(line, n, BOOT, &rec) < 0)
                return;
        if (rec.kind == HN_RECORD_HEADER)
                boot = rec.boot_id;
        k = hn_record_print(&rec, boot, text, sizeof(text));
        assert(k > 0 && text[k - 1] == '\n');
        assert(memchr(text, '\n', (size_t) k) == text + k - 1);
        assert(hn_record_parse(text, (size_t) k - 1, boot, &back) == 0);
        assert(memcmp(&rec, &back, sizeof(rec)) == 0);
        assert(hn_record_print(&back, boot, again, sizeof(again)) == k &&
               memcmp(text, again, (size_t) k) == 0);
}

/* Whatever the lines said, the table is one. */
static void check_table(struct hn_ledger *l) {
        struct hn_task_key *keys;
        size_t n;

        assert(hn_ledger_keys(l, &keys, &n) == 0 && n == hn_ledger_size(l));
        for (size_t i = 0; i < n; i++) {
                const struct hn_ledger_entry *e = hn_ledger_find(l, &keys[i]);

                assert(i == 0 || keys[i - 1].tid < keys[i].tid ||
                       (keys[i - 1].tid == keys[i].tid && keys[i - 1].start < keys[i].start));
                assert(e && e->cgroup && e->reason);
                assert(!e->unrestricted || hn_mask_empty(hn_ledger_mask(l, e->old)));
                (void) hn_ledger_mask(l, e->want);
                (void) hn_ledger_mask(l, e->before);
        }
        assert(hn_ledger_marks(l)->n <= HN_MARKS_MAX);
        for (size_t i = 0; i < n; i++) {
                assert(hn_ledger_confirm(l, &keys[i]) == 0);
                assert(hn_ledger_withdraw(l, &keys[i]) == 0);
                assert(hn_ledger_forget(l, &keys[i]) == 0);
        }
        assert(hn_ledger_size(l) == 0);
        free(keys);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        const char *text = (const char *) data, *line;
        char *valid = malloc(n * 11 + 16), *at = valid;
        struct hn_ledger *l;
        size_t k;

        if (!valid || hn_ledger_new(BOOT, &l) < 0)
                abort();

        /* As it is: hardly a line gets past the checksum. Then with a right one for each, as one who owns the
         * file could write it. */
        assert(hn_ledger_replay(l, text, n) == 0);
        while (hn_next_line(&text, &n, &line, &k)) {
                uint32_t crc = ~crc32_feed(crc32_feed(UINT32_MAX, BOOT, strlen(BOOT)), line, k);
                char *begin = at;

                check_round_trip(line, k);
                memcpy(at, line, k);
                at += k;
                at += snprintf(at, 11, " %08x\n", (unsigned) crc);
                check_round_trip(begin, (size_t) (at - begin) - 1);
        }
        assert(hn_ledger_replay(l, valid, (size_t) (at - valid)) == 0);
        check_table(l);
        hn_ledger_free(l);
        free(valid);
        return 0;
}
