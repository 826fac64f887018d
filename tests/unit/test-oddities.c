/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <time.h>

#include "fixture.h"
#include "policy/plan.h"
#include "rows.h"

/* Plans for odd machines, odd figures and very many tasks; and that the order of tasks is no argument. */

static const struct hn_limits limits = HN_LIMITS_DEFAULT;

static void cast(struct fixture *f, size_t i, hn_node_index node, hn_node_index memory) {
        fixture_put(f, i, node);
        fixture_memory(f, i, memory, 1000);
}

static void two_seconds(struct fixture *f) {
        fixture_second(f, 1000, 0);
        fixture_second(f, 1000, 0);
}

static struct hn_plan *decide(struct fixture *f) {
        struct hn_plan *plan;

        assert_int_equal(hn_plan_new(&f->topo, &plan), 0);
        assert_int_equal(hn_plan_build(plan, f->model, &f->s, &limits), 0);
        return plan;
}

static void a_machine_of_one_node(void **state) {
        _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
        struct fixture f;

        (void) state;
        fixture_init(&f, 1, 4, 8);
        for (size_t i = 0; i < 8; i++)
                cast(&f, i, 0, 0);
        two_seconds(&f);
        plan = decide(&f);
        assert_int_equal(hn_plan_n_acts(plan), 0);
        for (size_t i = 0; i < 8; i++)
                ROW_EQUAL(i, hn_plan_decision(plan, i)->reason, HN_REASON_ONE_NODE);
        fixture_deinit(&f);
}

static void a_machine_of_no_node(void **state) {
        _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
        struct fixture f;

        (void) state;
        fixture_init(&f, 0, 0, 1);
        fixture_second(&f, 1000, 0);
        fixture_second(&f, 1000, 0);
        plan = decide(&f);
        assert_int_equal(hn_plan_n_acts(plan), 0);
        fixture_deinit(&f);
}

static void nobody_there(void **state) {
        _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 0);
        two_seconds(&f);
        plan = decide(&f);
        assert_int_equal(hn_plan_n_acts(plan), 0);
        for (hn_node_index i = 0; i < 4; i++)
                ROW_EQUAL(i, hn_plan_node(plan, i)->capacity, 2000);
        fixture_deinit(&f);
}

/* Node 3 is memory only, and nearest to node 2: that is as near as a task can come to it. */
static void memory_on_a_node_without_cpus(void **state) {
        static const struct {
                hn_node_index at;
                enum hn_reason reason;
        } rows[] = {
                { 0, HN_REASON_REMOTE_FAULTS },
                { 1, HN_REASON_REMOTE_FAULTS },
                { 2, HN_REASON_AT_HOME },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
                struct fixture f;

                fixture_init(&f, 4, 2, 1);
                fixture_strip_cpus(&f.topo, 3);
                fixture_open_scopes(&f);
                f.tasks[0].mask = f.all;
                f.topo.distances[3 * 4 + 2] = f.topo.distances[2 * 4 + 3] = 17;
                cast(&f, 0, rows[i].at, 3);
                two_seconds(&f);
                plan = decide(&f);
                ROW_EQUAL(i, hn_plan_decision(plan, 0)->act, HN_ACT_PIN);
                ROW_EQUAL(i, hn_plan_decision(plan, 0)->reason, rows[i].reason);
                ROW_EQUAL(i, hn_plan_decision(plan, 0)->to, 2);
                ROW_EQUAL(i, hn_plan_decision(plan, 0)->share_to, 1000);
                fixture_deinit(&f);
        }
}

/* Two nodes of which one has no CPU: there is nothing to place. */
static void cpus_on_one_node_only(void **state) {
        _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
        struct fixture f;

        (void) state;
        fixture_init(&f, 2, 4, 2);
        fixture_strip_cpus(&f.topo, 1);
        fixture_open_scopes(&f);
        for (size_t i = 0; i < 2; i++) {
                f.tasks[i].mask = f.all;
                cast(&f, i, 0, 1);
        }
        two_seconds(&f);
        plan = decide(&f);
        assert_int_equal(hn_plan_n_acts(plan), 0);
        assert_int_equal(hn_plan_decision(plan, 1)->reason, HN_REASON_ONE_NODE);
        fixture_deinit(&f);
}

/* A node without memory holds no one's faults; work that does not fit elsewhere may still run there. */
static void a_node_without_memory(void **state) {
        _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
        struct fixture f;
        size_t n = 0;

        (void) state;
        fixture_init(&f, 2, 2, 3);
        f.topo.nodes[1].memory = 0;
        hn_mask_remove(&f.scopes[0].mems, 1);
        for (size_t i = 0; i < 3; i++)
                cast(&f, i, i == 2, 0);
        two_seconds(&f);
        plan = decide(&f);
        for (size_t i = 0; i < 3; i++)
                n += hn_plan_decision(plan, i)->to == 0;
        assert_int_equal(n, 2);
        assert_int_equal(hn_plan_decision(plan, 2)->to, 1);
        fixture_deinit(&f);
}

