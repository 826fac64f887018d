/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenode status: what the daemon watches, what it did and did not, and why; by its state file. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <time.h>

#include "base/escape.h"
#include "policy/reason.h"
#include "sample/conflicts.h"
#include "sample/machine.h"
#include "statefile.h"
#include "table.h"
#include "verb.h"

/* Moves and refusals shown to people; -J has all that the daemon keeps. */
#define LAST_SHOWN 10u

enum {
        COLUMN_CGROUP,
        COLUMN_RULE,
        COLUMN_MODE,
        COLUMN_TASKS,
        COLUMN_MANAGED,
        COLUMN_SIGNAL,
        COLUMN_NOTE,
};

static const struct hn_column scope_columns[] = {
        [COLUMN_CGROUP] = { "CGROUP", "an opted-in cgroup with tasks in it", false, true },
        [COLUMN_RULE] = { "RULE", "rule that takes it, or processes of it", false, true },
        [COLUMN_MODE] = { "MODE", "observe, advise or manage", false, true },
        [COLUMN_TASKS] = { "TASKS", "threads that the rule takes", true, true },
        [COLUMN_MANAGED] = { "MANAGED", "threads that are held on a node", true, true },
        [COLUMN_SIGNAL] = { "SIGNAL", "faults, residency or none", false, true },
        [COLUMN_NOTE] = { "NOTE", "what to know about it", false, true },
};

static const struct hn_column event_columns[] = {
        { "TIME", "", false, true }, { "TID", "", true, true },     { "COMM", "", false, true },
        { "ACT", "", false, true },  { "REASON", "", false, true }, { "WHAT", "", false, true },
};

static const struct hn_column override_columns[] = {
        { "ID", "", true, true },     { "KIND", "", false, true }, { "TARGET", "", false, true },
        { "NODES", "", false, true }, { "OWNER", "", true, true }, { "EXPIRES", "", false, true },
        { "WHY", "", false, true },
};

struct report {
        struct hn_sysroot root;
        struct hn_topology topo;
        json_t *state; /* NULL: there is none */
        json_t *conflicts;
        enum hn_daemon_state daemon;
        uint64_t now; /* CLOCK_REALTIME, microseconds */
};

static void report_deinit(struct report *r) {
        json_decref(r->state);
        json_decref(r->conflicts);
        hn_topology_deinit(&r->topo);
        hn_sysroot_close(&r->root);
}

static int help(void) {
        printf("Usage: homenode status [OPTION...]\n\n"
               "Shows whether homenoded runs, what it watches, what it did and did not, and why.\n\n"
               "Options:\n"
               "      --run-dir DIR      where the daemon keeps its state (/run/homenode)\n"
               "      --sysroot DIR      read a captured tree of /sys and /proc\n"
               "  -h, --help             this text\n");
        hn_table_help(scope_columns, HN_ELEMENTS(scope_columns), stdout);
        printf("\nWith -o, -n or -r only the table of opted-in cgroups is shown. -J without -o is\n"
               "all that the daemon says, and what was found beside it.\n");
        return hn_flush_output();
}

/* What to do next, where there is something to do. */
static const char *advice(const struct report *r) {
        switch (r->daemon) {
        case HN_DAEMON_RUNNING:
                if (json_array_size(json_object_get(r->state, "scopes")) > 0)
                        return NULL;
                return "No cgroup is opted in. Write a [Rule NAME] into /etc/homenode/homenode.conf.d/ "
                       "(homenode.conf(5)), then run \"systemctl reload homenoded\".";
        case HN_DAEMON_STALE:
                return "It hangs, or is stopped by a signal. Look at \"journalctl -u homenoded\"; "
                       "\"systemctl restart "
                       "homenoded\" puts all masks back first.";
        case HN_DAEMON_STOPPED:
        case HN_DAEMON_NEVER:
                return "Start it with \"systemctl start homenoded\". \"homenode ps\" and \"homenode "
                       "nodes\" work "
                       "without it.";
        case HN_DAEMON_DIED:
                return "Look at \"journalctl -u homenoded\". The next start puts all masks back, and so does "
                       "\"homenoded --restore\".";
        case _HN_DAEMON_STATE_MAX: break;
        }
        return NULL;
}

static double seconds_ago(const struct report *r) {
        return (double) hn_usec_sub(r->now,
                                    (uint64_t) HN_MAX(hn_state_number(r->state, "time_usec"), (int64_t) 0)) /
               (double) HN_USEC_PER_SEC;
}

