/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "machine.h"

/* How long an access takes when others are about: latency = idle * (1 + 0.4 u + 1.5 u^8.6), a curve measured
 * on a server of 2021, for the memory of a node and for each link on the way to it. What runs depends on
 * latencies, and these on what runs: a fixed point, looked for in steps and carried on from tick to tick. */

struct hn_sim_traffic {
        double node[HN_SIM_NODES]; /* utilisation */
        double link[HN_SIM_NODES][HN_SIM_NODES];
        double bridge[HN_SIM_NODES][HN_SIM_NODES];  /* from board to board */
        double latency[HN_SIM_NODES][HN_SIM_NODES]; /* nanoseconds, from and to */
};

/* Who makes traffic: so many like it, at one node. */
struct hn_sim_source {
        unsigned node;
        double amount; /* CPUs at work */
        double misses; /* as in struct hn_sim_job */
        double overlap;
        const double *to_nodes;
        double speed; /* out, of one that is at work */
};

void hn_sim_traffic_init(struct hn_sim_traffic *t, const struct hn_sim_machine *m);

/* Brings utilisations and speeds `steps` nearer to each other. */
void hn_sim_traffic_settle(struct hn_sim_traffic *t, const struct hn_sim_machine *m,
                           struct hn_sim_source *sources, size_t n, unsigned steps);

/* The mean latency of a source's accesses. */
double hn_sim_traffic_latency(const struct hn_sim_traffic *t, const struct hn_sim_machine *m,
                              const struct hn_sim_source *s);