/* Kernel ids 2, 5, 6 and 40; rule and cpuset speak in ids, everything else in indices. */
static void nodes_with_holes_in_their_ids(void **state) {
        static const unsigned ids[] = { 2, 5, 6, 40 };
        _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 2);
        for (size_t i = 0; i < 4; i++)
                f.topo.nodes[i].id = ids[i];
        fixture_open_scopes(&f);
        f.scopes[0].nodes = fixture_list("2,40");
        cast(&f, 0, 0, 3);
        cast(&f, 1, 0, 1);
        two_seconds(&f);
        plan = decide(&f);
        assert_int_equal(hn_plan_decision(plan, 0)->to, 3);
        assert_int_equal(hn_plan_decision(plan, 0)->want, fixture_mask(&f, "6-7"));
        /* What lies on a node that the rule leaves out draws nobody. */
        assert_int_equal(hn_plan_decision(plan, 1)->to, 0);
        fixture_deinit(&f);
}

/* An isolated CPU is neither given away nor counted as room. */
static void isolated_cpus_are_not_ours(void **state) {
        _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
        struct fixture f;
        size_t n = 0;

        (void) state;
        fixture_init(&f, 2, 4, 4);
        for (unsigned c = 5; c < 8; c++) {
                (void) hn_mask_add(&f.topo.isolated, c);
                hn_mask_remove(&f.topo.nodes[1].usable, c);
        }
        f.topo.nodes[1].n_cores = f.topo.nodes[1].n_cpus = 1;
        for (size_t i = 0; i < 4; i++) {
                f.tasks[i].mask = fixture_mask(&f, "0-4");
                cast(&f, i, 0, 1);
        }
        two_seconds(&f);
        plan = decide(&f);
        for (size_t i = 0; i < 4; i++) {
                const struct hn_decision *d = hn_plan_decision(plan, i);

                if (d->to != 1)
                        continue;
                ROW_EQUAL(i, d->want, fixture_mask(&f, "4"));
                n++;
        }
        assert_int_equal(n, 1);
        fixture_deinit(&f);
}

/* Where tasks are on nodes that do not exist and counters at their ends, something is decided and nothing
 * breaks. */
