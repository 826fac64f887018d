/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "act/bucket.h"
#include "act/pages.h"
#include "base/usec.h"
#include "policy/plan.h"

struct hn_manager;

/* One process's pages on their way to its node: in slices, between the ticks. */
struct hn_pager {
        bool active;
        struct hn_page_job job;
        struct hn_bucket bucket; /* PageRate of the host, across jobs */
        char comm[HN_TASK_COMM_MAX];
        hn_node_index target;
        uint64_t hand;    /* the override that asked for it, 0 for none */
        uint64_t counted; /* pages of this job that state.json has already */
};

/* Begins what decision `d` says, unless a job is on its way. Returns whether it did. */
bool hn_pager_start(struct hn_pager *p, struct hn_manager *m, const struct hn_decision *d);

/* One slice. Returns how long to wait before the next, HN_USEC_INFINITY when there is nothing more to do. */
hn_usec_t hn_pager_step(struct hn_pager *p, struct hn_manager *m, hn_usec_t now);

/* Drops the job; what was moved stays where it is. */
void hn_pager_stop(struct hn_pager *p);
