/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/apply.h"
#include "daemon/explain.h"
#include "daemon/jsontext.h"
#include "daemon/manager.h"
#include "daemon/override.h"
#include "daemon/wording.h"
#include "policy/remedy.h"
#include "sample/procfs.h"
#include "sample/subject.h"

/* An object in the making. jansson's setters take over the value and fail on NULL, so that one flag tells at
 * the end whether memory was short anywhere. */
struct object {
        json_t *o;
        int failed;
};

static void set(struct object *x, const char *name, json_t *value) {
        x->failed |= json_object_set_new(x->o, name, value);
}

static struct object object_begin(void) {
        return (struct object){ .o = json_object() };
}

/* NULL where memory was short, which the next set() notices. */
static json_t *object_end(struct object *x) {
        if (x->failed == 0)
                return x->o;
        json_decref(x->o);
        return NULL;
}

static json_t *node_id(const struct hn_manager *m, hn_node_index node) {
        return node < m->topo.n_nodes ? hn_json_number(m->topo.nodes[node].id) : json_null();
}

static json_t *mask_list(const struct hn_manager *m, hn_mask_id id) {
        char text[HN_MASK_LIST_MAX];

        if (id == HN_MASK_ID_NONE ||
            hn_mask_print_list(hn_mask_pool_get(m->snapshot.masks, id), text, sizeof(text)) < 0)
                return json_null();
        return json_string(text);
}

/* The numbers of the decision, as they were. */
static json_t *format_decision(const struct hn_manager *m, const struct hn_decision *d,
                               const struct hn_scope *scope) {
        struct object x = object_begin();
        char text[512];

        (void) hn_wording_decision(d, &m->topo, hn_apply_is_dry(m, scope, d), text, sizeof(text));
        set(&x, "act", hn_json_text(hn_act_to_string(d->act)));
        set(&x, "reason", hn_json_text(hn_reason_to_string(d->reason)));
        set(&x, "sentence", hn_json_text(hn_reason_to_sentence(d->reason)));
        set(&x, "text", hn_json_text(text));
        set(&x, "refusal", json_boolean(hn_reason_is_refusal(d->reason)));
        set(&x, "would_change", hn_json_text(hn_reason_to_remedy(d->reason)));
        set(&x, "dry", json_boolean(hn_apply_is_dry(m, scope, d)));
        set(&x, "from", node_id(m, d->from));
        set(&x, "to", node_id(m, d->to));
        set(&x, "home", node_id(m, d->home));
        set(&x, "signal", hn_json_text(hn_signal_to_string(d->signal)));
        set(&x, "share_from_permille", hn_json_number(d->share_from));
        set(&x, "share_to_permille", hn_json_number(d->share_to));
        set(&x, "share_before_permille", hn_json_number(d->share_before));
        set(&x, "demand_millicores", hn_json_number(d->demand));
        set(&x, "benefit", hn_json_number(d->benefit));
        set(&x, "used_millicores", hn_json_number(d->used));
        set(&x, "capacity_millicores", hn_json_number(d->capacity));
        set(&x, "to_class", hn_json_text(hn_node_class_to_string(d->to_class)));
        set(&x, "want", d->act == HN_ACT_PIN ? mask_list(m, d->want) : json_null());
        return object_end(&x);
}

/* A score a node: what the task has there, and what else is. */
static json_t *format_nodes(const struct hn_manager *m, const struct hn_task_sample *t) {
        const struct hn_snapshot *s = &m->snapshot;
        json_t *a = json_array();
        uint64_t sum = 0;
        int failed = 0;

        for (size_t k = 0; t->signal != HN_SIGNAL_NONE && k < s->n_nodes; k++)
                sum += s->priv[t->row * s->n_nodes + k] + s->shared[t->row * s->n_nodes + k];
        for (size_t k = 0; k < s->n_nodes; k++) {
                const struct hn_plan_node *node = hn_plan_node(m->plan, (hn_node_index) k);
                struct object x = object_begin();

                set(&x, "node", hn_json_number(m->topo.nodes[k].id));
                if (t->signal != HN_SIGNAL_NONE) {
                        uint64_t priv = s->priv[t->row * s->n_nodes + k],
                                 shared = s->shared[t->row * s->n_nodes + k];

                        set(&x, "private", hn_json_number(priv));
                        set(&x, "shared", hn_json_number(shared));
                        set(&x, "share_permille",
                            sum > 0 ? hn_json_number((priv + shared) * 1000 / sum) : json_null());
                }
                set(&x, "class", hn_json_text(hn_node_class_to_string(node->class)));
                set(&x, "busy_millicores", hn_json_number(node->busy));
                set(&x, "others_millicores", hn_json_number(node->others));
                set(&x, "drifting_millicores", hn_json_number(node->drifting));
                set(&x, "capacity_millicores", hn_json_number(node->capacity));
                set(&x, "runnable", hn_json_number(node->nr));
                set(&x, "free_bytes", hn_json_number(s->nodes[k].free));
                failed |= json_array_append_new(a, object_end(&x));
        }
        if (failed == 0)
                return a;
        json_decref(a);
        return NULL;
}

