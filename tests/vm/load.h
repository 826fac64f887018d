/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The load, seen from outside: hn-load writes a table of its threads once, before they run; whoever measures
 * maps it and asks the kernel where the pages are. The threads themselves never touch the table while they
 * run: a page that all of them write would make one NUMA group of unrelated processes and so change what is
 * being measured. */

#define HN_LOAD_MAGIC       0x686e6c64U /* "hnld" */
#define HN_LOAD_THREADS_MAX 64U
#define HN_LOAD_NODES_MAX   64U
#define HN_LOAD_CPUS_MAX    1024U

/* Addresses asked for, per thread and sample. The error of a share from 64 of 4,096 pages is below 0.06; most
 * shares are near 0 or 1, where it is below 0.02. */
#define HN_LOAD_ADDRESSES 64U

struct hn_load_thread {
        int32_t pid;
        int32_t tid;
        int32_t run_node; /* where it was started */
        int32_t mem_node; /* where its buffer was placed */
        uint64_t buffer;  /* address in `pid`, page aligned */
        uint64_t pages;
        uint64_t counter; /* address in `pid` of a uint64_t: sweeps over the buffer so far */
        uint64_t delay;   /* microseconds for which it sleeps before it begins */
};

struct hn_load_table {
        uint32_t magic;
        uint32_t n_threads;
        _Atomic uint32_t ready; /* 1 once every buffer is in place and every thread let go */
        uint32_t threads_each;  /* of each process */
        uint64_t go;            /* when they were let go, microseconds of the monotonic clock */
        uint64_t swap; /* after so many microseconds they change buffers, again and again; 0: never */
        _Atomic uint64_t short_tasks; /* that came and went beside them */
        struct hn_load_thread threads[HN_LOAD_THREADS_MAX];
};

/* What one look at the load yields. */
struct hn_load_sample {
        unsigned n_threads;
        unsigned n_gone;                          /* threads that have ended: in no figure below */
        unsigned n_waiting;                       /* threads that have not begun: nor these */
        unsigned n_answered;                      /* threads of whose pages enough could be found */
        double share;                             /* mean over those, 0 to 1; NaN when there is none */
        double thread_share[HN_LOAD_THREADS_MAX]; /* pages on the node it runs on, of those found; or NaN */
        int cpu[HN_LOAD_THREADS_MAX];             /* last CPU, -1 when gone */
        unsigned on_node[HN_LOAD_NODES_MAX];      /* threads per node */
        uint64_t sweeps;                          /* of all threads together */
};

/* The node of each CPU, -1 where there is none. */
struct hn_load_cpus {
        int16_t node[HN_LOAD_CPUS_MAX];
        unsigned n_nodes;
        int16_t nodes[HN_LOAD_NODES_MAX]; /* ids, ascending, of nodes with CPUs */
        unsigned per_node;                /* CPUs on the first of them */
};

/* Reads /sys/devices/system/node. A machine without it is one node, 0, with all online CPUs. */
int hn_load_cpus_read(struct hn_load_cpus *ret);

/* Maps a table for reading; -ENOENT or -EBADMSG until hn-load has made it. Unmap with munmap(). */
int hn_load_table_open(const char *path, const struct hn_load_table **ret);

/* Whose buffer thread `i` works on, so many microseconds after it was let go: with `swap` that goes round
 * among the threads of its process. */
unsigned hn_load_owner(unsigned i, unsigned threads, uint64_t swap, uint64_t elapsed);

/* Looks at each thread once. `seed` shifts the addresses, so that samples do not always ask for the same
 * pages. */
int hn_load_sample(const struct hn_load_table *table, const struct hn_load_cpus *cpus, unsigned seed,
                   struct hn_load_sample *ret);

/* The node of every page of a thread's buffer into `ret[thread->pages]`; -1 for a page that is not there. */
int hn_load_pages(const struct hn_load_thread *thread, int8_t *ret);

/* Fields 39 (CPU) and 22 (start time, in ticks) of /proc/PID/task/TID/stat; -ESRCH when it has ended. */
int hn_load_stat(int pid, int tid, int *ret_cpu, uint64_t *ret_start);
