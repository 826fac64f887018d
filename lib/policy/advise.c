/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "policy/advise.h"
#include "policy/nodechoice.h"

static const struct {
        const char *name, *sentence;
} verdicts[_HN_ADVISE_VERDICT_MAX] = {
        [HN_ADVISE_CHOSEN] = { "chosen", "it is on the list" },
        [HN_ADVISE_NOT_ASKED] = { "not-asked", "it is not among the nodes that were asked for" },
        [HN_ADVISE_EMPTY] = { "empty", "it has neither memory nor CPUs that may be used" },
        [HN_ADVISE_NO_CPUS] = { "no-cpus", "it has memory alone, and that of other nodes suffices" },
        [HN_ADVISE_CPUS_SHORT] = { "cpus-short", "it has no room for all of the CPUs" },
        [HN_ADVISE_MEMORY_SHORT] = { "memory-short", "it has no room for all of the memory" },
        [HN_ADVISE_BOTH_SHORT] = { "both-short", "it has room for neither all of the CPUs nor all of the memory" },
        [HN_ADVISE_FARTHER] = { "farther", "it has room, but is farther from the device" },
        [HN_ADVISE_LESS_SPARE] = { "less-spare", "it has room, but would have no more left over than the chosen" },
}, shortages[_HN_ADVISE_SHORTAGE_MAX] = {
        [HN_ADVISE_FITS] = { NULL, "it fits" },
        [HN_ADVISE_OUT_OF_CPUS] = { "cpus", "there are too few idle CPUs, so it has to share them with other work" },
        [HN_ADVISE_OUT_OF_MEMORY] = { "memory", "there is too little memory that may be given away" },
        [HN_ADVISE_OUT_OF_BOTH] = { "both", "there are too few idle CPUs and too little memory" },
};

const char *hn_advise_verdict_to_string(enum hn_advise_verdict v) {
        return (size_t) v < HN_ELEMENTS(verdicts) ? verdicts[v].name : NULL;
}

const char *hn_advise_verdict_to_sentence(enum hn_advise_verdict v) {
        return (size_t) v < HN_ELEMENTS(verdicts) ? verdicts[v].sentence : NULL;
}

const char *hn_advise_shortage_to_string(enum hn_advise_shortage s) {
        return (size_t) s < HN_ELEMENTS(shortages) ? shortages[s].name : NULL;
}

const char *hn_advise_shortage_to_sentence(enum hn_advise_shortage s) {
        return (size_t) s < HN_ELEMENTS(shortages) ? shortages[s].sentence : NULL;
}

static uint64_t sum(uint64_t a, uint64_t b) {
        return a + HN_MIN(b, UINT64_MAX - a);
}

static uint64_t difference(uint64_t a, uint64_t b) {
        return a - HN_MIN(a, b);
}

/* a - b where both may be anything. */
static int64_t balance(uint64_t a, uint64_t b) {
        __int128 left = (__int128) a - b;

        return (int64_t) HN_MAX(HN_MIN(left, INT64_MAX), INT64_MIN);
}

uint64_t hn_advise_used(const struct hn_advise_node *node) {
        return HN_MAX(node->busy, node->claimed);
}

uint64_t hn_advise_available(const struct hn_advise_node *node) {
        return sum(node->free, node->reclaimable);
}

/* Fills all but verdict and shares. `isolated`: there are no others. */
static void look_at(const struct hn_node *node, const struct hn_advise_node *figures, bool isolated,
                    struct hn_advise_view *ret) {
        uint64_t n_cpus = isolated ? hn_mask_count(&node->cpus) : node->n_cpus;
        struct hn_advise_view v = {
                .capacity = UINT64_C(1000) * n_cpus,
                .used = hn_advise_used(figures),
                .available = hn_advise_available(figures),
                .kept = node->memory / HN_ADVISE_KEPT_DIVISOR,
        };
        uint64_t in_the_way = v.used < n_cpus * HN_ADVISE_BACKGROUND ? 0 : v.used;

        v.room_cpus = difference(v.capacity, sum(in_the_way, figures->reserved_cpus));
        v.room_memory = difference(v.available, sum(v.kept, figures->reserved_memory));
        *ret = v;
}

/* What one attempt to choose goes by. */
struct attempt {
        bool share_cpus, all_memory; /* other work's CPUs are shared; no memory is kept back */
        struct hn_wish wish;
        struct hn_candidate *candidates;
        bool *chosen; /* likewise */
};

