/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/macro.h"
#include "daemon/manager.h"
#include "daemon/override.h"
#include "daemon/overridecheck.h"
#include "sample/clock.h"
#include "sample/taskref.h"

/* the audit */

/* "process 4711", "cgroup system.slice/web.service" */
static void print_target(const struct hn_override *o, char *buf, size_t size) {
        const char *kind = hn_override_kind_to_string(o->kind);

        if (o->kind == HN_OVERRIDE_CGROUP)
                (void) snprintf(buf, size, "cgroup %s", o->cgroup ? o->cgroup : "");
        else
                (void) snprintf(buf, size, "%s %d", kind ? kind : "task", o->pid);
}

static void print_nodes(const struct hn_override *o, char *buf, size_t size) {
        static char list[HN_MASK_LIST_MAX];

        if (hn_mask_print_list(&o->nodes, list, sizeof(list)) < 0)
                list[0] = '\0';
        (void) snprintf(buf, size, "%.*s", (int) size - 1, list);
}

/* "for good" or "until 2026-11-30 21:24:35" */
static void print_end(const struct hn_override *o, char *buf, size_t size) {
        time_t seconds = (time_t) (o->expires / HN_USEC_PER_SEC);
        struct tm tm;

        if (o->expires == UINT64_MAX || !localtime_r(&seconds, &tm) ||
            strftime(buf, size, "until %Y-%m-%d %H:%M:%S", &tm) == 0)
                (void) snprintf(buf, size, "for good");
}

static void audit(struct hn_manager *m, enum hn_event kind, int priority, const struct hn_override *o,
                  const char *what) {
        char target[512], nodes[128], end[64];
        const bool has_why = o->why && o->why[0] != '\0';
        const struct hn_log_figure figures[] = {
                { "OVERRIDE", (int64_t) o->id },
                { "OWNER_UID", o->owner },
                { "EXPIRES_USEC", o->expires > INT64_MAX ? INT64_MAX : (int64_t) o->expires },
                { .name = NULL },
        };
        struct hn_log_facts facts = HN_LOG_FACTS_NULL;

        print_target(o, target, sizeof(target));
        print_nodes(o, nodes, sizeof(nodes));
        print_end(o, end, sizeof(end));
        facts.target = target;
        facts.nodes = nodes;
        facts.why = has_why ? o->why : NULL;
        facts.figures = figures;
        if (o->kind != HN_OVERRIDE_CGROUP)
                facts.tid = o->pid;
        hn_log_event(&m->log, kind, priority, &facts,
                     "override %" PRIu64 " of user %u, %s on nodes %s %s%s%s: %s%s%s%s", o->id, o->owner,
                     target, nodes, end, o->pages ? ", with its memory" : "",
                     hn_mask_empty(&o->cpus) ? "" : ", on some of their CPUs", what, has_why ? " (" : "",
                     has_why ? o->why : "", has_why ? ")" : "");
}

/* Has the next tick come at once. */
static void look_now(struct hn_manager *m) {
        (void) hn_manager_hurry(m);
}

/* What is said is what the journal hears; the masks come back with the tick. */
static void finish(struct hn_manager *m, size_t i, enum hn_event kind, const char *what) {
        struct hn_override_list *list = &m->overrides.list;
        uint64_t id = list->entries[i].o.id;
        int r;

        audit(m, kind, LOG_NOTICE, &list->entries[i].o, what);
        hn_override_list_drop(list, i);
        r = hn_override_store_over(&m->overrides.store, list, id);
        if (r < 0)
                hn_log_warning_errno(&m->log, r,
                                     "Cannot write to %s/" HN_OVERRIDE_STORE_NAME ", so override %" PRIu64
                                     " will be there again after a restart",
                                     m->options.run_dir, id);
        m->reloaded = true;
        look_now(m);
}

static bool same_target(const struct hn_override *a, const struct hn_override *b) {
        if (a->kind != b->kind)
                return false;
        if (a->kind == HN_OVERRIDE_CGROUP)
                return strcmp(a->cgroup, b->cgroup) == 0;
        return a->pid == b->pid && a->start_time == b->start_time;
}

