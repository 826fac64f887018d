/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act/actuator.h"
#include "act/tag.h"
#include "base/macro.h"
#include "daemon/apply.h"
#include "daemon/manager.h"
#include "daemon/wording.h"
#include "policy/target.h"
#include "sample/clock.h"

/* Ancestors asked for the mask that a newborn is owed. */
#define KIN_MAX 16u

/* An act in progress: the decision and what it is about. */
struct act {
        const struct hn_decision *d;
        const struct hn_task_sample *task;
        const struct hn_scope *scope;
        struct hn_log_facts facts;
        struct hn_log_figure figures[7];
        char tag[HN_TAG_MAX]; /* of the override */
        char object[32];      /* "task 4711": what is said once is said of this */
        char text[512];
        hn_usec_t when; /* it was done, CLOCK_REALTIME */
        bool dry;
};

/* What came of it. */
struct outcome {
        int r; /* enum hn_apply or -errno */
        hn_usec_t when;
};

static int node_id(const struct hn_manager *m, hn_node_index node) {
        return node < m->topo.n_nodes ? (int) m->topo.nodes[node].id : -1;
}

bool hn_apply_is_dry(const struct hn_manager *m, const struct hn_scope *scope, const struct hn_decision *d) {
        return (scope->mode != HN_MODE_MANAGE && !d->by_hand) || !m->root.live || !m->ledger;
}

static void prepare(const struct hn_manager *m, const struct hn_decision *d, struct act *a) {
        const struct hn_task_sample *t = &m->snapshot.tasks[d->task];

        *a = (struct act){ .d = d, .task = t, .scope = &m->snapshot.scopes[t->scope] };
        a->when = hn_clock(CLOCK_REALTIME);
        a->dry = hn_apply_is_dry(m, a->scope, d);
        if (d->hand)
                hn_tag_print(d->hand->id, a->tag);
        snprintf(a->object, sizeof(a->object), "task %d", t->key.tid);
        hn_wording_decision(d, &m->topo, a->dry, a->text, sizeof(a->text));
        memcpy(a->figures,
               (struct hn_log_figure[]){
                       { "SHARE_FROM", d->share_from },
                       { "SHARE_TO", d->share_to },
                       { "DEMAND", d->demand },
                       { "NODE_USED", d->used },
                       { "NODE_CAPACITY", d->capacity },
                       { d->hand ? "OVERRIDE" : NULL, d->hand ? (int64_t) d->hand->id : 0 },
                       { .name = NULL },
               },
               sizeof(a->figures));
        a->facts = (struct hn_log_facts){
                .tid = t->key.tid,
                .tgid = t->tgid,
                .comm = t->comm,
                .from = node_id(m, d->from),
                .to = node_id(m, d->to),
                .reason = hn_reason_to_string(d->reason),
                .scope = a->scope->path,
                .rule = a->scope->rule,
                .figures = a->figures,
        };
}

static void remember(struct hn_manager *m, const struct act *a, enum hn_state_act what) {
        hn_state_event_add(&m->state, a->when, what, a->task->key.tid, a->task->comm, a->facts.from,
                           a->facts.to, a->facts.reason, a->text);
        hn_news_event(&m->bus, hn_state_last_event(&m->state));
}

/* A decision that ends in nothing: refusals are told once a task and reason. */
static void tell_refusal(struct hn_manager *m, const struct hn_decision *d) {
        struct act a;

        if (!hn_reason_is_refusal(d->reason))
                return;
        prepare(m, d, &a);
        if (!hn_log_event_once(&m->log, a.object, (int) d->reason, HN_EVENT_TASK_REFUSED, LOG_INFO, &a.facts,
                               "%s (%d): %s", a.task->comm, a.task->key.tid, a.text))
                return;
        remember(m, &a, HN_STATE_REFUSE);
        hn_state_refusal_add(&m->state, a.facts.reason);
}

