/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "scenario.h"
#include "guest.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000ULL

/* How long the daemon may take to have every thread of the load pinned, under load, in emulation. */
#define PINNED_SECONDS 45U

/* How far below hand placement the share may be. */
#define SHARE_SLACK 0.03

/* What a service with nothing to do may use, of one CPU, in emulation (some ten times slower than the machine). */
#define IDLE_CPU_SHARE 0.02

static bool homenode(const struct trial *t) {
        return t->line->policy == POLICY_HOMENODE;
}

static bool text_has(const json_t *text, const char *what) {
        return json_is_string(text) && strcasestr(json_string_value(text), what);
}

static bool service_active(const char *unit) {
        char *const argv[] = { (char *) "systemctl", (char *) "is-active", (char *) (uintptr_t) unit, NULL };
        char state[64];

        return guest_run(argv, state, sizeof(state)) == 0 && strncmp(state, "active", 6) == 0;
}

static int since_now(char *buf, size_t size) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_REALTIME, &ts);
        return snprintf(buf, size, "@%lld.%06ld", (long long) ts.tv_sec, ts.tv_nsec / 1000);
}

/* Threads of the load started by the reference run or by hand: the share of hand placement, seen after it settled. */
int scenario_reference(struct trial *t, double *ret) {
        static struct {
                const char *scenario;
                double share;
        } known[2];
        struct plan_line line = *t->line;
        struct trial hand = { .line = &line, .cpus = t->cpus };
        double sum = 0;
        size_t i, slot = 0;
        json_t *pair;
        int r;

        for (; slot < 2 && known[slot].scenario; slot++)
                if (strcmp(known[slot].scenario, t->line->scenario) == 0) {
                        *ret = known[slot].share;
                        return 0;
                }
        line.policy = POLICY_HARDBIND;
        hand.json = json_object();
        hand.series = json_array();
        r = trial_load_start(&hand, strcmp(line.scenario, "numa02") == 0 ? LOAD_NUMA02 : LOAD_APART, "");
        hand.opt_in = guest_now();
        if (r == 0)
                r = trial_measure(&hand, 6, NULL);
        trial_load_stop(&hand);
        json_array_foreach(hand.series, i, pair)
                sum += json_number_value(json_array_get(pair, 1));
        if (r == 0 && i > 0) {
                *ret = sum / (double) i;
                if (slot < 2) {
                        known[slot].scenario = strcmp(line.scenario, "numa02") == 0 ? "numa02" : "threads-apart";
                        known[slot].share = *ret;
                }
        } else if (r == 0)
                r = -ENODATA;
        json_decref(hand.json);
        json_decref(hand.series);
        return r;
}

/* Stops the policy and says whether every thread has the mask it had; `inherited` is what new ones should have. */
static void stop_and_compare(struct trial *t, bool spawned) {
        static struct masks now;
        size_t changed, new_threads = 0;
        char was[128], is[128];
        int r;

        r = trial_policy_stop(t);
        if (r == 0)
                r = masks_take(LOAD_UNIT, &now);
        if (r < 0 || now.n < t->before.n) {
                trial_check(t, "masks_equal_after", false, json_integer(r), "a service that stops and a load that runs");
                json_object_set_new(t->json, "masks_equal_after", json_false());
                return;
        }
        changed = masks_changed(&t->before, &now, spawned ? &t->before.entries[0].mask : NULL);
        for (size_t i = 0; i < now.n; i++) {
                const struct mask_entry *before = masks_find(&t->before, now.entries[i].tid, now.entries[i].start);

                new_threads += !before;
                if (t->line->demo && before)
                        guest_say("  thread %5d: allowed CPUs before %s, after %s%s", now.entries[i].tid,
                                  mask_print(&before->mask, was, sizeof(was)),
                                  mask_print(&now.entries[i].mask, is, sizeof(is)),
                                  CPU_EQUAL(&before->mask, &now.entries[i].mask) ? "" : "   DIFFERENT");
        }
        json_object_set_new(t->json, "masks_compared", json_integer((json_int_t) now.n));
        json_object_set_new(t->json, "masks_equal_after", json_boolean(changed == 0));
        if (homenode(t))
                trial_check(t, "masks_equal_after", changed == 0, json_integer((json_int_t) changed),
                            "0 masks that differ");
        if (spawned)
                trial_check(t, "spawned_compared", new_threads > 0, json_integer((json_int_t) new_threads),
                            "threads and children made while pinned");
}

