/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>

#include "fixture.h"
#include "rows.h"

#define SEC HN_USEC_PER_SEC

static hn_mask_id node_mask(struct fixture *f, hn_node_index node) {
        return fixture_intern(f, &f->topo.nodes[node].usable);
}

/* subjects */

static void a_new_task_has_no_past(void **state) {
        struct fixture f;
        const struct hn_task_state *st;

        (void) state;
        fixture_init(&f, 4, 2, 1);
        fixture_memory(&f, 0, 3, 500);
        assert_int_equal(hn_model_size(f.model), 0);
        fixture_second(&f, 1000, 0);
        assert_int_equal(hn_model_size(f.model), 1);
        st = hn_model_state(f.model, 0);
        assert_int_equal(st->key.tid, FIXTURE_FIRST_TID);
        assert_int_equal(st->samples, 0); /* two seconds of runtime, but nobody saw over which time */
        assert_int_equal(st->demand, 0);
        assert_int_equal(st->home, 3);
        assert_int_equal(st->pinned, HN_NODE_NONE);
        assert_int_equal(st->left[0].node, HN_NODE_NONE);
        assert_int_equal(st->ours, HN_MASK_ID_NONE);
        assert_int_equal(hn_model_cooldown_left(f.model, 0, f.s.now), 0);
        assert_false(st->inherited || st->lost || st->changed_by_other || st->refused || st->ever_moved);
        fixture_second(&f, 1000, 0);
        assert_int_equal(hn_model_state(f.model, 0)->samples, 1);
        fixture_deinit(&f);
}

static void states_follow_their_tasks(void **state) {
        struct fixture f;
        struct hn_task_sample kept;

        (void) state;
        fixture_init(&f, 4, 2, 3);
        fixture_second(&f, 1000, 0);
        fixture_second(&f, 1000, 0);
        hn_model_note_refused(f.model, 1);

        /* The first one goes: what was state 1 is state 0. */
        kept = f.tasks[0];
        memmove(&f.tasks[0], &f.tasks[1], 2 * sizeof(f.tasks[0]));
        f.s.n_tasks = 2;
        fixture_second(&f, 1000, 0);
        assert_int_equal(hn_model_size(f.model), 2);
        assert_true(hn_model_state(f.model, 0)->refused);
        assert_int_equal(hn_model_state(f.model, 0)->samples, 2);

        /* It comes back under its old name, and is a stranger: a tid says nothing without the snapshots
         * between. */
        memmove(&f.tasks[1], &f.tasks[0], 2 * sizeof(f.tasks[0]));
        f.tasks[0] = kept;
        f.s.n_tasks = 3;
        fixture_second(&f, 1000, 0);
        assert_int_equal(hn_model_state(f.model, 0)->samples, 0);
        assert_true(hn_model_state(f.model, 1)->refused);

        /* None at all, and all of them again. */
        f.s.n_tasks = 0;
        fixture_second(&f, 1000, 0);
        assert_int_equal(hn_model_size(f.model), 0);
        f.s.n_tasks = 3;
        fixture_second(&f, 1000, 0);
        assert_false(hn_model_state(f.model, 1)->refused);
        fixture_deinit(&f);
}

static void a_reused_tid_is_another_task(void **state) {
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 2);
        fixture_memory(&f, 0, 2, 500);
        fixture_second(&f, 1000, 0);
        fixture_second(&f, 1000, 0);
        fixture_pin(&f, 0, 0, 2, node_mask(&f, 2));
        hn_model_note_refused(f.model, 0);
        hn_model_note_changed(f.model, 1);

        f.tasks[0].key.start++;
        f.tasks[0].mask = f.all;
        f.tasks[1].key.start--;
        memset(f.priv, 0, 8 * sizeof(*f.priv));
        fixture_second(&f, 1000, 0);
        for (size_t i = 0; i < 2; i++) {
                const struct hn_task_state *st = hn_model_state(f.model, i);

                ROW_EQUAL(i, st->samples, 0);
                ROW_EQUAL(i, st->home, HN_NODE_NONE);
                ROW_EQUAL(i, st->pinned, HN_NODE_NONE);
                ROW_EQUAL(i, st->refused || st->changed_by_other || st->lost || st->ever_moved, false);
        }
        fixture_deinit(&f);
}

