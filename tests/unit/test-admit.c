/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/macro.h"
#include "policy/admit.h"
#include "rows.h"

#define NODES  4
#define SHIFTS 12
#define NO     HN_NODE_NONE

struct bench {
        struct hn_stand nodes[NODES];
        struct hn_shift shifts[SHIFTS];
        size_t n;
};

/* Nodes of `weight` cores with `nr` tasks on each, of a whole CPU each. */
static void bench_init(struct bench *b, uint32_t weight, const uint32_t *nr) {
        *b = (struct bench){};
        for (size_t i = 0; i < NODES; i++)
                b->nodes[i] = (struct hn_stand){
                        .nr = nr[i],
                        .weight = weight,
                        .busy = nr[i] * 1000,
                        .imb_nr = hn_imb_numa_nr(weight, 1, 1, 1),
                };
}

static void add(struct bench *b, hn_node_index from, hn_node_index to, uint32_t n_tasks, uint32_t demand) {
        b->shifts[b->n] = (struct hn_shift){
                .from = from,
                .to = to,
                .n_tasks = n_tasks,
                .demand = demand,
                .tag = b->n,
                /* Whatever the memory held before. */
                .admitted = true,
                .dropped = true,
        };
        b->n++;
}

static size_t run(struct bench *b) {
        /* Scratch of just the size that is promised, for a sanitizer to see who goes beyond. */
        size_t *first = calloc(NODES * NODES, sizeof(*first)), *via = calloc(NODES, sizeof(*via)), n;
        uint8_t *seen = calloc(NODES, sizeof(*seen));

        assert_true(first && via && seen);
        n = hn_admit(b->shifts, b->n, b->nodes, NODES, first, via, seen);
        free(first);
        free(via);
        free(seen);
        return n;
}

static void classes(void **state) {
        static const struct {
                struct hn_stand stand;
                enum hn_node_class class;
        } rows[] = {
                { { .nr = 0, .weight = 0, .busy = 0 }, HN_CLASS_FULLY_BUSY },
                { { .nr = 1, .weight = 2, .busy = 2000 }, HN_CLASS_HAS_SPARE },
                { { .nr = 2, .weight = 2, .busy = 500 }, HN_CLASS_HAS_SPARE },
                { { .nr = 2, .weight = 2, .busy = 2000 }, HN_CLASS_FULLY_BUSY },
                { { .nr = 3, .weight = 2, .busy = 2000 }, HN_CLASS_OVERLOADED },
                { { .nr = 3, .weight = 2, .busy = 500 }, HN_CLASS_HAS_SPARE },
                { { .nr = 28, .weight = 27, .busy = 24999 }, HN_CLASS_HAS_SPARE },
                { { .nr = 28, .weight = 27, .busy = 25000 }, HN_CLASS_FULLY_BUSY }, /* 100/108 exactly */
                { { .nr = 28, .weight = 27, .busy = 25001 }, HN_CLASS_OVERLOADED },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_stand_classify(&rows[i].stand), rows[i].class);
}

/* Wishes of one task each, in their order, on a machine of 4 nodes of 2 cores; which of them are heard, as a
 * word of
 * + and -. A wish is { from, to, demand }. */
