/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A plan at its thresholds: what a move brings, who waits, and where those drift to who have no place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenes.h"

static const struct hn_limits limits = HN_LIMITS_DEFAULT;

static struct hn_plan *decide(struct fixture *f) {
        struct hn_plan *plan;

        assert_int_equal(hn_plan_new(&f->topo, &plan), 0);
        assert_int_equal(hn_plan_build(plan, f->model, &f->s, &limits), 0);
        return plan;
}

static void a_while(struct fixture *f) {
        for (unsigned i = 0; i <= HN_LASTING; i++)
                fixture_second(f, 1000, 0);
}

static void promises(void **state) {
        static const struct {
                enum hn_act act;
                hn_node_index from, to;
                uint32_t share_from, share_to;
                bool promises;
        } rows[] = {
                { HN_ACT_PIN, 0, 1, 300, 301, true },      { HN_ACT_PIN, 0, 1, 300, 300, false },
                { HN_ACT_PIN, 0, 1, 300, 299, false },     { HN_ACT_PIN, 1, 1, 300, 700, false },
                { HN_ACT_PIN, NO, 1, 0, 700, false },      { HN_ACT_NONE, 0, 1, 300, 700, false },
                { HN_ACT_RELEASE, 0, 1, 300, 700, false }, { HN_ACT_PAGES, 1, 1, 300, 300, false },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                const struct hn_decision d = {
                        .act = rows[i].act,
                        .from = rows[i].from,
                        .to = rows[i].to,
                        .share_from = rows[i].share_from,
                        .share_to = rows[i].share_to,
                };

                ROW_EQUAL(i, hn_decision_promises(&d), rows[i].promises);
        }
}

/* A task on node `from`: of its 1000 faults `here` are there and the others on node `to`. */
static void on_its_way(struct fixture *f, hn_node_index from, hn_node_index to, uint64_t here) {
        start(f, 1);
        fixture_put(f, 0, from);
        f->priv[from] = here;
        f->priv[to] += 1000 - here;
}

/* What a move is worth, over which distance. */
static void gains(void **state) {
        static const struct {
                hn_node_index from, to;
                uint64_t here;
                unsigned distance, farthest; /* of that node, and of all others */
                bool closed;                 /* the node where it runs */
                enum hn_reason reason;
                uint64_t benefit;
        } rows[] = {
                { 0, 1, 200, 20, 20, false, HN_REASON_REMOTE_FAULTS, 600 * 1000 },
                { 0, 1, 0, 12, 32, false, HN_REASON_REMOTE_FAULTS, 90 * 1000 },
                { 3, 1, 0, 12, 32, false, HN_REASON_REMOTE_FAULTS, 90 * 1000 },
                { 0, 1, 200, 10, 20, false, HN_REASON_REMOTE_FAULTS, 600 * 1000 },
                { 0, 1, 200, 10, 10, false, HN_REASON_REMOTE_FAULTS, 600 * 1000 },
                /* from where it may not stay, all is gain */
                { 0, 1, 200, 20, 20, true, HN_REASON_REMOTE_FAULTS, 800 * 1000 },
                /* small ones are not worth the way: 30 thousandths, and 29 */
                { 0, 1, 350, 12, 30, false, HN_REASON_REMOTE_FAULTS, 30 * 1000 },
                { 0, 1, 351, 12, 30, false, HN_REASON_SMALL_GAIN, 0 },
                /* from 30 thousandths on, another node is better than this one */
                { 0, 1, 485, 20, 20, false, HN_REASON_AT_HOME, 0 },
                { 0, 1, 484, 20, 20, false, HN_REASON_REMOTE_FAULTS, 32 * 1000 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
                const struct hn_decision *d;
                struct fixture f;

                on_its_way(&f, rows[i].from, rows[i].to, rows[i].here);
                for (hn_node_index k = 0; k < 4; k++) {
                        bool is_far = rows[i].from == 3 ? k == 0 : k != rows[i].to;

                        if (k != rows[i].from)
                                f.topo.distances[rows[i].from * 4 + k] = is_far ? rows[i].farthest
                                                                                : rows[i].distance;
                }
                if (rows[i].closed)
                        f.scopes[0].nodes = fixture_list("1-3");
                two_seconds(&f);
                plan = decide(&f);
                d = hn_plan_decision(plan, 0);
                ROW_EQUAL(i, d->reason, rows[i].reason);
                ROW_EQUAL(i, d->benefit, rows[i].benefit);
                fixture_deinit(&f);
        }
}

/* One of a crowd of three makes room for no gain at all. */
static void no_gain(void **state) {
        _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
        struct fixture f;

        (void) state;
        start(&f, 3);
        for (size_t i = 0; i < 3; i++)
                cast(&f, i, 0, 0);
        two_seconds(&f);
        plan = decide(&f);
        assert_int_equal(hn_plan_decision(plan, 2)->act, HN_ACT_PIN);
        assert_int_equal(hn_plan_decision(plan, 2)->to, 1);
        assert_int_equal(hn_plan_decision(plan, 2)->benefit, 0);
        assert_int_equal(hn_plan_decision(plan, 2)->share_to, 0);
        fixture_deinit(&f);
}

/* It runs beside node 1, which is full, with `here` of its memory beside it. */
static void beside_a_full_node(struct fixture *f, uint64_t here) {
        on_its_way(f, 0, 1, here);
        f->others[1] = 2000;
        a_while(f);
}

static void nearly_as_good(struct fixture *f) {
        beside_a_full_node(f, 485);
}

static void not_quite_as_good(struct fixture *f) {
        beside_a_full_node(f, 484);
}

/* Hardly any of its memory is on nodes that it may use: then it is as well off on any of them. */
static void a_thousandth(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 0, 2);
        fixture_memory(f, 0, 2, 999);
        f->priv[1] = 1;
        f->scopes[0].nodes = fixture_list("0-1");
        f->others[1] = 2000;
        a_while(f);
}

