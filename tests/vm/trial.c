/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "busy.h"
#include "guest.h"
#include "trial-exact.h"
#include "trial.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define TABLE_FILE "/run/hn-load/table"
#define ENV_FILE   "/run/hn-load.env"
#define SECOND     1000000ULL

static const char *const policy_names[POLICY_MAX] = {
        [POLICY_NONE] = "none",         [POLICY_KERNEL] = "kernel",     [POLICY_NUMAD] = "numad",
        [POLICY_HOMENODE] = "homenode", [POLICY_HARDBIND] = "hardbind",
};

const char *policy_name(enum policy policy) {
        return policy_names[policy];
}

enum policy policy_from_name(const char *name) {
        for (int i = 0; i < POLICY_MAX; i++)
                if (strcmp(name, policy_names[i]) == 0)
                        return (enum policy) i;
        return POLICY_INVALID;
}

int trial_balancing(bool on) {
        int r = guest_file_write("/proc/sys/kernel/numa_balancing", on ? "1" : "0");

        /* A machine with one node has nothing to switch; reading back would say 0 there. */
        return r == -ENOENT ? 0 : r;
}

static bool table_ready(struct trial *t) {
        return hn_load_table_open(TABLE_FILE, &t->table) == 0;
}

static int load_arguments_write(const struct trial *t, enum load load, const char *extra) {
        char arguments[3072], text[4096];

        load_arguments(load, t->cpus, t->line->policy == POLICY_HARDBIND, extra, arguments,
                       sizeof(arguments));
        (void) snprintf(text, sizeof(text), "ARGS=--table " TABLE_FILE " %s\n", arguments);
        return guest_file_write(ENV_FILE, text);
}

int trial_load_start(struct trial *t, enum load load, const char *extra) {
        int r;

        (void) unlink(TABLE_FILE);
        r = load_arguments_write(t, load, extra);
        if (r < 0)
                return r;
        r = guest_systemctl("start", LOAD_UNIT);
        if (r != 0)
                return r < 0 ? r : -ECHILD;
        if (!trial_wait(t, 60, table_ready))
                return -ETIMEDOUT;
        busy_forget();
        r = masks_take(LOAD_UNIT, &t->before);
        return r < 0 ? r : exact_begin(t);
}

void trial_load_stop(struct trial *t) {
        exact_end(t);
        (void) guest_systemctl("stop", LOAD_UNIT);
        if (t->table)
                (void) munmap((void *) (uintptr_t) t->table, sizeof(*t->table));
        t->table = NULL;
}

/* In emulation each pass costs some twenty times what it costs on the machine itself; with the budget of the
 * machine the daemon would look every few seconds only. */
#define DAEMON_SECTION "[Daemon]\nMode=manage\nCpuBudget=20%\n"

int trial_rule_write(const char *unit, const char *extra) {
        char text[1024];

        (void) snprintf(text, sizeof(text),
                        "%s\n[Rule load]\nCgroup=system.slice/%s\nMode=manage\nPages=yes\n%s", DAEMON_SECTION,
                        unit, extra);
        return guest_file_write(RULE_FILE, text);
}

static const char *policy_unit(enum policy policy) {
        return policy == POLICY_HOMENODE ? DAEMON_UNIT : policy == POLICY_NUMAD ? "hn-numad.service" : NULL;
}

int trial_daemon_prepare(struct trial *t) {
        int r;

        if (t->line->policy != POLICY_HOMENODE)
                return 0;
        (void) unlink(STATE_FILE);
        r = guest_file_write(RULE_FILE, DAEMON_SECTION);
        if (r >= 0)
                r = guest_systemctl("start", DAEMON_UNIT);
        if (r != 0)
                return r < 0 ? r : -ECHILD;
        r = guest_main_pid(DAEMON_UNIT, &t->daemon);
        if (r < 0)
                return r;
        return trial_wait(t, 60, trial_daemon_up) ? 0 : -ETIMEDOUT;
}

#define LOAD_CGROUP "/sys/fs/cgroup/system.slice/" LOAD_UNIT

static bool load_frozen(struct trial *t) {
        char events[128];

        (void) t;
        return guest_file_read(LOAD_CGROUP "/cgroup.events", events, sizeof(events)) >= 0 &&
               strstr(events, "frozen 1");
}

/* The kernel patches its code for this, and threads that take hinting faults meanwhile run through the very
 * places. Emulated CPUs were seen to die of a breakpoint that was no longer there ("Oops: int3" in
 * task_numa_fault()): so the load stands still for that moment. */
static int switch_balancing(struct trial *t) {
        int r = guest_file_write(LOAD_CGROUP "/cgroup.freeze", "1");

        if (r < 0)
                return r == -ENOENT ? trial_balancing(t->balancing) : r;
        r = trial_wait(t, 10, load_frozen) ? trial_balancing(t->balancing) : -ETIMEDOUT;
        return guest_file_write(LOAD_CGROUP "/cgroup.freeze", "0") < 0 ? -EIO : r;
}

