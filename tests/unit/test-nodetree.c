/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "fakeroot.h"
#include "rows.h"
#include "sample/machine.h"
#include "sample/nodetree.h"

#define CPU  "sys/devices/system/cpu/"
#define NODE "sys/devices/system/node/"
#define TIER "sys/devices/virtual/memory_tiering/"

static const struct {
        struct hn_tree_file files[16];
        int r;
        size_t n_nodes;
        bool distances_known;
        struct {
                unsigned id, n_cpus, tier;
                uint64_t kib, free_kib;
                const char *cpus;
        } nodes[3];
} rows[] = {
        /* nothing, and nothing that makes sense */
        { .files = { { "proc/uptime", "1 1\n", 0 } }, .r = -ENODEV },
        { .files = { { CPU "online", "x\n", 0 }, { "proc/stat", "cpu 1\ncpuX 1 1 1 1\n", 0 } },
          .r = -ENODEV },
        /* no node folder: one node; without a list of CPUs, those that /proc/stat counts for */
        { .files = { { CPU "online", "0-3\n", 0 },
                     { "proc/meminfo", "MemTotal: 100 kB\nMemFree: 40 kB\n", 0 } },
          .n_nodes = 1,
          .nodes = { { 0, 4, 0, 100, 40, "0-3" } } },
        { .files = { { "proc/stat", "cpu0 1 1 1 1\ncpu5 1 1 1 1\n", 0 } },
          .n_nodes = 1,
          .nodes = { { 0, 2, 0, 0, 0, "0,5" } } },
        /* sparse ids, a CPU that two claim, one that is isolated, one without a tick, one offline */
        { .files = { { CPU "online", "0-6\n", 0 },
                     { CPU "isolated", "1\n", 0 },
                     { CPU "nohz_full", "4\n", 0 },
                     { NODE "online", "0,8\n", 0 },
                     { NODE "node0/cpulist", "0-3\n", 0 },
                     { NODE "node8/cpulist", "3-7\n", 0 },
                     { NODE "node0/distance", "10 40\n", 0 },
                     { NODE "node8/distance", "20 10\n", 0 },
                     { NODE "node8/meminfo", "Node 8 MemTotal: 64 kB\nNode 8 MemFree: 12 kB\n", 0 } },
          .n_nodes = 2,
          .distances_known = true,
          .nodes = { { 0, 3, 0, 0, 0, "0-3" }, { 8, 2, 0, 64, 12, "4-6" } } },
        /* no list of CPUs but those of nodes, which may hold offline ones */
        { .files = { { NODE "node1/cpulist", "4-5\n", 0 },
                     { NODE "node3/cpumap", "3\n", 0 },
                     { "proc/stat", "cpu7 1 1 1 1\n", 0 } },
          .n_nodes = 2,
          .nodes = { { 1, 2, 0, 0, 0, "4-5" }, { 3, 2, 0, 0, 0, "0-1" } } },
        /* memory alone, slower by the kernel's tiers; distances of all possible nodes; rows that lie */
        { .files = { { CPU "online", "0-1\n", 0 },
                     { NODE "online", "0,2\n", 0 },
                     { NODE "possible", "0-2\n", 0 },
                     { NODE "node0/cpulist", "0-1\n", 0 },
                     { NODE "node2/cpulist", "\n", 0 },
                     { NODE "node0/distance", "10 99 30\n", 0 },
                     { NODE "node2/distance", "30 99 10\n", 0 },
                     { NODE "node2/meminfo", "Node 2 MemTotal: 8 kB\nNode 2 MemFree: 9 kB\n", 0 },
                     { TIER "memory_tier4/nodelist", "0\n", 0 },
                     { TIER "memory_tier9/nodelist", "2\n", 0 } },
          .n_nodes = 2,
          .distances_known = true,
          .nodes = { { 0, 2, 0, 0, 0, "0-1" }, { 2, 0, 1, 8, 8, "" } } },
        { .files = { { CPU "online", "0-1\n", 0 },
                     { NODE "node0/cpulist", "0\n", 0 },
                     { NODE "node1/cpumap", "2\n", 0 },
                     { NODE "node0/distance", "10 0\n", 0 },
                     { NODE "node1/distance", "20 10\n", 0 } },
          .n_nodes = 2,
          .nodes = { { 0, 1, 0, 0, 0, "0" }, { 1, 1, 0, 0, 0, "1" } } },
};

static void trees(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_node_load *load = NULL;
                struct hn_topology t, whole;
                struct hn_tree tree;
                int r;

                hn_tree_make(&tree);
                hn_tree_write_all(&tree, rows[i].files, HN_ELEMENTS(rows[i].files));
                r = hn_nodetree_read(&tree.root, &t, &load);
                ROW_EQUAL(i, r, rows[i].r);
                if (r == 0) {
                        ROW_EQUAL(i, t.n_nodes, rows[i].n_nodes);
                        ROW_EQUAL(i, t.distances_known, rows[i].distances_known);
                        for (size_t k = 0; k < t.n_nodes; k++) {
                                const struct hn_node *node = &t.nodes[k];
                                char list[HN_MASK_LIST_MAX];

                                ROW_EQUAL(i, node->id, rows[i].nodes[k].id);
                                ROW_EQUAL(i, node->n_cpus, rows[i].nodes[k].n_cpus);
                                ROW_EQUAL(i, node->tier, rows[i].nodes[k].tier);
                                ROW_EQUAL(i, node->memory, rows[i].nodes[k].kib * 1024);
                                ROW_EQUAL(i, load[k].free, rows[i].nodes[k].free_kib * 1024);
                                ROW_EQUAL(i, load[k].busy, 0);
                                assert_true(hn_mask_print_list(&node->cpus, list, sizeof(list)) >= 0);
                                assert_string_equal(list, rows[i].nodes[k].cpus);
                        }
                }

                /* Where hwloc finds a machine too, both say the same of what both know. */
                if (r == 0 && hn_machine_read(&tree.root, NULL, &whole) == 0) {
                        ROW_EQUAL(i, whole.n_nodes, t.n_nodes);
                        for (size_t k = 0; k < t.n_nodes; k++) {
                                ROW_EQUAL(i, whole.nodes[k].id, t.nodes[k].id);
                                ROW_EQUAL(i, hn_mask_equal(&whole.nodes[k].usable, &t.nodes[k].usable), true);
                        }
                        ROW_EQUAL(i,
                                  memcmp(whole.distances, t.distances,
                                         t.n_nodes * t.n_nodes * sizeof(*t.distances)),
                                  0);
                        hn_topology_deinit(&whole);
                }
                if (r == 0)
                        hn_topology_deinit(&t);
                free(load);
                hn_tree_drop(&tree);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(trees),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
