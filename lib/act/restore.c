/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#include "act/restore.h"
#include "act/tag.h"
#include "act/unrest.h"
#include "base/macro.h"
#include "sample/clock.h"
#include "sample/taskref.h"

/* Who forks faster than we look does so at most for this long: how many passes that makes depends on the
 * machine's other work, and a number of them would end the search early where it takes longest. */
#define PATIENCE (20 * HN_USEC_PER_SEC)

/* How long a task that neither sleeps nor gets on is waited for. */
#define REST HN_USEC_PER_SEC

/* A deeper family than this is taken for strangers. */
#define KIN_MAX 256u

static const char *const outcome_names[_HN_RESTORE_MAX] = {
        [HN_RESTORE_RESTORED] = "restored",   [HN_RESTORE_HEIR] = "heir",
        [HN_RESTORE_UNTOUCHED] = "untouched", [HN_RESTORE_GONE] = "gone",
        [HN_RESTORE_CHANGED] = "changed",     [HN_RESTORE_FAILED] = "failed",
};

const char *hn_restore_outcome_to_string(enum hn_restore_outcome o) {
        return o < _HN_RESTORE_MAX ? outcome_names[o] : NULL;
}

static void tell(struct hn_restore *x, const struct hn_restore_event *event) {
        x->count[event->outcome]++;
        if (x->report)
                x->report(x->userdata, event);
}

/* Writes the old mask. Where nothing of it is left in the cpuset of today the task gets all that this one
 * allows, as the kernel does itself when a cpuset moves away under a task. Returns enum hn_apply or -errno.
 */
static int write_old(struct hn_world *w, const struct hn_task_key *key, const struct hn_mask *now,
                     const struct hn_mask *old, struct hn_mask *ret_to) {
        struct hn_mask every = HN_MASK_NULL;
        int r = HN_APPLY_REFUSED;

        if (!hn_mask_empty(old))
                r = hn_affinity_pin(&w->ops, key, now, old, ret_to);
        if (r == HN_APPLY_REFUSED)
                r = hn_affinity_pin(&w->ops, key, now, &w->unrestricted, ret_to);
        if (r == HN_APPLY_REFUSED) {
                hn_mask_add_range(&every, 0, HN_MASK_BITS - 1);
                r = hn_affinity_pin(&w->ops, key, now, &every, ret_to);
        }
        return r;
}

/* Whether the mask in force is the one this entry tells of. */
static bool wears_ours(struct hn_restore *x, const struct hn_ledger_entry *e, const struct hn_mask *now) {
        const struct hn_mask *want = hn_ledger_mask(x->ledger, e->want), *before;
        struct hn_mask allowed;

        if (hn_mask_equal(now, want))
                return true;
        hn_world_allowed(x->world, e->key.tid, &allowed);
        if (hn_mask_is_ours(now, want, &allowed))
                return true;
        /* Killed between the line and the act: then it has the mask of the move before. */
        before = hn_ledger_mask(x->ledger, e->before);
        return !e->confirmed && e->over_ours && hn_mask_is_ours(now, before, &allowed);
}

