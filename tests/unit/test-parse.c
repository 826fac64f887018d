/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"

/* Not the result of any row: shows that a refused text left it alone. */
#define UNTOUCHED 777u

/* `n` counts the bytes of the text; 0 stands for strlen(). */
#define LENGTH(row) ((row).n ? (row).n : strlen((row).text))

static const struct {
        const char *text;
        size_t n;
        int r;
        uint64_t want;
} u64s[] = {
        { "0", 0, 0, 0 },
        { "  42\n", 0, 0, 42 },
        { "42\n\0\0", 5, 0, 42 },
        { "007", 0, 0, 7 },
        { "18446744073709551615", 0, 0, UINT64_MAX },
        { "18446744073709551616", 0, -ERANGE, 0 },
        { "99999999999999999999999", 0, -ERANGE, 0 },
        { "1234", 2, 0, 12 },
        { "", 0, -EINVAL, 0 },
        { " ", 0, -EINVAL, 0 },
        { "-1", 0, -EINVAL, 0 },
        { "+1", 0, -EINVAL, 0 },
        { "0x10", 0, -EINVAL, 0 },
        { "1 2", 0, -EINVAL, 0 },
        { "1\0002", 3, -EINVAL, 0 },
        { "12kB", 0, -EINVAL, 0 },
        { "\xd9\xa1", 0, -EINVAL, 0 }, /* an Arabic digit */
};

static void numbers(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(u64s); i++) {
                uint64_t v = UNTOUCHED;

                assert_int_equal(hn_parse_u64(u64s[i].text, LENGTH(u64s[i]), &v), u64s[i].r);
                assert_true(v == (u64s[i].r == 0 ? u64s[i].want : UNTOUCHED));
        }
}

static const struct {
        const char *text;
        int r;
        int64_t want;
} i64s[] = {
        { "-1", 0, -1 },
        { " -0 ", 0, 0 },
        { "9223372036854775807", 0, INT64_MAX },
        { "-9223372036854775807", 0, -INT64_MAX },
        { "9223372036854775808", -ERANGE, 0 },
        { "--1", -EINVAL, 0 },
        { "-", -EINVAL, 0 },
        { "", -EINVAL, 0 },
};

static void signed_numbers(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(i64s); i++) {
                int64_t v = UNTOUCHED;

                assert_int_equal(hn_parse_i64(i64s[i].text, strlen(i64s[i].text), &v), i64s[i].r);
                assert_true(v == (i64s[i].r == 0 ? i64s[i].want : (int64_t) UNTOUCHED));
        }
}

static const struct {
        const char *text;
        int r;
        unsigned want;
} unsigneds[] = {
        { "4294967295", 0, UINT32_MAX },
        { "4294967296", -ERANGE, 0 },
        { "12", 0, 12 },
        { "x", -EINVAL, 0 },
};

static void small_numbers(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(unsigneds); i++) {
                const char *p = unsigneds[i].text, *end = p + strlen(p);
                unsigned v = UNTOUCHED, w = UNTOUCHED;

                assert_int_equal(hn_parse_unsigned(p, strlen(p), &v), unsigneds[i].r);
                assert_int_equal(v, unsigneds[i].r == 0 ? unsigneds[i].want : UNTOUCHED);
                assert_int_equal(hn_parse_unsigned_prefix(&p, end, &w), unsigneds[i].r);
                assert_int_equal(w, v);
                assert_ptr_equal(p, unsigneds[i].r == 0 ? end : unsigneds[i].text);
        }
}

static void a_prefix_ends_where_the_digits_do(void **state) {
        const char *text = "12=34", *p = text, *end = text + strlen(text);
        uint64_t v;

        (void) state;
        assert_int_equal(hn_parse_u64_prefix(&p, end, &v), 0);
        assert_true(v == 12 && p == text + 2);
        assert_int_equal(hn_parse_u64_prefix(&p, end, &v), -EINVAL);
        assert_ptr_equal(p, text + 2);
        assert_int_equal(hn_parse_u64_prefix(&p, p, &v), -EINVAL);
}

static const struct {
        const char *text;
        int r;
        bool want;
} bools[] = {
        { "yes", 0, true },        { "true", 0, true },        { "on", 0, true },
        { "1", 0, true },          { "no", 0, false },         { "false", 0, false },
        { "off", 0, false },       { " 0\n", 0, false },       { "", -EINVAL, false },
        { "ye", -EINVAL, false },  { "yess", -EINVAL, false }, { "2", -EINVAL, false },
        { "Yes", -EINVAL, false },
};

static void booleans(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(bools); i++) {
                bool v = !bools[i].want;

                assert_int_equal(hn_parse_bool(bools[i].text, strlen(bools[i].text), &v), bools[i].r);
                assert_int_equal(v, bools[i].r == 0 ? bools[i].want : !bools[i].want);
        }
}

