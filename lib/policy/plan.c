/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "policy/bench.h"
#include "policy/prefer.h"

static const char *const act_names[_HN_ACT_MAX] = {
        [HN_ACT_NONE] = "none",   [HN_ACT_PIN] = "pin",     [HN_ACT_RELEASE] = "release",
        [HN_ACT_PAGES] = "pages", [HN_ACT_ADOPT] = "adopt", [HN_ACT_FORGET] = "forget",
};

const char *hn_act_to_string(enum hn_act a) {
        return (size_t) a < HN_ELEMENTS(act_names) ? act_names[a] : NULL;
}

bool hn_decision_promises(const struct hn_decision *d) {
        return d->act == HN_ACT_PIN && !d->by_hand && d->from != HN_NODE_NONE && d->from != d->to &&
               d->share_to > d->share_from;
}

/* An array of zeros, to be checked for with all others. */
static void *zeros(bool *ok, size_t n, size_t size) {
        void *p = calloc(HN_MAX(n, (size_t) 1), size);

        *ok &= p != NULL;
        return p;
}

/* Returns whether there is room for `n` now; what was there stays. Room for nothing is no null pointer
 * either, as qsort() takes none. */
static bool grow(void *array, size_t n, size_t size) {
        void *p = realloc(*(void **) array, HN_MAX(n * size, (size_t) 1));

        if (p)
                *(void **) array = p;
        return p;
}

/* Returns whether there is room for `n` tasks in all arrays now. */
static bool enlarge(struct hn_plan *p, size_t n) {
        bool ok = true;

        ok &= grow(&p->decisions, n, sizeof(*p->decisions));
        ok &= grow(&p->members, n, sizeof(*p->members));
        ok &= grow(&p->units, n, sizeof(*p->units));
        ok &= grow(&p->order, n, sizeof(*p->order));
        ok &= grow(&p->crews, n, sizeof(*p->crews));
        ok &= grow(&p->families, n, sizeof(*p->families));
        ok &= grow(&p->clans, n, sizeof(*p->clans));
        ok &= grow(&p->scores, n * p->topo->n_nodes, sizeof(*p->scores));
        ok &= grow(&p->shifts, n, sizeof(*p->shifts));
        ok &= grow(&p->acts, n, sizeof(*p->acts));
        if (ok)
                p->allocated = n;
        return ok;
}

int hn_plan_new(const struct hn_topology *topo, struct hn_plan **ret) {
        _hn_cleanup_(hn_plan_freep) struct hn_plan *p = calloc(1, sizeof(*p));
        size_t n = topo->n_nodes;
        bool ok = true;

        if (!p)
                return -ENOMEM;
        p->topo = topo;
        p->nodes = zeros(&ok, n, sizeof(*p->nodes));
        p->stands = zeros(&ok, n, sizeof(*p->stands));
        p->capacity = zeros(&ok, n, sizeof(*p->capacity));
        p->lasting = zeros(&ok, n, sizeof(*p->lasting));
        p->used = zeros(&ok, n, sizeof(*p->used));
        p->share = zeros(&ok, n, sizeof(*p->share));
        p->faults = zeros(&ok, n, sizeof(*p->faults));
        p->room = zeros(&ok, n, sizeof(*p->room));
        p->open = zeros(&ok, n, sizeof(*p->open));
        p->value = zeros(&ok, n, sizeof(*p->value));
        p->first = zeros(&ok, n * n, sizeof(*p->first));
        p->via = zeros(&ok, n, sizeof(*p->via));
        p->seen = zeros(&ok, n, sizeof(*p->seen));
        ok &= enlarge(p, p->allocated);
        if (!ok)
                return -ENOMEM;
        *ret = HN_TAKE_PTR(p);
        return 0;
}

struct hn_plan *hn_plan_free(struct hn_plan *p) {
        if (p) {
                hn_reach_deinit(&p->reach);
                free(p->decisions);
                free(p->members);
                free(p->units);
                free(p->families);
                free(p->clans);
                free(p->order);
                free(p->crews);
                free(p->scores);
                free(p->shifts);
                free(p->acts);
                free(p->nodes);
                free(p->stands);
                free(p->capacity);
                free(p->lasting);
                free(p->used);
                free(p->share);
                free(p->faults);
                free(p->room);
                free(p->open);
                free(p->value);
                free(p->first);
                free(p->via);
                free(p->seen);
        }
        free(p);
        return NULL;
}

/* What a better score is worth over this distance: thousandths discounted so that a move between sibling
 * nodes of one package counts little (heuristics H2). */