/* What is remembered of it beyond this look. */
static json_t *format_memory(const struct hn_manager *m, size_t i) {
        static const char *const verdicts[] = {
                [HN_VERDICT_NONE] = "none",
                [HN_VERDICT_ON_TRIAL] = "on-trial",
                [HN_VERDICT_HELPED] = "helped",
                [HN_VERDICT_IN_VAIN] = "in-vain",
        };
        const struct hn_task_state *st = hn_model_state(m->model, i);
        hn_usec_t now = m->snapshot.now;
        struct object x = object_begin();

        set(&x, "held_on", node_id(m, st->pinned));
        set(&x, "held_for_usec",
            st->pinned == HN_NODE_NONE ? json_null() : hn_json_number(hn_usec_sub(now, st->pinned_at)));
        set(&x, "mask_before", st->pinned == HN_NODE_NONE ? json_null() : mask_list(m, st->before));
        set(&x, "changed_by_other", json_boolean(st->changed_by_other));
        set(&x, "refused_by_kernel", json_boolean(st->refused));
        set(&x, "last_move_usec_ago",
            st->ever_moved ? hn_json_number(hn_usec_sub(now, st->last_move)) : json_null());
        set(&x, "rests_for_msec", hn_json_number(hn_model_cooldown_left(m->model, i, now)));
        set(&x, "reversals", hn_json_number(st->reversals));
        set(&x, "scanned_since_move", json_boolean(hn_model_is_news(m->model, i, now)));
        set(&x, "last_move_verdict",
            hn_json_text((size_t) st->effect.verdict < HN_ELEMENTS(verdicts) ? verdicts[st->effect.verdict]
                                                                             : NULL));
        set(&x, "children_millicores", hn_json_number(st->children));
        return object_end(&x);
}

/* Of the last acts and refusals of all tasks, those about this one; oldest first. */
static json_t *format_history(const struct hn_manager *m, pid_t tid) {
        const struct hn_state *s = &m->state;
        uint64_t first = s->n_events > HN_STATE_LAST ? s->n_events - HN_STATE_LAST : 0;
        json_t *a = json_array();
        int failed = 0;

        for (uint64_t k = first; k < s->n_events; k++) {
                const struct hn_state_event *e = &s->last[k % HN_STATE_LAST];
                struct object x;

                if (e->tid != tid)
                        continue;
                x = object_begin();
                set(&x, "time_usec", hn_json_number(e->time_usec));
                set(&x, "act", hn_json_text(hn_state_act_to_string(e->act)));
                set(&x, "reason", hn_json_text(e->reason));
                set(&x, "text", hn_json_text(e->text));
                failed |= json_array_append_new(a, object_end(&x));
        }
        if (failed == 0)
                return a;
        json_decref(a);
        return NULL;
}

static bool is_below(const char *path, const char *cgroup) {
        size_t n = strlen(cgroup);

        path += path[0] == '/';
        return strncmp(path, cgroup, n) == 0 && (path[n] == '\0' || path[n] == '/');
}

/* What was ordered by hand for this very thread, its process or its cgroup: the latest of them. */
static json_t *format_override(const struct hn_manager *m, pid_t tid, pid_t tgid, const char *cgroup) {
        for (size_t i = hn_override_count(m); i-- > 0;) {
                const struct hn_override *o = hn_override_get(m, i);
                char nodes[HN_MASK_LIST_MAX];
                struct object x;

                if (o->kind == HN_OVERRIDE_CGROUP ? !cgroup || !is_below(cgroup, o->cgroup)
                                                  : o->pid != (o->kind == HN_OVERRIDE_THREAD ? tid : tgid))
                        continue;
                if (hn_mask_print_list(&o->nodes, nodes, sizeof(nodes)) < 0)
                        nodes[0] = '\0';
                x = object_begin();
                set(&x, "id", hn_json_number(o->id));
                set(&x, "kind", hn_json_text(hn_override_kind_to_string(o->kind)));
                set(&x, "owner", hn_json_number(o->owner));
                set(&x, "nodes", hn_json_text(nodes));
                set(&x, "since_usec", hn_json_number(o->since));
                set(&x, "expires_usec", o->expires == UINT64_MAX ? json_null() : hn_json_number(o->expires));
                set(&x, "why", hn_json_text(o->why));
                return object_end(&x);
        }
        return json_null();
}

