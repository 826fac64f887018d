/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/escape.h"
#include "base/macro.h"

static const struct {
        const char *text, *want;
} rows[] = {
        { "a) S 1\n(b:=", "a) S 1\\x0a(b:=" },
        { "\x1b[31mred", "\\x1b[31mred" },
        { "tab\tdel\x7f", "tab\\x09del\\x7f" },
        { "\xff\xfe", "\\xff\\xfe" },
        { "cut \xe2\x82", "cut \\xe2\\x82" },
        { "overlong \xc0\xaf", "overlong \\xc0\\xaf" },
        { "surrogate \xed\xa0\x80", "surrogate \\xed\\xa0\\x80" },
        { "past \xf4\x90\x80\x80", "past \\xf4\\x90\\x80\\x80" },
        { "C1 \xc2\x9b", "C1 \\xc2\\x9b" },
        { "\xe2\x80\xaertl", "\\xe2\\x80\\xaertl" },
        { "gr\xc3\xbc\xc3\x9f", "gr\xc3\xbc\xc3\x9f" },
        { "\xe2\x82\xac \xf0\x9f\x90\xa7", "\xe2\x82\xac \xf0\x9f\x90\xa7" },
        { "back\\slash \"quoted\"", "back\\slash \"quoted\"" },
        { "", "" },
};

static void rows_come_out_as_written(void **state) {
        char buf[128], again[128];

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                size_t n = hn_escape_text(rows[i].text, strlen(rows[i].text), buf, sizeof(buf));

                assert_string_equal(buf, rows[i].want);
                assert_int_equal(n, strlen(buf));
                (void) hn_escape_text(buf, n, again, sizeof(again));
                assert_string_equal(again, buf);
        }
}

static void a_short_buffer_ends_between_characters(void **state) {
        static const char text[] = "ab\n\xe2\x82\xac";
        static const char *const want[] = { "",   "a",       "ab",      "ab",      "ab",
                                            "ab", "ab\\x0a", "ab\\x0a", "ab\\x0a", "ab\\x0a\xe2\x82\xac" };
        char buf[16];

        (void) state;
        for (size_t size = 1; size <= HN_ELEMENTS(want); size++) {
                memset(buf, '#', sizeof(buf));
                (void) hn_escape_text(text, sizeof(text) - 1, buf, size);
                assert_string_equal(buf, want[size - 1]);
                assert_int_equal(buf[size], '#');
        }
}

static void every_byte_pair_fits_the_size_promised(void **state) {
        char text[2], buf[HN_ESCAPE_SIZE(2)];

        (void) state;
        for (unsigned a = 1; a < 256; a++)
                for (unsigned b = 0; b < 256; b++) {
                        text[0] = (char) a;
                        text[1] = (char) b;
                        assert_true(hn_escape_text(text, 2, buf, sizeof(buf)) >= (b == 0 ? 1u : 2u));
                }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(rows_come_out_as_written),
                cmocka_unit_test(a_short_buffer_ends_between_characters),
                cmocka_unit_test(every_byte_pair_fits_the_size_promised),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
