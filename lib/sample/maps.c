/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "sample/maps.h"

static bool word_is(const char *word, size_t n, const char *want) {
        return n == strlen(want) && memcmp(word, want, n) == 0;
}

/* Hexadecimal digits at *p, at least one, moved behind. */
static int parse_hex(const char **p, const char *end, uint64_t *ret) {
        const char *s = *p;
        uint64_t v = 0;

        for (; s < end; s++) {
                unsigned digit;

                if (*s >= '0' && *s <= '9')
                        digit = (unsigned) (*s - '0');
                else if (*s >= 'a' && *s <= 'f')
                        digit = (unsigned) (*s - 'a') + 10;
                else
                        break;
                if (v >> 60 != 0)
                        return -EBADMSG;
                v = v << 4 | digit;
        }
        if (s == *p)
                return -EBADMSG;
        *p = s;
        *ret = v;
        return 0;
}

static enum hn_map_kind kind_of(const char *name, size_t n, bool has_inode) {
        if (has_inode)
                return HN_MAP_FILE;
        if (n == 0 || hn_has_prefix(name, n, "[anon:"))
                return HN_MAP_ANON;
        if (word_is(name, n, "[heap]"))
                return HN_MAP_HEAP;
        /* Kernels before 4.5 wrote [stack:TID] for the stacks of threads. */
        if (word_is(name, n, "[stack]") || hn_has_prefix(name, n, "[stack:"))
                return HN_MAP_STACK;
        return *name == '[' ? HN_MAP_SPECIAL : HN_MAP_FILE;
}

/* 5629b09e4000-5629b0a05000 rw-p 00000000 00:00 0                          [heap] */
int hn_map_parse(const char *line, size_t n, struct hn_map *ret) {
        const char *p = line, *end = line + n, *word;
        struct hn_map m = { .kind = HN_MAP_ANON };
        uint64_t inode;
        size_t length, left;

        if (parse_hex(&p, end, &m.start) < 0 || p == end || *p++ != '-' || parse_hex(&p, end, &m.end) < 0 ||
            m.end < m.start)
                return -EBADMSG;
        left = (size_t) (end - p);
        if (!hn_next_word(&p, &left, &word, &length) || length != 4)
                return -EBADMSG;
        m.readable = word[0] == 'r';
        m.writable = word[1] == 'w';
        m.executable = word[2] == 'x';
        m.shared = word[3] == 's' || word[3] == 'S';

        /* Offset and device are of no use here; the inode tells a file, whatever that is called. */
        if (!hn_next_word(&p, &left, &word, &length) || !hn_next_word(&p, &left, &word, &length) ||
            !hn_next_word(&p, &left, &word, &length) || hn_parse_u64(word, length, &inode) < 0)
                return -EBADMSG;
        hn_trim(&p, &left);
        m.kind = kind_of(p, left, inode != 0);
        *ret = m;
        return 0;
}

bool hn_map_is_private_memory(const struct hn_map *m) {
        return m->writable && !m->shared &&
               (m->kind == HN_MAP_ANON || m->kind == HN_MAP_HEAP || m->kind == HN_MAP_STACK);
}

static enum hn_mempolicy policy_of(const char *word, size_t n) {
        static const struct {
                const char *name;
                enum hn_mempolicy policy;
        } names[] = {
                { "default", HN_MEMPOLICY_DEFAULT },       { "local", HN_MEMPOLICY_DEFAULT },
                { "prefer", HN_MEMPOLICY_PREFER },         { "bind", HN_MEMPOLICY_BIND },
                { "interleave", HN_MEMPOLICY_INTERLEAVE }, { "weighted", HN_MEMPOLICY_INTERLEAVE },
        };
        size_t length = 0;

        /* mpol_to_str() puts flags behind a '=' and nodes behind a ':'. Of the two names with a space,
         * "prefer (many)" and "weighted interleave", the first word is enough; the second one is no word that
         * means anything below. */
        while (length < n && word[length] != '=' && word[length] != ':')
                length++;
        for (size_t i = 0; i < HN_ELEMENTS(names); i++)
                if (word_is(word, length, names[i].name))
                        return names[i].policy;
        return HN_MEMPOLICY_OTHER;
}

/* "name=123" and nothing behind it. */
static bool value_of(const char *word, size_t n, const char *name, uint64_t *ret) {
        size_t length = strlen(name);

        return n > length + 1 && memcmp(word, name, length) == 0 && word[length] == '=' &&
               hn_parse_u64(word + length + 1, n - length - 1, ret) == 0;
}

static void count_pages(const char *word, size_t n, const struct hn_topology *topo, uint64_t *pages) {
        const char *p = word + 1, *end = word + n;
        hn_node_index node;
        unsigned id;
        uint64_t v;

        if (hn_parse_unsigned_prefix(&p, end, &id) < 0 || p == end || *p++ != '=' ||
            hn_parse_u64_prefix(&p, end, &v) < 0 || p != end)
                return;
        node = hn_topology_index(topo, id);
        if (node != HN_NODE_NONE && __builtin_add_overflow(pages[node], v, &pages[node]))
                pages[node] = UINT64_MAX;
}

/* Words between spaces and nothing else: the kernel leaves vertical tabs and the like in file names. */
static bool next_field(const char **p, const char *end, const char **ret, size_t *ret_length) {
        const char *stop;

        while (*p < end && **p == ' ')
                (*p)++;
        if (*p == end)
                return false;
        stop = memchr(*p, ' ', (size_t) (end - *p));
        if (!stop)
                stop = end;
        *ret = *p;
        *ret_length = (size_t) (stop - *p);
        *p = stop;
        return true;
}

/* 561a29d87000 default heap anon=3 dirty=3 mapmax=3 active=0 N0=3 kernelpagesize_kB=4 */
int hn_numa_map_parse(const char *line, size_t n, const struct hn_topology *topo, uint64_t *pages,
                      struct hn_numa_map *ret) {
        const char *p = line, *end = line + n, *word;
        struct hn_numa_map m = { .mapmax = 1 };
        size_t length;

        if (parse_hex(&p, end, &m.start) < 0 || p == end || *p != ' ' || !next_field(&p, end, &word, &length))
                return -EBADMSG;
        m.policy = policy_of(word, length);

        /* The kernel writes blanks and '=' of a file name in octal, hence a name is one word with one '='. */
        while (next_field(&p, end, &word, &length)) {
                uint64_t v;

                if (*word == 'N')
                        count_pages(word, length, topo, pages);
                else if (hn_has_prefix(word, length, "file="))
                        m.file = true;
                else if (word_is(word, length, "heap"))
                        m.heap = true;
                else if (word_is(word, length, "stack"))
                        m.stack = true;
                else if (word_is(word, length, "huge"))
                        m.huge = true;
                else if (value_of(word, length, "anon", &v))
                        m.anon = v;
                else if (value_of(word, length, "mapmax", &v))
                        m.mapmax = v;
                else if (value_of(word, length, "kernelpagesize_kB", &v) && v <= UINT32_MAX)
                        m.page_kb = (uint32_t) v;
        }
        *ret = m;
        return 0;
}