static void attempt_deinit(struct attempt *a) {
        free(a->candidates);
        free(a->chosen);
}

static struct hn_candidate candidate(const struct hn_topology *topo, const struct hn_advise_node *figures,
                                     const struct hn_advise_view *v, const struct attempt *a,
                                     hn_node_index i) {
        uint64_t promised_cpus = sum(v->used, figures->reserved_cpus);
        uint64_t promised_memory = sum(v->kept, figures->reserved_memory);

        return (struct hn_candidate){
                .node = i,
                .has_cpus = v->capacity != 0,
                .has_memory = topo->nodes[i].memory != 0,
                .cpus = a->share_cpus ? v->capacity : v->room_cpus,
                .memory = a->all_memory ? v->available : v->room_memory,
                .left_cpus = balance(v->capacity, promised_cpus),
                .left_memory = balance(v->available, promised_memory),
                .all_cpus = v->capacity,
                .all_memory = topo->nodes[i].memory,
        };
}

/* Slower memory comes in a tier at a time, where the faster did not do. */
static int choose(const struct hn_topology *topo, const struct hn_advise_node *nodes, hn_node_index near,
                  const struct hn_advise_view *views, struct attempt *a, struct hn_mask *ret) {
        struct hn_choice_terms terms = {
                .topo = topo,
                .candidates = a->candidates,
                .wish = a->wish,
                .near = near,
        };
        unsigned slowest = 0;
        int r = 0;

        for (hn_node_index i = 0; i < topo->n_nodes; i++)
                if (nodes[i].allowed) {
                        terms.memory_exists = terms.memory_exists || topo->nodes[i].memory != 0;
                        slowest = HN_MAX(slowest, topo->nodes[i].tier);
                }
        for (unsigned tier = 0; r == 0 && tier <= slowest; tier++) {
                terms.n = 0;
                for (hn_node_index i = 0; i < topo->n_nodes; i++)
                        if (nodes[i].allowed && topo->nodes[i].tier <= tier)
                                a->candidates[terms.n++] = candidate(topo, &nodes[i], &views[i], a, i);
                r = hn_choice(&terms, a->chosen);
        }
        for (size_t i = 0; i < terms.n; i++)
                if (a->chosen[i])
                        (void) hn_mask_add(ret, a->candidates[i].node);
        return r;
}

/* Deals the wish out to the chosen by what each has room for, in so far as there is room at all. */
static void deal(const struct hn_mask *chosen, const struct attempt *a, struct hn_advise_view *views) {
        uint64_t cpus = 0, memory = 0, cpus_left = a->wish.cpus, memory_left = a->wish.memory;

        for (unsigned i = hn_mask_next(chosen, 0); i != HN_MASK_NONE; i = hn_mask_next(chosen, i + 1)) {
                cpus = sum(cpus, a->share_cpus ? views[i].capacity : views[i].room_cpus);
                memory = sum(memory, a->all_memory ? views[i].available : views[i].room_memory);
        }
        for (unsigned i = hn_mask_next(chosen, 0); i != HN_MASK_NONE; i = hn_mask_next(chosen, i + 1)) {
                struct hn_advise_view *v = &views[i];
                uint64_t room_cpus = a->share_cpus ? v->capacity : v->room_cpus;
                uint64_t room_memory = a->all_memory ? v->available : v->room_memory;

                /* Rounded up, so that the last one does not get what all others left. */
                if (cpus != 0)
                        v->share_cpus = (uint64_t) (((unsigned __int128) a->wish.cpus * room_cpus + cpus -
                                                     1) /
                                                    cpus);
                if (memory != 0)
                        v->share_memory = (uint64_t) (((unsigned __int128) a->wish.memory * room_memory +
                                                       memory - 1) /
                                                      memory);
                v->share_cpus = HN_MIN(v->share_cpus, cpus_left);
                v->share_memory = HN_MIN(v->share_memory, memory_left);
                cpus_left -= v->share_cpus;
                memory_left -= v->share_memory;
        }
}

