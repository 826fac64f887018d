/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "act/affinity.h"
#include "act/bucket.h"
#include "act/ranges.h"
#include "base/mask.h"
#include "base/usec.h"
#include "policy/snapshot.h"
#include "sample/residency.h"

/* Moving the memory of one process to one node, a little at a time: asked first where each page is, moved in
 * batches of one target, asked again what came of it. */

/* The kernel below, or a test's. */
struct hn_pages_ops {
        hn_query_pages_fn query;
        /* Returns pages that were not moved (the rest not even tried, their status not written), or -errno.
         */
        long (*move)(void *userdata, pid_t pid, size_t n, void *const *addresses, unsigned node, int *status);
        hn_usec_t (*clock)(void *userdata); /* CLOCK_MONOTONIC, against which a slice is measured */
        void *userdata;
};

/* CAP_SYS_PTRACE is raised around each call. */
struct hn_pages_ops hn_pages_live(void);

enum hn_page_job_state {
        HN_PAGE_JOB_RUNNING,
        HN_PAGE_JOB_DONE,      /* all ranges seen, or as much moved as was asked */
        HN_PAGE_JOB_GONE,      /* the process is not there any more */
        HN_PAGE_JOB_FULL,      /* the target has no room */
        HN_PAGE_JOB_UNMOVABLE, /* attempt after attempt without a page moved: pinned, shared, ... */
        HN_PAGE_JOB_REFUSED,   /* the kernel refuses the call as a whole, `error` says with what */
        _HN_PAGE_JOB_MAX,
};

const char *hn_page_job_state_to_string(enum hn_page_job_state s);

struct hn_page_counts {
        uint64_t asked;                /* pages looked at */
        uint64_t resident;             /* of them, on some node */
        uint64_t there;                /* of them, on the target already */
        uint64_t absent;               /* no page, or none that could be moved */
        uint64_t tried;                /* pages that a move was asked for */
        uint64_t moved;                /* found on the target afterwards */
        uint64_t shared, busy, failed; /* tried, and why not */
        uint64_t calls;                /* of move_pages(2), queries aside */
};

struct hn_page_job {
        struct hn_task_key key; /* a thread of the process; its life is the job's */
        unsigned target;        /* node id */
        struct hn_mask sources; /* node ids pages are taken from; empty: all but the target */
        uint64_t limit;         /* bytes to move at most */
        size_t page_size;

        struct hn_page_range *ranges; /* owned */
        size_t n_ranges, range;
        uint64_t at; /* the next address to look at, within ranges[range] */

        enum hn_page_job_state state;
        int error;
        struct hn_page_counts count;
        size_t batch;         /* pages a round, adapted to the slice */
        unsigned n_useless;   /* rounds in a row that moved nothing */
        unsigned small_pages; /* rounds for which huge pages are not tried */
};

#define HN_PAGE_JOB_NULL ((struct hn_page_job){})

/* Takes `ranges` over. `limit` in bytes. */
void hn_page_job_init(struct hn_page_job *job, const struct hn_task_key *key, unsigned target,
                      const struct hn_mask *sources, uint64_t limit, struct hn_page_range *ranges,
                      size_t n_ranges);
void hn_page_job_deinit(struct hn_page_job *job);

/* What one step may take. */
struct hn_page_budget {
        struct hn_bucket *bucket; /* PageRate, of the whole host */
        hn_usec_t slice;          /* PageSliceMs: the step ends after the round in which it is over */
        uint64_t free;            /* bytes free on the target, clean page cache included */
        uint64_t floor;           /* bytes of them that stay free */
};

/* Moves on as far as the budget goes; verifies the identity of the process first and after each round. `free`
 * is counted down by what was moved. A huge page is moved whole or not at all, so that neither `limit` nor
 * `free` is overdrawn by one. Returns the state, which once it is other than RUNNING stays. */
enum hn_page_job_state hn_page_job_step(struct hn_page_job *job, const struct hn_pages_ops *ops,
                                        const struct hn_affinity_ops *identity, struct hn_page_budget *budget,
                                        hn_usec_t now);
