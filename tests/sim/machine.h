/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "policy/topology.h"

/* The machines to simulate, as figures from which latencies, bandwidths and the topology shown to a policy
 * are made. The CPUs of a node are numbered in a row, the siblings of a core next to each other. */

#define HN_SIM_NODES 8u
#define HN_SIM_CPUS  256u

struct hn_sim_machine {
        const char *name;
        unsigned n_nodes;
        unsigned n_cores; /* of a node */
        unsigned n_ways;  /* CPUs of a core, 1 or 2 */
        double yield;     /* what two busy siblings do together, where one alone does 1 */
        unsigned n_board; /* nodes of a board; those of other boards are far */
        double local_ns, near_ns, far_ns;
        double node_gbs;   /* of a node's memory */
        double near_gbs;   /* of the link between two nodes of a board, each way */
        double bridge_gbs; /* of the way from one board to the next, for all its nodes together */
        double node_mib;
        double page_us;               /* to move a page of 4 KiB */
        unsigned slit_near, slit_far; /* what the firmware says, which need not be true */
};

extern const struct hn_sim_machine hn_sim_2x6, hn_sim_8x8, hn_sim_4x2, hn_sim_4x4, hn_sim_4x4_small,
        hn_sim_8x8_liar, hn_sim_2x12x2, hn_sim_2x28;

unsigned hn_sim_machine_node_cpus(const struct hn_sim_machine *m);

unsigned hn_sim_machine_board(const struct hn_sim_machine *m, unsigned node);

/* Of one access by a CPU of `from` to memory of `to`, with nobody else about. Nanoseconds. */
double hn_sim_machine_idle_ns(const struct hn_sim_machine *m, unsigned from, unsigned to);

/* What homenode is told of the machine. Returns 0 or -ENOMEM. */
int hn_sim_machine_topology(const struct hn_sim_machine *m, struct hn_topology *ret);
