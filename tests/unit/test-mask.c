/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/mask.h"

static struct hn_mask list(const char *text) {
        struct hn_mask m;

        assert_int_equal(hn_mask_parse_list(text, strlen(text), &m), 0);
        return m;
}

/* What goes in, what comes out printed, and how many ids there are. */
static const struct {
        const char *text;
        size_t n; /* 0: up to the NUL */
        const char *want;
        unsigned count;
} good_lists[] = {
        { "", 0, "", 0 },
        { "\n", 0, "", 0 },
        { " \t\n", 0, "", 0 },
        { "0\n", 0, "0", 1 },
        { "0-3,8,16-31:2/4\n", 0, "0-3,8,16-17,20-21,24-25,28-29", 13 },
        { "0-31:1/4", 0, "0,4,8,12,16,20,24,28", 8 },
        { "0-31:4/4", 0, "0-31", 32 },
        { "5-5", 0, "5", 1 },
        { "7,3,5,3-4", 0, "3-5,7", 4 },
        { "0-1, 3 ,5", 0, "0-1,3,5", 4 },
        { "8191", 0, "8191", 1 },
        { "0-8191", 0, "0-8191", 8192 },
        { "63-64", 0, "63-64", 2 },
        { "0000001", 0, "1", 1 },
        { "0-7\n\0\0\0", 7, "0-7", 8 }, /* captures of /sys end in NULs */
        { "0,8,252-255", 0, "0,8,252-255", 6 },
        { "4-77777", 3, "4-7", 4 }, /* bounded: what follows is not ours */
};

static const struct {
        const char *text;
        size_t n;
        int want;
} bad_lists[] = {
        { "(null)", 0, -EINVAL },     { "0-", 0, -EINVAL },         { "-3", 0, -EINVAL },
        { "3-1", 0, -EINVAL },        { "1,,2", 0, -EINVAL },       { ",1", 0, -EINVAL },
        { "1,", 0, -EINVAL },         { "1,\n", 0, -EINVAL },       { "1 2", 0, -EINVAL },
        { "0x3", 0, -EINVAL },        { "+1", 0, -EINVAL },         { "0-3:", 0, -EINVAL },
        { "0-3:1", 0, -EINVAL },      { "0-3:1/", 0, -EINVAL },     { "0-3:0/4", 0, -EINVAL },
        { "0-3:1/0", 0, -EINVAL },    { "0-3:5/4", 0, -EINVAL },    { "3:1/2", 0, -EINVAL },
        { "1\0002", 3, -EINVAL },     { "8192", 0, -ERANGE },       { "0-8192", 0, -ERANGE },
        { "4294967295", 0, -ERANGE }, { "4294967296", 0, -ERANGE }, { "0-18446744073709551616", 0, -ERANGE },
};

static void lists_are_read_and_printed(void **state) {
        char text[HN_MASK_LIST_MAX];
        struct hn_mask m, again;

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(good_lists); i++) {
                size_t n = good_lists[i].n ? good_lists[i].n : strlen(good_lists[i].text);

                assert_int_equal(hn_mask_parse_list(good_lists[i].text, n, &m), 0);
                assert_int_equal(hn_mask_print_list(&m, text, sizeof(text)), strlen(good_lists[i].want));
                assert_string_equal(text, good_lists[i].want);
                assert_int_equal(hn_mask_count(&m), good_lists[i].count);
                assert_int_equal(hn_mask_parse_list(text, strlen(text), &again), 0);
                assert_true(hn_mask_equal(&m, &again));
        }
}

static void bad_lists_are_refused_and_leave_the_result_alone(void **state) {
        struct hn_mask m, before = list("3,5");

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(bad_lists); i++) {
                size_t n = bad_lists[i].n ? bad_lists[i].n : strlen(bad_lists[i].text);

                m = before;
                assert_int_equal(hn_mask_parse_list(bad_lists[i].text, n, &m), bad_lists[i].want);
                assert_true(hn_mask_equal(&m, &before));
        }
}

