/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who is placed, and with whom: at the very thresholds, and however tasks are numbered. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/bench.h"
#include "scenes.h"

/* Three work on node 0, where all of their memory is, more than it has cores for; the fourth hardly does. */
static void outgrown_and_one_rests(struct fixture *f, uint32_t used) {
        family(f, 1000, 1);
        fixture_put(f, 0, 3);
        uneven_seconds(f, 20, (uint32_t[]){ 1000, 1000, 1000, used });
}

static void it_works_just_enough(struct fixture *f) {
        outgrown_and_one_rests(f, 50);
}

static void it_works_a_little_less(struct fixture *f) {
        outgrown_and_one_rests(f, 49);
}

/* Two share their memory, on node 1. The first of all is a thread of the same process. */
static void with_a_pair(struct fixture *f, const uint64_t priv[4], const uint64_t shared[4]) {
        start(f, 3);
        for (size_t i = 0; i < 3; i++) {
                cast(f, i, (hn_node_index) i, 0);
                f->tasks[i].tgid = FIXTURE_FIRST_TID;
                fixture_memory(f, i, 1, 0);
                f->shared[i * 4 + 1] = 1000;
        }
        memcpy(f->priv, priv, 4 * sizeof(*priv));
        memcpy(f->shared, shared, 4 * sizeof(*shared));
}

static void three_tenths_and_more_are_shared(struct fixture *f) {
        with_a_pair(f, (uint64_t[]){ 279, 0, 0, 0 }, (uint64_t[]){ 121, 0, 0, 0 });
        two_seconds(f);
}

static void three_tenths_are_shared(struct fixture *f) {
        with_a_pair(f, (uint64_t[]){ 280, 0, 0, 0 }, (uint64_t[]){ 120, 0, 0, 0 });
        two_seconds(f);
}

static void few_faults_that_tell(struct fixture *f) {
        with_a_pair(f, (uint64_t[]){ 180, 0, 0, 0 }, (uint64_t[]){ 76, 0, 0, 0 });
        two_seconds(f);
}

static void too_few_faults_to_tell(struct fixture *f) {
        with_a_pair(f, (uint64_t[]){ 180, 0, 0, 0 }, (uint64_t[]){ 75, 0, 0, 0 });
        two_seconds(f);
}

static void a_silent_sibling(struct fixture *f, uint32_t used) {
        with_a_pair(f, (uint64_t[4]){}, (uint64_t[4]){});
        f->tasks[0].signal = HN_SIGNAL_NONE;
        uneven_seconds(f, 20, (uint32_t[]){ used, 1000, 1000 });
}

static void a_sibling_works_just_enough(struct fixture *f) {
        a_silent_sibling(f, 50);
}

static void a_sibling_works_a_little_less(struct fixture *f) {
        a_silent_sibling(f, 49);
}

/* Of its faults half are where it runs, and the kernel wants it there. */
static void thin(struct fixture *f, uint64_t elsewhere, uint32_t used) {
        start(f, 1);
        cast(f, 0, 1, 1);
        fixture_memory(f, 0, 1, 100);
        f->priv[0] = elsewhere;
        f->tasks[0].kernel_preferred = 1;
        for (unsigned i = 0; i < 20; i++)
                fixture_second(f, used, 0);
}

static void half_of_few_faults(struct fixture *f) {
        thin(f, 100, 50);
}

static void less_than_half_of_few_faults(struct fixture *f) {
        thin(f, 101, 50);
}

static void few_faults_and_idle(struct fixture *f) {
        thin(f, 100, 49);
}

/* It was let go, and may be moved again in so many milliseconds. */
static void cooling(struct fixture *f, uint64_t left) {
        start(f, 1);
        cast(f, 0, 2, 2);
        two_seconds(f);
        hold(f, 0, 2, 2);
        fixture_second(f, 1000, 0);
        hn_model_note_release(f->model, 0, f->s.now);
        f->tasks[0].mask = f->all;
        f->s.now += (hn_model_cooldown_left(f->model, 0, f->s.now) - left) * HN_USEC_PER_MSEC -
                    HN_USEC_PER_SEC;
        fixture_second(f, 1000, 0);
        assert_int_equal(hn_model_cooldown_left(f->model, 0, f->s.now), left);
}

