/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "guest.h"
#include "scenario.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Rows that are done in one go, which has 90 s, and at once: the host has no more cores than that as a rule.
 */
#define ROWS_AT_ONCE 240u
#define JOBS         "4"

/* Sums over the goes. */
struct sums {
        unsigned table, rows, good, bad, different, elsewhere, skipped, wrong;
        double seconds;
};

static int shell(const char *command, char *out, size_t size) {
        char *const argv[] = { (char *) "sh", (char *) "-c", (char *) (uintptr_t) command, NULL };

        return guest_run(argv, out, size);
}

/* The program that compares lies beside this one. */
static int side_path(char *path, size_t size) {
        static const char name[] = "hn-numactl-side";
        ssize_t n = readlink("/proc/self/exe", path, size - sizeof(name));
        char *slash;

        if (n < 0)
                return -errno;
        path[n] = '\0';
        slash = strrchr(path, '/');
        if (!slash)
                return -ENOENT;
        (void) memcpy(slash + 1, name, sizeof(name));
        return 0;
}

/* What is not as expected goes to the outside, as far as a reader wants it. */
static void forward(const char *text) {
        const char *wrong = text;

        for (unsigned i = 0; i < 5 && (wrong = strstr(wrong, "WRONG")); i++) {
                for (unsigned line = 0; line < 8 && *wrong; line++) {
                        size_t n = strcspn(wrong, "\n");

                        guest_say("  %.*s", (int) n, wrong);
                        wrong += n + (wrong[n] == '\n');
                }
        }
}

/* Rows from `from` to before `to`, or to the table's end; `prefix` stands before the command, `which` says
 * what the numbers mean. Returns 0, or -EBADMSG if it did not come to its end. */
static int compare(const char *side, const char *prefix, const char *which, unsigned from, unsigned to,
                   struct sums *ret) {
        static char text[262144];
        uint64_t began = guest_now();
        struct sums all = { .table = to };
        char command[1024];

        for (; from < all.table; from += ROWS_AT_ONCE) {
                unsigned last = from + ROWS_AT_ONCE < to ? from + ROWS_AT_ONCE : to;
                struct sums s = { .table = 0 };
                const char *summary;

                (void) snprintf(command, sizeof(command), "%s %s --jobs " JOBS " %s %u-%u", prefix, side,
                                which, from, last - 1);
                (void) shell(command, text, sizeof(text));
                summary = strstr(text, "summary: ");
                if (!summary || sscanf(summary,
                                       "summary: table=%u rows=%u good=%u bad=%u different=%u elsewhere=%u "
                                       "skipped=%u wrong=%u",
                                       &s.table, &s.rows, &s.good, &s.bad, &s.different, &s.elsewhere,
                                       &s.skipped, &s.wrong) != 8) {
                        guest_say("%s said: %.500s", command, text);
                        return -EBADMSG;
                }
                forward(text);
                if (to == UINT_MAX)
                        all.table = s.table;
                all.rows += s.rows;
                all.good += s.good;
                all.bad += s.bad;
                all.different += s.different;
                all.elsewhere += s.elsewhere;
                all.skipped += s.skipped;
                all.wrong += s.wrong;
        }
        all.seconds = (double) (guest_now() - began) / 1e6;
        *ret = all;
        return 0;
}

static json_t *sums_json(const struct sums *s) {
        return json_pack("{s:i, s:i, s:i, s:i, s:i, s:i, s:i, s:f}", "rows", (int) s->rows, "good",
                         (int) s->good, "bad", (int) s->bad, "different", (int) s->different, "elsewhere",
                         (int) s->elsewhere, "skipped", (int) s->skipped, "wrong", (int) s->wrong, "seconds",
                         s->seconds);
}

/* All of the table if the plan gives it time, else what says more here than on a machine of one node, where
 * all of it is a test too. */
static int table(struct trial *t, const char *name, const char *side, const char *prefix, bool skips,
                 struct sums *ret) {
        int r = compare(side, prefix, t->line->seconds > 0 ? "--rows" : "--section --rows", 0, UINT_MAX, ret);

        if (r >= 0)
                trial_check(t, name, ret->wrong == 0 && (skips || ret->skipped == 0), sums_json(ret),
                            "all as told");
        return r;
}

/* A command's exit status and a part of what it says. */
static void check(struct trial *t, const char *name, const char *command, int code, const char *part) {
        static char text[65536];
        int r = shell(command, text, sizeof(text));

        trial_check(t, name, r == code && strstr(text, part),
                    json_pack("{s:i, s:s%}", "status", r, "output", text, (int) strnlen(text, 300)), part);
}

/* Devices of an emulated machine have no nodes until they are given some. */
static void check_devices(struct trial *t, const char *side) {
        char command[1024];

        check(t, "device_given_a_node",
              "d=$(readlink -f /sys/class/block/vda/device/..) && echo 2 > $d/numa_node && cat $d/numa_node",
              0, "2\n");
        (void) snprintf(command, sizeof(command), "homenode run -N block:vda -m same %s --probe", side);
        check(t, "block", command, 0, "nodes=2 cpus=4-5 ");
        (void) snprintf(command, sizeof(command), "homenode run -p file:/ -- %s --probe", side);
        check(t, "file", command, 0, "policy=preferred nodes=2 ");
        (void) snprintf(
                command, sizeof(command),
                "homenode run -i \"0,pci:$(basename $(readlink -f /sys/class/block/vda/device/..))\" %s --probe",
                side);
        check(t, "pci", command, 0, "policy=interleave nodes=0,2 ");
}

