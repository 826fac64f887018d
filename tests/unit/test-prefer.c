/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/assign.h"
#include "policy/prefer.h"
#include "scenes.h"

#define NEVER HN_SCORE_FORBIDDEN

/* Nodes 0-3 have the ids 0, 5, 6 and 7; the last one has no CPUs and is nearest to index 2. */
static void machine(struct hn_topology *topo) {
        fixture_topology(topo, 4, 2);
        for (size_t i = 1; i < 4; i++)
                topo->nodes[i].id = 4 + (unsigned) i;
        fixture_strip_cpus(topo, 3);
        topo->distances[3 * 4 + 2] = topo->distances[2 * 4 + 3] = 14;
}

static void scores_with_a_preference(void **state) {
        static const struct {
                const char *prefer;
                uint32_t score[4], with[4];
        } rows[] = {
                { "8191", { 1, 2, 3, 4 }, { 1, 2, 3, 4 } }, /* nowhere here */
                { "1", { 1, 2, 3, 4 }, { 1, 2, 3, 4 } },    /* an index is no id */
                { "0,5", { NEVER, NEVER, NEVER, NEVER }, { NEVER, NEVER, NEVER, NEVER } },
                { "0,5", { 7, NEVER, 0, 0 }, { 107, NEVER, 0, 0 } },
                { "5-6", { 0, 1, 2, 3 }, { 0, 101, 102, 3 } }, /* next to each other */
                { "6-7", { 0, 0, 3, 0 }, { 0, 0, 103, 0 } },   /* both stand for one, which gets it once */
                { "7", { 0, 0, 3, 9 }, { 0, 0, 103, 9 } },
                { "", { 1, 2, 3, 4 }, { 1, 2, 3, 4 } },
                { "5", { 500, 500, 0, 0 }, { 500, 600, 0, 0 } },
        };
        struct hn_topology topo;

        (void) state;
        machine(&topo);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_mask prefer = fixture_list(rows[i].prefer);
                uint32_t score[4];

                memcpy(score, rows[i].score, sizeof(score));
                hn_prefer_add(&topo, &prefer, 100, score);
                for (size_t k = 0; k < 4; k++)
                        ROW_EQUAL(i, score[k], rows[i].with[k]);
                hn_prefer_remove(&topo, &prefer, 100, score);
                for (size_t k = 0; k < 4; k++)
                        ROW_EQUAL(i, score[k], rows[i].score[k]);
        }
        hn_topology_deinit(&topo);
}

static void what_is_owed_to_it(void **state) {
        static const struct {
                const char *prefer;
                uint32_t score[4]; /* with the bonus of 100 */
                hn_node_index node, from;
                bool decides;
        } rows[] = {
                { "5", { 0, 600, 0, 0 }, NO, 0, false },
                { "5", { NEVER, NEVER, 0, 0 }, 1, 0, true },
                { "", { 500, 500, 0, 0 }, 1, 0, false },
                { "0", { 600, 500, 0, 0 }, 1, 0, false }, /* not the preferred one */
                { "5", { 500, 600, 0, 0 }, 1, 0, true },  /* equal but for the device */
                { "5", { 500, 629, 0, 0 }, 1, 0, true },  /* 29 better, of 30 */
                { "5", { 500, 630, 0, 0 }, 1, 0, false },
                { "5", { 300, 1000, 0, 0 }, 1, NO, false }, /* plainly the best */
                { "5", { 0, 130, 0, 0 }, 1, NO, false },    /* 30 better than nothing */
                { "5", { 0, 129, 0, 0 }, 1, NO, true },
                { "5", { 529, 600, 0, 0 }, 1, 1, false }, /* stays, nobody is 30 better */
                { "5", { 530, 600, 0, 0 }, 1, 1, true },
        };
        struct hn_topology topo;

        (void) state;
        machine(&topo);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_mask prefer = fixture_list(rows[i].prefer);

                ROW_EQUAL(
                        i,
                        hn_prefer_decides(&topo, &prefer, 100, rows[i].score, rows[i].node, rows[i].from, 30),
                        rows[i].decides);
        }
        hn_topology_deinit(&topo);
}

/* A task on node 0 with so many of its thousand faults there, the others on node 1; a device is on node 1. */
static void stands(struct fixture *f, uint64_t here) {
        start(f, 1);
        cast(f, 0, 0, 0);
        f->priv[0] = here;
        f->priv[1] = 1000 - here;
        f->scopes[0].prefer = fixture_list("1");
        two_seconds(f);
}

static void as_good_there(struct fixture *f) {
        stands(f, 500);
}

static void nearly_as_good_there(struct fixture *f) {
        stands(f, 530);
}

/* A device is worth a hundred thousandths: with it 32 better than here, and 30, for which nobody moves. */
static void a_little_better_by_the_device(struct fixture *f) {
        stands(f, 534);
}

static void too_little_better_by_the_device(struct fixture *f) {
        stands(f, 535);
}

static void clearly_better_here(struct fixture *f) {
        stands(f, 540);
}

static void better_there_anyhow(struct fixture *f) {
        stands(f, 300);
}

static void placed_here(struct fixture *f) {
        stands(f, 500);
        fixture_pin(f, 0, 0, 0, node_mask(f, 0));
        fixture_second(f, 1000, 0);
}

static void placed_here_and_a_little_better_there(struct fixture *f) {
        placed_here(f);
        f->priv[0] = 470;
        f->priv[1] = 530;
        fixture_second(f, 1000, 0);
}

