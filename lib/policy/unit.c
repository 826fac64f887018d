/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "policy/bench.h"
#include "policy/faults.h"
#include "policy/judge.h"
#include "policy/overflow.h"

/* First half of a plan: who may be placed, as which unit, and what all others leave of the nodes. */

/* The share of each node in a task's faults or pages, in thousandths. Memory of a node without CPUs counts
 * for the nearest node that has some: that is as close as a task can come to it (the kernel's
 * numa_nearest_node()). */
void hn_plan_shares(struct hn_plan *p, const struct hn_snapshot *s, const struct hn_task_state *st) {
        size_t n = p->topo->n_nodes;
        uint64_t total = 0;

        memset(p->share, 0, n * sizeof(*p->share));
        if (st->signal == HN_SIGNAL_NONE)
                return;
        for (size_t i = 0; i < n; i++)
                total += s->priv[st->row * n + i] + s->shared[st->row * n + i];
        for (hn_node_index i = 0; i < n; i++) {
                hn_node_index near = hn_topology_nearest_with_cpus(p->topo, i);
                uint32_t weight = hn_weight(s->priv[st->row * n + i], s->shared[st->row * n + i], total);

                if (near != HN_NODE_NONE)
                        p->share[near] += weight;
        }
}

/* The mask the user of task i has set, as far as it binds us; HN_MASK_ID_NONE for none. */
static hn_mask_id user_mask(const struct hn_snapshot *s, size_t i, const struct hn_task_state *st) {
        const struct hn_task_sample *t = &s->tasks[i];

        if (st->pinned != HN_NODE_NONE)
                return st->unrestricted ? HN_MASK_ID_NONE : st->before;
        return s->scopes[t->scope].within_user_mask ? t->mask : HN_MASK_ID_NONE;
}

/* A task that will not be placed uses its node like any other work. */
static void count_as_other(struct hn_plan *p, const struct hn_task_sample *t,
                           const struct hn_task_state *st) {
        if (t->node < p->topo->n_nodes)
                p->nodes[t->node].others += st->used;
}

/* Nothing speaks for the node where it is at the moment, and the kernel moves it on wherever there is an idle
 * CPU: it is no reason to send away who has its memory here. */
static void count_if_drifting(struct hn_plan *p, const struct hn_snapshot *s, const struct hn_task_sample *t,
                              const struct hn_task_state *st, enum hn_reason why) {
        if (t->node < p->topo->n_nodes && s->scopes[t->scope].mode == HN_MODE_MANAGE &&
            (why == HN_REASON_NO_SIGNAL || why == HN_REASON_TOO_YOUNG || why == HN_REASON_IDLE))
                p->nodes[t->node].drifting += st->used;
}

/* Whether a task without a signal of its own is one of a process that has outgrown the nodes of its memory,
 * and that memory comes to whoever keeps still. */
static bool has_outgrown_memory(const struct hn_plan *p, const struct hn_snapshot *s,
                                const struct hn_task_sample *t, const struct hn_task_state *st,
                                const struct hn_family *family, const struct hn_limits *limits) {
        return t->pages_known && (s->kernel_balancing & 1) && st->demand >= limits->min_demand &&
               family->demand > hn_cores_near(p->topo, &s->priv[t->pages_row * s->n_nodes]);
}

/* Whether a task is to be placed with those whose memory it shares: what it touches is not mostly private, or
 * too little is known of it to say so. */
static bool goes_with_family(const struct hn_snapshot *s, const struct hn_task_sample *t,
                             const struct hn_task_state *st, const struct hn_family *family,
                             const struct hn_limits *limits) {
        uint64_t priv = 0, shared = 0;

        if (!family->sharing || st->samples == 0 || st->demand < limits->min_demand)
                return false;
        for (size_t i = 0; t->signal == HN_SIGNAL_FAULTS && i < s->n_nodes; i++) {
                priv += s->priv[t->row * s->n_nodes + i];
                shared += s->shared[t->row * s->n_nodes + i];
        }
        return shared + priv < limits->min_faults || !hn_mostly_private(priv, shared);
}

/* Whether a task with too few faults for a move runs where most of them are, and the kernel prefers it there:
 * a kernel that scans a mapping rarely may never tell more, and meanwhile moves the task to wherever a CPU is
 * idle. */
