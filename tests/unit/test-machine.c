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
#include "sample/machine.h"

#define CPU  "sys/devices/system/cpu/"
#define NODE "sys/devices/system/node/"
#define TIER "sys/devices/virtual/memory_tiering/"

/* What is asked of a machine after reading it. */
struct want {
        size_t n_nodes;
        bool numa, distances_known;
        struct {
                unsigned id;
                const char *cpus, *usable;
                uint64_t kib;
                unsigned tier;
        } nodes[5];
        unsigned distances[25];
};

static void check(const struct hn_topology *t, const struct want *want) {
        char list[HN_MASK_LIST_MAX];

        assert_int_equal(t->n_nodes, want->n_nodes);
        assert_int_equal(hn_topology_is_numa(t), want->numa);
        assert_int_equal(t->distances_known, want->distances_known);
        for (size_t i = 0; i < want->n_nodes; i++) {
                const struct hn_node *node = &t->nodes[i];

                assert_int_equal(node->id, want->nodes[i].id);
                assert_true(hn_mask_print_list(&node->cpus, list, sizeof(list)) >= 0);
                assert_string_equal(list, want->nodes[i].cpus);
                assert_true(hn_mask_print_list(&node->usable, list, sizeof(list)) >= 0);
                assert_string_equal(list,
                                    want->nodes[i].usable ? want->nodes[i].usable : want->nodes[i].cpus);
                assert_int_equal(node->n_cpus, hn_mask_count(&node->usable));
                assert_true(node->n_cores <= node->n_cpus && (node->n_cores > 0) == (node->n_cpus > 0));
                assert_true(node->n_llcs <= node->n_cpus && (node->n_llcs > 0) == (node->n_cpus > 0));
                assert_true(node->memory == want->nodes[i].kib * 1024);
                assert_int_equal(node->tier, want->nodes[i].tier);
        }
        for (hn_node_index from = 0; want->distances_known && from < want->n_nodes; from++)
                for (hn_node_index to = 0; to < want->n_nodes; to++)
                        assert_int_equal(hn_topology_distance(t, from, to),
                                         want->distances[from * want->n_nodes + to]);

        /* Each CPU is where its node says it is. */
        for (unsigned cpu = 0; cpu < t->n_cpu_ids; cpu++) {
                hn_node_index node = hn_topology_node_of_cpu(t, (int) cpu);

                for (hn_node_index i = 0; i < t->n_nodes; i++)
                        assert_int_equal(hn_mask_has(&t->nodes[i].cpus, cpu), i == node);
        }
}

