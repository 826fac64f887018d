/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "policy/assign.h"
#include "rows.h"

#define UNITS 16
#define X     HN_SCORE_FORBIDDEN
#define NO    HN_NODE_NONE

struct bench {
        struct hn_topology topo;
        struct hn_unit units[UNITS], *order[UNITS];
        uint32_t scores[UNITS * 4], capacity[4], lasting[4], used[4];
        size_t n;
};

static void bench_init(struct bench *b) {
        *b = (struct bench){ .capacity = { 2000, 2000, 2000, 2000 } };
        fixture_topology(&b->topo, 4, 2);
}

static void add(struct bench *b, uint32_t demand, hn_node_index incumbent, uint32_t bonus,
                const uint32_t *scores) {
        assert_true(b->n < UNITS);
        b->units[b->n] = (struct hn_unit){
                .demand = demand,
                .incumbent = incumbent,
                .bonus = bonus,
                .score = b->n * 4,
                .tag = b->n,
        };
        memcpy(&b->scores[b->n * 4], scores, 4 * sizeof(*scores));
        b->n++;
}

/* Where a test says nothing else, what others use they use all the time. */
static void run(struct bench *b) {
        for (size_t i = 0; i < 4; i++)
                b->lasting[i] = HN_MAX(b->lasting[i], b->capacity[i]);
        hn_assign(&b->topo, b->units, b->n, b->scores, b->capacity, b->lasting, b->used, b->order);
}

static size_t count(const struct bench *b, hn_node_index node) {
        size_t n = 0;

        for (size_t i = 0; i < b->n; i++)
                n += b->units[i].result == node;
        return n;
}

static void a_passing_load_sends_nobody_away(void **state) {
        static const uint32_t node_0[] = { 1000, 0, 0, 0 };

        (void) state;
        for (unsigned row = 0; row < 4; row++) {
                bool placed = row & 1, passing = row & 2;
                struct bench b;

                bench_init(&b);
                b.capacity[0] = 0;
                b.lasting[0] = passing ? 1000 : 0;
                add(&b, 1000, 0, 125, node_0);
                b.units[0].placed = placed;
                run(&b);
                ROW_EQUAL(row, b.units[0].result, placed && passing ? 0 : 1);
                /* Nor does it keep away who cannot wait. */
                b.units[0].urgent = true;
                run(&b);
                ROW_EQUAL(row, b.units[0].result, passing ? 0 : 1);
                hn_topology_deinit(&b.topo);
        }
}

/* Where nothing fits, being moved about helps nobody; being let go does if somewhere there is clearly more.
 */
static void who_fits_nowhere(void **state) {
        static const struct {
                uint32_t capacity[4];
                bool placed;
                hn_node_index result;
        } rows[] = {
                { { 0, 0, 0, 0 }, true, 0 },       { { 0, 0, 0, 0 }, false, NO },
                { { 250, 0, 0, 750 }, true, 0 },   { { 249, 0, 0, 751 }, true, NO },
                { { 250, 0, 0, 750 }, false, NO }, { { 0, 500, 0, 501 }, true, NO },
        };
        /* Node 3 is closed to it by a rule of ours. */
        static const uint32_t scores[] = { 1000, 0, 0, HN_SCORE_FORBIDDEN };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct bench b;

                bench_init(&b);
                memcpy(b.capacity, rows[i].capacity, sizeof(b.capacity));
                add(&b, 1000, 0, 125, scores);
                b.units[0].placed = rows[i].placed;
                run(&b);
                ROW_EQUAL(i, b.units[0].result, rows[i].result);
                hn_topology_deinit(&b.topo);
        }
}

/* Node 0 is closed to it, but would be clearly less overbooked. */
static void where_there_is_no_core_nobody_is_better_off(void **state) {
        static const struct {
                unsigned cores;
                hn_node_index result;
        } rows[] = { { 2, NO }, { 1, NO }, { 0, 3 } };
        static const uint32_t scores[] = { HN_SCORE_FORBIDDEN, 0, 0, 1000 };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct bench b;

                bench_init(&b);
                memcpy(b.capacity, (const uint32_t[]){ 751, 0, 0, 249 }, sizeof(b.capacity));
                b.topo.nodes[0].n_cores = rows[i].cores;
                add(&b, 1000, 3, 125, scores);
                b.units[0].placed = true;
                run(&b);
                ROW_EQUAL(i, b.units[0].result, rows[i].result);
                hn_topology_deinit(&b.topo);
        }
}

