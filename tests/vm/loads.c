/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "loads.h"

#include <stdio.h>

/* A number that depends on the machine: `times` of something, divided by `by` where that is not 0. */
struct amount {
        unsigned times;
        enum { OF_ONE, OF_NODES, OF_CPUS, OF_NODE_CPUS } of;
        unsigned by;
};

/* The node of a thread's memory, as an index, by its number `i` among all and `j` in its process `p`. */
enum memory {
        MEMORY_FIRST,    /* all on the first node */
        MEMORY_FILL,     /* as many threads on a node as it has CPUs, then the next node */
        MEMORY_ZIGZAG,   /* p + j: each node has the memory of threads of two processes */
        MEMORY_ROUND,    /* one thread's on each node, round and round */
        MEMORY_BUT_LAST, /* one process's on each node but the last, round and round */
};

/* The node it starts on. */
enum start {
        START_FILL,    /* as MEMORY_FILL */
        START_NEXT,    /* the node after its memory's */
        START_AFTER,   /* threads of a process on the nodes after its memory's, one on each */
        START_HALFWAY, /* half-way round from its memory */
        START_ROUND,   /* one on each node, round and round */
        START_MEMORY,  /* where its memory is */
};

struct shape {
        struct amount processes, threads; /* threads of each process */
        enum memory memory;
        enum start start;
        bool to_threads; /* by hand: the memory is put to the threads, not the threads to the memory */
        unsigned mib;    /* of each thread, or of each process where it is shared */
        const char *arguments;
};

/* A burst comes six seconds after the start, which is three after the opt-in. */
static const struct shape shapes[LOAD_MAX] = {
        /* clang-format off */
        [LOAD_APART]          = { { 1, OF_CPUS, 2 },  { 2, OF_ONE, 1 },       MEMORY_ZIGZAG, START_HALFWAY, false, 16, "" },
        [LOAD_NUMA02]         = { { 1, OF_ONE, 1 },   { 1, OF_CPUS, 1 },      MEMORY_FIRST,  START_FILL,    true,  16, "" },
        [LOAD_SINGLES]        = { { 1, OF_CPUS, 1 },  { 1, OF_ONE, 1 },       MEMORY_FILL,   START_NEXT,    false, 16, "" },
        /* As many threads as a node has CPUs for: placed as a whole, a process can be at home altogether. */
        [LOAD_THREADS]        = { { 1, OF_NODES, 1 }, { 1, OF_NODE_CPUS, 1 }, MEMORY_FILL,   START_AFTER,   false, 16, "" },
        /* The programs of autonuma-benchmark and those beside it, all of whose memory starts on one node. */
        [LOAD_NUMA01]         = { { 2, OF_ONE, 1 },   { 1, OF_CPUS, 2 },      MEMORY_FIRST,  START_FILL,    true,  32, "--shared" },
        [LOAD_NUMA01_PRIVATE] = { { 2, OF_ONE, 1 },   { 1, OF_CPUS, 2 },      MEMORY_FIRST,  START_FILL,    true,  16, "" },
        [LOAD_NUMA03]         = { { 1, OF_ONE, 1 },   { 1, OF_CPUS, 1 },      MEMORY_FIRST,  START_FILL,    true,  32, "--shared" },
        [LOAD_NUMA04]         = { { 1, OF_NODES, 1 }, { 1, OF_NODE_CPUS, 1 }, MEMORY_FILL,   START_AFTER,   false, 32, "--shared" },
        [LOAD_NUMA05]         = { { 2, OF_NODES, 1 }, { 1, OF_NODE_CPUS, 2 }, MEMORY_FILL,   START_AFTER,   false, 32, "--shared" },
        [LOAD_SCHEDBENCH_4]   = { { 4, OF_ONE, 1 },   { 1, OF_ONE, 1 },       MEMORY_ROUND,  START_NEXT,    false, 16, "--random --burst 6" },
        [LOAD_SCHEDBENCH_8]   = { { 8, OF_ONE, 1 },   { 1, OF_ONE, 1 },       MEMORY_ROUND,  START_NEXT,    false, 16, "--random --burst 6" },
        [LOAD_SCHEDBENCH_16]  = { { 16, OF_ONE, 1 },  { 1, OF_ONE, 1 },       MEMORY_ROUND,  START_NEXT,    false, 16, "--random --burst 6" },
        [LOAD_STACKED]        = { { 1, OF_CPUS, 1 },  { 1, OF_ONE, 1 },       MEMORY_FIRST,  START_FILL,    true,  16, "" },
        [LOAD_RAMP]           = { { 2, OF_ONE, 1 },   { 8, OF_ONE, 1 },       MEMORY_FIRST,  START_ROUND,   true,  8,  "--ramp 5" },
        /* Pairs of which one at a time works: as many as there are CPUs, on all nodes but the last. */
        [LOAD_HALF_IDLE]      = { { 1, OF_CPUS, 1 },  { 2, OF_ONE, 1 },       MEMORY_BUT_LAST, START_MEMORY, false, 8, "--turns" },
        [LOAD_FORKS]          = { { 1, OF_NODES, 1 }, { 1, OF_ONE, 1 },       MEMORY_ROUND,  START_NEXT,    false, 16, "--storm 4" },
        [LOAD_PHASE]          = { { 1, OF_CPUS, 2 },  { 2, OF_ONE, 1 },       MEMORY_ZIGZAG, START_HALFWAY, false, 16, "--swap 20" },
        /* clang-format on */
};