/* Looks at one task and writes what is to be written. Returns the outcome or -errno. */
static int restore_task(struct hn_restore *x, const struct hn_ledger_entry *e, struct hn_restore_event *event,
                        struct hn_mask *now, struct hn_mask *to) {
        const struct hn_mask *old;
        int r;

        r = hn_affinity_verify(&x->world->ops, &e->key);
        if (r < 0)
                return r;
        if (r == HN_APPLY_GONE)
                return HN_RESTORE_GONE;
        r = x->world->ops.get(x->world->ops.userdata, e->key.tid, now);
        if (r < 0)
                return hn_apply_from_errno(r) == HN_APPLY_GONE ? HN_RESTORE_GONE : r;
        if (!wears_ours(x, e, now))
                return !e->confirmed && hn_mask_equal(now, hn_ledger_mask(x->ledger, e->before))
                               ? HN_RESTORE_UNTOUCHED
                               : HN_RESTORE_CHANGED;

        old = e->unrestricted ? &x->world->unrestricted : hn_ledger_mask(x->ledger, e->old);
        r = write_old(x->world, &e->key, now, old, to);
        if (r < 0)
                return r;
        event->failure = (enum hn_apply) r;
        switch (event->failure) {
        case HN_APPLY_OK:
                event->from = now;
                event->to = to;
                return HN_RESTORE_RESTORED;
        case HN_APPLY_GONE: return HN_RESTORE_GONE;
        case HN_APPLY_CHANGED: return HN_RESTORE_CHANGED;
        case HN_APPLY_WOULD:
        case HN_APPLY_REFUSED:
        case HN_APPLY_RETRY:
        case _HN_APPLY_MAX:
        case _HN_APPLY_INVALID: break;
        }
        return HN_RESTORE_FAILED;
}

int hn_restore_one(struct hn_restore *x, const struct hn_task_key *key) {
        const struct hn_ledger_entry *e = hn_ledger_find(x->ledger, key);
        struct hn_restore_event event = { .key = *key };
        struct hn_mask now, to;
        int r;

        if (!e)
                return -ENOENT;
        event.tgid = e->tgid;
        event.cgroup = e->cgroup;
        r = restore_task(x, e, &event, &now, &to);
        if (r < 0)
                return r;
        event.outcome = (enum hn_restore_outcome) r;
        tell(x, &event);
        /* A line that does not fit on a full disk is not needed for what comes: the mask speaks for itself.
         */
        if (event.outcome == HN_RESTORE_UNTOUCHED)
                (void) hn_ledger_withdraw(x->ledger, &event.key);
        else if (event.outcome != HN_RESTORE_FAILED)
                (void) hn_ledger_forget(x->ledger, &event.key);
        return (int) event.outcome;
}

/* heirs */

struct search {
        struct hn_restore *x;
        bool (*choose)(void *userdata, const char *cgroup);                 /* NULL: all */
        bool (*is_opted_in)(void *userdata, const struct hn_task_key *key); /* NULL: nobody */
        void *userdata;
        struct hn_entries settled; /* by key: they have what they are to have, though it may look like ours */
        struct hn_unrest unrest;   /* of those, who may still be forking */
        size_t n_found;            /* in this pass */
        bool *needed;              /* prune: by mark */
};

/* All that is to be known of a task which has no entry. Returns false if it has one, is gone, or has another
 * mask. */
static bool look(const struct search *s, pid_t tgid, pid_t tid, struct hn_task_key *ret_key,
                 struct hn_heir *ret, char *cgroup, size_t size, struct hn_task_key *kin) {
        const struct hn_world *w = s->x->world;

        *ret = (struct hn_heir){ .kin = kin };
        /* The mask first, as it is read fastest; born as late as can be, its birthday not being known yet. */
        if (w->ops.get(w->ops.userdata, tid, &ret->mask) < 0 ||
            !hn_ledger_may_claim(s->x->ledger, &ret->mask, UINT64_MAX))
                return false;
        ret_key->tid = tid;
        if (w->ops.start(w->ops.userdata, tid, &ret_key->start) < 0 ||
            !hn_ledger_may_claim(s->x->ledger, &ret->mask, ret_key->start) ||
            hn_ledger_find(s->x->ledger, ret_key) ||
            (s->settled.buckets && hn_entries_find(&s->settled, ret_key)))
                return false;
        ret->start = ret_key->start;
        ret->cgroup = hn_world_cgroup(w, tid, cgroup, size) == 0 ? cgroup : NULL;
        ret->n_kin = hn_world_kin(w, tgid, kin, KIN_MAX);
        hn_world_allowed(w, tid, &ret->allowed);
        return true;
}

/* The mask that somebody else gave to one task may be the one that we gave to its neighbour: who has been
 * restored once is not looked at again. */
