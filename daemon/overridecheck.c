/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "act/heirs.h"
#include "base/escape.h"
#include "base/macro.h"
#include "daemon/manager.h"
#include "daemon/overridecheck.h"
#include "policy/hand.h"
#include "sample/clock.h"
#include "sample/procfs.h"
#include "sample/taskref.h"

/* A wish on its way, and where to say what is wrong with it. */
struct check {
        const struct hn_manager *m;
        struct hn_override *wish;
        pid_t tgid;            /* of process or thread */
        char cgroup[PATH_MAX]; /* where the target is, from the root */
        char *buf;
        size_t size;
};

static int refuse(const struct check *c, int r, const char *fmt, ...) _hn_printf_(3, 4);

static int refuse(const struct check *c, int r, const char *fmt, ...) {
        va_list ap;

        va_start(ap, fmt);
        (void) vsnprintf(c->buf, c->size, fmt, ap);
        va_end(ap);
        return r;
}

/* A list short enough for a sentence. */
struct list {
        char text[128];
};

static struct list list_of(const struct hn_mask *mask) {
        static char all[HN_MASK_LIST_MAX];
        struct list l;

        if (hn_mask_empty(mask))
                return (struct list){ "none" };
        if (hn_mask_print_list(mask, all, sizeof(all)) < 0)
                return (struct list){ "many" };
        (void) snprintf(l.text, sizeof(l.text), "%.*s%s", (int) sizeof(l.text) - 4, all,
                        strlen(all) > sizeof(l.text) - 4 ? "..." : "");
        return l;
}

static int check_shape(const struct check *c) {
        const struct hn_override *w = c->wish;
        json_t *text;

        if (!hn_override_kind_to_string(w->kind))
                return refuse(c, -EINVAL, "the kind is none of process, thread and cgroup: name one of them");
        if (w->why && strlen(w->why) > HN_OVERRIDE_WHY_MAX)
                return refuse(c, -EINVAL, "the reason is longer than %u bytes: say it in fewer words",
                              HN_OVERRIDE_WHY_MAX);
        text = json_string(w->why ? w->why : "");
        if (!text)
                return refuse(c, -EINVAL, "the reason is no valid UTF-8: write it in plain text");
        json_decref(text);
        if (w->expires <= hn_clock(CLOCK_REALTIME))
                return refuse(c, -EINVAL, "its time is over already: give one that is still to come");
        if (w->kind != HN_OVERRIDE_CGROUP && w->pid <= 0)
                return refuse(c, -EINVAL, "%d is no process id: name one that is above 0", w->pid);
        return 0;
}

static int check_nodes(const struct check *c) {
        const struct hn_topology *topo = &c->m->topo;
        struct hn_mask known = HN_MASK_NULL, unknown;

        if (!c->m->numa)
                return refuse(c, -EINVAL,
                              "fewer than two nodes have CPUs here, so there is nothing to choose from: "
                              "taskset(1) chooses CPUs");
        for (size_t i = 0; i < topo->n_nodes; i++)
                (void) hn_mask_add(&known, topo->nodes[i].id);
        if (hn_mask_empty(&c->wish->nodes))
                return refuse(c, -EINVAL, "no node is named: name some of %s", list_of(&known).text);
        unknown = hn_mask_andnot(&c->wish->nodes, &known);
        if (!hn_mask_empty(&unknown))
                return refuse(c, -ENOENT, "there is no node %s: this machine has %s", list_of(&unknown).text,
                              list_of(&known).text);
        for (size_t i = 0; i < topo->n_nodes; i++)
                if (hn_mask_has(&c->wish->nodes, topo->nodes[i].id) && hn_mask_empty(&topo->nodes[i].usable))
                        return refuse(c, -EINVAL,
                                      "node %u has no CPU that a task could be given (%s, less the isolated "
                                      "ones): leave it out",
                                      topo->nodes[i].id, list_of(&topo->nodes[i].cpus).text);
        return 0;
}

static int check_task(struct check *c) {
        struct hn_override *w = c->wish;
        char buf[16384];
        struct hn_proc_status status;
        struct hn_proc_stat stat;
        struct hn_task_key key;
        ssize_t n;
        int r;

        r = hn_task_key_read(c->m->world.proc_fd, w->pid, &key);
        if (r != 0 || (w->start_time != 0 && w->start_time != key.start))
                return refuse(c, -ESRCH, "there is no %s %d (any more): look for it with 'homenode ps'",
                              hn_override_kind_to_string(w->kind), w->pid);
        w->start_time = key.start;
        n = hn_read_at(c->m->world.proc_fd, buf, sizeof(buf), "%d/stat", w->pid);
        if (n >= 0 && hn_proc_stat_parse(buf, (size_t) n, &stat) == 0 &&
            (stat.flags & (HN_PF_KTHREAD | HN_PF_NO_SETAFFINITY)))
                return refuse(c, -EINVAL,
                              "task %d belongs to the kernel, which will not have it moved: leave it",
                              w->pid);
        n = hn_read_at(c->m->world.proc_fd, buf, sizeof(buf), "%d/status", w->pid);
        if (n < 0 || hn_proc_status_parse(buf, (size_t) n, &status) < 0)
                return refuse(c, -ESRCH, "there is no %s %d (any more): look for it with 'homenode ps'",
                              hn_override_kind_to_string(w->kind), w->pid);
        c->tgid = status.tgid;
        if (w->kind == HN_OVERRIDE_PROCESS && status.tgid != w->pid)
                return refuse(c, -ESRCH,
                              "%d is a thread of process %d: order it for the thread, or for the process",
                              w->pid, status.tgid);
        if (w->kind == HN_OVERRIDE_THREAD && w->pages)
                return refuse(c, -EINVAL,
                              "a thread has no memory of its own to bring: order it for process %d",
                              status.tgid);
        if (hn_world_cgroup(&c->m->world, w->pid, c->cgroup, sizeof(c->cgroup)) < 0)
                (void) snprintf(c->cgroup, sizeof(c->cgroup), "/");
        return 0;
}

