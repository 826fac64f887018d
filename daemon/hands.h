/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/snapshot.h"
#include "sample/cgrouplist.h"

struct hn_manager;

/* A thread that is looked at because of an override. */
struct hn_hand_target {
        pid_t tid, tgid;
        uint64_t start; /* of its process, or of the thread: it is no older */
        uint32_t hand;  /* as in struct hn_task_sample */
        unsigned rank;  /* who speaks for it, if several do: the lowest */
        size_t path;    /* of its cgroup, in `paths` */
};

/* Brings what overrides speak of into the sample, and tells the snapshot who is under which. Made anew at
 * each tick, and valid until the next. */
struct hn_hands {
        struct hn_hand *hands; /* parallel to the overrides of this tick */
        size_t n;
        struct hn_cgroup_list cgroups; /* under overrides of cgroups; `pattern` is an index into `by_depth` */
        uint32_t *by_depth;            /* hands of cgroups, the deepest first */
        struct hn_hand_target *targets; /* ascending tid */
        size_t n_targets, targets_allocated;
        char **paths; /* cgroups of the targets, each once */
        size_t n_paths;
        pid_t *tids; /* of the targets, by cgroup: what the scopes point to */
};

#define HN_HANDS_NULL ((struct hn_hands){})

void hn_hands_deinit(struct hn_hands *h);

/* Adds to the manager's scopes what they lack of the targets. Returns 0 or -ENOMEM. */
int hn_hands_join(struct hn_manager *m);

/* Writes into the snapshot whom each task is under; and what moves pages of a process that somebody has put
 * elsewhere by now is stopped. */
void hn_hands_mark(struct hn_manager *m);