static void say_failure(struct hn_manager *m, const struct act *a, int r) {
        if (r < 0)
                hn_log_event_once(&m->log, a->object, r, HN_EVENT_TASK_REFUSED, LOG_WARNING, &a->facts,
                                  "%s (%d): cannot be pinned: %s", a->task->comm, a->task->key.tid,
                                  strerror(-r));
        else
                hn_log_event_once(&m->log, a->object, r, HN_EVENT_TASK_REFUSED, LOG_INFO, &a->facts,
                                  "%s (%d): not pinned: %s", a->task->comm, a->task->key.tid,
                                  r == HN_APPLY_CHANGED ? hn_reason_to_sentence(HN_REASON_CHANGED_BY_OTHER)
                                                        : hn_reason_to_sentence(HN_REASON_REFUSED_BY_KERNEL));
}

/* The pin itself, or all of it but the last call. Returns enum hn_apply or -errno. */
static int pin(struct hn_manager *m, const struct act *a) {
        struct hn_actuator actuator = hn_actuator_make(&m->world, m->ledger, a->dry);
        const struct hn_task_state *st = hn_model_state(m->model, a->d->task);
        bool ours_already = st->pinned != HN_NODE_NONE;
        hn_mask_id old = ours_already ? st->before : a->task->mask, cpuset;
        struct hn_order order = {
                .kind = HN_ORDER_PIN,
                .pin = {
                        .key = a->task->key,
                        .tgid = a->task->tgid,
                        .expect = *hn_mask_pool_get(m->snapshot.masks, a->task->mask),
                        .want = *hn_mask_pool_get(m->snapshot.masks, a->d->want),
                        .cgroup = a->d->hand ? a->tag : a->scope->path,
                        .reason = a->facts.reason,
                },
        };
        int r;

        /* A captured machine has nobody to ask, and without a ledger nothing is done. */
        if (!m->root.live || !m->ledger)
                return HN_APPLY_WOULD;
        r = hn_mask_pool_intern(m->snapshot.masks, &a->scope->cpuset, &cpuset);
        if (r < 0)
                return r;
        order.pin.old_unrestricted = ours_already ? st->unrestricted
                                                  : hn_mask_owner(&order.pin.expect, NULL, &a->scope->cpuset,
                                                                  &m->topo.isolated) == HN_OWNER_NOBODY;
        r = hn_actuator_apply(&actuator, &order);
        if (r == HN_APPLY_OK) {
                hn_model_note_pin(m->model, a->d->task, a->d->from, a->d->to, a->d->want, old, cpuset,
                                  order.pin.old_unrestricted, m->snapshot.now);
                if (hn_decision_promises(a->d))
                        hn_model_note_promise(m->model, a->d->task, a->d->share_from, m->snapshot.now);
        } else if (r == HN_APPLY_CHANGED && !a->dry)
                hn_model_note_changed(m->model, a->d->task);
        else if (r == HN_APPLY_REFUSED)
                hn_model_note_refused(m->model, a->d->task);
        return r;
}

static void say_would(struct hn_manager *m, const struct act *a, enum hn_state_act what) {
        if (hn_log_event_once(&m->log, a->object, (int) a->d->reason * 4096 + a->d->to,
                              HN_EVENT_TASK_WOULD_PIN, LOG_NOTICE, &a->facts, "%s (%d): %s", a->task->comm,
                              a->task->key.tid, a->text))
                remember(m, a, what);
}

static void tell_pin(struct hn_manager *m, const struct act *a, int r) {
        if (r == HN_APPLY_WOULD)
                say_would(m, a, HN_STATE_WOULD_PIN);
        else if (r == HN_APPLY_OK) {
                m->state.moves++;
                /* An override has been told as a whole, and may be of a thousand threads. */
                if (!a->d->by_hand)
                        remember(m, a, HN_STATE_PIN);
                hn_log_event(&m->log, HN_EVENT_TASK_PINNED, a->d->by_hand ? LOG_INFO : LOG_NOTICE, &a->facts,
                             "%s (%d): %s", a->task->comm, a->task->key.tid, a->text);
        } else if (!a->dry && r != HN_APPLY_GONE && r != HN_APPLY_RETRY)
                say_failure(m, a, r);
}