static void cooling_for_a_millisecond(struct fixture *f) {
        cooling(f, 1);
}

static void cool(struct fixture *f) {
        cooling(f, 0);
}

/* Threads 0, 2 and 3 are of a process that is larger than a node; 1 is another. */
static void outgrown_with_a_stranger_between(struct fixture *f) {
        start(f, 4);
        for (size_t i = 0; i < 4; i++) {
                cast(f, i, 0, 1);
                f->tasks[i].signal = HN_SIGNAL_RESIDENCY;
                f->tasks[i].tgid = FIXTURE_FIRST_TID + (i == 1);
        }
        two_seconds(f);
}

/* The same way round: the process has the number of a later thread. */
static void outgrown_and_numbered_late(struct fixture *f) {
        outgrown_with_a_stranger_between(f);
        for (size_t i = 0; i < 4; i++)
                f->tasks[i].tgid = FIXTURE_FIRST_TID + (i == 1 ? 1 : 3);
        two_seconds(f);
}

/* Threads 0 and 2 share their memory; 1, by whose number the process goes, keeps to itself. */
static void a_pair_round_its_first_thread(struct fixture *f) {
        with_a_pair(f, (uint64_t[4]){}, (uint64_t[]){ 0, 600, 400, 0 });
        for (size_t i = 0; i < 3; i++)
                f->tasks[i].tgid = FIXTURE_FIRST_TID + 1;
        memset(f->shared + 4, 0, 4 * sizeof(*f->shared));
        f->shared[2 * 4 + 1] = 0;
        f->shared[2 * 4 + 2] = 1000;
        fixture_memory(f, 1, 3, 500);
        two_seconds(f);
}

static void at_home_and_node_unknown(struct fixture *f) {
        start(f, 1);
        cast(f, 0, NO, 0);
        two_seconds(f);
}

/* A process that cannot be told apart, and has as much memory on node 0 as on node 1: it stays where most of
 * it works. */
static void seated(struct fixture *f, const uint32_t used[3]) {
        start(f, 3);
        for (size_t i = 0; i < 3; i++) {
                cast(f, i, i > 0, 0);
                f->tasks[i].signal = HN_SIGNAL_RESIDENCY;
                f->tasks[i].tgid = FIXTURE_FIRST_TID;
                f->priv[i * 4 + 1] = 1000;
        }
        uneven_seconds(f, 2, used);
}

static void as_much_work_on_both(struct fixture *f) {
        seated(f, (uint32_t[]){ 1000, 500, 499 });
}

static void more_work_on_the_second(struct fixture *f) {
        seated(f, (uint32_t[]){ 1000, 500, 500 });
}

/* Three threads that cannot be told apart use two cores, and a quarter of one. */
static void as_large_as_a_node(struct fixture *f) {
        seated(f, (uint32_t[]){ 750, 750, 750 });
}

static void a_little_larger_than_a_node(struct fixture *f) {
        seated(f, (uint32_t[]){ 750, 750, 751 });
}

static void the_first_node_is_larger(struct fixture *f) {
        seated(f, (uint32_t[]){ 750, 750, 751 });
        f->topo.nodes[0].n_cores = f->topo.nodes[0].n_cpus = 4;
}

static void two_on_nodes_of_one_cpu(struct fixture *f) {
        fixture_init(f, 4, 1, 2);
        for (size_t i = 0; i < 2; i++) {
                cast(f, i, (hn_node_index) i, 0);
                f->tasks[i].signal = HN_SIGNAL_RESIDENCY;
                f->tasks[i].tgid = FIXTURE_FIRST_TID;
        }
        two_seconds(f);
}