/* Others use 1200 of node 0 all the time, and `more` of late: averaged over two looks, it is half of that. */
static void passing_by(struct fixture *f, uint32_t more) {
        start(f, 1);
        cast(f, 0, 1, 0);
        f->others[0] = 1200;
        for (unsigned i = 0; i < 20; i++)
                fixture_second(f, 1000, 0);
        f->others[0] = 1200 + more;
        fixture_second(f, 1000, 0);
}

static void a_quarter_of_a_core_passes_by(struct fixture *f) {
        passing_by(f, 500);
}

static void more_than_a_quarter_passes_by(struct fixture *f) {
        passing_by(f, 502);
}

/* Half of its memory is on node 1, which others use just now, and half on node 2, which they use always. */
static void two_homes(struct fixture *f) {
        start(f, 1);
        fixture_put(f, 0, 0);
        f->priv[1] = f->priv[2] = 500;
        f->others[2] = 2000;
        a_while(f);
        f->others[1] = 3000;
        fixture_second(f, 1000, 0);
}

/* All of its memory is on node 0, and so is room for two drifters, so that it may not go there. It works half
 * of the time on `node`, of which others use so much. */
static void drifters_at_home(struct fixture *f, hn_node_index node, uint32_t others) {
        start(f, 3);
        cast(f, 0, node, 0);
        for (size_t i = 1; i < 3; i++) {
                cast(f, i, 3, 3);
                f->tasks[i].signal = HN_SIGNAL_NONE;
        }
        f->others[1] = others;
        f->others[2] = f->others[3] = 2000;
        uneven_seconds(f, 20, (uint32_t[]){ 500, 1000, 1000 });
}

static void just_room_where_it_runs(struct fixture *f) {
        drifters_at_home(f, 1, 1750);
}

static void hardly_room_where_it_runs(struct fixture *f) {
        drifters_at_home(f, 1, 1751);
}

static void it_runs_nobody_knows_where(struct fixture *f) {
        drifters_at_home(f, NO, 2000);
}

/* Two threads that cannot be told apart, on nodes of their own, and all of their memory on a third one. */
static void two_go_together(struct fixture *f) {
        start(f, 2);
        for (size_t i = 0; i < 2; i++) {
                cast(f, i, (hn_node_index) (2 + i), 0);
                f->tasks[i].signal = HN_SIGNAL_RESIDENCY;
                f->tasks[i].tgid = FIXTURE_FIRST_TID;
        }
        a_while(f);
}

