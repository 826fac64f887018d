/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "fakeroot.h"
#include "sample/meminfo.h"

#define KIB UINT64_C(1024)

static const struct {
        const char *text;
        struct hn_meminfo want;
} rows[] = {
        { "", {} },
        { "Node 0 MemTotal:        2000 kB\nNode 0 MemFree:  1000 kB\nNode 0 Active(file): 300 kB\n"
          "Node 0 Inactive(file): 200 kB\nNode 0 Dirty: 50 kB\nNode 0 Writeback: 20 kB\n"
          "Node 0 WritebackTmp: 9 kB\n",
          { 2000 * KIB, 1000 * KIB, 430 * KIB } },
        { "MemTotal: 2000 kB\nMemFree: 1000 kB\nMemAvailable: 1500 kB\n", { 2000 * KIB, 1000 * KIB, 0 } },
        /* Dirty pages are part of Inactive(file), but counted a moment later. */
        { "MemTotal: 100 kB\nInactive(file): 5 kB\nDirty: 7 kB\n", { 100 * KIB, 0, 0 } },
        /* No more than there is. */
        { "MemTotal: 100 kB\nMemFree: 90 kB\nActive(file): 50 kB\n", { 100 * KIB, 90 * KIB, 10 * KIB } },
        { "MemTotal: 100 kB\nMemFree: 900 kB\n", { 100 * KIB, 100 * KIB, 0 } },
        /* Damaged lines say nothing. */
        { "MemTotal: 12x kB\nMemFree:\nNode\nNode 0\nNode 0 MemFree: 3 kB\n:\nActive(file) 4 kB\n",
          { 0, 3 * KIB, 0 } },
        { "MemTotal: 18446744073709551615 kB\nMemFree: 99999999999999999999 kB\n", {} },
        { "Active(file): 18014398509481983 kB\nInactive(file): 18014398509481983 kB\n",
          { 0, 0, UINT64_MAX } },
        { "XMemFree: 1 kB\nMemFreeX: 1 kB\nmemfree: 1 kB\n", {} },
        { "Node 255 MemFree: 7 kB", { 0, 7 * KIB, 0 } },
        { "MemFree: 7", { 0, 7 * KIB, 0 } },
};

static void figures(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_meminfo m;

                hn_meminfo_parse(rows[i].text, strlen(rows[i].text), &m);
                assert_true(m.total == rows[i].want.total);
                assert_true(m.free == rows[i].want.free);
                assert_true(m.reclaimable == rows[i].want.reclaimable);
        }
}

static void a_missing_file_reads_zero(void **state) {
        struct hn_meminfo m = { 1, 1, 1 };
        struct hn_tree t;

        (void) state;
        hn_tree_make(&t);
        assert_int_equal(hn_meminfo_read_node(&t.root, 3, &m), 0);
        assert_true(m.total == 0 && m.free == 0 && m.reclaimable == 0);
        assert_int_equal(hn_meminfo_read(&t.root, &m), 0);
        assert_true(m.total == 0);
        hn_tree_write(&t, "sys/devices/system/node/node3/meminfo", "Node 3 MemTotal: 5 kB\n\0\0", 24);
        hn_tree_write(&t, "proc/meminfo", "MemTotal: 6 kB\n", 0);
        assert_int_equal(hn_meminfo_read_node(&t.root, 3, &m), 0);
        assert_true(m.total == 5 * KIB);
        assert_int_equal(hn_meminfo_read(&t.root, &m), 0);
        assert_true(m.total == 6 * KIB);
        hn_tree_drop(&t);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(figures),
                cmocka_unit_test(a_missing_file_reads_zero),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
