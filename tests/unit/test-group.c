/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/macro.h"
#include "policy/group.h"
#include "rows.h"

static void active_nodes(void **state) {
        static const struct {
                uint64_t cpu[3];
                unsigned active; /* bit by bit */
        } rows[] = {
                { { 900, 301, 300 }, 3 },
                { { 100, 0, 0 }, 1 },
                { { 0, 0, 0 }, 0 },
                { { 1, 1, 1 }, 7 },
                { { UINT64_MAX, UINT64_MAX / 3 + 1, UINT64_MAX / 3 }, 3 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_mask active = hn_active_nodes(rows[i].cpu, 3);

                for (unsigned k = 0; k < 4; k++)
                        ROW_EQUAL(i, hn_mask_has(&active, k), (rows[i].active >> k) & 1);
        }
}

static void joining(void **state) {
        static const struct {
                unsigned mine, theirs;
                bool same_memory, shared_mapping, tie_against_me, join;
        } rows[] = {
                { 1, 3, true, false, false, true },   { 3, 1, true, false, false, false },
                { 2, 2, false, true, true, false },   { 2, 2, false, true, false, true },
                { 1, 4, false, false, false, false }, { 1, 2, true, false, true, true },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i,
                          hn_group_join(rows[i].mine, rows[i].theirs, rows[i].same_memory,
                                        rows[i].shared_mapping, rows[i].tie_against_me),
                          rows[i].join);
}

static void page_moves(void **state) {
        static const struct {
                uint64_t cpu_to, cpu_from, memory_to, memory_from;
                bool move;
        } rows[] = {
                { 600, 400, 500, 500, true },  { 550, 450, 500, 500, false },
                { 900, 250, 900, 100, true }, /* more than three times */
                { 900, 300, 900, 100, false }, { 500, 500, 300, 700, true },
                { 400, 300, 1, 1, false }, /* a third more exactly */
                { 401, 300, 1, 1, true },      { 1, 0, 0, 0, true },
                { 0, 0, 0, 0, false },         { UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, false },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i,
                          hn_page_move(rows[i].cpu_to, rows[i].cpu_from, rows[i].memory_to,
                                       rows[i].memory_from),
                          rows[i].move);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(active_nodes),
                cmocka_unit_test(joining),
                cmocka_unit_test(page_moves),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
