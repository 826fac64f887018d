/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "policy/faults.h"
#include "policy/model.h"
#include "policy/target.h"

#define REVERSAL_WINDOW (60 * HN_USEC_PER_SEC) /* coming back within a minute is a reversal */

/* A thousand CPUs' worth of children are enough to be told from none, and leave room to add. */
#define CHILDREN_MAX 1000000u

/* A mask of ours that is in use in a cgroup: what a newborn of that cgroup may have inherited. */
struct pin_in_use {
        uint32_t scope;
        hn_node_index node;
        hn_mask_id ours, before, cpuset;
        bool unrestricted;
        uint64_t hand;
};

struct hn_model {
        const struct hn_topology *topo;
        hn_usec_t last_feed;
        bool fed;

        struct hn_task_state *states,
                *spare; /* swapped at each feed, so that the steady state allocates nothing */
        size_t n, allocated;
        uint64_t *row;         /* n_nodes and one, scratch */
        uint32_t *unsampled;   /* n_nodes, thousandths of a core */
        uint32_t *history;     /* HN_LASTING such rows, written in turn */
        size_t n_measured;     /* sweeps that have written one */
        hn_usec_t *idle_since; /* n_nodes */

        struct pin_in_use *pins; /* no more than tasks */
        size_t n_pins;
};

int hn_model_new(const struct hn_topology *topo, struct hn_model **ret) {
        _hn_cleanup_(hn_model_freep) struct hn_model *m = calloc(1, sizeof(*m));

        if (!m)
                return -ENOMEM;
        m->topo = topo;
        m->row = calloc(topo->n_nodes + 1, sizeof(*m->row));
        m->unsampled = calloc(HN_MAX(topo->n_nodes, 1u), sizeof(*m->unsampled));
        m->history = calloc(HN_LASTING * HN_MAX(topo->n_nodes, 1u), sizeof(*m->history));
        m->idle_since = calloc(HN_MAX(topo->n_nodes, 1u), sizeof(*m->idle_since));
        if (!m->row || !m->unsampled || !m->history || !m->idle_since)
                return -ENOMEM;
        for (size_t i = 0; i < topo->n_nodes; i++)
                m->idle_since[i] = HN_USEC_INFINITY;
        *ret = HN_TAKE_PTR(m);
        return 0;
}

struct hn_model *hn_model_free(struct hn_model *m) {
        if (m) {
                free(m->states);
                free(m->spare);
                free(m->row);
                free(m->unsampled);
                free(m->history);
                free(m->idle_since);
                free(m->pins);
        }
        free(m);
        return NULL;
}

/* Returns whether there is room for `n` tasks now. Just as much as is needed: a sweep looks at all of them
 * anyway, and only one that finds more than ever before has anything to enlarge. */
static bool reserve(struct hn_model *m, size_t n) {
        struct hn_task_state *states, *spare;
        struct pin_in_use *pins;

        if (n <= m->allocated)
                return true;
        states = realloc(m->states, n * sizeof(*states));
        if (!states)
                return false;
        m->states = states;
        spare = realloc(m->spare, n * sizeof(*spare));
        if (!spare)
                return false;
        m->spare = spare;
        pins = realloc(m->pins, n * sizeof(*pins));
        if (!pins)
                return false;
        m->pins = pins;
        m->allocated = n;
        return true;
}

/* The first pin in use that put this mask on a task of that cgroup: as override `*hand` wants it, or whoever
 * wanted it where that is NULL. */
static const struct pin_in_use *find_pin(const struct hn_model *m, uint32_t scope, hn_mask_id ours,
                                         const uint64_t *hand) {
        for (size_t i = 0; i < m->n_pins; i++)
                if (m->pins[i].scope == scope && m->pins[i].ours == ours &&
                    (!hand || m->pins[i].hand == *hand))
                        return &m->pins[i];
        return NULL;
}

