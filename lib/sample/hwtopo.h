/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <hwloc.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macro.h"
#include "base/mask.h"
#include "policy/topology.h"
#include "sample/sysroot.h"

/* The questions homenode has to hwloc, by kernel ids: which CPUs share a core, a cache, a package; which
 * devices are where; and, for machines that are described instead of read, all the rest. Nothing outside
 * lib/sample sees a type of hwloc. */

static inline hwloc_topology_t hn_hwtopo_free(hwloc_topology_t t) {
        if (t)
                hwloc_topology_destroy(t);
        return NULL;
}

HN_DEFINE_CLEANUP(hwloc_topology_t, hn_hwtopo_free);

/* Loads the machine at `root`; or, with `source`, what hwloc's XML in that file (a name with a slash or that
 * ends in ".xml") or that synthetic description ("package:2 numa:2 core:4 pu:2") says. Never changes a CPU
 * binding, never runs code on other CPUs, prints nothing. hwloc takes the root of a capture from the
 * environment, which changes for as long as the call lasts: not to be called beside threads that use the
 * environment.
 * Returns 0, -ENOMEM, -EINVAL for a bad description, -ENOENT or what reading it answered; the caller frees
 * `*ret`. */
int hn_hwtopo_load(const struct hn_sysroot *root, const char *source, hwloc_topology_t *ret);

/* All questions below may be asked of NULL, a machine hwloc could make nothing of: it answers that it does
 * not know. */

/* CPUs that are online, and those that could be (as far as hwloc knows them). */
struct hn_mask hn_hwtopo_online(hwloc_topology_t t);
struct hn_mask hn_hwtopo_possible(hwloc_topology_t t);

/* A core and a last-level cache are named by their lowest CPU; `cpu` itself where the machine does not
 * say. */
unsigned hn_hwtopo_core(hwloc_topology_t t, unsigned cpu);
unsigned hn_hwtopo_llc(hwloc_topology_t t, unsigned cpu);

/* Index of the package a CPU lies in, 0 where the machine does not say. */
unsigned hn_hwtopo_package(hwloc_topology_t t, unsigned cpu);

/* nodes, by kernel id; what hwloc leaves out (memory of GPUs, nodes of a lying firmware) it does not know
 * here */
struct hn_mask hn_hwtopo_node_ids(hwloc_topology_t t);
struct hn_mask hn_hwtopo_node_cpus(hwloc_topology_t t, unsigned id);
uint64_t hn_hwtopo_node_memory(hwloc_topology_t t, unsigned id);
unsigned hn_hwtopo_node_package(hwloc_topology_t t, unsigned id);

/* Whether hwloc takes the node's memory for one that is faster than DRAM. */
bool hn_hwtopo_node_is_fast(hwloc_topology_t t, unsigned id);

/* Fills the matrix of all nodes of `topo` (n_nodes x n_nodes). Returns false where there is no complete
 * one. */
bool hn_hwtopo_distances(hwloc_topology_t t, const struct hn_topology *topo, unsigned *matrix);

/* Devices (network, block, GPU, ..., and PCI devices that no driver has given another name), in the order of
 * their place in the machine. A device that is near the CPUs of one node of `topo` belongs to it.
 * Returns 0 or -ENOMEM; the caller frees `*ret`. */
int hn_hwtopo_devices(hwloc_topology_t t, const struct hn_topology *topo, struct hn_device **ret,
                      size_t *ret_n);
