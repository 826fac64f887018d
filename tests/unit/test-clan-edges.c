/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Clans by the figures: what a thread gains, and what is left of the nodes for other clans. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/bench.h"
#include "scenes.h"

/* Task i is a thread of the process of task `of`, runs on `node`, and has met `faults` shared pages on each
 * node. */
static void sharer(struct fixture *f, size_t i, size_t of, hn_node_index node, const uint64_t faults[4]) {
        fixture_put(f, i, node);
        f->tasks[i].tgid = FIXTURE_FIRST_TID + (pid_t) of;
        memcpy(&f->shared[i * 4], faults, 4 * sizeof(*faults));
}

static void seconds(struct fixture *f, unsigned n, uint32_t used) {
        for (unsigned i = 0; i < n; i++)
                fixture_second(f, used, 0);
}

/* Nodes 0 and 1 are near each other, and so are 2 and 3. */
static void pairs_of_nodes(struct fixture *f) {
        for (size_t i = 0; i < 4; i++)
                f->topo.distances[i * 4 + (i ^ 1)] = 15;
}

/* Four fifths of their memory are on node 0. */
static void a_pair(struct fixture *f) {
        start(f, 2);
        sharer(f, 0, 0, 1, (uint64_t[]){ 200, 0, 0, 100 });
        sharer(f, 1, 0, 3, (uint64_t[]){ 300, 0, 0, 25 });
        seconds(f, 2, 700);
}

/* And the first of them may not go there. */
static void closed_to_the_first(struct fixture *f) {
        a_pair(f);
        f->scopes[1].nodes = fixture_list("1-3");
        f->tasks[0].scope = 1;
}

/* Others have all of node 0. */
static void best_node_is_taken(struct fixture *f) {
        start(f, 2);
        sharer(f, 0, 0, 1, (uint64_t[]){ 200, 100, 0, 0 });
        sharer(f, 1, 0, 3, (uint64_t[]){ 300, 25, 0, 0 });
        f->others[0] = 2000;
        seconds(f, 6, 1000);
}

/* Three need two nodes. */
static void two_nodes(struct fixture *f) {
        start(f, 3);
        pairs_of_nodes(f);
        sharer(f, 0, 0, 2, (uint64_t[]){ 100, 100, 50, 0 });
        sharer(f, 1, 0, 3, (uint64_t[]){ 100, 100, 50, 0 });
        sharer(f, 2, 0, 3, (uint64_t[]){ 100, 0, 0, 25 });
        seconds(f, 2, 1000);
}

/* Eight tasks and others ask for more than there is: all nodes are overbooked alike. The pair comes last. */
static void more_than_there_is(struct fixture *f, uint32_t used) {
        start(f, 8);
        sharer(f, 0, 0, 1, (uint64_t[]){ 200, 0, 0, 100 });
        sharer(f, 1, 0, 3, (uint64_t[]){ 300, 0, 0, 25 });
        for (size_t i = 2; i < 8; i++)
                cast(f, i, (hn_node_index) (i / 2), (hn_node_index) (i / 2));
        for (size_t i = 0; i < 4; i++)
                f->others[i] = 1000;
        for (unsigned k = 0; k < 6; k++) {
                /* One of them uses a little more than the others. */
                f->tasks[7].runtime_ns += UINT64_C(1000000) * (used % 8);
                f->others[3] = 1000 + used % 8;
                fixture_second(f, used / 8, 0);
        }
        f->others[3] = 1000;
        for (size_t i = 0; i < 4; i++)
                assert_int_equal(hn_model_lasting(f->model, (hn_node_index) i), 1000);
}

static void more_by_a_twentieth(struct fixture *f) {
        more_than_there_is(f, 4200);
}

static void more_by_a_little_less(struct fixture *f) {
        more_than_there_is(f, 4203);
}

/* A loner is held where the pair's memory is, another one runs on node 1 and is about to leave. */
static void between_loners(struct fixture *f) {
        start(f, 4);
        cast(f, 0, 2, 2);
        sharer(f, 1, 1, 0, (uint64_t[]){ 0, 0, 200, 100 });
        sharer(f, 2, 1, 1, (uint64_t[]){ 0, 0, 300, 25 });
        cast(f, 3, 1, 0);
        f->tasks[3].scope = 1;
        f->scopes[1].nodes = fixture_list("0-1");
        seconds(f, 2, 1000);
        fixture_pin(f, 0, 2, 2, node_mask(f, 2));
        seconds(f, 1, 1000);
}

/* Both would like to have node 1. The larger process chooses first, though it is not the first of them. */
static void the_larger_one_first(struct fixture *f) {
        start(f, 5);
        pairs_of_nodes(f);
        for (size_t i = 0; i < 2; i++)
                sharer(f, i, 0, 3, (uint64_t[]){ 100, 300, 100, 0 });
        for (size_t i = 2; i < 5; i++)
                sharer(f, i, 2, 2, (uint64_t[]){ 0, 500, 200, 0 });
        seconds(f, 2, 1000);
}