static void wishes(void **state) {
        static const struct {
                uint32_t nr[NODES];
                struct {
                        hn_node_index from, to;
                        uint32_t demand;
                } wish[SHIFTS];
                const char *heard;
                uint32_t after[NODES];
        } rows[] = {
                { { 2, 2, 2, 2 }, { { 0, 1, 1000 } }, "-", { 2, 2, 2, 2 } },
                { { 2, 2, 2, 2 }, { { NO, 1, 1000 } }, "-", { 2, 2, 2, 2 } },
                { { 2, 2, 2, 1 }, { { NO, 3, 1000 } }, "+", { 2, 2, 2, 2 } },
                { { 2, 0, 2, 2 }, { { 0, 1, 1000 } }, "+", { 1, 1, 2, 2 } },
                /* By counts the mirror image of what was is an imbalance, though a core is free; by load it
                   is none. */
                { { 2, 1, 2, 2 }, { { 0, 1, 1000 } }, "-", { 2, 1, 2, 2 } },
                { { 3, 2, 2, 2 }, { { 0, 1, 1000 } }, "+", { 2, 3, 2, 2 } },
                { { 2, 0, 2, 2 }, { { 0, 1, 1000 }, { 0, 1, 1000 } }, "+-", { 1, 1, 2, 2 } },
                { { 4, 0, 0, 0 }, { { 0, 1, 1000 }, { 0, 1, 1000 }, { 0, 1, 1000 } }, "++-", { 2, 2, 0, 0 } },
                /* One task on an otherwise empty machine may go anywhere; a second must not be stacked on it.
                 */
                { { 0, 1, 1, 0 }, { { 1, 0, 1000 }, { 2, 0, 1000 } }, "+-", { 1, 0, 1, 0 } },

                /* swaps and rings: no node has more to do afterwards */
                { { 2, 2, 2, 2 }, { { 0, 1, 1000 }, { 1, 0, 1000 } }, "++", { 2, 2, 2, 2 } },
                { { 2, 2, 2, 2 }, { { 2, 0, 1000 }, { 0, 1, 1000 }, { 1, 2, 1000 } }, "+++", { 2, 2, 2, 2 } },
                { { 2, 2, 2, 2 },
                  { { 0, 1, 1000 },
                    { 0, 1, 1000 },
                    { 1, 2, 1000 },
                    { 1, 2, 1000 },
                    { 2, 3, 1000 },
                    { 2, 3, 1000 },
                    { 3, 0, 1000 },
                    { 3, 0, 1000 } },
                  "++++++++",
                  { 2, 2, 2, 2 } },
                { { 2, 2, 2, 2 }, { { 0, 1, 1000 }, { 1, 2, 1000 }, { 2, 3, 1000 } }, "---", { 2, 2, 2, 2 } },
                { { 2, 2, 2, 2 }, { { 3, 0, 1000 }, { 0, 1, 1000 }, { 1, 0, 1000 } }, "-++", { 2, 2, 2, 2 } },
                /* two swaps that share no node, and two that share one */
                { { 2, 2, 2, 2 },
                  { { 0, 1, 1000 }, { 1, 0, 1000 }, { 2, 3, 1000 }, { 3, 2, 1000 } },
                  "++++",
                  { 2, 2, 2, 2 } },
                { { 2, 2, 2, 2 },
                  { { 0, 1, 1000 }, { 0, 2, 1000 }, { 1, 0, 1000 }, { 2, 0, 1000 } },
                  "++++",
                  { 2, 2, 2, 2 } },
                /* unequal demand: a quarter of a core may be gained by a node, no more */
                { { 2, 2, 2, 2 }, { { 0, 1, 1000 }, { 1, 0, 750 } }, "++", { 2, 2, 2, 2 } },
                { { 2, 2, 2, 2 }, { { 0, 1, 1000 }, { 1, 0, 749 } }, "--", { 2, 2, 2, 2 } },
                { { 2, 2, 2, 2 }, { { 2, 0, 1000 }, { 0, 1, 1000 }, { 1, 2, 300 } }, "---", { 2, 2, 2, 2 } },
                /* the ring with the least wish left out is one that fits */
                { { 2, 2, 2, 2 }, { { 0, 1, 1000 }, { 1, 0, 900 }, { 1, 0, 300 } }, "++-", { 2, 2, 2, 2 } },
                { { 2, 2, 2, 2 }, { { 0, 1, 1000 }, { 1, 0, 300 }, { 1, 0, 900 } }, "+-+", { 2, 2, 2, 2 } },
                { { 2, 2, 2, 2 }, { { 1, 0, 300 }, { 0, 1, 1000 }, { 0, 1, 300 } }, "+-+", { 2, 2, 2, 2 } },

                /* a chain that one move opens, whatever the order of its links */
                { { 2, 1, 0, 2 }, { { 0, 1, 1000 }, { 1, 2, 1000 } }, "++", { 1, 1, 1, 2 } },
                { { 2, 1, 0, 2 }, { { 1, 2, 1000 }, { 0, 1, 1000 } }, "++", { 1, 1, 1, 2 } },
                { { 3, 2, 2, 1 }, { { 2, 3, 1000 }, { 1, 2, 1000 }, { 0, 1, 1000 } }, "+++", { 2, 2, 2, 2 } },
                /* a swap that makes no room does not stop those who have it */
                { { 2, 2, 2, 0 }, { { 0, 1, 1000 }, { 1, 0, 1000 }, { 2, 3, 1000 } }, "+++", { 2, 2, 1, 1 } },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                size_t n = strlen(rows[i].heard), n_heard = 0;
                struct bench b;

                bench_init(&b, 2, rows[i].nr);
                for (size_t k = 0; k < n; k++) {
                        add(&b, rows[i].wish[k].from, rows[i].wish[k].to, 1, rows[i].wish[k].demand);
                        n_heard += rows[i].heard[k] == '+';
                }
                ROW_EQUAL(i, run(&b), n_heard);
                for (size_t k = 0; k < n; k++)
                        ROW_EQUAL(i, b.shifts[k].admitted, rows[i].heard[k] == '+');
                for (size_t k = 0; k < NODES; k++)
                        ROW_EQUAL(i, b.nodes[k].nr, rows[i].after[k]);
        }
}

