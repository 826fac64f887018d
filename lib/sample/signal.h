/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "policy/snapshot.h"

/* Which figure on memory a task can have. Pure: values in, value out. */

/* Why a task has no faults of its own, the most general reason first. */
enum hn_no_faults {
        HN_NO_FAULTS_OFF,      /* kernel.numa_balancing has bit 1 off */
        HN_NO_FAULTS_FILE,     /* no /proc/TID/sched, or no numa lines in it */
        HN_NO_FAULTS_ONE_NODE, /* its cpuset has memory of one node: such tasks are not scanned by newer
                                  kernels */
        HN_NO_FAULTS_YET,      /* young, idle, or not scanned so far */
        _HN_NO_FAULTS_MAX,
        HN_NO_FAULTS_FINE = _HN_NO_FAULTS_MAX, /* it has some */
};

/* The static sentence of hn_snapshot.why_no_signal; NULL for FINE. */
const char *hn_no_faults_to_sentence(enum hn_no_faults why);

struct hn_signal_inputs {
        unsigned kernel_balancing;
        bool has_fault_lines;    /* the kernel tells faults of this task */
        bool has_faults;         /* and not all of them are zero */
        unsigned n_mems;         /* nodes its cpuset has memory of */
        uint32_t n_threads;      /* of its process */
        uint64_t process_cpu_ns; /* CPU time of its process */
        bool resident;           /* a histogram of its process's pages is known */
        uint32_t fewest_cores;   /* of a node that has any */
};

/* Short-lived processes are not worth a look (field experience of all placement tools). */
#define HN_SIGNAL_CPU_MIN_NS UINT64_C(1000000000)

enum hn_no_faults hn_signal_why(const struct hn_signal_inputs *in);

/* Whether it is worth asking where the pages of its process are. Those of a process with one thread are its
 * own, and tell what its faults cannot: where its memory is now. Of a process with several threads whose
 * faults are yet to come they only tell whether it has outgrown the nodes of its memory, which it cannot with
 * fewer threads than the smallest node has cores. */
bool hn_signal_wants_residency(const struct hn_signal_inputs *in);

/* The pages of its process stand in for its faults, but not where the kernel will tell those sooner or later
 * and the process has several threads, since pages cannot tell threads apart. */
enum hn_signal hn_signal_choose(const struct hn_signal_inputs *in);
