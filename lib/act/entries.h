/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/macro.h"
#include "base/maskpool.h"
#include "base/usec.h"
#include "policy/snapshot.h"

/* One task that wears a mask of ours. */
struct hn_ledger_entry {
        struct hn_task_key key;
        pid_t tgid;
        bool unrestricted;            /* goes back to all CPUs that are not isolated; `old` is then empty */
        bool over_ours;               /* the mask before was ours already: the task was moved on */
        bool confirmed;               /* the act was done; else it may have been, or not */
        bool made_mark;               /* by its last note */
        hn_mask_id old, before, want; /* as in struct hn_record; of the ledger's pool */
        hn_usec_t boot_usec, real_usec;
        char *cgroup, *reason;
        struct hn_ledger_entry *next; /* in the same bucket */
};

struct hn_ledger_entry *hn_ledger_entry_free(struct hn_ledger_entry *e);
HN_DEFINE_CLEANUP(struct hn_ledger_entry *, hn_ledger_entry_free);

/* A table of entries by key, which owns them. */
struct hn_entries {
        struct hn_ledger_entry **buckets;
        size_t n_buckets, n;
};

#define HN_ENTRIES_NULL ((struct hn_entries){})

/* Returns 0 or -ENOMEM. */
int hn_entries_init(struct hn_entries *t);
void hn_entries_deinit(struct hn_entries *t);

struct hn_ledger_entry *hn_entries_find(const struct hn_entries *t, const struct hn_task_key *key);

/* Takes `e` over, in the place of an entry with the same key. */
void hn_entries_insert(struct hn_entries *t, struct hn_ledger_entry *e);
void hn_entries_remove(struct hn_entries *t, const struct hn_task_key *key);

/* One after the other, in no order: NULL starts, NULL ends. The table must not change meanwhile. */
struct hn_ledger_entry *hn_entries_next(const struct hn_entries *t, const struct hn_ledger_entry *e);

/* All keys, ascending by tid and start. The caller frees. Returns 0 or -ENOMEM. */
int hn_entries_keys(const struct hn_entries *t, struct hn_task_key **ret, size_t *ret_n);