static int settle(struct search *s, const struct hn_task_key *key) {
        struct hn_ledger_entry *e = calloc(1, sizeof(*e));

        if (!e)
                return -ENOMEM;
        e->key = *key;
        hn_entries_insert(&s->settled, e);
        return hn_unrest_add(&s->unrest, s->x->world, key);
}

static int restore_heir(void *userdata, pid_t tgid, pid_t tid) {
        struct hn_task_key kin[KIN_MAX];
        struct search *s = userdata;
        char cgroup[HN_RECORD_CGROUP_MAX];
        struct hn_restore_event event = { .outcome = HN_RESTORE_HEIR, .tgid = tgid };
        const struct hn_mark *mark;
        struct hn_heir heir;
        struct hn_mask to;
        int r;

        if (!look(s, tgid, tid, &event.key, &heir, cgroup, sizeof(cgroup), kin))
                return 0;
        mark = hn_ledger_heir(s->x->ledger, &heir);
        if (!mark || (s->choose && !s->choose(s->userdata, mark->cgroup)) ||
            (s->is_opted_in && s->is_opted_in(s->userdata, &event.key)))
                return 0;
        r = write_old(s->x->world, &event.key, &heir.mask,
                      mark->unrestricted ? &s->x->world->unrestricted
                                         : hn_ledger_mask(s->x->ledger, mark->old),
                      &to);
        if (r < 0)
                return r;
        /* Gone or changed under our hands: the next pass sees what it is now. */
        if (r == HN_APPLY_GONE || r == HN_APPLY_CHANGED)
                return 0;
        event.cgroup = mark->cgroup;
        if (r == HN_APPLY_OK) {
                event.from = &heir.mask;
                event.to = &to;
        } else {
                event.outcome = HN_RESTORE_FAILED;
                event.failure = (enum hn_apply) r;
        }
        s->n_found++;
        tell(s->x, &event);
        return settle(s, &event.key);
}

/* A task born during a pass may be missed by it, and its parent may be restored in the same pass, or have
 * been in the middle of a fork. So the last pass is one that finds nobody, after one that found nobody, and
 * none of the parents was forking between the two. */
static int restore_heirs(struct search *s) {
        hn_usec_t now = hn_clock(CLOCK_MONOTONIC), end = hn_usec_add(now, PATIENCE), found = now;
        bool last = false;

        s->x->n_passes = 0;
        while (hn_ledger_marks(s->x->ledger)->n > 0) {
                int r;

                s->n_found = 0;
                s->x->n_passes++;
                r = hn_world_each(s->x->world, restore_heir, s);
                if (r < 0)
                        return r;
                now = hn_clock(CLOCK_MONOTONIC);
                if (s->n_found == 0 && last)
                        return 0;
                if (now > end)
                        return -EBUSY;
                if (s->n_found > 0) {
                        found = now;
                        last = false;
                        continue;
                }
                last = !hn_unrest_remains(&s->unrest, s->x->world) || now > hn_usec_add(found, REST);
                if (!last)
                        (void) usleep(2000);
        }
        return 0;
}

static bool is_not_chosen(void *userdata, const struct hn_mark *mark) {
        const struct search *s = userdata;

        return s->choose && !s->choose(s->userdata, mark->cgroup);
}

static int restore_chosen(struct search *s) {
        _hn_cleanup_(hn_freep) struct hn_task_key *keys = NULL;
        size_t n;
        int r, first = 0;

        r = hn_ledger_keys(s->x->ledger, &keys, &n);
        if (r < 0)
                return r;
        for (size_t i = 0; i < n; i++) {
                const struct hn_ledger_entry *e = hn_ledger_find(s->x->ledger, &keys[i]);

                if (!e || (s->choose && !s->choose(s->userdata, e->cgroup)))
                        continue;
                r = settle(s, &keys[i]);
                if (r < 0)
                        return r;
                /* One that cannot be looked at does not keep the others from coming home. */
                r = hn_restore_one(s->x, &keys[i]);
                if (r < 0 && first == 0)
                        first = r;
        }
        r = restore_heirs(s);
        if (r < 0 || first < 0)
                return first < 0 ? first : r;
        return hn_ledger_prune(s->x->ledger, is_not_chosen, s);
}