/* The daemon escapes what it writes, but this file may be anybody's: --run-dir says which. */
static void print_text(const char *text) {
        char buf[1024];

        (void) hn_escape_text(text, sizeof(buf), buf, sizeof(buf));
        fputs(buf, stdout);
}

/* "2026-11-30 21:24:35", local time; "-" for none. Returns `buf`. */
static const char *format_time(int64_t usec, char *buf, size_t size) {
        time_t seconds = (time_t) (usec / (int64_t) HN_USEC_PER_SEC);
        struct tm tm;

        if (usec <= 0 || !localtime_r(&seconds, &tm) || strftime(buf, size, "%Y-%m-%d %H:%M:%S", &tm) == 0)
                (void) snprintf(buf, size, "-");
        return buf;
}

static void print_daemon(const struct report *r) {
        const json_t *s = r->state;
        char when[32];

        switch (r->daemon) {
        case HN_DAEMON_RUNNING:
                printf("homenoded runs: process %" PRIi64 ", mode ", hn_state_number(s, "pid"));
                print_text(hn_state_text(s, "mode"));
                printf(", last word %.1f s ago.\n", seconds_ago(r));
                break;
        case HN_DAEMON_STALE:
                printf("homenoded is there (process %" PRIi64 ") but has said nothing for %.0f s.\n",
                       hn_state_number(s, "pid"), seconds_ago(r));
                break;
        case HN_DAEMON_STOPPED:
                printf("homenoded does not run; it stopped in order on %s.\n"
                       "What follows is its last word.\n",
                       format_time(hn_state_number(s, "time_usec"), when, sizeof(when)));
                break;
        case HN_DAEMON_DIED:
                printf("homenoded does not run; it died after its last word on %s, which follows.\n",
                       format_time(hn_state_number(s, "time_usec"), when, sizeof(when)));
                break;
        case HN_DAEMON_NEVER:
                printf("homenoded does not run, and has not since this machine booted.\n");
                break;
        case _HN_DAEMON_STATE_MAX: break;
        }
        if (advice(r))
                printf("%s\n", advice(r));
}

static void print_figures(const json_t *s) {
        const json_t *budget = json_object_get(s, "budget");
        int64_t permille = hn_state_number(budget, "cpu_permille");

        printf("\nNodes %" PRIi64 ", signal ", hn_state_number(s, "nodes"));
        print_text(hn_state_text(s, "signal"));
        printf(". Cost: %" PRIi64 ".%" PRIi64 " %% of a CPU, %.1f ms in the last sweep.\n", permille / 10,
               permille % 10, (double) hn_state_number(budget, "sweep_us") / 1000);
        printf("Moves %" PRIi64 " (%" PRIi64 " seen to help, %" PRIi64
               " undone as in vain), pages moved %" PRIi64 ", masks restored %" PRIi64 ".\n",
               hn_state_number(s, "moves"), hn_state_number(s, "moves_helped"),
               hn_state_number(s, "moves_in_vain"), hn_state_number(s, "pages_moved"),
               hn_state_number(s, "restored"));
}

static void fill_scopes(struct hn_table *t, const json_t *scopes) {
        const json_t *o;
        size_t i;

        json_array_foreach (scopes, i, o) {
                int64_t tasks = hn_state_number(o, "tasks"), managed = hn_state_number(o, "managed");

                hn_table_add_row(t);
                hn_table_set_text(t, COLUMN_CGROUP, hn_state_text(o, "path"));
                hn_table_set_text(t, COLUMN_RULE, hn_state_text(o, "rule"));
                hn_table_set_text(t, COLUMN_MODE, hn_state_text(o, "mode"));
                hn_table_set(t, COLUMN_TASKS, json_integer(tasks), "%" PRIi64, tasks);
                hn_table_set(t, COLUMN_MANAGED, json_integer(managed), "%" PRIi64, managed);
                hn_table_set_text(t, COLUMN_SIGNAL, hn_state_text(o, "signal"));
                hn_table_set_text(t, COLUMN_NOTE, hn_state_text(o, "note"));
        }
}

static int print_scopes(struct hn_table *t, const json_t *s) {
        const struct hn_table_options options = { .json = false };
        const json_t *scopes = json_object_get(s, "scopes");

        if (json_array_size(scopes) == 0)
                return 0;
        fill_scopes(t, scopes);
        printf("\nOpted-in cgroups\n");
        return hn_table_print(t, stdout, &options);
}

