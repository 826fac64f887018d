/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"

/* Not <ctype.h>: that one asks the locale. */
static bool is_space(char c) {
        return c == ' ' || (c >= '\t' && c <= '\r');
}

static bool is_digit(char c) {
        return c >= '0' && c <= '9';
}

void hn_trim(const char **text, size_t *n) {
        while (*n > 0 && (is_space(**text) || **text == '\0')) {
                (*text)++;
                (*n)--;
        }
        while (*n > 0 && (is_space((*text)[*n - 1]) || (*text)[*n - 1] == '\0'))
                (*n)--;
}

int hn_parse_u64_prefix(const char **p, const char *end, uint64_t *ret) {
        const char *s = *p;
        uint64_t v = 0;

        if (s == end || !is_digit(*s))
                return -EINVAL;
        for (; s < end && is_digit(*s); s++)
                if (__builtin_mul_overflow(v, UINT64_C(10), &v) ||
                    __builtin_add_overflow(v, (uint64_t) (*s - '0'), &v))
                        return -ERANGE;
        *p = s;
        *ret = v;
        return 0;
}

int hn_parse_unsigned_prefix(const char **p, const char *end, unsigned *ret) {
        const char *s = *p;
        uint64_t v;
        int r;

        r = hn_parse_u64_prefix(&s, end, &v);
        if (r < 0)
                return r;
        if (v > UINT32_MAX)
                return -ERANGE;
        *p = s;
        *ret = (unsigned) v;
        return 0;
}

int hn_parse_u64(const char *text, size_t n, uint64_t *ret) {
        const char *p, *end;
        uint64_t v;
        int r;

        hn_trim(&text, &n);
        p = text;
        end = text + n;
        r = hn_parse_u64_prefix(&p, end, &v);
        if (r < 0)
                return r;
        if (p != end)
                return -EINVAL;
        *ret = v;
        return 0;
}

int hn_parse_i64(const char *text, size_t n, int64_t *ret) {
        bool negative;
        uint64_t v;
        int r;

        hn_trim(&text, &n);
        negative = n > 0 && *text == '-';
        r = hn_parse_u64(text + negative, n - negative, &v);
        if (r < 0)
                return r;
        if (v > (uint64_t) INT64_MAX)
                return -ERANGE;
        *ret = negative ? -(int64_t) v : (int64_t) v;
        return 0;
}

int hn_parse_unsigned(const char *text, size_t n, unsigned *ret) {
        uint64_t v;
        int r;

        r = hn_parse_u64(text, n, &v);
        if (r < 0)
                return r;
        if (v > UINT32_MAX)
                return -ERANGE;
        *ret = (unsigned) v;
        return 0;
}

static bool is_word(const char *text, size_t n, const char *word) {
        return n == strlen(word) && memcmp(text, word, n) == 0;
}

int hn_parse_bool(const char *text, size_t n, bool *ret) {
        static const struct {
                const char *word;
                bool value;
        } words[] = {
                { "yes", true }, { "true", true },   { "on", true },   { "1", true },
                { "no", false }, { "false", false }, { "off", false }, { "0", false },
        };

        hn_trim(&text, &n);
        for (size_t i = 0; i < HN_ELEMENTS(words); i++)
                if (is_word(text, n, words[i].word)) {
                        *ret = words[i].value;
                        return 0;
                }
        return -EINVAL;
}

int hn_parse_bytes(const char *text, size_t n, uint64_t *ret) {
        static const char units[] = "KMGT";
        const char *p, *end, *unit;
        uint64_t v;
        int r;

        hn_trim(&text, &n);
        p = text;
        end = text + n;
        r = hn_parse_u64_prefix(&p, end, &v);
        if (r < 0)
                return r;
        if (p < end) {
                unit = memchr(units, *p++, sizeof(units) - 1);
                if (!unit || p != end)
                        return -EINVAL;
                if (__builtin_mul_overflow(v, UINT64_C(1024) << (10 * (unit - units)), &v))
                        return -ERANGE;
        }
        *ret = v;
        return 0;
}

/* A decimal fraction "12.345" as 12345 thousandths; digits past the third are refused, not rounded. */
static int parse_thousandths(const char **p, const char *end, uint64_t *ret) {
        const char *s = *p;
        uint64_t whole, part = 0;
        int r;

        r = hn_parse_u64_prefix(&s, end, &whole);
        if (r < 0)
                return r;
        if (s < end && *s == '.') {
                uint64_t scale = 100;

                if (++s == end || !is_digit(*s))
                        return -EINVAL;
                for (; s < end && is_digit(*s); s++, scale /= 10) {
                        if (scale == 0)
                                return -EINVAL;
                        part += (uint64_t) (*s - '0') * scale;
                }
        }
        if (__builtin_mul_overflow(whole, UINT64_C(1000), &whole) ||
            __builtin_add_overflow(whole, part, &whole))
                return -ERANGE;
        *p = s;
        *ret = whole;
        return 0;
}

int hn_parse_permille(const char *text, size_t n, unsigned *ret) {
        const char *p, *end;
        uint64_t v;
        int r;

        hn_trim(&text, &n);
        p = text;
        end = text + n;
        r = parse_thousandths(&p, end, &v);
        if (r < 0)
                return r;
        if (p < end && *p == '%')
                p++;
        if (p != end || v % 100 != 0)
                return -EINVAL;
        if (v > 100 * 1000)
                return -ERANGE;
        *ret = (unsigned) (v / 100);
        return 0;
}

int hn_parse_usec(const char *text, size_t n, hn_usec_t unit, hn_usec_t *ret) {
        static const struct {
                const char *word;
                hn_usec_t usec;
        } units[] = {
                { "us", 1 },
                { "ms", HN_USEC_PER_MSEC },
                { "s", HN_USEC_PER_SEC },
                { "min", 60 * HN_USEC_PER_SEC },
                { "h", 3600 * HN_USEC_PER_SEC },
        };
        const char *p, *end;
        uint64_t v;
        int r;

        hn_trim(&text, &n);
        p = text;
        end = text + n;
        r = parse_thousandths(&p, end, &v);
        if (r < 0)
                return r;
        if (p < end) {
                size_t i;

                for (i = 0; i < HN_ELEMENTS(units); i++)
                        if (is_word(p, (size_t) (end - p), units[i].word))
                                break;
                if (i == HN_ELEMENTS(units))
                        return -EINVAL;
                unit = units[i].usec;
        }
        if (__builtin_mul_overflow(v, unit, &v))
                return -ERANGE;
        *ret = v / 1000;
        return 0;
}

bool hn_next_line(const char **text, size_t *n, const char **ret_line, size_t *ret_length) {
        const char *newline;
        size_t length;

        if (*n == 0)
                return false;
        newline = memchr(*text, '\n', *n);
        length = newline ? (size_t) (newline - *text) : *n;
        *ret_line = *text;
        *ret_length = length;
        length += newline != NULL;
        *text += length;
        *n -= length;
        return true;
}

bool hn_next_word(const char **text, size_t *n, const char **ret_word, size_t *ret_length) {
        const char *p = *text, *end = p + *n, *start;

        while (p < end && is_space(*p))
                p++;
        start = p;
        while (p < end && !is_space(*p))
                p++;
        *text = p;
        *n = (size_t) (end - p);
        if (p == start)
                return false;
        *ret_word = start;
        *ret_length = (size_t) (p - start);
        return true;
}

bool hn_has_prefix(const char *line, size_t n, const char *prefix) {
        size_t length = strlen(prefix);

        return n >= length && memcmp(line, prefix, length) == 0;
}
