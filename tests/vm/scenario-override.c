/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The life of an override: ordered by hand over a rule that manages the load, held across a restart of the
 * daemon and without the rule, and over at its time with every mask as it was. */

#include "guest.h"
#include "judge.h"
#include "scenario.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SECOND 1000000ULL

/* How long an emulated machine may take to have the threads in their places, once told. */
#define PATIENCE_SECONDS 45U

/* From the order to its end; a restart of the daemon takes an emulated machine a good part of it. */
#define LIFE_SECONDS 90U

/* What is looked at: one process of the load with all that comes of it, and where it was put. */
static pid_t subject;
static cpu_set_t wanted;

static int homenode(const char *command, char *out, size_t size) {
        char text[512];
        char *const argv[] = { (char *) "sh", (char *) "-c", text, NULL };

        (void) snprintf(text, sizeof(text), "homenode %s 2>&1", command);
        return guest_run(argv, out, size);
}

/* The process that a task of the guest is of, and that one's parent; 0 if it is gone. */
static pid_t status_number(int tid, const char *key) {
        char path[64], buf[4096], *at;

        (void) snprintf(path, sizeof(path), "/proc/%d/status", tid);
        if (guest_file_read(path, buf, sizeof(buf)) < 0)
                return 0;
        at = strstr(buf, key);
        return at ? (pid_t) strtol(at + strlen(key), NULL, 10) : 0;
}

static bool is_subject(int tid) {
        return status_number(tid, "\nTgid:") == subject || status_number(tid, "\nPPid:") == subject;
}

/* Threads and children of the subject, and how many of them are where they were put. */
static size_t count_held(size_t *ret_held) {
        static struct masks now;
        size_t n = 0, held = 0;

        if (masks_take(LOAD_UNIT, &now) < 0)
                now.n = 0;
        for (size_t i = 0; i < now.n; i++)
                if (is_subject(now.entries[i].tid)) {
                        n++;
                        held += CPU_EQUAL(&now.entries[i].mask, &wanted) != 0;
                }
        *ret_held = held;
        return n;
}

static bool all_held(struct trial *t) {
        size_t held, n = count_held(&held);

        (void) t;
        return n > 0 && held == n;
}

static bool spawned_and_held(struct trial *t) {
        size_t held, n = count_held(&held);

        return held == n && n >= t->table->threads_each + 2;
}

/* For some seconds nobody, the rule least of all, gives any of them another mask. */
static void judge_untouched(struct trial *t, const char *name, unsigned seconds) {
        unsigned torn = 0;

        for (unsigned i = 0; i < seconds; i++) {
                guest_sleep_until(guest_now() + SECOND);
                torn += !all_held(t);
        }
        trial_check(t, name, torn == 0, json_integer(torn), "0 looks at which a mask was another");
}

static bool masks_back(struct trial *t) {
        return trial_masks_changed(t) == 0;
}

static bool is_over(struct trial *t) {
        static char text[8192];

        (void) t;
        return homenode("pin --list -n", text, sizeof(text)) == 0 && strspn(text, " \n") == strlen(text);
}

/* A node that the subject is not on, by the rule's will. */
static int choose_node(struct trial *t) {
        static struct masks now;
        const struct mask_entry *e = NULL;
        int16_t node = -1;

        subject = t->table->threads[0].pid;
        if (masks_take(LOAD_UNIT, &now) < 0)
                return -1;
        for (size_t i = 0; i < now.n; i++)
                if (now.entries[i].tid == subject)
                        e = &now.entries[i];
        for (unsigned i = 0; e && i < t->cpus->n_nodes; i++) {
                CPU_ZERO(&wanted);
                for (unsigned cpu = 0; cpu < CPU_SETSIZE && cpu < HN_LOAD_CPUS_MAX; cpu++)
                        if (t->cpus->node[cpu] == t->cpus->nodes[i])
                                CPU_SET(cpu, &wanted);
                node = t->cpus->nodes[i];
                if (!CPU_EQUAL(&e->mask, &wanted))
                        break;
        }
        return node;
}