static void tasks_come_in_order(void **state) {
        static const pid_t rows[][2] = { { 101, 101 }, { 102, 101 } };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct fixture f;

                fixture_init(&f, 4, 2, 2);
                fixture_second(&f, 1000, 0);
                fixture_second(&f, 1000, 0);
                f.tasks[0].key.tid = rows[i][0];
                f.tasks[1].key.tid = rows[i][1];
                f.s.now += SEC;
                ROW_EQUAL(i, hn_model_feed(f.model, &f.s), -ENOTUNIQ);

                /* Nothing of it was taken in. */
                ROW_EQUAL(i, hn_model_size(f.model), 2);
                ROW_EQUAL(i, hn_model_state(f.model, 0)->key.tid, FIXTURE_FIRST_TID);
                f.tasks[0].key.tid = FIXTURE_FIRST_TID;
                f.tasks[1].key.tid = FIXTURE_FIRST_TID + 1;
                ROW_EQUAL(i, hn_model_feed(f.model, &f.s), 0);
                ROW_EQUAL(i, hn_model_state(f.model, 1)->samples, 2);
                fixture_deinit(&f);
        }
}

/* demand */

static void demand_is_what_it_ran_and_waited_for(void **state) {
        static const struct {
                uint32_t used, waited, want_used, want_demand;
        } rows[] = {
                { 3000, 9000, 1000, 1000 }, /* a thread has no use for more than one CPU */
                { 0, 0, 0, 0 },
                { 500, 0, 500, 500 },
                { 500, 400, 500, 900 }, /* half of an overloaded CPU is not half a demand */
                { 500, 700, 500, 1000 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct fixture f;

                fixture_init(&f, 4, 2, 1);
                fixture_second(&f, 0, 0);
                for (unsigned k = 0; k < 3; k++) {
                        fixture_second(&f, rows[i].used, rows[i].waited);
                        ROW_EQUAL(i, hn_model_state(f.model, 0)->used, rows[i].want_used);
                        ROW_EQUAL(i, hn_model_state(f.model, 0)->demand, rows[i].want_demand);
                }
                fixture_deinit(&f);
        }
}

static void demand_is_averaged(void **state) {
        static const uint32_t series[] = { 500, 250, 125, 62, 31 };
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 1);
        fixture_second(&f, 0, 0);
        fixture_second(&f, 1000, 0);
        for (size_t i = 0; i < HN_ELEMENTS(series); i++) {
                fixture_second(&f, 0, 0);
                ROW_EQUAL(i, hn_model_state(f.model, 0)->demand, series[i]);
        }
        fixture_deinit(&f);
}

static void odd_clocks_and_counters_do_no_harm(void **state) {
        struct fixture f;
        const struct hn_task_state *st;

        (void) state;
        fixture_init(&f, 4, 2, 1);
        fixture_second(&f, 0, 0);
        fixture_second(&f, 500, 0);

        /* No time has passed, or less than none. */
        f.tasks[0].runtime_ns += 5000000;
        assert_int_equal(hn_model_feed(f.model, &f.s), 0);
        f.s.now -= SEC;
        assert_int_equal(hn_model_feed(f.model, &f.s), 0);
        st = hn_model_state(f.model, 0);
        assert_int_equal(st->demand, 500);
        assert_int_equal(st->samples, 1);

        /* Counters that fell start over, and do not wrap round to a demand of everything for ever. */
        f.s.now += 2 * SEC;
        f.tasks[0].runtime_ns = 100000000;
        f.tasks[0].wait_ns = 0;
        assert_int_equal(hn_model_feed(f.model, &f.s), 0);
        st = hn_model_state(f.model, 0);
        assert_int_equal(st->used, 50);
        assert_int_equal(st->demand, 275);
        fixture_deinit(&f);
}

/* home */