/* It goes alone, and two nodes are no better balanced for it. */
static void one_goes_alone(struct fixture *f) {
        start(f, 2);
        cast(f, 0, 2, 0);
        cast(f, 1, 0, 0);
        f->tasks[0].signal = f->tasks[1].signal = HN_SIGNAL_RESIDENCY;
        a_while(f);
}

static void scenes(void **state) {
        static const struct scene_row rows[] = {
                { nearly_as_good, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 0, "0-1" },
                { not_quite_as_good, 0, HN_ACT_PIN, HN_REASON_NODE_FULL, 0, 0, "0-1" },
                { a_thousandth, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 0, "0-1" },
                { a_quarter_of_a_core_passes_by, 0, HN_ACT_PIN, HN_REASON_NODE_FULL, 1, 1, "2-3" },
                { more_than_a_quarter_passes_by, 0, HN_ACT_NONE, HN_REASON_PASSING_LOAD, 1, 1, NULL },
                { two_homes, 0, HN_ACT_NONE, HN_REASON_PASSING_LOAD, 0, 0, NULL },
                { two_go_together, 0, HN_ACT_PIN, HN_REASON_REMOTE_PAGES, 2, 0, "0-1" },
                { one_goes_alone, 0, HN_ACT_PIN, HN_REASON_LOAD_IMBALANCE, 2, 2, "4-5" },
                { just_room_where_it_runs, 0, HN_ACT_PIN, HN_REASON_LOAD_IMBALANCE, 1, 1, "2-3" },
                { hardly_room_where_it_runs, 0, HN_ACT_NONE, HN_REASON_LOAD_IMBALANCE, 1, 1, NULL },
                { it_runs_nobody_knows_where, 0, HN_ACT_NONE, HN_REASON_LOAD_IMBALANCE, NO, NO, NULL },
        };
        bool met[_HN_REASON_MAX] = {};

        (void) state;
        check_scenes(rows, HN_ELEMENTS(rows), met);
}

/* Held on a node that was closed to it since, and refused by the other one: it has nothing there that counts.
 */
static void held_where_it_may_not_be(void **state) {
        _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
        const struct hn_decision *d;
        struct fixture f;

        (void) state;
        drifters_at_home(&f, 1, 1750);
        fixture_pin(&f, 0, 1, 1, node_mask(&f, 1));
        f.tasks[0].scope = 1;
        f.scopes[1].nodes = fixture_list("0,2");
        f.priv[1] = 250;
        uneven_seconds(&f, 20, (uint32_t[]){ 500, 1000, 1000 });
        plan = decide(&f);
        d = hn_plan_decision(plan, 0);
        assert_int_equal(d->act, HN_ACT_NONE);
        assert_int_equal(d->to, 1);
        assert_int_equal(d->share_from, 200);
        assert_int_equal(d->share_to, 0);
        assert_int_equal(d->capacity, 250);
        fixture_deinit(&f);
}

/* Those of whom nothing is known are counted where there is most room, one CPU's worth after the other. */
static void drifting(void **state) {
        static const struct {
                uint32_t used[3], others[4]; /* the tasks run on node 0; the first node by number on ties */
                unsigned cores[4];
                uint32_t busy[4];
        } rows[] = {
                { { 1000, 400, 0 }, { 0 }, { 2, 2, 2, 2 }, { 1000, 400, 0, 0 } },
                { { 1000, 1, 0 }, { 0 }, { 2, 2, 2, 2 }, { 1000, 1, 0, 0 } },
                { { 1000, 1000, 1000 }, { 500, 0, 0, 0 }, { 2, 2, 2, 2 }, { 500, 1000, 1000, 1000 } },
                { { 1000, 1000, 1000 }, { 0, 500, 1500, 1500 }, { 2, 2, 2, 2 }, { 2000, 1500, 1500, 1500 } },
                /* also where no node has room, but never where there is no core */
                { { 1000, 1000, 1000 }, { 2000, 2000, 0, 0 }, { 2, 2, 0, 0 }, { 4000, 3000, 0, 0 } },
                { { 1000, 0, 0 }, { 2000, 2000, 2000, 0 }, { 2, 2, 2, 0 }, { 3000, 2000, 2000, 0 } },
                { { 1000, 1000, 1000 }, { 2000, 2000, 2000, 0 }, { 2, 2, 2, 0 }, { 3000, 3000, 3000, 0 } },
                { { 1000, 0, 0 }, { 2000, 2000, 2000, 0 }, { 2, 2, 2, 1 }, { 2000, 2000, 2000, 1000 } },
                /* unless there is none anywhere: then all nodes tie */
                { { 1000, 0, 0 }, { 0 }, { 0, 0, 0, 0 }, { 1000, 0, 0, 0 } },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
                struct fixture f;

                start(&f, 3);
                for (size_t k = 0; k < 3; k++) {
                        cast(&f, k, 0, 0);
                        f.tasks[k].signal = HN_SIGNAL_NONE;
                }
                for (size_t k = 0; k < 4; k++) {
                        f.topo.nodes[k].n_cores = rows[i].cores[k];
                        f.others[k] = rows[i].others[k];
                }
                uneven_seconds(&f, 2, rows[i].used);
                plan = decide(&f);
                for (hn_node_index k = 0; k < 4; k++)
                        ROW_EQUAL(i * 10 + k, hn_plan_node(plan, k)->busy, rows[i].busy[k]);
                fixture_deinit(&f);
        }
}

