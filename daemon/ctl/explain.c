/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenode explain: why a task is where it is, by the daemon that decided it. */
#include <dirent.h>
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/escape.h"
#include "base/parse.h"
#include "busclient.h"
#include "sample/sysroot.h"
#include "statefile.h"
#include "table.h"
#include "verb.h"

struct arguments {
        const char *bus_address, *sysroot;
        bool json, threads;
};

static const struct hn_column node_columns[] = {
        { "NODE", "", true, true },     { "SHARE", "", true, true },    { "PRIVATE", "", true, true },
        { "SHARED", "", true, true },   { "CLASS", "", false, true },   { "BUSY", "", true, true },
        { "OTHERS", "", true, true },   { "CAPACITY", "", true, true }, { "RUNNABLE", "", true, true },
        { "FREE-MIB", "", true, true },
};

static int help(void) {
        printf("Usage: homenode explain [OPTION...] PID|TID...\n\n"
               "Says why a thread is where it is: what homenoded decided about it last and by\n"
               "which numbers, how the nodes stood, what it remembers, and what would change\n"
               "the answer.\n\n"
               "Options:\n"
               "  -T, --threads            all threads of these processes\n"
               "      --bus-address ADDR   where homenoded is, instead of the system bus\n"
               "      --sysroot DIR        with -T: read a captured tree of /sys and /proc\n"
               "  -J, --json               JSON: all that homenoded knows about it\n"
               "  -h, --help               this text\n");
        return hn_flush_output();
}

/* The daemon escapes what it says; whoever is on the bus given by --bus-address may not. */
static void print_text(const char *text) {
        char buf[1024];

        (void) hn_escape_text(text, sizeof(buf), buf, sizeof(buf));
        fputs(buf, stdout);
}

static void print_line(const char *before, const json_t *o, const char *key, const char *after) {
        if (*hn_state_text(o, key) == '\0')
                return;
        fputs(before, stdout);
        print_text(hn_state_text(o, key));
        fputs(after, stdout);
}

/* "-" for what is not known. */
static void set_figure(struct hn_table *t, size_t column, const json_t *o, const char *key, int64_t divisor) {
        json_t *v = json_object_get(o, key);

        if (json_is_integer(v))
                hn_table_set(t, column, NULL, "%" PRIi64, (int64_t) json_integer_value(v) / divisor);
}

static int print_nodes(const json_t *task) {
        _hn_cleanup_(hn_table_freep) struct hn_table *t = hn_table_new(node_columns,
                                                                       HN_ELEMENTS(node_columns));
        const struct hn_table_options options = { .json = false };
        const json_t *nodes = json_object_get(task, "nodes"), *o;
        size_t i;

        if (!t)
                return -ENOMEM;
        json_array_foreach (nodes, i, o) {
                hn_table_add_row(t);
                set_figure(t, 0, o, "node", 1);
                if (json_is_integer(json_object_get(o, "share_permille")))
                        hn_table_set(t, 1, NULL, "%.1f%%",
                                     (double) hn_state_number(o, "share_permille") / 10);
                set_figure(t, 2, o, "private", 1);
                set_figure(t, 3, o, "shared", 1);
                hn_table_set_text(t, 4, hn_state_text(o, "class"));
                hn_table_set(t, 5, NULL, "%.1f", (double) hn_state_number(o, "busy_millicores") / 1000);
                hn_table_set(t, 6, NULL, "%.1f", (double) hn_state_number(o, "others_millicores") / 1000);
                hn_table_set(t, 7, NULL, "%.1f", (double) hn_state_number(o, "capacity_millicores") / 1000);
                set_figure(t, 8, o, "runnable", 1);
                set_figure(t, 9, o, "free_bytes", 1 << 20);
        }
        return hn_table_print(t, stdout, &options);
}

