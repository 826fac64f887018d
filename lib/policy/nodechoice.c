/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "policy/nodechoice.h"

/* As many sets of one size are looked at: all there are of up to 18 nodes, pairs of up to 361. */
#define SETS_MAX UINT64_C(64980)

/* What a set is judged by. */
struct merits {
        size_t without_cpus;
        uint64_t from_device, apart;       /* sums of distances */
        __int128 left_scarcer, left_other; /* of CPUs and memory; thousandths of all it has */
};

/* A set of candidates, ascending where it is judged. */
struct set {
        size_t *members, n;
        struct merits merits;
};

static void set_free(struct set *s) {
        free(s->members);
}

/* Members from the i-th on: `first` and those that follow it. */
static void set_fill(struct set *s, size_t i, size_t first) {
        for (; i < s->n; i++)
                s->members[i] = first++;
}

static bool suffices(const struct hn_choice_terms *t, const struct set *s) {
        uint64_t cpus = 0, memory = 0;
        bool has_cpus = false, has_memory = !t->memory_exists;

        for (size_t i = 0; i < s->n; i++) {
                const struct hn_candidate *c = &t->candidates[s->members[i]];

                /* Sums that do not fit are more than anybody asks for. */
                if (__builtin_add_overflow(cpus, c->cpus, &cpus))
                        cpus = UINT64_MAX;
                if (__builtin_add_overflow(memory, c->memory, &memory))
                        memory = UINT64_MAX;
                has_cpus = has_cpus || c->has_cpus;
                has_memory = has_memory || c->has_memory;
        }
        return has_cpus && has_memory && cpus >= t->wish.cpus && memory >= t->wish.memory;
}

/* Of nothing nothing is left. And nothing overflows: even the largest machine has 2^10 nodes of 2^64 at most.
 */
static __int128 part_left(__int128 left, uint64_t wish, __int128 all) {
        return all != 0 ? (left - wish) * 1000 / all : 0;
}

static void judge(const struct hn_choice_terms *t, struct set *s) {
        __int128 left_cpus = 0, left_memory = 0, all_cpus = 0, all_memory = 0;
        __int128 cpus, memory;

        s->merits = (struct merits){};
        for (size_t i = 0; i < s->n; i++) {
                const struct hn_candidate *c = &t->candidates[s->members[i]];

                left_cpus += c->left_cpus;
                left_memory += c->left_memory;
                all_cpus += c->all_cpus;
                all_memory += c->all_memory;
                s->merits.without_cpus += !c->has_cpus;
                if (t->near != HN_NODE_NONE)
                        s->merits.from_device += hn_topology_distance(t->topo, c->node, t->near);
                for (size_t k = 0; k < s->n; k++)
                        if (k != i)
                                s->merits.apart += hn_topology_distance(t->topo, c->node,
                                                                        t->candidates[s->members[k]].node);
        }
        cpus = part_left(left_cpus, t->wish.cpus, all_cpus);
        memory = t->memory_exists ? part_left(left_memory, t->wish.memory, all_memory) : cpus;
        s->merits.left_scarcer = HN_MIN(cpus, memory);
        s->merits.left_other = HN_MAX(cpus, memory);
}

/* -1 if `a` is better, 1 if `b` is, 0 if they are the same set. */
static int compare(const struct set *a, const struct set *b) {
        int r = HN_CMP(a->n, b->n);

        if (r == 0)
                r = HN_CMP(a->merits.without_cpus, b->merits.without_cpus);
        if (r == 0)
                r = HN_CMP(a->merits.from_device, b->merits.from_device);
        if (r == 0)
                r = HN_CMP(a->merits.apart, b->merits.apart);
        if (r == 0)
                r = HN_CMP(b->merits.left_scarcer, a->merits.left_scarcer);
        if (r == 0)
                r = HN_CMP(b->merits.left_other, a->merits.left_other);
        for (size_t i = 0; r == 0 && i < a->n; i++)
                r = HN_CMP(a->members[i], b->members[i]);
        return r;
}

/* Keeps `s` in `best` (0 members: nothing yet) if it suffices and is better. */
static void consider(const struct hn_choice_terms *t, struct set *s, struct set *best) {
        size_t *storage = best->members;

        if (!suffices(t, s))
                return;
        judge(t, s);
        if (best->n > 0 && compare(s, best) != -1)
                return;
        memcpy(storage, s->members, s->n * sizeof(*storage));
        *best = *s;
        best->members = storage;
}