static bool may_be_held(const struct hn_plan *p, const struct hn_task_sample *t,
                        const struct hn_task_state *st, const struct hn_limits *limits) {
        return st->signal == HN_SIGNAL_FAULTS && t->node < p->topo->n_nodes &&
               t->kernel_preferred == t->node && p->share[t->node] >= limits->hold_share &&
               st->pinned == HN_NODE_NONE && st->demand >= limits->min_demand;
}

struct hn_decision hn_plan_facts(const struct hn_plan *p, size_t i, const struct hn_task_sample *t,
                                 const struct hn_task_state *st, enum hn_reason reason) {
        bool pinned = st->pinned != HN_NODE_NONE;
        struct hn_decision d = {
                .task = i,
                .reason = reason,
                .from = pinned ? st->pinned : t->node,
                .to = pinned ? st->pinned : t->node,
                .home = st->home,
                .source = HN_NODE_NONE,
                .signal = st->signal,
                .demand = st->demand,
                .share_before = st->effect.before,
                .to_class = HN_CLASS_HAS_SPARE,
                .want = HN_MASK_ID_NONE,
        };

        if (d.from < p->topo->n_nodes)
                d.share_from = p->share[d.from];
        if (st->lost) {
                d.act = HN_ACT_FORGET;
                if (!st->changed_by_other)
                        d.reason = HN_REASON_COOLDOWN;
        } else if (st->inherited)
                d.act = HN_ACT_ADOPT;
        else if (pinned && st->effect.verdict == HN_VERDICT_IN_VAIN) {
                d.act = HN_ACT_RELEASE;
                d.reason = HN_REASON_NO_GAIN;
        } else if (pinned && reason == HN_REASON_FORKS)
                d.act = HN_ACT_RELEASE;
        return d;
}

/* Returns whether there was memory for it. */
static bool judge_all(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s,
                      const struct hn_limits *limits) {
        p->n = s->n_tasks;
        p->n_members = 0;
        p->n_families = hn_families_meet(p->families, model, s, limits->min_demand, limits->min_faults);
        for (size_t i = 0; i < s->n_tasks; i++) {
                const struct hn_task_sample *t = &s->tasks[i];
                const struct hn_task_state *st = hn_model_state(model, i);
                bool pinned = st->pinned != HN_NODE_NONE,
                     cooling = hn_model_cooldown_left(model, i, s->now) > 0;
                struct hn_decision *d = &p->decisions[i];
                enum hn_reason no = _HN_REASON_INVALID;
                const struct hn_family *family = hn_families_find(p->families, p->n_families, t->tgid);
                bool may, with_family, blind = false, thin = false;
                size_t reach;

                hn_plan_shares(p, s, st);
                if (t->hand > 0 || st->hand != 0) {
                        if (hn_plan_obey(p, model, s, i, limits) < 0)
                                return false;
                        count_as_other(p, t, st);
                        continue;
                }
                if (hn_reach_find(&p->reach, p->topo, s, t->scope, user_mask(s, i, st), &reach) < 0)
                        return false;
                may = hn_judge(s, i, st, p->reach.rows[reach].n_reachable, p->topo, limits, &no);
                with_family = (may || (no == HN_REASON_NO_SIGNAL && t->mask != HN_MASK_ID_NONE)) &&
                              goes_with_family(s, t, st, family, limits);
                may = may || with_family;
                if (!may && no == HN_REASON_NO_SIGNAL && has_outgrown_memory(p, s, t, st, family, limits))
                        may = blind = true;
                if (!may && no == HN_REASON_NO_SIGNAL && may_be_held(p, t, st, limits))
                        may = thin = true;
                if (may && cooling && !pinned) {
                        may = false;
                        no = HN_REASON_COOLDOWN;
                }

                *d = hn_plan_facts(p, i, t, st, may ? HN_REASON_SETTLED : no);
                if (d->act == HN_ACT_RELEASE || (!may && !pinned)) {
                        count_as_other(p, t, st);
                        count_if_drifting(p, s, t, st, no);
                        continue;
                }
                p->members[p->n_members++] = (struct hn_member){
                        .signal = with_family ? HN_SIGNAL_FAULTS
                                  : blind     ? HN_SIGNAL_NONE
                                              : st->signal,
                        .group = (uint32_t) t->key.tid,
                        .task = i,
                        .reach = reach,
                        .fixed = !may || cooling || d->act != HN_ACT_NONE ||
                                 (blind && pinned &&
                                  s->now < hn_usec_add(st->pinned_at, limits->settle_pause)),
                        .blind = blind,
                        .thin = thin,
                };
                if (with_family || (may && !blind && st->signal == HN_SIGNAL_RESIDENCY)) {
                        struct hn_member *m = &p->members[p->n_members - 1];

                        m->whole = true;
                        m->group = with_family ? family->key : (uint32_t) t->tgid;
                }
        }
        return true;
}

