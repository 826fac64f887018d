/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "policy/nodechoice.h"
#include "rows.h"

/* Some nodes, each with 1000 of all that counts, 20 from each other. */
struct machine {
        struct hn_topology topo;
        struct hn_candidate *candidates;
        struct hn_choice_terms terms;
};

static void machine_init(struct machine *m, size_t n, uint64_t cpus, uint64_t memory) {
        fixture_topology(&m->topo, n, 1);
        m->candidates = calloc(n, sizeof(*m->candidates));
        assert_non_null(m->candidates);
        for (size_t i = 0; i < n; i++)
                m->candidates[i] = (struct hn_candidate){
                        .node = (hn_node_index) i,
                        .has_cpus = true,
                        .has_memory = true,
                        .cpus = 1000,
                        .memory = 1000,
                        .left_cpus = 1000,
                        .left_memory = 1000,
                        .all_cpus = 1000,
                        .all_memory = 1000,
                };
        m->terms = (struct hn_choice_terms){
                .topo = &m->topo,
                .candidates = m->candidates,
                .n = n,
                .wish = { cpus, memory },
                .memory_exists = true,
                .near = HN_NODE_NONE,
        };
}

static void machine_deinit(struct machine *m) {
        hn_topology_deinit(&m->topo);
        free(m->candidates);
}

static void set_distance(struct machine *m, size_t a, size_t b, unsigned distance) {
        m->topo.distances[a * m->terms.n + b] = m->topo.distances[b * m->terms.n + a] = distance;
}

/* `want`: the chosen ones, or NULL where all together do not do. */
static void check(size_t row, const struct machine *m, const char *want) {
        bool *chosen = calloc(m->terms.n, sizeof(*chosen));
        struct hn_mask list = HN_MASK_NULL;
        char got[HN_MASK_LIST_MAX];

        assert_non_null(chosen);
        ROW_EQUAL(row, hn_choice(&m->terms, chosen), want != NULL);
        for (size_t i = 0; i < m->terms.n; i++)
                if (chosen[i])
                        (void) hn_mask_add(&list, (unsigned) i);
        assert_true(hn_mask_print_list(&list, got, sizeof(got)) >= 0);
        if (strcmp(got, want ? want : "") != 0)
                fail_msg("row %zu: \"%s\", expected \"%s\"", row, got, want ? want : "");
        free(chosen);
}

static void nobody_to_choose_from(void **state) {
        struct machine m;

        (void) state;
        machine_init(&m, 1, 0, 0);
        m.terms.n = 0;
        assert_int_equal(hn_choice(&m.terms, NULL), 0);
        machine_deinit(&m);
}

/* Whichever nodes they are that have room, they are found, and nobody else with them. */
static void every_set_is_found(void **state) {
        enum { N = 6 };

        (void) state;
        for (unsigned with_room = 1; with_room < 1u << N; with_room++) {
                struct hn_mask list = HN_MASK_NULL;
                char want[HN_MASK_LIST_MAX];
                struct machine m;

                machine_init(&m, N, 1000u * (unsigned) __builtin_popcount(with_room), 0);
                for (unsigned i = 0; i < N; i++)
                        if (with_room >> i & 1)
                                (void) hn_mask_add(&list, i);
                        else
                                m.candidates[i].cpus = 0;
                assert_true(hn_mask_print_list(&list, want, sizeof(want)) >= 0);
                check(with_room, &m, want);
                machine_deinit(&m);
        }
}