static int release(struct hn_manager *m, const struct act *a) {
        struct hn_actuator actuator = hn_actuator_make(&m->world, m->ledger, a->dry);
        const struct hn_order order = { .kind = HN_ORDER_RELEASE, .release.key = a->task->key };
        int r;

        if (!m->ledger)
                return HN_APPLY_GONE;
        r = hn_actuator_apply(&actuator, &order);
        if (r == HN_APPLY_OK)
                hn_model_note_release(m->model, a->d->task, m->snapshot.now);
        else if (r == HN_APPLY_CHANGED)
                hn_model_note_changed(m->model, a->d->task);
        return r;
}

static void tell_release(struct hn_manager *m, const struct act *a, int r) {
        if (r == HN_APPLY_OK) {
                m->state.restored++;
                remember(m, a, HN_STATE_RELEASE);
                hn_log_event(&m->log, HN_EVENT_TASK_RELEASED, LOG_NOTICE, &a->facts, "%s (%d): %s",
                             a->task->comm, a->task->key.tid, a->text);
        } else if (r < 0)
                say_failure(m, a, r);
}

/* Under overrides there are tasks of many users and masks side by side: whose child it is tells which of them
 * it is owed. Which thread of a process made it is not known, so the first one, whose mask is the process's,
 * speaks for all; and where that has none of ours, whichever was set last. */
static void ask_kin(struct hn_manager *m, const struct act *a, struct hn_record *rec) {
        struct hn_actuator actuator = hn_actuator_make(&m->world, m->ledger, /* dry_run= */ false);
        struct hn_task_key kin[KIN_MAX];
        size_t n_kin = hn_world_kin(&m->world, a->task->tgid, kin, KIN_MAX);
        const struct hn_mark *mark;

        hn_tag_print(hn_model_state(m->model, a->d->task)->hand, rec->cgroup);
        for (size_t i = 0; i < n_kin; i++) {
                const struct hn_ledger_entry *e = hn_ledger_find(m->ledger, &kin[i]);

                if (!e || !hn_mask_equal(hn_ledger_mask(m->ledger, e->want), &rec->want))
                        continue;
                rec->unrestricted = e->unrestricted;
                rec->old = *hn_ledger_mask(m->ledger, e->old);
                return;
        }
        mark = hn_actuator_heir(&actuator, &a->task->key, a->task->tgid, NULL, &rec->want);
        if (!mark)
                return;
        rec->unrestricted = mark->unrestricted;
        rec->old = *hn_ledger_mask(m->ledger, mark->old);
}

/* Born with our mask: from now on it has a record of its own. Its mask before our act is that of its creator.
 */
static void adopt(struct hn_manager *m, const struct act *a) {
        const struct hn_task_state *st = hn_model_state(m->model, a->d->task);
        const struct hn_mask *mask = hn_mask_pool_get(m->snapshot.masks, a->task->mask);
        static struct hn_record rec; /* several KiB */
        int r;

        if (!m->ledger)
                return;
        rec = (struct hn_record){
                .key = a->task->key,
                .tgid = a->task->tgid,
                .unrestricted = st->unrestricted,
                .before = *mask,
                .want = *mask,
                .boot_usec = hn_clock(CLOCK_BOOTTIME),
                .real_usec = hn_clock(CLOCK_REALTIME),
                .reason = "inherited",
        };
        if (!st->unrestricted)
                rec.old = *hn_mask_pool_get(m->snapshot.masks, st->before);
        snprintf(rec.cgroup, sizeof(rec.cgroup), "%s", a->scope->path);
        if (st->hand != 0)
                ask_kin(m, a, &rec);
        r = hn_ledger_note(m->ledger, &rec);
        if (r >= 0)
                r = hn_ledger_confirm(m->ledger, &a->task->key);
        if (r < 0)
                hn_log_warning_errno(&m->log, r, "Cannot write to the ledger");
        else
                hn_model_note_recorded(m->model, a->d->task);
}

