/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/rulematch.h"
#include "matchview.h"
#include "pidarg.h"
#include "sample/devnode.h"
#include "sample/procfs.h"
#include "statefile.h"
#include "table.h"

static const char *const answers[] = {
        [HN_ANSWER_UNASKED] = "unasked",
        [HN_ANSWER_HIT] = "hit",
        [HN_ANSWER_MISS] = "miss",
        [HN_ANSWER_UNKNOWN] = "unknown",
};

/* The cgroup of a thread in the hierarchy that cgroupfs.h calls the one of identity; "" where it has none. */
static int read_cgroup(const struct hn_match_viewer *v, pid_t tid, char **ret) {
        static const char *const controllers[] = { NULL, "name=systemd", "cpuset" };
        const char *path = "";
        size_t length = 0;
        char buf[16384];
        ssize_t n = hn_read_at(v->root->fd, buf, sizeof(buf), "proc/%d/cgroup", tid);

        /* In a hybrid layout the v2 line counts only where v2 is what tells who is where. */
        for (size_t i = v->cgroups->layout == HN_CGROUP_V1; n >= 0 && i < HN_ELEMENTS(controllers); i++)
                if (hn_proc_cgroup_parse(buf, (size_t) n, controllers[i], &path, &length) == 0)
                        break;
        *ret = strndup(path, length);
        return *ret ? 0 : -ENOMEM;
}

/* What the key of a rule is compared with. */
static json_t *value_of(enum hn_matcher m, const char *cgroup, const struct hn_proc_id *who) {
        switch (m) {
        case HN_MATCH_CGROUP:
        case HN_MATCH_UNIT: return hn_json_text(cgroup);
        case HN_MATCH_COMM: {
                char comm[HN_TASK_COMM_MAX + 1] = "";

                memcpy(comm, who->comm, HN_TASK_COMM_MAX);
                return hn_json_text(comm);
        }
        case HN_MATCH_EXE: return who->exe ? hn_json_text(who->exe) : json_null();
        case HN_MATCH_USER: return who->has_uid ? json_sprintf("%u", who->uid) : json_null();
        case _HN_MATCH_MAX: break;
        }
        return json_null();
}

/* All words of a key, or the one that fitted. */
static json_t *words_of(const struct hn_words *words, enum hn_answer answer, size_t hit) {
        json_t *a = json_array();

        for (size_t i = 0; i < words->n; i++)
                if (answer != HN_ANSWER_HIT || i == hit)
                        (void) json_array_append_new(a, hn_json_text(words->items[i]));
        return a;
}

static json_t *trial_to_json(const struct hn_rule *rule, const struct hn_rule_trial *t, bool takes,
                             const char *cgroup, const struct hn_proc_id *who) {
        json_t *keys = json_array();

        for (enum hn_matcher m = 0; m < _HN_MATCH_MAX; m++) {
                if (t->answer[m] == HN_ANSWER_UNASKED)
                        continue;
                (void) json_array_append_new(
                        keys, json_pack("{s:s, s:s, s:o, s:o}", "key", hn_matcher_to_string(m), "answer",
                                        answers[t->answer[m]], "value", value_of(m, cgroup, who), "words",
                                        words_of(&rule->match[m], t->answer[m], t->word[m])));
        }
        return json_pack("{s:s, s:o, s:i, s:b, s:o}", "rule", rule->name, "file", hn_json_text(rule->file),
                         "line", (int) rule->line, "matches", (int) takes, "keys", keys);
}

static json_t *devices_to_json(const struct hn_match_viewer *v, const struct hn_rule *rule) {
        json_t *a = json_array();

        for (size_t i = 0; i < rule->devices.n; i++) {
                unsigned node;
                int r = hn_device_find_node(v->root, rule->devices.items[i], &node);

                (void) json_array_append_new(a, json_pack("{s:o, s:o, s:s}", "device",
                                                          hn_json_text(rule->devices.items[i]), "node",
                                                          r == 0 ? json_integer(node) : json_null(), "state",
                                                          r == 0                    ? "found"
                                                          : r == HN_DEVICE_ANYWHERE ? "near no node"
                                                                                    : "not there"));
        }
        return a;
}

static const char *level_to_string(int level) {
        return level == HN_MODE_LEVEL_OFF ? "off" : hn_mode_to_string((enum hn_mode) level);
}

