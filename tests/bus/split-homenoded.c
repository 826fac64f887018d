/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenoded that takes this machine for one of two nodes: the first CPU is node 0, all others are node 1. All
 * else is as it is: tasks, ledger, system calls. */
#include <stdio.h>
#include <stdlib.h>

#include "daemon/manager.h"

static int split(struct hn_manager *m) {
        unsigned first = hn_mask_next(&m->topo.online, 0);
        struct hn_topology topo;
        int r;

        if (hn_mask_count(&m->topo.online) < 2)
                return -ENODEV;
        r = hn_topology_init(&topo, 2, m->topo.n_cpu_ids);
        if (r < 0)
                return r;
        topo.online = m->topo.online;
        topo.possible = m->topo.possible;
        topo.nodes[0].cpus = HN_MASK_NULL;
        (void) hn_mask_add(&topo.nodes[0].cpus, first);
        topo.nodes[1].cpus = hn_mask_andnot(&topo.online, &topo.nodes[0].cpus);
        for (unsigned i = 0; i < 2; i++) {
                struct hn_node *node = &topo.nodes[i];

                node->id = i;
                node->usable = node->cpus;
                node->n_cpus = node->n_cores = hn_mask_count(&node->cpus);
                node->n_llcs = 1;
                node->memory = UINT64_C(1) << 30;
                for (unsigned c = hn_mask_next(&node->cpus, 0); c != HN_MASK_NONE;
                     c = hn_mask_next(&node->cpus, c + 1))
                        topo.cpu_node[c] = (hn_node_index) i;
        }
        m->plan = hn_plan_free(m->plan);
        m->model = hn_model_free(m->model);
        hn_topology_deinit(&m->topo);
        m->topo = topo;
        m->numa = true;
        m->topo_checked = HN_USEC_INFINITY; /* never looked at again */
        r = hn_sampler_set_topology(&m->sampler, &m->topo);
        if (r >= 0)
                r = hn_model_new(&m->topo, &m->model);
        return r < 0 ? r : hn_plan_new(&m->topo, &m->plan);
}

int main(int argc, char **argv) {
        _hn_cleanup_(hn_manager_freep) struct hn_manager *m = NULL;
        struct hn_options options;

        if (hn_options_parse(argc, argv, &options) != 0 || hn_manager_new(&options, &m) < 0 || split(m) < 0)
                return EXIT_FAILURE;
        return hn_manager_run(m) < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
