/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Scenarios about the life of the service: its ends, its configuration, a machine without work for it. */

#include "guest.h"
#include "judge.h"
#include "scenario.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND 1000000ULL

/* How long the daemon may take to have every thread of the load pinned, under load, in emulation. */
#define PINNED_SECONDS 45U

/* What a service with nothing to do may use of a CPU; in emulation it costs some twenty times more. */
#define IDLE_CPU_SHARE 0.02

static int manage_till_pinned(struct trial *t) {
        int r;

        /* Here it does not matter how busy the threads are, and a guest with time to spare starts and stops
         * services five times as fast. */
        r = trial_rule_write(LOAD_UNIT, "");
        if (r >= 0)
                r = trial_load_start(t, LOAD_APART, "--mib 16 --duty 30");
        if (r >= 0)
                r = trial_policy_start(t);
        if (r >= 0)
                r = trial_measure(t, PINNED_SECONDS, trial_all_pinned);
        if (r < 0)
                return r;
        trial_check(t, "all_pinned", trial_all_pinned(t), json_integer((json_int_t) trial_masks_changed(t)),
                    "every thread of the load");
        return 0;
}

static bool spawned_all(struct trial *t) {
        static struct masks now;
        unsigned processes = 0;

        for (unsigned i = 0; i < t->table->n_threads; i++)
                processes += t->table->threads[i].tid == t->table->threads[i].pid;
        return masks_take(LOAD_UNIT, &now) == 0 && now.n >= t->before.n + 2 * processes;
}

int scenario_stop(struct trial *t) {
        static struct masks now;
        size_t narrow = 0;
        int r;

        r = manage_till_pinned(t);
        if (r < 0)
                return r;
        for (unsigned i = 0; i < t->table->n_threads; i++)
                if (t->table->threads[i].tid == t->table->threads[i].pid)
                        (void) kill(t->table->threads[i].pid, SIGUSR1);
        if (!trial_wait(t, 20, spawned_all) || masks_take(LOAD_UNIT, &now) < 0)
                return -ETIMEDOUT;
        for (size_t i = 0; i < now.n; i++)
                narrow += !masks_find(&t->before, now.entries[i].tid, now.entries[i].start) &&
                          !CPU_EQUAL(&now.entries[i].mask, &t->before.entries[0].mask);
        trial_check(t, "spawned_inherit", narrow > 0, json_integer((json_int_t) narrow),
                    "threads and children with an inherited mask of ours");
        trial_figures(t);
        judge_stop(t, true);
        return 0;
}

/* Kills whatever runs in the service now: the daemon, or its --restore between two lives. */
static unsigned daemon_kill(void) {
        char buf[256], *end;
        unsigned killed = 0;

        if (guest_file_read("/sys/fs/cgroup/system.slice/" DAEMON_UNIT "/cgroup.procs", buf, sizeof(buf)) < 0)
                return 0;
        for (char *p = buf; *p != 0; p = *end == '\n' ? end + 1 : end) {
                long pid = strtol(p, &end, 10);

                if (end == p)
                        break;
                killed += kill((pid_t) pid, SIGKILL) == 0;
        }
        return killed;
}

int scenario_kill9(struct trial *t) {
        unsigned seed = t->line->seed, killed = 0, while_pinned = 0, restarts = 0;
        bool again;
        int r;

        r = manage_till_pinned(t);
        if (r < 0)
                return r;
        guest_say("kill9: seed %u", seed);
        json_object_set_new(t->json, "seed", json_integer(seed));
        for (unsigned i = 0; i < t->line->kills; i++) {
                /* From in the middle of a start to well after the threads are pinned again. */
                guest_sleep_until(guest_now() + (uint64_t) (unsigned) rand_r(&seed) % (4 * SECOND));
                while_pinned += trial_masks_changed(t) > 0;
                killed += daemon_kill() > 0;
                r = guest_systemctl("restart", DAEMON_UNIT);
                restarts += r == 0;
                guest_say("kill9: %u of %u, restart %s", i + 1, t->line->kills, r == 0 ? "ok" : "FAILED");
        }
        json_object_set_new(t->json, "kills", json_integer(killed));
        json_object_set_new(t->json, "kills_while_pinned", json_integer(while_pinned));
        trial_check(t, "killed", killed == t->line->kills, json_integer(killed), "a process at each kill");
        trial_check(t, "killed_while_pinned", while_pinned > 0, json_integer(while_pinned), "> 0");
        trial_check(t, "restarts", restarts == t->line->kills, json_integer(restarts), "one after each kill");
        /* In the last life it manages again: what it then restores are masks from before its first life. */
        again = trial_wait(t, PINNED_SECONDS, trial_all_pinned);
        trial_check(t, "pinned_again", again, json_integer((json_int_t) trial_masks_changed(t)),
                    "every thread of the load");
        trial_figures(t);
        judge_stop(t, false);
        return 0;
}