/* All that follows from rule, marks and daemon together. */
static json_t *settings_to_json(const struct hn_match_viewer *v, const struct hn_rule *rule,
                                struct hn_mark_bounds marks) {
        int marked = hn_mark_bounds_apply(marks, rule->mode), level = HN_MIN(marked, (int) v->config->mode);
        char nodes[HN_MASK_LIST_MAX];

        if (hn_mask_print_list(&rule->nodes, nodes, sizeof(nodes)) < 0)
                nodes[0] = '\0';
        return json_pack("{s:s, s:s, s:s?, s:s, s:b, s:s, s:s, s:o}", "mode", level_to_string(level),
                         "mode_of_rule", hn_mode_to_string(rule->mode), "mode_by_mark",
                         marked == (int) rule->mode ? NULL : level_to_string(marked), "mode_of_daemon",
                         hn_mode_to_string(v->config->mode), "pages", (int) rule->pages, "nodes", nodes,
                         "user_mask", rule->within_user_mask ? "within" : "leave", "prefer_device",
                         devices_to_json(v, rule));
}

/* Asks the rules one after the other. Returns the one that takes it, or NULL. */
static const struct hn_rule *try_rules(const struct hn_match_viewer *v, const char *cgroup,
                                       const struct hn_proc_id *who, json_t *trials) {
        for (size_t i = 0; i < v->config->n_rules; i++) {
                const struct hn_rule *rule = &v->config->rules[i];
                struct hn_rule_trial t;
                bool takes = hn_rule_try(rule, cgroup, who, &t);

                (void) json_array_append_new(trials, trial_to_json(rule, &t, takes, cgroup, who));
                if (takes)
                        return rule;
        }
        return NULL;
}

static json_t *user_to_json(const struct hn_proc_id *who) {
        struct passwd entry, *found = NULL;
        char buf[16384];

        if (!who->has_uid || getpwuid_r(who->uid, &entry, buf, sizeof(buf), &found) != 0 || !found)
                return json_null();
        return hn_json_text(found->pw_name);
}

static json_t *view_to_json(const struct hn_match_viewer *v, const char *cgroup,
                            const struct hn_proc_id *who) {
        json_t *trials = json_array();
        /* A process without a cgroup is in none that could be opted in; the kernel's own never are. */
        const struct hn_rule *rule = *cgroup && !who->kthread ? try_rules(v, cgroup, who, trials) : NULL;
        struct hn_mark_bounds marks = hn_mark_read(v->cgroups, cgroup, v->config->marks, NULL);
        bool off = rule && hn_mark_bounds_apply(marks, rule->mode) == HN_MODE_LEVEL_OFF;

        json_t *o = json_object();
        int r = 0;

        /* A member that could not be made is refused, as is any member of no object. */
        r |= json_object_set_new(o, "pid", json_integer(who->pid));
        r |= json_object_set_new(o, "comm", value_of(HN_MATCH_COMM, cgroup, who));
        r |= json_object_set_new(o, "cgroup", hn_json_text(cgroup));
        r |= json_object_set_new(o, "user", user_to_json(who));
        r |= json_object_set_new(o, "uid", who->has_uid ? json_integer(who->uid) : json_null());
        r |= json_object_set_new(o, "exe", value_of(HN_MATCH_EXE, cgroup, who));
        r |= json_object_set_new(o, "exe_error",
                                 who->exe_error == 0 ? json_null() : json_string(strerror(-who->exe_error)));
        r |= json_object_set_new(o, "kernel", json_boolean(who->kthread));
        r |= json_object_set_new(o, "opted_in", json_boolean(rule && !off));
        r |= json_object_set_new(o, "rule", rule ? json_string(rule->name) : json_null());
        r |= json_object_set_new(o, "rules", trials);
        r |= json_object_set_new(o, "settings", rule ? settings_to_json(v, rule, marks) : json_null());
        if (r == 0)
                return o;
        json_decref(o);
        return NULL;
}

