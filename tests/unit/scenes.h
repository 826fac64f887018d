/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Scenes: a machine of 4 nodes x 2 CPUs with its tasks, after some seconds; and rows that say what is decided
 * about one of the tasks then. Include after <cmocka.h>. */

#include "fixture.h"
#include "policy/plan.h"
#include "rows.h"

#define NO HN_NODE_NONE

struct scene_row {
        void (*scene)(struct fixture *);
        size_t task;
        enum hn_act act;
        enum hn_reason reason;
        hn_node_index from, to;
        const char *want; /* NULL: no mask to set */
};

static inline void start(struct fixture *f, size_t n_tasks) {
        fixture_init(f, 4, 2, n_tasks);
}

/* Task i ran on `node` and has its memory on `memory`. */
static inline void cast(struct fixture *f, size_t i, hn_node_index node, hn_node_index memory) {
        fixture_put(f, i, node);
        fixture_memory(f, i, memory, 1000);
}

static inline void two_seconds(struct fixture *f) {
        fixture_second(f, 1000, 0);
        fixture_second(f, 1000, 0);
}

/* Lets `n` seconds pass in which task i ran for `used[i]` thousandths of a CPU. */
static inline void uneven_seconds(struct fixture *f, unsigned n, const uint32_t *used) {
        uint32_t others[FIXTURE_NODES];

        memcpy(others, f->others, sizeof(others));
        for (size_t i = 0; i < f->s.n_tasks; i++)
                if (f->tasks[i].node < f->topo.n_nodes)
                        f->others[f->tasks[i].node] += used[i];
        for (unsigned k = 0; k < n; k++) {
                for (size_t i = 0; i < f->s.n_tasks; i++)
                        f->tasks[i].runtime_ns += UINT64_C(1000000) * used[i];
                fixture_second(f, 0, 0);
        }
        memcpy(f->others, others, sizeof(others));
}

static inline hn_mask_id node_mask(struct fixture *f, hn_node_index node) {
        return fixture_intern(f, &f->topo.nodes[node].usable);
}

/* As if it had been pinned to `node` long ago, and its memory were on `memory`. */
static inline void hold(struct fixture *f, size_t i, hn_node_index node, hn_node_index memory) {
        cast(f, i, node, memory);
        fixture_pin(f, i, node, node, node_mask(f, node));
}

/* Four threads of one process on nodes 0, 1, 1 and 2, of which no faults are known yet; all of its memory is
 * on node 0, or spread over the first `n_nodes`. */
static inline void family(struct fixture *f, uint32_t used, size_t n_nodes) {
        static const hn_node_index nodes[] = { 0, 1, 1, 2 };

        start(f, 4);
        for (size_t i = 0; i < 4; i++) {
                cast(f, i, nodes[i], 0);
                f->tasks[i].tgid = FIXTURE_FIRST_TID;
                f->tasks[i].signal = HN_SIGNAL_NONE;
                f->tasks[i].pages_known = true;
                f->tasks[i].pages_row = 0;
        }
        for (size_t i = 0; i < n_nodes; i++)
                f->priv[i] = 100;
        for (unsigned i = 0; i < 2; i++)
                fixture_second(f, used, 0);
}

/* Reasons that have tests of their own. */
static inline bool scenes_are_elsewhere(enum hn_reason r) {
        return r == HN_REASON_NO_PAYBACK || r == HN_REASON_FORKS || r == HN_REASON_OVERRIDE ||
               r == HN_REASON_OVERRIDE_OVER;
}

/* `met` is told which reasons there were. */
static inline void check_scenes(const struct scene_row *rows, size_t n, bool met[static _HN_REASON_MAX]) {
        const struct hn_limits limits = HN_LIMITS_DEFAULT;

        for (size_t i = 0; i < n; i++) {
                _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
                const struct hn_decision *d;
                struct fixture f;

                rows[i].scene(&f);
                assert_int_equal(hn_plan_new(&f.topo, &plan), 0);
                assert_int_equal(hn_plan_build(plan, f.model, &f.s, &limits), 0);
                d = hn_plan_decision(plan, rows[i].task);
                met[d->reason] = true;
                if (d->act != rows[i].act || d->reason != rows[i].reason)
                        fail_msg("row %zu: %s because of %s, expected %s because of %s", i,
                                 hn_act_to_string(d->act), hn_reason_to_string(d->reason),
                                 hn_act_to_string(rows[i].act), hn_reason_to_string(rows[i].reason));
                ROW_EQUAL(i, d->task, rows[i].task);
                ROW_EQUAL(i, d->from, rows[i].from);
                ROW_EQUAL(i, d->to, rows[i].to);
                ROW_EQUAL(i, d->want, rows[i].want ? fixture_mask(&f, rows[i].want) : HN_MASK_ID_NONE);
                fixture_deinit(&f);
        }
}
