/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <string.h>

#include "base/macro.h"
#include "policy/admit.h"

#define NO_SHIFT SIZE_MAX

/* Demands in a ring need not match to the last percent, but no node may gain more than a quarter of a core by
 * it (the 25 % under which S2 calls two CPUs balanced). */
#define RING_TOLERANCE 250u

/* Scratch marks of the search for rings. */
enum { UNSEEN, ON_PATH, DEAD_END };

enum hn_node_class hn_stand_classify(const struct hn_stand *st) {
        uint64_t capacity = (uint64_t) st->weight * 1024, util = (uint64_t) st->busy * 1024 / 1000;

        /* Runnable time is not known for tasks that are not ours: their utilisation stands for it. */
        return hn_node_classify(st->nr, st->weight, capacity, util, util, HN_IMBALANCE_PCT);
}

/* Threads that share memory are nowhere local unless they are in one place, and they come from several nodes,
 * so counts of two nodes say nothing. They may go where there are cores for all of them: cores and
 * not CPUs, as S0's collapse began where the cores ended. */
static bool has_cores_for(const struct hn_shift *s, const struct hn_stand *dst) {
        return dst->nr + s->n_tasks <= dst->weight;
}

static bool gate(const struct hn_shift *s, const struct hn_stand *nodes) {
        const struct hn_stand *dst = &nodes[s->to], *src;

        if (s->from == HN_NODE_NONE)
                return hn_stand_classify(dst) == HN_CLASS_HAS_SPARE;
        src = &nodes[s->from];
        if (s->together && has_cores_for(s, dst))
                return true;
        if (hn_stand_classify(dst) == HN_CLASS_HAS_SPARE) {
                /* hn_may_move() for several tasks that go together. */
                int64_t after = (int64_t) dst->nr + s->n_tasks, left = (int64_t) src->nr - s->n_tasks;

                return hn_adjust_imbalance(HN_MAX(after - left, INT64_C(0)), (uint32_t) after, dst->imb_nr) ==
                       0;
        }
        return !hn_load_too_imbalanced(src->busy, dst->busy, s->demand, src->weight, dst->weight);
}

static void carry_out(struct hn_shift *s, struct hn_stand *nodes) {
        s->admitted = true;
        nodes[s->to].nr += s->n_tasks;
        nodes[s->to].busy += s->demand;
        if (s->from == HN_NODE_NONE)
                return;
        nodes[s->from].nr -= HN_MIN(s->n_tasks, nodes[s->from].nr);
        nodes[s->from].busy -= HN_MIN(s->demand, nodes[s->from].busy);
}

static bool is_pending(const struct hn_shift *s) {
        return !s->admitted && !s->dropped && s->from != HN_NODE_NONE;
}

/* Wishes are looked up by their two ends, so that a search costs the square of the nodes and not the number
 * of tasks. */
struct search {
        struct hn_shift *shifts;
        size_t n_nodes;
        size_t *first; /* [from * n_nodes + to]: the best pending wish, linked by `next` */
        size_t *via;   /* the wish by which a node on the path is left */
        uint8_t *seen;
};

/* The best pending wish to leave `node` for one that is no dead end. */
static size_t way_out(const struct search *f, hn_node_index node) {
        size_t best = NO_SHIFT;

        for (size_t to = 0; to < f->n_nodes; to++) {
                size_t *first = &f->first[node * f->n_nodes + to];

                while (*first != NO_SHIFT && !is_pending(&f->shifts[*first]))
                        *first = f->shifts[*first].next;
                if (f->seen[to] != DEAD_END)
                        best = HN_MIN(best, *first);
        }
        return best;
}

/* Follows pending wishes from `node`. Returns the node where the path bit its own tail, or HN_NODE_NONE. Each
 * node is entered once, so the depth is bounded by their number. */
