/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>

#include "sample/machineload.h"
#include "sample/meminfo.h"

int hn_machine_read_memory(const struct hn_sysroot *root, const struct hn_topology *topo,
                           struct hn_node_load *nodes) {
        struct hn_meminfo m;
        bool any = false;
        int r;

        for (size_t i = 0; i < topo->n_nodes; i++) {
                r = hn_meminfo_read_node(root, topo->nodes[i].id, &m);
                if (r < 0)
                        return r;
                nodes[i].free = m.free;
                nodes[i].reclaimable = m.reclaimable;
                any = any || m.total > 0;
        }
        if (any || topo->n_nodes != 1)
                return 0;

        /* No node folder: the machine is the node. */
        r = hn_meminfo_read(root, &m);
        if (r < 0)
                return r;
        nodes[0].free = m.free;
        nodes[0].reclaimable = m.reclaimable;
        return 0;
}

void hn_machine_busy_deinit(struct hn_machine_busy *b) {
        free(b->before);
        free(b->now);
        *b = HN_MACHINE_BUSY_NULL;
}

static int make_room(struct hn_machine_busy *b, size_t n_cpus) {
        struct hn_machine_busy n = { .n_cpus = n_cpus };

        if (b->now && b->n_cpus == n_cpus)
                return 0;
        n.before = calloc(n_cpus + 1, sizeof(*n.before));
        n.now = calloc(n_cpus + 1, sizeof(*n.now));
        if (!n.before || !n.now) {
                hn_machine_busy_deinit(&n);
                return -ENOMEM;
        }
        hn_machine_busy_deinit(b);
        *b = n;
        return 0;
}

void hn_machine_busy_between(const struct hn_topology *topo, const struct hn_cpu_ticks *before,
                             const struct hn_cpu_ticks *now, size_t n_cpus, struct hn_node_load *nodes) {
        for (size_t i = 0; i < topo->n_nodes; i++)
                nodes[i].busy = 0;
        for (size_t c = 0; c < n_cpus; c++) {
                hn_node_index node = hn_topology_node_of_cpu(topo, (int) c);
                uint64_t busy, total;

                if (node == HN_NODE_NONE || !hn_mask_has(&topo->nodes[node].usable, (unsigned) c))
                        continue;
                /* A first sight, a reset, or a clock that stood still. iowait may fall by itself
                 * (proc(5)). */
                if (before[c].total == 0 || now[c].total <= before[c].total || now[c].busy < before[c].busy)
                        continue;
                busy = now[c].busy - before[c].busy;
                total = now[c].total - before[c].total;
                nodes[node].busy += busy >= total ? 1000
                                                  : (uint32_t) ((double) busy * 1000 / (double) total + 0.5);
        }
}

int hn_machine_read_busy(const struct hn_sysroot *root, const struct hn_topology *topo,
                         struct hn_machine_busy *b, struct hn_node_load *nodes) {
        struct hn_cpu_ticks *previous;
        bool primed;
        ssize_t n;
        int r;

        r = make_room(b, topo->n_cpu_ids);
        if (r < 0)
                return r;
        n = hn_procstat_read(root, b->now, b->n_cpus);
        if (n < 0)
                return (int) n;
        primed = b->primed && n > 0;
        if (primed)
                hn_machine_busy_between(topo, b->before, b->now, b->n_cpus, nodes);
        else
                for (size_t i = 0; i < topo->n_nodes; i++)
                        nodes[i].busy = 0;
        previous = b->before;
        b->before = b->now;
        b->now = previous;
        b->primed = n > 0;
        return primed ? 0 : HN_MACHINE_UNKNOWN;
}
