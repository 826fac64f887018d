/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/mask.h"
#include "base/parse.h"

bool hn_mask_add(struct hn_mask *m, unsigned id) {
        if (id >= HN_MASK_BITS)
                return false;
        m->word[id / 64] |= UINT64_C(1) << (id % 64);
        return true;
}

void hn_mask_remove(struct hn_mask *m, unsigned id) {
        if (id < HN_MASK_BITS)
                m->word[id / 64] &= ~(UINT64_C(1) << (id % 64));
}

bool hn_mask_has(const struct hn_mask *m, unsigned id) {
        return id < HN_MASK_BITS && (m->word[id / 64] >> (id % 64) & 1);
}

void hn_mask_add_range(struct hn_mask *m, unsigned first, unsigned last) {
        for (unsigned id = first; id <= last && id < HN_MASK_BITS; id++)
                hn_mask_add(m, id);
}

struct hn_mask hn_mask_and(const struct hn_mask *a, const struct hn_mask *b) {
        struct hn_mask r;

        for (size_t i = 0; i < HN_MASK_WORDS; i++)
                r.word[i] = a->word[i] & b->word[i];
        return r;
}

struct hn_mask hn_mask_or(const struct hn_mask *a, const struct hn_mask *b) {
        struct hn_mask r;

        for (size_t i = 0; i < HN_MASK_WORDS; i++)
                r.word[i] = a->word[i] | b->word[i];
        return r;
}

struct hn_mask hn_mask_andnot(const struct hn_mask *a, const struct hn_mask *b) {
        struct hn_mask r;

        for (size_t i = 0; i < HN_MASK_WORDS; i++)
                r.word[i] = a->word[i] & ~b->word[i];
        return r;
}

bool hn_mask_empty(const struct hn_mask *m) {
        return hn_mask_next(m, 0) == HN_MASK_NONE;
}

bool hn_mask_equal(const struct hn_mask *a, const struct hn_mask *b) {
        return memcmp(a->word, b->word, sizeof(a->word)) == 0;
}

bool hn_mask_subset(const struct hn_mask *inner, const struct hn_mask *outer) {
        for (size_t i = 0; i < HN_MASK_WORDS; i++)
                if (inner->word[i] & ~outer->word[i])
                        return false;
        return true;
}

bool hn_mask_intersects(const struct hn_mask *a, const struct hn_mask *b) {
        for (size_t i = 0; i < HN_MASK_WORDS; i++)
                if (a->word[i] & b->word[i])
                        return true;
        return false;
}

unsigned hn_mask_count(const struct hn_mask *m) {
        unsigned n = 0;

        for (size_t i = 0; i < HN_MASK_WORDS; i++)
                n += (unsigned) __builtin_popcountll(m->word[i]);
        return n;
}

unsigned hn_mask_next(const struct hn_mask *m, unsigned from) {
        for (unsigned i = from / 64; i < HN_MASK_WORDS; i++) {
                uint64_t w = m->word[i];

                if (i == from / 64)
                        w &= ~UINT64_C(0) << (from % 64);
                if (w)
                        return i * 64 + (unsigned) __builtin_ctzll(w);
        }
        return HN_MASK_NONE;
}

unsigned hn_mask_last(const struct hn_mask *m) {
        for (unsigned i = HN_MASK_WORDS; i-- > 0;)
                if (m->word[i])
                        return i * 64 + 63 - (unsigned) __builtin_clzll(m->word[i]);
        return HN_MASK_NONE;
}

/* One token of a list: first[-last[:used/group]]. */
static int parse_token(const char *text, size_t n, struct hn_mask *m) {
        unsigned first, last, used = 1, group = 1;
        const char *end = text + n, *p = text;
        int r;

        r = hn_parse_unsigned_prefix(&p, end, &first);
        if (r < 0)
                return r;
        last = first;
        if (p < end && *p == '-') {
                p++;
                r = hn_parse_unsigned_prefix(&p, end, &last);
                if (r < 0)
                        return r;
                if (p < end && *p == ':') {
                        p++;
                        r = hn_parse_unsigned_prefix(&p, end, &used);
                        if (r < 0)
                                return r;
                        if (p == end || *p++ != '/')
                                return -EINVAL;
                        r = hn_parse_unsigned_prefix(&p, end, &group);
                        if (r < 0)
                                return r;
                }
        }
        if (p != end || last < first || used == 0 || group == 0 || used > group)
                return -EINVAL;
        if (last >= HN_MASK_BITS)
                return -ERANGE;

        for (unsigned id = first; id <= last; id++)
                if ((id - first) % group < used)
                        hn_mask_add(m, id);
        return 0;
}

int hn_mask_parse_list(const char *text, size_t n, struct hn_mask *ret) {
        struct hn_mask m = HN_MASK_NULL;

        hn_trim(&text, &n);
        while (n > 0) {
                const char *comma = memchr(text, ',', n), *token = text;
                size_t length = comma ? (size_t) (comma - text) : n, step = comma ? length + 1 : n;
                int r;

                if (comma && step == n)
                        return -EINVAL; /* a comma with nothing behind it */
                text += step;
                n -= step;
                hn_trim(&token, &length);
                r = parse_token(token, length, &m);
                if (r < 0)
                        return r;
        }
        *ret = m;
        return 0;
}

/* Appends a decimal number. Returns the new length, or `size` where there is no room left for a NUL. */
static size_t put_number(char *buf, size_t at, size_t size, unsigned v) {
        char digits[10];
        size_t k = 0;

        do
                digits[k++] = (char) ('0' + v % 10);
        while (v /= 10);
        while (k > 0 && at < size)
                buf[at++] = digits[--k];
        return at;
}

int hn_mask_print_list(const struct hn_mask *m, char *buf, size_t size) {
        size_t at = 0;

        if (size == 0)
                return -ENOBUFS;
        for (unsigned id = hn_mask_next(m, 0), last; id != HN_MASK_NONE; id = hn_mask_next(m, last + 1)) {
                for (last = id; hn_mask_has(m, last + 1); last++)
                        ;
                if (at > 0 && at < size)
                        buf[at++] = ',';
                at = put_number(buf, at, size, id);
                if (last > id) {
                        if (at < size)
                                buf[at++] = '-';
                        at = put_number(buf, at, size, last);
                }
        }
        if (at >= size) {
                buf[0] = '\0';
                return -ENOBUFS;
        }
        buf[at] = '\0';
        return (int) at;
}