int hn_restore_where(struct hn_restore *x, bool (*choose)(void *userdata, const char *cgroup),
                     void *userdata) {
        struct search s = { .x = x, .choose = choose, .userdata = userdata };
        int r;

        r = hn_entries_init(&s.settled);
        if (r == 0)
                r = restore_chosen(&s);
        hn_entries_deinit(&s.settled);
        hn_unrest_deinit(&s.unrest);
        return r;
}

/* Who was born under an override is looked after by that. */
static bool is_of_cgroup(void *userdata, const char *cgroup) {
        (void) userdata;
        return !hn_tag_parse(cgroup, NULL);
}

int hn_restore_strangers(struct hn_restore *x,
                         bool (*is_opted_in)(void *userdata, const struct hn_task_key *key), void *userdata) {
        struct search s = {
                .x = x, .choose = is_of_cgroup, .is_opted_in = is_opted_in, .userdata = userdata
        };
        int r;

        if (hn_ledger_marks(x->ledger)->n == 0)
                return 0;
        r = hn_entries_init(&s.settled);
        if (r == 0)
                r = hn_world_each(x->world, restore_heir, &s);
        hn_entries_deinit(&s.settled);
        hn_unrest_deinit(&s.unrest);
        return r;
}

int hn_restore_all(struct hn_restore *x) {
        int r = hn_restore_where(x, NULL, NULL), k;

        k = hn_ledger_compact(x->ledger);
        return r < 0 ? r : k;
}

static int note_needed(void *userdata, pid_t tgid, pid_t tid) {
        struct hn_task_key kin[KIN_MAX], key;
        struct search *s = userdata;
        char cgroup[HN_RECORD_CGROUP_MAX];
        const struct hn_marks *marks = hn_ledger_marks(s->x->ledger);
        struct hn_heir heir;

        if (!look(s, tgid, tid, &key, &heir, cgroup, sizeof(cgroup), kin))
                return 0;
        for (size_t i = 0; i < marks->n; i++)
                if (!s->needed[i] && hn_ledger_mark_claims(s->x->ledger, &marks->marks[i], &heir))
                        s->needed[i] = true;
        return 0;
}

static bool is_needed(void *userdata, const struct hn_mark *mark) {
        const struct search *s = userdata;

        return s->needed[mark - hn_ledger_marks(s->x->ledger)->marks];
}

int hn_restore_prune(struct hn_restore *x) {
        _hn_cleanup_(hn_freep) struct hn_task_key *keys = NULL;
        _hn_cleanup_(hn_freep) bool *needed = NULL;
        struct search s = { .x = x };
        size_t n;
        int r;

        r = hn_ledger_keys(x->ledger, &keys, &n);
        if (r < 0)
                return r;
        for (size_t i = 0; i < n; i++)
                if (hn_affinity_verify(&x->world->ops, &keys[i]) == HN_APPLY_GONE)
                        (void) hn_ledger_forget(x->ledger, &keys[i]);
        if (hn_ledger_marks(x->ledger)->n == 0)
                return 0;

        needed = calloc(hn_ledger_marks(x->ledger)->n, sizeof(*needed));
        if (!needed)
                return -ENOMEM;
        s.needed = needed;
        /* Twice: a child born during the first look has a mark, and its parent may be gone by then. */
        for (unsigned pass = 0; pass < 2; pass++) {
                r = hn_world_each(x->world, note_needed, &s);
                if (r < 0)
                        return r;
        }
        return hn_ledger_prune(x->ledger, is_needed, &s);
}