static bool masks_back(struct trial *t) {
        return trial_masks_changed(t) == 0;
}

int scenario_reload(struct trial *t) {
        char since[64];
        json_t *journal;
        size_t changed;
        bool back;
        int r;

        r = manage_till_pinned(t);
        if (r < 0)
                return r;

        /* A bad file: what was in force stays in force. */
        (void) judge_since(since, sizeof(since));
        r = guest_file_write(RULE_FILE, "[Daemon]\nMode=observe\nIntervalSec=sideways\nNoSuchKey=1\n");
        if (r < 0)
                return r;
        (void) guest_systemctl("reload", DAEMON_UNIT);
        r = trial_measure(t, (unsigned) ((guest_now() - t->opt_in) / SECOND) + 5, NULL);
        if (r < 0)
                return r;
        changed = trial_masks_changed(t);
        trial_check(t, "bad_reload_keeps", changed >= t->table->n_threads, json_integer((json_int_t) changed),
                    "every thread still pinned");
        journal = trial_journal(since);
        trial_check(t, "bad_reload_says_where", judge_text_has(journal, "50-guest.conf:3"), journal,
                    "50-guest.conf:3");

        /* A good one without the rule: the masks come back while the daemon runs on. */
        r = guest_file_write(RULE_FILE, "[Daemon]\nMode=manage\nCpuBudget=20%\n");
        if (r < 0)
                return r;
        (void) guest_systemctl("reload", DAEMON_UNIT);
        back = trial_wait(t, 15, masks_back);
        trial_check(t, "opt_out_restores", back, json_integer((json_int_t) trial_masks_changed(t)),
                    "0 masks that differ");
        judge_active(t);
        trial_figures(t);
        judge_stop(t, false);
        return 0;
}

int scenario_one_node(struct trial *t) {
        uint64_t cpu, from;
        char since[64];
        json_t *text;
        char *state;
        double used;
        int r;

        (void) judge_since(since, sizeof(since));
        r = trial_rule_write(LOAD_UNIT, "");
        if (r >= 0)
                r = trial_load_start(t, LOAD_SINGLES, "");
        if (r >= 0)
                r = trial_policy_start(t);
        if (r < 0)
                return r;
        /* Its start costs something on every machine; what counts is what it costs from then on. */
        if (!trial_wait(t, 40, trial_daemon_up))
                return -ETIMEDOUT;
        r = trial_measure(t, (unsigned) ((guest_now() - t->opt_in) / SECOND) + 3, NULL);
        cpu = guest_cpu_usec(DAEMON_UNIT);
        from = guest_now();
        if (r >= 0)
                r = trial_measure(t, (unsigned) ((from - t->opt_in) / SECOND) + t->line->seconds, NULL);
        if (r < 0)
                return r;
        used = (double) (guest_cpu_usec(DAEMON_UNIT) - cpu) / (double) (guest_now() - from);
        json_object_set_new(t->json, "cpu_share", json_real(used));
        trial_check(t, "costs_nothing", cpu > 0 && used < IDLE_CPU_SHARE, json_real(used), "< 0.02 of a CPU");
        judge_active(t);
        trial_figures(t);
        state = json_dumps(json_object_get(t->json, "state"), JSON_COMPACT | JSON_ENCODE_ANY);
        text = trial_journal(since);
        trial_check(t, "says_so",
                    (state && strcasestr(state, "nothing to do")) || judge_text_has(text, "nothing to do"),
                    text, "that there is nothing to do");
        free(state);
        judge_stop(t, false);
        return 0;
}