/* Whether a node is farther from the device than all that are chosen. */
static bool is_farther(const struct hn_topology *topo, const struct hn_mask *chosen, hn_node_index node,
                       hn_node_index near) {
        for (unsigned i = hn_mask_next(chosen, 0); i != HN_MASK_NONE; i = hn_mask_next(chosen, i + 1))
                if (hn_topology_distance(topo, node, near) <=
                    hn_topology_distance(topo, (hn_node_index) i, near))
                        return false;
        return true;
}

static void say_why(const struct hn_topology *topo, const struct hn_advise_node *nodes,
                    const struct hn_wish *wish, hn_node_index near, const struct hn_mask *chosen,
                    struct hn_advise_view *views) {
        for (hn_node_index i = 0; i < topo->n_nodes; i++) {
                struct hn_advise_view *v = &views[i];
                bool cpus = v->room_cpus >= wish->cpus, memory = v->room_memory >= wish->memory;

                if (hn_mask_has(chosen, i))
                        v->verdict = HN_ADVISE_CHOSEN;
                else if (!nodes[i].allowed)
                        v->verdict = HN_ADVISE_NOT_ASKED;
                else if (v->capacity == 0)
                        v->verdict = topo->nodes[i].memory != 0 ? HN_ADVISE_NO_CPUS : HN_ADVISE_EMPTY;
                else if (!cpus)
                        v->verdict = memory ? HN_ADVISE_CPUS_SHORT : HN_ADVISE_BOTH_SHORT;
                else if (!memory)
                        v->verdict = HN_ADVISE_MEMORY_SHORT;
                else if (near != HN_NODE_NONE && is_farther(topo, chosen, i, near))
                        v->verdict = HN_ADVISE_FARTHER;
                else
                        v->verdict = HN_ADVISE_LESS_SPARE;
        }
}

/* Fills the views of all nodes and adds up those that are allowed. Returns false if none of these has CPUs.
 */
static bool look_at_all(const struct hn_topology *topo, const struct hn_advise_node *nodes, bool isolated,
                        struct hn_advise_view *views, struct hn_wish *ret_room, struct hn_wish *ret_all) {
        *ret_room = *ret_all = HN_WISH_NULL;
        for (hn_node_index i = 0; i < topo->n_nodes; i++) {
                look_at(&topo->nodes[i], &nodes[i], isolated, &views[i]);
                if (!nodes[i].allowed)
                        continue;
                ret_room->cpus = sum(ret_room->cpus, views[i].room_cpus);
                ret_room->memory = sum(ret_room->memory, views[i].room_memory);
                ret_all->cpus = sum(ret_all->cpus, views[i].capacity);
                ret_all->memory = sum(ret_all->memory, views[i].available);
        }
        return ret_all->cpus != 0;
}

int hn_advise(const struct hn_topology *topo, const struct hn_advise_node *nodes, const struct hn_wish *wish,
              hn_node_index near, struct hn_advise_view *views, struct hn_advice *ret) {
        _hn_cleanup_(attempt_deinit) struct attempt a = { .wish = *wish };
        struct hn_advice advice = { .nodes = HN_MASK_NULL };
        struct hn_wish room, all;
        int r;

        if (!look_at_all(topo, nodes, /* isolated= */ false, views, &room, &all) &&
            !look_at_all(topo, nodes, /* isolated= */ true, views, &room, &all))
                return -ENODEV;
        a.candidates = calloc(topo->n_nodes, sizeof(*a.candidates));
        a.chosen = calloc(topo->n_nodes, sizeof(*a.chosen));
        if (!a.candidates || !a.chosen)
                return -ENOMEM;

        a.share_cpus = room.cpus < wish->cpus;
        a.all_memory = room.memory < wish->memory;
        if (a.share_cpus)
                a.wish.cpus = HN_MIN(wish->cpus, all.cpus);
        if (a.all_memory)
                a.wish.memory = HN_MIN(wish->memory, all.memory);
        advice.shortage = a.share_cpus && a.all_memory ? HN_ADVISE_OUT_OF_BOTH
                          : a.share_cpus               ? HN_ADVISE_OUT_OF_CPUS
                          : a.all_memory               ? HN_ADVISE_OUT_OF_MEMORY
                                                       : HN_ADVISE_FITS;

        r = choose(topo, nodes, near, views, &a, &advice.nodes);
        if (r == -ENOMEM)
                return r;
        deal(&advice.nodes, &a, views);
        say_why(topo, nodes, wish, near, &advice.nodes, views);
        *ret = advice;
        return 0;
}