int trial_policy_start(struct trial *t) {
        const char *unit = policy_unit(t->line->policy);
        int r;

        t->kernel_pages = guest_vmstat("numa_pages_migrated");
        r = switch_balancing(t);
        t->opt_in = guest_now();
        if (r < 0 || !unit)
                return r;
        if (t->daemon > 0) {
                r = trial_rule_write(LOAD_UNIT, "");
                /* What the unit's ExecReload= does. By way of systemctl and systemd it takes an emulated
                 * machine two to three seconds under this load, while the kernel's clock goes on. */
                return r < 0 ? r : kill(t->daemon, SIGHUP) < 0 ? -errno : 0;
        }
        /* A state from before is not this run's. */
        (void) unlink(STATE_FILE);
        /* Without waiting: how the load fares meanwhile is part of the series. */
        r = guest_systemctl_begin("start", unit);
        return r > 0 ? -ECHILD : r;
}

int trial_policy_stop(struct trial *t) {
        const char *unit = policy_unit(t->line->policy);
        uint64_t from = guest_now();
        int r;

        if (!unit)
                return 0;
        r = guest_systemctl("stop", unit);
        json_object_set_new(t->json, "policy_stop_s", json_real((double) (guest_now() - from) / 1e6));
        return r > 0 ? -ECHILD : r;
}

size_t trial_masks_changed(struct trial *t) {
        static struct masks now;

        return masks_take(LOAD_UNIT, &now) < 0 ? 0 : masks_changed(&t->before, &now, NULL);
}

bool trial_all_pinned(struct trial *t) {
        return trial_masks_changed(t) >= t->table->n_threads;
}

bool trial_daemon_up(struct trial *t) {
        (void) t;
        return access(STATE_FILE, F_OK) == 0;
}

bool trial_is_home(struct trial *t) {
        return t->home_since != 0 && guest_now() - t->home_since >= 5 * SECOND;
}

bool trial_wait(struct trial *t, unsigned seconds, bool (*until)(struct trial *t)) {
        uint64_t end = guest_now() + seconds * SECOND;

        while (!until(t)) {
                if (guest_now() > end)
                        return false;
                guest_sleep_until(guest_now() + SECOND / 5);
        }
        return true;
}

bool trial_service_active(void) {
        char *const argv[] = { (char *) "systemctl", (char *) "is-active", (char *) DAEMON_UNIT, NULL };
        char state[64];

        return guest_run(argv, state, sizeof(state)) == 0 && strncmp(state, "active", 6) == 0;
}

/* The kernel's own view of one thread: preferred node, private plus shared faults per node, how many of all
 * are shared, and how often the memory of its process has been scanned. */
static json_t *faults_read(const struct hn_load_thread *thread) {
        json_t *faults = json_array();
        char path[64], buf[8192];
        int preferred = -1;
        json_int_t all_shared = 0, scans = 0;

        (void) snprintf(path, sizeof(path), "/proc/%d/task/%d/sched", thread->pid, thread->tid);
        if (guest_file_read(path, buf, sizeof(buf)) < 0)
                return faults;
        for (char *p = buf; p; p = strchr(p, '\n')) {
                unsigned node, private, shared;

                p += *p == '\n';
                if (strncmp(p, "numa_preferred_nid", 18) == 0 && strchr(p, ':'))
                        preferred = atoi(strchr(p, ':') + 1);
                if (strncmp(p, "mm->numa_scan_seq", 17) == 0 && strchr(p, ':'))
                        scans = atoi(strchr(p, ':') + 1);
                if (sscanf(p, "numa_faults node=%u task_private=%u task_shared=%u", &node, &private,
                           &shared) == 3) {
                        json_array_append_new(faults, json_integer((json_int_t) private + shared));
                        all_shared += shared;
                }
        }
        json_array_append_new(faults, json_integer(all_shared));
        json_array_append_new(faults, json_integer(scans));
        json_array_insert_new(faults, 0, json_integer(preferred));
        return faults;
}

static void trace_add(struct trial *t, double at, const struct hn_load_sample *sample) {
        json_t *rows = json_array(), *state;

        for (unsigned i = 0; i < sample->n_threads; i++)
                json_array_append_new(rows, json_pack("[i, o, o]", sample->cpu[i],
                                                      isnan(sample->thread_share[i])
                                                              ? json_null()
                                                              : json_real(sample->thread_share[i]),
                                                      faults_read(&t->table->threads[i])));
        /* How the daemon itself fares; null where there is none. */
        state = json_load_file(STATE_FILE, 0, NULL);
        json_array_append_new(t->trace,
                              json_pack("[f, o, [O?, O?, O?]]", at, rows, json_object_get(state, "tick"),
                                        json_object_get(state, "interval_usec"),
                                        json_object_get(state, "budget")));
        json_decref(state);
}

