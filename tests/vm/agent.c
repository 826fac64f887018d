/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Runs in the guest as a service: installs the build that rides along on the second disk, then goes through
 * the plan and sends one JSON object for each of its lines. */

#include "guest.h"
#include "sanitizer.h"
#include "scenario.h"
#include "trial-exact.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#define LOAD_UNIT_TEXT                                                                                    \
        "[Unit]\nDescription=Load of the test\nDefaultDependencies=no\n"                                  \
        "[Service]\nType=exec\nUser=daemon\nEnvironmentFile=/run/hn-load.env\nRuntimeDirectory=hn-load\n" \
        "ExecStart=%s/bin/hn-load $ARGS\nKillSignal=SIGKILL\nSuccessExitStatus=SIGKILL\n"

#define NUMAD_UNIT_TEXT                                                                      \
        "[Unit]\nDescription=The competitor\nDefaultDependencies=no\n"                       \
        "[Service]\nType=forking\nPIDFile=/run/numad.pid\nExecStart=/usr/bin/numad -i 2:5\n" \
        "TimeoutStopSec=5\n"

/* kill9 kills it more often than a crash loop may last. */
#define LIMIT_TEXT "[Unit]\nStartLimitIntervalSec=0\n"

static int shell(const char *command) {
        char *const argv[] = { (char *) "sh", (char *) "-c", (char *) (uintptr_t) command, NULL };

        return guest_run(argv, NULL, 0);
}

/* The build, installed as a package's post-install script would. */
static int install(const char *payload, bool *ret_asan) {
        char command[1024], text[1024];
        int r;

        (void) snprintf(command, sizeof(command),
                        "set -e; if [ -d %s/root ]; then cp -r --preserve=mode,links %s/root/. /; "
                        "systemd-sysusers; systemd-tmpfiles --create /usr/lib/tmpfiles.d/homenode*.conf "
                        "/lib/tmpfiles.d/homenode*.conf 2>/dev/null || true; ldconfig; fi; "
                        "mkdir -p /etc/homenode/homenode.conf.d /run/systemd/system/homenoded.service.d",
                        payload, payload);
        r = shell(command);
        if (r != 0)
                return r < 0 ? r : -EIO;
        (void) snprintf(text, sizeof(text), LOAD_UNIT_TEXT, payload);
        r = guest_file_write("/run/systemd/system/" LOAD_UNIT, text);
        if (r >= 0)
                r = guest_file_write("/run/systemd/system/hn-numad.service", NUMAD_UNIT_TEXT);
        (void) snprintf(command, sizeof(command), "%s/asan", payload);
        *ret_asan = access(command, F_OK) == 0;
        if (r >= 0)
                r = guest_file_write("/run/systemd/system/homenoded.service.d/limit.conf", LIMIT_TEXT);
        if (r >= 0 && *ret_asan)
                r = sanitizer_set_up();
        if (r < 0)
                return r;
        /* Who may own which name on the bus is said by a file that has come just now. */
        r = shell("systemctl daemon-reload && systemctl start dbus.service && systemctl reload dbus.service");
        return r > 0 ? -EIO : r;
}

static bool line_option(struct plan_line *line, const char *word) {
        unsigned value;

        if (sscanf(word, "seconds=%u", &value) == 1)
                line->seconds = value;
        else if (sscanf(word, "before=%u", &value) == 1)
                line->before = value;
        else if (sscanf(word, "kills=%u", &value) == 1)
                line->kills = value;
        else if (sscanf(word, "seed=%u", &value) == 1)
                line->seed = value;
        else if (sscanf(word, "pin=%u", &value) == 1)
                line->pin = value != 0;
        else if (sscanf(word, "trace=%u", &value) == 1)
                line->trace = value != 0;
        else
                return false;
        return true;
}

/* Returns false, having said so, when the line makes no sense. */
static bool line_parse(char *text, struct plan_line *ret) {
        struct plan_line line = { .kills = 20, .before = 3, .seed = (unsigned) guest_now() };
        char *save = NULL, *word;
        const struct scenario *scenario;

        word = strtok_r(text, " ", &save);
        scenario = word ? scenario_find(word) : NULL;
        if (!scenario) {
                guest_say("plan: no such scenario: %s", word ? word : "");
                return false;
        }
        (void) snprintf(line.scenario, sizeof(line.scenario), "%s", word);
        line.seconds = scenario->seconds;
        line.demo = strcmp(line.scenario, "demo") == 0;
        word = strtok_r(NULL, " ", &save);
        line.policy = word ? policy_from_name(word) : POLICY_INVALID;
        if (line.policy == POLICY_INVALID) {
                guest_say("plan: no such policy: %s", word ? word : "");
                return false;
        }
        while ((word = strtok_r(NULL, " ", &save)))
                if (!line_option(&line, word)) {
                        guest_say("plan: no such option: %s", word);
                        return false;
                }
        *ret = line;
        return true;
}

