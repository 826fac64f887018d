/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "act/appendfile.h"
#include "act/restore.h"
#include "act/tag.h"
#include "base/macro.h"
#include "daemon/manager.h"
#include "daemon/undo.h"

#define STRAY_PERIOD (5 * HN_USEC_PER_SEC)
#define PRUNE_PERIOD (60 * HN_USEC_PER_SEC)

static void on_restored(void *userdata, const struct hn_restore_event *e) {
        struct hn_log *log = userdata;
        struct hn_log_facts facts = HN_LOG_FACTS_NULL;

        facts.tid = e->key.tid;
        facts.tgid = e->tgid;
        facts.scope = e->cgroup;
        facts.reason = hn_restore_outcome_to_string(e->outcome);
        switch (e->outcome) {
        case HN_RESTORE_RESTORED:
        case HN_RESTORE_HEIR:
                hn_log_event(log, HN_EVENT_RESTORED, LOG_INFO, &facts, "task %d has its affinity mask back%s",
                             e->key.tid,
                             e->outcome == HN_RESTORE_HEIR ? ", which it had inherited from us" : "");
                break;
        case HN_RESTORE_CHANGED:
                hn_log_event(log, HN_EVENT_MASK_CHANGED, LOG_INFO, &facts,
                             "task %d: %s, so it is left as it is", e->key.tid,
                             hn_reason_to_sentence(HN_REASON_CHANGED_BY_OTHER));
                break;
        case HN_RESTORE_FAILED:
                hn_log_event(log, HN_EVENT_RESTORED, LOG_WARNING, &facts,
                             "task %d cannot be given its mask back (%s); it stays in the ledger, try "
                             "'homenoded --restore' as root",
                             e->key.tid, hn_apply_to_string(e->failure));
                break;
        case HN_RESTORE_UNTOUCHED:
        case HN_RESTORE_GONE:
        case _HN_RESTORE_MAX: break;
        }
}

static void say_counts(struct hn_log *log, const struct hn_restore *x, const char *when) {
        size_t n = x->count[HN_RESTORE_RESTORED] + x->count[HN_RESTORE_HEIR];

        if (n + x->count[HN_RESTORE_CHANGED] + x->count[HN_RESTORE_FAILED] == 0)
                return;
        hn_log_event(
                log, HN_EVENT_RESTORED, x->count[HN_RESTORE_FAILED] ? LOG_WARNING : LOG_NOTICE, NULL,
                "%zu masks restored %s (%zu of them inherited), %zu left to whoever changed them, %zu tasks gone, "
                "%zu failed",
                n, when, x->count[HN_RESTORE_HEIR], x->count[HN_RESTORE_CHANGED], x->count[HN_RESTORE_GONE],
                x->count[HN_RESTORE_FAILED]);
}

/* Tasks that are still in the snapshot but no longer in the ledger are not held by us any more; nor are those
 * who were born with a mask of ours, if they have lost it before they came into the ledger. What is decided
 * next goes by the mask that they have now. */
static void tell_model(struct hn_manager *m) {
        for (size_t i = 0; i < hn_model_size(m->model); i++) {
                const struct hn_task_state *st = hn_model_state(m->model, i);
                struct hn_mask now;
                hn_mask_id id = HN_MASK_ID_NONE;

                if (st->pinned == HN_NODE_NONE || hn_ledger_find(m->ledger, &st->key))
                        continue;
                if (m->world.ops.get(m->world.ops.userdata, st->key.tid, &now) < 0 ||
                    hn_mask_pool_intern(m->snapshot.masks, &now, &id) < 0)
                        id = HN_MASK_ID_NONE;
                if (st->inherited && id == st->ours)
                        continue;
                hn_model_note_release(m->model, i, m->snapshot.now);
                m->snapshot.tasks[i].mask = id;
        }
}

static void finish(struct hn_manager *m, struct hn_restore *x, int r, const char *when) {
        if (r == -EBUSY)
                hn_log_say(
                        &m->log, LOG_WARNING,
                        "Tasks are born with our mask faster than they can be found, so not all masks are restored "
                        "%s; the ledger still knows of them: run \"homenoded --restore\" once more",
                        when);
        else if (r < 0)
                hn_log_warning_errno(&m->log, r, "Cannot restore all masks %s", when);
        m->state.restored += x->count[HN_RESTORE_RESTORED] + x->count[HN_RESTORE_HEIR];
        say_counts(&m->log, x, when);
        tell_model(m);
}

void hn_undo_all(struct hn_manager *m, const char *when) {
        struct hn_restore x = {
                .world = &m->world, .ledger = m->ledger, .report = on_restored, .userdata = &m->log
        };

        if (!m->ledger)
                return;
        finish(m, &x, hn_restore_all(&x), when);
}

/* What was set for an override is the override's as long as that lasts, else it is the rules' affair. */
static bool is_opted_out(void *userdata, const char *cgroup) {
        const struct hn_manager *m = userdata;
        uint64_t id;

        if (hn_tag_parse(cgroup, &id))
                return !hn_override_find(m, id);
        return !hn_scope_list_is_managed(&m->scopes, cgroup);
}

static int key_compare(const void *a, const void *b) {
        const struct hn_task_key *x = a;
        const struct hn_task_sample *y = b;

        return HN_CMP(x->tid, y->key.tid);
}