static const struct {
        struct hn_tree_file files[16];
        struct want want;
} trees[] = {
        /* sparse ids, no node 0, offline CPUs, an asymmetric matrix */
        { { { CPU "online", "0-2,8-9\n", 0 },
            { CPU "possible", "0-15\n", 0 },
            { NODE "online", "2,33\n", 0 },
            { NODE "node2/cpulist", "0-3\n", 0 },
            { NODE "node2/meminfo", "Node 2 MemTotal: 100 kB\n", 0 },
            { NODE "node2/distance", "10 31\n", 0 },
            { NODE "node33/cpulist", "8-11\n", 0 },
            { NODE "node33/meminfo", "Node 33 MemTotal: 200 kB\n", 0 },
            { NODE "node33/distance", "12 10\n", 0 } },
          { 2,
            true,
            true,
            { { 2, "0-2", NULL, 100, 0 }, { 33, "8-9", NULL, 200, 0 } },
            { 10, 31, 12, 10 } } },
        /* isolated and nohz_full CPUs are not usable: one node is left */
        { { { CPU "online", "0-3\n", 0 },
            { CPU "isolated", "2-3\n", 0 },
            { CPU "nohz_full", "1\n", 0 },
            { NODE "online", "0-1\n", 0 },
            { NODE "node0/cpulist", "0-1\n", 0 },
            { NODE "node1/cpulist", "2-3\n", 0 } },
          { 2, false, false, { { 0, "0-1", "0", 0, 0 }, { 1, "2-3", "", 0, 0 } }, {} } },
        /* the same with lists that say nothing; no list of nodes; CPUs by map */
        { { { CPU "online", "0-3\n", 0 },
            { CPU "isolated", "\n", 0 },
            { CPU "nohz_full", "  (null)\n", 0 },
            { NODE "node0/cpumap", "00000003\n", 0 },
            { NODE "node1/cpumap", "0000000c\n", 0 } },
          { 2, true, false, { { 0, "0-1", NULL, 0, 0 }, { 1, "2-3", NULL, 0, 0 } }, {} } },
        /* a firmware that gives all CPUs to every node, and 10 to every distance */
        { { { CPU "online", "0-3\n", 0 },
            { NODE "online", "0-1\n", 0 },
            { NODE "node0/cpulist", "0-3\n", 0 },
            { NODE "node0/distance", "10 10\n", 0 },
            { NODE "node0/meminfo", "Node 0 MemTotal: 5 kB\n", 0 },
            { NODE "node1/cpulist", "0-3\n", 0 },
            { NODE "node1/distance", "10 10\n", 0 },
            { NODE "node1/meminfo", "Node 1 MemTotal: 5 kB\n", 0 } },
          { 2, false, false, { { 0, "0-3", NULL, 5, 0 }, { 1, "", NULL, 5, 0 } }, {} } },
        /* a node of the possible ones is offline, its column still there */
        { { { CPU "online", "0-1\n", 0 },
            { NODE "online", "1-2\n", 0 },
            { NODE "possible", "0-2\n", 0 },
            { NODE "node1/cpulist", "0\n", 0 },
            { NODE "node1/distance", "21 10 15\n", 0 },
            { NODE "node2/cpulist", "1\n", 0 },
            { NODE "node2/distance", "22 15 10\n", 0 } },
          { 2, true, true, { { 1, "0", NULL, 0, 0 }, { 2, "1", NULL, 0, 0 } }, { 10, 15, 15, 10 } } },
        /* memory without CPUs by the kernel's tiers: one tier behind DRAM, two behind, and one before it */
        { { { CPU "online", "0-1\n", 0 },
            { NODE "online", "0-3\n", 0 },
            { NODE "node0/cpulist", "0-1\n", 0 },
            { NODE "node0/meminfo", "Node 0 MemTotal: 1 kB\n", 0 },
            { NODE "node1/cpulist", "\n", 0 },
            { NODE "node1/meminfo", "Node 1 MemTotal: 1 kB\n", 0 },
            { NODE "node2/cpulist", "\n", 0 },
            { NODE "node2/meminfo", "Node 2 MemTotal: 1 kB\n", 0 },
            { NODE "node3/cpulist", "\n", 0 },
            { NODE "node3/meminfo", "Node 3 MemTotal: 1 kB\n", 0 },
            { TIER "memory_tier4/nodelist", "0\n", 0 },
            { TIER "memory_tier22/nodelist", "1\n", 0 },
            { TIER "memory_tier961/nodelist", "2\n", 0 },
            { TIER "memory_tier2/nodelist", "3\n", 0 },
            { TIER "power/control", "auto\n", 0 } },
          { 4,
            false,
            false,
            { { 0, "0-1", NULL, 1, 0 }, { 1, "", NULL, 1, 1 }, { 2, "", NULL, 1, 2 }, { 3, "", NULL, 1, 0 } },
            {} } },
        /* CPUs without memory: the nearest node without CPUs stands in, the one behind it is slow memory */
        { { { CPU "online", "0-1\n", 0 },
            { NODE "online", "0-2\n", 0 },
            { NODE "node0/cpulist", "0-1\n", 0 },
            { NODE "node0/meminfo", "Node 0 MemTotal: 0 kB\n", 0 },
            { NODE "node0/distance", "10 11 17\n", 0 },
            { NODE "node1/cpulist", "\n", 0 },
            { NODE "node1/meminfo", "Node 1 MemTotal: 7 kB\n", 0 },
            { NODE "node1/distance", "11 10 17\n", 0 },
            { NODE "node2/cpulist", "\n", 0 },
            { NODE "node2/meminfo", "Node 2 MemTotal: 9 kB\n", 0 },
            { NODE "node2/distance", "17 17 10\n", 0 } },
          { 3,
            false,
            true,
            { { 0, "0-1", NULL, 0, 0 }, { 1, "", NULL, 7, 0 }, { 2, "", NULL, 9, 1 } },
            { 10, 11, 17, 11, 10, 17, 17, 17, 10 } } },
        /* no folder of nodes at all */
        { { { CPU "online", "0,3-5\n", 0 }, { CPU "possible", "0-7\n", 0 } },
          { 1, false, false, { { 0, "0,3-5", NULL, 0, 0 } }, {} } },
        /* an online node without any file, a CPU past the possible ones */
        { { { CPU "online", "0-1\n", 0 }, { CPU "possible", "0\n", 0 }, { NODE "online", "7\n", 0 } },
          { 1, false, false, { { 7, "", NULL, 0, 0 } }, {} } },
};