/* What is asked for of three nodes, and what each has: room, what is left, and of how much. */
static void the_better_one(void **state) {
        static const struct {
                uint64_t cpus, memory;
                struct {
                        uint64_t cpus, memory;
                        int64_t left_cpus, left_memory;
                        uint64_t all_cpus, all_memory;
                } nodes[3];
                const char *want;
        } rows[] = {
#define PLAIN \
        { 1000, 1000, 1000, 1000, 1000, 1000 }
#define WITH_ROOM(cpus, memory) \
        { cpus, memory, 1000, 1000, 1000, 1000 }
#define LEFT_OF_10000(cpus, memory) \
        { 1000, 1000, cpus, memory, 10000, 10000 }
                /* one thousandth, one byte too many */
                { 3001, 0, { PLAIN, PLAIN, PLAIN }, NULL },
                { 0, 3001, { PLAIN, PLAIN, PLAIN }, NULL },
                { UINT64_MAX, UINT64_MAX, { PLAIN, PLAIN, PLAIN }, NULL },
                { 3000, 3000, { PLAIN, PLAIN, PLAIN }, "0-2" },
                /* sums that do not fit are large */
                { UINT64_MAX,
                  0,
                  { PLAIN, WITH_ROOM(UINT64_MAX - 999, 0), WITH_ROOM(UINT64_MAX - 999, 0) },
                  "0-1" },
                { 0,
                  UINT64_MAX,
                  { PLAIN, WITH_ROOM(0, UINT64_MAX - 999), WITH_ROOM(0, UINT64_MAX - 999) },
                  "0-1" },
                /* of those of which more is promised than anybody could have, the least bad one */
                { 0,
                  0,
                  { { 0, 0, INT64_MIN, INT64_MIN, 1, 1 },
                    { 0, 0, INT64_MIN, INT64_MIN + 1, 1, 1 },
                    { 0, 0, INT64_MIN, INT64_MIN, 1, 1 } },
                  "1" },
                { 0,
                  0,
                  { { 0, 0, INT64_MAX - 1, 0, 1, 1 },
                    { 0, 0, INT64_MAX - 1, 0, 1, 1 },
                    { 0, 0, INT64_MAX, 0, 1, 1 } },
                  "2" },
                /* who says to have some and has none in all has nothing left */
                { 0,
                  0,
                  { { 0, 0, 0, 9000, 10000, 10000 },
                    { 0, 0, 0, 9000, 10000, 10000 },
                    { 0, 0, 5, 9000, 0, 10000 } },
                  "0" },
                { 0,
                  0,
                  { { 0, 0, 9000, -10, 10000, 10000 },
                    { 0, 0, 9000, 0, 10000, 0 },
                    { 0, 0, 9000, 0, 10000, 10000 } },
                  "1" },
                /* less than a thousandth makes no difference, a whole one does */
                { 0, 0, { LEFT_OF_10000(4990, 9000), LEFT_OF_10000(4999, 9000), PLAIN }, "2" },
                { 0, 0, { LEFT_OF_10000(4990, 9000), LEFT_OF_10000(4999, 9000), LEFT_OF_10000(0, 0) }, "0" },
                { 0, 0, { LEFT_OF_10000(9000, 4990), LEFT_OF_10000(9000, 4999), LEFT_OF_10000(0, 0) }, "0" },
                { 0, 0, { LEFT_OF_10000(4990, 9000), LEFT_OF_10000(5000, 9000), LEFT_OF_10000(0, 0) }, "1" },
                { 0, 0, { LEFT_OF_10000(9000, 4990), LEFT_OF_10000(9000, 5000), LEFT_OF_10000(0, 0) }, "1" },
                /* the scarcer counts first, whichever it is; then the other */
                { 0,
                  0,
                  { LEFT_OF_10000(5000, 10000), LEFT_OF_10000(10000, 5000), LEFT_OF_10000(6000, 6000) },
                  "2" },
                { 0,
                  0,
                  { LEFT_OF_10000(5000, 9000), LEFT_OF_10000(9500, 5000), LEFT_OF_10000(4000, 10000) },
                  "1" },
                /* as a part of all it has once the newcomer is there: 500 of 1000, 1400 of 2000 */
                { 500,
                  0,
                  { PLAIN, { 1000, 1000, 1900, 1000, 2000, 1000 }, { 1000, 1000, 500, 1000, 1000, 1000 } },
                  "1" },
                { 0,
                  500,
                  { PLAIN, { 1000, 1000, 1000, 1900, 1000, 2000 }, { 1000, 1000, 1000, 500, 1000, 1000 } },
                  "1" },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct machine m;

                machine_init(&m, 3, rows[i].cpus, rows[i].memory);
                for (size_t k = 0; k < 3; k++) {
                        m.candidates[k].cpus = rows[i].nodes[k].cpus;
                        m.candidates[k].memory = rows[i].nodes[k].memory;
                        m.candidates[k].left_cpus = rows[i].nodes[k].left_cpus;
                        m.candidates[k].left_memory = rows[i].nodes[k].left_memory;
                        m.candidates[k].all_cpus = rows[i].nodes[k].all_cpus;
                        m.candidates[k].all_memory = rows[i].nodes[k].all_memory;
                }
                check(i, &m, rows[i].want);
                machine_deinit(&m);
        }
}