static void home_has_hysteresis(void **state) {
        static const struct {
                uint64_t priv[4], shared[4];
                hn_node_index home;
        } rows[] = {
                { { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, HN_NODE_NONE },
                { { 0, 800, 0, 0 }, { 0, 0, 0, 0 }, 1 },
                { { 0, 800, 900, 0 }, { 0, 0, 0, 0 }, 1 },
                { { 0, 800, 450, 0 }, { 0, 0, 451, 0 }, 2 }, /* private and shared ones count alike */
                { { 0, 1000, 450, 0 }, { 0, 0, 451, 0 }, 2 },
                { { 0, 0, 0, 0 }, { 0, 0, 0, 0 }, 2 }, /* nothing new: it is where it was */
                { { 0, 0, 0, 1 }, { 0, 0, 0, 0 }, 3 },
        };
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 1);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                memcpy(f.priv, rows[i].priv, sizeof(rows[i].priv));
                memcpy(f.shared, rows[i].shared, sizeof(rows[i].shared));
                fixture_second(&f, 1000, 0);
                ROW_EQUAL(i, hn_model_state(f.model, 0)->home, rows[i].home);
        }

        /* Without a signal the row is not ours to read. */
        f.tasks[0].signal = HN_SIGNAL_NONE;
        f.tasks[0].row = SIZE_MAX / 64;
        fixture_second(&f, 1000, 0);
        assert_int_equal(hn_model_state(f.model, 0)->home, 3);
        fixture_deinit(&f);
}

static void memory_without_cpus_counts_for_the_nearest_node(void **state) {
        static const struct {
                uint64_t pages[4];
                hn_node_index home;
        } rows[] = {
                { { 0, 0, 0, 1000 }, 2 }, /* node 3 has no CPU, and node 2 is the nearest that has */
                { { 0, 0, 0, 1000 }, 2 }, /* and stays so, though node 2 itself holds nothing */
                { { 0, 500, 300, 300 }, 2 }, { { 0, 600, 300, 300 }, 2 }, { { 0, 700, 300, 300 }, 1 },
        };
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 1);
        fixture_strip_cpus(&f.topo, 3);
        f.topo.distances[3 * 4 + 2] = 14;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                memcpy(f.priv, rows[i].pages, sizeof(rows[i].pages));
                fixture_second(&f, 1000, 0);
                ROW_EQUAL(i, hn_model_state(f.model, 0)->home, rows[i].home);
        }
        fixture_deinit(&f);
}

/* what others use */

/* Two tasks of ours that use a whole CPU each and were last seen on `seen`; the nodes were as busy as `busy`
 * says. */
static void what_others_use(void **state) {
        static const struct {
                hn_node_index seen[2];
                uint32_t busy[4], unsampled[4];
        } rows[] = {
                { { HN_NODE_NONE, HN_NODE_NONE }, { 1000, 1000, 0, 0 }, { 0, 0, 0, 0 } }, /* ours, wherever */
                { { 0, 0 }, { 0, 0, 0, 0 }, { 0, 0, 0, 0 } },
                { { 0, 1 }, { 1000, 1000, 0, 0 }, { 0, 0, 0, 0 } },
                { { 0, 1 }, { 1500, 1000, 0, 2000 }, { 500, 0, 0, 2000 } },
                /* Both were seen on node 0, but one worked on node 3 for most of the second: no work of
                   others. */
                { { 0, 0 }, { 1100, 0, 0, 900 }, { 0, 0, 0, 0 } },
                /* And with another's work beside it: what is left over is shared out, none of it made up. */
                { { 0, 0 }, { 1000, 1000, 0, 1000 }, { 0, 500, 0, 500 } },
                { { 1, 1 }, { 600, 1000, 0, 1000 }, { 225, 0, 0, 375 } },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct fixture f;

                fixture_init(&f, 4, 2, 2);
                assert_int_equal(hn_model_feed(f.model, &f.s), 0);
                for (size_t k = 0; k < 2; k++) {
                        f.tasks[k].node = rows[i].seen[k];
                        f.tasks[k].runtime_ns += 1000000000;
                }
                for (size_t k = 0; k < 4; k++)
                        f.nodes[k].busy = rows[i].busy[k];
                f.s.now += SEC;
                assert_int_equal(hn_model_feed(f.model, &f.s), 0);
                for (hn_node_index k = 0; k < 4; k++)
                        ROW_EQUAL(i, hn_model_unsampled(f.model, k), rows[i].unsampled[k]);
                fixture_deinit(&f);
        }
}

/* Where the sampled tasks jump about between the looks, no load of others may appear out of it in the long
 * run. */
