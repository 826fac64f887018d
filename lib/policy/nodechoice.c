/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "policy/nodechoice.h"

/* As many sets of one size are looked at: all there are of up to 18 nodes, pairs of up to 361. */
#define SETS_MAX UINT64_C(65536)

/* A set of candidates, ascending, and what it is judged by. */
struct set {
        size_t *members, n;
        size_t without_cpus;
        uint64_t from_device, apart; /* sums of distances */
        int64_t left[2];             /* thousandths of all it has, the scarcer of CPUs and memory first */
};

static void set_free(struct set *s) {
        free(s->members);
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

/* Nobody has to tell one hopeless set from another. */
#define PART_MIN (INT64_MIN / 2)

static int64_t part_left(__int128 left, uint64_t wish, __int128 all) {
        __int128 part = all > 0 ? (left - wish) * 1000 / all : 0;

        return part < PART_MIN ? PART_MIN : (int64_t) part;
}

static void judge(const struct hn_choice_terms *t, struct set *s) {
        __int128 left_cpus = 0, left_memory = 0, all_cpus = 0, all_memory = 0;
        int64_t cpus, memory;

        s->without_cpus = 0;
        s->from_device = s->apart = 0;
        for (size_t i = 0; i < s->n; i++) {
                const struct hn_candidate *c = &t->candidates[s->members[i]];

                left_cpus += c->left_cpus;
                left_memory += c->left_memory;
                all_cpus += c->all_cpus;
                all_memory += c->all_memory;
                s->without_cpus += !c->has_cpus;
                if (t->near != HN_NODE_NONE)
                        s->from_device += hn_topology_distance(t->topo, c->node, t->near);
                for (size_t k = 0; k < s->n; k++)
                        if (k != i)
                                s->apart += hn_topology_distance(t->topo, c->node,
                                                                 t->candidates[s->members[k]].node);
        }
        cpus = part_left(left_cpus, t->wish.cpus, all_cpus);
        memory = all_memory > 0 ? part_left(left_memory, t->wish.memory, all_memory) : cpus;
        s->left[0] = HN_MIN(cpus, memory);
        s->left[1] = HN_MAX(cpus, memory);
}

/* Less than 0 if `a` is better. */
static int compare(const struct set *a, const struct set *b) {
        int r = HN_CMP(a->n, b->n);

        if (r == 0)
                r = HN_CMP(a->without_cpus, b->without_cpus);
        if (r == 0)
                r = HN_CMP(a->from_device, b->from_device);
        if (r == 0)
                r = HN_CMP(a->apart, b->apart);
        for (size_t i = 0; r == 0 && i < HN_ELEMENTS(a->left); i++)
                r = HN_CMP(b->left[i], a->left[i]);
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
        if (best->n > 0 && compare(s, best) >= 0)
                return;
        memcpy(storage, s->members, s->n * sizeof(*storage));
        *best = *s;
        best->members = storage;
}

/* How many sets of k there are, or more than SETS_MAX. */
static uint64_t count_sets(size_t n, size_t k) {
        uint64_t sets = 1;

        /* What is multiplied stays below 2^32 * 2^16, and each quotient is whole. */
        for (size_t i = 0; i < k && sets <= SETS_MAX; i++)
                sets = sets * (n - i) / (i + 1);
        return sets;
}

/* The next set of the same size in ascending order. Returns false behind the last. */
static bool next_set(struct set *s, size_t n) {
        for (size_t i = s->n; i-- > 0;)
                if (s->members[i] < n - (s->n - i)) {
                        s->members[i]++;
                        for (size_t k = i + 1; k < s->n; k++)
                                s->members[k] = s->members[k - 1] + 1;
                        return true;
                }
        return false;
}

static void look_at_all(const struct hn_choice_terms *t, size_t size, struct set *s, struct set *best) {
        s->n = size;
        for (size_t i = 0; i < size; i++)
                s->members[i] = i;
        do
                consider(t, s, best);
        while (next_set(s, t->n));
}

/* The nearest candidate that is not in the set; among equals, whoever brings more memory, then more CPUs. */
static size_t nearest_outside(const struct hn_choice_terms *t, const bool *inside, hn_node_index center) {
        size_t best = t->n;
        unsigned best_far = 0;

        for (size_t i = 0; i < t->n; i++) {
                const struct hn_candidate *c = &t->candidates[i], *b = &t->candidates[HN_MIN(best, t->n - 1)];
                unsigned far = hn_topology_distance(t->topo, center, c->node) +
                               hn_topology_distance(t->topo, c->node, center);
                int r;

                if (inside[i])
                        continue;
                r = best == t->n ? -1 : HN_CMP(far, best_far);
                if (r == 0)
                        r = HN_CMP(b->memory, c->memory);
                if (r == 0)
                        r = HN_CMP(b->cpus, c->cpus);
                if (r < 0) {
                        best = i;
                        best_far = far;
                }
        }
        return best;
}

static int compare_members(const void *a, const void *b) {
        return HN_CMP(*(const size_t *) a, *(const size_t *) b);
}

/* Takes out whoever is not needed, those that came last first. */
static void prune(const struct hn_choice_terms *t, struct set *s) {
        for (size_t i = s->n; i-- > 0 && s->n > 1;) {
                size_t out = s->members[i];

                memmove(s->members + i, s->members + i + 1, (s->n - i - 1) * sizeof(*s->members));
                s->n--;
                if (suffices(t, s))
                        continue;
                memmove(s->members + i + 1, s->members + i, (s->n - i) * sizeof(*s->members));
                s->members[i] = out;
                s->n++;
        }
}

static int grow_around_each(const struct hn_choice_terms *t, struct set *s, struct set *best) {
        _hn_cleanup_(hn_freep) bool *inside = calloc(t->n + 1, sizeof(*inside));

        if (!inside)
                return -ENOMEM;
        for (size_t center = 0; center < t->n; center++) {
                memset(inside, 0, t->n * sizeof(*inside));
                s->n = 0;
                for (size_t next = center; next < t->n;
                     next = suffices(t, s) ? t->n : nearest_outside(t, inside, t->candidates[center].node)) {
                        inside[next] = true;
                        s->members[s->n++] = next;
                }
                if (suffices(t, s))
                        prune(t, s);
                qsort(s->members, s->n, sizeof(*s->members), compare_members);
                consider(t, s, best);
        }
        return 0;
}

int hn_choice(const struct hn_choice_terms *terms, bool *chosen) {
        _hn_cleanup_(set_free) struct set s = { .members = calloc(terms->n + 1, sizeof(size_t)) };
        _hn_cleanup_(set_free) struct set best = { .members = calloc(terms->n + 1, sizeof(size_t)) };
        int r = 0;

        if (!s.members || !best.members)
                return -ENOMEM;
        for (s.n = 0; s.n < terms->n; s.n++)
                s.members[s.n] = s.n;
        if (!suffices(terms, &s))
                return 0;
        for (size_t size = 1; best.n == 0 && r == 0; size++) {
                if (count_sets(terms->n, size) <= SETS_MAX)
                        look_at_all(terms, size, &s, &best);
                else
                        r = grow_around_each(terms, &s, &best);
        }
        if (r < 0)
                return r;
        for (size_t i = 0; i < best.n; i++)
                chosen[best.members[i]] = true;
        return 1;
}