static void odd_trees_are_read_as_they_are(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(trees); i++) {
                struct hn_topology t;
                struct hn_tree tree;

                hn_tree_make(&tree);
                hn_tree_write_all(&tree, trees[i].files, HN_ELEMENTS(trees[i].files));
                assert_int_equal(hn_machine_read(&tree.root, NULL, &t), 0);
                check(&t, &trees[i].want);
                assert_false(hn_machine_changed(&tree.root, &t));
                hn_topology_deinit(&t);
                hn_tree_drop(&tree);
        }
}

/* B03: what is no distance makes the whole matrix unknown. */
static void nonsense_is_no_distance(void **state) {
        static const struct {
                const char *row0, *row1;
                bool known;
        } rows[] = {
                { "10 20\n", "20 10\n", true },
                { "10 20\n", "21 10\n", true },
                { "10 10\n", "20 10\n", true },
                { "10 255\n", "255 10\n", true },
                { "10 10\n", "10 10\n", false },
                { "20 20\n", "20 20\n", false },
                { "0 0\n", "0 0\n", false },
                { "10 9\n", "9 10\n", false },
                { "10 256\n", "20 10\n", false },
                { "10 4294967295\n", "4294967295 10\n", false },
                { "10 99999999999\n", "20 10\n", false },
                { "20 10\n", "10 20\n", false },
                { "10 20 20\n", "20 10 20\n", false },
                { "10\n", "10\n", false },
                { "\n", "\n", false },
                { "10 20\n", NULL, false },
                { "ten 20\n", "20 10\n", false },
        };
        struct hn_tree tree;

        (void) state;
        hn_tree_make(&tree);
        hn_tree_write(&tree, CPU "online", "0-1\n", 0);
        hn_tree_write(&tree, NODE "online", "0-1\n", 0);
        hn_tree_write(&tree, NODE "node0/cpulist", "0\n", 0);
        hn_tree_write(&tree, NODE "node1/cpulist", "1\n", 0);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_topology t;

                hn_tree_write(&tree, NODE "node0/distance", rows[i].row0, 0);
                hn_tree_write(&tree, NODE "node1/distance", rows[i].row1 ? rows[i].row1 : "", 0);
                if (!rows[i].row1)
                        hn_tree_delete(&tree, NODE "node1/distance");
                assert_int_equal(hn_machine_read(&tree.root, NULL, &t), 0);
                assert_int_equal(t.distances_known, rows[i].known);
                if (!rows[i].known)
                        assert_int_equal(hn_topology_distance(&t, 0, 1), 20);
                assert_int_equal(hn_topology_distance(&t, 1, 1), 10);
                assert_true(hn_topology_is_numa(&t));
                hn_topology_deinit(&t);
        }
        hn_tree_drop(&tree);
}

static void changes_are_noticed(void **state) {
        static const struct hn_tree_file base[] = {
                { CPU "online", "0-3\n", 0 },         { CPU "isolated", "\n", 0 },
                { NODE "online", "0-1\n", 0 },        { NODE "node0/cpulist", "0-1\n", 0 },
                { NODE "node1/cpulist", "2-3\n", 0 },
        };
        static const struct hn_tree_file changes[] = {
                { CPU "online", "0-2\n", 0 },
                { CPU "isolated", "3\n", 0 },
                { NODE "online", "0\n", 0 },
                { NODE "online", "0-2\n", 0 },
        };
        struct hn_topology t;
        struct hn_tree tree;

        (void) state;
        hn_tree_make(&tree);
        hn_tree_write_all(&tree, base, HN_ELEMENTS(base));
        assert_int_equal(hn_machine_read(&tree.root, NULL, &t), 0);
        for (size_t i = 0; i < HN_ELEMENTS(changes); i++) {
                assert_false(hn_machine_changed(&tree.root, &t));
                hn_tree_write_all(&tree, &changes[i], 1);
                assert_true(hn_machine_changed(&tree.root, &t));
                hn_tree_write_all(&tree, base, HN_ELEMENTS(base));
        }
        /* A file that vanishes says nothing, and so no change. */
        hn_tree_delete(&tree, CPU "isolated");
        assert_false(hn_machine_changed(&tree.root, &t));
        hn_topology_deinit(&t);
        hn_tree_drop(&tree);
}

