/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* homenoded on the guest's system bus, with the policy files that are installed and the polkit of Debian:
 * who may do what, what hostile callers come to, who may have the name, and what a call starts. */

#include "attack.h"
#include "guest.h"
#include "judge.h"
#include "rights.h"
#include "scenario.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BUS_DRIVER     "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus"
#define SCOPE_PATH     "/org/homenode1/scope/_2fsystem_2eslice_2fhn_2dload_2eservice"
#define CALLS_BEFORE   60U
#define CALLS          180U
#define ATTACK_SECONDS 90U

static const struct caller *somebody;

static const struct answer *ping(const struct caller *who) {
        const struct call call = { "org.homenode1", "/org/homenode1", "org.freedesktop.DBus.Peer", "Ping",
                                   false };

        return caller_call(who, &call, "");
}

/* Is on the bus, and has seen the load. */
static bool is_there(struct trial *t) {
        const struct call call = { "org.homenode1", SCOPE_PATH, BUS_PROPERTIES, "GetAll", false };

        (void) t;
        return access(STATE_FILE, F_OK) == 0 && caller_call(somebody, &call, "s", "org.homenode1.Scope")->ok;
}

static bool masks_back(struct trial *t) {
        return trial_masks_changed(t) == 0;
}

/* A property of the service, as systemd has it; -1 where it has none. */
static int64_t service_number(const char *property) {
        char *const argv[] = { (char *) "systemctl",
                               (char *) "show",
                               (char *) "--value",
                               (char *) "-p",
                               (char *) (uintptr_t) property,
                               (char *) DAEMON_UNIT,
                               NULL };
        char text[64], *end;
        long long v;

        if (guest_run(argv, text, sizeof(text)) != 0)
                return -1;
        v = strtoll(text, &end, 10);
        return end == text ? -1 : v;
}

static unsigned count_descriptors(pid_t pid) {
        char path[64];
        unsigned n = 0;
        DIR *dir;

        (void) snprintf(path, sizeof(path), "/proc/%d/fd", pid);
        dir = opendir(path);
        while (dir && readdir(dir))
                n++;
        if (dir)
                (void) closedir(dir);
        return n;
}

static void check_text(struct trial *t, const char *name, bool ok, const char *text, const char *want) {
        json_t *got = json_string(text);

        trial_check(t, name, ok, got ? got : json_null(), want);
}

/* Nothing of ours lets anybody do anything: that is the administrator's to say. */
static void check_no_rules(struct trial *t) {
        char *const argv[] = { (char *) "sh", (char *) "-c",
                               (char *) "grep -rls homenode /etc/polkit-1 /usr/share/polkit-1/rules.d "
                                        "/var/lib/polkit-1 2>/dev/null; "
                                        "test -e /usr/share/polkit-1/actions/org.homenode1.policy",
                               NULL };
        char text[1024];
        int r = guest_run(argv, text, sizeof(text));

        check_text(t, "no_rules_shipped", r == 0 && text[0] == '\0', text, "the actions, and no rule");
}

/* Hostile calls */

/* Whoever reads of an answer that came late will ask what polkit did meanwhile. */
static void keep_polkit_journal(struct trial *t) {
        static char text[16384];
        char *const argv[] = { (char *) "journalctl", (char *) "-u", (char *) "polkit",
                               (char *) "-b",         (char *) "-o", (char *) "short-monotonic",
                               (char *) "--no-pager", (char *) "-q", (char *) "-n",
                               (char *) "60",         NULL };
        json_t *journal = guest_run(argv, text, sizeof(text)) == 0 ? json_string(text) : NULL;

        json_object_set_new(t->json, "polkit_journal", journal ? journal : json_null());
}

