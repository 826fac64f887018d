/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stddef.h>

#include "base/macro.h"
#include "base/parse.h"
#include "policy/wish.h"

/* The decimals behind a point, as thousandths. A fourth one is left to whoever looks at what follows. */
static int parse_decimals(const char **p, const char *end, uint64_t *ret) {
        const char *start = *p;
        int r = hn_parse_u64_prefix(p, start + HN_MIN(end - start, 3), ret);

        /* Without any there is no value that this would change. */
        for (ptrdiff_t n = *p - start; n < 3; n++)
                *ret *= 10;
        return r;
}

static int parse_memory(const char *text, size_t n, uint64_t *ret) {
        int r;

        /* White space is for the ends of the whole. */
        if (n == 0 || *text < '0' || *text > '9')
                return -EINVAL;
        if (text[n - 1] > '9')
                return hn_parse_bytes(text, n, ret);
        r = hn_parse_u64(text, n, ret);
        if (r == 0 && __builtin_mul_overflow(*ret, UINT64_C(1) << 20, ret))
                return -ERANGE;
        return r;
}

int hn_wish_parse(const char *text, size_t n, struct hn_wish *ret) {
        struct hn_wish w = HN_WISH_NULL;
        uint64_t part = 0;
        const char *p, *end;
        int r;

        hn_trim(&text, &n);
        p = text;
        end = text + n;
        r = hn_parse_u64_prefix(&p, end, &w.cpus);
        if (r < 0)
                return r;
        if (p < end && *p == '.') {
                p++;
                r = parse_decimals(&p, end, &part);
                if (r < 0)
                        return r;
        }
        if (p < end) {
                if (*p++ != ':')
                        return -EINVAL;
                r = parse_memory(p, (size_t) (end - p), &w.memory);
                if (r < 0)
                        return r;
        }
        if (w.cpus > HN_WISH_CPUS_MAX / 1000 - (part > 0))
                return -ERANGE;
        w.cpus = w.cpus * 1000 + part;
        *ret = w;
        return 0;
}
