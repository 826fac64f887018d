/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "daemon/bus-pin.h"
#include "daemon/bus.h"
#include "daemon/manager.h"
#include "sample/clock.h"
#include "sample/subject.h"

#define CGROUP_MAX 4096u

static void override_free(void *p) {
        struct hn_override *o = p;

        if (!o)
                return;
        free(o->cgroup);
        free(o->why);
        free(o);
}

static void override_freep(struct hn_override **o) {
        override_free(*o);
}

/* What the caller says */

static int parse_nodes(const struct hn_topology *topo, const char *text, struct hn_mask *ret,
                       sd_bus_error *e) {
        if (hn_mask_parse_list(text, strnlen(text, HN_MASK_LIST_MAX), ret) < 0 ||
            strnlen(text, HN_MASK_LIST_MAX) == HN_MASK_LIST_MAX || hn_mask_empty(ret))
                return sd_bus_error_set(e, SD_BUS_ERROR_INVALID_ARGS,
                                        "That is no list of nodes: write one such as 0 or 0-3,8");
        for (unsigned id = hn_mask_next(ret, 0); id != HN_MASK_NONE; id = hn_mask_next(ret, id + 1))
                if (hn_topology_index(topo, id) == HN_NODE_NONE)
                        return sd_bus_error_setf(
                                e, HN_BUS_NO_SUCH_NODE,
                                "There is no node %u: \"homenode nodes\" shows those there are", id);
        return 0;
}

static int parse_cpus(const char *text, struct hn_mask *ret, sd_bus_error *e) {
        if (hn_mask_parse_list(text, strnlen(text, HN_MASK_LIST_MAX), ret) < 0 ||
            strnlen(text, HN_MASK_LIST_MAX) == HN_MASK_LIST_MAX)
                return sd_bus_error_set(
                        e, SD_BUS_ERROR_INVALID_ARGS,
                        "That is no list of CPUs: write one such as 0-3,8, or nothing for all CPUs "
                        "of the nodes");
        return 0;
}

/* Into `o->cgroup`: without slashes at its ends, and without components that lead elsewhere. */
static int parse_cgroup(const char *text, struct hn_override *o, sd_bus_error *e) {
        size_t n;

        text += strspn(text, "/");
        n = strnlen(text, CGROUP_MAX);
        while (n > 0 && text[n - 1] == '/')
                n--;
        for (const char *p = text; n > 0 && n < CGROUP_MAX && p <= text + n;) {
                size_t k = strcspn(p, "/");

                k = HN_MIN(k, (size_t) (text + n - p));
                if (k == 0 || (p[0] == '.' && (k == 1 || (k == 2 && p[1] == '.'))))
                        n = 0;
                p += k + 1;
        }
        if (n == 0 || n == CGROUP_MAX)
                return sd_bus_error_set(e, SD_BUS_ERROR_INVALID_ARGS,
                                        "That is no path of a cgroup: write one below the root, such as "
                                        "system.slice/web.service");
        o->cgroup = strndup(text, n);
        return o->cgroup ? 0 : -ENOMEM;
}

/* Digits and nothing else; identity is taken now, before anybody is asked. */
static int parse_task(const struct hn_manager *m, const char *text, struct hn_override *o, sd_bus_error *e) {
        const char *p = text, *end = text + strnlen(text, 32);
        struct hn_subject who;
        uint64_t v;
        int r;

        if (hn_parse_u64_prefix(&p, end, &v) < 0 || *p != '\0' || v == 0 || v > INT32_MAX)
                return sd_bus_error_set(e, SD_BUS_ERROR_INVALID_ARGS,
                                        "That is no number of a process or thread: give a PID or TID");
        r = hn_subject_read(&m->root, (pid_t) v, &who);
        if (r == -ESRCH)
                return sd_bus_error_setf(e, HN_BUS_NO_SUCH_TASK,
                                         "There is no task %" PRIu64 ": look for it with \"homenode ps -T\"",
                                         v);
        if (r < 0)
                return sd_bus_error_set_errnof(e, r, "Task %" PRIu64 " cannot be looked at: %s", v,
                                               strerror(-r));
        if (o->kind == HN_OVERRIDE_PROCESS && who.tgid != who.key.tid)
                return sd_bus_error_setf(e, HN_BUS_NO_SUCH_TASK,
                                         "%" PRIu64 " is a thread of process %d: say that, or kind thread", v,
                                         who.tgid);
        if (o->kind == HN_OVERRIDE_THREAD && o->pages)
                return sd_bus_error_setf(
                        e, SD_BUS_ERROR_INVALID_ARGS,
                        "A thread has no memory of its own: bring that of its process %d, or "
                        "leave the pages",
                        who.tgid);
        o->pid = who.key.tid;
        o->start_time = who.key.start;
        return 0;
}

