/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "policy/topology.h"
#include "sample/machineload.h"
#include "sample/sysroot.h"

/* The machine as it is, a capture of one, or one that is only described, behind one struct. */

/* Reads the machine below `root`. With `source` the root is not looked at: the machine is the one in that
 * hwloc XML file (a name with a slash, or that ends in ".xml"), or the one of that synthetic description
 * ("package:2 numa:2 core:4 pu:2").
 *
 * Nodes, CPUs and distances of a root are the kernel's own words; hwloc adds cores, caches, packages and
 * devices. Odd machines are read as they are: without node folders there is one node with all CPUs and all
 * memory; a CPU that several nodes claim stays with the lowest id; distances that make no sense are unknown;
 * files that are missing or hold nonsense say nothing. hn_topology_is_numa() tells whether there is anything
 * to place.
 *
 * Returns 0; -ENOMEM; -ENODEV for a root with no CPU in it; or what a bad description answered (-EINVAL,
 * -ENOENT, -EACCES, ...). The caller deinits `*ret`. Beware of threads and the environment: see
 * hn_hwtopo_load(). */
int hn_machine_read(const struct hn_sysroot *root, const char *source, struct hn_topology *ret);

/* Whether nodes, online or isolated CPUs differ from what was read: three small files, for every few sweeps.
 * True asks for a new hn_machine_read(); indices of nodes and all that was kept by index are void then. */
bool hn_machine_changed(const struct hn_sysroot *root, const struct hn_topology *topo);
