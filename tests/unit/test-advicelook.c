/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "advicelook.h"
#include "advisetree.h"
#include "rows.h"
#include "sample/clock.h"

static const struct hn_advise_machine two = { .n_nodes = 2, .stride = 8, .cpus = 4, .memory_mib = 1000 };

/* `age` in milliseconds; a daemon with process id 7 is there unless `dead`. */
static void states(void **state) {
        static const struct {
                const char *load; /* NULL: no file at all */
                uint64_t age;
                bool dead;
                enum hn_load_source want;
                uint64_t busy[2], claimed[2];
        } rows[] = {
                { NULL, 0, false, HN_LOAD_UNKNOWN, { 0 }, { 0 } },
                { "7", 0, false, HN_LOAD_UNKNOWN, { 0 }, { 0 } },
                { "[]", 0, false, HN_LOAD_UNKNOWN, { 0 }, { 0 } },
                { "[{\"node\":0,\"busy\":1}]", 0, false, HN_LOAD_UNKNOWN, { 0 }, { 0 } },
                { "[{\"node\":0,\"busy\":1},{\"node\":1,\"busy\":1}]",
                  0,
                  false,
                  HN_LOAD_UNKNOWN,
                  { 0 },
                  { 0 } },
                { "[{\"node\":0,\"busy\":1},{\"node\":8,\"busy\":1},{\"node\":9,\"busy\":1}]",
                  0,
                  false,
                  HN_LOAD_UNKNOWN,
                  { 0 },
                  { 0 } },
                { "[{\"node\":0,\"busy\":1},{\"node\":8,\"busy\":\"1\"}]",
                  0,
                  false,
                  HN_LOAD_UNKNOWN,
                  { 0 },
                  { 0 } },
                { "[{\"node\":0,\"busy\":1},7]", 0, false, HN_LOAD_UNKNOWN, { 0 }, { 0 } },
                { "[{\"node\":4294967296,\"busy\":1},{\"node\":8,\"busy\":1}]",
                  0,
                  false,
                  HN_LOAD_UNKNOWN,
                  { 0 },
                  { 0 } },
                { "[{\"node\":8,\"busy\":1500,\"others\":200,\"opted_in\":1900},{\"node\":0,\"busy\":5}]",
                  0,
                  false,
                  HN_LOAD_DAEMON,
                  { 5, 1500 },
                  { 0, 2100 } },
                { "[{\"node\":0,\"busy\":-5,\"others\":-5},{\"node\":8,\"busy\":9223372036854775807,"
                  "\"opted_in\":9223372036854775807}]",
                  0,
                  false,
                  HN_LOAD_DAEMON,
                  { 0, UINT32_MAX },
                  { 0, UINT32_MAX } },
                /* too old by half a second; a clock that was set back; nobody who wrote it */
                { "[{\"node\":8,\"busy\":2},{\"node\":0,\"busy\":5}]",
                  2000,
                  false,
                  HN_LOAD_DAEMON,
                  { 5, 2 },
                  { 0 } },
                { "[{\"node\":8,\"busy\":2},{\"node\":0,\"busy\":5}]",
                  3500,
                  false,
                  HN_LOAD_UNKNOWN,
                  { 0 },
                  { 0 } },
                { "[{\"node\":8,\"busy\":2},{\"node\":0,\"busy\":5}]",
                  0,
                  true,
                  HN_LOAD_UNKNOWN,
                  { 0 },
                  { 0 } },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_advice_look l;
                struct hn_tree tree;
                char text[1024];

                hn_tree_make(&tree);
                hn_advise_tree(&tree, &two);
                if (!rows[i].dead)
                        hn_tree_write(&tree, "proc/7/comm", "homenoded\n", 0);
                if (rows[i].load) {
                        (void) snprintf(
                                text, sizeof(text),
                                "{\"running\":true,\"pid\":7,\"interval_usec\":1000000,\"time_usec\":%" PRIu64
                                ",\"load\":%s}",
                                hn_clock(CLOCK_REALTIME) - rows[i].age * HN_USEC_PER_MSEC, rows[i].load);
                        hn_tree_write(&tree, "state.json", text, 0);
                }
                assert_int_equal(hn_advice_look_take(&tree.root, tree.path, &l), 0);
                ROW_EQUAL(i, l.source, rows[i].want);
                ROW_EQUAL(i, l.topology.n_nodes, 2);
                for (size_t k = 0; k < 2; k++) {
                        ROW_EQUAL(i, l.nodes[k].allowed, true);
                        ROW_EQUAL(i, l.nodes[k].busy, rows[i].busy[k]);
                        ROW_EQUAL(i, l.nodes[k].claimed, rows[i].claimed[k]);
                        ROW_EQUAL(i, l.nodes[k].free, UINT64_C(1000) << 20);
                }
                ROW_EQUAL(i, l.age > 0, rows[i].want == HN_LOAD_DAEMON);
                hn_advice_look_deinit(&l);
                hn_advice_look_deinit(&l);
                hn_tree_drop(&tree);
        }
}

