/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "act/world.h"
#include "policy/snapshot.h"

/* Tasks that may be in the middle of a fork. A child gets the mask of its parent early in the kernel's
 * copy_process(), and is seen in /proc at the end of it: one whose parent is given its mask back between the
 * two comes up later with ours. So nobody is to be taken for the last before all parents have been seen
 * asleep, or have run on for longer than a fork takes. */
struct hn_unrest {
        size_t n, allocated;
        struct hn_restless *tasks;
};

#define HN_UNREST_NULL ((struct hn_unrest){})

void hn_unrest_deinit(struct hn_unrest *u);

/* Returns 0 or -ENOMEM. */
int hn_unrest_add(struct hn_unrest *u, const struct hn_world *w, const struct hn_task_key *key);

/* Looks at those that are left, and leaves out who is gone or cannot be forking any more. Returns whether
 * there was somebody else. */
bool hn_unrest_remains(struct hn_unrest *u, const struct hn_world *w);
