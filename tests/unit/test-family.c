/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "policy/family.h"
#include "rows.h"

#define MIN_DEMAND 50
#define MIN_FAULTS 256

/* A task of process `tgid` (counted from the fixture's first), and what it has met on node 0. */
struct cast {
        pid_t tgid;
        uint32_t scope, group, used;
        uint64_t priv, shared;
};

struct want {
        pid_t tgid;
        uint64_t demand, priv, shared;
        size_t n_busy;
        bool sharing;
};

static void families(void **state) {
        static const struct {
                struct cast tasks[4];
                size_t n;
                struct want want[4];
                size_t n_want;
        } rows[] = {
                { {}, 0, {}, 0 },
                /* threads of a process, found under its number, wherever they stand in between */
                { { { 0, 0, 0, 1000, 10, 300 }, { 1, 0, 0, 400, 5, 0 }, { 0, 0, 0, 500, 20, 0 } },
                  3,
                  { { 0, 1500, 30, 300, 2, true }, { 1, 400, 5, 0, 1, false } },
                  2 },
                /* less than seven tenths of it private, and more than noise */
                { { { 0, 0, 0, 1000, 150, 90 }, { 0, 0, 0, 1000, 199, 60 } },
                  2,
                  { { 0, 2000, 349, 150, 2, true } },
                  1 },
                { { { 0, 0, 0, 1000, 150, 90 }, { 0, 0, 0, 1000, 200, 60 } },
                  2,
                  { { 0, 2000, 350, 150, 2, false } },
                  1 },
                { { { 0, 0, 0, 1000, 0, 128 }, { 0, 0, 0, 1000, 0, 127 } },
                  2,
                  { { 0, 2000, 0, 255, 2, false } },
                  1 },
                { { { 0, 0, 0, 1000, 0, 128 }, { 0, 0, 0, 1000, 0, 128 } },
                  2,
                  { { 0, 2000, 0, 256, 2, true } },
                  1 },
                /* by two at least who do something */
                { { { 0, 0, 0, 1000, 0, 500 }, { 0, 0, 0, 49, 0, 500 } },
                  2,
                  { { 0, 1049, 0, 1000, 1, false } },
                  1 },
                { { { 0, 0, 0, 1000, 0, 500 }, { 0, 0, 0, 50, 0, 500 } },
                  2,
                  { { 0, 1050, 0, 1000, 2, true } },
                  1 },
                /* processes of a group of the kernel's: all but the demand is the group's */
                { { { 0, 0, 9, 1000, 0, 200 }, { 1, 0, 0, 1000, 7, 100 }, { 2, 0, 9, 500, 40, 100 } },
                  3,
                  { { 0, 1000, 40, 300, 2, true },
                    { 1, 1000, 7, 100, 1, false },
                    { 2, 500, 40, 300, 2, true } },
                  3 },
                /* whose number may be as low as that of a pid */
                { { { 0, 0, 1, 1000, 0, 200 }, { 1, 0, 1, 1000, 0, 100 } },
                  2,
                  { { 0, 1000, 0, 300, 2, true }, { 1, 1000, 0, 300, 2, true } },
                  2 },
                /* one thread of it that is in the group is enough for a process */
                { { { 0, 0, 9, 1000, 0, 200 }, { 1, 0, 0, 1000, 0, 100 }, { 1, 0, 9, 500, 0, 100 } },
                  3,
                  { { 0, 1000, 0, 400, 3, true }, { 1, 1500, 0, 400, 3, true } },
                  2 },
                /* scopes are not joined */
                { { { 0, 0, 9, 1000, 0, 400 }, { 1, 1, 9, 1000, 0, 300 } },
                  2,
                  { { 0, 1000, 0, 400, 1, false }, { 1, 1000, 0, 300, 1, false } },
                  2 },
                /* a group has the number of a pid, and is not the process of that number */
                { { { 0, 0, 0, 1000, 0, 300 }, { 1, 0, FIXTURE_FIRST_TID, 1000, 0, 300 } },
                  2,
                  { { 0, 1000, 0, 300, 1, false }, { 1, 1000, 0, 300, 1, false } },
                  2 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                /* Just as many as were asked for, for a sanitizer to see who goes beyond. */
                struct hn_family *got = calloc(HN_MAX(rows[i].n, (size_t) 1), sizeof(*got));
                struct fixture f;
                size_t n;

                assert_non_null(got);

                fixture_init(&f, 2, 2, rows[i].n);
                fixture_second(&f, 0, 0);
                for (size_t k = 0; k < rows[i].n; k++) {
                        const struct cast *c = &rows[i].tasks[k];

                        f.tasks[k].tgid = FIXTURE_FIRST_TID + c->tgid;
                        f.tasks[k].scope = c->scope;
                        f.tasks[k].numa_group = c->group;
                        f.tasks[k].runtime_ns += UINT64_C(1000000) * c->used;
                        f.priv[k * 2] = c->priv;
                        f.shared[k * 2 + 1] = c->shared;
                }
                fixture_second(&f, 0, 0);
                n = hn_families_meet(got, f.model, &f.s, MIN_DEMAND, MIN_FAULTS);
                ROW_EQUAL(i, n, rows[i].n_want);
                for (size_t k = 0; k < n; k++) {
                        const struct want *w = &rows[i].want[k];
                        const struct hn_family *found = hn_families_find(got, n, FIXTURE_FIRST_TID + w->tgid);

                        ROW_EQUAL(i, found == &got[k], true);
                        ROW_EQUAL(i, got[k].demand, w->demand);
                        ROW_EQUAL(i, got[k].priv, w->priv);
                        ROW_EQUAL(i, got[k].shared, w->shared);
                        ROW_EQUAL(i, got[k].n_busy, w->n_busy);
                        ROW_EQUAL(i, got[k].sharing, w->sharing);
                }
                ROW_EQUAL(i, hn_families_find(got, n, FIXTURE_FIRST_TID - 1) == NULL, true);
                free(got);
                fixture_deinit(&f);
        }
}

/* Pages are no faults: where threads cannot be told apart, none of it is known to be shared. */
static void pages_are_nobodys(void **state) {
        struct hn_family got;
        struct fixture f;

        (void) state;
        fixture_init(&f, 2, 2, 1);
        fixture_memory(&f, 0, 1, 1000);
        f.tasks[0].signal = HN_SIGNAL_RESIDENCY;
        fixture_second(&f, 1000, 0);
        assert_int_equal(hn_families_meet(&got, f.model, &f.s, MIN_DEMAND, MIN_FAULTS), 1);
        assert_int_equal(got.priv + got.shared, 0);
        fixture_deinit(&f);
}

static void private_by_the_kernels_measure(void **state) {
        static const struct {
                uint64_t priv, shared;
                bool is;
        } rows[] = {
                { 7, 3, true },          { 69, 31, false }, { 0, 1, false },
                { 1, 0, true },          { 0, 0, true },    { UINT64_MAX, UINT64_MAX, false },
                { UINT64_MAX, 0, true },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_mostly_private(rows[i].priv, rows[i].shared), rows[i].is);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(private_by_the_kernels_measure),
                cmocka_unit_test(families),
                cmocka_unit_test(pages_are_nobodys),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