/* few units */

static void rows_of_two_units(void **state) {
        static const struct {
                struct {
                        uint32_t demand;
                        hn_node_index incumbent;
                        bool placed, fixed;
                        uint32_t bonus, scores[4];
                        hn_node_index result;
                } units[2];
                uint32_t capacity[4];
        } rows[] = {
#define FREE \
        { 2000, 2000, 2000, 2000 }
#define IDLE \
        { 0, NO, false, false, 0, { X, X, X, X }, NO }
                /* nothing to choose from */
                { { { 1000, 0, false, false, 30, { X, X, X, X }, NO }, IDLE }, FREE },
                { { { 1000, 0, false, false, 30, { 500, 500, 0, 0 }, NO }, IDLE }, { 0, 0, 0, 0 } },
                { { { 1000, NO, false, false, 0, { 0, 0, 0, 0 }, 0 }, IDLE }, FREE },
                { { { 1000, 3, false, false, 0, { 0, 0, 0, 0 }, 3 }, IDLE }, FREE },
                /* its best node; not one that is forbidden or has no CPU */
                { { { 1000, 0, false, false, 30, { 0, 0, 1000, 0 }, 2 }, IDLE }, FREE },
                { { { 1000, 0, false, false, 30, { 0, 300, X, 200 }, 1 }, IDLE }, FREE },
                { { { 1000, 2, false, false, 30, { 100, 300, X, 200 }, 1 }, IDLE }, FREE },
                { { { 1000, 0, false, false, 30, { 0, 300, 700, 0 }, 1 }, IDLE }, { 2000, 2000, 0, 2000 } },
                /* ties: it stays, else the lowest; the bonus must be exceeded */
                { { { 1000, 3, false, false, 0, { 250, 250, 250, 250 }, 3 }, IDLE }, FREE },
                { { { 1000, NO, false, false, 0, { 250, 250, 250, 250 }, 0 }, IDLE }, FREE },
                { { { 1000, 1, true, false, 125, { 560, 440, 0, 0 }, 1 }, IDLE }, FREE },
                { { { 1000, 1, true, false, 125, { 565, 440, 0, 0 }, 1 }, IDLE }, FREE },
                { { { 1000, 1, true, false, 125, { 566, 440, 0, 0 }, 0 }, IDLE }, FREE },
                /* fixed ones stay, even where they may not or do not fit, and are counted */
                { { { 1000, 1, true, true, 0, { 1000, X, 0, 0 }, 1 }, IDLE }, FREE },
                { { { 2000, 1, true, true, 0, { 0, 0, 0, 0 }, 1 },
                    { 1000, 0, false, false, 30, { 0, 1000, 0, 0 }, 0 } },
                  FREE },
                { { { 1000, 0, false, false, 30, { 0, 1000, 0, 0 }, 0 },
                    { 9000, 1, true, true, 0, { 0, 0, 0, 0 }, 1 } },
                  { 20000, 2000, 0, 0 } },
                /* one place for two: who loses most gets it, then who needs most, then the first */
                { { { 1000, 2, false, false, 0, { 1000, 900, 0, 0 }, 1 },
                    { 1000, 2, false, false, 0, { 1000, 100, 0, 0 }, 0 } },
                  { 1000, 1000, 2000, 2000 } },
                { { { 700, 2, false, false, 0, { 1000, 100, 0, 0 }, 2 },
                    { 900, 2, false, false, 0, { 1000, 100, 0, 0 }, 0 } },
                  { 1000, 400, 2000, 2000 } },
                { { { 1000, 2, false, false, 0, { 1000, 0, 0, 0 }, 0 },
                    { 1000, 2, false, false, 0, { 1000, 0, 0, 0 }, 2 } },
                  { 1000, 1000, 2000, 2000 } },
                /* who is there already has the bonus in its favour */
                { { { 1000, 2, false, false, 30, { 1000, 0, 0, 0 }, 2 },
                    { 1000, 0, true, false, 125, { 1000, 0, 0, 0 }, 0 } },
                  { 1000, 1000, 2000, 2000 } },
                /* a quarter of a core over is no matter; half a core for who was placed there */
                { { { 1000, 0, false, false, 30, { 0, 1000, 0, 0 }, 1 }, IDLE }, { 2000, 750, 2000, 2000 } },
                { { { 1000, 0, false, false, 30, { 0, 1000, 0, 0 }, 0 }, IDLE }, { 2000, 749, 2000, 2000 } },
                { { { 1000, 1, true, false, 125, { 0, 1000, 0, 0 }, 1 }, IDLE }, { 2000, 500, 2000, 2000 } },
                { { { 1000, 1, true, false, 125, { 0, 1000, 0, 0 }, 0 }, IDLE }, { 2000, 499, 2000, 2000 } },
                /* who is only content with second best waits until those who are content with it as their
                 * best have chosen, and then until those who need not move for it have */
                { { { 1000, 1, false, false, 30, { 1000, 500, 0, 0 }, 2 },
                    { 1000, 2, false, false, 30, { 0, 1000, 0, 0 }, 1 } },
                  { 0, 1000, 2000, 0 } },
                { { { 1000, 2, false, false, 30, { 1000, 600, 0, 0 }, 2 },
                    { 1000, 1, false, false, 30, { 1000, 900, 0, 0 }, 1 } },
                  { 0, 1000, 2000, 0 } },
                /* who loses its seat must not take another's for it */
                { { { 1000, 0, false, false, 30, { 1000, 600, 0, 0 }, 2 },
                    { 1000, 1, false, false, 30, { 0, 400, 0, 0 }, 1 } },
                  { 0, 1000, 1000, 0 } },
                /* who has no preference waits for all who have, be it of a single point */
                { { { 1000, 1, false, false, 0, { 0, 0, 0, X }, NO },
                    { 1000, 1, false, false, 0, { 1000, 0, 0, X }, 2 } },
                  { 0, 0, 1000, 9000 } },
                { { { 1000, 2, false, false, 0, { 1, 0, 0, 0 }, 0 },
                    { 1000, 0, false, false, 0, { 0, 1000, 0, 0 }, 2 } },
                  { 1000, 0, 1000, 0 } },
                { { { 1000, 2, false, false, 0, { 1000, 999, 0, 0 }, 1 },
                    { 900, 2, false, false, 0, { 2, 0, 0, 0 }, 0 } },
                  { 1000, 1000, 2000, 2000 } },
                /* asked for as much as there is, and for a thousandth more: the part is rounded up */
                { { { 1251, 2, false, false, 0, { 1000, 0, 0, 0 }, NO }, IDLE }, { 1000, 251, 0, 0 } },
                { { { 1251, 2, false, false, 0, { 1000, 0, 0, 0 }, 0 }, IDLE }, { 1000, 250, 0, 0 } },
                { { { 1252, 2, false, false, 0, { 1000, 0, 0, 0 }, NO }, IDLE }, { 1000, 251, 0, 0 } },
                { { { 1753, 2, false, false, 0, { 1000, 0, 0, 0 }, 0 },
                    { 248, 2, false, false, 0, { 0, 1000, 0, 0 }, 1 } },
                  { 1500, 499, 0, 0 } },
#undef IDLE
#undef FREE
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                uint32_t used[4] = {};
                struct bench b;

                bench_init(&b);
                memcpy(b.capacity, rows[i].capacity, sizeof(b.capacity));
                for (size_t k = 0; k < 2; k++) {
                        add(&b, rows[i].units[k].demand, rows[i].units[k].incumbent, rows[i].units[k].bonus,
                            rows[i].units[k].scores);
                        b.units[k].placed = rows[i].units[k].placed;
                        b.units[k].fixed = rows[i].units[k].fixed;
                        if (rows[i].units[k].result != NO)
                                used[rows[i].units[k].result] += rows[i].units[k].demand;
                }
                run(&b);
                for (size_t k = 0; k < 2; k++)
                        ROW_EQUAL(i, b.units[k].result, rows[i].units[k].result);
                for (size_t k = 0; k < 4; k++)
                        ROW_EQUAL(i, b.used[k], used[k]);
                hn_topology_deinit(&b.topo);
        }
}

