/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/mask.h"
#include "policy/topology.h"

/* Nodes that a rule prefers, because a device is near them (PreferDevice=): worth a little more than their
 * memory says, so that they win where others are about as good. Homenode's own. */

/* Thousandths of the signal. More than the smallest gain that is worth a move, else nobody would ever come;
 * less than what a better place must offer to a task that was placed, so that nobody leaves for a device
 * alone. */
#define HN_PREFER_BONUS 100u

/* Adds `bonus` to the scores (one a node, HN_SCORE_FORBIDDEN stays) of the nodes in `prefer`, which holds
 * node *ids*: a node without CPUs stands for the nearest one that has some, and each gets it once. Ids that
 * are not here are passed over. */
void hn_prefer_add(const struct hn_topology *topo, const struct hn_mask *prefer, uint32_t bonus,
                   uint32_t *score);

/* The way back: afterwards the scores are what they were. */
void hn_prefer_remove(const struct hn_topology *topo, const struct hn_mask *prefer, uint32_t bonus,
                      uint32_t *score);

/* Whether a place on `node` is owed to the preference: by what the memory says alone some node would be
 * better by `margin` or more or, where it comes from another one (`from`, HN_NODE_NONE: nobody knows), it
 * would not be better than that by as much. `score` includes the bonus. */
bool hn_prefer_decides(const struct hn_topology *topo, const struct hn_mask *prefer, uint32_t bonus,
                       const uint32_t *score, hn_node_index node, hn_node_index from, uint32_t margin);