static void the_load_of_others_is_conserved(void **state) {
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 4);
        assert_int_equal(hn_model_feed(f.model, &f.s), 0);
        for (unsigned t = 0; t < 200; t++) {
                uint32_t sum = 0;

                f.s.now += SEC;
                for (size_t i = 0; i < 4; i++) {
                        f.tasks[i].runtime_ns += 1000000000;
                        f.tasks[i].node = (hn_node_index) ((i * 7 + t * t) % 4);
                        f.nodes[i].busy = 1000;
                }
                f.nodes[2].busy += 700; /* somebody else */
                assert_int_equal(hn_model_feed(f.model, &f.s), 0);
                for (hn_node_index k = 0; k < 4; k++)
                        sum += hn_model_unsampled(f.model, k);
                ROW_EQUAL(t, sum <= 700, true);
                ROW_EQUAL(t, sum >= 680, true);
        }
        fixture_deinit(&f);
}

static void the_load_of_others_is_averaged(void **state) {
        static const struct {
                uint32_t busy, unsampled, lasting;
        } rows[] = {
                { 1600, 1600, 0 },
                { 0, 800, 0 },
                { 0, 400, 0 },
                { 0, 200, 0 }, /* what was before is not known */
                { 0, 100, 100 },
                { 0, 50, 50 },
                { 2000, 1025, 50 },
                { 2000, 1512, 50 },
                { 2000, 1756, 50 },
                { 2000, 1878, 50 }, /* as long as one look in the window was a quiet one
                                     */
                { 2000, 1939, 1025 },
                { 0, 969, 969 },
        };
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 0);
        assert_int_equal(hn_model_feed(f.model, &f.s), 0);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                f.nodes[1].busy = rows[i].busy;
                f.s.now += SEC;
                assert_int_equal(hn_model_feed(f.model, &f.s), 0);
                ROW_EQUAL(i, hn_model_unsampled(f.model, 1), rows[i].unsampled);
                ROW_EQUAL(i, hn_model_lasting(f.model, 1), rows[i].lasting);
        }
        fixture_deinit(&f);
}

/* Each look counts, however short the time since the one before; what fell to nothing for one look alone was
 * not lasting until as many have passed since. */
static void no_look_is_lost(void **state) {
        static const struct {
                hn_usec_t after;
                uint32_t busy, lasting;
        } rows[] = {
                { 1, 0, 0 },        { SEC, 2000, 0 },    { SEC, 2000, 0 },    { SEC, 2000, 0 },
                { SEC, 2000, 0 },   { 1, 2000, 1000 },   { SEC, 2000, 1500 }, { SEC, 2000, 1750 },
                { SEC, 0, 992 },    { SEC, 2000, 992 },  { SEC, 2000, 992 },  { SEC, 2000, 992 },
                { SEC, 2000, 992 }, { SEC, 2000, 1496 },
        };
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 0);
        assert_int_equal(hn_model_feed(f.model, &f.s), 0);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                f.nodes[0].busy = rows[i].busy;
                f.s.now += rows[i].after;
                assert_int_equal(hn_model_feed(f.model, &f.s), 0);
                ROW_EQUAL(i, hn_model_lasting(f.model, 0), rows[i].lasting);
        }
        fixture_deinit(&f);
}

static void many_tasks_and_a_growing_pool(void **state) {
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 500);
        for (size_t n = 0; n <= 500; n += 50) {
                f.s.n_tasks = n;
                fixture_second(&f, 10, 0);
                ROW_EQUAL(n, hn_model_size(f.model), n);
                for (size_t i = 0; i < n; i++)
                        ROW_EQUAL(n, hn_model_state(f.model, i)->key.tid, FIXTURE_FIRST_TID + (int) i);
        }
        fixture_deinit(&f);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_new_task_has_no_past),
                cmocka_unit_test(states_follow_their_tasks),
                cmocka_unit_test(a_reused_tid_is_another_task),
                cmocka_unit_test(tasks_come_in_order),
                cmocka_unit_test(demand_is_what_it_ran_and_waited_for),
                cmocka_unit_test(demand_is_averaged),
                cmocka_unit_test(odd_clocks_and_counters_do_no_harm),
                cmocka_unit_test(home_has_hysteresis),
                cmocka_unit_test(memory_without_cpus_counts_for_the_nearest_node),
                cmocka_unit_test(what_others_use),
                cmocka_unit_test(the_load_of_others_is_conserved),
                cmocka_unit_test(the_load_of_others_is_averaged),
                cmocka_unit_test(no_look_is_lost),
                cmocka_unit_test(many_tasks_and_a_growing_pool),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