/* Its own node full, a unit goes as near to its memory as it can, and among such nodes to the emptiest. */
static void second_best_is_what_is_near(void **state) {
        static const struct {
                uint32_t capacity[4];
                hn_node_index result;
        } rows[] = {
                { { 0, 1000, 9000, 9000 }, 1 }, { { 0, 0, 8000, 9000 }, 3 }, { { 0, 0, 9000, 8000 }, 2 },
                { { 0, 0, 9000, 9000 }, 2 },    { { 0, 700, 0, 1000 }, 3 },  { { 0, 0, 0, 0 }, NO },
        };
        static const uint32_t scores[] = { 1000, 0, 0, 0 };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct bench b;

                bench_init(&b);
                b.topo.distances[0 * 4 + 1] = 12;
                memcpy(b.capacity, rows[i].capacity, sizeof(b.capacity));
                add(&b, 1000, 0, 30, scores);
                run(&b);
                ROW_EQUAL(i, b.units[0].result, rows[i].result);
                hn_topology_deinit(&b.topo);
        }
}

/* full machines */

/* Eight threads, two on each node, the memory of each on the next: every single first step finds its node
 * full. */
static void threads_apart_all_get_their_best(void **state) {
        struct bench b;

        (void) state;
        bench_init(&b);
        for (hn_node_index i = 0; i < 8; i++) {
                uint32_t scores[4] = {};

                scores[(i / 2 + 1) % 4] = 1000;
                add(&b, 1000, i / 2, 30, scores);
        }
        run(&b);
        for (hn_node_index i = 0; i < 8; i++)
                ROW_EQUAL(i, b.units[i].result, (i / 2 + 1) % 4);
        for (size_t i = 0; i < 4; i++)
                ROW_EQUAL(i, b.used[i], 2000);
        hn_topology_deinit(&b.topo);
}

