/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include "fakeroot.h"
#include "sample/machineload.h"

/* Two nodes: CPUs 0-1, of which 1 is isolated, and CPUs 2-3. CPU 4 is on none. */
static void make(struct hn_topology *t) {
        assert_int_equal(hn_topology_init(t, 2, 5), 0);
        t->nodes[1].id = 8;
        for (unsigned cpu = 0; cpu < 4; cpu++) {
                hn_mask_add(&t->nodes[cpu / 2].cpus, cpu);
                if (cpu != 1)
                        hn_mask_add(&t->nodes[cpu / 2].usable, cpu);
                t->cpu_node[cpu] = (hn_node_index) (cpu / 2);
        }
}

static void busy_is_a_difference(void **state) {
        static const struct {
                struct hn_cpu_ticks before[5], now[5];
                uint32_t want[2];
        } rows[] = {
                /* nothing happened; half and all; the isolated CPU and the homeless one do not count */
                { { { 5, 10 }, { 5, 10 }, { 5, 10 }, { 5, 10 } },
                  { { 5, 10 }, { 5, 10 }, { 5, 10 }, { 5, 10 } },
                  { 0, 0 } },
                { { { 0, 100 }, { 0, 100 }, { 0, 100 }, { 0, 100 }, { 0, 100 } },
                  { { 50, 200 }, { 100, 200 }, { 100, 200 }, { 25, 200 }, { 100, 200 } },
                  { 500, 1250 } },
                /* first seen, gone, set back, busy set back */
                { { { 0, 0 }, {}, { 50, 100 }, { 50, 100 } },
                  { { 50, 100 }, {}, { 0, 0 }, { 60, 90 } },
                  { 0, 0 } },
                { { { 50, 100 }, {}, { 50, 100 } }, { { 40, 200 }, {}, { 60, 150 } }, { 0, 200 } },
                /* more busy than time: iowait fell meanwhile */
                { { { 50, 100 } }, { { 70, 110 } }, { 1000, 0 } },
                { { { 1, 1 } }, { { UINT64_MAX, UINT64_MAX } }, { 1000, 0 } },
                { { { 0, 3 } }, { { 2, 6 } }, { 667, 0 } },
        };
        struct hn_topology t;

        (void) state;
        make(&t);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_node_load load[2] = { { .busy = 7, .free = 3 }, { .busy = 7, .free = 3 } };

                hn_machine_busy_between(&t, rows[i].before, rows[i].now, 5, load);
                assert_int_equal(load[0].busy, rows[i].want[0]);
                assert_int_equal(load[1].busy, rows[i].want[1]);
                assert_int_equal(load[0].free, 3);
        }
        hn_topology_deinit(&t);
}

static void it_takes_two_looks(void **state) {
        struct hn_machine_busy busy = HN_MACHINE_BUSY_NULL;
        struct hn_node_load load[2] = {};
        struct hn_topology t;
        struct hn_tree tree;

        (void) state;
        make(&t);
        hn_tree_make(&tree);
        assert_int_equal(hn_machine_read_busy(&tree.root, &t, &busy, load), HN_MACHINE_UNKNOWN);
        hn_tree_write(&tree, "proc/stat", "cpu0 10 0 0 90\ncpu2 10 0 0 90\n", 0);
        assert_int_equal(hn_machine_read_busy(&tree.root, &t, &busy, load), HN_MACHINE_UNKNOWN);
        assert_int_equal(load[0].busy, 0);
        hn_tree_write(&tree, "proc/stat", "cpu0 20 0 0 180\ncpu2 110 0 0 90\n", 0);
        assert_int_equal(hn_machine_read_busy(&tree.root, &t, &busy, load), 0);
        assert_int_equal(load[0].busy, 100);
        assert_int_equal(load[1].busy, 1000);

        /* The file goes and comes: two looks again. */
        hn_tree_delete(&tree, "proc/stat");
        assert_int_equal(hn_machine_read_busy(&tree.root, &t, &busy, load), HN_MACHINE_UNKNOWN);
        assert_int_equal(load[1].busy, 0);
        hn_tree_write(&tree, "proc/stat", "cpu0 20 0 0 180\n", 0);
        assert_int_equal(hn_machine_read_busy(&tree.root, &t, &busy, load), HN_MACHINE_UNKNOWN);

        /* A larger machine than before. */
        hn_topology_deinit(&t);
        assert_int_equal(hn_topology_init(&t, 1, 64), 0);
        assert_int_equal(hn_machine_read_busy(&tree.root, &t, &busy, load), HN_MACHINE_UNKNOWN);
        assert_int_equal(hn_machine_read_busy(&tree.root, &t, &busy, load), 0);
        hn_machine_busy_deinit(&busy);
        hn_machine_busy_deinit(&busy);
        hn_topology_deinit(&t);
        hn_tree_drop(&tree);
}

static void memory_is_by_id(void **state) {
        struct hn_node_load load[2] = { { .busy = 7 }, { .busy = 7 } };
        struct hn_topology t;
        struct hn_tree tree;

        (void) state;
        make(&t);
        hn_tree_make(&tree);
        hn_tree_write(&tree, "sys/devices/system/node/node8/meminfo",
                      "Node 8 MemTotal: 9 kB\nNode 8 MemFree: 4 kB\nNode 8 Active(file): 2 kB\n", 0);
        hn_tree_write(&tree, "proc/meminfo", "MemTotal: 9 kB\nMemFree: 5 kB\n", 0);
        assert_int_equal(hn_machine_read_memory(&tree.root, &t, load), 0);
        assert_int_equal(load[0].free, 0);
        assert_int_equal(load[1].free, 4096);
        assert_int_equal(load[1].reclaimable, 2048);
        assert_int_equal(load[1].busy, 7);
        hn_topology_deinit(&t);

        /* One node without a folder: the machine's own file. */
        assert_int_equal(hn_topology_init(&t, 1, 1), 0);
        assert_int_equal(hn_machine_read_memory(&tree.root, &t, load), 0);
        assert_int_equal(load[0].free, 5120);
        hn_topology_deinit(&t);
        hn_tree_drop(&tree);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(busy_is_a_difference),
                cmocka_unit_test(it_takes_two_looks),
                cmocka_unit_test(memory_is_by_id),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
