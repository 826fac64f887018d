/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "fakeroot.h"
#include "sample/sysfs.h"

static const struct {
        const char *text;
        int r;
        const char *want;
} cpumaps[] = {
        { "0\n", 0, "" },
        { "3\n", 0, "0-1" },
        { "ff", 0, "0-7" },
        { "FF", 0, "0-7" },
        { "00000000,0000ffff\n", 0, "0-15" },
        { "000f,c0000000\n", 0, "30-35" },
        { "1,0,0", 0, "64" },
        { "80000000,00000000", 0, "63" },
        { "", 0, "" },
        { "\n", 0, "" },
        { "0x3", -EINVAL, "" },
        { "3,", -EINVAL, "" },
        { ",3", -EINVAL, "" },
        { "3,,3", -EINVAL, "" },
        { "123456789", -EINVAL, "" },
        { "3 3", -EINVAL, "" },
        { "(null)", -EINVAL, "" },
};

static void maps_of_cpus(void **state) {
        char list[HN_MASK_LIST_MAX], words[9 * 300];

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(cpumaps); i++) {
                struct hn_mask m = HN_MASK_NULL;

                assert_int_equal(hn_cpumap_parse(cpumaps[i].text, strlen(cpumaps[i].text), &m), cpumaps[i].r);
                assert_true(hn_mask_print_list(&m, list, sizeof(list)) >= 0);
                assert_string_equal(list, cpumaps[i].want);
        }

        /* Longer than any mask: fine as long as only zeros stick out. */
        for (size_t i = 0; i < 257; i++)
                memcpy(words + 9 * i, "00000000,", 9);
        words[9 * 257 - 1] = '\0';
        for (size_t bit = 0; bit < 2; bit++) {
                struct hn_mask m;

                words[7] = (char) ('0' + bit);
                assert_int_equal(hn_cpumap_parse(words, strlen(words), &m), bit ? -ERANGE : 0);
        }
}

static const struct {
        const char *text;
        int r;
        size_t n;
        unsigned row[4];
} distances[] = {
        { "10 20\n", 0, 2, { 10, 20 } },
        { "10 16 32 33", 0, 4, { 10, 16, 32, 33 } },
        { "10 4294967295", 0, 2, { 10, UINT32_MAX } },
        { " 10\t20 \n", 0, 2, { 10, 20 } },
        { "", 0, 0, {} },
        { "10 x", -EINVAL, 0, {} },
        { "10 -1", -EINVAL, 0, {} },
        { "10 4294967296", -ERANGE, 0, {} },
        { "1 2 3 4 5", -ERANGE, 0, {} },
};

static void rows_of_distances(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(distances); i++) {
                unsigned row[4] = {};
                size_t n = 0;

                assert_int_equal(hn_distances_parse(distances[i].text, strlen(distances[i].text), row, 4, &n),
                                 distances[i].r);
                assert_int_equal(n, distances[i].n);
                assert_memory_equal(row, distances[i].row, n * sizeof(*row));
        }
}

static void numbered_names(void **state) {
        static const struct {
                const char *name;
                int r;
                unsigned want;
        } rows[] = {
                { "node0", 0, 0 },        { "node255", 0, 255 },
                { "node", -EINVAL, 0 },   { "node1x", -EINVAL, 0 },
                { "nodes1", -EINVAL, 0 }, { "node-1", -EINVAL, 0 },
                { "nod", -EINVAL, 0 },    { "node99999999999", -EINVAL, 0 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                unsigned id = 0;

                assert_int_equal(hn_numbered_name_parse(rows[i].name, "node", &id), rows[i].r);
                assert_int_equal(id, rows[i].want);
        }
}

/* B23: an isolated list may be empty, a bare newline, or the kernel's "(null)". */
static void what_a_file_says_and_does_not(void **state) {
        static const struct {
                const char *text;
                size_t size;
                int r;
                const char *want;
        } rows[] = {
                { "2-3\n", 0, _HN_SYSFS_OK, "2-3" },
                { "\n", 0, _HN_SYSFS_OK, "" },
                { "", 0, _HN_SYSFS_OK, "" },
                { "0-7\n\0\0", 6, _HN_SYSFS_OK, "0-7" },
                { "  (null)\n", 0, HN_SYSFS_ABSENT, "" },
                { "0-9999\n", 0, HN_SYSFS_ABSENT, "" },
        };
        char list[HN_MASK_LIST_MAX];
        struct hn_mask m;
        struct hn_tree t;

        (void) state;
        hn_tree_make(&t);
        assert_int_equal(hn_sysfs_read_list(&t.root, "isolated", &m), HN_SYSFS_ABSENT);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                m = HN_MASK_NULL;
                hn_tree_write(&t, "isolated", rows[i].text, rows[i].size);
                assert_int_equal(hn_sysfs_read_list(&t.root, "isolated", &m), rows[i].r);
                assert_true(hn_mask_print_list(&m, list, sizeof(list)) >= 0);
                assert_string_equal(list, rows[i].want);
        }
        hn_tree_drop(&t);
}

#define NODE "sys/devices/system/node/"

static void nodes_by_list_or_by_folder(void **state) {
        static const struct hn_tree_file folders[] = {
                { NODE "node0/cpulist", "0-1\n", 0 },
                { NODE "node12/cpumap", "c\n", 0 },
                { NODE "node5000/cpulist", "2\n", 0 },
                { NODE "nodes/cpulist", "3\n", 0 },
        };
        char list[HN_MASK_LIST_MAX];
        unsigned row[2];
        struct hn_mask m;
        struct hn_tree t;
        size_t n;

        (void) state;
        hn_tree_make(&t);
        assert_int_equal(hn_sysfs_read_node_ids(&t.root, &m), HN_SYSFS_ABSENT);
        hn_tree_write_all(&t, folders, HN_ELEMENTS(folders));
        assert_int_equal(hn_sysfs_read_node_ids(&t.root, &m), 0);
        assert_true(hn_mask_print_list(&m, list, sizeof(list)) >= 0);
        assert_string_equal(list, "0,12");
        hn_tree_write(&t, NODE "online", "12\n", 0);
        assert_int_equal(hn_sysfs_read_node_ids(&t.root, &m), 0);
        assert_true(hn_mask_print_list(&m, list, sizeof(list)) >= 0);
        assert_string_equal(list, "12");

        assert_int_equal(hn_sysfs_read_node_cpus(&t.root, 12, &m), 0);
        assert_true(hn_mask_print_list(&m, list, sizeof(list)) >= 0);
        assert_string_equal(list, "2-3");
        assert_int_equal(hn_sysfs_read_node_cpus(&t.root, 7, &m), HN_SYSFS_ABSENT);

        assert_int_equal(hn_sysfs_read_node_distances(&t.root, 0, row, 2, &n), HN_SYSFS_ABSENT);
        hn_tree_write(&t, NODE "node0/distance", "10 20\n", 0);
        assert_int_equal(hn_sysfs_read_node_distances(&t.root, 0, row, 2, &n), 0);
        assert_int_equal(n, 2);
        assert_int_equal(row[1], 20);
        hn_tree_drop(&t);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(maps_of_cpus),
                cmocka_unit_test(rows_of_distances),
                cmocka_unit_test(numbered_names),
                cmocka_unit_test(what_a_file_says_and_does_not),
                cmocka_unit_test(nodes_by_list_or_by_folder),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