/* Eight threads with all memory on node 0 end as two a node, and nobody moves who need not. */
static void all_memory_on_one_node(void **state) {
        static const struct {
                hn_node_index at[8];
                size_t n_moves;
        } rows[] = {
                { { 0, 0, 0, 0, 0, 0, 0, 0 }, 6 }, { { 3, 3, 3, 3, 3, 3, 3, 3 }, 6 },
                { { 0, 0, 0, 1, 2, 2, 3, 3 }, 1 }, { { 0, 0, 1, 1, 2, 2, 3, 3 }, 0 },
                { { 3, 1, 0, 2, 1, 3, 0, 2 }, 0 }, { { 1, 1, 1, 1, 2, 2, 2, 2 }, 4 },
        };
        static const uint32_t scores[] = { 1000, 0, 0, 0 };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                size_t n_moves = 0;
                struct bench b;

                bench_init(&b);
                for (size_t k = 0; k < 8; k++)
                        add(&b, 1000, rows[i].at[k], 30, scores);
                run(&b);
                for (size_t k = 0; k < 8; k++)
                        n_moves += b.units[k].result != rows[i].at[k];
                for (hn_node_index k = 0; k < 4; k++)
                        ROW_EQUAL(i, count(&b, k), 2);
                ROW_EQUAL(i, n_moves, rows[i].n_moves);
                hn_topology_deinit(&b.topo);
        }
}

/* Twice as many as there are cores: all nodes are overbooked alike, and none is stacked. */
static void overcommit_is_shared_out(void **state) {
        static const uint32_t scores[] = { 1000, 0, 0, 0 };
        struct bench b;

        (void) state;
        bench_init(&b);
        for (size_t i = 0; i < 16; i++)
                add(&b, 1000, 0, 30, scores);
        run(&b);
        for (hn_node_index k = 0; k < 4; k++)
                assert_int_equal(count(&b, k), 4);
        hn_topology_deinit(&b.topo);
}

/* Work of others on node 0 leaves one core there. */
static void others_are_left_their_share(void **state) {
        static const uint32_t scores[] = { 1000, 0, 0, 0 };
        struct bench b;

        (void) state;
        bench_init(&b);
        b.capacity[0] = 1000;
        for (size_t i = 0; i < 6; i++)
                add(&b, 1000, 3, 30, scores);
        run(&b);
        assert_int_equal(count(&b, 0), 1);
        assert_int_equal(count(&b, 3), 2);
        assert_int_equal(b.used[0], 1000);
        hn_topology_deinit(&b.topo);
}