/* Puts the wish, which has been checked, into table and file. */
static int keep(struct hn_manager *m, const struct hn_override *o) {
        struct hn_override_list *list = &m->overrides.list;
        int r;

        r = hn_override_list_put(list, o, hn_clock(CLOCK_BOOTTIME));
        if (r < 0)
                return r;
        r = hn_override_store_add(&m->overrides.store, &list->entries[list->n - 1]);
        if (r < 0)
                hn_override_list_drop(list, list->n - 1);
        return r;
}

static int refuse(struct hn_manager *m, const struct hn_override *wish, int r, const char **ret_refusal) {
        char text[HN_OVERRIDE_REFUSAL_MAX + 32];

        (void) snprintf(text, sizeof(text), "refused: %s", m->overrides.refusal);
        audit(m, HN_EVENT_OVERRIDE_REFUSED, LOG_NOTICE, wish, text);
        *ret_refusal = m->overrides.refusal;
        return r;
}

int hn_override_add(struct hn_manager *m, const struct hn_override *wish, uint64_t *ret_id,
                    const char **ret_refusal) {
        struct hn_override_list *list = &m->overrides.list;
        struct hn_override o = *wish;
        size_t old = SIZE_MAX;
        int r;

        o.id = list->next_id;
        if (o.since == 0)
                o.since = hn_clock(CLOCK_REALTIME);
        r = hn_override_check(m, &o, m->overrides.refusal, sizeof(m->overrides.refusal));
        if (r < 0)
                return refuse(m, &o, r, ret_refusal);
        for (size_t i = 0; i < list->n; i++)
                if (same_target(&list->entries[i].o, &o))
                        old = i;
        if (list->n >= HN_OVERRIDES_MAX && old == SIZE_MAX) {
                (void) snprintf(
                        m->overrides.refusal, sizeof(m->overrides.refusal),
                        "there are %u overrides, which is all there can be: end some by 'homenode unpin'",
                        HN_OVERRIDES_MAX);
                return refuse(m, &o, -ENOSPC, ret_refusal);
        }
        if (old != SIZE_MAX)
                finish(m, old, HN_EVENT_OVERRIDE_REMOVED, "another order takes its place");
        r = keep(m, &o);
        if (r < 0) {
                (void) snprintf(m->overrides.refusal, sizeof(m->overrides.refusal),
                                "it cannot be written to %s/" HN_OVERRIDE_STORE_NAME
                                ": %s; see 'homenode status'",
                                m->options.run_dir, strerror(-r));
                return refuse(m, &o, r == -ENOMEM ? r : -EIO, ret_refusal);
        }
        audit(m, HN_EVENT_OVERRIDE_ADDED, LOG_NOTICE, &o, "added");
        look_now(m);
        *ret_id = o.id;
        return 0;
}

int hn_override_remove(struct hn_manager *m, uint64_t id, const char *by_whom) {
        size_t i = hn_override_list_find(&m->overrides.list, id);
        char what[128];

        if (i == SIZE_MAX)
                return -ENOENT;
        (void) snprintf(what, sizeof(what), "taken back by %s", by_whom);
        finish(m, i, HN_EVENT_OVERRIDE_REMOVED, what);
        return 0;
}

size_t hn_override_count(const struct hn_manager *m) {
        return m->overrides.list.n;
}

const struct hn_override *hn_override_get(const struct hn_manager *m, size_t i) {
        return i < m->overrides.list.n ? &m->overrides.list.entries[i].o : NULL;
}

const struct hn_override *hn_override_find(const struct hn_manager *m, uint64_t id) {
        return hn_override_get(m, hn_override_list_find(&m->overrides.list, id));
}

/* their ends */