static hn_node_index find_ring(const struct search *f, hn_node_index node) {
        f->seen[node] = ON_PATH;
        for (;;) {
                size_t wish = way_out(f, node);
                hn_node_index to, tail;

                if (wish == NO_SHIFT)
                        break;
                f->via[node] = wish;
                to = f->shifts[wish].to;
                if (f->seen[to] == ON_PATH)
                        return to;
                tail = find_ring(f, to);
                if (tail != HN_NODE_NONE)
                        return tail;
        }
        f->seen[node] = DEAD_END;
        return HN_NODE_NONE;
}

/* Whether a node may take `in` for `out`: it has no more to do than before, or as much as it has cores for.
 */
static bool fits(const struct hn_shift *in, const struct hn_shift *out, const struct hn_stand *node) {
        return in->n_tasks == out->n_tasks &&
               (in->demand <= out->demand + RING_TOLERANCE ||
                (uint64_t) node->busy + in->demand <= (uint64_t) node->weight * 1000 + out->demand);
}

/* Admits the ring that runs through `start` if every node can take its part in it; else takes the wish that
 * is hardest to match out of the search: of most tasks, then of least gain. Returns the number admitted. */
static size_t turn_ring(struct hn_shift *shifts, struct hn_stand *nodes, hn_node_index start,
                        const size_t *via) {
        size_t hardest = via[start], n = 0;
        bool all_fit = true;

        for (hn_node_index x = start;;) {
                const struct hn_shift *in = &shifts[via[x]], *out = &shifts[via[in->to]];

                all_fit = all_fit && fits(in, out, &nodes[in->to]);
                if (in->n_tasks > shifts[hardest].n_tasks)
                        hardest = via[x];
                else if (in->n_tasks == shifts[hardest].n_tasks)
                        hardest = HN_MAX(hardest, via[x]);
                x = in->to;
                if (x == start)
                        break;
        }
        if (!all_fit) {
                shifts[hardest].dropped = true;
                return 0;
        }
        for (hn_node_index x = start;;) {
                struct hn_shift *s = &shifts[via[x]];

                carry_out(s, nodes);
                n++;
                x = s->to;
                if (x == start)
                        return n;
        }
}

/* Turns rings until there are none. Returns the number admitted. */
static size_t turn_rings(const struct search *f, struct hn_stand *nodes) {
        size_t n = 0;

        memset(f->seen, UNSEEN, f->n_nodes);
        for (hn_node_index x = 0; x < f->n_nodes;) {
                hn_node_index start = f->seen[x] == UNSEEN ? find_ring(f, x) : HN_NODE_NONE;

                if (start == HN_NODE_NONE) {
                        x++;
                        continue;
                }
                /* Turned or not, a wish has left the search, so that this ends. What was a dead end is one
                 * still. */
                n += turn_ring(f->shifts, nodes, start, f->via);
                for (size_t i = 0; i < f->n_nodes; i++)
                        if (f->seen[i] == ON_PATH)
                                f->seen[i] = UNSEEN;
        }
        return n;
}

size_t hn_admit(struct hn_shift *shifts, size_t n, struct hn_stand *nodes, size_t n_nodes, size_t *first,
                size_t *via, uint8_t *seen) {
        const struct search f = {
                .shifts = shifts, .n_nodes = n_nodes, .first = first, .via = via, .seen = seen
        };
        size_t n_admitted = 0, before;

        for (size_t i = 0; i < n_nodes * n_nodes; i++)
                first[i] = NO_SHIFT;
        for (size_t i = n; i-- > 0;) {
                struct hn_shift *s = &shifts[i];

                assert(s->to < n_nodes && s->to != s->from);
                s->admitted = s->dropped = false;
                s->next = NO_SHIFT;
                if (s->from == HN_NODE_NONE)
                        continue;
                s->next = first[s->from * n_nodes + s->to];
                first[s->from * n_nodes + s->to] = i;
        }

        do {
                before = n_admitted;

                /* One by one, as long as one move makes room for another. */
                for (size_t i = 0; i < n; i++)
                        if (!shifts[i].admitted && gate(&shifts[i], nodes)) {
                                carry_out(&shifts[i], nodes);
                                n_admitted++;
                        }
                if (n_admitted == before)
                        n_admitted += turn_rings(&f, nodes);
        } while (n_admitted > before);
        return n_admitted;
}
