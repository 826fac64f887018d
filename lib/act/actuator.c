/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>

#include "act/actuator.h"
#include "sample/clock.h"

/* Ancestors looked at when a mask may have been inherited: process, parent, and so on. */
#define KIN_MAX 16u

const struct hn_mark *hn_actuator_heir(struct hn_actuator *a, const struct hn_task_key *key, pid_t tgid,
                                       const char *cgroup, const struct hn_mask *mask) {
        struct hn_task_key kin[KIN_MAX];
        struct hn_heir heir = { .start = key->start, .cgroup = cgroup, .mask = *mask, .kin = kin };

        if (hn_ledger_marks(a->ledger)->n == 0)
                return NULL;
        heir.n_kin = hn_world_kin(a->world, tgid, kin, KIN_MAX);
        hn_world_allowed(a->world, key->tid, &heir.allowed);
        return hn_ledger_heir(a->ledger, &heir);
}

/* pin */

/* The mask that the task had before homenode. */
static void fill_old(struct hn_actuator *a, const struct hn_order_pin *pin, struct hn_record *rec) {
        const struct hn_mark *mark;

        rec->unrestricted = pin->old_unrestricted;
        rec->old = pin->expect;
        if (pin->old_unrestricted || hn_ledger_find(a->ledger, &pin->key))
                return; /* the ledger keeps what its record says */
        mark = hn_actuator_heir(a, &pin->key, pin->tgid, pin->cgroup, &pin->expect);
        if (!mark)
                return;
        rec->unrestricted = mark->unrestricted;
        rec->old = *hn_ledger_mask(a->ledger, mark->old);
}

static int live_pin(struct hn_actuator *a, const struct hn_order_pin *pin) {
        struct hn_record rec = {
                .key = pin->key,
                .tgid = pin->tgid,
                .before = pin->expect,
                .want = pin->want,
                .boot_usec = hn_clock(CLOCK_BOOTTIME),
                .real_usec = hn_clock(CLOCK_REALTIME),
        };
        int r;

        fill_old(a, pin, &rec);
        (void) snprintf(rec.cgroup, sizeof(rec.cgroup), "%s", pin->cgroup);
        (void) snprintf(rec.reason, sizeof(rec.reason), "%s", pin->reason);
        r = hn_ledger_note(a->ledger, &rec);
        if (r < 0)
                return r;

        r = hn_affinity_pin(&a->world->ops, &pin->key, &pin->expect, &pin->want, NULL);
        /* A second line that finds no room changes nothing: without it the restoring looks at both masks. */
        if (r == HN_APPLY_OK)
                (void) hn_ledger_confirm(a->ledger, &pin->key);
        else if (r == HN_APPLY_GONE)
                (void) hn_ledger_forget(a->ledger, &pin->key);
        else if (r > 0)
                (void) hn_ledger_withdraw(a->ledger, &pin->key);
        /* Below zero we do not know whether it was done, and the entry says just that. */
        return r;
}

/* The look before the ledger is written: most of what can go wrong does so here. */
static int check_pin(struct hn_actuator *a, const struct hn_order_pin *pin) {
        const struct hn_affinity_ops *ops = &a->world->ops;
        const struct hn_ledger_entry *e;
        struct hn_mask now, allowed;
        int r;

        if (hn_mask_empty(&pin->want))
                return -EINVAL;
        r = hn_affinity_verify(ops, &pin->key);
        if (r != 0)
                return r;
        r = ops->get(ops->userdata, pin->key.tid, &now);
        if (r < 0)
                return hn_apply_from_errno(r);
        if (!hn_mask_equal(&now, &pin->expect))
                return HN_APPLY_CHANGED;
        e = hn_ledger_find(a->ledger, &pin->key);
        if (!e || hn_mask_equal(&now, hn_ledger_mask(a->ledger, e->want)))
                return HN_APPLY_OK;
        hn_world_allowed(a->world, pin->key.tid, &allowed);
        return hn_mask_is_ours(&now, hn_ledger_mask(a->ledger, e->want), &allowed) ? HN_APPLY_OK
                                                                                   : HN_APPLY_CHANGED;
}

static int apply_pin(struct hn_actuator *a, const struct hn_order_pin *pin) {
        int r = check_pin(a, pin);

        if (r != HN_APPLY_OK)
                return r;
        return a->dry_run ? HN_APPLY_WOULD : a->ops->pin(a, pin);
}

/* release */

static int live_release(struct hn_actuator *a, const struct hn_order_release *release) {
        struct hn_restore x = { .world = a->world, .ledger = a->ledger };
        int r = hn_restore_one(&x, &release->key);

        if (r < 0)
                return r;
        switch ((enum hn_restore_outcome) r) {
        case HN_RESTORE_RESTORED:
        case HN_RESTORE_HEIR:
        case HN_RESTORE_UNTOUCHED: return HN_APPLY_OK;
        case HN_RESTORE_GONE: return HN_APPLY_GONE;
        case HN_RESTORE_CHANGED: return HN_APPLY_CHANGED;
        case HN_RESTORE_FAILED:
        case _HN_RESTORE_MAX: break;
        }
        return HN_APPLY_REFUSED;
}

static int apply_release(struct hn_actuator *a, const struct hn_order_release *release) {
        int r;

        if (!hn_ledger_find(a->ledger, &release->key))
                return HN_APPLY_GONE;
        r = hn_affinity_verify(&a->world->ops, &release->key);
        if (r < 0)
                return r;
        /* One that is gone goes on: its record has to go too. */
        return a->dry_run ? HN_APPLY_WOULD : a->ops->release(a, release);
}

/* pages */

static int apply_of_job(enum hn_page_job_state s) {
        switch (s) {
        case HN_PAGE_JOB_RUNNING:
        case HN_PAGE_JOB_DONE: return HN_APPLY_OK;
        case HN_PAGE_JOB_GONE: return HN_APPLY_GONE;
        case HN_PAGE_JOB_FULL: return HN_APPLY_RETRY;
        case HN_PAGE_JOB_UNMOVABLE:
        case HN_PAGE_JOB_REFUSED:
        case _HN_PAGE_JOB_MAX: break;
        }
        return HN_APPLY_REFUSED;
}

static int live_pages(struct hn_actuator *a, const struct hn_order_pages *pages) {
        return apply_of_job(
                hn_page_job_step(pages->job, &a->pages, &a->world->ops, pages->budget, pages->now));
}

static int apply_pages(struct hn_actuator *a, const struct hn_order_pages *pages) {
        int r;

        /* A step looks for the process itself, and leaves what it found in the job. */
        if (!a->dry_run)
                return a->ops->pages(a, pages);
        r = hn_affinity_verify(&a->world->ops, &pages->job->key);
        return r != 0 ? r : HN_APPLY_WOULD;
}

const struct hn_actuator_ops hn_actuator_live = {
        .pin = live_pin,
        .release = live_release,
        .pages = live_pages,
};

struct hn_actuator hn_actuator_make(struct hn_world *world, struct hn_ledger *ledger, bool dry_run) {
        return (struct hn_actuator){
                .ops = &hn_actuator_live,
                .world = world,
                .ledger = ledger,
                .pages = hn_pages_live(),
                .dry_run = dry_run,
        };
}

int hn_actuator_apply(struct hn_actuator *a, const struct hn_order *order) {
        switch (order->kind) {
        case HN_ORDER_PIN: return apply_pin(a, &order->pin);
        case HN_ORDER_RELEASE: return apply_release(a, &order->release);
        case HN_ORDER_PAGES: return apply_pages(a, &order->pages);
        case _HN_ORDER_MAX: break;
        }
        return -EINVAL;
}
