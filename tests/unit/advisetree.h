/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "fakeroot.h"

/* Machines that are asked where a workload would go. */
struct hn_advise_machine {
        unsigned n_nodes, stride; /* ids 0, stride, 2 * stride, ... */
        unsigned cpus;            /* of each node */
        unsigned memory_mib;      /* of each node, all free */
        unsigned bare, empty;     /* the last nodes without CPUs; those before them without memory */
        bool no_folders;          /* a machine that tells of no nodes at all */
};

static inline void hn_advise_tree(const struct hn_tree *tree, const struct hn_advise_machine *m) {
        char path[128], text[16384];
        unsigned with_cpus = m->n_nodes - m->bare;

        (void) snprintf(text, sizeof(text), "0-%u\n", with_cpus * m->cpus - 1);
        hn_tree_write(tree, "sys/devices/system/cpu/online", text, 0);
        if (m->no_folders) {
                (void) snprintf(text, sizeof(text), "MemTotal: %u kB\nMemFree: %u kB\n", m->memory_mib * 1024,
                                m->memory_mib * 1024);
                hn_tree_write(tree, "proc/meminfo", text, 0);
                return;
        }
        for (unsigned i = 0; i < m->n_nodes; i++) {
                unsigned id = i * m->stride;
                bool memory = i < with_cpus - m->empty || i >= with_cpus;
                size_t n = 0;

                (void) snprintf(path, sizeof(path), "sys/devices/system/node/node%u/cpulist", id);
                (void) snprintf(text, sizeof(text), "%u-%u\n", i * m->cpus, (i + 1) * m->cpus - 1);
                hn_tree_write(tree, path, i < with_cpus ? text : "\n", 0);
                (void) snprintf(path, sizeof(path), "sys/devices/system/node/node%u/meminfo", id);
                (void) snprintf(text, sizeof(text), "Node %u MemTotal: %u kB\nNode %u MemFree: %u kB\n", id,
                                memory ? m->memory_mib * 1024 : 0, id, memory ? m->memory_mib * 1024 : 0);
                hn_tree_write(tree, path, text, 0);
                /* In pairs, the farther the farther. */
                for (unsigned k = 0; k < m->n_nodes; k++)
                        n += (size_t) snprintf(text + n, sizeof(text) - n, "%u ",
                                               i == k           ? 10
                                               : i / 2 == k / 2 ? 12
                                                                : 20 + (i > k ? i - k : k - i) % 30);
                (void) snprintf(path, sizeof(path), "sys/devices/system/node/node%u/distance", id);
                hn_tree_write(tree, path, text, n);
        }
}