static int member_compare(const void *a, const void *b) {
        const struct hn_member *x = a, *y = b;
        int r = HN_CMP(x->group, y->group);

        if (r == 0)
                r = HN_CMP(x->signal, y->signal);
        if (r == 0)
                r = HN_CMP(x->whole, y->whole);
        return r != 0 ? r : HN_CMP(x->task, y->task);
}

/* Where most of the unit's work is done now. */
static hn_node_index seat(struct hn_plan *p, const struct hn_crew *c) {
        hn_node_index best = HN_NODE_NONE;

        memset(p->used, 0, p->topo->n_nodes * sizeof(*p->used));
        for (size_t k = 0; k < c->n; k++) {
                const struct hn_decision *d = &p->decisions[p->members[c->first + k].task];

                if (d->from < p->topo->n_nodes)
                        p->used[d->from] += d->demand + 1;
        }
        for (hn_node_index i = 0; i < p->topo->n_nodes; i++)
                if (p->used[i] > (best == HN_NODE_NONE ? 0 : p->used[best]))
                        best = i;
        return best;
}

static void score(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s,
                  const struct hn_crew *c, uint32_t *row) {
        size_t n = p->topo->n_nodes;

        hn_plan_shares(p, s, hn_model_state(model, p->members[c->first].task));
        for (size_t i = 0; i < n; i++) {
                row[i] = c->blind ? 0 : p->share[i];
                for (size_t k = 0; k < c->n; k++)
                        if (p->reach.want[p->members[c->first + k].reach * n + i] == HN_MASK_ID_NONE)
                                row[i] = HN_SCORE_FORBIDDEN;
        }
}

static bool fits_on_a_node(const struct hn_topology *topo, uint32_t demand) {
        for (size_t i = 0; i < topo->n_nodes; i++)
                if (demand <= topo->nodes[i].n_cpus * 1000 + HN_ASSIGN_SLACK)
                        return true;
        return false;
}

/* Held by the little that its past tells, whoever ran for most of it may have waited for its memory until
 * now: it is left a core, as no third should come to two who keep one each. */
static uint32_t room_for_blind(uint32_t demand) {
        return demand >= 500 ? HN_MAX(demand, UINT32_C(1000)) : demand;
}

static void add_unit(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s,
                     size_t first, size_t n, const struct hn_limits *limits) {
        size_t tag = p->n_units;
        struct hn_crew *c = &p->crews[tag];
        struct hn_unit *u = &p->units[tag];
        bool stale = false;

        *c = (struct hn_crew){
                .first = first,
                .n = n,
                .verdict = _HN_REASON_INVALID,
                .blind = p->members[first].blind,
                .thin = p->members[first].thin,
        };
        *u = (struct hn_unit){
                .tag = tag,
                .score = tag * p->topo->n_nodes,
                /* The kernel's first passes over its memory do not wait either. */
                .urgent = p->members[first].blind,
        };
        for (size_t k = 0; k < n; k++) {
                const struct hn_member *m = &p->members[first + k];

                /* Its place is worth more than anything that was known when it was given it. */
                stale = stale || (m->signal == HN_SIGNAL_FAULTS && !hn_model_is_news(model, m->task, s->now));
                u->demand += c->blind ? room_for_blind(p->decisions[m->task].demand)
                                      : p->decisions[m->task].demand;
                u->fixed = u->fixed || m->fixed;
        }
        u->incumbent = seat(p, c);
        for (size_t k = 0; k < n; k++)
                u->placed = u->placed ||
                            hn_model_state(model, p->members[first + k].task)->pinned == u->incumbent;
        u->placed = u->placed && u->incumbent != HN_NODE_NONE;
        c->resting = u->placed && stale;
        u->bonus = !u->placed ? limits->min_gain : stale ? 1000 : limits->incumbent_bonus;
        score(p, model, s, c, &p->scores[u->score]);

        /* Threads that cannot be told apart stay together or are left alone. */
        if (!fits_on_a_node(p->topo, u->demand)) {
                for (size_t k = 0; k < n; k++) {
                        size_t task = p->members[first + k].task;

                        p->decisions[task].reason = HN_REASON_OUTGROWS_NODE;
                        if (hn_model_state(model, task)->pinned != HN_NODE_NONE)
                                p->decisions[task].act = HN_ACT_RELEASE;
                        count_as_other(p, &s->tasks[task], hn_model_state(model, task));
                }
                return;
        }
        p->n_units++;
}