/* The last nodes have most left over. Up to 18 nodes and for pairs of up to 361 all sets are looked at, and
 * the best is found; of more only those that lie around a node, so that an answer does not take for ever. */
static void how_far_all_are_looked_at(void **state) {
        static const struct {
                size_t n, wanted;
                const char *want;
        } rows[] = {
                { 18, 9, "9-17" },
                { 19, 9, "0-7,10" },
                { 361, 2, "359-360" },
                { 362, 2, "0,360" },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct machine m;

                machine_init(&m, rows[i].n, 1000 * rows[i].wanted, 0);
                for (size_t k = 0; k < rows[i].n - rows[i].wanted; k++)
                        m.candidates[k].left_cpus = 0;
                check(i, &m, rows[i].want);
                machine_deinit(&m);
        }
}

/* Sets of four out of forty are too many to be looked at. All are far from each other, but for a few. */
enum { MANY = 40 };

static void machine_init_many(struct machine *m, uint64_t cpus, uint64_t memory) {
        machine_init(m, MANY, cpus, memory);
        for (size_t i = 0; i < MANY; i++)
                for (size_t k = 0; k < i; k++)
                        set_distance(m, i, k, 40);
}

static void lie_around(struct machine *m, size_t center, size_t first, size_t last) {
        for (size_t i = first; i <= last; i++)
                set_distance(m, center, i, 15);
}

/* Of sets that are as good as each other the one with the lowest numbers, whenever it was met. */
static void the_lowest_numbers_of_equals(void **state) {
        struct machine m;

        (void) state;
        /* 0 is near 1 as well, but 5 to 7 bring more memory. */
        machine_init_many(&m, 4000, 0);
        lie_around(&m, 0, 5, 7);
        lie_around(&m, 1, 2, 3);
        set_distance(&m, 0, 1, 15);
        for (size_t i = 5; i <= 7; i++)
                m.candidates[i].memory = 2000;
        check(0, &m, "0-3");
        machine_deinit(&m);

        /* 0 is drawn to 8 to 10, which have little left; 5 brings it together with 6 and 7. */
        machine_init_many(&m, 4000, 0);
        lie_around(&m, 0, 8, 10);
        lie_around(&m, 1, 2, 4);
        lie_around(&m, 5, 6, 7);
        set_distance(&m, 5, 0, 15);
        for (size_t i = 8; i <= 10; i++) {
                m.candidates[i].memory = 3000;
                m.candidates[i].left_cpus = 0;
        }
        check(1, &m, "0,5-7");
        machine_deinit(&m);
}

/* Two nodes have half as much again, without which four would not do. */
static void of_equally_near_ones_who_brings_more(void **state) {
        struct machine m;

        (void) state;
        machine_init_many(&m, 5000, 0);
        m.candidates[30].cpus = m.candidates[31].cpus = 1500;
        check(0, &m, "0-1,30-31");
        machine_deinit(&m);

        machine_init_many(&m, 0, 5000);
        m.candidates[30].memory = m.candidates[31].memory = 1500;
        check(1, &m, "0-1,30-31");
        machine_deinit(&m);

        /* nearness comes first */
        machine_init_many(&m, 4000, 0);
        lie_around(&m, 20, 21, 23);
        m.candidates[30].cpus = m.candidates[31].memory = 1999;
        check(2, &m, "20-23");
        machine_deinit(&m);
}

/* Four nodes that have room lie around one that has little and is not needed; of all others, which have as
 * little, it would take dozens. */
static void whoever_is_not_needed_leaves(void **state) {
        static const size_t hubs[] = { 0, 17 };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(hubs); i++) {
                struct machine m;

                machine_init_many(&m, 4000, 0);
                for (size_t k = 0; k < MANY - 4; k++) {
                        m.candidates[k].cpus = 100;
                        m.candidates[k].memory = 2000;
                }
                lie_around(&m, hubs[i], MANY - 4, MANY - 1);
                check(i, &m, "36-39");
                machine_deinit(&m);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(nobody_to_choose_from),
                cmocka_unit_test(every_set_is_found),
                cmocka_unit_test(the_better_one),
                cmocka_unit_test(how_far_all_are_looked_at),
                cmocka_unit_test(the_lowest_numbers_of_equals),
                cmocka_unit_test(of_equally_near_ones_who_brings_more),
                cmocka_unit_test(whoever_is_not_needed_leaves),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