static uint32_t discounted_gain(const struct hn_topology *topo, const struct hn_unit *u,
                                const uint32_t *score, hn_node_index to) {
        unsigned far, d;
        uint32_t now, gain;

        if (u->incumbent == HN_NODE_NONE)
                return score[to];
        now = score[u->incumbent] == HN_SCORE_FORBIDDEN ? 0 : score[u->incumbent];
        gain = score[to] - HN_MIN(now, score[to]);
        far = d = hn_topology_distance(topo, u->incumbent, to);
        for (hn_node_index i = 0; i < topo->n_nodes; i++)
                far = HN_MAX(far, hn_topology_distance(topo, u->incumbent, i));
        return d > HN_DISTANCE_LOCAL ? gain * (d - HN_DISTANCE_LOCAL) / (far - HN_DISTANCE_LOCAL) : gain;
}

static hn_node_index best_node(const uint32_t *score, size_t n_nodes) {
        hn_node_index best = HN_NODE_NONE;

        for (hn_node_index i = 0; i < n_nodes; i++)
                if (score[i] != HN_SCORE_FORBIDDEN && score[i] > (best == HN_NODE_NONE ? 0 : score[best]))
                        best = i;
        return best;
}

static uint32_t best_score(const uint32_t *score, size_t n_nodes) {
        hn_node_index best = best_node(score, n_nodes);

        return best == HN_NODE_NONE ? 0 : score[best];
}

/* Whether memory will come to a task that cannot go to it: by the kernel's own balancing, or by us. */
static bool memory_follows(const struct hn_plan *p, const struct hn_snapshot *s, const struct hn_crew *c) {
        const struct hn_task_sample *t = &s->tasks[p->members[c->first].task];

        return (s->kernel_balancing & 1) || s->scopes[t->scope].pages;
}

/* Whether others use the node of a unit's memory just now, and did not all the time: then it waits, as its
 * memory is not brought elsewhere for a moment's sake. */
static bool home_is_busy_for_now(const struct hn_plan *p, const struct hn_unit *u) {
        hn_node_index home = best_node(&p->scores[u->score], p->topo->n_nodes);

        return !u->placed && home != HN_NODE_NONE && p->lasting[home] > p->capacity[home] + HN_ASSIGN_SLACK;
}

/* It is not placed now, and runs where it does. */
static void wait_for(struct hn_plan *p, struct hn_unit *u, enum hn_reason why) {
        p->used[u->result] -= u->demand;
        u->result = u->incumbent;
        p->crews[u->tag].verdict = why;
}

/* A unit of whose memory little is known is held where it is, device or no device, and so is who was put
 * there for the same knowledge. */
static bool heeds_devices(const struct hn_crew *c) {
        return !c->blind && !c->thin && !c->resting;
}

/* Lets nodes near a preferred device count for more while places are chosen; then the scores are again what
 * the memory says. */
static void lean(const struct hn_plan *p, const struct hn_snapshot *s,
                 void (*f)(const struct hn_topology *, const struct hn_mask *, uint32_t, uint32_t *)) {
        for (size_t i = 0; i < p->n_units; i++) {
                const struct hn_crew *c = &p->crews[p->units[i].tag];
                const struct hn_mask *prefer = &s->scopes[s->tasks[p->members[c->first].task].scope].prefer;

                if (heeds_devices(c) && !hn_mask_empty(prefer))
                        f(p->topo, prefer, HN_PREFER_BONUS, &p->scores[p->units[i].score]);
        }
}