static void forget(struct hn_manager *m, const struct act *a) {
        const struct hn_task_state *st = hn_model_state(m->model, a->d->task);
        int r;

        if (st->changed_by_other)
                hn_log_event_once(&m->log, a->object, HN_REASON_CHANGED_BY_OTHER, HN_EVENT_MASK_CHANGED,
                                  LOG_NOTICE, &a->facts, "%s (%d): %s, so it is left alone from now on",
                                  a->task->comm, a->task->key.tid,
                                  hn_reason_to_sentence(HN_REASON_CHANGED_BY_OTHER));
        r = m->ledger ? hn_ledger_forget(m->ledger, &a->task->key) : 0;
        if (r < 0)
                hn_log_warning_errno(&m->log, r, "Cannot write to the ledger");
        hn_model_note_recorded(m->model, a->d->task);
}

static int bring_pages(struct hn_manager *m, const struct act *a) {
        if (a->dry)
                return HN_APPLY_WOULD;
        /* One process at a time; the others keep their turn. */
        if (!hn_pager_start(&m->pager, m, a->d))
                return HN_APPLY_RETRY;
        hn_model_note_pages(m->model, a->d->task, m->snapshot.now);
        return HN_APPLY_OK;
}

static void tell_pages(struct hn_manager *m, const struct act *a, int r) {
        if (r == HN_APPLY_WOULD)
                say_would(m, a, HN_STATE_WOULD_PIN);
        if (r != HN_APPLY_OK)
                return;
        remember(m, a, HN_STATE_PAGES);
        hn_log_event(&m->log, HN_EVENT_PAGES_MOVED, LOG_NOTICE, &a->facts, "%s (%d): %s", a->task->comm,
                     a->task->key.tid, a->text);
}

/* Returns enum hn_apply or -errno. */
static int apply(struct hn_manager *m, const struct act *a) {
        switch (a->d->act) {
        case HN_ACT_PIN: return pin(m, a);
        case HN_ACT_RELEASE: return release(m, a);
        case HN_ACT_PAGES: return bring_pages(m, a);
        case HN_ACT_ADOPT: adopt(m, a); break;
        case HN_ACT_FORGET: forget(m, a); break;
        case HN_ACT_NONE:
        case _HN_ACT_MAX: break;
        }
        return HN_APPLY_OK;
}

static void tell(struct hn_manager *m, const struct act *a, int r) {
        switch (a->d->act) {
        case HN_ACT_PIN: tell_pin(m, a, r); break;
        case HN_ACT_RELEASE: tell_release(m, a, r); break;
        case HN_ACT_PAGES: tell_pages(m, a, r); break;
        case HN_ACT_ADOPT:
        case HN_ACT_FORGET:
        case HN_ACT_NONE:
        case _HN_ACT_MAX: break;
        }
}

int hn_apply_plan(struct hn_manager *m) {
        size_t n = hn_plan_n_acts(m->plan);
        _hn_cleanup_(hn_freep) struct outcome *outcomes = calloc(n + 1, sizeof(*outcomes));
        struct act a;

        if (!outcomes)
                return -ENOMEM;
        /* Each line for the journal wakes somebody who wants a CPU, and who is to be held should not wander
         * meanwhile: so all is done before any of it is told. The ledger knows of each act beforehand. */
        for (size_t i = 0; i < n; i++) {
                prepare(m, hn_plan_act(m->plan, i), &a);
                outcomes[i] = (struct outcome){ .r = apply(m, &a), .when = hn_clock(CLOCK_REALTIME) };
        }
        for (size_t i = 0; i < n; i++) {
                prepare(m, hn_plan_act(m->plan, i), &a);
                a.when = outcomes[i].when;
                tell(m, &a, outcomes[i].r);
        }
        for (size_t i = 0; i < m->snapshot.n_tasks; i++)
                if (hn_plan_decision(m->plan, i)->act == HN_ACT_NONE)
                        tell_refusal(m, hn_plan_decision(m->plan, i));
        return 0;
}