/* The task of the last sweep; NULL where it met none. */
static const struct hn_task_sample *find_task(const struct hn_manager *m, const struct hn_task_key *key) {
        const struct hn_task_sample *t = NULL;

        if (m->snapshot.n_tasks > 0)
                t = bsearch(key, m->snapshot.tasks, m->snapshot.n_tasks, sizeof(*m->snapshot.tasks),
                            key_compare);
        return t && t->key.start == key->start ? t : NULL;
}

/* A task of the ledger that the sweep no longer meets has ended, has left its cgroup for one that is not
 * ours, or has become another program. */
static void undo_missing(struct hn_manager *m, struct hn_restore *x) {
        _hn_cleanup_(hn_freep) struct hn_task_key *keys = NULL;
        size_t n;

        if (hn_ledger_keys(m->ledger, &keys, &n) < 0)
                return;
        for (size_t i = 0; i < n; i++)
                if (!find_task(m, &keys[i]))
                        (void) hn_restore_one(x, &keys[i]);
}

static bool is_held(void *userdata, const struct hn_task_key *key) {
        const struct hn_manager *m = userdata;
        const struct hn_task_sample *t = find_task(m, key);

        return t && (t->hand > 0 || m->snapshot.scopes[t->scope].mode == HN_MODE_MANAGE);
}

/* Where rules go by process, one of a cgroup may be ours and its child not. */
static int undo_strangers(struct hn_manager *m, struct hn_restore *x) {
        m->strangers = false;
        return hn_restore_strangers(x, is_held, m);
}

/* The same of those whom another rule takes now, which does not manage them. What a hand has set is none of
 * the rules' affair. */
static void undo_demoted(struct hn_manager *m, struct hn_restore *x) {
        for (size_t i = 0; i < m->snapshot.n_tasks; i++) {
                const struct hn_task_sample *t = &m->snapshot.tasks[i];

                if (m->snapshot.scopes[t->scope].by_process &&
                    m->snapshot.scopes[t->scope].mode != HN_MODE_MANAGE &&
                    hn_model_state(m->model, i)->hand == 0 &&
                    hn_model_state(m->model, i)->pinned != HN_NODE_NONE)
                        (void) hn_restore_one(x, &t->key);
        }
}

void hn_undo_strays(struct hn_manager *m, hn_usec_t now) {
        struct hn_restore x = {
                .world = &m->world, .ledger = m->ledger, .report = on_restored, .userdata = &m->log
        };
        bool opted_out = false;
        int r = 0;

        m->strangers = m->strangers || m->sampler.counts.turned > 0;
        if (!m->ledger || (hn_ledger_size(m->ledger) == 0 && hn_ledger_marks(m->ledger)->n == 0))
                return;

        for (size_t i = 0; i < m->snapshot.n_tasks && !opted_out; i++)
                opted_out = hn_model_state(m->model, i)->pinned != HN_NODE_NONE &&
                            hn_model_state(m->model, i)->hand == 0 &&
                            m->snapshot.scopes[m->snapshot.tasks[i].scope].mode != HN_MODE_MANAGE;
        if (m->reloaded || opted_out) {
                m->reloaded = false;
                r = hn_restore_where(&x, is_opted_out, m);
                undo_demoted(m, &x);
                m->strays_checked = 0; /* who is left out by process is found by the next question */
                m->strangers = m->strangers || m->scopes.n_candidates > 0;
        }
        if (r >= 0 && now >= hn_usec_add(m->strays_checked, STRAY_PERIOD)) {
                m->strays_checked = now;
                undo_missing(m, &x);
                if (m->strangers)
                        r = undo_strangers(m, &x);
        }
        if (r >= 0 && now >= hn_usec_add(m->ledger_pruned, PRUNE_PERIOD)) {
                m->ledger_pruned = now;
                r = hn_restore_prune(&x);
        }
        finish(m, &x, r, "that are no longer ours to hold");
}

int hn_undo_main(const struct hn_options *options) {
        _hn_cleanup_(hn_ledger_freep) struct hn_ledger *ledger = NULL;
        struct hn_sysroot root = HN_SYSROOT_NULL;
        struct hn_world world;
        struct hn_log log;
        struct hn_restore x = { .world = &world, .report = on_restored, .userdata = &log };
        char boot_id[HN_BOOT_ID_MAX];
        int r, status = EX_OSERR;

        hn_log_init(&log, stderr);
        r = hn_sysroot_open(NULL, &root);
        if (r >= 0)
                r = hn_world_init(&world, &root);
        if (r < 0) {
                hn_log_error_errno(&log, r, "Cannot look at the machine");
                hn_sysroot_close(&root);
                hn_log_deinit(&log);
                return status;
        }

        r = hn_ledger_boot_id(world.proc_fd, boot_id);
        if (r >= 0)
                r = hn_ledger_open(options->run_dir, boot_id, /* create= */ false, &ledger);
        if (r == -ENOENT)
                status = EX_OK; /* never anything changed */
        else if (r < 0)
                hn_log_say(&log, LOG_ERR, "Cannot open the ledger in %s: %s", options->run_dir,
                           hn_appendfile_error(r) ? hn_appendfile_error(r) : strerror(-r));
        else {
                x.ledger = ledger;
                r = hn_restore_all(&x);
                if (r < 0)
                        hn_log_error_errno(&log, r, "Cannot restore all masks");
                say_counts(&log, &x, "from the ledger");
                status = r < 0 || x.count[HN_RESTORE_FAILED] ? EX_TEMPFAIL : EX_OK;
        }
        hn_world_deinit(&world);
        hn_sysroot_close(&root);
        hn_log_deinit(&log);
        return status;
}