static void check_attack(struct trial *t, const struct attack *a, int r, unsigned calls) {
        trial_check(t, "attack_answered",
                    r == 0 && a->sent > calls / 2 && a->sent == a->answered + a->refused,
                    json_sprintf("%u of %u calls: %u answered, %u refused, %u not heard %s", a->sent, calls,
                                 a->answered, a->refused, a->unheard, a->first),
                    "each, in one way or the other");
        trial_check(t, "attack_reached_polkit", a->denied > 0, json_integer(a->denied), "> 0 denied");
        trial_check(t, "attack_got_nothing", a->answered > 0 && a->carried_out == 0,
                    json_sprintf("%u %s", a->carried_out, a->first), "0 calls that changed something");
        json_object_set_new(t->json, "attack_ms", json_real(a->all_ms));
        json_object_set_new(t->json, "attack_denied_ms", json_real(a->denied_ms));
        json_object_set_new(t->json, "attack_slowest_ms", json_real(a->slowest_ms));
        json_object_set_new(t->json, "attack_slowest", json_string(a->slowest));
        json_object_set_new(t->json, "attack_late", json_integer(a->late));
        json_object_set_new(t->json, "attack_calls", json_integer(a->sent));
}

static void check_daemon(struct trial *t, const struct rights *s, pid_t before, unsigned descriptors) {
        uint64_t now = guest_now();
        int64_t last = service_number("WatchdogTimestampMonotonic"), restarts = service_number("NRestarts");
        unsigned open_now;
        pid_t pid = 0;

        (void) guest_main_pid(DAEMON_UNIT, &pid);
        open_now = count_descriptors(pid);
        trial_check(t, "same_process", pid == before, json_integer(pid), "the process that was started");
        trial_check(t, "no_restart", restarts == 0, json_integer(restarts), "0");
        rights_check(t, "answers_ping", ping(&s->who[BY_OTHER]), "");
        /* WatchdogSec=30 in the unit. */
        trial_check(t, "watchdog", last > 0 && (uint64_t) last + 30000000 > now,
                    json_real(((double) now - (double) last) / 1e6), "< 30 s since the daemon's last word");
        trial_check(t, "descriptors", open_now > 2 && open_now <= descriptors + 2, json_integer(open_now),
                    "no more than after the first calls");
}

static void attack_by_other(struct trial *t, struct rights *s) {
        static struct masks before, after;
        struct attack *a = caller_share(sizeof(*a));
        char own[16], load[16], thread[16], half[16], since[64];
        pid_t daemon = 0;
        unsigned descriptors;
        uint64_t held;
        size_t changed;
        json_t *journal;
        cpu_set_t all;
        int r, r_masks;

        if (!a)
                return;
        (void) snprintf(own, sizeof(own), "%d", s->own);
        (void) snprintf(half, sizeof(half), "%d", s->half);
        (void) snprintf(load, sizeof(load), "%d", t->table->threads[0].pid);
        (void) snprintf(thread, sizeof(thread), "%d", t->table->threads[1].tid);
        /* Something is held, so that there is something to let go of. */
        held = rights_pin(&s->who[BY_ROOT], "process", half, s->node, false, NULL);
        trial_check(t, "attack_has_a_target", held > 0 && rights_wait_mask(s->half, &s->cpus),
                    json_integer((json_int_t) held), "something is held");
        (void) guest_main_pid(DAEMON_UNIT, &daemon);
        a->hostile = (struct hostile){ .seed = 0x9e3779b97f4a7c15,
                                       .kinds = { "process", "thread", "cgroup", "process" },
                                       .targets = { own, thread, "system.slice/" LOAD_UNIT, load },
                                       .scope = SCOPE_PATH,
                                       .pin = held };
        /* The first calls fill caches and pools. */
        a->calls = CALLS_BEFORE;
        r = attack_run(&s->who[BY_OTHER], ATTACK_SECONDS, a);
        descriptors = count_descriptors(daemon);
        (void) judge_since(since, sizeof(since));
        r_masks = masks_take_all(&before);
        a->calls = CALLS;
        if (r == 0)
                r = attack_run(&s->who[BY_OTHER], ATTACK_SECONDS, a);
        check_attack(t, a, r, CALLS_BEFORE + CALLS);
        keep_polkit_journal(t);
        check_daemon(t, s, daemon, descriptors);

        /* The daemon has nothing to do of its own at this time, so whatever changed, it was made to. */
        if (r_masks == 0)
                r_masks = masks_take_all(&after);
        CPU_ZERO(&all);
        (void) sched_getaffinity(0, sizeof(all), &all);
        changed = masks_changed(&before, &after, &all);
        trial_check(t, "attack_moved_nothing", r_masks == 0 && after.n > t->table->n_threads && changed == 0,
                    json_sprintf("%zu of %zu", changed, after.n),
                    "0 masks of all threads but the kernel's that differ");
        rights_check_property(t, s, "attack_left_mode", "Mode", "observe");
        rights_check_property(t, s, "attack_left_allowed_mode", "AllowedMode", "manage");
        rights_check_property(t, s, "attack_left_log_level", "LogLevel", "info");
        rights_check_property(t, s, "attack_left_pins", "Pins", "1");
        journal = trial_journal(since);
        trial_check(t, "attack_left_no_trace",
                    !judge_text_has(journal, "by user") && !judge_text_has(journal, "asks to"), journal,
                    "nothing done in the journal");
        rights_check(t, "attack_left_the_pin", rights_unpin(&s->who[BY_ROOT], held), "");
}