static void a_root_without_cpus_is_no_machine(void **state) {
        struct hn_topology t;
        struct hn_tree tree;

        (void) state;
        hn_tree_make(&tree);
        assert_int_equal(hn_machine_read(&tree.root, NULL, &t), -ENODEV);
        hn_tree_write(&tree, NODE "online", "0-1\n", 0);
        assert_int_equal(hn_machine_read(&tree.root, NULL, &t), -ENODEV);
        hn_tree_drop(&tree);
}

static void machines_can_be_described(void **state) {
        static const struct {
                const char *source;
                int r;
                size_t n_nodes;
                unsigned cores, cpus, llcs, package_of_last;
                bool numa;
        } rows[] = {
                { "package:2 numa:2 l3:1 core:4 pu:2", 0, 4, 4, 8, 1, 1, true },
                { "numa:64 core:2 pu:1", 0, 64, 2, 2, 2, 0, true },
                { "numa:1 core:2 pu:1", 0, 1, 2, 2, 2, 0, false },
                { "numa:2 l2:2 core:1 pu:4", 0, 2, 2, 8, 2, 0, true },
                { "numa:nonsense", -EINVAL, 0, 0, 0, 0, 0, false },
                { "", -EINVAL, 0, 0, 0, 0, 0, false },
                { "nowhere.xml", -ENOENT, 0, 0, 0, 0, 0, false },
                { "/nowhere/machine", -ENOENT, 0, 0, 0, 0, 0, false },
        };
        struct hn_sysroot root;

        (void) state;
        assert_int_equal(hn_sysroot_open("/", &root), 0);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_topology t;

                assert_int_equal(hn_machine_read(&root, rows[i].source, &t), rows[i].r);
                if (rows[i].r < 0)
                        continue;
                assert_int_equal(t.n_nodes, rows[i].n_nodes);
                assert_int_equal(hn_topology_is_numa(&t), rows[i].numa);
                assert_int_equal(t.nodes[t.n_nodes - 1].package, rows[i].package_of_last);
                assert_true(hn_mask_empty(&t.isolated) && hn_mask_equal(&t.online, &t.possible));
                for (size_t n = 0; n < t.n_nodes; n++) {
                        assert_int_equal(t.nodes[n].n_cores, rows[i].cores);
                        assert_int_equal(t.nodes[n].n_cpus, rows[i].cpus);
                        assert_int_equal(t.nodes[n].n_llcs, rows[i].llcs);
                        assert_true(t.nodes[n].memory > 0);
                }
                hn_topology_deinit(&t);
        }
        hn_sysroot_close(&root);
}

static const char xml[] =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<topology version=\"2.0\">\n"
        "<object type=\"Machine\" os_index=\"0\" cpuset=\"0xf\" complete_cpuset=\"0x1f\""
        " allowed_cpuset=\"0xf\""
        " nodeset=\"0x104\" complete_nodeset=\"0x104\" allowed_nodeset=\"0x104\">\n"
        "<object type=\"Package\" os_index=\"0\" cpuset=\"0x3\" complete_cpuset=\"0x3\" nodeset=\"0x4\""
        " complete_nodeset=\"0x4\">\n"
        "<object type=\"NUMANode\" os_index=\"2\" cpuset=\"0x3\" complete_cpuset=\"0x3\" nodeset=\"0x4\""
        " complete_nodeset=\"0x4\" local_memory=\"4096\"/>\n"
        "<object type=\"PU\" os_index=\"0\" cpuset=\"0x1\" complete_cpuset=\"0x1\" nodeset=\"0x4\""
        " complete_nodeset=\"0x4\"/>\n"
        "<object type=\"PU\" os_index=\"1\" cpuset=\"0x2\" complete_cpuset=\"0x2\" nodeset=\"0x4\""
        " complete_nodeset=\"0x4\"/>\n</object>\n"
        "<object type=\"Package\" os_index=\"1\" cpuset=\"0xc\" complete_cpuset=\"0xc\" nodeset=\"0x100\""
        " complete_nodeset=\"0x100\">\n"
        "<object type=\"NUMANode\" os_index=\"8\" cpuset=\"0xc\" complete_cpuset=\"0xc\" nodeset=\"0x100\""
        " complete_nodeset=\"0x100\" local_memory=\"8192\"/>\n"
        "<object type=\"PU\" os_index=\"2\" cpuset=\"0x4\" complete_cpuset=\"0x4\" nodeset=\"0x100\""
        " complete_nodeset=\"0x100\"/>\n"
        "<object type=\"PU\" os_index=\"3\" cpuset=\"0x8\" complete_cpuset=\"0x8\" nodeset=\"0x100\""
        " complete_nodeset=\"0x100\"/>\n</object>\n</object>\n"
        "<distances2 type=\"NUMANode\" nbobjs=\"2\" kind=\"5\" indexing=\"os\">\n"
        "<indexes length=\"4\">2 8 </indexes>\n<u64values length=\"12\">10 31 12 10 </u64values>\n"
        "</distances2>\n</topology>\n";