/* Bad files at the start: a warning with file and line for each, and the rest counts. */
int scenario_bad_config(struct trial *t) {
        static const struct {
                const char *path, *text, *want;
                mode_t mode;
        } files[] = {
                { "/etc/homenode/homenode.conf.d/10-key.conf", "[Daemon]\nNoSuchKey=1\n", "10-key.conf:2",
                  0644 },
                { "/etc/homenode/homenode.conf.d/11-number.conf", "[Daemon]\n\nIntervalSec=sideways\n",
                  "11-number.conf:3", 0644 },
                { "/etc/homenode/homenode.conf.d/12-section.conf", "[Daemon\nMode=observe\n",
                  "12-section.conf:1", 0644 },
                { "/etc/homenode/homenode.conf.d/13-closed.conf", "[Daemon]\n", "13-closed.conf", 0 },
        };
        char since[64];
        json_t *journal;
        int r;

        (void) judge_since(since, sizeof(since));
        for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
                r = guest_file_write(files[i].path, files[i].text);
                if (r >= 0 && chmod(files[i].path, files[i].mode) < 0)
                        r = -errno;
                if (r < 0)
                        return r;
        }
        r = trial_rule_write(LOAD_UNIT, "");
        if (r >= 0)
                r = trial_load_start(t, LOAD_SINGLES, "--mib 4 --duty 30");
        if (r >= 0)
                r = trial_policy_start(t);
        if (r >= 0)
                r = trial_measure(t, t->line->seconds, NULL);
        judge_ticking(t);
        for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
                (void) unlink(files[i].path);
        if (r < 0)
                return r;
        journal = trial_journal(since);
        for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
                const char *first = strstr(json_string_value(journal), files[i].want);
                bool once = first && !strstr(first + 1, files[i].want);

                trial_check(t, files[i].want, once, json_boolean(first != NULL), "named once in the journal");
        }
        json_object_set_new(t->json, "bad_config_journal", journal);
        trial_figures(t);
        judge_stop(t, false);
        return 0;
}

/* What README tells to type after the installation, typed. */
static int shell(struct trial *t, const char *name, const char *command, char *out, size_t size) {
        char *const argv[] = { (char *) "sh", (char *) "-c", (char *) (uintptr_t) command, NULL };
        int r = guest_run(argv, out, size);

        trial_check(t, name, r == 0, json_integer(r), "exit status 0");
        return r;
}

int scenario_installed(struct trial *t) {
        static char text[65536];
        const char *line;
        double exposure = 10;
        int r;

        (void) shell(t, "catalog", "journalctl --update-catalog 2>&1", text, sizeof(text));
        r = trial_rule_write(LOAD_UNIT, "");
        if (r >= 0)
                r = trial_load_start(t, LOAD_APART, "--mib 4 --duty 30");
        if (r < 0)
                return r;
        t->opt_in = guest_now();
        (void) unlink(STATE_FILE);
        (void) trial_balancing(true);
        (void) shell(t, "enable_now", "systemctl enable --now homenoded 2>&1", text, sizeof(text));
        (void) shell(t, "is_enabled", "systemctl is-enabled homenoded", text, sizeof(text));
        r = trial_measure(t, PINNED_SECONDS, trial_all_pinned);
        if (r < 0)
                return r;

        /* With the catalog, journalctl -x explains each kind of event; a message id finds all of a kind. */
        (void) shell(t, "explain", "journalctl -b -x -u homenoded --no-pager -n 60", text, sizeof(text));
        trial_check(t, "explained", strstr(text, "Documentation: man:homenoded(8)") != NULL,
                    json_boolean(strstr(text, "Subject:") != NULL),
                    "a catalog entry that names homenoded(8)");
        (void) shell(
                t, "by_id",
                "journalctl -b -o cat --no-pager MESSAGE_ID=$(journalctl -b -u homenoded -o json --no-pager "
                "| grep -m 1 '\"HN_REASON\"' | sed 's/.*\"MESSAGE_ID\":\"\\([0-9a-f]*\\)\".*/\\1/')",
                text, sizeof(text));
        trial_check(t, "found_by_id", strstr(text, "hn-load (") != NULL, json_boolean(text[0] != 0),
                    "a decision about hn-load");
        (void) shell(t, "status", "homenode status && homenode nodes && homenode ps", text, sizeof(text));
        trial_check(t, "status_tells", strstr(text, "hn-load.service") != NULL, json_boolean(text[0] != 0),
                    "the opted-in service");

        (void) shell(t, "security", "systemd-analyze security --no-pager homenoded.service | tail -n 1", text,
                     sizeof(text));
        line = strstr(text, ": ");
        if (line)
                exposure = strtod(line + 2, NULL);
        trial_check(t, "exposure", exposure <= 1.5, json_real(exposure), "<= 1.5");
        trial_figures(t);
        judge_stop(t, false);
        (void) shell(t, "disable", "systemctl disable homenoded 2>&1", text, sizeof(text));
        return 0;
}
