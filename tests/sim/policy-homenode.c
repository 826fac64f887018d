/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>

#include "lens.h"
#include "numaplace.h"
#include "pager.h"
#include "policy.h"
#include "policy/plan.h"
#include "policy/target.h"

/* The real model and plan, driven as the daemon drives them. */

/* PageRate= and the pager's floor of a twentieth, as they are by default. */
#define MIB_A_SECOND 200.0
#define KEEP_FREE    0.05

struct mind {
        struct hn_sim_lens lens;
        struct hn_sim_pager pager;
        struct hn_model *model;
        struct hn_plan *plan;
};

static const struct hn_limits limits = HN_LIMITS_DEFAULT;

static void deinit(struct hn_sim_world *w) {
        struct mind *m = w->mind;

        if (!m)
                return;
        hn_sim_lens_deinit(&m->lens);
        m->model = hn_model_free(m->model);
        m->plan = hn_plan_free(m->plan);
        free(m);
        w->mind = NULL;
}

static int init(struct hn_sim_world *w) {
        struct mind *m = calloc(1, sizeof(*m));
        int r;

        w->mind = m;
        if (!m)
                return -ENOMEM;
        r = hn_sim_lens_init(&m->lens, w);
        if (r == 0)
                r = hn_model_new(&w->topo, &m->model);
        if (r == 0)
                r = hn_plan_new(&w->topo, &m->plan);
        return r;
}

static uint32_t nodes_of(const struct hn_sim_world *w, hn_mask_id mask) {
        const struct hn_mask *cpus = hn_mask_pool_get(&w->masks, mask);
        uint32_t nodes = 0;

        for (unsigned k = 0; k < w->n_nodes; k++)
                if (hn_mask_intersects(cpus, &w->topo.nodes[k].cpus))
                        nodes |= 1u << k;
        return nodes;
}

static int pin(struct hn_sim_world *w, struct hn_sim_task *t, const struct hn_decision *d) {
        struct mind *m = w->mind;
        const struct hn_task_state *st = hn_model_state(m->model, d->task);
        const struct hn_scope *scope = &m->lens.scope;
        bool held = st->pinned != HN_NODE_NONE;
        hn_mask_id before = held ? st->before : t->mask, cpuset;
        unsigned from = t->node;
        bool unrestricted;
        int r;

        r = hn_mask_pool_intern(&w->masks, &scope->cpuset, &cpuset);
        if (r < 0)
                return r;
        unrestricted = held ? st->unrestricted
                            : hn_mask_owner(hn_mask_pool_get(&w->masks, t->mask), NULL, &scope->cpuset,
                                            &w->topo.isolated) == HN_OWNER_NOBODY;
        hn_sim_set_mask(w, t, nodes_of(w, d->want), d->want);
        if (t->node != from)
                hn_sim_note_move(w, t, from, t->node);
        hn_model_note_pin(m->model, d->task, d->from, d->to, d->want, before, cpuset, unrestricted,
                          m->lens.shot.now);
        if (hn_decision_promises(d))
                hn_model_note_promise(m->model, d->task, d->share_from, m->lens.shot.now);
        return 0;
}

static void move_pages(struct hn_sim_world *w, const struct hn_sim_task *t, const struct hn_decision *d) {
        struct mind *m = w->mind;

        /* One process at a time; the others keep their turn. */
        if (m->pager.active)
                return;
        m->pager = (struct hn_sim_pager){
                .active = true,
                .process = t->process,
                .tgid = w->processes[t->process].tgid,
                .to = 1u << d->to,
                .source = d->source == HN_NODE_NONE ? UINT32_MAX : 1u << d->source,
                .mib_per_second = MIB_A_SECOND,
                .keep_free = KEEP_FREE,
        };
        hn_model_note_pages(m->model, d->task, m->lens.shot.now);
}

static int act(struct hn_sim_world *w, const struct hn_decision *d) {
        struct mind *m = w->mind;
        struct hn_sim_task *t = &w->tasks[m->lens.index[d->task]];
        unsigned decisions = w->counts.decisions;
        hn_mask_id before;
        int r = 0;

        switch (d->act) {
        case HN_ACT_PIN:
                w->counts.decisions++;
                r = pin(w, t, d);
                break;
        case HN_ACT_RELEASE:
                w->counts.decisions++;
                before = hn_model_state(m->model, d->task)->before;
                hn_sim_set_mask(w, t, nodes_of(w, before), before);
                hn_model_note_release(m->model, d->task, m->lens.shot.now);
                break;
        case HN_ACT_PAGES:
                w->counts.decisions++;
                move_pages(w, t, d);
                break;
        case HN_ACT_ADOPT:
        case HN_ACT_FORGET: hn_model_note_recorded(m->model, d->task); break;
        case HN_ACT_NONE:
        case _HN_ACT_MAX: return -EINVAL;
        }
        if (hn_sim_is_young(w, t))
                w->counts.young_acts += w->counts.decisions - decisions;
        return r;
}

static int second(struct hn_sim_world *w) {
        struct mind *m = w->mind;
        int r;

        r = hn_sim_lens_look(&m->lens, w);
        if (r == 0)
                r = hn_model_feed(m->model, &m->lens.shot);
        if (r == 0)
                r = hn_plan_build(m->plan, m->model, &m->lens.shot, &limits);
        for (size_t k = 0; r == 0 && k < hn_plan_n_acts(m->plan); k++) {
                w->counts.last_act = w->now;
                r = act(w, hn_plan_act(m->plan, k));
        }
        return r;
}

static int look(struct hn_sim_world *w) {
        struct mind *m = w->mind;

        hn_sim_pager_step(&m->pager, w);
        return 0;
}

static int look_beside_kernel(struct hn_sim_world *w) {
        hn_sim_numa_place(w, /* shortcut= */ false);
        return look(w);
}

const struct hn_sim_policy hn_sim_policy_homenode = {
        .name = "homenode",
        .about = "homenode, with the kernel's NUMA balancing off",
        .column = true,
        .init = init,
        .deinit = deinit,
        .look = look,
        .second = second,
};

const struct hn_sim_policy hn_sim_policy_homenode_kernel = {
        .name = "homenode+kernel",
        .about = "homenode beside the kernel's NUMA balancing",
        .column = true,
        .scans = true,
        .init = init,
        .deinit = deinit,
        .look = look_beside_kernel,
        .second = second,
};