static void print_memory(const json_t *m) {
        if (json_is_integer(json_object_get(m, "held_on"))) {
                printf("It is held on node %" PRIi64 " for %.1f s", hn_state_number(m, "held_on"),
                       (double) hn_state_number(m, "held_for_usec") / 1e6);
                print_line("; before, it was allowed on CPUs ", m, "mask_before", "");
                fputs(".\n", stdout);
        }
        if (json_is_integer(json_object_get(m, "last_move_usec_ago"))) {
                printf("It was moved %.1f s ago", (double) hn_state_number(m, "last_move_usec_ago") / 1e6);
                print_line(" (seen since: ", m, "last_move_verdict", ")");
                printf(", came back to a node it had just left %" PRIi64 " times",
                       hn_state_number(m, "reversals"));
                if (hn_state_number(m, "rests_for_msec") > 0)
                        printf(", and rests for %.1f s more",
                               (double) hn_state_number(m, "rests_for_msec") / 1000);
                fputs(".\n", stdout);
        }
}

static void print_override(const json_t *o) {
        if (!json_is_object(o))
                return;
        printf("User %" PRIi64 " holds it by hand (pin %" PRIi64 ")", hn_state_number(o, "owner"),
               hn_state_number(o, "id"));
        print_line(" on nodes ", o, "nodes", "");
        print_line(": ", o, "why", "");
        fputs(".\n", stdout);
}

static void print_history(const json_t *history) {
        const json_t *o;
        size_t i;

        json_array_foreach (history, i, o) {
                time_t seconds = (time_t) (hn_state_number(o, "time_usec") / (int64_t) HN_USEC_PER_SEC);
                struct tm tm;
                char when[32];

                if (!localtime_r(&seconds, &tm) || strftime(when, sizeof(when), "%H:%M:%S", &tm) == 0)
                        when[0] = '\0';
                printf("%s  ", when);
                print_text(hn_state_text(o, "text"));
                putchar('\n');
        }
}

static int print_task(const json_t *o) {
        const json_t *d = json_object_get(o, "decision");

        print_text(hn_state_text(o, "comm"));
        printf(" (%" PRIi64 ")", hn_state_number(o, "tid"));
        if (hn_state_number(o, "tid") != hn_state_number(o, "tgid"))
                printf(" of process %" PRIi64, hn_state_number(o, "tgid"));
        print_line(", cgroup ", o, "cgroup", "");
        print_line(", rule ", o, "rule", "");
        print_line(" (", o, "mode", ")");
        putchar('\n');
        print_override(json_object_get(o, "override"));
        if (!json_is_true(json_object_get(o, "decided"))) {
                print_line("Nothing is decided about it: ", o, "why", ".\n");
                print_line("What would change that: ", o, "would_change", ".\n");
                return 0;
        }
        print_line("", d, "text", ".\n");
        print_line("What would change that: ", d, "would_change", ".\n");
        print_memory(json_object_get(o, "memory"));
        print_history(json_object_get(o, "history"));
        return print_nodes(o);
}

/* Returns 0 and an object, or the exit code for what went wrong, which has been said. */
static int ask(sd_bus *bus, unsigned tid, json_t **ret) {
        _hn_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        _hn_cleanup_(sd_bus_error_free) sd_bus_error error = SD_BUS_ERROR_NULL;
        const char *text;
        int r;

        r = hn_busclient_call(bus, HN_BUSCLIENT_LOOK, &error, &reply, "Explain", "u", (uint32_t) tid);
        if (r < 0)
                return hn_busclient_complain(r, &error, NULL);
        r = sd_bus_message_read(reply, "s", &text);
        *ret = r < 0 ? NULL : json_loads(text, 0, NULL);
        if (json_is_object(*ret))
                return 0;
        json_decref(*ret);
        hn_complain("homenoded gave an answer that is none: is it of the same version?");
        return EX_PROTOCOL;
}

/* Answers in the order of the arguments; the first exit code that is not 0 is the verb's, the others go on.
 */
struct answers {
        sd_bus *bus;
        json_t *tasks;
        int code;
};

static void answers_deinit(struct answers *a) {
        json_decref(a->tasks);
        sd_bus_close_unref(a->bus);
}