/* The name */

static void check_name(struct trial *t, const char *name, const struct caller *who) {
        const struct call call = { BUS_DRIVER, "RequestName", false };
        /* to replace who has it, and not to wait in a queue */
        const struct answer *a = caller_call(who, &call, "su", "org.homenode1", 2u | 4u);

        trial_check(t, name, !a->ok && strcmp(a->error, SD_BUS_ERROR_ACCESS_DENIED) == 0, answer_tell(a),
                    SD_BUS_ERROR_ACCESS_DENIED);
}

/* Not enabled, a call starts nothing; enabled, anybody's does. */
static void check_activation(struct trial *t, const struct rights *s) {
        const struct answer *a = ping(&s->who[BY_OTHER]);
        bool active = trial_service_active();

        trial_check(t, "call_starts_nothing", !a->ok && !active, answer_tell(a),
                    "an error, and the service stays as it is");
        check_name(t, "name_of_stopped_by_other", &s->who[BY_OTHER]);
        check_name(t, "name_of_stopped_by_owner", &s->who[BY_OWNER]);
        (void) guest_systemctl("enable", DAEMON_UNIT);
        rights_check(t, "call_starts_what_is_enabled", ping(&s->who[BY_OTHER]), "");
        judge_active(t);
        (void) guest_systemctl("disable", DAEMON_UNIT);
}

static void say(const struct trial *t, const char *phase) {
        guest_say("bus: %s, %.1f s", phase, (double) (guest_now() - t->opt_in) / 1e6);
}

int scenario_bus(struct trial *t) {
        static struct rights s;
        int r;

        r = trial_rule_write(LOAD_UNIT, "");
        if (r >= 0)
                r = trial_load_start(t, LOAD_APART, "--mib 1 --duty 1");
        if (r >= 0)
                r = rights_prepare(t, &s);
        somebody = &s.who[BY_OTHER];
        if (r >= 0)
                r = trial_policy_start(t);
        if (r >= 0 && !trial_wait(t, 60, is_there))
                r = -ETIMEDOUT;
        if (r < 0) {
                rights_end(&s);
                return r;
        }
        check_no_rules(t);
        /* From here on the rule moves nothing, so whatever moves was ordered. */
        rights_check(t, "SetMode_at_first",
                     caller_call(&s.who[BY_ROOT], &CALL_MANAGER("SetMode"), "s", "observe"), "");
        trial_check(t, "masks_at_first", trial_wait(t, 15, masks_back),
                    json_integer((json_int_t) trial_masks_changed(t)), "0 masks that differ");
        say(t, "who may do what");
        rights_methods(t, &s);
        rights_check_property(t, &s, "mode_after_methods", "Mode", "observe");
        rights_check_property(t, &s, "pins_after_methods", "Pins", "0");
        say(t, "properties");
        rights_properties(t, &s, SCOPE_PATH);
        say(t, "what is held");
        rights_held(t, &s);
        check_name(t, "name_by_other", &s.who[BY_OTHER]);
        check_name(t, "name_by_owner", &s.who[BY_OWNER]);
        say(t, "rules of an administrator");
        rights_rules(t, &s);
        say(t, "hostile calls");
        attack_by_other(t, &s);
        say(t, "the end");
        trial_figures(t);
        judge_stop(t, false);
        check_activation(t, &s);
        json_object_set_new(t->json, "polkit_late", json_integer(caller_late()));
        t->doubt_leaks = true;
        rights_end(&s);
        return 0;
}
