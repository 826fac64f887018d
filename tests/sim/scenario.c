/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "base/macro.h"
#include "scenario.h"

/* What the threads of numa01 to numa05 do: write over memory as fast as they can. */
#define STREAM .demand = 1, .misses = 10, .overlap = 2.5

/* And those of schedbench: read a large array here and there. */
#define RANDOM .demand = 1, .misses = 9, .overlap = 2.5

/* A short burst of many small tasks that belong to somebody else. */
#define BURST                                                                                         \
        {                                                                                             \
                .comm = "hackbench", .n_processes = 20, .n_threads = 8, .demand = 0.5, .misses = 1,   \
                .overlap = 2, .shared_mib = 4, .shared = 1, .arrival = 3, .work = 0.3, .uneven = 0.5, \
                .unmanaged = true, .unscored = true                                                   \
        }

#define SCHEDBENCH(n)                                                                                       \
        {                                                                                                   \
                .name = "schedbench-" #n,                                                                   \
                .about = #n " processes with an array each, and a burst of others", .machine = &hn_sim_4x4, \
                .jobs = { { .comm = "schedbench",                                                           \
                            .n_processes = n,                                                               \
                            .n_threads = 1,                                                                 \
                            RANDOM,                                                                         \
                            .own_mib = 128 },                                                               \
                          BURST },                                                                          \
                .n_jobs = 2, .row = true                                                                    \
        }

/* Two JVMs of n warehouses. Heaps were made by a main thread each, on the node where the machine starts its
 * programs. */
#define JBB2(n, in_table)                                                                                 \
        {                                                                                                 \
                .name = "jbb2x24-" #n, .about = "2 JVMs of " #n " warehouses", .machine = &hn_sim_2x12x2, \
                .jobs = { { .comm = "java",                                                               \
                            .n_processes = 2,                                                             \
                            .n_threads = n,                                                               \
                            .demand = 1,                                                                  \
                            .misses = 1,                                                                  \
                            .overlap = 4,                                                                 \
                            .own_mib = 64,                                                                \
                            .shared_mib = 1024,                                                           \
                            .shared = 0.2,                                                                \
                            .strayed = 0.3,                                                               \
                            .churn = 0.02,                                                                \
                            .start = HN_SIM_START_NODE,                                                   \
                            .settled = true } },                                                          \
                .n_jobs = 1, .row = in_table                                                              \
        }