static bool is_gone(const struct hn_manager *m, const struct hn_override_entry *e) {
        const struct hn_task_key key = { .tid = e->o.pid, .start = e->o.start_time };
        struct stat st;

        switch (e->o.kind) {
        case HN_OVERRIDE_THREAD: return hn_task_verify(m->world.proc_fd, &key) == HN_TASK_GONE;
        /* Its children may outlive it. */
        case HN_OVERRIDE_PROCESS: return e->kin.n == 0;
        case HN_OVERRIDE_CGROUP:
                return fstatat(m->cgroups.fd, e->o.cgroup, &st, AT_SYMLINK_NOFOLLOW) < 0 && errno == ENOENT;
        case _HN_OVERRIDE_KIND_MAX:
        case _HN_OVERRIDE_KIND_INVALID: break;
        }
        return true;
}

/* Who was born in the same tick of the clock may have been born before: it is taken for a child that came
 * after. */
static void update_kin(struct hn_manager *m, struct hn_override_entry *e) {
        uint64_t since = e->born / HN_USEC_PER_TICK;
        int r = 0;

        if (e->o.kind != HN_OVERRIDE_CGROUP)
                r = hn_kin_update(&e->kin, m->world.proc_fd, since,
                                  e->o.kind == HN_OVERRIDE_THREAD ? e->o.pid : 0);
        if (r < 0)
                hn_log_event_once(&m->log, "kin", r, HN_EVENT_DENIED, LOG_WARNING, NULL,
                                  "Cannot keep track of the children of process %d: %s", e->o.pid,
                                  strerror(-r));
}

void hn_override_settle(struct hn_manager *m) {
        struct hn_override_list *list = &m->overrides.list;
        uint64_t now = hn_clock(CLOCK_REALTIME);

        for (size_t i = list->n; i-- > 0;) {
                update_kin(m, &list->entries[i]);
                if (list->entries[i].o.expires <= now)
                        finish(m, i, HN_EVENT_OVERRIDE_EXPIRED, "its time is over");
                else if (is_gone(m, &list->entries[i]))
                        finish(m, i, HN_EVENT_OVERRIDE_REMOVED, "its target is gone");
        }
}

uint64_t hn_override_wait(const struct hn_manager *m) {
        uint64_t now = m->overrides.list.n > 0 ? hn_clock(CLOCK_REALTIME) : 0, wait = UINT64_MAX;

        for (size_t i = 0; i < m->overrides.list.n; i++)
                if (m->overrides.list.entries[i].o.expires != UINT64_MAX)
                        wait = HN_MIN(wait, hn_usec_sub(m->overrides.list.entries[i].o.expires, now));
        return wait;
}

void hn_override_load(struct hn_manager *m) {
        struct hn_appendfile file = HN_APPENDFILE_NULL;
        char boot_id[HN_BOOT_ID_MAX];
        size_t n_damaged = 0;
        int r;

        m->overrides.list = HN_OVERRIDE_LIST_NULL;
        m->overrides.store = HN_OVERRIDE_STORE_NULL;
        if (!m->ledger)
                return;
        r = hn_ledger_boot_id(m->world.proc_fd, boot_id);
        if (r >= 0)
                r = hn_ledger_open_beside(m->ledger, HN_OVERRIDE_STORE_NAME, &file);
        if (r >= 0)
                r = hn_override_store_init(&m->overrides.store, &file, boot_id, &m->overrides.list,
                                           &n_damaged);
        if (r < 0) {
                hn_log_say(&m->log, LOG_WARNING,
                           "Cannot open %s/" HN_OVERRIDE_STORE_NAME ", so none can be ordered: %s",
                           m->options.run_dir,
                           hn_appendfile_error(r) ? hn_appendfile_error(r) : strerror(-r));
                return;
        }
        if (n_damaged > 0)
                hn_log_say(&m->log, LOG_WARNING,
                           "%zu damaged lines in %s/" HN_OVERRIDE_STORE_NAME " were left out", n_damaged,
                           m->options.run_dir);
        if (m->overrides.list.n > 0)
                hn_log_say(&m->log, LOG_NOTICE, "%zu overrides by hand of an earlier run are taken up",
                           m->overrides.list.n);
}
