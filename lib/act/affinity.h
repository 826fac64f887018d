/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/mask.h"
#include "policy/snapshot.h"

/* What became of an act. Negative values are -errno and mean that we cannot act at all. */
enum hn_apply {
        HN_APPLY_OK,
        HN_APPLY_WOULD,   /* dry run: everything but the call itself */
        HN_APPLY_GONE,    /* the task is not there any more: forget it */
        HN_APPLY_CHANGED, /* its mask is not the one it was: somebody spoke, hands off */
        HN_APPLY_REFUSED, /* never again for this task and this mask */
        HN_APPLY_RETRY,   /* perhaps at the next tick */
        _HN_APPLY_MAX,
        _HN_APPLY_INVALID = -22,
};

const char *hn_apply_to_string(enum hn_apply a);

/* Sorts what sched_setaffinity(2) and /proc answer into what we do about it: the only place that knows.
 * `r` is 0 or -errno. ESRCH, ENOENT: gone. EAGAIN, ENOMEM, EINTR: retry. All else is refused for good: EPERM;
 * EINVAL (PF_NO_SETAFFINITY, or nothing left of the mask in the cpuset); EBUSY (a SCHED_DEADLINE task, whose
 * mask may not be smaller than its root domain). */
enum hn_apply hn_apply_from_errno(int r);

/* The kernel below hn_affinity_pin(): the live one, or a test's that answers what no kernel can be made to.
 * All return 0 or -errno. */
struct hn_affinity_ops {
        int (*get)(void *userdata, pid_t tid, struct hn_mask *ret);
        int (*set)(void *userdata, pid_t tid, const struct hn_mask *mask);
        int (*start)(void *userdata, pid_t tid, uint64_t *ret); /* field 22 of /proc/TID/stat */
        void *userdata;
};

/* The live kernel; `proc_fd` is borrowed and is a folder as /proc. */
struct hn_affinity_ops hn_affinity_live(const int *proc_fd);

/* The mask in force (the kernel's: request AND cpuset AND online). Returns 0 or -errno. */
int hn_affinity_get(pid_t tid, struct hn_mask *ret);

/* Writes a mask, CAP_SYS_NICE raised around the call. What the cpuset does not allow is left out by the
 * kernel without a word. Returns 0 or -errno. */
int hn_affinity_set(pid_t tid, const struct hn_mask *mask);

/* 0 if `key` is that very task still, HN_APPLY_GONE if it is not or is a zombie's leftover, or -errno. */
int hn_affinity_verify(const struct hn_affinity_ops *ops, const struct hn_task_key *key);

/* Look, write, look: identity, mask, write, mask, identity.
 * Writes `want` only if the mask in force is `expect`. HN_APPLY_OK means that the task itself now has `want`,
 * or as much of it as its cpuset leaves (at least one CPU). Where the tid changed hands under the write, its
 * new owner gets back what was read before, as far as it still has our mask. `ret_in_force` (may be NULL) is
 * written with HN_APPLY_OK only. Returns enum hn_apply or -errno. */
int hn_affinity_pin(const struct hn_affinity_ops *ops, const struct hn_task_key *key,
                    const struct hn_mask *expect, const struct hn_mask *want, struct hn_mask *ret_in_force);