static void remember_pin(struct hn_model *m, uint32_t scope, const struct hn_task_state *st) {
        if (find_pin(m, scope, st->ours, &st->hand))
                return;
        m->pins[m->n_pins++] = (struct pin_in_use){
                .scope = scope,
                .node = st->pinned,
                .ours = st->ours,
                .before = st->before,
                .cpuset = st->cpuset,
                .unrestricted = st->unrestricted,
                .hand = st->hand,
        };
}

/* A task seen for the first time that already carries a mask of ours got it from the thread that made it: one
 * under the same order, if there is any. */
static void inherit(const struct hn_model *m, const struct hn_snapshot *s, const struct hn_task_sample *t,
                    struct hn_task_state *st) {
        uint32_t place = hn_scope_place(s->scopes, t->scope);
        const struct pin_in_use *from = find_pin(m, place, t->mask, &st->order);

        if (!from)
                from = find_pin(m, place, t->mask, /* hand= */ NULL);
        if (!from)
                return;
        st->pinned = from->node;
        st->ours = from->ours;
        st->before = from->before;
        st->cpuset = from->cpuset;
        st->unrestricted = from->unrestricted;
        st->hand = from->hand;
        st->inherited = true;
}

static void forget_pin(struct hn_task_state *st) {
        st->pinned = HN_NODE_NONE;
        st->ours = st->before = st->cpuset = HN_MASK_ID_NONE;
        st->hand = 0;
        st->inherited = false;
        st->effect = HN_EFFECT_NULL;
}

/* Is our mask still there? A cpuset that was rewritten may have wiped it: then nobody objected to us. */
static void check_pin(const struct hn_model *m, const struct hn_snapshot *s, const struct hn_task_sample *t,
                      struct hn_task_state *st) {
        const struct hn_mask *cpuset = &s->scopes[t->scope].cpuset;
        bool same_cpuset;

        if (st->pinned == HN_NODE_NONE || t->mask == HN_MASK_ID_NONE || t->mask == st->ours)
                return;
        if (hn_mask_owner(hn_mask_pool_get(s->masks, t->mask), hn_mask_pool_get(s->masks, st->ours), cpuset,
                          &m->topo->isolated) == HN_OWNER_US)
                return;
        same_cpuset = st->cpuset != HN_MASK_ID_NONE &&
                      hn_mask_equal(hn_mask_pool_get(s->masks, st->cpuset), cpuset);
        if (same_cpuset && st->hand != 0) {
                st->hands_off = st->hand;
                st->order_refused = false;
        }
        forget_pin(st);
        st->lost = true;
        st->changed_by_other = same_cpuset;
}

/* Nanoseconds in microseconds as thousandths; one thread cannot use more than one CPU. */
static uint32_t rate(uint64_t ns, hn_usec_t elapsed) {
        return (uint32_t) HN_MIN(ns / elapsed, UINT64_C(1000));
}

/* Waiting counts as demand: on an overloaded node every task runs less, and would seem to fit for that very
 * reason. */
static void feed_demand(struct hn_task_state *st, const struct hn_task_sample *t, hn_usec_t elapsed) {
        uint64_t ran = hn_counter_delta(st->runtime_ns, t->runtime_ns);
        uint64_t waited = hn_counter_delta(st->wait_ns, t->wait_ns);
        uint64_t born = hn_counter_delta(st->child_ns, t->child_ns);
        uint32_t wanted;

        st->child_ns = t->child_ns;
        st->runtime_ns = t->runtime_ns;
        st->wait_ns = t->wait_ns;
        if (elapsed == 0)
                return;
        wanted = rate(ran + waited, elapsed);
        st->children = (uint32_t) ((st->children + HN_MIN(born / elapsed, (uint64_t) CHILDREN_MAX)) / 2);
        st->used = rate(ran, elapsed);
        st->waited = rate(waited, elapsed);
        st->demand = st->samples == 0 ? wanted : (st->demand + wanted) / 2;
        st->samples += st->samples < UINT32_MAX;
}

/* What it has used since its start is the best guess at what it uses, until it is measured. Without an
 * earlier sweep nothing is known of what others use either, and then nothing is guessed. */
