/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is made of a task at the first look, before any demand of it has been measured. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "rows.h"

#define SEC  HN_USEC_PER_SEC
#define MSEC HN_USEC_PER_MSEC

static void a_life_is_the_first_guess(void **state) {
        static const struct {
                uint64_t ran, waited; /* milliseconds */
                hn_usec_t age;
                uint32_t used, demand;
        } rows[] = {
                { 2000, 0, 0, 0, 0 }, /* over which time is not known */
                { 2000, 0, 4 * SEC, 500, 500 },
                { 2000, 1000, 4 * SEC, 500, 750 },
                { 2000, 3000, 4 * SEC, 500, 1000 },
                { 2000, 0, SEC, 1000, 1000 }, /* clocks that differ make no second CPU */
                { 2000, 0, 2000 * SEC, 1, 1 },
                { 200, 0, 250 * MSEC, 200, 800 }, /* born since the last look: what it used of that second */
                { 250, 0, SEC, 250, 250 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct fixture f;

                fixture_init(&f, 4, 2, 1);
                f.s.n_tasks = 0;
                fixture_second(&f, 0, 0);
                f.s.n_tasks = 1;
                f.tasks[0].runtime_ns = rows[i].ran * 1000000;
                f.tasks[0].wait_ns = rows[i].waited * 1000000;
                f.tasks[0].age = rows[i].age;
                fixture_second(&f, 0, 0);
                ROW_EQUAL(i, hn_model_state(f.model, 0)->used, rows[i].used);
                ROW_EQUAL(i, hn_model_state(f.model, 0)->demand, rows[i].demand);
                ROW_EQUAL(i, hn_model_state(f.model, 0)->samples, 0);

                /* What is measured takes its place. */
                fixture_second(&f, 300, 300);
                ROW_EQUAL(i, hn_model_state(f.model, 0)->used, 300);
                ROW_EQUAL(i, hn_model_state(f.model, 0)->demand, 600);
                ROW_EQUAL(i, hn_model_state(f.model, 0)->samples, 1);
                fixture_deinit(&f);
        }
}

/* The first look of all tells nothing of what others use, and so no guess would have its place. */
static void nothing_is_guessed_at_the_first_look_of_all(void **state) {
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 1);
        f.tasks[0].age = 4 * SEC;
        fixture_second(&f, 1000, 0);
        assert_int_equal(hn_model_state(f.model, 0)->demand, 0);
        assert_int_equal(hn_model_state(f.model, 0)->used, 0);
        fixture_deinit(&f);
}

/* Ten seconds in which a task on node 1 was not ours yet, then it is opted in: of what the node was busy with
 * all that time, its part was no work of others. */
static void who_is_opted_in_was_never_one_of_the_others(void **state) {
        static const struct {
                hn_usec_t age;
                hn_node_index seen;
                uint32_t used;   /* thousandths, all its life */
                uint32_t others; /* on node 1, beside it */
                uint32_t want[4], lasting[4];
        } rows[] = {
                { 20 * SEC, 1, 1000, 0, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } },
                { 20 * SEC, 1, 1000, 700, { 0, 700, 0, 0 }, { 0, 700, 0, 0 } },
                { 20 * SEC, 1, 500, 0, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } },
                /* It has just come to another node: what it used is taken out where it can be. */
                { 20 * SEC, 2, 1000, 700, { 0, 700, 0, 0 }, { 0, 700, 0, 0 } },
                { 20 * SEC, HN_NODE_NONE, 1000, 700, { 0, 700, 0, 0 }, { 0, 700, 0, 0 } },
                /* Without an age there is nothing to take out but by and by. */
                { 0, 1, 1000, 0, { 0, 1000, 0, 0 }, { 0, 1000, 0, 0 } },
                /* Born since the last look: before that, all of it was others' work. */
                { 1000 * MSEC, 1, 1000, 0, { 0, 500, 0, 0 }, { 0, 500, 0, 0 } },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct fixture f;

                fixture_init(&f, 4, 2, 1);
                f.s.n_tasks = 0;
                f.others[1] = rows[i].others + rows[i].used;
                for (unsigned k = 0; k < 10; k++)
                        fixture_second(&f, 0, 0);
                f.s.n_tasks = 1;
                f.tasks[0].age = rows[i].age;
                f.tasks[0].node = rows[i].seen;
                f.tasks[0].runtime_ns = rows[i].used * (rows[i].age ? rows[i].age : 2 * SEC);
                fixture_second(&f, 0, 0);
                for (hn_node_index k = 0; k < 4; k++) {
                        ROW_EQUAL(i, hn_model_unsampled(f.model, k), rows[i].want[k]);
                        ROW_EQUAL(i, hn_model_lasting(f.model, k), rows[i].lasting[k]);
                }
                fixture_deinit(&f);
        }
}

/* Others used 2000 on node 1, and nothing for one look; then one of them is opted in. Its part is taken out
 * of each of the looks that are remembered, in whatever place the one that counts is kept. */
static void its_part_is_taken_out_of_all_looks(void **state) {
        (void) state;
        for (unsigned quiet = 5; quiet < 10; quiet++) {
                struct fixture f;

                fixture_init(&f, 4, 2, 1);
                f.s.n_tasks = 0;
                for (unsigned k = 0; k <= quiet; k++) {
                        f.others[1] = k == quiet ? 0 : 2000;
                        fixture_second(&f, 0, 0);
                }
                assert_int_equal(hn_model_lasting(f.model, 1), 1000);
                f.s.n_tasks = 1;
                f.others[1] = 3000;
                f.tasks[0].age = 20 * SEC;
                f.tasks[0].node = 1;
                f.tasks[0].runtime_ns = UINT64_C(10000000000);
                fixture_second(&f, 0, 0);
                ROW_EQUAL(quiet, hn_model_lasting(f.model, 1), 500);
                ROW_EQUAL(quiet, hn_model_unsampled(f.model, 1), 1500);
                fixture_deinit(&f);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_life_is_the_first_guess),
                cmocka_unit_test(nothing_is_guessed_at_the_first_look_of_all),
                cmocka_unit_test(who_is_opted_in_was_never_one_of_the_others),
                cmocka_unit_test(its_part_is_taken_out_of_all_looks),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