static void machines_come_as_xml(void **state) {
        static const struct want want = {
                2, true, true, { { 2, "0-1", NULL, 4, 0 }, { 8, "2-3", NULL, 8, 0 } }, { 10, 31, 12, 10 }
        };
        struct hn_topology t;
        struct hn_tree tree;
        char path[128];

        (void) state;
        hn_tree_make(&tree);
        hn_tree_write(&tree, "machine.xml", xml, 0);
        hn_tree_write(&tree, "broken.xml", "<topology><object type=", 0);
        (void) snprintf(path, sizeof(path), "%s/machine.xml", tree.path);
        assert_int_equal(hn_machine_read(&tree.root, path, &t), 0);
        check(&t, &want);
        assert_int_equal(hn_mask_count(&t.possible), 5);
        hn_topology_deinit(&t);
        (void) snprintf(path, sizeof(path), "%s/broken.xml", tree.path);
        assert_true(hn_machine_read(&tree.root, path, &t) < 0);
        hn_tree_drop(&tree);
}

/* What a shell exports for hwloc's own tools is not ours to follow, nor to change. */
static void the_environment_stays(void **state) {
        struct hn_topology t;
        struct hn_tree tree;

        (void) state;
        hn_tree_make(&tree);
        hn_tree_write(&tree, CPU "online", "0-1\n", 0);
        assert_int_equal(setenv("HWLOC_SYNTHETIC", "numa:8 pu:8", 1), 0);
        assert_int_equal(setenv("HWLOC_FSROOT", "/nowhere", 1), 0);
        assert_int_equal(hn_machine_read(&tree.root, NULL, &t), 0);
        assert_int_equal(t.n_nodes, 1);
        hn_topology_deinit(&t);
        assert_string_equal(getenv("HWLOC_SYNTHETIC"), "numa:8 pu:8");
        assert_string_equal(getenv("HWLOC_FSROOT"), "/nowhere");
        assert_null(getenv("HWLOC_HIDE_ERRORS"));
        assert_int_equal(unsetenv("HWLOC_SYNTHETIC") | unsetenv("HWLOC_FSROOT"), 0);
        hn_tree_drop(&tree);
}

static void the_live_machine_reads(void **state) {
        struct hn_sysroot root;
        struct hn_topology t;
        unsigned n = 0;

        (void) state;
        assert_int_equal(hn_sysroot_open(NULL, &root), 0);
        assert_int_equal(hn_machine_read(&root, NULL, &t), 0);
        assert_true(t.n_nodes > 0);
        for (size_t i = 0; i < t.n_nodes; i++)
                n += hn_mask_count(&t.nodes[i].cpus);
        assert_true(n > 0 && n <= hn_mask_count(&t.online));
        assert_true(hn_mask_subset(&t.online, &t.possible));
        assert_false(hn_machine_changed(&root, &t));
        hn_topology_deinit(&t);
        hn_sysroot_close(&root);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(odd_trees_are_read_as_they_are),
                cmocka_unit_test(nonsense_is_no_distance),
                cmocka_unit_test(changes_are_noticed),
                cmocka_unit_test(a_root_without_cpus_is_no_machine),
                cmocka_unit_test(machines_can_be_described),
                cmocka_unit_test(machines_come_as_xml),
                cmocka_unit_test(the_environment_stays),
                cmocka_unit_test(the_live_machine_reads),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
