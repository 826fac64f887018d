/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "allowance.h"
#include "fakeroot.h"
#include "rows.h"
#include "runshow.h"

#define NODE(n, cpus) \
        { "sys/devices/system/node/node" n "/cpulist", cpus "\n", 0 }

/* Nodes 1 and 4 with CPUs, 6 with memory only; a CPU that is offline. */
static const struct hn_tree_file machine[] = {
        { "proc/self/status", "Name:\tx\nTgid:\t7\nCpus_allowed_list:\t0-3,900\nMems_allowed_list:\t4,6,50\n",
          0 },
        { "sys/devices/system/cpu/possible", "0-7\n", 0 },
        { "sys/devices/system/cpu/online", "0-6\n", 0 },
        { "sys/devices/system/node/online", "1,4,6\n", 0 },
        NODE("1", "0-3"),
        NODE("4", "4-7"),
        NODE("6", ""),
        { "sys/devices/system/node/node1/distance", "10 20 40\n", 0 },
        { "sys/devices/system/node/node4/distance", "20 10 40\n", 0 },
        { "sys/devices/system/node/node6/distance", "40 40 10\n", 0 },
        { "sys/devices/system/node/node4/meminfo", "Node 4 MemTotal: 4096 kB\nNode 4 MemFree: 2048 kB\n", 0 },
};

static void assert_list(const struct hn_mask *m, const char *want) {
        char got[HN_MASK_LIST_MAX];

        assert_true(hn_mask_print_list(m, got, sizeof(got)) >= 0);
        assert_string_equal(got, want);
}

static void what_is_there_and_what_may_be_used(void **state) {
        struct hn_allowance a;
        struct hn_why why = HN_WHY_NULL;
        struct hn_tree t;

        (void) state;
        hn_tree_make(&t);
        assert_int_equal(hn_allowance_read(&t.root, &a, &why), -ENOENT);
        assert_non_null(strstr(why.text, "/proc/self/status"));
        hn_tree_write_all(&t, machine, HN_ELEMENTS(machine));
        assert_int_equal(hn_allowance_read(&t.root, &a, &why), 0);
        assert_list(&a.nodes, "1,4,6");
        assert_list(&a.mems, "4,6");
        assert_list(&a.cpus, "0-7");
        assert_list(&a.mine, "0-3");
        hn_tree_drop(&t);
}

static void a_machine_without_nodes_has_one(void **state) {
        struct hn_allowance a;
        struct hn_tree t;

        (void) state;
        hn_tree_make(&t);
        hn_tree_write(&t, "proc/self/status", "Tgid:\t7\nCpus_allowed_list:\t0-1\n", 0);
        assert_int_equal(hn_allowance_read(&t.root, &a, NULL), 0);
        assert_list(&a.nodes, "0");
        assert_list(&a.mems, "0");
        assert_list(&a.cpus, "0-1");
        assert_list(&a.mine, "0-1");
        hn_tree_write(&t, "proc/self/status", "\xff\n", 0);
        (void) hn_allowance_read(&t.root, &a, NULL);
        hn_tree_drop(&t);
}

static const struct {
        const char *nodes;
        int r;
        const char *cpus, *say;
} rows[] = {
        { "", -EINVAL, "", "empty" },   { "6", -EINVAL, "", "memory only" },
        { "5", -ENODEV, "", "node 5" }, { "1,5", -ENODEV, "", "node 5" },
        { "1", 0, "0-3", NULL },        { "1,4", 0, "0-7", NULL },
        { "1,6", 0, "0-3", NULL },
};

static void nodes_have_cpus(void **state) {
        struct hn_tree t;

        (void) state;
        hn_tree_make(&t);
        hn_tree_write_all(&t, machine, HN_ELEMENTS(machine));
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_mask nodes, cpus = HN_MASK_NULL;
                struct hn_why why = HN_WHY_NULL;

                assert_int_equal(hn_mask_parse_list(rows[i].nodes, strlen(rows[i].nodes), &nodes), 0);
                ROW_EQUAL(i, hn_allowance_cpus_of(&t.root, &nodes, &cpus, &why), rows[i].r);
                assert_list(&cpus, rows[i].cpus);
                assert_true(rows[i].say ? strstr(why.text, rows[i].say) != NULL : why.text[0] == '\0');
        }
        hn_tree_drop(&t);
}

static void the_inventory_has_holes(void **state) {
        struct hn_allowance a;
        struct hn_tree t;
        char *text = NULL;
        size_t n = 0;
        FILE *f;

        (void) state;
        hn_tree_make(&t);
        hn_tree_write_all(&t, machine, HN_ELEMENTS(machine));
        assert_int_equal(hn_allowance_read(&t.root, &a, NULL), 0);
        for (int ranges = 0; ranges < 2; ranges++) {
                f = open_memstream(&text, &n);
                assert_non_null(f);
                assert_int_equal(hn_run_hardware(&t.root, &a, ranges != 0, f, NULL), 0);
                assert_int_equal(fclose(f), 0);
                assert_ptr_equal(text, strstr(text, "available: 3 nodes (1,4,6)\n"));
                assert_non_null(strstr(text, ranges ? "node 4 cpus: 4-6 (3)\n" : "node 4 cpus: 4 5 6\n"));
                assert_non_null(strstr(text, ranges ? "node 6 cpus: (0)\n" : "node 6 cpus:\n"));
                assert_non_null(strstr(text, "node 4 size: 4 MB\nnode 4 free: 2 MB\n"));
                assert_non_null(strstr(text, "   6:   40   40   10\n"));
                free(text);
        }
        /* A row too short is worse than none. */
        hn_tree_write(&t, "sys/devices/system/node/node1/distance", "10 20\n", 0);
        f = open_memstream(&text, &n);
        assert_non_null(f);
        assert_int_equal(hn_run_hardware(&t.root, &a, false, f, NULL), 0);
        assert_int_equal(fclose(f), 0);
        assert_non_null(strstr(text, "No distance information available.\n"));
        free(text);
        hn_tree_drop(&t);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_is_there_and_what_may_be_used),
                cmocka_unit_test(a_machine_without_nodes_has_one),
                cmocka_unit_test(nodes_have_cpus),
                cmocka_unit_test(the_inventory_has_holes),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
