/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* How often it pays to look at a task's memory: heuristics A10 and H1, after the kernel's task_scan_min(),
 * task_scan_max() and update_task_scan_period() (kernel/sched/fair.c). Milliseconds. */

/* What one pass takes in. */
#define HN_SCAN_SIZE_MIB 256u

/* The shortest and the longest period for a task with so much resident memory: a large one is looked at in
 * more parts, and so more often. */
uint32_t hn_scan_min(uint64_t resident_mib);
uint32_t hn_scan_max(uint64_t resident_mib);

/* What was found in the window since the last placement. */
struct hn_scan_window {
        uint64_t local, remote;   /* faults on the task's own node, and on others */
        uint64_t private, shared; /* faults on memory of its own, and of several */
        uint64_t failed;          /* pages that could not be moved */
};

/* The next period. It becomes longer while most is local or most is private, as then there is little to gain
 * from looking, and shorter else, aiming at seven tenths; doubles where nothing was found or moves failed.
 * The kernel takes a window that is all private and all remote for one in which nothing was found;
 * `as_kernel` keeps that error. */
uint32_t hn_scan_period(uint32_t period, const struct hn_scan_window *w, uint32_t min, uint32_t max,
                        bool as_kernel);
