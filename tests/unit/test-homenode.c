/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* libhomenode as its users have it: the shared library, by way of homenode.h alone. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <sched.h>

#include "fakeroot.h"
#include "homenode.h"
#include "puppet.h"

#define CPU  "sys/devices/system/cpu/"
#define NODE "sys/devices/system/node/"

/* Ids with holes, a node without CPUs, an isolated CPU, a matrix that is not symmetric; and three threads. */
static const struct hn_tree_file files[] = {
        { CPU "online", "0-3,8-9\n", 0 },
        { CPU "isolated", "3\n", 0 },
        { NODE "online", "2,4,33\n", 0 },
        { NODE "node2/cpulist", "0-3\n", 0 },
        { NODE "node2/meminfo", "Node 2 MemTotal: 100 kB\n", 0 },
        { NODE "node2/distance", "10 17 31\n", 0 },
        { NODE "node4/cpulist", "\n", 0 },
        { NODE "node4/meminfo", "Node 4 MemTotal: 300 kB\n", 0 },
        { NODE "node4/distance", "17 10 28\n", 0 },
        { NODE "node33/cpulist", "8-9\n", 0 },
        { NODE "node33/meminfo", "Node 33 MemTotal: 0 kB\n", 0 },
        { NODE "node33/distance", "12 28 10\n", 0 },
        { "proc/sys/kernel/numa_balancing", "1\n", 0 },
        { "proc/7/stat",
          "7 (a) R 1 7 7 0 -1 0 0 0 0 0 9 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 8 0 0 0 0 0 0 0 0 0 0 0 0 "
          "0\n",
          0 },
        { "proc/7/sched",
          "a (7, #threads: 1)\n-------------------------------------------------------------------\nnuma_preferred_nid : 2\n"
          "numa_faults node=2 task_private=500 task_shared=100 group_private=0 group_shared=0\n"
          "numa_faults node=33 task_private=200 task_shared=200 group_private=0 group_shared=0\n",
          0 },
        { "proc/8/stat",
          "8 (b) R 1 8 8 0 -1 0 0 0 0 0 9 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 "
          "0\n",
          0 },
        { "proc/8/numa_maps", "1000 default anon=4 N2=1 N33=3 kernelpagesize_kB=4\n", 0 },
        { "proc/9/stat",
          "9 (c) R 1 9 9 0 -1 0 0 0 0 0 9 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 7 0 0 0 0 0 0 0 0 0 0 0 0 "
          "0\n",
          0 },
        { "proc/9/numa_maps", "1000 default\n", 0 },
};

struct stage {
        struct hn_tree tree;
        struct hn_machine *machine;
};

static int setup(void **state) {
        struct stage *s = calloc(1, sizeof(*s));

        assert_non_null(s);
        hn_tree_make(&s->tree);
        hn_tree_write_all(&s->tree, files, HN_ELEMENTS(files));
        assert_int_equal(hn_machine_open(s->tree.path, &s->machine), 0);
        *state = s;
        return 0;
}

static int teardown(void **state) {
        struct stage *s = *state;

        assert_null(hn_machine_close(s->machine));
        hn_tree_drop(&s->tree);
        free(s);
        return 0;
}

static void the_machine(void **state) {
        const struct stage *s = *state;
        unsigned ids[4] = { 0 };
        char list[16];

        assert_int_equal(hn_machine_nodes(s->machine, NULL, 0), 3);
        assert_int_equal(hn_machine_nodes(s->machine, ids, 2), 3);
        assert_int_equal(ids[2], 0);
        assert_int_equal(hn_machine_nodes(s->machine, ids, 4), 3);
        assert_int_equal(ids[0], 2);
        assert_int_equal(ids[1], 4);
        assert_int_equal(ids[2], 33);

        assert_int_equal(hn_machine_node_cpus(s->machine, 2, list, sizeof(list)), 3);
        assert_string_equal(list, "0-2");
        assert_int_equal(hn_machine_node_cpus(s->machine, 4, list, sizeof(list)), 0);
        assert_string_equal(list, "");
        assert_int_equal(hn_machine_node_cpus(s->machine, 0, list, sizeof(list)), -ENOENT);
        assert_int_equal(hn_machine_node_cpus(s->machine, 33, list, 3), -ENOBUFS);

        assert_int_equal(hn_machine_node_memory(s->machine, 2), 100 << 10);
        assert_int_equal(hn_machine_node_memory(s->machine, 33), 0);
        assert_int_equal(hn_machine_node_memory(s->machine, 3), 0);
        assert_int_equal(hn_machine_node_distance(s->machine, 2, 33), 31);
        assert_int_equal(hn_machine_node_distance(s->machine, 33, 2), 12);
        assert_int_equal(hn_machine_node_distance(s->machine, 4, 4), 10);
        assert_int_equal(hn_machine_node_distance(s->machine, 2, 3), 0);
        assert_string_equal(hn_library_version(), HN_VERSION);
}