static void guess_demand(struct hn_task_state *st, const struct hn_task_sample *t, hn_usec_t elapsed) {
        if (t->age == 0 || elapsed == 0)
                return;
        st->used = rate(t->runtime_ns, HN_MAX(t->age, elapsed));
        st->demand = rate(t->runtime_ns + t->wait_ns, t->age);
}

/* Takes what tasks used, `m->row`, out of what the nodes were busy with: out of each node's part, and out of
 * the sum, as a task is counted where it was last seen. */
static void take_out(const struct hn_model *m, uint32_t *busy) {
        uint64_t all = 0, out = m->row[m->topo->n_nodes], surplus = 0, rest;

        for (size_t i = 0; i < m->topo->n_nodes; i++) {
                all += busy[i];
                out += m->row[i];
                busy[i] -= (uint32_t) HN_MIN(m->row[i], (uint64_t) busy[i]);
                surplus += busy[i];
        }
        rest = all - HN_MIN(out, all);
        if (rest >= surplus)
                return;
        for (size_t i = 0; i < m->topo->n_nodes; i++)
                busy[i] = (uint32_t) (busy[i] * rest / surplus);
}

/* What the tasks used on each node, and at the end of the row where the node is not known; or only those that
 * were others' work until this sweep. */
static void sum_used(struct hn_model *m, const struct hn_snapshot *s, bool newcomers, hn_usec_t elapsed) {
        memset(m->row, 0, (m->topo->n_nodes + 1) * sizeof(*m->row));
        for (size_t i = 0; i < s->n_tasks; i++)
                if (!newcomers || (m->spare[i].samples == 0 && s->tasks[i].age > elapsed))
                        m->row[HN_MIN((size_t) s->tasks[i].node, m->topo->n_nodes)] += m->spare[i].used;
}

static void feed_unsampled(struct hn_model *m, const struct hn_snapshot *s, hn_usec_t elapsed) {
        size_t n = m->topo->n_nodes;
        bool first = m->n_measured == 0;
        uint32_t *now = &m->history[m->n_measured++ % HN_LASTING * n];

        sum_used(m, s, /* newcomers= */ true, elapsed);
        for (size_t k = 0; k < HN_LASTING; k++)
                take_out(m, &m->history[k * n]);
        take_out(m, m->unsampled);

        for (size_t i = 0; i < n; i++)
                now[i] = s->nodes[i].busy;
        sum_used(m, s, /* newcomers= */ false, elapsed);
        take_out(m, now);
        for (size_t i = 0; i < n; i++) {
                m->unsampled[i] = first ? now[i] : (m->unsampled[i] + now[i]) / 2;
                now[i] = m->unsampled[i];
        }
}

static void feed_idle(struct hn_model *m, const struct hn_snapshot *s) {
        for (size_t i = 0; i < m->topo->n_nodes; i++)
                if (s->nodes[i].busy >= HN_IDLE_BUSY)
                        m->idle_since[i] = HN_USEC_INFINITY;
                else if (m->idle_since[i] == HN_USEC_INFINITY)
                        m->idle_since[i] = m->last_feed;
}

/* Where its memory is, and whether it is where we have taken it to. */
static void feed_home(const struct hn_model *m, const struct hn_snapshot *s, struct hn_task_state *st) {
        size_t n = m->topo->n_nodes;
        uint64_t total = 0;

        if (st->signal == HN_SIGNAL_NONE)
                return;
        memset(m->row, 0, n * sizeof(*m->row));
        for (hn_node_index i = 0; i < n; i++) {
                uint64_t found = s->priv[st->row * n + i] + s->shared[st->row * n + i];
                hn_node_index near = hn_topology_nearest_with_cpus(m->topo, i);

                if (near != HN_NODE_NONE) {
                        m->row[near] += found;
                        total += found;
                }
        }
        st->home = hn_preferred(m->row, n, st->home);
        if (st->pinned != HN_NODE_NONE)
                st->effect = hn_effect_look(st->effect, hn_weight(m->row[st->pinned], 0, total), s->now);
}

