/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/mask.h"
#include "base/maskpool.h"
#include "base/usec.h"
#include "policy/snapshot.h"

/* Threads and children inherit the affinity of their creator. Who was born after we set a mask, is kin of the
 * one we set it for, and has this very mask without a record of its own, inherited it from us and is owed the
 * old one.
 *
 * A mark remembers one such mask of ours: for whom, since when, and what was there before. Marks outlive the
 * records they come from, as children outlive their parents. Many threads of a process make one mark. */
struct hn_mark {
        pid_t tgid;        /* the process it was set in; 0: one of several, only the cgroup counts */
        bool unrestricted; /* no `old` mask: all CPUs that are not isolated */
        hn_mask_id old, want;
        hn_usec_t since; /* CLOCK_BOOTTIME of the first such act */
        char *cgroup;    /* owned */
};

/* Beyond it marks of the same cgroup and masks are merged, and then the oldest one goes. */
#define HN_MARKS_MAX 4096u

struct hn_marks {
        struct hn_mark *marks;
        size_t n, allocated;
};

#define HN_MARKS_NULL ((struct hn_marks){})

void hn_marks_deinit(struct hn_marks *m);

/* Adds a mark, or moves the `since` of an equal one back. `cgroup` is copied.
 * Returns 1 if it is a new one, 0 if not, or -ENOMEM. */
int hn_marks_add(struct hn_marks *m, const struct hn_mark *mark, const char *cgroup);
void hn_marks_remove(struct hn_marks *m, size_t i);

/* The index of a mark that stands for this one too (`since` aside), or SIZE_MAX. */
size_t hn_marks_find(const struct hn_marks *m, const struct hn_mark *mark, const char *cgroup);

/* A task that might be an heir. */
struct hn_heir {
        uint64_t start;         /* clock ticks since boot */
        const char *cgroup;     /* or NULL if not known */
        struct hn_mask mask;    /* in force */
        struct hn_mask allowed; /* what its cpuset leaves, all online CPUs if not known */
        /* Its own process first (tgid, start time of the leader), then that one's parent, and so on. */
        const struct hn_task_key *kin;
        size_t n_kin;
};

/* Whether a task born at `start` with this mask could be an heir at all, whoever its kin: a question that
 * needs no more reading of /proc, and settles nearly all of them. */
bool hn_marks_may_claim(const struct hn_marks *m, const struct hn_mask_pool *masks,
                        const struct hn_mask *mask, uint64_t start);

/* Whether `heir` may have its mask from this mark. `*ret_rank` is the distance: 0 own process, then
 * ancestors, the cgroup last. */
bool hn_mark_claims(const struct hn_mark *mark, const struct hn_mask_pool *masks, const struct hn_heir *heir,
                    unsigned *ret_rank);

/* The closest mark, of equally close ones the latest. NULL: this mask is none of ours. */
const struct hn_mark *hn_marks_match(const struct hn_marks *m, const struct hn_mask_pool *masks,
                                     const struct hn_heir *heir);

/* Whether `mask` is what is left of `ours` under `allowed`. Where nothing is left the kernel falls back to
 * all that is allowed, and so does this. */
bool hn_mask_is_ours(const struct hn_mask *mask, const struct hn_mask *ours, const struct hn_mask *allowed);

/* Whether `path` is `cgroup` or lies below it. The root has no "below": that would be everybody. */
bool hn_cgroup_covers(const char *cgroup, const char *path);