/* systemd makes the scopes; nobody has to look after them for this. */
static void check_care(struct trial *t, const char *side) {
        char command[1024];
        int r;

        r = guest_file_write(RULE_FILE,
                             "[Daemon]\nMode=manage\n"
                             "[Rule batch]\nCgroup=hnbatch.slice\nMode=manage\n"
                             "[Rule jobs]\nCgroup=hnjobs.slice/job-*.scope\nMode=manage\nUserMask=within\n"
                             "[Rule web]\nCgroup=system.slice/web-*.service\nMode=manage\n");
        trial_check(t, "rules_written", r >= 0, json_integer(r), "0");
        check(t, "in_the_slice", "homenode run --rule batch cat /proc/self/cgroup", 0,
              "0::/hnbatch.slice/homenode-run-");
        check(t, "in_the_scope", "homenode run --rule jobs cat /proc/self/cgroup", 0,
              "0::/hnjobs.slice/job-homenode-");
        (void) snprintf(command, sizeof(command), "homenode run --rule jobs -N 1 -m 1 -- %s --probe x", side);
        check(t, "care_and_policy", command, 0, "policy=bind nodes=1 cpus=2-3 mems=0-3 maps=bind:1 [x]");
        check(t, "in_it_already", "homenode run --rule batch homenode run --rule batch cat /proc/self/cgroup",
              0, "0::/hnbatch.slice/homenode-run-");
        check(t, "note_without_daemon", "homenode run --rule batch true 2>&1", 0, "homenoded does not run");
        check(t, "status_is_the_commands", "homenode run --rule batch sh -c 'exit 41'", 41, "");
        check(t, "command_not_found", "homenode run --rule batch /nonexistent 2>&1", 127, "/nonexistent");
        check(t, "bound_by_hand", "homenode run --rule batch -N 0 true 2>&1", 64, "UserMask=within");
        check(t, "services_refused", "homenode run --rule web true 2>&1", 78, "names services");
        check(t, "no_such_rule", "homenode run --rule none true 2>&1", 66, "[Rule none]");
        check(t, "not_permitted", "runuser -u daemon -- homenode run --rule batch true 2>&1", 77,
              "Run it as root");
        check(t, "scopes_are_forgotten",
              "sleep 1; systemctl list-units --all --no-legend 'homenode-run-*' | wc -l", 0, "0\n");
}

/* For runs by hand: the table with a CPU offline, and, as long as there is time, arguments made at random,
 * free and in a cpuset. */
static int check_more(struct trial *t, const char *side, const char *confined, uint64_t until) {
        unsigned from = t->line->seed % 1000000000u, lists = 0, wrong = 0;
        struct sums s;
        int r;

        r = guest_file_write("/sys/devices/system/cpu/cpu5/online", "0");
        if (r >= 0)
                r = table(t, "with_a_cpu_offline", side, "", true, &s);
        (void) guest_file_write("/sys/devices/system/cpu/cpu5/online", "1");
        guest_say("numactl-side-by-side: at random from %u on", from);
        do {
                bool inside = lists % (2 * ROWS_AT_ONCE) != 0;

                if (r >= 0)
                        r = compare(side, inside ? confined : "", "--random", from, from + ROWS_AT_ONCE, &s);
                if (r < 0)
                        return r;
                from += inside ? ROWS_AT_ONCE : 0;
                lists += ROWS_AT_ONCE;
                wrong += s.wrong;
        } while (guest_now() < until || lists < 2 * ROWS_AT_ONCE);
        trial_check(t, "at_random", wrong == 0,
                    json_pack("{s:i, s:i}", "lists", (int) lists, "wrong", (int) wrong), "none wrong");
        return r;
}

int scenario_numactl_side_by_side(struct trial *t) {
        static const char confined[] = "systemd-run --quiet --wait --pipe -p DefaultDependencies=no "
                                       "-p AllowedCPUs=2-3,6-7 -p AllowedMemoryNodes=1,3";
        char side[512], command[1024];
        uint64_t until = guest_now() + t->line->seconds * 1000000ULL;
        cpu_set_t before, after;
        struct sums s;
        int r;

        if (sched_getaffinity(0, sizeof(before), &before) < 0)
                return -errno;
        r = side_path(side, sizeof(side));
        if (r < 0)
                return r;
        check_devices(t, side);
        check_care(t, side);
        r = table(t, "side_by_side", side, "", false, &s);
        if (r < 0)
                return r;
        /* Not a table of failures, and nothing left out. */
        trial_check(t, "rows_that_say_something",
                    t->line->seconds > 0 ? s.rows >= 800 && s.good >= 400 && s.rows == s.table
                                         : s.rows >= 200 && s.good >= 150,
                    sums_json(&s), "of all rows 800, 400 good; of a section 200, 150 good");
        (void) snprintf(command, sizeof(command), "%s grep allowed_list /proc/self/status", confined);
        check(t, "confined", command, 0, "Mems_allowed_list:\t1,3\n");
        r = table(t, "side_by_side_in_a_cpuset", side, confined, true, &s);
        if (r >= 0 && t->line->seconds > 0)
                r = check_more(t, side, confined, until);
        if (r < 0)
                return r;
        trial_figures(t);
        /* Nobody is held here; but whoever starts commands keeps his own mask. */
        r = sched_getaffinity(0, sizeof(after), &after) < 0 ? -errno : 0;
        if (r < 0)
                return r;
        trial_check(t, "masks_equal_after", CPU_EQUAL(&before, &after) != 0, json_integer(CPU_COUNT(&after)),
                    "the CPUs of before");
        json_object_set_new(t->json, "masks_equal_after", json_boolean(CPU_EQUAL(&before, &after)));
        return 0;
}