static int parse_why(const char *text, struct hn_override *o, sd_bus_error *e) {
        size_t n = strlen(text);
        bool line = n <= HN_OVERRIDE_WHY_MAX;

        for (size_t i = 0; line && i < n; i++)
                line = (unsigned char) text[i] >= ' ' && text[i] != 0x7f;
        if (!line)
                return sd_bus_error_setf(
                        e, SD_BUS_ERROR_INVALID_ARGS,
                        "That is no reason that can be kept: write one line of at most %u bytes",
                        HN_OVERRIDE_WHY_MAX);
        o->why = strdup(text);
        return o->why ? 0 : -ENOMEM;
}

static int parse_time(uint64_t seconds, struct hn_override *o, sd_bus_error *e) {
        if (seconds > HN_BUS_PIN_SECONDS_MAX)
                return sd_bus_error_setf(e, SD_BUS_ERROR_INVALID_ARGS,
                                         "That is more than ten years (%" PRIu64
                                         " s): say 0, which is for good",
                                         HN_BUS_PIN_SECONDS_MAX);
        o->since = hn_clock(CLOCK_REALTIME);
        o->expires = seconds == 0 ? UINT64_MAX : hn_usec_add(o->since, seconds * HN_USEC_PER_SEC);
        return 0;
}

static int parse_wish(const struct hn_manager *m, sd_bus_message *call, struct hn_override *o,
                      sd_bus_error *e) {
        const char *kind, *target, *nodes, *cpus, *why;
        uint64_t seconds;
        int pages, r;

        r = sd_bus_message_read(call, "ssssbts", &kind, &target, &nodes, &cpus, &pages, &seconds, &why);
        if (r < 0)
                return r;
        o->pages = pages;
        o->kind = hn_override_kind_from_string(kind);
        if ((int) o->kind < 0)
                return sd_bus_error_set(e, SD_BUS_ERROR_INVALID_ARGS,
                                        "That is nothing that can be held: say process, thread or cgroup");
        r = o->kind == HN_OVERRIDE_CGROUP ? parse_cgroup(target, o, e) : parse_task(m, target, o, e);
        if (r >= 0)
                r = parse_nodes(&m->topo, nodes, &o->nodes, e);
        if (r >= 0)
                r = parse_cpus(cpus, &o->cpus, e);
        if (r >= 0)
                r = parse_time(seconds, o, e);
        return r < 0 ? r : parse_why(why, o, e);
}

/* Pin */

/* A cgroup is nobody's but root's here: whose tasks will be in it tomorrow is not known. */
static bool is_own_task(struct hn_manager *m, const void *wish, uid_t uid) {
        const struct hn_override *o = wish;
        struct hn_subject who;

        return o->kind != HN_OVERRIDE_CGROUP && hn_subject_read(&m->root, o->pid, &who) == 0 &&
               who.key.start == o->start_time && hn_subject_is_of(&who, uid);
}

static const char *error_name(int r, const struct hn_override *o) {
        switch (-r) {
        case ESRCH: return HN_BUS_NO_SUCH_TASK;
        case ENOENT: return o->kind == HN_OVERRIDE_CGROUP ? HN_BUS_NO_SUCH_CGROUP : HN_BUS_NO_SUCH_NODE;
        case EINVAL: return HN_BUS_NOTHING_LEFT;
        case EEXIST: return HN_BUS_CONFLICT;
        case ENOSPC: return HN_BUS_FULL;
        case ENOMEM: return SD_BUS_ERROR_NO_MEMORY;
        default: return HN_BUS_CANNOT_KEEP;
        }
}

static int carry_out_pin(struct hn_manager *m, sd_bus_message *call, void *wish, uid_t uid, sd_bus_error *e) {
        struct hn_override *o = wish;
        const char *refusal = NULL;
        uint64_t id;
        int r;

        o->owner = uid;
        r = hn_override_add(m, o, &id, &refusal);
        if (r < 0)
                return sd_bus_error_set(e, error_name(r, o), refusal ? refusal : strerror(-r));
        hn_bus_tell_pins(&m->bus);
        return sd_bus_reply_method_return(call, "t", id);
}

int hn_bus_method_pin(sd_bus_message *call, void *userdata, sd_bus_error *e) {
        _hn_cleanup_(override_freep) struct hn_override *o = calloc(1, sizeof(*o));
        struct hn_bus *b = userdata;
        struct hn_request request = { .forget = override_free,
                                      .is_own = is_own_task,
                                      .carry_out = carry_out_pin };
        int r;

        if (!o)
                return -ENOMEM;
        r = parse_wish(b->manager, call, o, e);
        if (r < 0)
                return r;
        request.action = o->pages ? HN_ACTION_MOVE_PAGES : HN_ACTION_PIN;
        request.wish = HN_TAKE_PTR(o);
        return hn_access_ask(&b->access, call, &request, e);
}

/* Unpin */

static bool is_own_pin(struct hn_manager *m, const void *wish, uid_t uid) {
        const struct hn_override *o = hn_override_find(m, *(const uint64_t *) wish);

        return o && o->owner == uid;
}

static int no_such_pin(uint64_t id, sd_bus_error *e) {
        return sd_bus_error_setf(e, HN_BUS_NO_SUCH_PIN,
                                 "There is no pin %" PRIu64 ": \"homenode pin --list\" shows those there are",
                                 id);
}