static int explain_decided(const struct hn_manager *m, size_t i, json_t **ret) {
        const struct hn_task_sample *t = &m->snapshot.tasks[i];
        const struct hn_scope *scope = &m->snapshot.scopes[t->scope];
        struct object x = object_begin();

        set(&x, "tid", json_integer(t->key.tid));
        set(&x, "tgid", json_integer(t->tgid));
        set(&x, "start_time", hn_json_number(t->key.start));
        set(&x, "comm", hn_json_text_n(t->comm, sizeof(t->comm)));
        set(&x, "decided", json_true());
        set(&x, "cgroup", hn_json_text(scope->path));
        set(&x, "rule", hn_json_text(scope->rule));
        set(&x, "mode", hn_json_text(hn_mode_to_string(scope->mode)));
        set(&x, "node", node_id(m, t->node));
        set(&x, "mask", mask_list(m, t->mask));
        set(&x, "fresh", json_boolean(t->fresh));
        set(&x, "kernel_preferred",
            t->kernel_preferred >= 0 ? node_id(m, (hn_node_index) t->kernel_preferred) : json_null());
        set(&x, "numa_group", hn_json_number(t->numa_group));
        set(&x, "decision", format_decision(m, hn_plan_decision(m->plan, i), scope));
        set(&x, "nodes", format_nodes(m, t));
        set(&x, "memory", format_memory(m, i));
        set(&x, "override", format_override(m, t->key.tid, t->tgid, scope->path));
        set(&x, "history", format_history(m, t->key.tid));
        *ret = object_end(&x);
        return *ret ? 0 : -ENOMEM;
}

/* The task's cgroup, NULL where it cannot be read. The caller frees. */
static char *read_cgroup(const struct hn_manager *m, pid_t tid) {
        static const char *const controllers[] = { NULL, "name=systemd", "cpuset" };
        char buf[16384];
        ssize_t n = hn_read_at(m->root.fd, buf, sizeof(buf), "proc/%d/cgroup", tid);
        const char *path;
        size_t length;

        for (size_t i = 0; n >= 0 && i < HN_ELEMENTS(controllers); i++)
                if (hn_proc_cgroup_parse(buf, (size_t) n, controllers[i], &path, &length) == 0)
                        return strndup(path, length);
        return NULL;
}

/* Why nothing was decided about it, and what to do. */
static const char *why_not(const struct hn_manager *m, const struct hn_subject *who, const char *cgroup,
                           const char **ret_next) {
        const struct hn_scope *place;

        if (who->kernel) {
                *ret_next = hn_reason_to_remedy(HN_REASON_KERNEL_THREAD);
                return hn_reason_to_sentence(HN_REASON_KERNEL_THREAD);
        }
        if (!m->numa) {
                *ret_next = "nothing, on this machine";
                return "this machine has one node with CPUs: there is nothing to do";
        }
        if (m->state.tick == 0) {
                *ret_next = "ask again in a second";
                return "homenoded has not looked yet";
        }
        place = cgroup ? hn_scope_list_find(&m->scopes, cgroup) : NULL;
        if (place && place->by_process) {
                *ret_next =
                        "a [Rule NAME] that takes it: homenode match says what the rules there are ask for; or, if "
                        "it is new, ask again after the next look";
                return "rules take single processes of its cgroup, and none of them has taken it";
        }
        if (place) {
                *ret_next = "ask again after the next look";
                return "its cgroup is opted in, but it was not there at the last look";
        }
        *ret_next = "a [Rule NAME] whose Cgroup= is its cgroup or one above it: homenode.conf(5)";
        return "no rule opts its cgroup in";
}

static int explain_unknown(const struct hn_manager *m, pid_t tid, json_t **ret) {
        _hn_cleanup_(hn_freep) char *cgroup = NULL;
        struct object x;
        struct hn_subject who;
        const char *why, *next;
        int r;

        r = hn_subject_read(&m->root, tid, &who);
        if (r < 0)
                return r;
        cgroup = read_cgroup(m, tid);
        why = why_not(m, &who, cgroup, &next);
        x = object_begin();
        set(&x, "tid", json_integer(who.key.tid));
        set(&x, "tgid", json_integer(who.tgid));
        set(&x, "start_time", hn_json_number(who.key.start));
        set(&x, "comm", hn_json_text_n(who.comm, sizeof(who.comm)));
        set(&x, "decided", json_false());
        set(&x, "cgroup", hn_json_text(cgroup));
        set(&x, "why", hn_json_text(why));
        set(&x, "would_change", hn_json_text(next));
        set(&x, "override", format_override(m, who.key.tid, who.tgid, cgroup));
        *ret = object_end(&x);
        return *ret ? 0 : -ENOMEM;
}

static int by_tid(const void *a, const void *b) {
        const pid_t *tid = a;
        const struct hn_task_sample *t = b;

        return HN_CMP(*tid, t->key.tid);
}

int hn_explain(const struct hn_manager *m, pid_t tid, json_t **ret) {
        const struct hn_snapshot *s = &m->snapshot;
        const struct hn_task_sample *t;
        struct hn_subject who;
        int r;

        t = s->n_tasks > 0 ? bsearch(&tid, s->tasks, s->n_tasks, sizeof(*s->tasks), by_tid) : NULL;
        if (!t)
                return explain_unknown(m, tid, ret);
        /* The number may be somebody else's by now; in a capture nothing ends. */
        r = m->root.live ? hn_subject_read(&m->root, tid, &who) : 0;
        if (r == -ESRCH)
                return r;
        if (m->root.live && r >= 0 && who.key.start != t->key.start)
                return explain_unknown(m, tid, ret);
        return explain_decided(m, (size_t) (t - s->tasks), ret);
}