static void share_checks(struct trial *t, double reference) {
        json_t *after = json_object_get(t->json, "share_after"), *at_20 = json_object_get(t->json, "share_at_20");
        json_t *nodes = json_object_get(t->json, "threads_per_node"), *node;
        unsigned per_node = t->cpus->per_node;
        bool even = true;
        char want[64];
        size_t i;

        json_object_set_new(t->json, "share_hardbind", json_real(round(reference * 1000) / 1000));
        (void) snprintf(want, sizeof(want), ">= %.3f", reference - SHARE_SLACK);
        trial_check(t, "share_at_20", json_is_number(at_20) && json_number_value(at_20) >= reference - SHARE_SLACK,
                    json_incref(at_20), want);
        trial_check(t, "share_after", json_is_number(after) && json_number_value(after) >= reference - SHARE_SLACK,
                    json_incref(after), want);
        json_array_foreach(nodes, i, node)
                even = even && json_integer_value(node) == per_node;
        (void) snprintf(want, sizeof(want), "%u on each", per_node);
        trial_check(t, "threads_per_node", even, json_incref(nodes), want);
        trial_check(t, "signal", text_has(json_object_get(t->json, "signal"), "faults"),
                    json_incref(json_object_get(t->json, "signal")), "faults");
}

/* Samples before the opt-in, then the policy, then samples; the same for every policy. */
static int measured(struct trial *t) {
        int r;

        t->opt_in = guest_now() + t->line->before * SECOND;
        if (t->line->before > 0) {
                r = trial_measure(t, 0, NULL);
                if (r < 0)
                        return r;
        }
        r = trial_policy_start(t);
        if (r < 0)
                return r;
        return trial_measure(t, t->line->seconds, t->line->until_home ? trial_is_home : NULL);
}

static int placed_by_faults(struct trial *t, enum load load) {
        double reference = 0;
        int r;

        if (homenode(t) && !t->line->demo) {
                r = scenario_reference(t, &reference);
                if (r < 0)
                        return r;
        }
        if (homenode(t)) {
                r = trial_rule_write(LOAD_UNIT, "");
                if (r < 0)
                        return r;
        }
        r = trial_load_start(t, load, t->line->pin ? "--pin all" : "");
        if (r >= 0)
                r = measured(t);
        if (r < 0)
                return r;
        trial_figures(t);
        if (homenode(t) && !t->line->demo)
                share_checks(t, reference);
        if (t->line->demo)
                guest_say("stopping the service");
        stop_and_compare(t, false);
        return 0;
}

static int threads_apart(struct trial *t) {
        return placed_by_faults(t, LOAD_APART);
}

static int numa02(struct trial *t) {
        return placed_by_faults(t, LOAD_NUMA02);
}

/* The nodes of all pages of all threads, to be compared page by page. */
static int8_t *pages_take(const struct trial *t) {
        size_t n = 0, at = 0;
        int8_t *nodes;

        for (unsigned i = 0; i < t->table->n_threads; i++)
                n += t->table->threads[i].pages;
        nodes = malloc(n);
        if (!nodes)
                return NULL;
        for (unsigned i = 0; i < t->table->n_threads; i++) {
                if (hn_load_pages(&t->table->threads[i], nodes + at) < 0) {
                        free(nodes);
                        return NULL;
                }
                at += t->table->threads[i].pages;
        }
        return nodes;
}

/* Pages that are on another node than before, of every thread or of the odd ones. */
static json_int_t pages_changed(const struct trial *t, const int8_t *before, bool odd_only) {
        int8_t *now = pages_take(t);
        json_int_t changed = 0;
        size_t at = 0;

        if (!now)
                return -1;
        for (unsigned i = 0; i < t->table->n_threads; i++) {
                size_t n = t->table->threads[i].pages;

                for (size_t k = 0; k < n && (!odd_only || i % 2 == 1); k++)
                        changed += before[at + k] != now[at + k];
                at += n;
        }
        free(now);
        return changed;
}