static unsigned amount(const struct amount *a, const struct hn_load_cpus *cpus) {
        unsigned n = a->times;

        switch (a->of) {
        case OF_ONE: break;
        case OF_NODES: n *= cpus->n_nodes; break;
        case OF_CPUS: n *= cpus->n_nodes * cpus->per_node; break;
        case OF_NODE_CPUS: n *= cpus->per_node; break;
        }
        return n / a->by > 0 ? n / a->by : 1;
}

static unsigned memory_of(const struct shape *s, unsigned i, unsigned threads,
                          const struct hn_load_cpus *cpus) {
        unsigned n = cpus->n_nodes;

        switch (s->memory) {
        case MEMORY_FIRST: break;
        case MEMORY_FILL: return i / cpus->per_node % n;
        case MEMORY_ZIGZAG: return (i / threads + i % threads) % n;
        case MEMORY_ROUND: return i % n;
        case MEMORY_BUT_LAST: return i / threads % (n > 1 ? n - 1 : 1);
        }
        return 0;
}

static unsigned start_of(const struct shape *s, unsigned i, unsigned memory,
                         const struct hn_load_cpus *cpus) {
        unsigned n = cpus->n_nodes;

        switch (s->start) {
        case START_FILL: break;
        case START_NEXT: return (memory + 1) % n;
        case START_AFTER: return (memory + 1 + i % cpus->per_node) % n;
        case START_ROUND: return i % n;
        case START_MEMORY: return memory;
        case START_HALFWAY: return (memory + (n > 2 ? n / 2 : 1)) % n;
        }
        return i / cpus->per_node % n;
}

unsigned load_threads(enum load load, const struct hn_load_cpus *cpus) {
        return amount(&shapes[load].processes, cpus) * amount(&shapes[load].threads, cpus);
}

void load_arguments(enum load load, const struct hn_load_cpus *cpus, bool by_hand, const char *extra,
                    char *ret, size_t size) {
        const struct shape *s = &shapes[load];
        unsigned threads = amount(&s->threads, cpus), all = load_threads(load, cpus);
        int n;

        n = snprintf(ret, size, "--mib %u --processes %u --threads %u %s %s %s --place ", s->mib,
                     all / threads, threads, s->arguments, by_hand ? "--bind --pin all" : "", extra);
        for (unsigned i = 0; i < all && n > 0 && (size_t) n < size; i++) {
                unsigned memory = memory_of(s, i, threads, cpus), start = start_of(s, i, memory, cpus);

                if (by_hand && s->to_threads)
                        memory = start;
                if (by_hand)
                        start = memory;
                n += snprintf(ret + n, size - (size_t) n, "%s%d:%d", i > 0 ? "," : "", cpus->nodes[start],
                              cpus->nodes[memory]);
        }
}
