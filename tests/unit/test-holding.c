/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Who is held where it runs before much is known of its memory, and who is not turned out for a stranger. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenes.h"

static void more_work_than_cores_at_the_memory(struct fixture *f) {
        family(f, 1000, 1);
}

/* Two nodes have four cores. */
static void cores_enough_at_the_memory(struct fixture *f) {
        family(f, 1000, 2);
}

/* Where nobody brings the memory there is no use in waiting for it. */
static void outgrown_and_nobody_balances(struct fixture *f) {
        family(f, 1000, 1);
        f->s.kernel_balancing = 0;
}

static void a_small_family(struct fixture *f) {
        family(f, 500, 1);
}

static void pages_not_known(struct fixture *f) {
        family(f, 1000, 1);
        f->tasks[1].pages_known = false;
}

/* The same four, opted in just now: they have used what they did for some time. */
static void newcomers(struct fixture *f, uint32_t used) {
        family(f, 1000, 1);
        f->model = hn_model_free(f->model);
        assert_int_equal(hn_model_new(&f->topo, &f->model), 0);
        f->s.n_tasks = 0;
        fixture_put(f, 3, 1);
        f->others[0] = used;
        f->others[1] = 3 * used;
        for (unsigned i = 0; i < 10; i++)
                fixture_second(f, 0, 0);
        f->s.n_tasks = 4;
        f->others[0] = f->others[1] = 0;
        for (size_t i = 0; i < 4; i++) {
                f->tasks[i].runtime_ns = UINT64_C(20000000) * used;
                f->tasks[i].age = 20 * HN_USEC_PER_SEC;
        }
        fixture_second(f, used, 0);
}

/* Three on node 1, which has two cores: one of them goes to where there is one left. */
static void outgrown_at_the_first_look(struct fixture *f) {
        newcomers(f, 1000);
}

/* Who ran for most of its life may want a whole core: so there is no room for a third at six tenths each. */
static void most_of_a_life_is_a_core(struct fixture *f) {
        newcomers(f, 600);
}

static void a_life_of_rest(struct fixture *f) {
        newcomers(f, 400);
}

/* The node is full of those who have come first. */
static void outgrown_in_a_crowd(struct fixture *f) {
        start(f, 6);
        for (size_t i = 0; i < 6; i++) {
                cast(f, i, 1, i < 2 ? 1 : 0);
                if (i < 2)
                        continue;
                f->tasks[i].tgid = FIXTURE_FIRST_TID + 2;
                f->tasks[i].signal = HN_SIGNAL_NONE;
                f->tasks[i].pages_known = true;
                f->tasks[i].pages_row = 2;
        }
        two_seconds(f);
}

/* Others happen to use a node just now, ourselves perhaps: that is no reason to let it run where there are
 * three. */
static void outgrown_while_others_pass_by(struct fixture *f) {
        family(f, 1000, 1);
        fixture_put(f, 2, 0);
        f->others[1] = f->others[2] = f->others[3] = 1500;
        for (unsigned i = 0; i < 3; i++)
                fixture_second(f, 1000, 0);
}

/* Its first faults are on node 0 as well, which is held by two of which nothing is known. */
static void first_faults(struct fixture *f, unsigned seconds) {
        start(f, 3);
        for (size_t i = 0; i < 3; i++) {
                cast(f, i, i == 2, 0);
                f->tasks[i].tgid = FIXTURE_FIRST_TID;
                f->tasks[i].signal = HN_SIGNAL_NONE;
                f->tasks[i].pages_known = true;
                f->tasks[i].pages_row = 0;
        }
        two_seconds(f);
        for (size_t i = 0; i < 3; i++)
                fixture_pin(f, i, i == 2, i == 2, fixture_mask(f, i == 2 ? "2-3" : "0-1"));
        f->tasks[2].signal = HN_SIGNAL_FAULTS;
        for (unsigned i = 0; i < seconds; i++)
                fixture_second(f, 1000, 0);
}

static void first_faults_turn_nobody_out(struct fixture *f) {
        first_faults(f, 5);
}

/* Half a minute is enough, and a second less is not. */
static void nearly_in_the_long_run(struct fixture *f) {
        first_faults(f, 29);
}

static void just_in_the_long_run(struct fixture *f) {
        first_faults(f, 30);
}

static void in_the_long_run_knowledge_counts(struct fixture *f) {
        first_faults(f, 31);
}

/* A thread that nothing is known of happens to run where two have their memory, and are held. */
static void a_stranger_passes_by(struct fixture *f) {
        start(f, 3);
        for (size_t i = 0; i < 3; i++)
                cast(f, i, i < 2 ? 0 : 1, 0);
        f->tasks[2].signal = HN_SIGNAL_NONE;
        two_seconds(f);
        for (size_t i = 0; i < 2; i++)
                hold(f, i, 0, 0);
        fixture_put(f, 2, 0);
        for (unsigned i = 0; i < 20; i++)
                fixture_second(f, 667, 333);
}

