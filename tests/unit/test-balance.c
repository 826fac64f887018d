/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/macro.h"
#include "policy/balance.h"
#include "rows.h"

static void names_of_classes(void **state) {
        (void) state;
        for (int i = 0; i < _HN_CLASS_MAX; i++)
                for (int k = 0; k < i; k++)
                        assert_string_not_equal(hn_node_class_to_string((enum hn_node_class) i),
                                                hn_node_class_to_string((enum hn_node_class) k));
        assert_string_equal(hn_node_class_to_string(HN_CLASS_HAS_SPARE), "has-spare");
        assert_string_equal(hn_node_class_to_string(HN_CLASS_FULLY_BUSY), "fully-busy");
        assert_string_equal(hn_node_class_to_string(HN_CLASS_OVERLOADED), "overloaded");
        assert_null(hn_node_class_to_string(_HN_CLASS_MAX));
}

static void classify(void **state) {
        static const struct {
                uint32_t nr, weight;
                uint64_t capacity, util, runnable;
                enum hn_node_class class;
        } rows[] = {
                { 0, 0, 0, 0, 0, HN_CLASS_FULLY_BUSY }, /* a node of memory only has nothing to spare */
                { 1, 0, 0, 1, 1, HN_CLASS_OVERLOADED },
                { 2, 1, UINT64_MAX, UINT64_MAX, 0, HN_CLASS_OVERLOADED },
                { 2, 1, UINT64_MAX, 0, 0, HN_CLASS_HAS_SPARE },
                { 12, 24, 24576, 30000, 40000, HN_CLASS_HAS_SPARE },
                { 24, 24, 24576, 20000, 21000, HN_CLASS_HAS_SPARE },
                { 24, 24, 24576, 24000, 24000, HN_CLASS_FULLY_BUSY },
                { 30, 24, 24576, 24000, 24000, HN_CLASS_OVERLOADED },
                { 30, 24, 24576, 20000, 30000, HN_CLASS_OVERLOADED },
                { 30, 24, 24576, 20000, 21000, HN_CLASS_HAS_SPARE },
                /* 100/108 of the capacity are used exactly, and 108/100 of it asked for */
                { 30, 24, 2700, 2500, 2916, HN_CLASS_FULLY_BUSY },
                { 30, 24, 2700, 2501, 0, HN_CLASS_OVERLOADED },
                { 30, 24, 2700, 0, 2917, HN_CLASS_OVERLOADED },
                { 30, 24, 2700, 2499, 2916, HN_CLASS_FULLY_BUSY },
                { 30, 24, 2700, 2500, 2915, HN_CLASS_FULLY_BUSY },
                { 30, 24, 2700, 2499, 2915, HN_CLASS_HAS_SPARE },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i,
                          hn_node_classify(rows[i].nr, rows[i].weight, rows[i].capacity, rows[i].util,
                                           rows[i].runnable, HN_IMBALANCE_PCT),
                          rows[i].class);
}

static void load_too_imbalanced(void **state) {
        static const struct {
                uint64_t src, dst, task, cap_src, cap_dst;
                bool too;
        } rows[] = {
                { UINT64_MAX, 0, UINT64_MAX, UINT64_MAX, UINT64_MAX,
                  false }, /* the mirror image: equal is allowed */
                { 0, UINT64_MAX / 2, UINT64_MAX / 2, 24576, 24576, true },
                { 100, 0, 1000, 1000, 1000, true }, /* a task larger than what its node was seen with */
                { 10000, 8000, 1000, 24576, 24576, false },
                { 8000, 8000, 1000, 24576, 24576, true },
                { 10000, 9500, 400, 24576, 24576, false },
                { 8000, 8000, 1000, 16384, 32768, false },
                /* The RFC's shortcut would say no to both: the destination is all but idle, and there is
                   none. */
                { 3000, 2500, 1000, 24576, 24576, true },
                { 1000, 200, 900, 24576, 24576, true },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i,
                          hn_load_too_imbalanced(rows[i].src, rows[i].dst, rows[i].task, rows[i].cap_src,
                                                 rows[i].cap_dst),
                          rows[i].too);
}

static void imb_numa_nr(void **state) {
        static const struct {
                uint32_t cpus, llcs, span, first_span, nr;
        } rows[] = {
                { 0, 0, 0, 0, 1 }, { 48, 1, 96, 96, 6 },    { 32, 2, 128, 128, 2 }, { 32, 2, 256, 128, 4 },
                { 4, 1, 8, 8, 1 }, { 128, 8, 256, 256, 8 }, { 2, 1, 1, 1, 1 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_imb_numa_nr(rows[i].cpus, rows[i].llcs, rows[i].span, rows[i].first_span),
                          rows[i].nr);
}

static void adjust_imbalance(void **state) {
        static const struct {
                int64_t imbalance;
                uint32_t running, nr;
                int64_t adjusted;
        } rows[] = {
                { INT64_MAX, 6, 6, INT64_MAX },
                { 2, 4, 6, 0 },
                { 3, 4, 6, 3 },
                { 1, 7, 6, 1 },
                { 0, 7, 6, 0 },
                { 2, 6, 6, 0 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_adjust_imbalance(rows[i].imbalance, rows[i].running, rows[i].nr),
                          rows[i].adjusted);
}

static void may_move(void **state) {
        static const struct {
                uint32_t src, dst, nr;
                bool may;
        } rows[] = {
                { 0, 0, 0, false }, /* a source that was seen empty */
                { UINT32_MAX - 1, UINT32_MAX - 1, UINT32_MAX - 1, false },
                { 10, 3, 6, true },
                { 5, 5, 6, true },
                { 5, 6, 6, false },
                { 20, 20, 6, false },
                { 21, 19, 6, true },
                /* S0's two jobs of 11 on 2 x 12 cores: a node with cores to spare is no invitation once it
                 * runs more than the balancer tolerates. Where the shortcut is, they end as 22 and 0. */
                { 11, 11, 1, false },
                { 10, 12, 1, false },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_may_move(rows[i].src, rows[i].dst, rows[i].nr), rows[i].may);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names_of_classes),    cmocka_unit_test(classify),
                cmocka_unit_test(load_too_imbalanced), cmocka_unit_test(imb_numa_nr),
                cmocka_unit_test(adjust_imbalance),    cmocka_unit_test(may_move),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