/* The first answer for a unit, from its place in the assignment; a move is only wished for as yet. */
static void wish(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s,
                 struct hn_unit *u, const struct hn_limits *limits) {
        struct hn_crew *c = &p->crews[u->tag];
        const uint32_t *score = &p->scores[u->score];
        const struct hn_mask *prefer = &s->scopes[s->tasks[p->members[c->first].task].scope].prefer;
        enum hn_signal signal = hn_model_state(model, p->members[c->first].task)->signal;
        uint32_t best = best_score(score, p->topo->n_nodes);
        bool home;

        if (c->verdict != _HN_REASON_INVALID)
                return;
        if (u->result == HN_NODE_NONE) {
                c->verdict = u->placed ? HN_REASON_NODE_OVERLOADED : HN_REASON_NO_ROOM;
                return;
        }

        if (c->thin && u->result != u->incumbent) {
                wait_for(p, u, HN_REASON_NO_SIGNAL);
                return;
        }
        home = best > 0 && score[u->result] + limits->min_gain >= best;
        if (u->result != u->incumbent) {
                c->gain = discounted_gain(p->topo, u, score, u->result);
                if (home && c->gain < limits->min_gain) {
                        c->verdict = HN_REASON_SMALL_GAIN;
                        return;
                }
        }
        if (!home && !c->blind && home_is_busy_for_now(p, u)) {
                wait_for(p, u, HN_REASON_PASSING_LOAD);
                return;
        }
        if (home)
                c->verdict = c->sharing ? HN_REASON_SHARED_MEMORY
                             : heeds_devices(c) &&
                                             hn_prefer_decides(p->topo, prefer, HN_PREFER_BONUS, score,
                                                               u->result, u->incumbent, limits->min_gain)
                                     ? HN_REASON_NEAR_DEVICE
                             : u->result == u->incumbent  ? HN_REASON_AT_HOME
                             : signal == HN_SIGNAL_FAULTS ? HN_REASON_REMOTE_FAULTS
                                                          : HN_REASON_REMOTE_PAGES;
        else if (c->blind)
                c->verdict = HN_REASON_MEMORY_OUTGROWN;
        else
                c->verdict = memory_follows(p, s, c) ? HN_REASON_NODE_FULL : HN_REASON_NO_ROOM;

        if (u->result != u->incumbent && c->verdict != HN_REASON_NO_ROOM) {
                c->wishes = true;
                p->shifts[p->n_shifts++] = (struct hn_shift){
                        .from = u->incumbent,
                        .to = u->result,
                        .n_tasks = hn_stand_tasks(u->demand),
                        .demand = u->demand,
                        .worth = (uint64_t) c->gain * u->demand,
                        .tag = u->tag,
                        .together = c->n > 1 || c->sharing,
                };
        }
}

/* Most gain for most work first, then a fixed order: units are numbered by process and thread. */
static int shift_compare(const void *a, const void *b) {
        const struct hn_shift *x = a, *y = b;
        int r = HN_CMP(y->worth, x->worth);

        return r != 0 ? r : HN_CMP(x->tag, y->tag);
}

/* Tasks of which nothing is known go where the kernel finds idle CPUs for them once the others are in their
 * places, so that is where they count for the gates, one CPU's worth after the other. */
static void let_drift(struct hn_plan *p) {
        uint32_t left = 0;

        for (size_t i = 0; i < p->topo->n_nodes; i++) {
                left += p->nodes[i].drifting;
                p->share[i] = p->used[i];
        }
        while (left > 0) {
                uint32_t part = HN_MIN(left, UINT32_C(1000));
                int64_t most = INT64_MIN;
                size_t best = 0;

                for (size_t i = 0; i < p->topo->n_nodes; i++) {
                        int64_t room = (int64_t) p->capacity[i] - p->share[i];

                        if (p->stands[i].weight > 0 && room > most) {
                                most = room;
                                best = i;
                        }
                }
                p->share[best] += part;
                p->stands[best].busy += part;
                p->stands[best].nr = hn_stand_tasks(p->stands[best].busy);
                left -= part;
        }
}

static void admit(struct hn_plan *p) {
        qsort(p->shifts, p->n_shifts, sizeof(*p->shifts), shift_compare);
        hn_admit(p->shifts, p->n_shifts, p->stands, p->topo->n_nodes, p->first, p->via, p->seen);
        for (size_t i = 0; i < p->n_shifts; i++)
                p->crews[p->shifts[i].tag].admitted = p->shifts[i].admitted;
}

/* A unit that may not go to its memory keeps its place, or is given the one where it runs if its memory will
 * come to it there: else it would be far from its memory for ever. */
static void keep_place(struct hn_plan *p, const struct hn_snapshot *s, struct hn_unit *u) {
        struct hn_crew *c = &p->crews[u->tag];
        bool room;

        if (!c->wishes || c->admitted)
                return;
        wait_for(p, u, home_is_busy_for_now(p, u) ? HN_REASON_PASSING_LOAD : HN_REASON_LOAD_IMBALANCE);
        if (u->incumbent == HN_NODE_NONE || c->verdict == HN_REASON_PASSING_LOAD)
                return;
        room = p->used[u->incumbent] + u->demand <= p->capacity[u->incumbent] + HN_ASSIGN_SLACK;
        p->used[u->incumbent] += u->demand;
        c->held = u->placed || (room && c->n == 1 && memory_follows(p, s, c));
}

uint32_t hn_plan_score(const struct hn_plan *p, const struct hn_unit *u, hn_node_index node) {
        uint32_t score = p->scores[u->score + node];

        return score == HN_SCORE_FORBIDDEN ? 0 : score;
}