static void add(struct answers *a, unsigned tid) {
        json_t *o = NULL;
        int r = ask(a->bus, tid, &o);

        if (r == 0 && json_array_append_new(a->tasks, o) < 0)
                r = EX_OSERR;
        if (a->code == 0)
                a->code = r;
}

static int add_threads(struct answers *a, const char *sysroot, unsigned pid) {
        _hn_cleanup_(hn_sysroot_close) struct hn_sysroot root = HN_SYSROOT_NULL;
        DIR *dir;
        int r = hn_sysroot_open(sysroot, &root);

        if (r >= 0)
                r = hn_opendir_at(root.fd, &dir, "proc/%u/task", pid);
        if (r < 0)
                return hn_complain_errno(r, "there are no threads of a process %u", pid);
        for (const struct dirent *de; a->code != EX_UNAVAILABLE && (de = readdir(dir));) {
                unsigned tid;

                if (hn_parse_unsigned(de->d_name, strlen(de->d_name), &tid) == 0)
                        add(a, tid);
        }
        (void) closedir(dir);
        return 0;
}

static int print_answers(const struct answers *a, bool json) {
        const json_t *o;
        size_t i;
        int r = 0;

        if (json) {
                json_t *all = json_pack("{s:O}", "tasks", a->tasks);

                r = hn_json_print(all, stdout);
                json_decref(all);
                return r;
        }
        json_array_foreach (a->tasks, i, o) {
                if (i > 0)
                        putchar('\n');
                r = print_task(o);
                if (r < 0)
                        break;
        }
        return r;
}

/* Returns -1 to go on, else the exit code. */
static int parse_arguments(int argc, char **argv, struct arguments *a) {
        static const struct option options[] = {
                { "threads", no_argument, NULL, 'T' },
                { "bus-address", required_argument, NULL, 'B' }, /* as homenoded's own */
                { "sysroot", required_argument, NULL, 'S' },
                { "json", no_argument, NULL, 'J' },
                { "help", no_argument, NULL, 'h' },
                {},
        };
        int c;

        while ((c = getopt_long(argc, argv, "hJT", options, NULL)) >= 0)
                switch (c) {
                case 'T': a->threads = true; break;
                case 'B': a->bus_address = optarg; break;
                case 'S': a->sysroot = optarg; break;
                case 'J': a->json = true; break;
                case 'h': return help();
                default: return hn_complain_usage("explain");
                }
        if (optind < argc)
                return -1;
        hn_complain("explain needs a number of a process or thread");
        return hn_complain_usage("explain");
}

int hn_verb_explain(int argc, char **argv) {
        _hn_cleanup_(answers_deinit) struct answers answers = { .code = 0 };
        struct arguments a = { .json = false };
        int r;

        r = parse_arguments(argc, argv, &a);
        if (r >= 0)
                return r;
        for (int i = optind; i < argc; i++) {
                unsigned v;

                if (hn_parse_unsigned(argv[i], strlen(argv[i]), &v) < 0 || v == 0 || v > INT32_MAX) {
                        hn_complain("%s is no number of a process or thread", argv[i]);
                        return hn_complain_usage("explain");
                }
        }
        answers.tasks = json_array();
        r = hn_busclient_open(a.bus_address, &answers.bus);
        if (r < 0)
                return hn_busclient_complain_open(r, a.bus_address);
        for (int i = optind; i < argc && answers.code != EX_UNAVAILABLE; i++) {
                unsigned v = (unsigned) strtoul(argv[i], NULL, 10);

                if (!a.threads)
                        add(&answers, v);
                else {
                        r = add_threads(&answers, a.sysroot, v);
                        if (r != 0 && answers.code == 0)
                                answers.code = r;
                }
        }
        if (answers.code == EX_UNAVAILABLE) {
                hn_complain(
                        "only the daemon knows why: \"homenode ps -T %s\" shows where it runs and where its "
                        "memory is",
                        argv[optind]);
                return answers.code;
        }
        r = print_answers(&answers, a.json);
        if (r < 0)
                return hn_complain_errno(r, "cannot print");
        r = hn_flush_output();
        return r == EX_OK ? answers.code : r;
}