int hn_model_feed(struct hn_model *m, const struct hn_snapshot *s) {
        hn_usec_t elapsed = m->fed ? hn_usec_sub(s->now, m->last_feed) : 0;
        struct hn_task_state *swap;
        size_t old = 0;

        for (size_t i = 1; i < s->n_tasks; i++)
                if (s->tasks[i - 1].key.tid >= s->tasks[i].key.tid)
                        return -ENOTUNIQ;
        if (!reserve(m, s->n_tasks))
                return -ENOMEM;

        /* First those we know, as newborns are compared with the pins of all of them. */
        m->n_pins = 0;
        for (size_t i = 0; i < s->n_tasks; i++) {
                const struct hn_task_sample *t = &s->tasks[i];
                struct hn_task_state *st = &m->spare[i];

                while (old < m->n && m->states[old].key.tid < t->key.tid)
                        old++;
                if (old == m->n || m->states[old].key.tid != t->key.tid ||
                    m->states[old].key.start != t->key.start) {
                        *st = (struct hn_task_state){ .key = t->key, .tgid = t->tgid, .home = HN_NODE_NONE };
                        for (size_t k = 0; k < HN_DEPARTURES; k++)
                                st->left[k].node = HN_NODE_NONE;
                        st->runtime_ns = t->runtime_ns;
                        st->wait_ns = t->wait_ns;
                        st->child_ns = t->child_ns;
                        st->seq = t->scan_seq;
                        guess_demand(st, t, elapsed);
                        forget_pin(st);
                        continue;
                }
                *st = m->states[old];
                st->tgid = t->tgid;
                st->seq = t->scan_seq;
                feed_demand(st, t, elapsed);
                check_pin(m, s, t, st);
                if (st->reversals > 0 && s->now >= hn_usec_add(st->quiet_since, REVERSAL_WINDOW)) {
                        st->reversals--;
                        st->quiet_since = s->now;
                }
                if (st->pinned != HN_NODE_NONE)
                        remember_pin(m, hn_scope_place(s->scopes, t->scope), st);
        }
        for (size_t i = 0; i < s->n_tasks; i++) {
                struct hn_task_state *st = &m->spare[i];

                st->order = s->tasks[i].hand > 0 ? s->hands[s->tasks[i].hand - 1].id : 0;
                if (st->samples == 0 && st->pinned == HN_NODE_NONE && !st->lost &&
                    s->tasks[i].mask != HN_MASK_ID_NONE)
                        inherit(m, s, &s->tasks[i], st);
                hn_evidence_choose(s, &s->tasks[i], st);
                feed_home(m, s, st);
        }

        /* The first sweep has nothing to count from: its zeros are no measurement, and none of an average. */
        if (elapsed > 0) {
                feed_unsampled(m, s, elapsed);
                feed_idle(m, s);
        }

        swap = m->states;
        m->states = m->spare;
        m->spare = swap;
        m->n = s->n_tasks;
        m->last_feed = s->now;
        m->fed = true;
        return 0;
}

size_t hn_model_size(const struct hn_model *m) {
        return m->n;
}

const struct hn_task_state *hn_model_state(const struct hn_model *m, size_t i) {
        assert(i < m->n);
        return &m->states[i];
}

uint32_t hn_model_unsampled(const struct hn_model *m, hn_node_index node) {
        assert(node < m->topo->n_nodes);
        return m->unsampled[node];
}

uint32_t hn_model_lasting(const struct hn_model *m, hn_node_index node) {
        uint32_t least = UINT32_MAX;

        assert(node < m->topo->n_nodes);
        for (size_t k = 0; k < HN_LASTING; k++)
                least = HN_MIN(least, m->history[k * m->topo->n_nodes + node]);
        return least;
}

hn_usec_t hn_model_idle_since(const struct hn_model *m, hn_node_index node) {
        assert(node < m->topo->n_nodes);
        return m->idle_since[node];
}

static void note_departure(struct hn_task_state *st, hn_node_index from, hn_usec_t now) {
        struct hn_departure gone = { .node = from, .at = now };

        for (size_t i = 0; i < HN_DEPARTURES; i++) {
                struct hn_departure older = st->left[i];

                st->left[i] = gone;
                if (older.node == from)
                        break;
                gone = older;
        }
        st->last_move = now;
        st->move_seq = st->seq;
        st->evidence = hn_evidence_after_act(st->seq);
        st->quiet_since = now;
        st->ever_moved = true;
}