/* Moved here two minutes ago, since when the kernel has not been through its memory, which is all there. */
static void moved_here_and_no_news(struct fixture *f) {
        stands(f, 0);
        f->tasks[0].scan_seq = 7;
        fixture_second(f, 1000, 0);
        fixture_pin(f, 0, 2, 0, node_mask(f, 0));
        for (unsigned i = 0; i < 120; i++)
                fixture_second(f, 1000, 0);
}

static void moved_here_and_news(struct fixture *f) {
        moved_here_and_no_news(f);
        f->tasks[0].scan_seq = 8;
        fixture_second(f, 1000, 0);
}

static void all_of_it_on_a_third_node(struct fixture *f) {
        stands(f, 500);
        fixture_memory(f, 0, 3, 1000);
        fixture_second(f, 1000, 0);
}

static void no_such_node(struct fixture *f) {
        stands(f, 500);
        f->scopes[0].prefer = fixture_list("77");
        fixture_second(f, 1000, 0);
}

static void not_for_its_rule(struct fixture *f) {
        stands(f, 500);
        f->scopes[0].nodes = fixture_list("0,2");
        fixture_second(f, 1000, 0);
}

/* Two threads that share memory which lies half on node 2, half on node 3. */
static void sharers(struct fixture *f) {
        start(f, 2);
        for (size_t i = 0; i < 2; i++) {
                cast(f, i, (hn_node_index) i, 0);
                fixture_memory(f, i, 0, 0);
                f->shared[i * 4 + 2] = f->shared[i * 4 + 3] = 500;
                f->tasks[i].tgid = FIXTURE_FIRST_TID;
        }
        f->scopes[0].prefer = fixture_list("3");
        two_seconds(f);
}

/* Of its few faults half are on node 0, where it runs and is to be by the kernel's choice as well. */
static void few_faults(struct fixture *f, const char *prefer) {
        start(f, 1);
        cast(f, 0, 0, 0);
        f->priv[0] = f->priv[1] = 100;
        f->tasks[0].kernel_preferred = 0;
        f->scopes[0].prefer = fixture_list(prefer);
        two_seconds(f);
}

static void few_faults_and_a_device_there(struct fixture *f) {
        few_faults(f, "1");
}

static void few_faults_and_a_device_here(struct fixture *f) {
        few_faults(f, "0");
}

static void few_faults_and_devices_all_over(struct fixture *f) {
        few_faults(f, "0-3");
}

static void nothing_known_and_a_device_there(struct fixture *f) {
        family(f, 1000, 1);
        f->scopes[0].prefer = fixture_list("3");
}

static void a_device_decides_between_equals(void **state) {
        static const struct scene_row rows[] = {
                { no_such_node, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 0, "0-1" },
                { not_for_its_rule, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 0, "0-1" },
                { as_good_there, 0, HN_ACT_PIN, HN_REASON_NEAR_DEVICE, 0, 1, "2-3" },
                { nearly_as_good_there, 0, HN_ACT_PIN, HN_REASON_NEAR_DEVICE, 0, 1, "2-3" },
                { a_little_better_by_the_device, 0, HN_ACT_PIN, HN_REASON_NEAR_DEVICE, 0, 1, "2-3" },
                { too_little_better_by_the_device, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 0, "0-1" },
                { clearly_better_here, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 0, "0-1" },
                { better_there_anyhow, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 0, 1, "2-3" },
                { all_of_it_on_a_third_node, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 0, 3, "6-7" },
                { placed_here, 0, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { placed_here_and_a_little_better_there, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 0, 1,
                  "2-3" },
                { moved_here_and_no_news, 0, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { moved_here_and_news, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 0, 1, "2-3" },
                /* who is held before much is known of it is held where it is */
                { few_faults_and_a_device_there, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 0, "0-1" },
                { few_faults_and_a_device_here, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 0, "0-1" },
                { few_faults_and_devices_all_over, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 0, "0-1" },
                { nothing_known_and_a_device_there, 3, HN_ACT_PIN, HN_REASON_MEMORY_OUTGROWN, 2, 2, "4-5" },
                { sharers, 0, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 0, 3, "6-7" },
                { sharers, 1, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 1, 3, "6-7" },
        };

        bool met[_HN_REASON_MAX] = { false };

        (void) state;
        check_scenes(rows, HN_ELEMENTS(rows), met);
}

/* What is said of a task is what its memory says, device or no device. */
static void figures_are_those_of_the_memory(void **state) {
        struct hn_limits limits = HN_LIMITS_DEFAULT;
        struct hn_plan *plan;
        struct fixture f;

        (void) state;
        as_good_there(&f);
        assert_int_equal(hn_plan_new(&f.topo, &plan), 0);
        assert_int_equal(hn_plan_build(plan, f.model, &f.s, &limits), 0);
        assert_int_equal(hn_plan_decision(plan, 0)->share_to, 500);
        assert_int_equal(hn_plan_decision(plan, 0)->share_from, 500);
        assert_false(hn_decision_promises(hn_plan_decision(plan, 0)));
        hn_plan_free(plan);
        fixture_deinit(&f);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(scores_with_a_preference),
                cmocka_unit_test(what_is_owed_to_it),
                cmocka_unit_test(a_device_decides_between_equals),
                cmocka_unit_test(figures_are_those_of_the_memory),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
