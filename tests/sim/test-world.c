/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdio.h>
#include <stdlib.h>

#include "rates.h"

/* What must hold of any world, whatever is done in it: the same seed tells the same story, no page is lost,
 * no task runs where it may not. */

static char *story(const char *scenario, const char *policy, unsigned seed) {
        const struct hn_sim_scenario *s = hn_sim_scenario_find(scenario);
        const struct hn_sim_policy *p = hn_sim_policy_find(policy);
        struct hn_sim_result x;
        char *text = NULL;
        size_t n = 0;
        FILE *f = open_memstream(&text, &n);

        assert_true(s && p && f);
        assert_int_equal(hn_sim_run(s, p, seed, 60, &x), 0);
        assert_int_equal(hn_sim_result_print(s, p, seed, 60, &x, f), 0);
        assert_int_equal(fclose(f), 0);
        return text;
}

static void the_same_again(void **state) {
        static const char *const scenarios[] = { "numa02", "jbb2x24-12", "forks" };
        const struct hn_sim_policy *const *policies;
        size_t n = hn_sim_policies(&policies);

        (void) state;
        for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
                for (size_t k = 0; k < n; k++) {
                        char *once = story(scenarios[i], policies[k]->name, 7);
                        char *again = story(scenarios[i], policies[k]->name, 7);

                        assert_string_equal(once, again);
                        free(once);
                        free(again);
                }
}

static void not_the_same_with_another_seed(void **state) {
        char *once = story("jbb2x24-12", "kernel", 7), *again = story("jbb2x24-12", "kernel", 8);

        (void) state;
        assert_string_not_equal(once, again);
        free(once);
        free(again);
}

static void check_pages(const struct hn_sim_world *w) {
        double pages[HN_SIM_NODES] = { 0 };

        for (unsigned k = 0; k < w->n_nodes; k++) {
                for (size_t i = 0; i < w->n_processes; i++)
                        pages[k] += w->processes[i].alive ? w->processes[i].shared.pages[k] : 0;
                for (size_t i = 0; i < w->n_tasks; i++)
                        pages[k] += w->tasks[i].own.pages[k];
                expect_between("pages on a node", w->pages_used[k], pages[k] - 1, pages[k] + 1);
        }
}

static void check_cpus(const struct hn_sim_world *w) {
        double load[HN_SIM_CPUS] = { 0 };
        unsigned nr[HN_SIM_CPUS] = { 0 };

        for (size_t i = 0; i < w->n_tasks; i++) {
                const struct hn_sim_task *t = &w->tasks[i];

                assert_true(hn_sim_may_run(t, t->node));
                assert_int_equal(t->node, t->cpu / w->node_cpus);
                load[t->cpu] += t->demand;
                nr[t->cpu]++;
        }
        for (unsigned c = 0; c < w->n_cpus; c++) {
                assert_int_equal(nr[c], w->cpus[c].nr);
                expect_between("load of a CPU", w->cpus[c].load, load[c] - 1e-6, load[c] + 1e-6);
        }
}

static void accounts_add_up(void **state) {
        const struct hn_sim_policy *const *policies;
        const struct hn_sim_scenario *scenarios;
        size_t n_policies = hn_sim_policies(&policies), n_scenarios = hn_sim_scenarios(&scenarios);

        (void) state;
        for (size_t i = 0; i < n_scenarios; i++)
                for (size_t k = 0; scenarios[i].row && k < n_policies; k++) {
                        struct hn_sim_world w;

                        assert_int_equal(hn_sim_world_init(&w, &scenarios[i], policies[k], 3), 0);
                        for (unsigned tick = 0; tick < 1500; tick++)
                                assert_int_equal(hn_sim_world_step(&w), 0);
                        check_pages(&w);
                        check_cpus(&w);
                        hn_sim_world_deinit(&w);
                }
}

static void moves_are_counted(void **state) {
        struct hn_sim_world w;

        (void) state;
        assert_int_equal(hn_sim_world_init(&w, hn_sim_scenario_find("numa03"), hn_sim_policy_find("none"), 1),
                         0);
        assert_int_equal(hn_sim_world_step(&w), 0);
        hn_sim_note_move(&w, &w.tasks[0], 0, 1);
        hn_sim_note_move(&w, &w.tasks[1], 0, 1);
        assert_int_equal(w.counts.young_moves, 2);
        assert_int_equal(w.counts.repeated_moves, 0);
        w.now = 2;
        hn_sim_note_move(&w, &w.tasks[0], 1, 2);
        assert_int_equal(w.counts.task_moves, 3);
        assert_int_equal(w.counts.young_moves, 2);
        assert_int_equal(w.counts.repeated_moves, 1);
        assert_int_equal(w.counts.ping_pongs, 0);
        hn_sim_world_deinit(&w);
}

/* Eight tasks held on the four CPUs of node 0: the other nodes starve until the burst comes at 3 s. */
static void idle_nodes_are_noticed(void **state) {
        struct hn_sim_world w;
        hn_mask_id mask;

        (void) state;
        assert_int_equal(
                hn_sim_world_init(&w, hn_sim_scenario_find("schedbench-8"), hn_sim_policy_find("none"), 1),
                0);
        assert_int_equal(hn_sim_world_step(&w), 0);
        expect_between("starved before", w.counts.starved, 0, 0);
        assert_int_equal(hn_sim_mask_of(&w, 1, &mask), 0);
        for (size_t i = 0; i < w.n_tasks; i++)
                hn_sim_set_mask(&w, &w.tasks[i], 1, mask);
        for (unsigned tick = 0; tick < 400; tick++)
                assert_int_equal(hn_sim_world_step(&w), 0);
        expect_between("starved after", w.counts.starved, 2.9, 3.0);
        hn_sim_world_deinit(&w);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_same_again),         cmocka_unit_test(not_the_same_with_another_seed),
                cmocka_unit_test(accounts_add_up),        cmocka_unit_test(moves_are_counted),
                cmocka_unit_test(idle_nodes_are_noticed),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
