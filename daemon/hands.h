/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/snapshot.h"
#include "sample/cgrouplist.h"
#include "sample/chooser.h"

struct hn_manager;

/* A process that an override brings into a cgroup whose rules go by process. */
struct hn_hand_guest {
        uint32_t place; /* scope of that cgroup */
        pid_t tgid;     /* 0: all of its processes */
        uint32_t scope; /* the one that takes them */
};

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

        /* In cgroups whose rules go by process, those who are looked at even if no rule takes them:
         * ascending by place and process. */
        struct hn_hand_guest *guests;
        size_t n_guests, guests_allocated;
        struct hn_chooser rules; /* who is asked first */
};

#define HN_HANDS_NULL ((struct hn_hands){})

void hn_hands_deinit(struct hn_hands *h);

/* Adds to the manager's scopes what they lack of the targets. Returns 0 or -ENOMEM. */
int hn_hands_join(struct hn_manager *m);

/* The sampler's hook: what the rules choose, and where they choose nothing, what overrides need. */
struct hn_chooser hn_hands_chooser(struct hn_manager *m);

/* Writes into the snapshot whom each task is under; and what moves pages of a process that somebody has put
 * elsewhere by now is stopped. */
void hn_hands_mark(struct hn_manager *m);