/* Whether all sets of k can be looked at. */
static bool are_few(size_t n, size_t k) {
        uint64_t sets = 1;

        /* What is multiplied stays below 2^16 * 2^16, and each quotient is whole. */
        for (size_t i = 0; i < k; i++) {
                sets = sets * (n - i) / (i + 1);
                if (sets > SETS_MAX)
                        return false;
        }
        return true;
}

/* The next set of the same size in ascending order. Returns false behind the last. */
static bool next_set(struct set *s, size_t n) {
        for (size_t i = s->n; i-- > 0;)
                if (s->members[i] < n - (s->n - i)) {
                        set_fill(s, i, s->members[i] + 1);
                        return true;
                }
        return false;
}

static void look_at_all(const struct hn_choice_terms *t, size_t size, struct set *s, struct set *best) {
        s->n = size;
        set_fill(s, 0, 0);
        do
                consider(t, s, best);
        while (next_set(s, t->n));
}

static unsigned there_and_back(const struct hn_topology *topo, hn_node_index a, hn_node_index b) {
        return hn_topology_distance(topo, a, b) + hn_topology_distance(topo, b, a);
}

/* Whether `a` is nearer to the center than `b` or, as near, brings more memory or else more CPUs. */
static bool is_nearer(const struct hn_choice_terms *t, hn_node_index center, size_t a, size_t b) {
        const struct hn_candidate *x = &t->candidates[a], *y = &t->candidates[b];
        int r = HN_CMP(there_and_back(t->topo, center, x->node), there_and_back(t->topo, center, y->node));

        if (r == 0)
                r = HN_CMP(y->memory, x->memory);
        if (r == 0)
                r = HN_CMP(y->cpus, x->cpus);
        return r == -1;
}

/* The nearest candidate that is not in the set; among equals the first. t->n where there is none. */
static size_t nearest_outside(const struct hn_choice_terms *t, const bool *inside, hn_node_index center) {
        size_t best = t->n;

        for (size_t i = 0; i < t->n; i++)
                if (!inside[i] && (best == t->n || is_nearer(t, center, i, best)))
                        best = i;
        return best;
}

static int compare_members(const void *a, const void *b) {
        return HN_CMP(*(const size_t *) a, *(const size_t *) b);
}

/* Takes out whoever is not needed, those that came last first. */
static void prune(const struct hn_choice_terms *t, struct set *s) {
        for (size_t i = s->n; i-- > 0;) {
                size_t out = s->members[i];

                /* The last one, which has been looked at, takes the place. */
                s->members[i] = s->members[--s->n];
                if (!suffices(t, s))
                        s->members[s->n++] = out;
        }
}

/* All candidates together suffice, so that none of these sets grows beyond them. */
static void grow_around_each(const struct hn_choice_terms *t, bool *inside, struct set *s, struct set *best) {
        for (size_t center = 0; center < t->n; center++) {
                memset(inside, 0, t->n * sizeof(*inside));
                s->n = 0;
                for (size_t next = center; !suffices(t, s);
                     next = nearest_outside(t, inside, t->candidates[center].node)) {
                        inside[next] = true;
                        s->members[s->n++] = next;
                }
                prune(t, s);
                qsort(s->members, s->n, sizeof(*s->members), compare_members);
                consider(t, s, best);
        }
}

int hn_choice(const struct hn_choice_terms *terms, bool *chosen) {
        _hn_cleanup_(hn_freep) bool *inside = calloc(terms->n, sizeof(*inside));
        _hn_cleanup_(set_free) struct set s = { .members = calloc(terms->n, sizeof(size_t)) };
        _hn_cleanup_(set_free) struct set best = { .members = calloc(terms->n, sizeof(size_t)) };

        if (terms->n == 0)
                return 0;
        if (!inside || !s.members || !best.members)
                return -ENOMEM;
        s.n = terms->n;
        set_fill(&s, 0, 0);
        if (!suffices(terms, &s))
                return 0;
        for (size_t size = 1; best.n == 0; size++) {
                if (are_few(terms->n, size))
                        look_at_all(terms, size, &s, &best);
                else
                        grow_around_each(terms, inside, &s, &best);
        }
        for (size_t i = 0; i < best.n; i++)
                chosen[best.members[i]] = true;
        return 1;
}