static const struct {
        const char *text;
        int r;
        uint64_t want;
} sizes[] = {
        { "0", 0, 0 },
        { "4096", 0, 4096 },
        { "4K", 0, 4096 },
        { "200M", 0, UINT64_C(200) << 20 },
        { " 1G ", 0, UINT64_C(1) << 30 },
        { "3T", 0, UINT64_C(3) << 40 },
        { "16777215T", 0, UINT64_C(16777215) << 40 },
        { "16777216T", -ERANGE, 0 },
        { "4k", -EINVAL, 0 },
        { "4KB", -EINVAL, 0 },
        { "4 K", -EINVAL, 0 },
        { "K", -EINVAL, 0 },
        { "1.5G", -EINVAL, 0 },
        { "-1K", -EINVAL, 0 },
        { "", -EINVAL, 0 },
};

static void byte_sizes(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(sizes); i++) {
                uint64_t v = UNTOUCHED;

                assert_int_equal(hn_parse_bytes(sizes[i].text, strlen(sizes[i].text), &v), sizes[i].r);
                assert_true(v == (sizes[i].r == 0 ? sizes[i].want : UNTOUCHED));
        }
}

static const struct {
        const char *text;
        int r;
        unsigned want;
} permilles[] = {
        { "0.5%", 0, 5 },        { "5", 0, 50 },           { "5%", 0, 50 },
        { "100%", 0, 1000 },     { "12.3", 0, 123 },       { "12.30%", 0, 123 },
        { "0%", 0, 0 },          { "100.1%", -ERANGE, 0 }, { "101", -ERANGE, 0 },
        { "0.05%", -EINVAL, 0 }, /* finer than we count */
        { "1.%", -EINVAL, 0 },   { ".5%", -EINVAL, 0 },    { "5%%", -EINVAL, 0 },
        { "%", -EINVAL, 0 },     { "", -EINVAL, 0 },       { "99999999999999999999%", -ERANGE, 0 },
};

static void shares(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(permilles); i++) {
                unsigned v = UNTOUCHED;

                assert_int_equal(hn_parse_permille(permilles[i].text, strlen(permilles[i].text), &v),
                                 permilles[i].r);
                assert_int_equal(v, permilles[i].r == 0 ? permilles[i].want : UNTOUCHED);
        }
}

static const struct {
        const char *text;
        hn_usec_t unit;
        int r;
        hn_usec_t want;
} spans[] = {
        { "20", HN_USEC_PER_MSEC, 0, 20000 },
        { "20ms", HN_USEC_PER_SEC, 0, 20000 },
        { "1.5s", 1, 0, 1500000 },
        { "7us", HN_USEC_PER_SEC, 0, 7 },
        { "2min", 1, 0, 120 * HN_USEC_PER_SEC },
        { "1h", 1, 0, 3600 * HN_USEC_PER_SEC },
        { "0", HN_USEC_PER_SEC, 0, 0 },
        { "0.001", HN_USEC_PER_SEC, 0, 1000 },
        { "1.0005s", 1, -EINVAL, 0 },
        { "1 s", 1, -EINVAL, 0 },
        { "1d", 1, -EINVAL, 0 },
        { "s", 1, -EINVAL, 0 },
        { "-1s", 1, -EINVAL, 0 },
        { "", 1, -EINVAL, 0 },
        { "18446744073709551615h", 1, -ERANGE, 0 },
};

static void time_spans(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(spans); i++) {
                hn_usec_t v = UNTOUCHED;

                assert_int_equal(hn_parse_usec(spans[i].text, strlen(spans[i].text), spans[i].unit, &v),
                                 spans[i].r);
                assert_true(v == (spans[i].r == 0 ? spans[i].want : UNTOUCHED));
        }
}

static void lines_and_words(void **state) {
        static const char text[] = "one two\n\n \tthree\nlast";
        static const char *const lines[] = { "one two", "", " \tthree", "last" };
        static const char *const words[] = { "one", "two", "three", "last" };
        const char *p = text, *found;
        size_t n = strlen(text), length;

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(lines); i++) {
                assert_true(hn_next_line(&p, &n, &found, &length));
                assert_int_equal(length, strlen(lines[i]));
                assert_memory_equal(found, lines[i], length);
        }
        assert_false(hn_next_line(&p, &n, &found, &length));

        p = text;
        n = strlen(text);
        for (size_t i = 0; i < HN_ELEMENTS(words); i++) {
                assert_true(hn_next_word(&p, &n, &found, &length));
                assert_int_equal(length, strlen(words[i]));
                assert_memory_equal(found, words[i], length);
        }
        assert_false(hn_next_word(&p, &n, &found, &length));

        /* A newline at the end does not make another line. */
        p = "x\n";
        n = 2;
        assert_true(hn_next_line(&p, &n, &found, &length));
        assert_false(hn_next_line(&p, &n, &found, &length));
}

static void prefixes(void **state) {
        (void) state;
        assert_true(hn_has_prefix("Node 0", 6, "Node "));
        assert_true(hn_has_prefix("x", 1, ""));
        assert_false(hn_has_prefix("Node 0", 4, "Node "));
        assert_false(hn_has_prefix("", 0, "N"));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(numbers),         cmocka_unit_test(signed_numbers),
                cmocka_unit_test(small_numbers),   cmocka_unit_test(a_prefix_ends_where_the_digits_do),
                cmocka_unit_test(booleans),        cmocka_unit_test(byte_sizes),
                cmocka_unit_test(shares),          cmocka_unit_test(time_spans),
                cmocka_unit_test(lines_and_words), cmocka_unit_test(prefixes),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