static void edges(void **state) {
        static const struct scene_row rows[] = {
                { it_works_just_enough, 3, HN_ACT_PIN, HN_REASON_MEMORY_OUTGROWN, 2, 2, "4-5" },
                { it_works_a_little_less, 3, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 2, 2, NULL },
                { three_tenths_and_more_are_shared, 0, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 0, 0, "0-1" },
                { three_tenths_are_shared, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 0, "0-1" },
                { few_faults_that_tell, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 0, "0-1" },
                { too_few_faults_to_tell, 0, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 0, 0, "0-1" },
                { a_sibling_works_just_enough, 0, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 0, 1, "2-3" },
                { a_sibling_works_a_little_less, 0, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 0, 0, NULL },
                { half_of_few_faults, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 1, 1, "2-3" },
                { less_than_half_of_few_faults, 0, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 1, 1, NULL },
                { few_faults_and_idle, 0, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 1, 1, NULL },
                { cooling_for_a_millisecond, 0, HN_ACT_NONE, HN_REASON_COOLDOWN, 2, 2, NULL },
                { cool, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 2, 2, "4-5" },
                { outgrown_with_a_stranger_between, 0, HN_ACT_NONE, HN_REASON_OUTGROWS_NODE, 0, 0, NULL },
                { outgrown_with_a_stranger_between, 3, HN_ACT_NONE, HN_REASON_OUTGROWS_NODE, 0, 0, NULL },
                { outgrown_with_a_stranger_between, 1, HN_ACT_PIN, HN_REASON_REMOTE_PAGES, 0, 1, "2-3" },
                { outgrown_and_numbered_late, 0, HN_ACT_NONE, HN_REASON_OUTGROWS_NODE, 0, 0, NULL },
                { outgrown_and_numbered_late, 1, HN_ACT_PIN, HN_REASON_REMOTE_PAGES, 0, 1, "2-3" },
                { a_pair_round_its_first_thread, 0, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 0, 2, "4-5" },
                { a_pair_round_its_first_thread, 1, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 1, 3, "6-7" },
                { a_pair_round_its_first_thread, 2, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 2, 2, "4-5" },
                { at_home_and_node_unknown, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, NO, 0, "0-1" },
                { as_much_work_on_both, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 0, "0-1" },
                { more_work_on_the_second, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 1, "2-3" },
                { as_large_as_a_node, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 1, "2-3" },
                { a_little_larger_than_a_node, 0, HN_ACT_NONE, HN_REASON_OUTGROWS_NODE, 0, 0, NULL },
                { the_first_node_is_larger, 0, HN_ACT_NONE, HN_REASON_SMALL_GAIN, 0, 0, NULL },
                { two_on_nodes_of_one_cpu, 0, HN_ACT_NONE, HN_REASON_OUTGROWS_NODE, 0, 0, NULL },
        };
        bool met[_HN_REASON_MAX] = {};

        (void) state;
        check_scenes(rows, HN_ELEMENTS(rows), met);
}

/* What is given away on a node to those of whom nothing is known, at the first look at them: `used` is what
 * they have used for all of their life. Task 0 is on node 0 alone, the others are on node 1. */
static void room_for_the_blind(void **state) {
        static const struct {
                uint32_t used, given;
        } rows[] = { { 499, 499 }, { 500, 1000 }, { 501, 1000 }, { 999, 1000 }, { 1000, 1000 } };
        const struct hn_limits limits = HN_LIMITS_DEFAULT;

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
                struct fixture f;

                family(&f, 1000, 1);
                f.model = hn_model_free(f.model);
                assert_int_equal(hn_model_new(&f.topo, &f.model), 0);
                f.s.n_tasks = 0;
                f.others[0] = f.others[2] = 1000;
                f.others[1] = rows[i].used + 1000;
                for (unsigned k = 0; k < 6; k++)
                        fixture_second(&f, 0, 0);
                f.s.n_tasks = 4;
                memset(f.others, 0, sizeof(f.others));
                fixture_put(&f, 2, 3);
                for (size_t k = 0; k < 4; k++) {
                        f.tasks[k].runtime_ns = UINT64_C(20000000) * (k == 1 ? rows[i].used : 1000);
                        f.tasks[k].age = 20 * HN_USEC_PER_SEC;
                }
                fixture_second(&f, 0, 0);
                assert_int_equal(hn_plan_new(&f.topo, &plan), 0);
                assert_int_equal(hn_plan_build(plan, f.model, &f.s, &limits), 0);
                ROW_EQUAL(i, hn_plan_decision(plan, 1)->reason, HN_REASON_MEMORY_OUTGROWN);
                ROW_EQUAL(i, hn_plan_decision(plan, 1)->to, 1);
                ROW_EQUAL(i, hn_plan_decision(plan, 1)->used, rows[i].given);
                fixture_deinit(&f);
        }
}

