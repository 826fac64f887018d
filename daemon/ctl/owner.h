/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "act/ledger.h"
#include "policy/target.h"
#include "policy/topology.h"
#include "sample/cgroupfs.h"
#include "sample/procview.h"
#include "sample/sysroot.h"

/* Whose affinity mask a task carries: the mask against its cpuset, and against the daemon's ledger, which is
 * read and never written. */
struct hn_owners {
        const struct hn_topology *topo;
        const struct hn_mask_pool *masks; /* of the views */
        struct hn_cgroupfs cgroups;
        struct hn_ledger *ledger; /* NULL: there is none, or it may not be read */
        int ledger_error;         /* -EACCES and the like; 0 where there is none */
};

/* Captured machines have no ledger. Returns 0 or -errno; what cannot be read is a figure less. */
int hn_owners_init(struct hn_owners *o, const struct hn_sysroot *root, const struct hn_topology *topo,
                   const struct hn_mask_pool *masks, const char *run_dir);
void hn_owners_deinit(struct hn_owners *o);

/* What threads of this process may use: its cpuset, or all that is online. */
struct hn_mask hn_owners_allowed(const struct hn_owners *o, const struct hn_proc_view *v);

/* Whether a mask that is ours was set for an override, or inherited from one that was. */
bool hn_owners_by_hand(const struct hn_owners *o, const struct hn_proc_view *v,
                       const struct hn_thread_view *t, const struct hn_mask *allowed);

/* `allowed` as above. HN_OWNER_OTHER also where the ledger could not be read and a mask is narrowed. */
enum hn_owner hn_owners_of(const struct hn_owners *o, const struct hn_proc_view *v,
                           const struct hn_thread_view *t, const struct hn_mask *allowed);
