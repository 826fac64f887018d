/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "fakeroot.h"
#include "sample/runqueue.h"

#define N_CPUS 3

static const struct {
        const char *text;
        size_t taken;
        uint64_t want[N_CPUS];
} rows[] = {
        { "", 0, {} },
        { "version 15\ntimestamp 4294912345\ncpu0 0 0 0 0 0 0 1000 2000 30\n"
          "domain0 00000003 1 2 3 4 5 6 7 8 9 10\ncpu2 0 0 0 0 0 0 1 7 0\n",
          2,
          { 2000, 0, 7 } },
        { "cpu1 1 2 3 4 5 6 7 8", 1, { 0, 8, 0 } },
        { "cpu1 1 2 3 4 5 6 7\n", 0, {} },
        { "cpu1 1 2 3 4 5 6 x 8 9\n", 0, {} },
        { "cpu1 1 2 3 4 5 6 7 99999999999999999999 9\n", 0, {} },
        { "cpu3 1 2 3 4 5 6 7 8 9\ncpu 1 2 3 4 5 6 7 8 9\ncpu-1 1 2 3 4 5 6 7 8 9\n", 0, {} },
};

static void waits(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                uint64_t waited[N_CPUS] = { 1, 1, 1 };

                assert_int_equal(hn_runqueue_parse(rows[i].text, strlen(rows[i].text), waited, N_CPUS),
                                 rows[i].taken);
                assert_memory_equal(waited, rows[i].want, sizeof(waited));
        }
}

static void a_missing_file_says_nothing(void **state) {
        uint64_t waited[N_CPUS] = { 1 };
        struct hn_tree t;

        (void) state;
        hn_tree_make(&t);
        assert_int_equal(hn_runqueue_read(&t.root, waited, N_CPUS), 0);
        assert_true(waited[0] == 0);
        hn_tree_write(&t, "proc/schedstat", "version 17\ncpu0 1 2 3 4 5 6 7 8 9\n", 0);
        assert_int_equal(hn_runqueue_read(&t.root, waited, N_CPUS), 1);
        assert_true(waited[0] == 8);
        hn_tree_drop(&t);
}

static void waiting_tasks_by_node(void **state) {
        static const struct {
                uint64_t before[N_CPUS], now[N_CPUS], elapsed;
                uint32_t want[2];
        } looks[] = {
                { { 0, 0, 0 }, { 0, 0, 0 }, 1000, { 0, 0 } },
                { { 5, 5, 5 }, { 505, 1005, 2005 }, 1000, { 500, 2000 } }, /* CPU 1 is isolated */
                { { 5, 5, 5 }, { 4, 5, 6 }, 1000, { 0, 1 } },
                { { 0, 0, 0 }, { 9, 9, 9 }, 0, { 0, 0 } },
                { { 0, 0, 0 }, { UINT64_MAX, 0, 0 }, 1, { UINT32_MAX, 0 } },
        };
        struct hn_topology t;

        (void) state;
        assert_int_equal(hn_topology_init(&t, 2, N_CPUS), 0);
        hn_mask_add(&t.nodes[0].usable, 0);
        hn_mask_add(&t.nodes[1].usable, 2);
        for (size_t i = 0; i < HN_ELEMENTS(looks); i++) {
                uint32_t waiting[2];

                hn_runqueue_between(&t, looks[i].before, looks[i].now, N_CPUS, looks[i].elapsed, waiting);
                assert_int_equal(waiting[0], looks[i].want[0]);
                assert_int_equal(waiting[1], looks[i].want[1]);
        }
        hn_topology_deinit(&t);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(waits),
                cmocka_unit_test(a_missing_file_says_nothing),
                cmocka_unit_test(waiting_tasks_by_node),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
