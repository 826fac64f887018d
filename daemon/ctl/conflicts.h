/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>

#include "policy/topology.h"
#include "sample/sysroot.h"

/* What else on this machine has to do with where tasks run: another manager, the kernel's own balancing, CPUs
 * set aside. An array of {"kind", "text"}: "numad", "numa-balancing", "isolated-cpus", "one-node". Returns 0
 * or -ENOMEM; the caller decrefs. */
int hn_conflicts_find(const struct hn_sysroot *root, const struct hn_topology *topo, json_t **ret);