/* The owner is a number here; "homenode pin --list" has the name. */
static int print_overrides(const json_t *s) {
        _hn_cleanup_(hn_table_freep) struct hn_table *t = hn_table_new(override_columns,
                                                                       HN_ELEMENTS(override_columns));
        const struct hn_table_options options = { .json = false };
        const json_t *overrides = json_object_get(s, "overrides"), *o;
        char when[32];
        size_t i;

        if (json_array_size(overrides) == 0)
                return 0;
        if (!t)
                return -ENOMEM;
        json_array_foreach (overrides, i, o) {
                hn_table_add_row(t);
                hn_table_set(t, 0, NULL, "%" PRIi64, hn_state_number(o, "id"));
                hn_table_set_text(t, 1, hn_state_text(o, "kind"));
                if (json_object_get(o, "cgroup"))
                        hn_table_set_text(t, 2, hn_state_text(o, "cgroup"));
                else
                        hn_table_set(t, 2, NULL, "%" PRIi64, hn_state_number(o, "pid"));
                hn_table_set_text(t, 3, hn_state_text(o, "nodes"));
                hn_table_set(t, 4, NULL, "%" PRIi64, hn_state_number(o, "owner"));
                hn_table_set_text(t, 5, format_time(hn_state_number(o, "expires"), when, sizeof(when)));
                hn_table_set_text(t, 6, hn_state_text(o, "why"));
        }
        printf("\nOverrides by hand\n");
        return hn_table_print(t, stdout, &options);
}

/* The table alone, for whoever reads by program. */
static int print_table(struct hn_table *t, const struct report *r, const struct hn_table_options *options) {
        json_t *rows, *o;
        int k;

        fill_scopes(t, json_object_get(r->state, "scopes"));
        if (!options->json)
                return hn_table_print(t, stdout, options);
        k = hn_table_to_json(t, &rows);
        if (k < 0)
                return k;
        o = json_pack("{s:o}", "scopes", rows);
        k = hn_json_print(o, stdout);
        json_decref(o);
        return k;
}

static int print_last(const json_t *s) {
        _hn_cleanup_(hn_table_freep) struct hn_table *t = hn_table_new(event_columns,
                                                                       HN_ELEMENTS(event_columns));
        const struct hn_table_options options = { .json = false };
        const json_t *last = json_object_get(s, "last");
        size_t n = json_array_size(last);
        char when[32];

        if (n == 0)
                return 0;
        if (!t)
                return -ENOMEM;
        for (size_t i = n > LAST_SHOWN ? n - LAST_SHOWN : 0; i < n; i++) {
                const json_t *o = json_array_get(last, i);
                const char *clock;

                hn_table_add_row(t);
                (void) format_time(hn_state_number(o, "time_usec"), when, sizeof(when));
                clock = strchr(when, ' ');
                hn_table_set_text(t, 0, clock ? clock + 1 : when);
                hn_table_set(t, 1, NULL, "%" PRIi64, hn_state_number(o, "tid"));
                hn_table_set_text(t, 2, hn_state_text(o, "comm"));
                hn_table_set_text(t, 3, hn_state_text(o, "act"));
                hn_table_set_text(t, 4, hn_state_text(o, "reason"));
                hn_table_set_text(t, 5, hn_state_text(o, "text"));
        }
        printf("\nLast moves and refusals\n");
        return hn_table_print(t, stdout, &options);
}

static void print_refusals(const json_t *s) {
        json_t *refusals = json_object_get(s, "refusals"), *count;
        const char *name;

        if (json_object_size(refusals) == 0)
                return;
        printf("\nRefusals so far\n");
        json_object_foreach (refusals, name, count) {
                enum hn_reason reason = hn_reason_from_string(name);

                printf("%8" PRIi64 "  ", (int64_t) json_integer_value(count));
                print_text(name);
                printf("%s%s\n", reason < 0 ? "" : ": ", reason < 0 ? "" : hn_reason_to_sentence(reason));
        }
}

/* Texts, or the member `key` of objects. */
static void print_texts(const char *heading, const json_t *list, const char *key) {
        size_t n = json_array_size(list);

        for (size_t i = 0; i < n; i++) {
                const json_t *o = json_array_get(list, i);
                const char *text = key ? hn_state_text(o, key) : json_string_value(o);

                if (i == 0)
                        printf("\n%s\n", heading);
                fputs("- ", stdout);
                print_text(text ? text : "");
                putchar('\n');
        }
}

static int print_report(struct hn_table *t, const struct report *r) {
        int k;

        print_daemon(r);
        if (r->state) {
                print_figures(r->state);
                k = print_scopes(t, r->state);
                if (k == 0)
                        k = print_overrides(r->state);
                if (k == 0)
                        k = print_last(r->state);
                if (k < 0)
                        return k;
                print_refusals(r->state);
                print_texts("Notes", json_object_get(r->state, "notes"), NULL);
        }
        print_texts("To know about this machine", r->conflicts, "text");
        return 0;
}

