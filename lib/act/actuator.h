/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "act/ledger.h"
#include "act/pages.h"
#include "act/restore.h"
#include "act/world.h"

/* The three things homenode does to a machine, as values, and the hand that does them. */

/* Set a thread's affinity. */
struct hn_order_pin {
        struct hn_task_key key;
        pid_t tgid;
        struct hn_mask expect; /* the mask in force when it was decided */
        struct hn_mask want;   /* a node's CPUs AND cpuset AND user's mask, never isolated CPUs; not empty */
        bool old_unrestricted; /* `expect` is nobody's wish: hn_world_is_unrestricted() */
        const char *cgroup;    /* from the cgroup root */
        const char *reason;    /* a word, as in policy/reason.h */
};

/* Give a thread back the mask it had before homenode. */
struct hn_order_release {
        struct hn_task_key key;
};

/* Move some pages of a process: one step of a job. */
struct hn_order_pages {
        struct hn_page_job *job;
        struct hn_page_budget *budget;
        hn_usec_t now; /* CLOCK_MONOTONIC */
};

enum hn_order_kind {
        HN_ORDER_PIN,
        HN_ORDER_RELEASE,
        HN_ORDER_PAGES,
        _HN_ORDER_MAX,
};

struct hn_order {
        enum hn_order_kind kind;
        union {
                struct hn_order_pin pin;
                struct hn_order_release release;
                struct hn_order_pages pages;
        };
};

struct hn_actuator;

/* All return enum hn_apply or -errno. */
struct hn_actuator_ops {
        int (*pin)(struct hn_actuator *a, const struct hn_order_pin *pin);
        int (*release)(struct hn_actuator *a, const struct hn_order_release *release);
        int (*pages)(struct hn_actuator *a, const struct hn_order_pages *pages);
};

/* Ledger first, then the kernel. */
extern const struct hn_actuator_ops hn_actuator_live;

struct hn_actuator {
        const struct hn_actuator_ops *ops;
        struct hn_world *world;   /* borrowed */
        struct hn_ledger *ledger; /* borrowed */
        struct hn_pages_ops pages;
        bool dry_run; /* everything but the last call */
};

/* An actuator that does what it is told, to the live kernel. */
struct hn_actuator hn_actuator_make(struct hn_world *world, struct hn_ledger *ledger, bool dry_run);

/* Checks the act against the machine of this moment, then does it.
 *
 * Pin: HN_APPLY_GONE, _CHANGED (the mask is not the expected one, or the task is in the ledger and wears
 * somebody else's), _REFUSED, _RETRY; _OK once it was read back. The old mask that the ledger keeps is, in
 * this order, that of the task's record, that owed to it as an heir, the expected one. On _CHANGED for a task
 * in the ledger its record is still there: hn_ledger_forget() yields to whoever changed it. Release: _OK if
 * the old mask is back, or was never taken. Without a record: _GONE. Pages: _OK as long as the job runs or is
 * done, else what its state stands for. `job->state` tells all.
 *
 * With dry_run _WOULD in the place of _OK. -errno: the ledger could not be written, or /proc not read; then
 * nothing was done. */
int hn_actuator_apply(struct hn_actuator *a, const struct hn_order *order);

/* What a mask is to us that a task without a record wears: NULL, or the mark of the creator it was inherited
 * from. The manager then treats the task as one of ours (and pins it), instead of leaving a narrow mask
 * alone. */
const struct hn_mark *hn_actuator_heir(struct hn_actuator *a, const struct hn_task_key *key, pid_t tgid,
                                       const char *cgroup, const struct hn_mask *mask);
