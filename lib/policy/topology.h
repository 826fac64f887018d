/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macro.h"
#include "base/mask.h"

/* The machine as a value. Nodes are addressed by their dense *index* (0 .. n_nodes-1, ascending kernel id) in
 * all of homenode; the kernel's *id*, which has holes and need not start at 0, is met only where text is read
 * or printed. A node that is not online is not here. */
typedef uint16_t hn_node_index;

#define HN_NODE_NONE      UINT16_MAX
#define HN_DISTANCE_LOCAL 10u

struct hn_node {
        unsigned id;           /* the kernel's number */
        unsigned package;      /* index of the package it lies in; 0 where the machine does not say */
        unsigned tier;         /* 0: has CPUs or is the fastest memory; 1, 2, ...: slower, CPU-less memory */
        unsigned n_cores;      /* cores with a usable CPU: what capacity is counted in */
        unsigned n_cpus;       /* usable CPUs (SMT threads) */
        unsigned n_llcs;       /* last-level caches over the usable CPUs, at least 1 where there are CPUs */
        uint64_t memory;       /* bytes; 0 for a node without memory */
        struct hn_mask cpus;   /* online CPUs */
        struct hn_mask usable; /* cpus less the isolated and nohz_full ones: where a task may be placed */
};

struct hn_device {
        hn_node_index node; /* HN_NODE_NONE where the machine does not say */
        char name[32];      /* "0000:3b:00.0", "eth0", "nvme0n1" */
        char kind[16];      /* "net", "block", "gpu", ... */
};

struct hn_topology {
        size_t n_nodes;
        struct hn_node *nodes;
        unsigned *distances;     /* n_nodes x n_nodes, row = from, as in SLIT: 10 is local */
        bool distances_known;    /* false: the machine gave none, or nonsense; all remote ones then read 20 */
        size_t n_cpu_ids;        /* highest CPU id + 1 */
        hn_node_index *cpu_node; /* by CPU id, HN_NODE_NONE for holes and offline CPUs */
        struct hn_mask possible, online, isolated, nohz_full;
        size_t n_devices;
        struct hn_device *devices;
};

#define HN_TOPOLOGY_NULL ((struct hn_topology){})

/* Frees what the topology owns and makes it empty again. */
void hn_topology_deinit(struct hn_topology *t);

/* Allocates room for `n_nodes` nodes and `n_cpu_ids` CPUs: distances local and 20, CPUs on no node.
 * Returns 0 or -ENOMEM. */
int hn_topology_init(struct hn_topology *t, size_t n_nodes, size_t n_cpu_ids);

/* The index of a kernel id, or HN_NODE_NONE for an id that is not online here. */
hn_node_index hn_topology_index(const struct hn_topology *t, unsigned id);

/* The node of a CPU, or HN_NODE_NONE for one that is offline, unknown or negative. */
hn_node_index hn_topology_node_of_cpu(const struct hn_topology *t, int cpu);

unsigned hn_topology_distance(const struct hn_topology *t, hn_node_index from, hn_node_index to);

/* Whether there is anything to place: at least two nodes with usable CPUs. */
bool hn_topology_is_numa(const struct hn_topology *t);

/* `node` itself if it has usable CPUs, else the nearest node that has (lowest id on ties), else HN_NODE_NONE.
 * What the kernel's numa_nearest_node() does for a CPU-less preferred node. */
hn_node_index hn_topology_nearest_with_cpus(const struct hn_topology *t, hn_node_index node);

/* All CPUs of the possible set that are not isolated: the mask of a task nobody restricted. */
struct hn_mask hn_topology_unrestricted(const struct hn_topology *t);
