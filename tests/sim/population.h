/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "world.h"

/* Processes come and go, and change what they do. */

/* The places that the scenario's processes take. Returns 0 or -ENOMEM. */
int hn_sim_population_init(struct hn_sim_world *w);

/* Births and deaths that are due, and new phases. Returns 0 or -ENOMEM. */
int hn_sim_population_step(struct hn_sim_world *w);

/* A tenth of a second's worth of memory freed and made anew. */
void hn_sim_population_churn(struct hn_sim_world *w);