/* Whether the member after this one is of the same group. */
static bool goes_on(const struct hn_plan *p, size_t i) {
        const struct hn_member *m = &p->members[i], *next = &p->members[i + 1];

        return i + 1 < p->n_members && m->whole && next->whole && m->signal == next->signal &&
               m->group == next->group;
}

/* Threads that share memory, but can be told apart. */
static void add_clan(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s,
                     size_t first, size_t n, const struct hn_limits *limits) {
        struct hn_clan *c = &p->clans[p->n_clans++];

        *c = (struct hn_clan){ .first = p->n_units, .n = n };
        for (size_t k = 0; k < n; k++) {
                const struct hn_unit *u = &p->units[p->n_units];

                add_unit(p, model, s, first + k, 1, limits);
                c->demand += u->demand;
                if (u->placed)
                        c->held += u->demand;
        }
}

static void gather_units(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s,
                         const struct hn_limits *limits) {
        size_t first = 0;

        qsort(p->members, p->n_members, sizeof(*p->members), member_compare);
        p->n_units = p->n_clans = 0;
        for (size_t i = 0; i < p->n_members; i++) {
                const struct hn_member *m = &p->members[first];

                if (goes_on(p, i))
                        continue;
                if (m->whole && m->signal == HN_SIGNAL_FAULTS)
                        add_clan(p, model, s, first, i + 1 - first, limits);
                else
                        add_unit(p, model, s, first, i + 1 - first, limits);
                first = i + 1;
        }
}

/* What the nodes have left for units, and how they stand with the units where they are now. */
static void stand_up(struct hn_plan *p, const struct hn_model *model) {
        for (hn_node_index i = 0; i < p->topo->n_nodes; i++) {
                const struct hn_node *node = &p->topo->nodes[i];
                uint32_t all = node->n_cores * 1000, others = p->nodes[i].others - p->nodes[i].drifting;
                uint32_t passing = hn_model_unsampled(model, i) - hn_model_lasting(model, i);

                p->capacity[i] = all - HN_MIN(others, all);
                p->lasting[i] = all - HN_MIN(others - passing, all);
                p->nodes[i].capacity = p->capacity[i];
                /* Any two nodes are compared, as the kernel compares those of its first level. */
                p->stands[i] = (struct hn_stand){
                        .weight = node->n_cores,
                        .busy = others,
                        .imb_nr = hn_imb_numa_nr(node->n_cpus, node->n_llcs, node->n_cpus, node->n_cpus),
                };
        }
        for (size_t i = 0; i < p->n_units; i++) {
                const struct hn_unit *u = &p->units[i];

                if (u->incumbent == HN_NODE_NONE)
                        continue;
                p->stands[u->incumbent].busy += u->demand;
        }
        /* Runnable tasks on average, which is what H2 asks for: ten that each run a tenth of the time are
         * one. */
        for (size_t i = 0; i < p->topo->n_nodes; i++)
                p->stands[i].nr = hn_stand_tasks(p->stands[i].busy);
}

int hn_plan_gather(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s,
                   const struct hn_limits *limits) {
        hn_reach_clear(&p->reach);
        p->obeyed_hand = 0;
        for (hn_node_index i = 0; i < p->topo->n_nodes; i++)
                p->nodes[i] = (struct hn_plan_node){ .others = hn_model_unsampled(model, i) };
        if (!judge_all(p, model, s, limits))
                return -ENOMEM;
        gather_units(p, model, s, limits);
        stand_up(p, model);
        hn_plan_lodge_clans(p, s, limits);
        return 0;
}