static int print_json(const struct report *r) {
        json_t *o = json_pack("{s:s, s:O?, s:O}", "daemon", hn_daemon_state_to_string(r->daemon), "state",
                              r->state, "conflicts", r->conflicts);
        const char *next = advice(r);
        int k;

        if (json_object_set_new(o, "next", next ? json_string(next) : json_null()) < 0) {
                json_decref(o);
                return -ENOMEM;
        }
        k = hn_json_print(o, stdout);
        json_decref(o);
        return k;
}

/* An array of {"kind", "text"}. */
static int find_conflicts(struct report *r) {
        _hn_cleanup_(hn_conflicts_deinit) struct hn_conflicts found = HN_CONFLICTS_NULL;
        int k = hn_conflicts_find(&r->root, &r->topo, &found), failed = 0;

        if (k < 0)
                return k;
        r->conflicts = json_array();
        for (size_t i = 0; i < found.n; i++)
                failed |= json_array_append_new(
                        r->conflicts,
                        json_pack("{s:s, s:s}", "kind", found.items[i].kind, "text", found.items[i].text));
        return r->conflicts && failed == 0 ? 0 : -ENOMEM;
}

/* Returns 0 or the exit code for what went wrong, which has been said. */
static int look(struct report *r, const char *run_dir, const char *sysroot) {
        struct timespec now;
        int k;

        k = hn_sysroot_open(sysroot, &r->root);
        if (k < 0)
                return hn_complain_errno(k, "cannot open %s", sysroot ? sysroot : "/");
        k = hn_machine_read(&r->root, NULL, &r->topo);
        if (k == 0)
                k = find_conflicts(r);
        if (k < 0)
                return hn_complain_errno(k, "cannot read the machine");
        k = hn_statefile_read(run_dir, &r->state);
        if (k == -EBADMSG) {
                hn_complain("%s/state.json is not what homenoded writes; is --run-dir that of a daemon?",
                            run_dir);
                return EX_DATAERR;
        }
        if (k < 0 && !hn_is_gone(k))
                return hn_complain_errno(k, "cannot read %s/state.json", run_dir);
        if (clock_gettime(CLOCK_REALTIME, &now) < 0)
                return hn_complain_errno(-errno, "cannot tell the time");
        r->now = (uint64_t) now.tv_sec * HN_USEC_PER_SEC + (uint64_t) now.tv_nsec / 1000;
        r->daemon = hn_statefile_judge(r->state, r->now,
                                       hn_statefile_is_daemon(&r->root, hn_state_number(r->state, "pid")));
        return 0;
}

int hn_verb_status(int argc, char **argv) {
        static const struct option options[] = {
                { "help", no_argument, NULL, 'h' },
                { "run-dir", required_argument, NULL, 'D' },
                { "sysroot", required_argument, NULL, 'S' },
                HN_TABLE_LONG_OPTIONS,
                {},
        };
        _hn_cleanup_(hn_table_freep) struct hn_table *table = hn_table_new(scope_columns,
                                                                           HN_ELEMENTS(scope_columns));
        _hn_cleanup_(report_deinit) struct report report = { .root = HN_SYSROOT_NULL };
        const char *run_dir = "/run/homenode", *sysroot = NULL;
        struct hn_table_options a = { .json = false };
        int c, r;

        while ((c = getopt_long(argc, argv, "h" HN_TABLE_OPTSTRING, options, NULL)) >= 0) {
                if (hn_table_option(&a, c, optarg))
                        continue;
                switch (c) {
                case 'h': return help();
                case 'D': run_dir = optarg; break;
                case 'S': sysroot = optarg; break;
                default: return hn_complain_usage("status");
                }
        }
        if (optind < argc) {
                hn_complain("status takes no argument, not \"%s\"", argv[optind]);
                return hn_complain_usage("status");
        }
        r = hn_table_choose(table, &a, "status");
        if (r == 0)
                r = look(&report, run_dir, sysroot);
        if (r != 0)
                return r;
        if (a.columns || a.noheadings || a.raw)
                r = print_table(table, &report, &a);
        else
                r = a.json ? print_json(&report) : print_report(table, &report);
        if (r < 0)
                return hn_complain_errno(r, "cannot print the status");
        r = hn_flush_output();
        return r == EX_OK && report.daemon != HN_DAEMON_RUNNING ? EX_UNAVAILABLE : r;
}