static void figures_at_their_ends(void **state) {
        static const struct {
                hn_node_index node;
                uint64_t faults, runtime;
                uint32_t others;
        } rows[] = {
                { HN_NODE_NONE, UINT64_MAX, UINT64_MAX, UINT32_MAX / 4 },
                { 77, UINT64_MAX / 4, UINT64_MAX, 0 },
                /* the first that is not there, of a task to be placed, and of one left alone */
                { 4, UINT64_MAX / 8, UINT64_MAX, 0 },
                { 4, 1, UINT64_MAX, 0 },
                { 0, UINT64_MAX / 8, UINT64_MAX, UINT32_MAX / 4 },
                { 3, 1, 0, UINT32_MAX / 4 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
                struct fixture f;

                fixture_init(&f, 4, 2, 3);
                for (size_t k = 0; k < 3; k++) {
                        f.tasks[k].node = rows[i].node;
                        f.tasks[k].kernel_preferred = rows[i].node;
                        for (size_t n = 0; n < 4; n++)
                                f.priv[k * 4 + n] = f.shared[k * 4 + n] = rows[i].faults;
                        f.tasks[k].runtime_ns = rows[i].runtime;
                }
                for (size_t n = 0; n < 4; n++)
                        f.others[n] = rows[i].others;
                for (unsigned t = 0; t < 5; t++)
                        fixture_second(&f, 1000, 0);
                plan = decide(&f);
                for (size_t k = 0; k < 3; k++) {
                        const struct hn_decision *d = hn_plan_decision(plan, k);

                        ROW_EQUAL(i, d->to < 4 || d->to == d->from, true);
                        ROW_EQUAL(i, d->act != HN_ACT_PIN || d->want != HN_MASK_ID_NONE, true);
                }
                fixture_deinit(&f);
        }
}

/* order */

/* Which task is which is no argument: with places and memory exchanged, so are the decisions. */
static void decisions_go_with_the_figures(void **state) {
        (void) state;
        for (size_t shift = 0; shift < 8; shift++) {
                _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
                struct fixture f;

                fixture_init(&f, 4, 2, 8);
                for (size_t i = 0; i < 8; i++)
                        cast(&f, (i + shift) % 8, (hn_node_index) (i / 2),
                             (hn_node_index) ((i / 2 + 1 + i % 2) % 4));
                two_seconds(&f);
                plan = decide(&f);
                for (size_t i = 0; i < 8; i++) {
                        const struct hn_decision *d = hn_plan_decision(plan, (i + shift) % 8);

                        ROW_EQUAL(shift, d->act, HN_ACT_PIN);
                        ROW_EQUAL(shift, d->from, i / 2);
                        ROW_EQUAL(shift, d->to, (i / 2 + 1 + i % 2) % 4);
                }
                fixture_deinit(&f);
        }
}

static void plans_are_equal(const struct hn_plan *a, const struct hn_plan *b, size_t n_tasks) {
        assert_int_equal(hn_plan_n_acts(a), hn_plan_n_acts(b));
        for (size_t k = 0; k < hn_plan_n_acts(a); k++)
                ROW_EQUAL(k, hn_plan_act(a, k)->task, hn_plan_act(b, k)->task);
        for (size_t i = 0; i < n_tasks; i++) {
                const struct hn_decision *x = hn_plan_decision(a, i), *y = hn_plan_decision(b, i);

                ROW_EQUAL(i, x->act, y->act);
                ROW_EQUAL(i, x->reason, y->reason);
                ROW_EQUAL(i, x->to, y->to);
                ROW_EQUAL(i, x->benefit, y->benefit);
        }
}

static uint32_t dice(uint32_t *seed, uint32_t sides) {
        *seed = *seed * 1103515245 + 12345;
        return *seed / 65536 % sides;
}

/* Ten thousand threads on 16 nodes of 512 CPUs, anywhere and with memory anywhere, a tenth of them cannot be
 * told apart from their siblings. Says how long it takes; how fast this machine is, is no matter for a test.
 */
static void ten_thousand_tasks(void **state) {
        static const char *const names[] = { "memory anywhere", "memory on the next node",
                                             "memory on one node" };
        enum { N = 10000 };

        (void) state;
        for (unsigned kind = 0; kind < HN_ELEMENTS(names); kind++) {
                _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL, *again = NULL;
                struct timespec t0, t1, t2;
                uint32_t seed = 3;
                struct fixture f;

                fixture_init(&f, 16, 512, N);
                for (size_t i = 0; i < N; i++) {
                        hn_node_index node = (hn_node_index) dice(&seed, 16);
                        hn_node_index memory[] = { (hn_node_index) dice(&seed, 16),
                                                   (hn_node_index) ((node + 1) % 16), 5 };

                        cast(&f, i, node, memory[kind]);
                        f.priv[i * 16 + dice(&seed, 16)] += dice(&seed, 600);
                        if (i % 10 == 0)
                                f.tasks[i].signal = HN_SIGNAL_RESIDENCY;
                        f.tasks[i].tgid = f.tasks[i - i % 40].key.tid;
                }
                for (unsigned t = 0; t < 2; t++) {
                        for (size_t i = 0; i < N; i++)
                                f.tasks[i].runtime_ns += UINT64_C(1000000) * dice(&seed, 900);
                        fixture_second(&f, 100, 0);
                }
                assert_int_equal(hn_plan_new(&f.topo, &plan), 0);
                assert_int_equal(hn_plan_new(&f.topo, &again), 0);
                (void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t0);
                assert_int_equal(hn_plan_build(plan, f.model, &f.s, &limits), 0);
                (void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t1);
                assert_int_equal(hn_plan_build(again, f.model, &f.s, &limits), 0);
                (void) clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t2);
                print_message(
                        "%s: %zu acts; first plan %.1f ms of CPU time, next %.1f ms\n", names[kind],
                        hn_plan_n_acts(plan),
                        (double) (t1.tv_sec - t0.tv_sec) * 1e3 + (double) (t1.tv_nsec - t0.tv_nsec) / 1e6,
                        (double) (t2.tv_sec - t1.tv_sec) * 1e3 + (double) (t2.tv_nsec - t1.tv_nsec) / 1e6);
                assert_true(hn_plan_n_acts(plan) > 0);
                plans_are_equal(plan, again, N);
                fixture_deinit(&f);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_machine_of_one_node),
                cmocka_unit_test(a_machine_of_no_node),
                cmocka_unit_test(nobody_there),
                cmocka_unit_test(memory_on_a_node_without_cpus),
                cmocka_unit_test(cpus_on_one_node_only),
                cmocka_unit_test(a_node_without_memory),
                cmocka_unit_test(nodes_with_holes_in_their_ids),
                cmocka_unit_test(isolated_cpus_are_not_ours),
                cmocka_unit_test(figures_at_their_ends),
                cmocka_unit_test(decisions_go_with_the_figures),
                cmocka_unit_test(ten_thousand_tasks),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
