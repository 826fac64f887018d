/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "world.h"

/* How the best static placement was found: "exhaustive" or "annealing"; NULL for other policies. */
const char *hn_sim_oracle_method(const struct hn_sim_world *w);
