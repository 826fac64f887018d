/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/mask.h"

/* Overrides: what a person has ordered by hand for something that runs. They outrank rules and heuristics,
 * end at a given time or when they are taken back, and leave every mask as it was. They outlive the daemon,
 * not the boot. Who may order what is not asked here: the bus has done so. */
struct hn_manager;

enum hn_override_kind {
        HN_OVERRIDE_PROCESS, /* all its threads, those born later, and the children it forks from now on */
        HN_OVERRIDE_THREAD,  /* this one alone */
        HN_OVERRIDE_CGROUP,  /* all in it and below */
        _HN_OVERRIDE_KIND_MAX,
        _HN_OVERRIDE_KIND_INVALID = -22,
};

/* "process", "thread", "cgroup" */
const char *hn_override_kind_to_string(enum hn_override_kind kind);
enum hn_override_kind hn_override_kind_from_string(const char *s);

struct hn_override {
        uint64_t id; /* given by the daemon, never 0, never used twice in a boot */
        enum hn_override_kind kind;
        pid_t pid;           /* process or thread */
        uint64_t start_time; /* of that, clock ticks since boot: identity. In a wish 0: whoever has the id now
                              */
        char *cgroup; /* path below the cgroup root without slashes at its ends, for HN_OVERRIDE_CGROUP */
        struct hn_mask nodes;    /* node ids; never empty */
        struct hn_mask cpus;     /* empty: all CPUs of the nodes */
        bool pages;              /* bring the memory too */
        uid_t owner;             /* who asked */
        uint64_t since, expires; /* CLOCK_REALTIME, microseconds; expires UINT64_MAX: for good. Of a wish
                                    `since` may be 0: now */
        char *why;               /* "" if nobody said */
};

/* Limits: a table that a person can read, and that no user can fill alone. */
#define HN_OVERRIDES_MAX       1024u
#define HN_OVERRIDES_OWNER_MAX 128u /* of a user other than root */
#define HN_OVERRIDE_WHY_MAX    256u /* bytes */

/* Takes over a wish (copies it): checks it, keeps it on disk, and has it carried out at the next tick, which
 * is made to come at once. One with the same target takes the place of the owner's earlier one; root's takes
 * anybody's.
 *
 * Returns 0 and the id, or -errno with a sentence (valid until the next call) saying why it cannot be and
 * what to do: -ESRCH no such task, -ENOENT no such node or cgroup, -EINVAL nothing to choose from (empty
 * intersection, node without CPUs) or something that nobody can be ordered, -EEXIST somebody else's override
 * holds it, -ENOSPC too many, -EROFS there is no ledger so nothing is ever changed, -EIO it cannot be written
 * down, -ENOMEM. */
int hn_override_add(struct hn_manager *m, const struct hn_override *wish, uint64_t *ret_id,
                    const char **ret_refusal);

/* The masks are back after the next tick, which is made to come at once. `by_whom`, as in "user 1000", is for
 * the journal. Returns 0, or -ENOENT: no such id. */
int hn_override_remove(struct hn_manager *m, uint64_t id, const char *by_whom);

/* Pointers are valid until an override is added or ends. */
size_t hn_override_count(const struct hn_manager *m);
const struct hn_override *hn_override_get(const struct hn_manager *m, size_t i); /* ascending by id */
const struct hn_override *hn_override_find(const struct hn_manager *m, uint64_t id);

/* Takes up what an earlier run of this boot has kept, and opens the file for what comes. Without a ledger
 * there is nothing. */
void hn_override_load(struct hn_manager *m);

/* Ends those whose time is over or whose target is gone. Once a tick. */
void hn_override_settle(struct hn_manager *m);

/* Microseconds until the next one is over, UINT64_MAX for none. */
uint64_t hn_override_wait(const struct hn_manager *m);