static bool came_from(const struct hn_task_state *st, hn_node_index node, hn_usec_t now) {
        for (size_t i = 0; i < HN_DEPARTURES; i++)
                if (st->left[i].node == node && now <= hn_usec_add(st->left[i].at, REVERSAL_WINDOW))
                        return true;
        return false;
}

void hn_model_note_pin(struct hn_model *m, size_t i, hn_node_index from, hn_node_index to, hn_mask_id ours,
                       hn_mask_id before, hn_mask_id cpuset, bool unrestricted, hn_usec_t now) {
        struct hn_task_state *st = &m->states[i];
        bool back;

        assert(i < m->n);
        back = came_from(st, to, now);
        st->pinned = to;
        st->ours = ours;
        st->before = before;
        st->cpuset = cpuset;
        st->unrestricted = unrestricted;
        st->pinned_at = now;
        st->effect = HN_EFFECT_NULL;
        st->hand = st->order;
        /* Held where it was: nothing to cool down from. And a hand's ways are not ours to slow down. */
        if ((from == to && !back) || st->hand != 0)
                return;

        st->reversals += back && st->reversals < UINT32_MAX;
        note_departure(st, from, now);
}

void hn_model_note_promise(struct hn_model *m, size_t i, uint32_t before, hn_usec_t now) {
        assert(i < m->n);
        m->states[i].effect = hn_effect_begin(before, now);
}

void hn_model_note_release(struct hn_model *m, size_t i, hn_usec_t now) {
        assert(i < m->n);
        if (m->states[i].effect.verdict == HN_VERDICT_IN_VAIN)
                m->states[i].reversals += HN_EFFECT_REVERSALS;
        /* What was let go from an overloaded node is not caught again at once, and each time later. */
        note_departure(&m->states[i], m->states[i].pinned, now);
        forget_pin(&m->states[i]);
}

void hn_model_note_changed(struct hn_model *m, size_t i) {
        assert(i < m->n);
        forget_pin(&m->states[i]);
        m->states[i].changed_by_other = true;
        m->states[i].hands_off = m->states[i].order;
        m->states[i].order_refused = false;
}

void hn_model_note_refused(struct hn_model *m, size_t i) {
        assert(i < m->n);
        if (m->states[i].order == 0)
                m->states[i].refused = true;
        m->states[i].hands_off = m->states[i].order;
        m->states[i].order_refused = true;
}

void hn_model_note_pages(struct hn_model *m, size_t i, hn_usec_t now) {
        assert(i < m->n);
        m->states[i].last_pages = now;
        m->states[i].evidence = hn_evidence_after_act(m->states[i].seq);
}

void hn_model_note_brought(struct hn_model *m, size_t i, uint64_t hand) {
        assert(i < m->n);
        m->states[i].hand_pages = hand;
}

void hn_model_note_recorded(struct hn_model *m, size_t i) {
        assert(i < m->n);
        m->states[i].inherited = m->states[i].lost = false;
}

uint64_t hn_model_cooldown_left(const struct hn_model *m, size_t i, hn_usec_t now) {
        const struct hn_task_state *st = hn_model_state(m, i);
        hn_usec_t wait = hn_cooldown(st->reversals, HN_COOLDOWN_BASE_MS, HN_COOLDOWN_MAX_MS) *
                         HN_USEC_PER_MSEC;

        return st->ever_moved ? hn_usec_sub(hn_usec_add(st->last_move, wait), now) / HN_USEC_PER_MSEC : 0;
}

bool hn_model_is_news(const struct hn_model *m, size_t i, hn_usec_t now) {
        const struct hn_task_state *st = hn_model_state(m, i);

        /* A kernel that does not say never lets go of 0. */
        return !st->ever_moved || st->seq == 0 ||
               hn_placement_gate(now, st->last_move, st->seq, st->move_seq).evaluate;
}
