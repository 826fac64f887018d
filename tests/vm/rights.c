/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "guest.h"
#include "rights.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "members.h"

const char *const rights_by[BY_MAX] = { "root", "owner", "other" };

/* The cast of it */

static pid_t make_process(const struct caller *who, bool half) {
        pid_t pid = fork();

        if (pid != 0)
                return pid;
        if (half ? setresuid(who->uid, who->uid, 0) < 0 : caller_become(who) < 0)
                _exit(126);
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        for (;;)
                (void) pause();
}

int rights_prepare(struct trial *t, struct rights *s) {
        char *const argv[] = { (char *) "systemd-sysusers", (char *) "--inline",
                               (char *) "u hn-owner - \"Has a process of his own\"",
                               (char *) "u hn-other - \"Has none\"", NULL };
        int r = guest_run(argv, NULL, 0);

        *s = (struct rights){ .node = t->cpus->nodes[t->cpus->n_nodes - 1] };
        for (unsigned cpu = 0; cpu < CPU_SETSIZE && cpu < HN_LOAD_CPUS_MAX; cpu++)
                if (t->cpus->node[cpu] == s->node)
                        CPU_SET(cpu, &s->cpus);
        if (r != 0)
                return r < 0 ? r : -ECHILD;
        r = caller_find("root", &s->who[BY_ROOT]);
        if (r >= 0)
                r = caller_find("hn-owner", &s->who[BY_OWNER]);
        if (r >= 0)
                r = caller_find("hn-other", &s->who[BY_OTHER]);
        if (r < 0)
                return r;
        s->own = make_process(&s->who[BY_OWNER], false);
        s->half = make_process(&s->who[BY_OWNER], true);
        return s->own < 0 || s->half < 0 ? -EAGAIN : 0;
}

void rights_end(struct rights *s) {
        const pid_t pids[] = { s->own, s->half };

        for (size_t i = 0; i < 2; i++)
                if (pids[i] > 0) {
                        (void) kill(pids[i], SIGKILL);
                        (void) waitpid(pids[i], NULL, 0);
                }
}

/* What is checked */

void rights_check(struct trial *t, const char *name, const struct answer *a, const char *action) {
        char want[256];
        bool ok = a->ok;

        (void) snprintf(want, sizeof(want), "done");
        if (*action) {
                char words[128];

                (void) snprintf(words, sizeof(words), "the action %s. polkit would ask for a password",
                                action);
                (void) snprintf(want, sizeof(want), "%s: ... %s", SD_BUS_ERROR_ACCESS_DENIED, words);
                ok = !a->ok && strcmp(a->error, SD_BUS_ERROR_ACCESS_DENIED) == 0 && strstr(a->message, words);
        }
        trial_check(t, name, ok, answer_tell(a), want);
}

void rights_check_property(struct trial *t, const struct rights *s, const char *name, const char *property,
                           const char *want) {
        const struct call call = { "org.homenode1", "/org/homenode1", BUS_PROPERTIES, "Get", false };
        const struct answer *a = caller_call(&s->who[BY_OTHER], &call, "ss", "org.homenode1.Manager",
                                             property);

        trial_check(t, name, a->ok && strcmp(a->text, want) == 0, answer_tell(a), want);
}

uint64_t rights_pin(const struct caller *who, const char *kind, const char *target, int node, bool pages,
                    const struct answer **ret) {
        char nodes[16];
        const struct answer *a;

        (void) snprintf(nodes, sizeof(nodes), "%d", node);
        a = caller_call(who, &CALL_MANAGER("Pin"), "ssssbts", kind, target, nodes, "", (int) pages,
                        UINT64_C(600), "a guest scenario");
        if (ret)
                *ret = a;
        return a->ok ? strtoull(a->text, NULL, 10) : 0;
}

const struct answer *rights_unpin(const struct caller *who, uint64_t id) {
        return caller_call(who, &CALL_MANAGER("Unpin"), "t", id);
}

/* Each method by each */

enum target { OWN, HALF, LOAD, UNIT };

