/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A made-up machine and one look at it, for tests of the policy. Include after <cmocka.h>. */

#include <string.h>

#include "base/macro.h"
#include "policy/model.h"
#include "policy/snapshot.h"
#include "policy/target.h"

#define FIXTURE_NODES     16
#define FIXTURE_SCOPES    2
#define FIXTURE_FIRST_TID 100

struct fixture {
        struct hn_topology topo;
        struct hn_mask_pool masks;
        struct hn_scope scopes[FIXTURE_SCOPES];
        struct hn_node_load *nodes;
        struct hn_task_sample *tasks;
        uint64_t *priv, *shared;
        struct hn_snapshot s;
        struct hn_model *model;
        uint32_t others[FIXTURE_NODES]; /* thousandths of a CPU that work outside the snapshot uses on each
                                           node */
        hn_mask_id all;                 /* every CPU: the mask of a task nobody restricted */
};

static inline struct hn_mask fixture_list(const char *text) {
        struct hn_mask m;

        assert_int_equal(hn_mask_parse_list(text, strlen(text), &m), 0);
        return m;
}

static inline hn_mask_id fixture_intern(struct fixture *f, const struct hn_mask *mask) {
        hn_mask_id id;

        assert_int_equal(hn_mask_pool_intern(&f->masks, mask, &id), 0);
        return id;
}

static inline hn_mask_id fixture_mask(struct fixture *f, const char *text) {
        struct hn_mask m = fixture_list(text);

        return fixture_intern(f, &m);
}

/* CPUs n * per_node .. n * per_node + per_node - 1 on node n, a core each, and 1 GiB; all nodes 20 from each
 * other. Kernel ids are the indices. */
static inline void fixture_topology(struct hn_topology *topo, size_t n_nodes, unsigned per_node) {
        assert_int_equal(hn_topology_init(topo, n_nodes, n_nodes * per_node), 0);
        for (unsigned i = 0; i < n_nodes; i++) {
                struct hn_node *node = &topo->nodes[i];

                *node = (struct hn_node){
                        .id = i,
                        .n_cores = per_node,
                        .n_cpus = per_node,
                        .n_llcs = per_node > 0,
                        .memory = UINT64_C(1) << 30,
                };
                for (unsigned c = i * per_node; c < (i + 1) * per_node; c++) {
                        (void) hn_mask_add(&node->cpus, c);
                        topo->cpu_node[c] = (hn_node_index) i;
                }
                node->usable = node->cpus;
                topo->online = hn_mask_or(&topo->online, &node->cpus);
        }
        topo->possible = topo->online;
        topo->distances_known = true;
}

/* Takes the CPUs away from a node. */
static inline void fixture_strip_cpus(struct hn_topology *topo, hn_node_index node) {
        struct hn_node *n = &topo->nodes[node];

        topo->online = hn_mask_andnot(&topo->online, &n->cpus);
        topo->possible = topo->online;
        n->cpus = n->usable = HN_MASK_NULL;
        n->n_cores = n->n_cpus = n->n_llcs = 0;
}

/* Both scopes managed, with every CPU and node theirs. To be called again after a change of the topology. */
static inline void fixture_open_scopes(struct fixture *f) {
        for (size_t i = 0; i < FIXTURE_SCOPES; i++) {
                f->scopes[i] = (struct hn_scope){
                        .path = i == 0 ? "/a.slice" : "/b.slice",
                        .rule = i == 0 ? "a" : "b",
                        .mode = HN_MODE_MANAGE,
                        .pages = true,
                        .cpuset = f->topo.online,
                        .populated = true,
                };
                for (size_t k = 0; k < f->topo.n_nodes; k++)
                        (void) hn_mask_add(&f->scopes[i].mems, f->topo.nodes[k].id);
        }
        f->all = fixture_intern(f, &f->topo.online);
}

/* `n_tasks` one-thread processes in scope 0, each with a row for faults of its own, two seconds of CPU time
 * behind it and no node yet. */
