/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/balance.h"
#include "policy/topology.h"

/* Which of the wished moves may happen: each alone by the gates of heuristics H2 (S0, task_numa_find_cpu()),
 * and those that no gate lets through one by one as swaps and rings, which leave every node with as many
 * tasks as it had. On a full machine there is no other way: every single first step would be refused. */

struct hn_shift {
        hn_node_index from; /* HN_NODE_NONE where it is not known */
        hn_node_index to;
        uint32_t n_tasks; /* runnable tasks that move together */
        uint32_t demand;  /* of all of them, thousandths of a CPU */
        uint64_t worth;   /* what it brings: the caller sorts by it, hn_admit() keeps the order */
        size_t tag;       /* the caller's */
        bool together;    /* shares its memory with others: alone it is nowhere local */

        bool admitted; /* out */
        bool dropped;  /* scratch, as is `next` */
        size_t next;
};

struct hn_stand {
        uint32_t nr;     /* runnable tasks now */
        uint32_t weight; /* cores */
        uint32_t busy;   /* thousandths of a CPU in use */
        uint32_t imb_nr; /* task imbalance the CPU balancer tolerates, hn_imb_numa_nr() */
};

/* How many tasks a demand of so many thousandths of a CPU is: half a task counts as one. */
static inline uint32_t hn_stand_tasks(uint32_t demand) {
        return (demand + 500) / 1000;
}

enum hn_node_class hn_stand_classify(const struct hn_stand *st);

/* Goes through the shifts in their order (most gain first), admits, and keeps `nodes` up to date with what it
 * admitted. `first` is scratch of n_nodes * n_nodes, `via` and `seen` are scratch of n_nodes. Returns the
 * number admitted. */
size_t hn_admit(struct hn_shift *shifts, size_t n, struct hn_stand *nodes, size_t n_nodes, size_t *first,
                size_t *via, uint8_t *seen);