/* Processes that move as a whole: { from, to, threads, demand } on nodes of 8 cores. */
static void several_at_once(void **state) {
        static const struct {
                uint32_t nr[NODES];
                struct {
                        hn_node_index from, to;
                        uint32_t n_tasks, demand;
                } wish[2];
                const char *heard;
                bool together;
        } rows[] = {
                { { 4, 0, 0, 0 },
                  { { 0, 1, 4, 4000 } },
                  "-",
                  false }, /* from 4:0 to 0:4 is less balanced by counts ... */
                { { 8, 0, 0, 0 }, { { 0, 1, 4, 4000 } }, "+", false },
                { { 4, 4, 0, 0 }, { { 0, 1, 4, 4000 } }, "-", false },
                { { 2, 0, 0, 0 }, { { 0, 1, 2, 2000 } }, "-", false },
                { { 8, 8, 0, 0 }, { { 0, 1, 4, 4000 }, { 1, 0, 4, 4000 } }, "++", false },
                { { 8, 8, 0, 0 }, { { 0, 1, 4, 4000 }, { 1, 0, 3, 4000 } }, "--", false },
                { { 8, 8, 0, 0 }, { { 0, 1, 4, 4000 }, { 1, 0, 4, 3000 } }, "--", false },
                /* who cannot be told apart asks for cores alone, and there are eight */
                { { 4, 4, 0, 0 }, { { 0, 1, 4, 4000 } }, "+", true },
                { { 4, 5, 0, 0 }, { { 0, 1, 4, 4000 } }, "-", true },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct bench b;

                bench_init(&b, 8, rows[i].nr);
                for (size_t k = 0; k < strlen(rows[i].heard); k++) {
                        add(&b, rows[i].wish[k].from, rows[i].wish[k].to, rows[i].wish[k].n_tasks,
                            rows[i].wish[k].demand);
                        b.shifts[k].together = rows[i].together;
                }
                (void) run(&b);
                for (size_t k = 0; k < b.n; k++)
                        ROW_EQUAL(i, b.shifts[k].admitted, rows[i].heard[k] == '+');
        }
}

/* A process that finds no partner must not use up the wishes of those that would. */
static void what_has_no_partner_is_no_obstacle(void **state) {
        const uint32_t nr[NODES] = { 8, 8, 0, 0 };
        struct bench b;

        (void) state;
        bench_init(&b, 8, nr);
        add(&b, 0, 1, 4, 4000);
        for (size_t i = 0; i < 4; i++) {
                add(&b, 0, 1, 1, 1000);
                add(&b, 1, 0, 1, 1000);
        }
        assert_int_equal(run(&b), 8);
        assert_false(b.shifts[0].admitted);
}