/* A newborn task comes before the one whose mask is gone, in number, and after it on the ledger. */
static void what_is_gone_is_first(void **state) {
        _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
        struct fixture f;

        (void) state;
        start(&f, 3);
        for (size_t i = 0; i < 3; i++)
                cast(&f, i, 2, 2);
        f.tasks[0].key.tid = FIXTURE_FIRST_TID - 1;
        f.tasks[0].tgid = FIXTURE_FIRST_TID - 1;
        f.tasks[0].mask = node_mask(&f, 2);
        /* It is not there yet. */
        f.s.tasks = f.tasks + 1;
        f.s.n_tasks = 2;
        for (unsigned i = 0; i < 2; i++) {
                f.s.now += HN_USEC_PER_SEC;
                for (size_t k = 1; k < 3; k++)
                        f.tasks[k].runtime_ns += UINT64_C(900000000);
                assert_int_equal(hn_model_feed(f.model, &f.s), 0);
        }
        for (size_t k = 1; k < 3; k++) {
                hn_model_note_pin(f.model, k - 1, 2, 2, node_mask(&f, 2), f.all, f.all, true, f.s.now);
                f.tasks[k].mask = node_mask(&f, 2);
        }
        assert_int_equal(hn_model_feed(f.model, &f.s), 0);
        f.tasks[2].mask = fixture_mask(&f, "0-3");
        f.s.tasks = f.tasks;
        f.s.n_tasks = 3;
        fixture_second(&f, 900, 0);
        plan = decide(&f);
        assert_int_equal(hn_plan_n_acts(plan), 2);
        assert_int_equal(hn_plan_act(plan, 0)->act, HN_ACT_FORGET);
        assert_int_equal(hn_plan_act(plan, 0)->task, 2);
        assert_int_equal(hn_plan_act(plan, 1)->act, HN_ACT_ADOPT);
        assert_int_equal(hn_plan_act(plan, 1)->task, 0);
        fixture_deinit(&f);
}

/* As many tasks as before are no reason to allocate, and more of them are given room. */
static void room_is_kept(void **state) {
        _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
        const struct hn_decision *first;
        struct fixture f;

        (void) state;
        start(&f, 8);
        for (size_t i = 0; i < 8; i++)
                cast(&f, i, (hn_node_index) (i / 2), (hn_node_index) (i / 2));
        f.s.n_tasks = 3;
        two_seconds(&f);
        plan = decide(&f);
        first = hn_plan_decision(plan, 0);
        assert_int_equal(hn_plan_build(plan, f.model, &f.s, &limits), 0);
        assert_ptr_equal(hn_plan_decision(plan, 0), first);
        f.s.n_tasks = 8;
        two_seconds(&f);
        assert_int_equal(hn_plan_build(plan, f.model, &f.s, &limits), 0);
        assert_int_equal(hn_plan_n_acts(plan), 8);
        fixture_deinit(&f);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(promises),
                cmocka_unit_test(gains),
                cmocka_unit_test(no_gain),
                cmocka_unit_test(scenes),
                cmocka_unit_test(held_where_it_may_not_be),
                cmocka_unit_test(drifting),
                cmocka_unit_test(what_is_gone_is_first),
                cmocka_unit_test(room_is_kept),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
