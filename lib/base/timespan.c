/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/timespan.h"

static const struct {
        const char *word;
        hn_usec_t usec;
} units[] = {
        { "us", 1 },
        { "usec", 1 },
        { "ms", HN_USEC_PER_MSEC },
        { "msec", HN_USEC_PER_MSEC },
        { "s", HN_USEC_PER_SEC },
        { "sec", HN_USEC_PER_SEC },
        { "second", HN_USEC_PER_SEC },
        { "seconds", HN_USEC_PER_SEC },
        { "m", 60 * HN_USEC_PER_SEC },
        { "min", 60 * HN_USEC_PER_SEC },
        { "minute", 60 * HN_USEC_PER_SEC },
        { "minutes", 60 * HN_USEC_PER_SEC },
        { "h", 3600 * HN_USEC_PER_SEC },
        { "hr", 3600 * HN_USEC_PER_SEC },
        { "hour", 3600 * HN_USEC_PER_SEC },
        { "hours", 3600 * HN_USEC_PER_SEC },
        { "d", 86400 * HN_USEC_PER_SEC },
        { "day", 86400 * HN_USEC_PER_SEC },
        { "days", 86400 * HN_USEC_PER_SEC },
        { "w", 604800 * HN_USEC_PER_SEC },
        { "week", 604800 * HN_USEC_PER_SEC },
        { "weeks", 604800 * HN_USEC_PER_SEC },
};

static void skip_blanks(const char **p, const char *end) {
        while (*p < end && (**p == ' ' || **p == '\t'))
                (*p)++;
}

/* Without a unit: seconds, if it is the last part. */
static int parse_unit(const char **p, const char *end, hn_usec_t *ret) {
        const char *word = *p;
        size_t n;

        while (*p < end && ((**p >= 'a' && **p <= 'z') || (**p >= 'A' && **p <= 'Z')))
                (*p)++;
        n = (size_t) (*p - word);
        if (n == 0 && *p == end) {
                *ret = HN_USEC_PER_SEC;
                return 0;
        }
        for (size_t i = 0; i < HN_ELEMENTS(units); i++)
                if (n == strlen(units[i].word) && memcmp(word, units[i].word, n) == 0) {
                        *ret = units[i].usec;
                        return 0;
                }
        return -EINVAL;
}

/* The digits behind a point, to be weighed once the unit is known. */
static int skip_fraction(const char **p, const char *end, const char **ret_digits, size_t *ret_n) {
        *ret_digits = *p;
        *ret_n = 0;
        if (*p == end || **p != '.')
                return 0;
        *ret_digits = ++*p;
        while (*p < end && **p >= '0' && **p <= '9')
                (*p)++;
        *ret_n = (size_t) (*p - *ret_digits);
        return *ret_n > 0 ? 0 : -EINVAL;
}

static int parse_part(const char **p, const char *end, hn_usec_t *sum) {
        const char *digits;
        hn_usec_t unit, whole;
        size_t n_digits;
        int r;

        r = hn_parse_u64_prefix(p, end, &whole);
        if (r >= 0)
                r = skip_fraction(p, end, &digits, &n_digits);
        if (r < 0)
                return r;
        skip_blanks(p, end);
        r = parse_unit(p, end, &unit);
        if (r < 0)
                return r;
        if (__builtin_mul_overflow(whole, unit, &whole) || __builtin_add_overflow(*sum, whole, sum))
                return -ERANGE;
        /* Each digit is a tenth of the one before; what is less than a microsecond is cut off. */
        for (size_t i = 0; i < n_digits && unit > 0; i++) {
                unit /= 10;
                if (__builtin_add_overflow(*sum, unit * (hn_usec_t) (digits[i] - '0'), sum))
                        return -ERANGE;
        }
        return 0;
}

int hn_timespan_parse(const char *text, size_t n, hn_usec_t *ret) {
        const char *p, *end;
        hn_usec_t sum = 0;
        int r;

        hn_trim(&text, &n);
        if (n == strlen("infinity") && memcmp(text, "infinity", n) == 0) {
                *ret = HN_USEC_INFINITY;
                return 0;
        }
        p = text;
        end = text + n;
        do {
                r = parse_part(&p, end, &sum);
                if (r < 0)
                        return r;
                skip_blanks(&p, end);
        } while (p < end);
        /* Not to be taken for the word. */
        if (sum == HN_USEC_INFINITY)
                return -ERANGE;
        *ret = sum;
        return 0;
}