/* One after it could have changed places: what nothing is known of makes room by itself. */
static void a_stranger_in_its_place(struct fixture *f) {
        start(f, 8);
        for (size_t i = 0; i < 8; i++)
                cast(f, i, (hn_node_index) (i / 2), (hn_node_index) (i / 2));
        cast(f, 3, 3, 1);
        cast(f, 6, 1, 3);
        f->tasks[6].signal = HN_SIGNAL_NONE;
        two_seconds(f);
        for (size_t i = 0; i < 8; i++)
                if (i != 3 && i != 6)
                        hold(f, i, (hn_node_index) (i / 2), (hn_node_index) (i / 2));
        two_seconds(f);
}

static void thin(struct fixture *f, hn_node_index node, uint64_t there, uint64_t elsewhere) {
        start(f, 1);
        cast(f, 0, node, 1);
        fixture_memory(f, 0, 1, there);
        f->priv[0] = elsewhere;
        two_seconds(f);
}

static void few_faults_all_here(struct fixture *f) {
        thin(f, 1, 3, 2);
        f->tasks[0].kernel_preferred = 1;
}

static void few_faults_here_but_the_kernel_is_silent(struct fixture *f) {
        thin(f, 1, 255, 0);
}

static void few_faults_and_most_elsewhere(struct fixture *f) {
        thin(f, 1, 99, 100);
        f->tasks[0].kernel_preferred = 1;
}

static void few_faults_all_there(struct fixture *f) {
        thin(f, 2, 255, 0);
        f->tasks[0].kernel_preferred = 1;
}

/* A move is more than what so little may decide. */
static void few_faults_and_no_room(struct fixture *f) {
        start(f, 3);
        for (size_t i = 0; i < 3; i++)
                cast(f, i, 1, 1);
        fixture_memory(f, 2, 1, 100);
        f->tasks[2].kernel_preferred = 1;
        two_seconds(f);
}

static void holding(void **state) {
        static const struct scene_row rows[] = {
                { more_work_than_cores_at_the_memory, 0, HN_ACT_PIN, HN_REASON_MEMORY_OUTGROWN, 0, 0, "0-1" },
                { more_work_than_cores_at_the_memory, 3, HN_ACT_PIN, HN_REASON_MEMORY_OUTGROWN, 2, 2, "4-5" },
                { cores_enough_at_the_memory, 3, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 2, 2, NULL },
                { outgrown_and_nobody_balances, 3, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 2, 2, NULL },
                { a_small_family, 3, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 2, 2, NULL },
                { pages_not_known, 1, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 1, 1, NULL },
                { outgrown_at_the_first_look, 0, HN_ACT_PIN, HN_REASON_MEMORY_OUTGROWN, 0, 0, "0-1" },
                { outgrown_at_the_first_look, 2, HN_ACT_PIN, HN_REASON_MEMORY_OUTGROWN, 1, 1, "2-3" },
                { outgrown_at_the_first_look, 3, HN_ACT_PIN, HN_REASON_MEMORY_OUTGROWN, 1, 0, "0-1" },
                { most_of_a_life_is_a_core, 1, HN_ACT_PIN, HN_REASON_MEMORY_OUTGROWN, 1, 1, "2-3" },
                { most_of_a_life_is_a_core, 3, HN_ACT_PIN, HN_REASON_MEMORY_OUTGROWN, 1, 0, "0-1" },
                { a_life_of_rest, 0, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 0, 0, NULL },
                { outgrown_while_others_pass_by, 0, HN_ACT_PIN, HN_REASON_MEMORY_OUTGROWN, 0, 0, "0-1" },
                { outgrown_while_others_pass_by, 3, HN_ACT_PIN, HN_REASON_MEMORY_OUTGROWN, 2, 2, "4-5" },
                { outgrown_in_a_crowd, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 1, 1, "2-3" },
                { outgrown_in_a_crowd, 2, HN_ACT_PIN, HN_REASON_MEMORY_OUTGROWN, 1, 0, "0-1" },
                { outgrown_in_a_crowd, 5, HN_ACT_PIN, HN_REASON_MEMORY_OUTGROWN, 1, 3, "6-7" },
                { first_faults_turn_nobody_out, 0, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { first_faults_turn_nobody_out, 2, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
                { nearly_in_the_long_run, 2, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
                { just_in_the_long_run, 2, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 1, 0, "0-1" },
                { in_the_long_run_knowledge_counts, 2, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 1, 0, "0-1" },
                { a_stranger_passes_by, 0, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { a_stranger_passes_by, 1, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { a_stranger_in_its_place, 3, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 3, 1, "2-3" },
                { few_faults_all_here, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 1, 1, "2-3" },
                { few_faults_here_but_the_kernel_is_silent, 0, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 1, 1, NULL },
                { few_faults_and_most_elsewhere, 0, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 1, 1, NULL },
                { few_faults_all_there, 0, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 2, 2, NULL },
                { few_faults_and_no_room, 2, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 1, 1, NULL },
        };
        bool met[_HN_REASON_MAX] = {};

        (void) state;
        check_scenes(rows, HN_ELEMENTS(rows), met);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(holding),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
