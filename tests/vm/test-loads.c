/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The table of loads, on the machines that guests have. */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "loads.h"

static struct hn_load_cpus machine(unsigned n_nodes, unsigned per_node) {
        struct hn_load_cpus cpus = { .n_nodes = n_nodes, .per_node = per_node };

        memset(cpus.node, 0xff, sizeof(cpus.node));
        for (unsigned i = 0; i < n_nodes; i++) {
                cpus.nodes[i] = (int16_t) i;
                for (unsigned k = 0; k < per_node; k++)
                        cpus.node[i * per_node + k] = (int16_t) i;
        }
        return cpus;
}

static void is_as_written(void **state) {
        static const struct {
                enum load load;
                bool by_hand;
                const char *want;
        } rows[] = {
                { LOAD_APART, false, "2:0,3:1,3:1,0:2,0:2,1:3,1:3,2:0" },
                { LOAD_APART, true, "0:0,1:1,1:1,2:2,2:2,3:3,3:3,0:0" },
                { LOAD_NUMA02, false, "0:0,0:0,1:0,1:0,2:0,2:0,3:0,3:0" },
                { LOAD_NUMA02, true, "0:0,0:0,1:1,1:1,2:2,2:2,3:3,3:3" },
                { LOAD_THREADS, false, "1:0,2:0,2:1,3:1,3:2,0:2,0:3,1:3" },
                { LOAD_NUMA01_PRIVATE, true, "0:0,0:0,1:1,1:1,2:2,2:2,3:3,3:3" },
                { LOAD_SCHEDBENCH_4, false, "1:0,2:1,3:2,0:3" },
                { LOAD_STACKED, false, "0:0,0:0,1:0,1:0,2:0,2:0,3:0,3:0" },
                { LOAD_HALF_IDLE, false, "0:0,0:0,1:1,1:1,2:2,2:2,0:0,0:0,1:1,1:1,2:2,2:2,0:0,0:0,1:1,1:1" },
        };
        struct hn_load_cpus cpus = machine(4, 2);
        char text[4096];

        (void) state;
        for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
                const char *place;

                load_arguments(rows[i].load, &cpus, rows[i].by_hand, "", text, sizeof(text));
                place = strstr(text, "--place ");
                assert_non_null(place);
                assert_string_equal(place + strlen("--place "), rows[i].want);
        }
}

/* Each load, on each machine, is one that hn-load takes: a place for each thread, none too many, all there.
 */
static void fits_every_machine(void **state) {
        static const unsigned sizes[][2] = { { 4, 2 }, { 2, 4 }, { 1, 2 }, { 4, 1 } };

        (void) state;
        for (size_t m = 0; m < sizeof(sizes) / sizeof(sizes[0]); m++)
                for (enum load load = 0; load < LOAD_MAX; load++) {
                        struct hn_load_cpus cpus = machine(sizes[m][0], sizes[m][1]);
                        unsigned processes, threads, mib, places = 1;
                        char text[3072];

                        load_arguments(load, &cpus, false, "", text, sizeof(text));
                        assert_int_equal(sscanf(text, "--mib %u --processes %u --threads %u", &mib,
                                                &processes, &threads),
                                         3);
                        assert_int_equal(processes * threads, load_threads(load, &cpus));
                        assert_in_range(processes * threads, 1, HN_LOAD_THREADS_MAX);
                        for (const char *p = strstr(text, "--place "); *p != 0; p++)
                                places += *p == ',';
                        assert_int_equal(places, processes * threads);
                }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(is_as_written),
                cmocka_unit_test(fits_every_machine),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