int hn_match_view(const struct hn_match_viewer *v, pid_t tid, json_t **ret) {
        _hn_cleanup_(hn_proc_id_deinit) struct hn_proc_id who = HN_PROC_ID_NULL;
        _hn_cleanup_(hn_freep) char *cgroup = NULL;
        pid_t pid = hn_pid_process(v->root, tid);
        int proc, r;

        proc = openat(v->root->fd, "proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (proc < 0)
                return -errno;
        r = hn_proc_id_read(proc, pid, tid, HN_PROC_ID_EXE | HN_PROC_ID_USER, NULL, &who);
        (void) close(proc);
        if (r == 0)
                r = read_cgroup(v, tid, &cgroup);
        if (r != 0)
                return r;
        *ret = view_to_json(v, cgroup, &who);
        return *ret ? 0 : -ENOMEM;
}

/* For people */

/* "a, b and 3 more" */
static void print_words(const json_t *words) {
        size_t n = json_array_size(words), shown = HN_MIN(n, (size_t) 3);

        for (size_t i = 0; i < shown; i++)
                printf("%s%s", i > 0 ? ", " : "", json_string_value(json_array_get(words, i)));
        if (n > shown)
                printf(" and %zu more", n - shown);
}

/* Whether it is the right to read that was lacking, by the words for it. */
static bool is_denied(const char *error) {
        return strcmp(error, strerror(EACCES)) == 0 || strcmp(error, strerror(EPERM)) == 0;
}

static void print_key(const json_t *view, const json_t *key) {
        const char *answer = hn_state_text(key, "answer"), *name = hn_state_text(key, "key");
        const json_t *value = json_object_get(key, "value");

        printf("    %-7s ", name);
        if (strcmp(answer, "hit") == 0)
                printf("yes: ");
        else if (strcmp(answer, "miss") == 0)
                printf("no:  %s is not ", json_is_string(value) ? json_string_value(value) : "-");
        else if (strcmp(name, "Exe") == 0) {
                printf("not known (%s)", hn_state_text(view, "exe_error"));
                if (is_denied(hn_state_text(view, "exe_error")) && geteuid() != 0)
                        printf(": permission to read /proc/%" PRIi64
                               "/exe needs CAP_SYS_PTRACE, so run this as root",
                               hn_state_number(view, "pid"));
                putchar('\n');
                return;
        } else {
                puts("not known");
                return;
        }
        print_words(json_object_get(key, "words"));
        putchar('\n');
}

static void print_settings(const json_t *s) {
        const json_t *device, *by_mark = json_object_get(s, "mode_by_mark");
        const char *nodes = hn_state_text(s, "nodes");
        size_t i;

        printf("    Mode=%s (the rule says %s, ", hn_state_text(s, "mode"), hn_state_text(s, "mode_of_rule"));
        if (json_is_string(by_mark))
                printf("the mark of its cgroup %s, ", json_string_value(by_mark));
        printf("[Daemon] allows %s)\n", hn_state_text(s, "mode_of_daemon"));
        printf("    Pages=%s, Nodes=%s, UserMask=%s\n",
               json_is_true(json_object_get(s, "pages")) ? "yes" : "no", *nodes ? nodes : "all",
               hn_state_text(s, "user_mask"));
        json_array_foreach (json_object_get(s, "prefer_device"), i, device) {
                printf("    PreferDevice=%s: ", hn_state_text(device, "device"));
                if (json_is_integer(json_object_get(device, "node")))
                        printf("node %" PRIi64 "\n", hn_state_number(device, "node"));
                else
                        printf("%s\n", hn_state_text(device, "state"));
        }
}

void hn_match_print(const json_t *view) {
        const json_t *rule, *key, *user = json_object_get(view, "user"), *exe = json_object_get(view, "exe");
        const json_t *settings = json_object_get(view, "settings");
        size_t i, k;

        printf("%" PRIi64 " %s: ", hn_state_number(view, "pid"), hn_state_text(view, "comm"));
        if (json_is_string(user))
                printf("user %s, ", json_string_value(user));
        else if (json_is_integer(json_object_get(view, "uid")))
                printf("user %" PRIi64 ", ", hn_state_number(view, "uid"));
        printf("cgroup %s, program %s\n",
               *hn_state_text(view, "cgroup") ? hn_state_text(view, "cgroup") : "-",
               json_is_string(exe) ? json_string_value(exe) : "-");
        json_array_foreach (json_object_get(view, "rules"), i, rule) {
                printf("  rule \"%s\" %s (%s:%" PRIi64 ")\n", hn_state_text(rule, "rule"),
                       json_is_true(json_object_get(rule, "matches")) ? "matches" : "does not match",
                       hn_state_text(rule, "file"), hn_state_number(rule, "line"));
                json_array_foreach (json_object_get(rule, "keys"), k, key) {
                        print_key(view, key);
                }
        }
        if (json_is_true(json_object_get(view, "opted_in")))
                printf("  opted in:\n");
        else if (json_is_true(json_object_get(view, "kernel")))
                printf("  not opted in: it belongs to the kernel, and is never touched\n");
        else if (json_is_null(settings))
                printf("  not opted in: no rule matches, so nothing is done to it but by hand\n");
        else
                printf("  not opted in: its cgroup is marked \"off\"\n");
        if (!json_is_null(settings))
                print_settings(settings);
}