/* Opted in, and left alone for a reason that will pass, it may be moved on at any time; else it is like any
 * other work. */
static void who_drifts(void **state) {
        static const struct {
                enum hn_signal signal;
                uint32_t used;
                uint64_t runtime_ns;
                enum hn_mode mode;
                bool refused;
                enum hn_reason reason;
                uint32_t drifting;
        } rows[] = {
                { HN_SIGNAL_NONE, 300, 2000000000, HN_MODE_MANAGE, false, HN_REASON_NO_SIGNAL, 300 },
                { HN_SIGNAL_FAULTS, 300, 0, HN_MODE_MANAGE, false, HN_REASON_TOO_YOUNG, 300 },
                { HN_SIGNAL_FAULTS, 40, 2000000000, HN_MODE_MANAGE, false, HN_REASON_IDLE, 40 },
                { HN_SIGNAL_FAULTS, 300, 2000000000, HN_MODE_MANAGE, true, HN_REASON_REFUSED_BY_KERNEL, 0 },
                { HN_SIGNAL_NONE, 300, 2000000000, HN_MODE_ADVISE, false, HN_REASON_NO_SIGNAL, 0 },
        };
        const struct hn_limits limits = HN_LIMITS_DEFAULT;

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
                struct fixture f;

                start(&f, 1);
                cast(&f, 0, 1, 1);
                f.tasks[0].signal = rows[i].signal;
                f.tasks[0].runtime_ns = rows[i].runtime_ns;
                f.scopes[0].mode = rows[i].mode;
                fixture_second(&f, rows[i].used, 0);
                fixture_second(&f, rows[i].used, 0);
                if (rows[i].refused)
                        hn_model_note_refused(f.model, 0);
                assert_int_equal(hn_plan_new(&f.topo, &plan), 0);
                assert_int_equal(hn_plan_build(plan, f.model, &f.s, &limits), 0);
                ROW_EQUAL(i, hn_plan_decision(plan, 0)->reason, rows[i].reason);
                ROW_EQUAL(i, hn_plan_node(plan, 1)->drifting, rows[i].drifting);
                ROW_EQUAL(i, hn_plan_node(plan, 1)->others, rows[i].used);
                fixture_deinit(&f);
        }
}

/* Where everybody counts, whoever does nothing has its place too: where it is. */
static void who_does_nothing(void **state) {
        _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
        struct hn_limits limits = HN_LIMITS_DEFAULT;
        struct fixture f;

        (void) state;
        limits.min_demand = 0;
        start(&f, 1);
        cast(&f, 0, 1, 1);
        fixture_second(&f, 0, 0);
        fixture_second(&f, 0, 0);
        assert_int_equal(hn_plan_new(&f.topo, &plan), 0);
        assert_int_equal(hn_plan_build(plan, f.model, &f.s, &limits), 0);
        assert_int_equal(hn_plan_decision(plan, 0)->reason, HN_REASON_AT_HOME);
        assert_int_equal(hn_plan_decision(plan, 0)->to, 1);
        assert_int_equal(hn_plan_gather(plan, f.model, &f.s, &limits), 0);
        fixture_deinit(&f);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(edges),
                cmocka_unit_test(room_for_the_blind),
                cmocka_unit_test(who_drifts),
                cmocka_unit_test(who_does_nothing),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