/* The daemon's view while it runs: it must have looked, in mode manage, or an untouched load proves nothing. */
static void check_ticking(struct trial *t) {
        json_t *state = trial_state(), *tick = json_object_get(state, "tick");

        trial_check(t, "daemon_ticks", json_integer_value(tick) >= 5, json_integer(json_integer_value(tick)), ">= 5");
        trial_check(t, "daemon_manages", text_has(json_object_get(state, "mode"), "manage"),
                    json_string(json_is_string(json_object_get(state, "mode"))
                                        ? json_string_value(json_object_get(state, "mode"))
                                        : "no state"),
                    "manage");
        json_decref(state);
}

static int not_opted_in(struct trial *t) {
        int8_t *pages;
        json_int_t changed;
        int r;

        r = trial_rule_write("hn-other.service", "");
        if (r >= 0)
                r = trial_load_start(t, LOAD_APART, "");
        if (r < 0)
                return r;
        pages = pages_take(t);
        if (!pages)
                return -ENOMEM;
        r = measured(t);
        if (r >= 0) {
                changed = pages_changed(t, pages, false);
                trial_check(t, "pages_unchanged", changed == 0, json_integer(changed), "0 pages on another node");
                changed = (json_int_t) trial_masks_changed(t);
                trial_check(t, "masks_unchanged", changed == 0, json_integer(changed), "0 masks that differ");
                check_ticking(t);
                trial_figures(t);
                stop_and_compare(t, false);
        }
        free(pages);
        return r;
}

/* Threads of the table, even or odd ones, whose mask is not what it was. */
static unsigned changed_of(struct trial *t, unsigned odd) {
        static struct masks now;
        unsigned changed = 0;

        if (masks_take(LOAD_UNIT, &now) < 0)
                return 0;
        for (unsigned i = odd; i < t->table->n_threads; i += 2)
                for (size_t k = 0; k < now.n; k++) {
                        const struct mask_entry *is = &now.entries[k];
                        const struct mask_entry *was = masks_find(&t->before, is->tid, is->start);

                        changed += is->tid == t->table->threads[i].tid && was && !CPU_EQUAL(&was->mask, &is->mask);
                }
        return changed;
}

static bool even_pinned(struct trial *t) {
        return changed_of(t, 0) >= t->table->n_threads / 2;
}

static int user_mask(struct trial *t) {
        json_int_t pages_moved;
        int8_t *pages;
        unsigned changed;
        bool pinned;
        int r;

        r = trial_rule_write(LOAD_UNIT, "");
        if (r >= 0)
                r = trial_load_start(t, LOAD_SINGLES, "--pin odd");
        if (r < 0)
                return r;
        pages = pages_take(t);
        if (!pages)
                return -ENOMEM;
        r = trial_policy_start(t);
        if (r >= 0)
                r = trial_measure(t, t->line->seconds, even_pinned);
        pinned = even_pinned(t);
        if (r >= 0)
                r = trial_measure(t, (unsigned) ((guest_now() - t->opt_in) / SECOND) + 5, NULL);
        if (r >= 0) {
                trial_check(t, "free_threads_managed", pinned, json_integer(changed_of(t, 0)),
                            "every thread without a mask of its own");
                changed = changed_of(t, 1);
                trial_check(t, "user_masks_unchanged", changed == 0, json_integer(changed), "0 masks that differ");
                pages_moved = pages_changed(t, pages, true);
                trial_check(t, "user_pages_unchanged", pages_moved == 0, json_integer(pages_moved),
                            "0 pages on another node");
                trial_figures(t);
                stop_and_compare(t, false);
        }
        free(pages);
        return r;
}

