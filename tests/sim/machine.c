/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "machine.h"

/* Two sockets of 2012, and eight of that time on two boards. Latencies of the first are those of its class;
 * bandwidths were chosen so that numa02 on them comes out as published (test-calibration.c). */
const struct hn_sim_machine hn_sim_2x6 = {
        .name = "2x6",
        .n_nodes = 2,
        .n_cores = 6,
        .n_ways = 1,
        .yield = 1,
        .n_board = 2,
        .local_ns = 80,
        .near_ns = 138,
        .node_gbs = 14,
        .near_gbs = 8,
        .node_mib = 16384,
        .page_us = 1.1,
        .slit_near = 20,
};

const struct hn_sim_machine hn_sim_8x8 = {
        .name = "8x8",
        .n_nodes = 8,
        .n_cores = 8,
        .n_ways = 1,
        .yield = 1,
        .n_board = 4,
        .local_ns = 100,
        .near_ns = 180,
        .far_ns = 300,
        .node_gbs = 16,
        .near_gbs = 7,
        .bridge_gbs = 2.6,
        .node_mib = 32768,
        .page_us = 1.1,
        .slit_near = 15,
        .slit_far = 25,
};

/* The small ones on which most scenarios run: every other node equally far. */
const struct hn_sim_machine hn_sim_4x2 = {
        .name = "4x2",
        .n_nodes = 4,
        .n_cores = 2,
        .n_ways = 1,
        .yield = 1,
        .n_board = 4,
        .local_ns = 85,
        .near_ns = 150,
        .node_gbs = 12,
        .near_gbs = 5,
        .node_mib = 8192,
        .page_us = 1.1,
        .slit_near = 20,
};

const struct hn_sim_machine hn_sim_4x4 = {
        .name = "4x4",
        .n_nodes = 4,
        .n_cores = 4,
        .n_ways = 1,
        .yield = 1,
        .n_board = 4,
        .local_ns = 85,
        .near_ns = 150,
        .node_gbs = 20,
        .near_gbs = 8,
        .node_mib = 16384,
        .page_us = 1.1,
        .slit_near = 20,
};

/* The same with hardly more memory than is used. */
const struct hn_sim_machine hn_sim_4x4_small = {
        .name = "4x4-small",
        .n_nodes = 4,
        .n_cores = 4,
        .n_ways = 1,
        .yield = 1,
        .n_board = 4,
        .local_ns = 85,
        .near_ns = 150,
        .node_gbs = 20,
        .near_gbs = 8,
        .node_mib = 2048,
        .page_us = 1.1,
        .slit_near = 20,
};

/* Eight nodes again, whose firmware says that all are equally far from each other. */
const struct hn_sim_machine hn_sim_8x8_liar = {
        .name = "8x8-liar",
        .n_nodes = 8,
        .n_cores = 8,
        .n_ways = 1,
        .yield = 1,
        .n_board = 4,
        .local_ns = 100,
        .near_ns = 180,
        .far_ns = 300,
        .node_gbs = 16,
        .near_gbs = 7,
        .bridge_gbs = 2.6,
        .node_mib = 32768,
        .page_us = 1.1,
        .slit_near = 20,
        .slit_far = 20,
};

/* Two sockets whose second hardware threads bring next to nothing for the load in question. */
const struct hn_sim_machine hn_sim_2x12x2 = {
        .name = "2x12x2",
        .n_nodes = 2,
        .n_cores = 12,
        .n_ways = 2,
        .yield = 1.05,
        .n_board = 2,
        .local_ns = 80,
        .near_ns = 130,
        .node_gbs = 65,
        .near_gbs = 30,
        .node_mib = 65536,
        .page_us = 1.1,
        .slit_near = 21,
};

const struct hn_sim_machine hn_sim_2x28 = {
        .name = "2x28",
        .n_nodes = 2,
        .n_cores = 28,
        .n_ways = 2,
        .yield = 1.25,
        .n_board = 2,
        .local_ns = 89,
        .near_ns = 143,
        .node_gbs = 176,
        .near_gbs = 56,
        .node_mib = 65536,
        .page_us = 1.1,
        .slit_near = 20,
};

unsigned hn_sim_machine_node_cpus(const struct hn_sim_machine *m) {
        return m->n_cores * m->n_ways;
}

unsigned hn_sim_machine_board(const struct hn_sim_machine *m, unsigned node) {
        return node / m->n_board;
}

double hn_sim_machine_idle_ns(const struct hn_sim_machine *m, unsigned from, unsigned to) {
        if (from == to)
                return m->local_ns;
        return hn_sim_machine_board(m, from) == hn_sim_machine_board(m, to) ? m->near_ns : m->far_ns;
}

static unsigned slit(const struct hn_sim_machine *m, unsigned from, unsigned to) {
        if (from == to)
                return HN_DISTANCE_LOCAL;
        return hn_sim_machine_board(m, from) == hn_sim_machine_board(m, to) ? m->slit_near : m->slit_far;
}

int hn_sim_machine_topology(const struct hn_sim_machine *m, struct hn_topology *ret) {
        unsigned n_cpus = hn_sim_machine_node_cpus(m);
        struct hn_topology topo;
        int r;

        r = hn_topology_init(&topo, m->n_nodes, (size_t) m->n_nodes * n_cpus);
        if (r < 0)
                return r;
        for (unsigned i = 0; i < m->n_nodes; i++) {
                struct hn_node *node = &topo.nodes[i];

                *node = (struct hn_node){
                        .id = i,
                        .package = i,
                        .n_cores = m->n_cores,
                        .n_cpus = n_cpus,
                        .n_llcs = 1,
                        .memory = (uint64_t) m->node_mib << 20,
                };
                hn_mask_add_range(&node->cpus, i * n_cpus, (i + 1) * n_cpus - 1);
                node->usable = node->cpus;
                for (unsigned c = i * n_cpus; c < (i + 1) * n_cpus; c++)
                        topo.cpu_node[c] = (hn_node_index) i;
                for (unsigned k = 0; k < m->n_nodes; k++)
                        topo.distances[i * m->n_nodes + k] = slit(m, i, k);
                topo.online = hn_mask_or(&topo.online, &node->cpus);
        }
        topo.possible = topo.online;
        topo.distances_known = true;
        *ret = topo;
        return 0;
}