/* Not even where its threads work more than those of the first, each by itself. */
static void the_larger_one_of_busier_threads(struct fixture *f) {
        the_larger_one_first(f);
        uneven_seconds(f, 20, (uint32_t[]){ 900, 900, 1000, 1000, 1000 });
}

/* Five threads on the nodes from `first` on, each with most of its memory beside it. */
static void five(struct fixture *f, size_t first) {
        start(f, 5);
        for (size_t i = 0; i < 5; i++) {
                uint64_t faults[4] = {};

                faults[first + i / 2] = 200;
                sharer(f, i, 0, (hn_node_index) (first + i / 2), faults);
        }
}

static void all_but_the_first_node(struct fixture *f) {
        five(f, 1);
        f->others[0] = 2000;
        seconds(f, 6, 1000);
}

static void all_but_a_small_node(struct fixture *f) {
        five(f, 0);
        f->topo.nodes[3].n_cores = 1;
        seconds(f, 2, 1000);
}

static void all_nodes_with_cpus(struct fixture *f) {
        five(f, 0);
        fixture_strip_cpus(&f->topo, 3);
        fixture_open_scopes(f);
        for (size_t i = 0; i < 5; i++)
                f->tasks[i].mask = f->all;
        seconds(f, 2, 1000);
}

static void figures(void **state) {
        static const struct {
                void (*scene)(struct fixture *);
                size_t task;
                enum hn_reason reason;
                hn_node_index to;
                uint64_t benefit, left[4];
        } rows[] = {
                { a_pair, 0, HN_REASON_SHARED_MEMORY, 0, 800 * 700, { 600, 2000, 2000, 2000 } },
                { a_pair, 1, HN_REASON_SHARED_MEMORY, 0, 700 * 700, { 600, 2000, 2000, 2000 } },
                { closed_to_the_first, 0, HN_REASON_SHARED_MEMORY, 3, 800 * 700, { 2000, 2000, 2000, 600 } },
                { closed_to_the_first, 1, HN_REASON_SHARED_MEMORY, 3, 0, { 2000, 2000, 2000, 600 } },
                { best_node_is_taken, 0, HN_REASON_SHARED_MEMORY, 1, 0, { 0, 0, 2000, 2000 } },
                { best_node_is_taken, 1, HN_REASON_SHARED_MEMORY, 1, 800 * 1000, { 0, 0, 2000, 2000 } },
                { two_nodes, 0, HN_REASON_SHARED_MEMORY, 0, 720 * 1000, { 500, 500, 2000, 2000 } },
                { two_nodes, 2, HN_REASON_SHARED_MEMORY, 1, 780 * 1000, { 500, 500, 2000, 2000 } },
                { more_by_a_twentieth, 0, HN_REASON_SHARED_MEMORY, 0, 800 * 525, { 0, 1050, 1050, 1050 } },
                { more_by_a_little_less, 0, HN_REASON_SHARED_MEMORY, 0, 800 * 525, { 0, 1050, 1050, 1050 } },
                { between_loners, 0, HN_REASON_SETTLED, 2, 0, { 2000, 2000, 334, 667 } },
                { between_loners, 1, HN_REASON_SHARED_MEMORY, 2, 1000 * 1000, { 2000, 2000, 334, 667 } },
                { between_loners, 3, HN_REASON_REMOTE_FAULTS, 0, 1000 * 1000, { 2000, 2000, 334, 667 } },
                { the_larger_one_first, 0, HN_REASON_SHARED_MEMORY, 2, 300 * 1000, { 500, 500, 0, 2000 } },
                { the_larger_one_first, 2, HN_REASON_SHARED_MEMORY, 0, 572 * 1000, { 500, 500, 0, 2000 } },
                { the_larger_one_of_busier_threads,
                  0,
                  HN_REASON_SHARED_MEMORY,
                  2,
                  300 * 900,
                  { 500, 500, 200, 2000 } },
                { all_but_the_first_node, 0, HN_REASON_SHARED_MEMORY, 1, 0, { 0, 334, 334, 334 } },
                { all_but_a_small_node, 0, HN_REASON_SHARED_MEMORY, 0, 0, { 334, 334, 334, 1000 } },
                { all_nodes_with_cpus, 0, HN_REASON_SHARED_MEMORY, 0, 0, { 334, 334, 334, 0 } },
        };
        const struct hn_limits limits = HN_LIMITS_DEFAULT;

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
                const struct hn_decision *d;
                struct fixture f;

                rows[i].scene(&f);
                assert_int_equal(hn_plan_new(&f.topo, &plan), 0);
                assert_int_equal(hn_plan_build(plan, f.model, &f.s, &limits), 0);
                d = hn_plan_decision(plan, rows[i].task);
                ROW_EQUAL(i, d->reason, rows[i].reason);
                ROW_EQUAL(i, d->to, rows[i].to);
                ROW_EQUAL(i, d->benefit, rows[i].benefit);
                for (size_t k = 0; k < 4; k++)
                        ROW_EQUAL(i, plan->room[k], rows[i].left[k]);
                fixture_deinit(&f);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(figures),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