static void line_run(const struct plan_line *line, const struct hn_load_cpus *cpus, bool asan,
                     const char *payload) {
        const struct scenario *scenario = scenario_find(line->scenario);
        struct trial t = { .line = line, .cpus = cpus, .asan = asan };
        struct utsname uts;
        char topology[32], since[32], *text;
        uint64_t from = guest_now();
        int r;

        (void) uname(&uts);
        (void) snprintf(since, sizeof(since), "@%lld", (long long) time(NULL));
        (void) snprintf(topology, sizeof(topology), "%ux%u", cpus->n_nodes, cpus->per_node);
        t.series = json_array();
        t.checks = json_array();
        t.trace = json_array();
        t.json = json_pack("{s:s, s:s, s:s, s:s, s:b}", "scenario", line->scenario, "policy",
                           policy_name(line->policy), "topology", topology, "kernel", uts.release, "asan",
                           asan);
        guest_say("%s/%s on Linux %s", line->scenario, policy_name(line->policy), uts.release);
        t.balancing = scenario->balancing && line->policy != POLICY_NONE && line->policy != POLICY_NUMAD;
        r = trial_balancing(false);
        if (r >= 0)
                r = scenario->run(&t);
        if (r < 0)
                trial_figures(&t);
        trial_check(&t, "ran", r >= 0, json_string(r < 0 ? strerror(-r) : "to its end"), "to its end");
        (void) trial_policy_stop(&t);
        trial_load_stop(&t);
        (void) unlink(RULE_FILE);
        if (line->policy == POLICY_HOMENODE) {
                json_t *journal = trial_journal(since);

                if (asan) {
                        sanitizer_check(&t, journal);
                        if (t.doubt_leaks)
                                sanitizer_check_leaks_seen(&t, payload);
                }
                json_object_set_new(t.json, "journal", journal);
        }
        json_object_set_new(t.json, "checks", json_incref(t.checks));
        json_object_set_new(t.json, "cost_s", json_real(round((double) (guest_now() - from) / 1e5) / 10));
        text = json_dumps(t.json, JSON_COMPACT | JSON_REAL_PRECISION(6));
        guest_json(line->scenario, text ? text : "{}");
        free(text);
        json_decref(t.json);
        json_decref(t.series);
        json_decref(t.checks);
        json_decref(t.trace);
}

/* Runs each line of the plan, or without a payload only looks whether it makes sense. */
static int plan_go(char *plan, const struct hn_load_cpus *cpus, bool asan, const char *payload) {
        char *save = NULL;

        for (char *text = strtok_r(plan, "\n", &save); text; text = strtok_r(NULL, "\n", &save)) {
                struct plan_line line;

                if (text[0] == '#')
                        continue;
                if (!line_parse(text, &line))
                        return -EINVAL;
                if (payload)
                        line_run(&line, cpus, asan, payload);
        }
        return 0;
}

/* The counter outside of the guest, where the file that gives its latencies says that there is one. */
static int counter_open(const char *payload, const struct hn_load_cpus *cpus) {
        char path[256], latency[1024];
        int r;

        (void) snprintf(path, sizeof(path), "%s/exact", payload);
        if (access(path, F_OK) < 0)
                return 0;
        r = guest_file_read(path, latency, sizeof(latency));
        if (r >= 0)
                r = exact_open(latency, cpus);
        if (r < 0)
                guest_say("the counter of accesses does not count as it should: %s", strerror(-r));
        else
                guest_say("the counter of accesses counts exactly what was probed, for each CPU and node");
        return r;
}

static int guest_main(const char *payload) {
        struct hn_load_cpus cpus;
        char plan[8192], path[256];
        bool asan = false;
        int r;

        /* Eight threads load eight CPUs: what measures them should not have to wait for its turn. */
        (void) setpriority(PRIO_PROCESS, 0, -10);
        r = guest_line_open("/dev/ttyS1");
        if (r < 0)
                return r;
        guest_say("the guest is up after %.1f s", (double) guest_now() / 1e6);
        r = hn_load_cpus_read(&cpus);
        if (r >= 0)
                r = counter_open(payload, &cpus);
        if (r >= 0)
                r = install(payload, &asan);
        (void) snprintf(path, sizeof(path), "%s/plan", payload);
        if (r >= 0)
                r = guest_file_read(path, plan, sizeof(plan));
        if (r < 0) {
                guest_say("the guest cannot start its plan: %s", strerror(-r));
                return r;
        }
        guest_say("the build is installed after %.1f s", (double) guest_now() / 1e6);
        r = plan_go(plan, &cpus, asan, payload);
        guest_say("the plan is done after %.1f s", (double) guest_now() / 1e6);
        return r;
}

int main(int argc, char *argv[]) {
        char plan[8192];
        int r;

        if (argc == 3 && strcmp(argv[1], "--check") == 0) {
                r = guest_file_read(argv[2], plan, sizeof(plan));
                if (r >= 0)
                        r = plan_go(plan, NULL, false, NULL);
        } else if (argc == 2)
                r = guest_main(argv[1]);
        else {
                fprintf(stderr, "usage: hn-agent PAYLOAD | --check PLAN\n");
                return 64;
        }
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