static int check_cgroup(struct check *c) {
        struct hn_override *w = c->wish;
        char name[256];
        struct stat st;
        json_t *text;

        (void) hn_escape_text(w->cgroup ? w->cgroup : "", w->cgroup ? strlen(w->cgroup) : 0, name,
                              sizeof(name));
        if (!w->cgroup || !hn_override_is_path(w->cgroup))
                return refuse(c, -EINVAL,
                              "\"%s\" is no path of a cgroup: write it from the root, as in "
                              "\"system.slice/web.service\", and not the root itself",
                              name);
        text = json_string(w->cgroup);
        if (!text)
                return refuse(c, -EINVAL,
                              "the name of cgroup %s is no valid UTF-8: order it for its processes", name);
        json_decref(text);
        if (c->m->cgroups.fd < 0 || fstatat(c->m->cgroups.fd, w->cgroup, &st, AT_SYMLINK_NOFOLLOW) < 0 ||
            !S_ISDIR(st.st_mode))
                return refuse(c, -ENOENT, "there is no cgroup %s (any more): look for it with 'systemd-cgls'",
                              name);
        (void) snprintf(c->cgroup, sizeof(c->cgroup), "/%s", w->cgroup);
        return 0;
}

/* Is there anything to choose from? */
static int check_cpus(const struct check *c) {
        const struct hn_override *w = c->wish;
        const struct hn_mask none = HN_MASK_NULL;
        struct hn_mask cpuset, of_nodes, chosen, want;

        if (hn_cgroup_read_cpus(&c->m->cgroups, c->cgroup, w->kind == HN_OVERRIDE_CGROUP ? 0 : w->pid,
                                &cpuset) != 0)
                cpuset = c->m->topo.online;
        of_nodes = hn_hand_mask(&c->m->topo, &w->nodes, &none, &c->m->topo.online);
        chosen = hn_hand_mask(&c->m->topo, &w->nodes, &w->cpus, &c->m->topo.online);
        if (hn_mask_empty(&chosen))
                return refuse(
                        c, -EINVAL,
                        "none of CPUs %s is one of node %s: choose from CPUs %s (isolated ones are never "
                        "given)",
                        list_of(&w->cpus).text, list_of(&w->nodes).text, list_of(&of_nodes).text);
        want = hn_mask_and(&chosen, &cpuset);
        if (hn_mask_empty(&want))
                return refuse(
                        c, -EINVAL,
                        "its cpuset allows CPUs %s, and none of them is one of CPUs %s, which were asked "
                        "for: choose from those, or widen the cpuset",
                        list_of(&cpuset).text, list_of(&chosen).text);
        return 0;
}

static bool covers_process(const struct hn_override_entry *e, pid_t tgid) {
        for (size_t i = 0; i < e->kin.n; i++)
                if (e->kin.processes[i].tid == tgid)
                        return true;
        return false;
}

/* Whether an override holds all of the target now. One for a part of it stays beside the new one. */
static bool holds(const struct check *c, const struct hn_override_entry *e) {
        const struct hn_override *w = c->wish;
        char path[PATH_MAX];

        switch (e->o.kind) {
        case HN_OVERRIDE_THREAD: return w->kind == HN_OVERRIDE_THREAD && w->pid == e->o.pid;
        case HN_OVERRIDE_PROCESS: return w->kind != HN_OVERRIDE_CGROUP && covers_process(e, c->tgid);
        case HN_OVERRIDE_CGROUP:
                (void) snprintf(path, sizeof(path), "/%.*s", (int) sizeof(path) - 2, e->o.cgroup);
                return hn_cgroup_covers(path, c->cgroup);
        case _HN_OVERRIDE_KIND_MAX:
        case _HN_OVERRIDE_KIND_INVALID: break;
        }
        return false;
}

static int check_others(const struct check *c) {
        const struct hn_override_list *list = &c->m->overrides.list;
        size_t n_own = 0;

        if (c->wish->owner == 0)
                return 0;
        for (size_t i = 0; i < list->n; i++) {
                const struct hn_override *o = &list->entries[i].o;

                n_own += o->owner == c->wish->owner;
                if (o->owner != c->wish->owner && holds(c, &list->entries[i]))
                        return refuse(c, -EEXIST,
                                      "override %" PRIu64
                                      " of user %u holds it: that user or root can end it "
                                      "by 'homenode unpin --id %" PRIu64 "'",
                                      o->id, o->owner, o->id);
        }
        if (n_own >= HN_OVERRIDES_OWNER_MAX)
                return refuse(
                        c, -ENOSPC,
                        "user %u has %zu overrides, and may not have more: end some by 'homenode unpin'",
                        c->wish->owner, n_own);
        return 0;
}

int hn_override_check(const struct hn_manager *m, struct hn_override *wish, char *buf, size_t size) {
        struct check c = { .m = m, .wish = wish, .buf = buf, .size = size };
        int r;

        if (!m->ledger)
                return refuse(&c, -EROFS,
                              "homenoded has no ledger in %s, so it changes nothing: see 'homenode status'",
                              m->options.run_dir);
        r = check_shape(&c);
        if (r == 0)
                r = check_nodes(&c);
        if (r == 0)
                r = wish->kind == HN_OVERRIDE_CGROUP ? check_cgroup(&c) : check_task(&c);
        if (r == 0)
                r = check_cpus(&c);
        if (r == 0)
                r = check_others(&c);
        return r;
}