static void printing_needs_room(void **state) {
        struct hn_mask m = list("0-3,8,16"), all = HN_MASK_NULL;
        char text[HN_MASK_LIST_MAX];

        (void) state;
        assert_int_equal(hn_mask_print_list(&m, text, 9), 8);
        assert_string_equal(text, "0-3,8,16");
        for (size_t size = 1; size < 9; size++) {
                memset(text, 'x', sizeof(text));
                assert_int_equal(hn_mask_print_list(&m, text, size), -ENOBUFS);
                assert_string_equal(text, "");
                assert_int_equal(text[size], 'x');
        }
        assert_int_equal(hn_mask_print_list(&m, text, 0), -ENOBUFS);

        /* The longest list there is: every second id. */
        for (unsigned id = 0; id < HN_MASK_BITS; id += 2)
                hn_mask_add(&all, id);
        assert_true(hn_mask_print_list(&all, text, sizeof(text)) > 0);
}

static void members_come_and_go(void **state) {
        static const unsigned ids[] = { 0, 1, 63, 64, 127, 4095, 8191 };
        struct hn_mask m = HN_MASK_NULL;

        (void) state;
        assert_true(hn_mask_empty(&m));
        assert_int_equal(hn_mask_next(&m, 0), HN_MASK_NONE);
        assert_int_equal(hn_mask_last(&m), HN_MASK_NONE);
        for (size_t i = 0; i < HN_ELEMENTS(ids); i++) {
                assert_false(hn_mask_has(&m, ids[i]));
                assert_true(hn_mask_add(&m, ids[i]));
                assert_true(hn_mask_has(&m, ids[i]));
                assert_int_equal(hn_mask_last(&m), ids[i]);
                assert_int_equal(hn_mask_count(&m), i + 1);
        }
        for (size_t i = 0; i < HN_ELEMENTS(ids); i++) {
                assert_int_equal(hn_mask_next(&m, ids[i]), ids[i]);
                assert_int_equal(hn_mask_next(&m, ids[i] + 1),
                                 i + 1 < HN_ELEMENTS(ids) ? ids[i + 1] : HN_MASK_NONE);
        }
        for (size_t i = 0; i < HN_ELEMENTS(ids); i++)
                hn_mask_remove(&m, ids[i]);
        assert_true(hn_mask_empty(&m));
}

static void ids_out_of_range_are_nobody(void **state) {
        static const unsigned ids[] = { HN_MASK_BITS, HN_MASK_BITS + 1, INT32_MAX, UINT32_MAX };
        struct hn_mask m = list("1");

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(ids); i++) {
                assert_false(hn_mask_add(&m, ids[i]));
                assert_false(hn_mask_has(&m, ids[i]));
                hn_mask_remove(&m, ids[i]);
                assert_int_equal(hn_mask_next(&m, ids[i]), HN_MASK_NONE);
        }
        hn_mask_add_range(&m, 8190, UINT32_MAX);
        assert_int_equal(hn_mask_count(&m), 3);
}

static const struct {
        const char *a, *b, *both, *either, *only_a;
        int subset, intersects;
} algebra[] = {
        { "", "", "", "", "", 1, 0 },
        { "0-3", "", "", "0-3", "0-3", 0, 0 },
        { "", "0-3", "", "0-3", "", 1, 0 },
        { "0-3", "2-5", "2-3", "0-5", "0-1", 0, 1 },
        { "2-3", "0-7", "2-3", "0-7", "", 1, 1 },
        { "0,64,128", "64", "64", "0,64,128", "0,128", 0, 1 },
        { "0-4095", "4096-8191", "", "0-8191", "0-4095", 0, 0 },
        { "8191", "0-8191", "8191", "0-8191", "", 1, 1 },
};

static void sets_combine(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(algebra); i++) {
                struct hn_mask a = list(algebra[i].a), b = list(algebra[i].b), want, got;

                want = list(algebra[i].both);
                got = hn_mask_and(&a, &b);
                assert_true(hn_mask_equal(&got, &want));
                want = list(algebra[i].either);
                got = hn_mask_or(&a, &b);
                assert_true(hn_mask_equal(&got, &want));
                want = list(algebra[i].only_a);
                got = hn_mask_andnot(&a, &b);
                assert_true(hn_mask_equal(&got, &want));
                assert_int_equal(hn_mask_subset(&a, &b), algebra[i].subset);
                assert_int_equal(hn_mask_intersects(&a, &b), algebra[i].intersects);
                assert_int_equal(hn_mask_intersects(&b, &a), algebra[i].intersects);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(lists_are_read_and_printed),
                cmocka_unit_test(bad_lists_are_refused_and_leave_the_result_alone),
                cmocka_unit_test(printing_needs_room),
                cmocka_unit_test(members_come_and_go),
                cmocka_unit_test(ids_out_of_range_are_nobody),
                cmocka_unit_test(sets_combine),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