static void sample_say(const struct trial *t, double at, const struct hn_load_sample *sample) {
        char bar[21], nodes[64] = "";
        unsigned filled = (unsigned) (sample->share * 20 + 0.5);
        size_t used = 0;

        for (unsigned i = 0; i < 20; i++)
                bar[i] = i < filled ? '#' : '.';
        bar[20] = 0;
        for (unsigned i = 0; i < t->cpus->n_nodes && used < sizeof(nodes); i++)
                used += (size_t) snprintf(nodes + used, sizeof(nodes) - used, " %u",
                                          sample->on_node[t->cpus->nodes[i]]);
        if (t->line->demo)
                guest_say("%5.1f s  local share %.2f  [%s]  threads on each node:%s", at, sample->share, bar,
                          nodes);
        else
                guest_say("%s/%s %5.1f s  local share %.2f [%s]  threads per node:%s", t->line->scenario,
                          policy_name(t->line->policy), at, sample->share, bar, nodes);
}

static void busy_sample(struct trial *t, double at) {
        double most = 0, least = INFINITY;
        struct busy busy;

        if (!busy_look(t->cpus, &busy) || at < 0)
                return;
        for (unsigned i = 0; i < t->cpus->n_nodes; i++) {
                t->busy[i] += busy.cpus[i];
                most = fmax(most, busy.cpus[i]);
                least = fmin(least, busy.cpus[i]);
        }
        t->busy_spread += most - least;
        t->busy_n++;
}

static int sample_take(struct trial *t) {
        struct hn_load_sample sample;
        uint64_t now = guest_now();
        double at = ((double) now - (double) t->opt_in) / 1e6;
        int r;

        r = hn_load_sample(t->table, t->cpus, t->samples++ * 7, &sample);
        if (r < 0)
                return r;
        if (sample.n_gone > 0)
                return -ESRCH;
        t->sweeps = sample.sweeps;
        busy_sample(t, at);
        if (isnan(sample.share))
                return 0;
        at = round(at * 10) / 10;
        r = exact_sample(t, at);
        if (r < 0)
                return r;
        json_array_append_new(t->series, json_pack("[f, f]", at, round(sample.share * 1000) / 1000));
        if (sample.share < HOME_SHARE)
                t->home_since = 0;
        else if (t->home_since == 0)
                t->home_since = now;
        if (t->line->policy == POLICY_HOMENODE && !t->pinned && trial_all_pinned(t)) {
                t->pinned = true;
                json_object_set_new(t->json, "pinned_s", json_real(at));
        }
        memcpy(t->last_on_node, sample.on_node, sizeof(t->last_on_node));
        if (at >= WINDOW_FROM) {
                for (unsigned i = 0; i < HN_LOAD_NODES_MAX; i++)
                        t->on_node[i] += sample.on_node[i];
                t->on_node_n++;
        }
        if (t->line->trace)
                trace_add(t, at, &sample);
        sample_say(t, at, &sample);
        return 0;
}

int trial_measure(struct trial *t, unsigned seconds, bool (*until)(struct trial *t)) {
        uint64_t end = t->opt_in + seconds * SECOND, next = guest_now();

        while (next <= end) {
                int r = sample_take(t);

                if (r < 0)
                        return r;
                if (until && until(t))
                        return 0;
                next += SECOND;
                if (next < guest_now())
                        next = guest_now();
                guest_sleep_until(next);
        }
        return 0;
}

void trial_check(struct trial *t, const char *name, bool ok, json_t *got, const char *want) {
        if (!ok) {
                char *text = json_dumps(got, JSON_ENCODE_ANY | JSON_COMPACT);

                guest_say("%s: FAILED %s: got %.200s, wanted %s", t->line->scenario, name, text ? text : "?",
                          want);
                free(text);
        }
        json_array_append_new(t->checks, json_pack("{s:s, s:b, s:o, s:s}", "name", name, "ok", ok, "got", got,
                                                   "want", want));
}

json_t *trial_state(void) {
        return json_load_file(STATE_FILE, 0, NULL);
}

json_t *trial_journal(const char *since) {
        static char text[65536];
        char *const argv[] = { (char *) "journalctl", (char *) "-u",      (char *) DAEMON_UNIT,
                               (char *) "-o",         (char *) "cat",     (char *) "--no-pager",
                               (char *) "-q",         (char *) "--since", (char *) (uintptr_t) since,
                               (char *) "-n",         (char *) "400",     NULL };

        if (guest_run(argv, text, sizeof(text)) != 0)
                text[0] = 0;
        /* A name of a task in a message may hold any bytes. */
        for (char *p = text; *p != 0; p++)
                if ((unsigned char) *p >= 0x7f)
                        *p = '?';
        return json_string(text);
}
