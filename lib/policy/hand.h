/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base/mask.h"
#include "policy/topology.h"

/* The mask that an order by hand comes to: the CPUs of the nodes (by id) that are neither isolated nor
 * nohz_full, of those the ones in `cpus` (empty: all), and of those what the cpuset allows. Empty: there is
 * nothing to choose from. Nodes that are not there have no CPUs. */
struct hn_mask hn_hand_mask(const struct hn_topology *topo, const struct hn_mask *nodes,
                            const struct hn_mask *cpus, const struct hn_mask *cpuset);
