/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>
#include <string.h>

#include "traffic.h"

#define LINE_BYTES 64.0

/* Below this the curve is a straight line. */
#define QUIET 0.35

static double steep_part(double u) {
        return u < QUIET ? 0 : 1.5 * pow(u, 8.6);
}

/* By how much more than at rest an access takes at utilisation u. */
static double extra(double u) {
        return 0.4 * u + steep_part(u);
}

/* A full queue makes its users slow, and slow users empty the queue. The steeper the curve, the shorter the
 * step must be, or utilisation would swing from one end to the other. */
static double approach(double u, double offered) {
        double steep, slope;

        if (u < QUIET && offered < QUIET)
                return offered;
        steep = steep_part(u);
        slope = (0.4 * u + 8.6 * steep) / (1 + 0.4 * u + steep);
        return pow(fmax(u, 1e-3), slope / (1 + slope)) * pow(fmax(offered, 1e-3), 1 / (1 + slope));
}

static void find_latencies(struct hn_sim_traffic *t, const struct hn_sim_machine *m) {
        double memory[HN_SIM_NODES];

        for (unsigned k = 0; k < m->n_nodes; k++)
                memory[k] = extra(t->node[k]);
        for (unsigned i = 0; i < m->n_nodes; i++)
                for (unsigned k = 0; k < m->n_nodes; k++) {
                        unsigned here = hn_sim_machine_board(m, i), there = hn_sim_machine_board(m, k);
                        double way = i == k          ? 0
                                     : here == there ? extra(t->link[i][k])
                                                     : extra(t->bridge[here][there]);

                        t->latency[i][k] = hn_sim_machine_idle_ns(m, i, k) * (1 + memory[k] + way);
                }
}

void hn_sim_traffic_init(struct hn_sim_traffic *t, const struct hn_sim_machine *m) {
        memset(t, 0, sizeof(*t));
        find_latencies(t, m);
}

double hn_sim_traffic_latency(const struct hn_sim_traffic *t, const struct hn_sim_machine *m,
                              const struct hn_sim_source *s) {
        double ns = 0;

        for (unsigned k = 0; k < m->n_nodes; k++)
                ns += s->to_nodes[k] * t->latency[s->node][k];
        return ns;
}

void hn_sim_traffic_settle(struct hn_sim_traffic *t, const struct hn_sim_machine *m,
                           struct hn_sim_source *sources, size_t n, unsigned steps) {
        for (unsigned step = 0; step < steps; step++) {
                double gbs[HN_SIM_NODES][HN_SIM_NODES] = { 0 };
                double bridge[HN_SIM_NODES][HN_SIM_NODES] = { 0 };

                for (size_t i = 0; i < n; i++) {
                        struct hn_sim_source *s = &sources[i];
                        double wait = s->misses * 1e-3 * (hn_sim_traffic_latency(t, m, s) - m->local_ns);
                        double made;

                        s->speed = 1 / (1 + wait);
                        made = s->amount * s->speed * s->misses * s->overlap * LINE_BYTES * 1e-3;
                        for (unsigned k = 0; k < m->n_nodes; k++)
                                gbs[s->node][k] += made * s->to_nodes[k];
                }
                for (unsigned k = 0; k < m->n_nodes; k++) {
                        double sum = 0;

                        for (unsigned i = 0; i < m->n_nodes; i++)
                                sum += gbs[i][k];
                        t->node[k] = approach(t->node[k], sum / m->node_gbs);
                }
                for (unsigned i = 0; i < m->n_nodes; i++)
                        for (unsigned k = 0; k < m->n_nodes; k++) {
                                unsigned here = hn_sim_machine_board(m, i),
                                         there = hn_sim_machine_board(m, k);

                                if (i != k && here == there)
                                        t->link[i][k] = approach(t->link[i][k], gbs[i][k] / m->near_gbs);
                                else if (here != there)
                                        bridge[here][there] += gbs[i][k];
                        }
                for (unsigned i = 0; i * m->n_board < m->n_nodes; i++)
                        for (unsigned k = 0; k * m->n_board < m->n_nodes; k++)
                                if (i != k)
                                        t->bridge[i][k] = approach(t->bridge[i][k],
                                                                   bridge[i][k] / m->bridge_gbs);
                find_latencies(t, m);
        }
}
