/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "load.h"

/* The loads, each a row of a table: how many processes and threads, where they start and where their memory
 * is. */
enum load {
        LOAD_APART,
        LOAD_NUMA02,
        LOAD_SINGLES,
        LOAD_THREADS,
        LOAD_NUMA01,
        LOAD_NUMA01_PRIVATE,
        LOAD_NUMA03,
        LOAD_NUMA04,
        LOAD_NUMA05,
        LOAD_SCHEDBENCH_4,
        LOAD_SCHEDBENCH_8,
        LOAD_SCHEDBENCH_16,
        LOAD_STACKED,
        LOAD_RAMP,
        LOAD_HALF_IDLE,
        LOAD_FORKS,
        LOAD_PHASE,
        LOAD_MAX,
};

/* Threads of the load on this machine. */
unsigned load_threads(enum load load, const struct hn_load_cpus *cpus);

/* Its arguments for hn-load on this machine, with `extra` before the places; by hand, threads and memory are
 * put together and bound. */
void load_arguments(enum load load, const struct hn_load_cpus *cpus, bool by_hand, const char *extra,
                    char *ret, size_t size);