/* By root all of it is done. */
static const struct pin_row {
        const char *name, *kind;
        enum target target;
        bool pages;
        const char *owner, *other; /* the action that is needed; "": it is done */
} pin_rows[] = {
        { "half_own", "process", HALF, false, PIN, PIN },
        { "foreign", "process", LOAD, false, PIN, PIN },
        { "foreign_memory", "process", LOAD, true, MOVE_PAGES, MOVE_PAGES },
        { "cgroup", "cgroup", UNIT, false, PIN, PIN },
        { "own", "process", OWN, false, "", PIN },
        { "own_thread", "thread", OWN, false, "", PIN },
        { "own_memory", "process", OWN, true, "", MOVE_PAGES },
};

static void try_pin(struct trial *t, const struct rights *s, const struct pin_row *row, int who) {
        const char *action = who == BY_ROOT ? "" : who == BY_OWNER ? row->owner : row->other;
        const struct answer *a;
        char target[64], name[64];
        uint64_t id;

        (void) snprintf(target, sizeof(target), "%d",
                        row->target == OWN    ? s->own
                        : row->target == HALF ? s->half
                                              : t->table->threads[0].pid);
        id = rights_pin(&s->who[who], row->kind, row->target == UNIT ? "system.slice/" LOAD_UNIT : target,
                        s->node, row->pages, &a);
        (void) snprintf(name, sizeof(name), "Pin_%s_by_%s", row->name, rights_by[who]);
        rights_check(t, name, a, action);
        if (id == 0)
                return;
        (void) snprintf(name, sizeof(name), "Unpin_%s_by_%s", row->name, rights_by[who]);
        rights_check(t, name, rights_unpin(&s->who[who], id), "");
}

static void check_json(struct trial *t, const char *name, const struct answer *a) {
        json_t *o = a->ok ? json_loads(a->text, 0, NULL) : NULL;

        trial_check(t, name, json_is_object(o), answer_tell(a), "an object of JSON");
        json_decref(o);
}

static void check_nodes(struct trial *t, const char *name, const struct answer *a) {
        trial_check(t, name, a->ok && *a->text != '\0' && strspn(a->text, "0123456789,-") == strlen(a->text),
                    answer_tell(a), "a list of nodes");
}

static const char *const covered[] = { "Pin",  "Unpin",  "ListPins", "Explain",    "Advise",
                                       "Dump", "Reload", "SetMode",  "SetLogLevel" };

static void try_methods(struct trial *t, const struct rights *s, int who) {
        static const struct {
                const char *member, *types, *argument, *action;
        } changes[] = {
                { "Reload", "", NULL, RELOAD },
                { "SetMode", "s", "observe", SET_MODE },
                { "SetLogLevel", "s", "info", SET_MODE },
        };
        const struct caller *c = &s->who[who];
        char name[64];

        for (size_t i = 0; i < sizeof(changes) / sizeof(changes[0]); i++) {
                (void) snprintf(name, sizeof(name), "%s_by_%s", changes[i].member, rights_by[who]);
                rights_check(t, name,
                             caller_call(c, &CALL_MANAGER(changes[i].member), changes[i].types,
                                         changes[i].argument),
                             who == BY_ROOT ? "" : changes[i].action);
        }
        for (size_t i = 0; i < sizeof(pin_rows) / sizeof(pin_rows[0]); i++)
                try_pin(t, s, &pin_rows[i], who);
        (void) snprintf(name, sizeof(name), "ListPins_by_%s", rights_by[who]);
        rights_check(t, name, caller_call(c, &CALL_MANAGER("ListPins"), ""), "");
        (void) snprintf(name, sizeof(name), "Explain_by_%s", rights_by[who]);
        check_json(t, name,
                   caller_call(c, &CALL_MANAGER("Explain"), "u", (uint32_t) t->table->threads[0].tid));
        (void) snprintf(name, sizeof(name), "Advise_by_%s", rights_by[who]);
        check_nodes(t, name,
                    caller_call(c, &CALL_MANAGER("Advise"), "uta{sv}", UINT32_C(1), UINT64_C(16), 1,
                                "reserve", "b", 0));
        (void) snprintf(name, sizeof(name), "Dump_by_%s", rights_by[who]);
        check_json(t, name, caller_call(c, &CALL_MANAGER("Dump"), ""));
}

struct told {
        unsigned methods, left_out; /* and of those the ones that are not tried */
        char first[64];
};