static int carry_out_unpin(struct hn_manager *m, sd_bus_message *call, void *wish, uid_t uid,
                           sd_bus_error *e) {
        uint64_t id = *(const uint64_t *) wish;
        char whom[32];

        (void) snprintf(whom, sizeof(whom), "user %u", uid);
        if (hn_override_remove(m, id, whom) < 0)
                return no_such_pin(id, e);
        hn_bus_tell_pins(&m->bus);
        return sd_bus_reply_method_return(call, NULL);
}

int hn_bus_method_unpin(sd_bus_message *call, void *userdata, sd_bus_error *e) {
        struct hn_request request = {
                .action = HN_ACTION_PIN, .forget = free, .is_own = is_own_pin, .carry_out = carry_out_unpin
        };
        struct hn_bus *b = userdata;
        uint64_t id, *wish;
        int r;

        r = sd_bus_message_read(call, "t", &id);
        if (r < 0)
                return r;
        if (!hn_override_find(b->manager, id))
                return no_such_pin(id, e);
        wish = malloc(sizeof(*wish));
        if (!wish)
                return -ENOMEM;
        *wish = id;
        request.wish = wish;
        return hn_access_ask(&b->access, call, &request, e);
}

/* ListPins */

static int append_list(sd_bus_message *reply, const struct hn_mask *mask) {
        char text[HN_MASK_LIST_MAX];

        if (hn_mask_print_list(mask, text, sizeof(text)) < 0)
                text[0] = '\0';
        return sd_bus_message_append_basic(reply, 's', text);
}

static int append_pin(sd_bus_message *reply, const struct hn_manager *m, const struct hn_override *o) {
        char target[16], comm[HN_TASK_COMM_MAX + 1] = "";
        struct hn_subject who;
        int r;

        (void) snprintf(target, sizeof(target), "%d", o->pid);
        if (o->kind != HN_OVERRIDE_CGROUP && hn_subject_read(&m->root, o->pid, &who) == 0 &&
            who.key.start == o->start_time)
                memcpy(comm, who.comm, HN_TASK_COMM_MAX);
        r = sd_bus_message_open_container(reply, 'r', "tsssssbuttsas");
        if (r >= 0)
                r = sd_bus_message_append(reply, "ts", o->id, hn_override_kind_to_string(o->kind));
        if (r >= 0)
                r = hn_bus_append_text(reply, o->kind == HN_OVERRIDE_CGROUP ? o->cgroup : target);
        if (r >= 0)
                r = append_list(reply, &o->nodes);
        if (r >= 0)
                r = append_list(reply, &o->cpus);
        if (r >= 0)
                r = hn_bus_append_text(reply, comm);
        if (r >= 0)
                r = sd_bus_message_append(reply, "butt", (int) o->pages, (uint32_t) o->owner, o->since,
                                          o->expires);
        if (r >= 0)
                r = hn_bus_append_text(reply, o->why);
        if (r >= 0)
                r = sd_bus_message_append(reply, "as", 0);
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

int hn_bus_method_list_pins(sd_bus_message *call, void *userdata, sd_bus_error *e) {
        _hn_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        struct hn_bus *b = userdata;
        int r;

        (void) e;
        r = sd_bus_message_new_method_return(call, &reply);
        if (r >= 0)
                r = sd_bus_message_open_container(reply, 'a', "(tsssssbuttsas)");
        for (size_t i = 0; r >= 0 && i < hn_override_count(b->manager); i++)
                r = append_pin(reply, b->manager, hn_override_get(b->manager, i));
        if (r >= 0)
                r = sd_bus_message_close_container(reply);
        return r < 0 ? r : sd_bus_send(NULL, reply, NULL);
}

/* What changed. Both lists ascend by id, and an id is never used twice. */
void hn_bus_tell_pins(struct hn_bus *b) {
        struct hn_news *n = &b->news;
        size_t now = b->bus ? hn_override_count(b->manager) : 0, old = 0, new = 0;
        uint64_t *ids;

        if (!b->bus || (now == 0 && n->n_pins == 0))
                return;
        ids = calloc(now + 1, sizeof(*ids));
        if (!ids)
                return;
        while (old < n->n_pins || new < now) {
                const struct hn_override *o = new < now ? hn_override_get(b->manager, new) : NULL;

                if (o && old < n->n_pins && o->id == n->pins[old]) {
                        ids[new ++] = n->pins[old++];
                } else if (o && (old == n->n_pins || o->id < n->pins[old])) {
                        (void) sd_bus_emit_signal(b->bus, HN_BUS_PATH, HN_BUS_MANAGER, "PinAdded", "tu",
                                                  o->id, (uint32_t) o->owner);
                        ids[new ++] = o->id;
                } else
                        (void) sd_bus_emit_signal(b->bus, HN_BUS_PATH, HN_BUS_MANAGER, "PinRemoved", "t",
                                                  n->pins[old++]);
        }
        free(n->pins);
        n->pins = ids;
        n->n_pins = now;
        hn_news_properties(b);
}