/* S0's case: two jobs of 11 threads on 2 x 12 cores; the second job's memory lies beside the first. */
static void two_jobs_are_not_stacked(void **state) {
        static const uint32_t scores[] = { 1000, 0 };
        struct hn_unit units[22], *order[22];
        uint32_t capacity[] = { 12000, 12000 }, used[2];
        struct hn_topology topo = HN_TOPOLOGY_NULL;

        (void) state;
        fixture_topology(&topo, 2, 12);
        for (size_t i = 0; i < 22; i++)
                units[i] = (struct hn_unit){
                        .demand = 1000, .incumbent = (hn_node_index) (i / 11), .bonus = 30, .tag = i
                };
        hn_assign(&topo, units, 22, scores, capacity, capacity, used, order);
        assert_int_equal(used[0], 12000);
        assert_int_equal(used[1], 10000);
        for (size_t i = 0; i < 11; i++)
                ROW_EQUAL(i, units[i].result, 0);
        hn_topology_deinit(&topo);
}

static void nothing_at_all(void **state) {
        struct bench b;

        (void) state;
        bench_init(&b);
        run(&b);
        for (size_t i = 0; i < 4; i++)
                assert_int_equal(b.used[i], 0);
        hn_topology_deinit(&b.topo);
}

/* The same numbers on every machine and in every run. */
static uint32_t dice(uint32_t *seed, uint32_t sides) {
        *seed = *seed * 1103515245 + 12345;
        return *seed / 65536 % sides;
}

/* Whatever is asked: nothing forbidden is given, no node is overbooked further than the rest, the sums are
 * right, the same question gets the same answer, and a second round on the outcome of the first moves nobody.
 */
static void invariants(void **state) {
        uint32_t seed = 1;

        (void) state;
        for (unsigned round = 0; round < 2000; round++) {
                uint32_t demand = 0, capacity = 0, sums[4] = {};
                hn_node_index first[UNITS];
                struct bench b;

                bench_init(&b);
                for (size_t i = 0; i < 4; i++) {
                        b.capacity[i] = dice(&seed, 5) == 0 ? 0 : dice(&seed, 4000);
                        capacity += b.capacity[i];
                }
                for (size_t i = 0, n = dice(&seed, UNITS + 1); i < n; i++) {
                        uint32_t scores[4];
                        hn_node_index at;

                        for (size_t k = 0; k < 4; k++)
                                scores[k] = dice(&seed, 6) == 0 ? X : dice(&seed, 4) * 333;
                        at = (hn_node_index) dice(&seed, 4);
                        add(&b, dice(&seed, 1001), at, 30, scores);
                        demand += b.units[i].demand;
                }
                run(&b);
                for (size_t i = 0; i < b.n; i++) {
                        first[i] = b.units[i].result;
                        if (first[i] == NO)
                                continue;
                        ROW_EQUAL(round, b.scores[i * 4 + first[i]] == X || b.capacity[first[i]] == 0, false);
                        sums[first[i]] += b.units[i].demand;
                }
                for (size_t k = 0; k < 4; k++) {
                        uint64_t fair = b.capacity[k];

                        if (demand > capacity && capacity > 0)
                                fair = (uint64_t) b.capacity[k] * demand / capacity + b.capacity[k] / 1000 +
                                       1;
                        ROW_EQUAL(round, b.used[k], sums[k]);
                        ROW_EQUAL(round, sums[k] <= fair + HN_ASSIGN_SLACK, true);
                }
                run(&b);
                for (size_t i = 0; i < b.n; i++)
                        ROW_EQUAL(round, b.units[i].result, first[i]);
                hn_topology_deinit(&b.topo);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_passing_load_sends_nobody_away),
                cmocka_unit_test(who_fits_nowhere),
                cmocka_unit_test(where_there_is_no_core_nobody_is_better_off),
                cmocka_unit_test(rows_of_two_units),
                cmocka_unit_test(second_best_is_what_is_near),
                cmocka_unit_test(threads_apart_all_get_their_best),
                cmocka_unit_test(all_memory_on_one_node),
                cmocka_unit_test(overcommit_is_shared_out),
                cmocka_unit_test(others_are_left_their_share),
                cmocka_unit_test(two_jobs_are_not_stacked),
                cmocka_unit_test(nothing_at_all),
                cmocka_unit_test(invariants),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