static void look_methods(sd_bus *bus, void *userdata) {
        struct told *told = userdata;
        struct members *m = members_introspect(bus, "/org/homenode1", "org.homenode1.Manager");

        for (size_t i = 0; m && i < m->n; i++) {
                char name[64];
                bool found = false;

                if (strncmp(m->line[i], "method ", 7) != 0)
                        continue;
                told->methods++;
                (void) members_name(m->line[i], name, sizeof(name));
                for (size_t k = 0; k < sizeof(covered) / sizeof(covered[0]); k++)
                        found = found || strcmp(covered[k], name) == 0;
                if (!found) {
                        told->left_out++;
                        (void) snprintf(told->first, sizeof(told->first), "%s", name);
                }
        }
        free(m);
}

void rights_methods(struct trial *t, const struct rights *s) {
        struct told *told = caller_share(sizeof(*told));
        const struct call alert = { "org.homenode1", "/org/homenode1", "org.homenode1.Manager", "SetMode",
                                    .interactive = true };
        const struct answer *a;

        if (told)
                (void) caller_run(&s->who[BY_OTHER], 60, look_methods, told);
        trial_check(t, "methods_all_tried",
                    told && told->left_out == 0 && told->methods == sizeof(covered) / sizeof(covered[0]),
                    told ? json_sprintf("%u told, %u of them not tried %s", told->methods, told->left_out,
                                        told->first)
                         : json_null(),
                    "every method that the daemon tells of");
        for (int who = 0; who < BY_MAX; who++)
                try_methods(t, s, who);
        /* With leave to ask a human, and none there who could be asked. */
        a = caller_call(&s->who[BY_OTHER], &alert, "s", "observe");
        rights_check(t, "SetMode_interactive_by_other", a, SET_MODE);
        trial_check(t, "SetMode_interactive_says_why", strstr(a->message, "nobody it could ask") != NULL,
                    answer_tell(a), "that there is nobody it could ask");
}

/* What is held */

bool rights_wait_mask(pid_t pid, const cpu_set_t *want) {
        uint64_t end = guest_now() + UINT64_C(15000000);
        cpu_set_t mask;

        for (;;) {
                if (sched_getaffinity(pid, sizeof(mask), &mask) == 0 && CPU_EQUAL(&mask, want))
                        return true;
                if (guest_now() > end)
                        return false;
                guest_sleep_until(guest_now() + 50000);
        }
}

static void check_mask(struct trial *t, const char *what, int who, pid_t pid, const cpu_set_t *want) {
        bool ok = rights_wait_mask(pid, want);
        char name[64], is[128], text[128];
        cpu_set_t mask;

        CPU_ZERO(&mask);
        (void) sched_getaffinity(pid, sizeof(mask), &mask);
        (void) snprintf(name, sizeof(name), "%s_by_%s", what, rights_by[who]);
        trial_check(t, name, ok, json_string(mask_print(&mask, is, sizeof(is))),
                    mask_print(want, text, sizeof(text)));
}

void rights_held(struct trial *t, const struct rights *s) {
        cpu_set_t before;
        char target[16];

        CPU_ZERO(&before);
        (void) sched_getaffinity(s->own, sizeof(before), &before);
        (void) snprintf(target, sizeof(target), "%d", s->own);
        for (int who = BY_ROOT; who <= BY_OWNER; who++) {
                uint64_t id = rights_pin(&s->who[who], "process", target, s->node, false, NULL);
                char name[64];

                check_mask(t, "held", who, s->own, &s->cpus);
                /* Only who asked for it may take it back, his own process or not. */
                if (who == BY_ROOT)
                        rights_check(t, "Unpin_of_root_by_owner", rights_unpin(&s->who[BY_OWNER], id), PIN);
                (void) snprintf(name, sizeof(name), "Unpin_of_%s_by_other", rights_by[who]);
                rights_check(t, name, rights_unpin(&s->who[BY_OTHER], id), PIN);
                rights_check_property(t, s, who == BY_ROOT ? "kept_by_root" : "kept_by_owner", "Pins", "1");
                (void) rights_unpin(&s->who[who], id);
                check_mask(t, "given_back", who, s->own, &before);
        }
}
