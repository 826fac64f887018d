/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "policy/model.h"
#include "policy/plan.h"
#include "policy/reason.h"
#include "policy/snapshot.h"

/* The gates a task passes before anybody asks where it should go: heuristics H7, step 3. */

/* Whether task i may be placed at all. `n_reachable`: nodes open to it. Returns true, or false and the first
 * reason against it, in the order in which a person would want to hear them. */
bool hn_judge(const struct hn_snapshot *s, size_t i, const struct hn_task_state *st, size_t n_reachable,
              const struct hn_topology *topo, const struct hn_limits *limits, enum hn_reason *ret_reason);
