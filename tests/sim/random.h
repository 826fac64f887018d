/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

/* Numbers that look random and are the same for the same seed, on every machine (splitmix64, Steele, Lea and
 * Flood 2014). */
struct hn_sim_random {
        uint64_t state;
};

uint64_t hn_sim_random_next(struct hn_sim_random *r);

/* From 0 to below 1. */
double hn_sim_random_unit(struct hn_sim_random *r);

/* From 0 to n - 1; n > 0. */
unsigned hn_sim_random_below(struct hn_sim_random *r, unsigned n);

/* How many of many rare things happened, where `mean` were to be expected. */
double hn_sim_random_poisson(struct hn_sim_random *r, double mean);