static inline void fixture_init(struct fixture *f, size_t n_nodes, unsigned per_node, size_t n_tasks) {
        assert_true(n_nodes <= FIXTURE_NODES);
        *f = (struct fixture){ .masks = HN_MASK_POOL_NULL };
        fixture_topology(&f->topo, n_nodes, per_node);
        fixture_open_scopes(f);

        /* Just as large as they are said to be, for a sanitizer to see who reads beyond. */
        f->nodes = calloc(HN_MAX(n_nodes, 1u), sizeof(*f->nodes));
        f->tasks = calloc(HN_MAX(n_tasks, 1u), sizeof(*f->tasks));
        f->priv = calloc(HN_MAX(n_tasks * n_nodes, 1u), sizeof(*f->priv));
        f->shared = calloc(HN_MAX(n_tasks * n_nodes, 1u), sizeof(*f->shared));
        assert_true(f->nodes && f->tasks && f->priv && f->shared);
        f->s = (struct hn_snapshot){
                .now = 1000 * HN_USEC_PER_SEC,
                .n_nodes = n_nodes,
                .nodes = f->nodes,
                .n_scopes = FIXTURE_SCOPES,
                .scopes = f->scopes,
                .n_tasks = n_tasks,
                .tasks = f->tasks,
                .n_rows = n_tasks,
                .priv = f->priv,
                .shared = f->shared,
                .masks = &f->masks,
                .kernel_balancing = 1,
        };
        for (size_t i = 0; i < n_tasks; i++) {
                f->tasks[i] = (struct hn_task_sample){
                        .key = { .tid = FIXTURE_FIRST_TID + (pid_t) i, .start = 5000 + i },
                        .tgid = FIXTURE_FIRST_TID + (pid_t) i,
                        .comm = "load",
                        .state = 'R',
                        .node = HN_NODE_NONE,
                        .cpu = -1,
                        .mask = f->all,
                        .runtime_ns = 2 * UINT64_C(1000000000),
                        .signal = HN_SIGNAL_FAULTS,
                        .fresh = true,
                        .kernel_preferred = -1,
                        .row = i,
                };
        }
        assert_int_equal(hn_model_new(&f->topo, &f->model), 0);
}

static inline void fixture_deinit(struct fixture *f) {
        f->model = hn_model_free(f->model);
        hn_topology_deinit(&f->topo);
        hn_mask_pool_deinit(&f->masks);
        free(f->nodes);
        free(f->tasks);
        free(f->priv);
        free(f->shared);
}

/* Task i last ran on `node`. */
static inline void fixture_put(struct fixture *f, size_t i, hn_node_index node) {
        f->tasks[i].node = node;
        f->tasks[i].cpu = node < f->topo.n_nodes ? (int) hn_mask_next(&f->topo.nodes[node].cpus, 0) : -1;
}

/* All faults (or pages) of task i are on `node`. */
static inline void fixture_memory(struct fixture *f, size_t i, hn_node_index node, uint64_t faults) {
        uint64_t *row = &f->priv[f->tasks[i].row * f->topo.n_nodes];

        memset(row, 0, f->topo.n_nodes * sizeof(*row));
        row[node] = faults;
}

/* Lets a second pass in which each task ran for `used` thousandths of a CPU and waited for `waited`, and the
 * nodes were as busy as the places of the tasks and the others say; then feeds the model. */
static inline void fixture_second(struct fixture *f, uint32_t used, uint32_t waited) {
        f->s.now += HN_USEC_PER_SEC;
        for (size_t i = 0; i < f->topo.n_nodes; i++)
                f->nodes[i].busy = f->others[i];
        for (size_t i = 0; i < f->s.n_tasks; i++) {
                f->tasks[i].runtime_ns += UINT64_C(1000000) * used;
                f->tasks[i].wait_ns += UINT64_C(1000000) * waited;
                if (f->tasks[i].node < f->topo.n_nodes)
                        f->nodes[f->tasks[i].node].busy += used;
        }
        assert_int_equal(hn_model_feed(f->model, &f->s), 0);
}

/* What the daemon does with a decision to pin: sets the mask, and tells the model what was there before. */
static inline void fixture_pin(struct fixture *f, size_t i, hn_node_index from, hn_node_index to,
                               hn_mask_id want) {
        const struct hn_task_state *st = hn_model_state(f->model, i);
        const struct hn_scope *scope = &f->scopes[f->tasks[i].scope];
        bool held = st->pinned != HN_NODE_NONE;
        hn_mask_id before = held ? st->before : f->tasks[i].mask;
        bool unrestricted = held ? st->unrestricted
                                 : hn_mask_owner(hn_mask_pool_get(&f->masks, before), NULL, &scope->cpuset,
                                                 &f->topo.isolated) == HN_OWNER_NOBODY;

        f->tasks[i].mask = want;
        hn_model_note_pin(f->model, i, from, to, want, before, fixture_intern(f, &scope->cpuset),
                          unrestricted, f->s.now);
}