/* Unequal ones may change places where both nodes have room for either. */
static void room_makes_up_for_a_difference(void **state) {
        static const struct {
                uint32_t busy[2], demand[2];
                size_t n_admitted;
        } rows[] = {
                { { 1200, 1200 }, { 900, 300 }, 2 }, { { 1500, 1400 }, { 900, 300 }, 2 },
                { { 1500, 1401 }, { 900, 300 }, 0 }, { { 2000, 2000 }, { 550, 300 }, 2 },
                { { 2000, 2000 }, { 551, 300 }, 0 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                const uint32_t nr[NODES] = { 2, 2, 2, 2 };
                struct bench b;

                bench_init(&b, 2, nr);
                for (hn_node_index k = 0; k < 2; k++) {
                        b.nodes[k].busy = rows[i].busy[k];
                        add(&b, k, k == 0, 1, rows[i].demand[k]);
                }
                ROW_EQUAL(i, run(&b), rows[i].n_admitted);
        }
}

/* S0's two jobs of 11 on 2 x 12 cores, the second with all its memory beside the first: of the 11 that wish,
 * only as many are heard as leave the nodes balanced. With the RFC's shortcut ("a destination with spare
 * capacity is never imbalanced") a twelfth would be heard. */
static void two_jobs_are_not_stacked(void **state) {
        const uint32_t nr[NODES] = { 11, 11, 0, 0 };
        struct bench b;

        (void) state;
        bench_init(&b, 12, nr);
        for (size_t i = 0; i < 11; i++)
                add(&b, 1, 0, 1, 1000);
        assert_int_equal(run(&b), 0);
        assert_int_equal(b.nodes[0].nr, 11);
        assert_int_equal(b.nodes[1].nr, 11);
}

static void a_node_that_is_left_loses_no_more_than_it_had(void **state) {
        const uint32_t nr[NODES] = { 0, 0, 0, 0 };
        struct bench b;

        (void) state;
        bench_init(&b, 2, nr);
        b.nodes[0].nr = 5;
        add(&b, 0, 1, 1, 900);
        add(&b, 0, 1, 1, 900);
        (void) run(&b);
        assert_int_equal(b.nodes[0].busy, 0);
        assert_int_equal(b.nodes[1].busy, 1800);
}

static void nobody_wishes(void **state) {
        const uint32_t nr[NODES] = { 2, 2, 2, 2 };
        struct bench b;

        (void) state;
        bench_init(&b, 2, nr);
        assert_int_equal(run(&b), 0);
}

/* However they wish, it ends, the sums stay, and no node that was within its cores is pushed past them by
 * more than the rings' tolerance. */
static void invariants(void **state) {
        uint32_t seed = 7;

        (void) state;
        for (unsigned round = 0; round < 3000; round++) {
                uint32_t nr[NODES], total = 0, fullest = 2000;
                struct bench b;

                for (size_t k = 0; k < NODES; k++) {
                        seed = seed * 1103515245 + 12345;
                        nr[k] = seed / 65536 % 4;
                        total += nr[k];
                }
                bench_init(&b, 2, nr);
                for (size_t k = 0; k < NODES; k++)
                        for (uint32_t t = 0; t < nr[k]; t++) {
                                hn_node_index to;

                                seed = seed * 1103515245 + 12345;
                                to = (hn_node_index) (seed / 65536 % NODES);
                                if (to != k)
                                        add(&b, (hn_node_index) k, to, 1, 1000);
                        }
                for (size_t k = 0; k < NODES; k++)
                        fullest = HN_MAX(fullest, b.nodes[k].busy);
                (void) run(&b);
                for (size_t k = 0; k < NODES; k++) {
                        ROW_EQUAL(round, b.nodes[k].busy == b.nodes[k].nr * 1000, true);
                        ROW_EQUAL(round, b.nodes[k].busy <= fullest, true);
                        total -= b.nodes[k].nr;
                }
                ROW_EQUAL(round, total, 0);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(classes),
                cmocka_unit_test(wishes),
                cmocka_unit_test(several_at_once),
                cmocka_unit_test(what_has_no_partner_is_no_obstacle),
                cmocka_unit_test(room_makes_up_for_a_difference),
                cmocka_unit_test(two_jobs_are_not_stacked),
                cmocka_unit_test(a_node_that_is_left_loses_no_more_than_it_had),
                cmocka_unit_test(nobody_wishes),
                cmocka_unit_test(invariants),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
