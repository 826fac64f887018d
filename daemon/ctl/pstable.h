/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "base/maskpool.h"
#include "owner.h"
#include "policy/topology.h"
#include "sample/procview.h"
#include "sample/sysroot.h"
#include "table.h"

/* The table of `homenode ps`: from what was seen of processes to its lines. */

enum hn_ps_column {
        HN_PS_PID,
        HN_PS_TID,
        HN_PS_COMM,
        HN_PS_NODE,
        HN_PS_HOME,
        HN_PS_LOCAL,
        HN_PS_SIGNAL,
        HN_PS_PAGES,
        HN_PS_REMOTE,
        HN_PS_MASK,
        HN_PS_OWNER,
        HN_PS_THREADS,
        HN_PS_MEMORY,
        HN_PS_FAULTS,
        HN_PS_CGROUP,
        _HN_PS_COLUMN_MAX,
};

/* In this order; HN_PS_TID is usual only where threads are shown. */
extern const struct hn_column hn_ps_columns[_HN_PS_COLUMN_MAX];

/* Everything that was looked at. */
struct hn_ps_look {
        struct hn_sysroot root;
        struct hn_topology topo;
        struct hn_mask_pool masks;
        struct hn_owners owners;
        unsigned balancing;
        struct hn_proc_view *views;
        size_t n_views, n_allocated;
        size_t n_denied; /* processes whose pages we may not ask about */
        pid_t first_denied;
        bool missing; /* one that was asked for is not there */
};

/* A line a process, or a thread: most remote bytes first. Returns 0 or -ENOMEM. */
int hn_ps_add_rows(struct hn_table *t, const struct hn_ps_look *l, bool threads);
