/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/macro.h"
#include "policy/faults.h"
#include "rows.h"

static void decay(void **state) {
        static const struct {
                uint64_t average, window;
                bool clear;
                uint64_t next;
        } rows[] = {
                { 1, 0, false, 1 }, /* never dies in the kernel */
                { 1, 0, true, 0 },     { 2, 0, true, 0 },    { 2, 0, false, 1 },     { 3, 0, true, 2 },
                { 1, 1, true, 2 },     { 0, 1, true, 1 },    { 0, 100, false, 100 }, { 100, 100, false, 150 },
                { 150, 0, false, 75 }, { 75, 0, false, 38 }, { 0, 0, false, 0 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_decay(rows[i].average, rows[i].window, rows[i].clear), rows[i].next);
}

static void a_constant_input_comes_to_rest(void **state) {
        static const uint64_t series[] = { 100, 150, 175, 188, 194, 197, 199, 200, 200, 200 };
        uint64_t average = 0;

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(series); i++) {
                average = hn_decay(average, 100, false);
                ROW_EQUAL(i, average, series[i]);
        }
        for (size_t i = 0; i < 64; i++)
                average = hn_decay(average, 0, true);
        assert_int_equal(average, 0);
}

static void cpu_weight(void **state) {
        static const struct {
                uint64_t old, runtime, period, faults, all, weight;
        } rows[] = {
                { 0, UINT64_C(1) << 47, 0, 1, 0,
                  UINT64_C(1) << 63 }, /* the shift alone needs more than 64 bits */
                { 0, 500000000, 1000000000, 100, 199, 16383 },
                { 16383, 500000000, 1000000000, 100, 199, 24575 },
                { 16383, 0, 1000000000, 0, 0, 8192 },
                { 0, 0, 0, 0, 0, 0 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i,
                          hn_cpu_weight(rows[i].old, rows[i].runtime, rows[i].period, rows[i].faults,
                                        rows[i].all),
                          rows[i].weight);
}

static void preferred(void **state) {
        static const struct {
                uint64_t faults[4]; /* of a machine of three nodes */
                hn_node_index current, preferred;
        } rows[] = {
                { { 0, 0, 0 }, 2, 2 },
                { { 0, 0, 0 }, HN_NODE_NONE, HN_NODE_NONE },
                { { 0, 0, 1 }, 7, 2 }, /* a current node that is not there has no seat to keep */
                { { 0, 0, 1, 9 }, 3, 2 },
                { { 10, 90, 90 }, 0, 1 }, /* ties: lowest index */
                { { 10, 90, 90 }, 2, 2 }, /* but the incumbent is no worse */
                { { 0, 90, 90 }, HN_NODE_NONE, 1 },
                { { 500, 499, 0 }, HN_NODE_NONE, 0 },
                { { 500, 499, 0 }, 1, 1 }, /* the kernel would go: a fault more is noise */
                { { 900, 800, 0 }, 1, 1 }, /* an eighth more exactly is not more than an eighth */
                { { 901, 800, 0 }, 1, 0 },
                { { 1, 0, 0 }, 1, 0 }, /* nothing is beaten by anything */
                { { 8, 7, 0 }, 1, 0 }, /* an eighth of 7 is 0 */
                { { UINT64_MAX, UINT64_MAX / 2, 0 }, 1, 0 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_preferred(rows[i].faults, 3, rows[i].current), rows[i].preferred);
        assert_int_equal(hn_preferred(NULL, 0, 3), 3);
}

/* Noise of a tenth round a tie never moves anybody; a real change of phase does, once. */
static void noise_moves_nobody(void **state) {
        hn_node_index home = HN_NODE_NONE;
        unsigned n_changes = 0;

        (void) state;
        for (unsigned i = 0; i < 1000; i++) {
                uint64_t faults[2] = { 1000 + i * 37 % 100, 1000 + i * 53 % 100 };
                hn_node_index next;

                if (i >= 500)
                        faults[1] += 500;
                next = hn_preferred(faults, 2, home);
                n_changes += home != HN_NODE_NONE && next != home;
                home = next;
        }
        assert_int_equal(home, 1);
        assert_int_equal(n_changes, 1);
}

static void weight(void **state) {
        static const struct {
                uint64_t faults, near, total;
                uint32_t weight;
        } rows[] = {
                { 5, 5, 0, 0 },
                { UINT64_MAX / 2, UINT64_MAX / 2, UINT64_MAX, 999 },
                { UINT64_MAX, 0, UINT64_MAX, 1000 },
                /* mesh ring D, faults 400 100 300 200 */
                { 400, 150, 1000, 550 },
                { 100, 350, 1000, 450 },
                { 300, 150, 1000, 450 },
                { 200, 350, 1000, 550 },
                /* backplane pairs, faults 300 50 260 250 */
                { 300, 50, 860, 406 },
                { 50, 300, 860, 406 },
                { 260, 250, 860, 593 },
                { 250, 260, 860, 593 },
                /* direct: plain share */
                { 2, 0, 3, 666 },
                { 0, 0, 3, 0 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_weight(rows[i].faults, rows[i].near, rows[i].total), rows[i].weight);
}

static void one_move_a_scan_sequence(void **state) {
        static const struct {
                uint64_t now, retry_at, seq_now, seq_seen;
                bool evaluate, migrate;
        } rows[] = {
                { 100, 100, 5, 4, false, false },
                { 101, 100, 5, 4, true, true },
                { 101, 100, 4, 4, false, true },
                { 101, 100, 3, 4, true, true }, /* the counter started over with an exec() */
                { 0, 0, 1, 0, false, false },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_gate g = hn_placement_gate(rows[i].now, rows[i].retry_at, rows[i].seq_now,
                                                     rows[i].seq_seen);

                ROW_EQUAL(i, g.evaluate, rows[i].evaluate);
                ROW_EQUAL(i, g.migrate, rows[i].migrate);
        }

        /* To look again without a move to follow never occurs, whatever the times. */
        for (uint64_t now = 0; now < 8; now++)
                for (uint64_t retry = 0; retry < 8; retry++)
                        for (uint64_t seq = 0; seq < 4; seq++) {
                                struct hn_gate g = hn_placement_gate(now, retry, seq, 1);

                                assert_true(!g.evaluate || g.migrate);
                        }
}

static void retry(void **state) {
        static const struct {
                uint32_t period, retry;
        } rows[] = {
                { 0, 0 },        { 15, 0 },       { 100, 6 },           { 1000, 62 },
                { 16000, 1000 }, { 60000, 1000 }, { UINT32_MAX, 1000 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_retry(rows[i].period), rows[i].retry);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(decay),
                cmocka_unit_test(a_constant_input_comes_to_rest),
                cmocka_unit_test(cpu_weight),
                cmocka_unit_test(preferred),
                cmocka_unit_test(noise_moves_nobody),
                cmocka_unit_test(weight),
                cmocka_unit_test(one_move_a_scan_sequence),
                cmocka_unit_test(retry),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
