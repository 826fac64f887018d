/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macro.h"
#include "rows.h"

static unsigned n_freed;

struct thing {
        int value;
};

static struct thing *thing_free(struct thing *t) {
        n_freed += t != NULL;
        free(t);
        return NULL;
}
HN_DEFINE_CLEANUP(struct thing *, thing_free);

static struct thing *thing_new(void) {
        struct thing *t = malloc(sizeof(*t));

        assert_non_null(t);
        t->value = 7;
        return t;
}

static struct thing *make_and_keep(void) {
        _hn_cleanup_(thing_freep) struct thing *t = thing_new();

        return HN_TAKE_PTR(t);
}

static void make_and_drop(void) {
        _hn_cleanup_(thing_freep) struct thing *t = thing_new();
        _hn_cleanup_(thing_freep) struct thing *none = NULL;
        _hn_cleanup_(hn_freep) char *text = malloc(10);

        assert_non_null(t);
        assert_null(none);
        assert_non_null(text);
}

static void a_cleanup_frees_what_nobody_took(void **state) {
        struct thing *t;

        (void) state;
        n_freed = 0;
        make_and_drop();
        assert_int_equal(n_freed, 1);

        t = make_and_keep();
        assert_int_equal(n_freed, 1);
        assert_int_equal(t->value, 7);
        t = thing_free(t);
        assert_null(t);
        assert_int_equal(n_freed, 2);
}

static int **next_slot(int **pointers, size_t *n) {
        return &pointers[(*n)++];
}

static void taking_evaluates_once_and_leaves_null(void **state) {
        int a = 1, b = 2, *pointers[] = { &a, &b };
        size_t i = 0;

        (void) state;
        assert_ptr_equal(HN_TAKE_PTR(*next_slot(pointers, &i)), &a);
        assert_int_equal(i, 1);
        assert_null(pointers[0]);
        assert_ptr_equal(pointers[1], &b);
}

static void comparing_does_not_overflow(void **state) {
        static const struct {
                int64_t a, b;
                int cmp;
        } rows[] = {
                { INT64_MIN, INT64_MAX, -1 },
                { INT64_MAX, INT64_MIN, 1 },
                { INT64_MAX, -1, 1 },
                { -1, 0, -1 },
                { 0, 0, 0 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                ROW_EQUAL(i, HN_CMP(rows[i].a, rows[i].b), rows[i].cmp);
                ROW_EQUAL(i, HN_CMP(rows[i].b, rows[i].a), -rows[i].cmp);
                ROW_EQUAL(i, HN_MIN(rows[i].a, rows[i].b), rows[i].cmp < 0 ? rows[i].a : rows[i].b);
                ROW_EQUAL(i, HN_MAX(rows[i].a, rows[i].b), rows[i].cmp < 0 ? rows[i].b : rows[i].a);
        }
        assert_int_equal(HN_ELEMENTS(rows), 5);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_cleanup_frees_what_nobody_took),
                cmocka_unit_test(taking_evaluates_once_and_leaves_null),
                cmocka_unit_test(comparing_does_not_overflow),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
