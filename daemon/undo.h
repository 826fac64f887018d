/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base/usec.h"
#include "daemon/options.h"

struct hn_manager;

/* Gives everything back that the ledger knows of: at the start (an earlier run may have been killed) and at
 * the end. `when` completes the sentence "N masks restored ...". */
void hn_undo_all(struct hn_manager *m, const char *when);

/* Gives back what is no longer ours to hold: cgroups that no rule manages any more, tasks that have left
 * theirs, what overrides held that are over, and clears the ledger of the dead. Once per tick; does little
 * where nothing changed. */
void hn_undo_strays(struct hn_manager *m, hn_usec_t now);

/* homenoded --restore: the same as hn_undo_all(), from the ledger and /proc alone. Returns an exit status. */
int hn_undo_main(const struct hn_options *options);
