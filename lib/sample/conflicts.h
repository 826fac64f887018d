/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "policy/topology.h"
#include "sample/sysroot.h"

/* What else on this machine has to do with where tasks run: another manager, the kernel's own balancing, CPUs
 * set aside. */

#define HN_CONFLICTS_MAX 4

struct hn_conflict {
        const char *kind; /* "numad", "numa-balancing", "isolated-cpus", "one-node" */
        char *text;       /* one or two sentences, with what to do */
};

struct hn_conflicts {
        size_t n;
        struct hn_conflict items[HN_CONFLICTS_MAX];
};

#define HN_CONFLICTS_NULL ((struct hn_conflicts){})

/* Looks at the names of all processes: for every few minutes. Returns 0 or -ENOMEM; the caller deinits. */
int hn_conflicts_find(const struct hn_sysroot *root, const struct hn_topology *topo,
                      struct hn_conflicts *ret);
void hn_conflicts_deinit(struct hn_conflicts *c);

/* Whether both say the same. */
bool hn_conflicts_equal(const struct hn_conflicts *a, const struct hn_conflicts *b);