/* The machine the test runs on, whatever it is: it has a load, and does not take long to tell. */
static void the_live_machine(void **state) {
        struct hn_sysroot root;
        struct hn_advice_look l;

        (void) state;
        assert_int_equal(hn_sysroot_open(NULL, &root), 0);
        assert_int_equal(hn_advice_look_take(&root, NULL, &l), 0);
        assert_int_equal(l.source, HN_LOAD_MEASURED);
        assert_true(l.topology.n_nodes > 0);
        for (size_t i = 0; i < l.topology.n_nodes; i++)
                assert_true(l.nodes[i].busy <= UINT64_C(1000) * l.topology.nodes[i].n_cpus);
        hn_advice_look_deinit(&l);
        hn_sysroot_close(&root);
}

static void cpus_can_be_left_out(void **state) {
        struct hn_mask without = HN_MASK_NULL;
        struct hn_advice_look l;
        struct hn_tree tree;

        (void) state;
        hn_tree_make(&tree);
        hn_advise_tree(&tree, &two);
        assert_int_equal(hn_advice_look_take(&tree.root, NULL, &l), 0);
        hn_mask_add_range(&without, 3, 6);
        hn_mask_add_range(&without, 100, 200);
        hn_advice_look_without(&l, &without);
        assert_int_equal(l.topology.nodes[0].n_cpus, 3);
        assert_int_equal(l.topology.nodes[1].n_cpus, 1);
        assert_true(hn_mask_has(&l.topology.nodes[1].usable, 7));
        hn_advice_look_deinit(&l);
        hn_tree_drop(&tree);
}

static void a_place_of_ones_own(void **state) {
        char buf[128], want[128];
        struct hn_tree tree;
        struct stat st;

        (void) state;
        hn_tree_make(&tree);
        assert_int_equal(unsetenv("XDG_RUNTIME_DIR"), 0);
        assert_null(hn_advice_own_place(buf, sizeof(buf)));
        assert_int_equal(setenv("XDG_RUNTIME_DIR", "relative", 1), 0);
        assert_null(hn_advice_own_place(buf, sizeof(buf)));
        assert_int_equal(setenv("XDG_RUNTIME_DIR", "/no/such/folder", 1), 0);
        assert_null(hn_advice_own_place(buf, sizeof(buf)));
        assert_int_equal(setenv("XDG_RUNTIME_DIR", tree.path, 1), 0);
        assert_null(hn_advice_own_place(buf, strlen(tree.path)));
        (void) snprintf(want, sizeof(want), "%s/homenode", tree.path);
        for (unsigned i = 0; i < 2; i++)
                assert_string_equal(hn_advice_own_place(buf, sizeof(buf)), want);
        assert_int_equal(stat(want, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0700);
        hn_tree_drop(&tree);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(states),
                cmocka_unit_test(the_live_machine),
                cmocka_unit_test(cpus_can_be_left_out),
                cmocka_unit_test(a_place_of_ones_own),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
