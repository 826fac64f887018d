/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct hn_snapshot;
struct hn_task_sample;
struct hn_task_state;

/* How much of what a task's faults say is of a time before it was moved, or its memory was. Faults are a
 * history: each scan of the kernel's halves what was there and adds what has been met since the scan before
 * (Linux, kernel/sched/fair.c, task_numa_placement(); heuristics H1). So the first scan after an act still
 * brings news of before it, and where a kernel scans a mapping rarely (vma_is_accessed()) later ones may
 * bring none at all, and the past is all there is. Homenode's own conclusion, as the kernel acts on each of
 * its scans once. */
struct hn_evidence {
        bool under_way; /* the scan in which the act fell is not over: all there is may be of before it */
        uint64_t past;  /* else so many faults may be of before the act, any others are not */
        uint64_t seq;   /* the scan sequence that this is as of */
};

/* No act lies between it and now. */
#define HN_EVIDENCE_NULL ((struct hn_evidence){})

/* After an act in scan sequence `seq`. A kernel that does not tell its sequence never lets go of 0, and is
 * taken at its word. */
struct hn_evidence hn_evidence_after_act(uint64_t seq);

/* What another look makes of it, which found `faults` in all, decayed, in sequence `seq`. */
struct hn_evidence hn_evidence_look(struct hn_evidence e, uint64_t faults, uint64_t seq);

/* Whether `faults` tell of the present: there are half as many new ones as may be of the past. */
bool hn_evidence_holds(struct hn_evidence e, uint64_t faults);

/* Settles whether faults or pages speak for a task in this sweep: its state's `signal` and `row`. Faults tell
 * what a task uses, but late; the pages of its process tell where its memory is now, but not which of it is
 * used, nor by which thread, nor what it shares with others. */
void hn_evidence_choose(const struct hn_snapshot *s, const struct hn_task_sample *t,
                        struct hn_task_state *st);
