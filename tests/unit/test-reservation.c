/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "fixture.h"
#include "policy/reservation.h"
#include "rows.h"

#define NOW UINT64_C(100000000)

static void texts(void **state) {
        static const struct {
                const char *text;
                long lines;
                size_t alive;
        } rows[] = {
                { "", 0, 0 },
                { "\n", 1, 0 },
                { "\n\n\n", 3, 0 },
                { "99000000 0 1000 0 0 0", 0, 0 }, /* being written */
                { "99000000 0 1000 0 0 0\n99000000 0", 1, 1 },
                { "99000000 0 1000 0 0\n", 1, 0 },
                { "99000000 0 1000 0 0 0 0\n", 1, 0 },
                { "99000000 0 1000 0 0 x\n", 1, 0 },
                { "99000000 -1 1000 0 0 0\n", 1, 0 },
                { "99000000 4294967296 1000 0 0 0\n", 1, 0 },
                { "99999999999999999999 0 1000 0 0 0\n", 1, 0 },
                { "99000000 0 1000 0 0 0\r\n", 1, 1 },
                { "\x01\xff\xfe\n99000000 0 1000 0 0 0\n", 2, 1 },
                /* of the future; a minute old, and almost */
                { "105000001 0 1000 0 0 0\n", 1, 0 },
                { "18446744073709551615 0 1000 0 0 0\n", 1, 0 },
                { "105000000 0 1000 0 0 0\n", 1, 1 },
                { "100000000 0 1000 0 0 0\n", 1, 1 },
                { "40000000 0 1000 0 0 0\n", 1, 0 },
                { "40000001 0 1000 0 0 0\n", 1, 1 },
                { "0 0 1000 0 0 0\n", 1, 0 },
                { "99000000 0 1 2 3 4\n99000000 1 18446744073709551615 2 3 4\n", 2, 2 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_reservations rs = HN_RESERVATIONS_NULL;

                ROW_EQUAL(i, hn_reservations_read(&rs, rows[i].text, strlen(rows[i].text), NOW),
                          rows[i].lines);
                ROW_EQUAL(i, rs.n, rows[i].alive);
                hn_reservations_deinit(&rs);
                hn_reservations_deinit(&rs);
        }
}

static void a_line_reads_as_it_was_printed(void **state) {
        static const struct hn_reservation rows[] = {
                { NOW, 0, 0, 0, 0, 0 },
                { NOW - 5, 3, 2500, UINT64_C(1) << 34, 1234, UINT64_C(1) << 35 },
                { NOW, UINT32_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_reservations rs = HN_RESERVATIONS_NULL;
                char line[HN_RESERVATION_LINE_MAX];
                size_t n = hn_reservation_print(&rows[i], line, sizeof(line));

                ROW_EQUAL(i, n > 0 && line[n - 1] == '\n', true);
                ROW_EQUAL(i, hn_reservations_read(&rs, line, n, NOW), 1);
                ROW_EQUAL(i, rs.n, 1);
                ROW_EQUAL(i, rs.list[0].made == rows[i].made && rs.list[0].id == rows[i].id, true);
                ROW_EQUAL(i, rs.list[0].cpus == rows[i].cpus && rs.list[0].memory == rows[i].memory, true);
                ROW_EQUAL(i, rs.list[0].used == rows[i].used && rs.list[0].available == rows[i].available,
                          true);
                /* no room, no half line */
                ROW_EQUAL(i, hn_reservation_print(&rows[i], line, n), 0);
                hn_reservations_deinit(&rs);
        }
}

static void one_after_the_other(void **state) {
        struct hn_reservations rs = HN_RESERVATIONS_NULL;

        (void) state;
        for (unsigned i = 0; i < HN_RESERVATIONS_MAX; i++) {
                const struct hn_reservation r = { .made = NOW, .id = i };

                assert_int_equal(hn_reservations_add(&rs, &r), 0);
                assert_int_equal(rs.n, i + 1);
        }
        for (unsigned i = 0; i < HN_RESERVATIONS_MAX; i++)
                assert_int_equal(rs.list[i].id, i);
        hn_reservations_deinit(&rs);
}

static void a_long_text_is_bounded(void **state) {
        struct hn_reservations rs = HN_RESERVATIONS_NULL;
        const size_t n_lines = 3 * HN_RESERVATIONS_MAX + 7;
        char *text = malloc(n_lines * HN_RESERVATION_LINE_MAX);
        size_t n = 0;

        (void) state;
        assert_non_null(text);
        for (size_t i = 0; i < n_lines; i++) {
                const struct hn_reservation r = { .made = NOW - n_lines + i, .id = 1, .cpus = 1 };

                n += hn_reservation_print(&r, text + n, HN_RESERVATION_LINE_MAX);
        }
        assert_int_equal(hn_reservations_read(&rs, text, n, NOW), n_lines);
        assert_in_range(rs.n, HN_RESERVATIONS_MAX / 2, HN_RESERVATIONS_MAX);
        assert_true(rs.list[rs.n - 1].made == NOW - 1);
        for (size_t i = 1; i < rs.n; i++)
                assert_true(rs.list[i].made == rs.list[i - 1].made + 1);
        hn_reservations_deinit(&rs);
        free(text);
}

/* On node 1; `made` is in seconds, all else as in a line. */
static void sums(void **state) {
        static const struct {
                struct hn_reservation lists[2][3];
                size_t n[2];
                uint64_t busy, claimed, free, cache;
                uint64_t cpus, memory;
        } rows[] = {
                { { { { 0 } } }, { 0, 0 }, 500, 0, 1000, 0, 0, 0 },
                /* on another node, on one that is not here */
                { { { { 90, 0, 1000, 100, 0, 0 }, { 90, 7, 1000, 100, 0, 0 } } },
                  { 2, 0 },
                  0,
                  0,
                  1000,
                  0,
                  0,
                  0 },
                { { { { 90, 5, 1000, 100, 500, 1000 } } }, { 1, 0 }, 500, 0, 1000, 0, 1000, 100 },
                /* of both lists */
                { { { { 90, 5, 1000, 100, 500, 1000 }, { 91, 5, 2000, 50, 500, 1000 } },
                    { { 92, 5, 4000, 7, 500, 1000 } } },
                  { 2, 1 },
                  500,
                  0,
                  1000,
                  0,
                  7000,
                  157 },
                /* half of it has come, all of it, more than that */
                { { { { 90, 5, 1000, 100, 500, 1000 } } }, { 1, 0 }, 1000, 0, 950, 0, 500, 50 },
                { { { { 90, 5, 1000, 100, 500, 1000 } } }, { 1, 0 }, 1500, 0, 900, 0, 0, 0 },
                { { { { 90, 5, 1000, 100, 500, 1000 } } }, { 1, 0 }, 9500, 0, 0, 0, 0, 0 },
                /* cache is available, what tasks claim is used */
                { { { { 90, 5, 1000, 100, 500, 1000 } } }, { 1, 0 }, 0, 700, 100, 860, 800, 60 },
                /* less in use than then: somebody else left, nothing has come */
                { { { { 90, 5, 1000, 100, 500, 1000 } } }, { 1, 0 }, 0, 0, 2000, 0, 1000, 100 },
                /* the oldest knows how it was before any of them */
                { { { { 95, 5, 1000, 100, 1500, 900 } }, { { 90, 5, 1000, 100, 500, 1000 } } },
                  { 1, 1 },
                  1500,
                  0,
                  900,
                  0,
                  1000,
                  100 },
                /* of several as old as each other the first */
                { { { { 90, 5, 1000, 100, 500, 1000 }, { 90, 5, 1000, 100, 1500, 900 } } },
                  { 2, 0 },
                  1500,
                  0,
                  900,
                  0,
                  1000,
                  100 },
                /* what lies behind a list's end is none of it */
                { { { { 90, 5, 1000, 100, 500, 1000 }, { 90, 5, 2000, 50, 500, 1000 } } },
                  { 1, 0 },
                  500,
                  0,
                  1000,
                  0,
                  1000,
                  100 },
                /* sums that do not fit */
                { { { { 90, 5, UINT64_MAX, UINT64_MAX, 0, 0 }, { 90, 5, 1, 1, 0, 0 } } },
                  { 2, 0 },
                  0,
                  0,
                  0,
                  0,
                  UINT64_MAX,
                  UINT64_MAX },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_advise_node nodes[2] = {
                        { .reserved_cpus = 77, .reserved_memory = 77 },
                        { .reserved_cpus = 77,
                          .reserved_memory = 77,
                          .busy = rows[i].busy,
                          .claimed = rows[i].claimed,
                          .free = rows[i].free,
                          .reclaimable = rows[i].cache },
                };
                struct hn_reservations lists[2] = {
                        { .n = rows[i].n[0], .list = (struct hn_reservation *) rows[i].lists[0] },
                        { .n = rows[i].n[1], .list = (struct hn_reservation *) rows[i].lists[1] },
                };
                struct hn_topology topo;

                fixture_topology(&topo, 2, 4);
                topo.nodes[0].id = 2;
                topo.nodes[1].id = 5;
                hn_reservations_apply(lists, 2, &topo, nodes);
                ROW_EQUAL(i, nodes[0].reserved_cpus + nodes[0].reserved_memory, 0);
                ROW_EQUAL(i, nodes[1].reserved_cpus, rows[i].cpus);
                ROW_EQUAL(i, nodes[1].reserved_memory, rows[i].memory);
                hn_topology_deinit(&topo);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(texts),
                cmocka_unit_test(a_line_reads_as_it_was_printed),
                cmocka_unit_test(one_after_the_other),
                cmocka_unit_test(a_long_text_is_bounded),
                cmocka_unit_test(sums),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