/* What a unit's verdict means for one of its tasks. */
static void settle(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s,
                   const struct hn_unit *u, const struct hn_member *member) {
        const struct hn_crew *c = &p->crews[u->tag];
        const struct hn_task_state *st = hn_model_state(model, member->task);
        struct hn_decision *d = &p->decisions[member->task];
        bool pinned = st->pinned != HN_NODE_NONE;

        if (member->fixed)
                return; /* gather has said why */

        d->reason = c->verdict;
        if (c->verdict == HN_REASON_PASSING_LOAD)
                return;
        if (c->wishes && !c->admitted && !c->held)
                return;
        if (u->result == HN_NODE_NONE || c->verdict == HN_REASON_OUTGROWS_NODE) {
                if (pinned)
                        d->act = HN_ACT_RELEASE;
                return;
        }
        if (c->verdict == HN_REASON_NO_ROOM || c->verdict == HN_REASON_SMALL_GAIN ||
            c->verdict == HN_REASON_NO_SIGNAL)
                return;

        d->to = u->result;
        if (c->sharing) {
                hn_plan_shares(p, s, st);
                d->share_to = p->share[d->to];
        } else
                d->share_to = hn_plan_score(p, u, d->to);
        d->used = p->used[d->to];
        d->capacity = p->capacity[d->to];
        d->benefit = (uint64_t) c->gain * d->demand;
        if (st->pinned == u->result) {
                d->reason = HN_REASON_SETTLED;
                return;
        }
        d->act = HN_ACT_PIN;
        d->want = p->reach.want[member->reach * p->topo->n_nodes + d->to];
}

/* Act by act, and of the same act who gains most. */
static int act_compare(const void *a, const void *b) {
        const struct hn_decision *x = *(const struct hn_decision *const *) a;
        const struct hn_decision *y = *(const struct hn_decision *const *) b;
        int r = HN_CMP(x->act, y->act);

        if (r == 0)
                r = HN_CMP(y->benefit, x->benefit);
        return r != 0 ? r : HN_CMP(x->task, y->task);
}

int hn_plan_build(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s,
                  const struct hn_limits *limits) {
        int r;

        /* Only a machine busier than ever before allocates, and then at least as much again. */
        if (s->n_tasks > p->allocated && !enlarge(p, s->n_tasks + p->allocated))
                return -ENOMEM;
        r = hn_plan_gather(p, model, s, limits);
        if (r < 0)
                return r;

        lean(p, s, hn_prefer_add);
        hn_assign(p->topo, p->units, p->n_units, p->scores, p->capacity, p->lasting, p->used, p->order);
        let_drift(p);
        p->n_shifts = 0;
        p->n_searches = 0;
        for (size_t i = 0; i < p->n_units; i++)
                wish(p, model, s, &p->units[i], limits);
        lean(p, s, hn_prefer_remove);
        admit(p);

        for (size_t i = 0; i < p->n_units; i++) {
                const struct hn_crew *c = &p->crews[p->units[i].tag];

                keep_place(p, s, &p->units[i]);
                for (size_t k = 0; k < c->n; k++)
                        settle(p, model, s, &p->units[i], &p->members[c->first + k]);
                hn_plan_bring_pages(p, model, s, &p->units[i], limits);
        }

        hn_plan_relieve(p, model, s);

        for (size_t i = 0; i < p->topo->n_nodes; i++) {
                p->nodes[i].class = hn_stand_classify(&p->stands[i]);
                p->nodes[i].busy = p->stands[i].busy;
                p->nodes[i].nr = p->stands[i].nr;
        }
        p->n_acts = 0;
        for (size_t i = 0; i < p->n; i++) {
                if (p->decisions[i].to < p->topo->n_nodes)
                        p->decisions[i].to_class = p->nodes[p->decisions[i].to].class;
                if (p->decisions[i].act != HN_ACT_NONE)
                        p->acts[p->n_acts++] = &p->decisions[i];
        }
        qsort(p->acts, p->n_acts, sizeof(*p->acts), act_compare);
        return 0;
}

const struct hn_decision *hn_plan_decision(const struct hn_plan *p, size_t i) {
        assert(i < p->n);
        return &p->decisions[i];
}

size_t hn_plan_n_acts(const struct hn_plan *p) {
        return p->n_acts;
}

const struct hn_decision *hn_plan_act(const struct hn_plan *p, size_t k) {
        assert(k < p->n_acts);
        return p->acts[k];
}

const struct hn_plan_node *hn_plan_node(const struct hn_plan *p, hn_node_index node) {
        assert(node < p->topo->n_nodes);
        return &p->nodes[node];
}