static int manage_till_pinned(struct trial *t, enum load load) {
        int r;

        r = trial_rule_write(LOAD_UNIT, "");
        if (r >= 0)
                r = trial_load_start(t, load, "");
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

static int stop(struct trial *t) {
        static struct masks now;
        size_t narrow = 0;
        int r;

        r = manage_till_pinned(t, LOAD_APART);
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
        stop_and_compare(t, true);
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

static int kill9(struct trial *t) {
        unsigned seed = t->line->seed, killed = 0, while_pinned = 0, restarts = 0;
        int r;

        r = manage_till_pinned(t, LOAD_APART);
        if (r < 0)
                return r;
        guest_say("kill9: seed %u", seed);
        json_object_set_new(t->json, "seed", json_integer(seed));
        for (unsigned i = 0; i < t->line->kills; i++) {
                /* From in the middle of a start to well after the threads are pinned again. */
                guest_sleep_until(guest_now() + (uint64_t) (unsigned) rand_r(&seed) % (5 * SECOND));
                while_pinned += trial_masks_changed(t) > 0;
                killed += daemon_kill() > 0;
                (void) guest_systemctl("reset-failed", DAEMON_UNIT);
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
        trial_check(t, "pinned_again", trial_wait(t, PINNED_SECONDS, trial_all_pinned),
                    json_integer((json_int_t) trial_masks_changed(t)), "every thread of the load");
        trial_figures(t);
        stop_and_compare(t, false);
        return 0;
}

static bool masks_back(struct trial *t) {
        return trial_masks_changed(t) == 0;
}

static int reload(struct trial *t) {
        char since[64];
        json_t *journal;
        size_t changed;
        int r;

        r = manage_till_pinned(t, LOAD_APART);
        if (r < 0)
                return r;

        /* A bad file: what was in force stays in force. */
        (void) since_now(since, sizeof(since));
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
        trial_check(t, "bad_reload_says_where", text_has(journal, "50-guest.conf:3"), journal, "50-guest.conf:3");

        /* A good one without the rule: the masks come back while the daemon runs on. */
        r = guest_file_write(RULE_FILE, "[Daemon]\nMode=manage\nCpuBudget=20%\n");
        if (r < 0)
                return r;
        (void) guest_systemctl("reload", DAEMON_UNIT);
        trial_check(t, "opt_out_restores", trial_wait(t, 15, masks_back),
                    json_integer((json_int_t) trial_masks_changed(t)), "0 masks that differ");
        trial_check(t, "still_active", service_active(DAEMON_UNIT), json_true(), "the service runs on");
        trial_figures(t);
        stop_and_compare(t, false);
        return 0;
}

static int balancing_off(struct trial *t) {
        json_t *settled;
        int r;

        r = trial_rule_write(LOAD_UNIT, "");
        if (r >= 0)
                r = trial_load_start(t, LOAD_SINGLES, "");
        if (r >= 0)
                r = measured(t);
        if (r < 0)
                return r;
        trial_figures(t);
        settled = json_object_get(t->json, "settle_s");
        trial_check(t, "settle_s", json_is_number(settled) && json_number_value(settled) <= 30, json_incref(settled),
                    "<= 30");
        trial_check(t, "signal", text_has(json_object_get(t->json, "signal"), "residency"),
                    json_incref(json_object_get(t->json, "signal")), "residency");
        stop_and_compare(t, false);
        return 0;
}

static int balancing_off_threads(struct trial *t) {
        json_t *share;
        char *state;
        int r;

        r = trial_rule_write(LOAD_UNIT, "");
        if (r >= 0)
                r = trial_load_start(t, LOAD_THREADS, "");
        if (r >= 0)
                r = measured(t);
        if (r < 0)
                return r;
        trial_figures(t);
        share = json_object_get(t->json, "share_at_20");
        trial_check(t, "placed_as_a_whole", json_is_number(share) && json_number_value(share) >= HOME_SHARE,
                    json_incref(share), ">= 0.95 at 20 s");
        state = json_dumps(json_object_get(t->json, "state"), JSON_COMPACT | JSON_ENCODE_ANY);
        trial_check(t, "state_says_so", state && strcasestr(state, "threads apart"),
                    json_incref(json_object_get(json_object_get(t->json, "state"), "notes")),
                    "a note that residency cannot tell the threads apart");
        free(state);
        stop_and_compare(t, false);
        return 0;
}

static int one_node(struct trial *t) {
        uint64_t cpu, from;
        char since[64];
        json_t *text;
        char *state;
        double used;
        int r;

        (void) since_now(since, sizeof(since));
        r = trial_rule_write(LOAD_UNIT, "");
        if (r >= 0)
                r = trial_load_start(t, LOAD_SINGLES, "");
        if (r >= 0)
                r = trial_policy_start(t);
        if (r < 0)
                return r;
        /* Its start costs something on every machine; what counts is what it costs from then on. */
        r = trial_measure(t, 4, NULL);
        cpu = guest_cpu_usec(DAEMON_UNIT);
        from = guest_now();
        if (r >= 0)
                r = trial_measure(t, t->line->seconds, NULL);
        if (r < 0)
                return r;
        used = (double) (guest_cpu_usec(DAEMON_UNIT) - cpu) / (double) (guest_now() - from);
        json_object_set_new(t->json, "cpu_share", json_real(used));
        trial_check(t, "costs_nothing", cpu > 0 && used < IDLE_CPU_SHARE, json_real(used), "< 0.02 of a CPU");
        trial_check(t, "active", service_active(DAEMON_UNIT), json_true(), "the service runs");
        trial_figures(t);
        state = json_dumps(json_object_get(t->json, "state"), JSON_COMPACT | JSON_ENCODE_ANY);
        text = trial_journal(since);
        trial_check(t, "says_so", (state && strcasestr(state, "nothing to do")) || text_has(text, "nothing to do"), text,
                    "that there is nothing to do");
        free(state);
        stop_and_compare(t, false);
        return 0;
}

/* Bad files at the start: a warning with file and line for each, and the rest counts. */
static int bad_config(struct trial *t) {
        static const struct {
                const char *path, *text, *want;
                mode_t mode;
        } files[] = {
                { "/etc/homenode/homenode.conf.d/10-key.conf", "[Daemon]\nNoSuchKey=1\n", "10-key.conf:2", 0644 },
                { "/etc/homenode/homenode.conf.d/11-number.conf", "[Daemon]\n\nIntervalSec=sideways\n", "11-number.conf:3",
                  0644 },
                { "/etc/homenode/homenode.conf.d/12-section.conf", "[Daemon\nMode=observe\n", "12-section.conf:1", 0644 },
                { "/etc/homenode/homenode.conf.d/13-closed.conf", "[Daemon]\n", "13-closed.conf", 0 },
        };
        char since[64];
        json_t *journal;
        int r;

        (void) since_now(since, sizeof(since));
        for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
                r = guest_file_write(files[i].path, files[i].text);
                if (r >= 0 && chmod(files[i].path, files[i].mode) < 0)
                        r = -errno;
                if (r < 0)
                        return r;
        }
        r = trial_rule_write(LOAD_UNIT, "");
        if (r >= 0)
                r = trial_load_start(t, LOAD_SINGLES, "");
        if (r >= 0)
                r = trial_policy_start(t);
        if (r >= 0)
                r = trial_measure(t, t->line->seconds, NULL);
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
        check_ticking(t);
        trial_figures(t);
        stop_and_compare(t, false);
        return 0;
}

static const struct scenario scenarios[] = {
        { "threads-apart", true, 80, threads_apart },
        { "numa02", true, 80, numa02 },
        { "not-opted-in", false, 12, not_opted_in },
        { "user-mask", false, 40, user_mask },
        { "stop", true, 0, stop },
        { "kill9", true, 0, kill9 },
        { "reload", true, 0, reload },
        { "balancing-off", false, 40, balancing_off },
        { "balancing-off-threads", false, 24, balancing_off_threads },
        { "one-node", true, 16, one_node },
        { "bad-config", true, 10, bad_config },
};

const struct scenario *scenario_find(const char *name) {
        for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
                if (strcmp(scenarios[i].name, name) == 0)
                        return &scenarios[i];
        return NULL;
}
