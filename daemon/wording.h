/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "policy/plan.h"
#include "policy/snapshot.h"
#include "policy/topology.h"

/* A decision as one sentence with its numbers. The same text goes to the journal, the state file and so to
 * `homenode status`. `dry`: what would be done, not what was. Returns the length, cut at `size`.
 *
 * "held on node 2 (runs there): it runs beside its memory and is held there; 97 % of its faults are on node
 * 2; it uses 0.9 of a core, node 2 has given away 1.8 of 2.0" */
size_t hn_wording_decision(const struct hn_decision *d, const struct hn_topology *topo, bool dry, char *buf,
                           size_t size);