static const struct hn_sim_scenario scenarios[] = {
        {
                .name = "numa02-2node",
                .about = "one process, a thread a CPU, a slice of 1 GiB each, all of it on node 0 at first",
                .machine = &hn_sim_2x6,
                .jobs = { { .comm = "numa02",
                            .n_processes = 1,
                            .n_threads = 12,
                            STREAM,
                            .own_mib = 85,
                            .start = HN_SIM_START_NODE } },
                .n_jobs = 1,
                .row = true,
        },
        {
                .name = "numa02-8node",
                .about = "the same on eight nodes",
                .machine = &hn_sim_8x8,
                .jobs = { { .comm = "numa02",
                            .n_processes = 1,
                            .n_threads = 64,
                            STREAM,
                            .own_mib = 16,
                            .start = HN_SIM_START_NODE } },
                .n_jobs = 1,
                .row = true,
        },
        {
                .name = "numa02",
                .about = "the same on four small nodes",
                .machine = &hn_sim_4x2,
                .jobs = { { .comm = "numa02",
                            .n_processes = 1,
                            .n_threads = 8,
                            STREAM,
                            .own_mib = 128,
                            .start = HN_SIM_START_NODE } },
                .n_jobs = 1,
                .row = true,
        },
        {
                .name = "numa01-private",
                .about =
                        "two processes, each a thread for half the CPUs with a slice of 3 GiB, all on node 0",
                .machine = &hn_sim_4x4,
                .jobs = { { .comm = "numa01",
                            .n_processes = 2,
                            .n_threads = 8,
                            STREAM,
                            .own_mib = 384,
                            .start = HN_SIM_START_NODE } },
                .n_jobs = 1,
                .row = true,
        },
        {
                .name = "numa01",
                .about = "the same, but all threads of a process use all of its memory",
                .machine = &hn_sim_4x4,
                .jobs = { { .comm = "numa01",
                            .n_processes = 2,
                            .n_threads = 8,
                            STREAM,
                            .shared_mib = 3072,
                            .shared = 1,
                            .start = HN_SIM_START_NODE } },
                .n_jobs = 1,
                .row = true,
        },
        {
                .name = "numa03",
                .about = "one process, a thread a CPU, 3 GiB used by all",
                .machine = &hn_sim_4x4,
                .jobs = { { .comm = "numa03",
                            .n_processes = 1,
                            .n_threads = 16,
                            STREAM,
                            .shared_mib = 3072,
                            .shared = 1 } },
                .n_jobs = 1,
                .row = true,
        },
        {
                .name = "numa04",
                .about = "a process a node, a thread a CPU, 3 GiB used by all threads of a process",
                .machine = &hn_sim_4x4,
                .jobs = { { .comm = "numa04",
                            .n_processes = 4,
                            .n_threads = 4,
                            STREAM,
                            .shared_mib = 3072,
                            .shared = 1 } },
                .n_jobs = 1,
                .row = true,
        },
        {
                .name = "numa05",
                .about = "twice as many processes of half as many threads",
                .machine = &hn_sim_4x4,
                .jobs = { { .comm = "numa05",
                            .n_processes = 8,
                            .n_threads = 2,
                            STREAM,
                            .shared_mib = 3072,
                            .shared = 1 } },
                .n_jobs = 1,
                .row = true,
        },
        {
                .name = "jbb4x",
                .about = "4 JVMs with a warehouse a CPU",
                .machine = &hn_sim_4x4,
                .jobs = { { .comm = "java",
                            .n_processes = 4,
                            .n_threads = 4,
                            .demand = 1,
                            .misses = 8,
                            .overlap = 2,
                            .own_mib = 128,
                            .shared_mib = 1024,
                            .shared = 0.2,
                            .strayed = 0.8,
                            .churn = 0.005 } },
                .n_jobs = 1,
                .row = true,
        },
        SCHEDBENCH(4),
        SCHEDBENCH(8),
        SCHEDBENCH(16),
        SCHEDBENCH(32),
        SCHEDBENCH(64),
        {
                .name = "half-idle",
                .about = "8 pairs that talk to each other and sleep half of the time",
                .machine = &hn_sim_4x4,
                .jobs = { { .comm = "tbench",
                            .n_processes = 8,
                            .n_threads = 2,
                            .demand = 0.5,
                            .misses = 3,
                            .overlap = 2,
                            .own_mib = 16,
                            .shared_mib = 32,
                            .shared = 0.6 } },
                .n_jobs = 1,
                .row = true,
        },
        {
                .name = "forks",
                .about = "a build: one-thread processes of about a second",
                .machine = &hn_sim_4x4,
                .jobs = { { .comm = "cc1",
                            .n_processes = 16,
                            .n_threads = 1,
                            .demand = 1,
                            .misses = 3,
                            .overlap = 2,
                            .own_mib = 64,
                            .stagger = 0.05,
                            .work = 1,
                            .uneven = 0.8,
                            .respawn = true } },
                .n_jobs = 1,
                .row = true,
        },
        {
                .name = "hackbench",
                .about = "groups of 40 short-lived threads that send to each other",
                .machine = &hn_sim_2x28,
                .jobs = { { .comm = "hackbench",
                            .n_processes = 10,
                            .n_threads = 40,
                            .demand = 0.25,
                            .misses = 1,
                            .overlap = 2,
                            .shared_mib = 16,
                            .shared = 1,
                            .work = 0.4,
                            .uneven = 0.5,
                            .respawn = true } },
                .n_jobs = 1,
                .row = true,
        },
        {
                .name = "phase",
                .about = "threads that take over each other's memory every half minute",
                .machine = &hn_sim_4x2,
                .jobs = { { .comm = "phase",
                            .n_processes = 1,
                            .n_threads = 8,
                            .demand = 1,
                            .misses = 6,
                            .overlap = 2.5,
                            .own_mib = 128,
                            .phase = 30 } },
                .n_jobs = 1,
                .row = true,
        },
        {
                .name = "arrivals",
                .about = "one-thread processes that come one by one and stay, among others that come and go",
                .machine = &hn_sim_4x4,
                .jobs = { { .comm = "server",
                            .n_processes = 8,
                            .n_threads = 1,
                            RANDOM,
                            .own_mib = 256,
                            .stagger = 7 },
                          { .comm = "batch",
                            .n_processes = 2,
                            .n_threads = 4,
                            .demand = 1,
                            .misses = 5,
                            .overlap = 2,
                            .own_mib = 64,
                            .shared_mib = 256,
                            .shared = 0.3,
                            .stagger = 11,
                            .work = 15,
                            .uneven = 0.5,
                            .respawn = true } },
                .n_jobs = 2,
                .row = true,
        },
        {
                .name = "flicker",
                .about = "8 processes, and every twelve seconds five seconds of other work on 6 CPUs",
                .machine = &hn_sim_4x4,
                .jobs = { { .comm = "server", .n_processes = 8, .n_threads = 1, RANDOM, .own_mib = 256 },
                          { .comm = "other",
                            .n_processes = 100,
                            .n_threads = 6,
                            .demand = 1,
                            .misses = 1,
                            .overlap = 2,
                            .own_mib = 8,
                            .arrival = 10,
                            .stagger = 12,
                            .work = 5,
                            .unmanaged = true,
                            .unscored = true } },
                .n_jobs = 2,
                .row = true,
        },
        {
                .name = "mixed",
                .about = "a large process, four small ones, and 40 that nearly always sleep",
                .machine = &hn_sim_4x4,
                .jobs = { { .comm = "java",
                            .n_processes = 1,
                            .n_threads = 6,
                            .demand = 0.9,
                            .misses = 6,
                            .overlap = 2,
                            .own_mib = 128,
                            .shared_mib = 1024,
                            .shared = 0.3,
                            .churn = 0.01 },
                          { .comm = "worker",
                            .n_processes = 4,
                            .n_threads = 2,
                            .demand = 0.8,
                            .misses = 8,
                            .overlap = 2,
                            .own_mib = 64,
                            .shared_mib = 256,
                            .shared = 0.5 },
                          { .comm = "idler",
                            .n_processes = 40,
                            .n_threads = 1,
                            .demand = 0.02,
                            .misses = 1,
                            .overlap = 1,
                            .own_mib = 16 } },
                .n_jobs = 3,
                .row = true,
        },
        {
                .name = "node-full",
                .about = "4 processes whose memory fills the nodes, so that only threads can move",
                .machine = &hn_sim_4x4_small,
                .jobs = { { .comm = "full",
                            .n_processes = 4,
                            .n_threads = 4,
                            STREAM,
                            .shared_mib = 1800,
                            .shared = 1,
                            .start = HN_SIM_START_NEXT,
                            .start_node = 1 } },
                .n_jobs = 1,
                .row = true,
        },
        {
                .name = "lying-slit",
                .about = "16 processes on eight nodes, of which nobody knows that they are on two boards",
                .machine = &hn_sim_8x8_liar,
                .jobs = { { .comm = "pair",
                            .n_processes = 16,
                            .n_threads = 2,
                            STREAM,
                            .own_mib = 32,
                            .shared_mib = 512,
                            .shared = 0.5 } },
                .n_jobs = 1,
                .row = true,
        },
        JBB2(1, true),
        JBB2(2, false),
        JBB2(3, false),
        JBB2(4, false),
        JBB2(5, false),
        JBB2(6, true),
        JBB2(7, true),
        JBB2(8, true),
        JBB2(9, true),
        JBB2(10, true),
        JBB2(11, true),
        JBB2(12, true),
        JBB2(13, true),
        JBB2(14, true),
        JBB2(15, false),
        JBB2(16, true),
        JBB2(17, false),
        JBB2(18, true),
        JBB2(19, false),
        JBB2(20, false),
        JBB2(21, false),
        JBB2(22, false),
        JBB2(23, false),
        JBB2(24, true),
};

size_t hn_sim_scenarios(const struct hn_sim_scenario **ret) {
        *ret = scenarios;
        return HN_ELEMENTS(scenarios);
}

const struct hn_sim_scenario *hn_sim_scenario_find(const char *name) {
        for (size_t i = 0; i < HN_ELEMENTS(scenarios); i++)
                if (strcmp(scenarios[i].name, name) == 0)
                        return &scenarios[i];
        return NULL;
}