static void homes(void **state) {
        static const struct {
                pid_t tid;
                struct hn_home home; /* source, node, share, local, runs on */
        } rows[] = {
                { 7, { HN_HOME_FAULTS, 2, 600, 400, 33 } },
                { 8, { HN_HOME_PAGES, 33, 750, 250, 2 } },
                { 9, { HN_HOME_UNKNOWN, 0, 0, 0, 0 } },
        };
        const struct stage *s = *state;
        struct hn_home home = { .node = 4711 };

        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                assert_int_equal(hn_machine_find_home(s->machine, rows[i].tid, &home), 0);
                assert_int_equal(home.source, rows[i].home.source);
                if (home.source == HN_HOME_UNKNOWN)
                        continue;
                assert_int_equal(home.node, rows[i].home.node);
                assert_int_equal(home.share, rows[i].home.share);
                assert_int_equal(home.local, rows[i].home.local);
                assert_int_equal(home.runs_on, rows[i].home.runs_on);
        }
        home.node = 4711;
        assert_int_equal(hn_machine_find_home(s->machine, 10, &home), -ESRCH);
        assert_int_equal(home.node, 4711); /* written on success only */

        /* Faults of a kernel that no longer counts are those of long ago. */
        hn_tree_write(&s->tree, "proc/sys/kernel/numa_balancing", "0\n", 0);
        hn_tree_write(&s->tree, "proc/7/numa_maps", "1000 default anon=4 N4=4 kernelpagesize_kB=4\n", 0);
        assert_int_equal(hn_machine_find_home(s->machine, 7, &home), 0);
        assert_int_equal(home.source, HN_HOME_PAGES);
        assert_int_equal(home.node, 4);
}

static void a_capture_is_not_acted_on(void **state) {
        const struct stage *s = *state;

        assert_int_equal(hn_machine_pin(s->machine, getpid(), 2), -EROFS);
}

static void what_cannot_be_opened(void **state) {
        struct hn_machine *m = NULL;

        (void) state;
        assert_int_equal(hn_machine_open("/nonexistent", &m), -ENOENT);
        assert_null(m);
        assert_null(hn_machine_close(NULL));
}

static void this_machine(void **state) {
        struct hn_machine *m;
        cpu_set_t before, after;
        struct hn_home home;
        unsigned id;
        char list[4096];
        struct puppet p;
        size_t n;

        (void) state;
        assert_int_equal(hn_machine_open(NULL, &m), 0);
        n = hn_machine_nodes(m, &id, 1);
        assert_true(n >= 1);
        assert_true(hn_machine_node_cpus(m, id, list, sizeof(list)) >= 0);
        assert_int_equal(hn_machine_find_home(m, getpid(), &home), 0);

        puppet_start(&p);
        assert_int_equal(sched_getaffinity(p.pid, sizeof(before), &before), 0);
        assert_int_equal(hn_machine_pin(m, p.pid, 4711), -ENOENT);
        assert_int_equal(hn_machine_pin(m, p.pid, id), 0);
        assert_int_equal(sched_getaffinity(p.pid, sizeof(after), &after), 0);
        CPU_AND(&before, &before, &after);
        assert_true(CPU_EQUAL(&before, &after)); /* never beyond what it had */
        puppet_stop(&p);
        assert_int_equal(hn_machine_pin(m, p.pid, id), -ESRCH);
        (void) hn_machine_close(m);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(the_machine, setup, teardown),
                cmocka_unit_test_setup_teardown(homes, setup, teardown),
                cmocka_unit_test_setup_teardown(a_capture_is_not_acted_on, setup, teardown),
                cmocka_unit_test(what_cannot_be_opened),
                cmocka_unit_test(this_machine),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
