/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "act/ledger.h"
#include "act/world.h"

/* Gives tasks their masks back, from the ledger and /proc alone. */
enum hn_restore_outcome {
        HN_RESTORE_RESTORED,  /* had our mask, has the old one again */
        HN_RESTORE_HEIR,      /* the same for a thread or child that inherited our mask */
        HN_RESTORE_UNTOUCHED, /* the act that the ledger announced had not been done */
        HN_RESTORE_GONE,
        HN_RESTORE_CHANGED, /* somebody set another mask since: left alone */
        HN_RESTORE_FAILED,  /* the kernel refuses; stays in the ledger */
        _HN_RESTORE_MAX,
};

const char *hn_restore_outcome_to_string(enum hn_restore_outcome o);

struct hn_restore_event {
        enum hn_restore_outcome outcome;
        struct hn_task_key key;
        pid_t tgid;                      /* 0 where not known */
        const char *cgroup;              /* as recorded */
        const struct hn_mask *from, *to; /* NULL where nothing was written */
        enum hn_apply failure;           /* FAILED: how */
};

struct hn_restore {
        struct hn_world *world;
        struct hn_ledger *ledger;
        void (*report)(void *userdata, const struct hn_restore_event *event); /* or NULL */
        void *userdata;
        size_t count[_HN_RESTORE_MAX]; /* adds up over the calls */
        unsigned n_passes;             /* of the last search for heirs */
};

/* Everything: all entries, then their heirs, pass after pass over /proc until none is left. Entries that
 * could not be restored stay in the ledger. Returns 0, even if some failed (see `count`), or -errno: -EBUSY
 * where heirs are born faster than they are found, for seconds on end. Then the ledger keeps what it takes to
 * go on. */
int hn_restore_all(struct hn_restore *x);

/* The same for the entries, and heirs of entries, of chosen cgroups: a scope that is opted out. */
int hn_restore_where(struct hn_restore *x, bool (*choose)(void *userdata, const char *cgroup),
                     void *userdata);

/* One look over /proc for heirs that are nobody's business any more: born of a task of ours, but not opted in
 * themselves. `is_opted_in` says who is. Heirs of overrides are not meant. Whoever comes up behind our back
 * is found by the next look. Returns 0 or -errno. */
int hn_restore_strangers(struct hn_restore *x,
                         bool (*is_opted_in)(void *userdata, const struct hn_task_key *key), void *userdata);

/* One task; its heirs keep the mark. Returns enum hn_restore_outcome or -errno; -ENOENT if it is not in the
 * ledger. */
int hn_restore_one(struct hn_restore *x, const struct hn_task_key *key);

/* Housekeeping while running: forgets entries of tasks that are gone, and marks no living task can have its
 * mask from. Reads all of /proc if there are marks without entries, so once a minute will do. Returns 0 or
 * -errno. */
int hn_restore_prune(struct hn_restore *x);
