/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macro.h"
#include "base/usec.h"
#include "policy/balance.h"
#include "policy/faults.h"
#include "policy/model.h"
#include "policy/reason.h"
#include "policy/snapshot.h"
#include "policy/topology.h"

/* A plan is data: one decision a task, with its reason and the numbers it was made from, and the order in
 * which those that act are to be carried out. Same model, same snapshot, same limits: same plan. */

/* In the order to carry them out: the ledger first, then what makes room. */
enum hn_act {
        HN_ACT_NONE,    /* wait, or leave alone */
        HN_ACT_FORGET,  /* our mask is gone from it: take it off the ledger */
        HN_ACT_ADOPT,   /* it was born with a mask of ours: put it on the ledger */
        HN_ACT_RELEASE, /* give it back the mask it had */
        HN_ACT_PIN,     /* give it the mask `want`: node `to` */
        HN_ACT_PAGES,   /* move the pages of its process to node `to` */
        _HN_ACT_MAX,
};

const char *hn_act_to_string(enum hn_act a);

struct hn_decision {
        size_t task; /* index of the task in snapshot and model */
        enum hn_act act;
        enum hn_reason reason;
        hn_node_index from; /* where it runs, or is held; HN_NODE_NONE if unknown */
        hn_node_index to;   /* where it is to run; `from` for no change */
        hn_node_index home; /* where most of its faults or pages are */
        hn_node_index
                source; /* for PAGES: take them from this node alone; HN_NODE_NONE: from wherever they are */
        enum hn_signal signal; /* what that is known from */
        uint32_t share_from;   /* thousandths of its faults or pages on `from` */
        uint32_t share_to;     /* and on `to` */
        uint32_t share_before; /* and on the node from which it was moved to `from`, at that time */
        uint32_t demand;       /* thousandths of a CPU it uses or waits for */
        uint64_t benefit;      /* gain in share times demand: the order of acts */
        uint32_t used;         /* thousandths of a core given away on `to`, with this one */
        uint32_t capacity;     /* that `to` has for opted-in work, thousandths of a core */
        enum hn_node_class to_class;
        hn_mask_id want;            /* for PIN */
        bool by_hand;               /* of an override, or of its end: to be done whatever the mode */
        const struct hn_hand *hand; /* the override that holds it, or NULL */
};

/* Whether the act is to bring the task nearer to its memory at once, so that it can be seen later if it did.
 * A thread that goes where there is room for it, and its memory after it, is not to be judged by that. */
bool hn_decision_promises(const struct hn_decision *d);

struct hn_limits {
        uint64_t min_runtime_ns; /* younger tasks are left alone */
        hn_usec_t min_age;       /* and those that have not lived for so long, as far as that is known */
        uint64_t min_faults;     /* decayed faults below which they tell nothing */
        uint32_t
                hold_share; /* thousandths of fewer faults from which a task may be held where it runs, if the
                               kernel too prefers that node: less is to be known for that than for a move */
        uint32_t min_demand;   /* thousandths of a CPU below which a task counts as idle */
        uint32_t max_children; /* thousandths of a CPU of short-lived children, from which their parent is not
                                  to be held: they would be born on its node, all of them */
        uint32_t min_gain;     /* thousandths of the signal, after the discount for distance: SMALLIMP */
        uint32_t incumbent_bonus; /* thousandths by which a better node must beat the one we placed it on */
        uint32_t
                pages_share; /* thousandths on the task's node from which its pages are left where they are */
        hn_usec_t payback;   /* pages that take longer than this to be worth their move are left */
        hn_usec_t pages_pause;  /* between two page moves of one process */
        hn_usec_t settle_pause; /* for which a thread held before anything was known of its memory keeps its
                                   place */
};

#define HN_LIMITS_DEFAULT                               \
        ((struct hn_limits){                            \
                .min_runtime_ns = UINT64_C(1000000000), \
                .min_age = 2 * HN_USEC_PER_SEC,         \
                .min_faults = HN_FAULTS_MIN,            \
                .hold_share = 500,                      \
                .min_demand = 50,                       \
                .max_children = 500,                    \
                .min_gain = 30,                         \
                .incumbent_bonus = 125,                 \
                .pages_share = 900,                     \
                .payback = 600 * HN_USEC_PER_SEC,       \
                .pages_pause = 30 * HN_USEC_PER_SEC,    \
                .settle_pause = 30 * HN_USEC_PER_SEC,   \
        })

/* The part of a node's memory that stays free where pages are moved to it: below that the kernel itself
 * begins to reclaim. */
#define HN_FLOOR_DIVISOR 20

/* How a node stood when the plan was made, counted with the plan carried out. */
struct hn_plan_node {
        enum hn_node_class class;
        uint32_t busy;   /* thousandths of a core in use by all */
        uint32_t others; /* of which by work that is not to be placed */
        uint32_t
                drifting; /* of which by opted-in tasks of which nothing is known yet: free to go elsewhere */
        uint32_t capacity; /* thousandths of a core for work to be placed */
        uint32_t nr;       /* runnable tasks */
};

struct hn_plan;

int hn_plan_new(const struct hn_topology *topo, struct hn_plan **ret);
struct hn_plan *hn_plan_free(struct hn_plan *p);
HN_DEFINE_CLEANUP(struct hn_plan *, hn_plan_free);

/* Decides about every task of the snapshot, which `model` has just been fed. Returns 0 or -ENOMEM. */
int hn_plan_build(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s,
                  const struct hn_limits *limits);

/* The decision about task i of the snapshot. */
const struct hn_decision *hn_plan_decision(const struct hn_plan *p, size_t i);

/* Decisions that act, in the order to carry them out: what the ledger must hear of, releases, then most gain
 * first. */
size_t hn_plan_n_acts(const struct hn_plan *p);
const struct hn_decision *hn_plan_act(const struct hn_plan *p, size_t k);

const struct hn_plan_node *hn_plan_node(const struct hn_plan *p, hn_node_index node);
