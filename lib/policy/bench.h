/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "policy/admit.h"
#include "policy/assign.h"
#include "policy/family.h"
#include "policy/plan.h"
#include "policy/reach.h"

/* The workbench of a plan: shared by the files that build one (plan.c, unit.c), hidden from all others. */

/* A task that may be placed, under the key of the unit it belongs to. */
struct hn_member {
        enum hn_signal signal;
        uint32_t group; /* its process where threads cannot be told apart, or its family's where they share
                           memory, else itself */
        bool whole;     /* one of several in its group */
        size_t task;
        size_t reach; /* row in the reach table */
        bool fixed;   /* has a place and is not to be moved now */
        bool blind;   /* nothing is known of its memory but that not all of its process can be beside it */
        bool thin;    /* what is known is enough to hold it where it runs, but not for a move */
};

/* Threads, one unit each, that work on the same memory: they are given nodes together. */
struct hn_clan {
        size_t first, n;       /* its units */
        uint64_t demand, held; /* of all of them, and of those placed */
};

/* A unit's members: a run of `members`. */
struct hn_crew {
        size_t first, n;
        enum hn_reason verdict; /* _HN_REASON_INVALID until there is one */
        uint32_t gain;          /* thousandths of the signal, discounted for distance */
        bool wishes, admitted;  /* to be on another node than now; and may go */
        bool held;              /* may not go, and keeps its place until its memory has come */
        bool blind, thin;
        bool resting; /* has the place that it was given by all that is known */
        bool sharing; /* its nodes were chosen for all of its clan */
};

struct hn_plan {
        const struct hn_topology *topo;
        struct hn_reach reach;

        size_t n, allocated; /* tasks */
        struct hn_decision *decisions;
        struct hn_member *members;
        struct hn_unit *units, **order;
        struct hn_crew *crews; /* parallel to units, by tag */
        uint32_t *scores;      /* [unit * n_nodes + node] */
        struct hn_shift *shifts;
        const struct hn_decision **acts;
        struct hn_family *families; /* ascending tgid */
        struct hn_clan *clans;
        unsigned n_searches; /* for siblings, in this plan */
        size_t n_members, n_units, n_shifts, n_acts, n_families, n_clans;
        /* What the last task under an order was given: the next one often stands under the same. */
        uint32_t obeyed_hand, obeyed_scope;
        hn_mask_id obeyed;

        struct hn_plan_node *nodes;
        struct hn_stand *stands;
        uint32_t *capacity, *lasting, *used, *share; /* the last one is scratch */
        /* Of clans, scratch: where the memory is, what nodes are worth, what they can take of any clan, and
         * of this one. */
        uint64_t *faults, *room, *open;
        uint32_t *value;
        size_t *first, *via;
        uint8_t *seen;
};

/* Judges every task, fills in the plain facts of its decision, and gathers those that may be placed into
 * units with their scores; puts what all others use into `stands`, `nodes` and `capacity`. Returns 0 or
 * -ENOMEM. */
int hn_plan_gather(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s,
                   const struct hn_limits *limits);

/* The share of each node in what is known of a task's memory, in thousandths: puts it into `p->share`. */
void hn_plan_shares(struct hn_plan *p, const struct hn_snapshot *s, const struct hn_task_state *st);

/* What is to be said of a task wherever it goes, and what the ledger and its past ask for; `reason` is that
 * of all else. Needs its shares. */
struct hn_decision hn_plan_facts(const struct hn_plan *p, size_t i, const struct hn_task_sample *t,
                                 const struct hn_task_state *st, enum hn_reason reason);

/* Decides about a task that a hand has ordered something for, or that wears the mask of an order which does
 * not hold it any more. Needs its shares. Returns 0 or -ENOMEM. */
int hn_plan_obey(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s, size_t i,
                 const struct hn_limits *limits);

/* The score of a node for a unit, 0 where it is forbidden. */
uint32_t hn_plan_score(const struct hn_plan *p, const struct hn_unit *u, hn_node_index node);

/* A task in its place whose memory is elsewhere may have it brought, as far as that pays. One decision a
 * unit. */
void hn_plan_bring_pages(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s,
                         const struct hn_unit *u, const struct hn_limits *limits);

/* How long a node idles before it is noticed that tasks wait elsewhere. */
#define HN_RELIEF_PATIENCE (2 * HN_USEC_PER_SEC)

/* Lets go of a task that waits, with others that we hold, on one node, while another idles. */
void hn_plan_relieve(struct hn_plan *p, const struct hn_model *model, const struct hn_snapshot *s);

/* Gives each clan its nodes, as far as there is room on them for all of it, and scores its units by them. */
void hn_plan_lodge_clans(struct hn_plan *p, const struct hn_snapshot *s, const struct hn_limits *limits);