static void check_text(struct trial *t, const char *name, bool ok, const char *text, const char *want) {
        json_t *got = json_string(text);

        trial_check(t, name, ok, got ? got : json_null(), want);
}

int scenario_override(struct trial *t) {
        static char text[65536];
        char command[256], since[64];
        uint64_t end;
        json_t *journal;
        int node, r;

        (void) judge_since(since, sizeof(since));
        r = trial_rule_write(LOAD_UNIT, "");
        if (r >= 0)
                r = trial_load_start(t, LOAD_APART, "--mib 16 --duty 30");
        if (r >= 0)
                r = trial_policy_start(t);
        if (r >= 0)
                r = trial_measure(t, PATIENCE_SECONDS, trial_all_pinned);
        if (r < 0)
                return r;
        trial_check(t, "managed_by_rule", trial_all_pinned(t),
                    json_integer((json_int_t) trial_masks_changed(t)), "every thread of the load");
        node = choose_node(t);
        if (node < 0)
                return -ENODEV;

        /* The order, what is born under it, and what is said of it. */
        (void) snprintf(command, sizeof(command), "pin %d -N %d --for %us --why 'a guest scenario'", subject,
                        node, LIFE_SECONDS);
        end = guest_now() + LIFE_SECONDS * SECOND;
        r = homenode(command, text, sizeof(text));
        check_text(t, "ordered", r == 0 && strstr(text, "Override "), text, "an override with its number");
        trial_check(t, "held", trial_wait(t, 15, all_held), json_null(), "every thread on its node in 15 s");
        (void) kill(subject, SIGUSR1);
        trial_check(t, "born_held", trial_wait(t, 20, spawned_and_held), json_null(),
                    "a new thread and a new child there as well");
        (void) snprintf(command, sizeof(command), "ps -n -r -o OWNER %d", subject);
        (void) homenode(command, text, sizeof(text));
        check_text(t, "owner", strncmp(text, "override\n", 9) == 0, text, "override");
        judge_untouched(t, "rule_keeps_off", 5);

        /* The daemon leaves and comes back. */
        r = guest_systemctl("restart", DAEMON_UNIT);
        trial_check(t, "restarted", r == 0, json_integer(r), "exit status 0");
        trial_check(t, "held_again", trial_wait(t, 20, all_held), json_null(),
                    "every thread on its node in 20 s");
        (void) snprintf(command, sizeof(command), "process %d", subject);
        r = homenode("pin --list -n -r -o KIND,TARGET,WHY", text, sizeof(text));
        check_text(t, "listed", r == 0 && strstr(text, command) && strstr(text, "guest"), text,
                   "the process and the reason");

        /* The rule goes, the order stays. */
        r = guest_file_write(RULE_FILE, "[Daemon]\nMode=observe\nCpuBudget=20%\n");
        if (r < 0)
                return r;
        (void) guest_systemctl("reload", DAEMON_UNIT);
        judge_untouched(t, "held_without_rule", 5);
        trial_check(t, "not_over_early", guest_now() < end,
                    json_real((double) (guest_now() - t->opt_in) / 1e6),
                    "all of that before its time is over");

        /* Its time is over. */
        guest_sleep_until(end);
        trial_check(t, "over", trial_wait(t, 15, is_over), json_null(), "no override in 15 s");
        trial_check(t, "masks_back", trial_wait(t, 15, masks_back),
                    json_integer((json_int_t) trial_masks_changed(t)), "0 masks that differ");
        journal = trial_journal(since);
        trial_check(t, "audited",
                    judge_text_has(journal, ": added (a guest scenario)") &&
                            judge_text_has(journal, ": its time is over (a guest scenario)"),
                    journal, "order and end in the journal");
        judge_active(t);
        trial_figures(t);
        judge_stop(t, true);
        return 0;
}
