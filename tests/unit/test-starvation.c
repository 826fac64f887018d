/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "base/macro.h"
#include "policy/starvation.h"
#include "rows.h"

static struct hn_mask bits(unsigned value) {
        struct hn_mask m = HN_MASK_NULL;

        for (unsigned i = 0; i < 32; i++)
                if ((value >> i) & 1)
                        (void) hn_mask_add(&m, i);
        return m;
}

static void who_works_for_the_others(void **state) {
        static const struct {
                unsigned idle, housekeeping, node, cpu;
        } rows[] = {
                { 0xf0, 0xff, 0xf0, 4 }, { 0x02, 0xff, 0xf0, HN_MASK_NONE },
                { 0xc0, 0x7f, 0xf0, 6 }, { 0, 0xff, 0xff, HN_MASK_NONE },
                { 0xff, 0xff, 0x0f, 0 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_mask idle = bits(rows[i].idle), keep = bits(rows[i].housekeeping),
                               node = bits(rows[i].node);

                ROW_EQUAL(i, hn_ilb_pick(&idle, &keep, &node), rows[i].cpu);
        }
}

static void waiting(void **state) {
        static const struct {
                uint32_t running[3];
                size_t n;
                uint64_t waiting;
        } rows[] = {
                { { 3, 1, 0 }, 3, 2 }, { { 1, 1, 1 }, 3, 0 },
                { { 0, 5, 7 }, 2, 4 }, /* a CPU more than there is */
                { { 2, 0, 0 }, 3, 1 }, { { 0 }, 0, 0 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_waiting(rows[i].running, rows[i].n), rows[i].waiting);
}

static void starved(void **state) {
        static const struct {
                hn_usec_t idle_since, now;
                uint64_t waiting;
                bool starved;
        } rows[] = {
                { 0, 1500, 3, false },
                { 0, 2000, 3, true },
                { 0, 2000, 1, true },
                { 0, 9000, 0, false },
                { HN_USEC_INFINITY, 9000, 3, false },
                { 1, 2000, 3, false },
                { HN_USEC_INFINITY - 1, HN_USEC_INFINITY - 1, 3, false },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_starved(rows[i].idle_since, rows[i].now, 2000, rows[i].waiting),
                          rows[i].starved);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(who_works_for_the_others),
                cmocka_unit_test(waiting),
                cmocka_unit_test(starved),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
