/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenode pin: puts something that runs on nodes, by hand. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/escape.h"
#include "base/macro.h"
#include "base/timespan.h"
#include "busclient.h"
#include "pinlist.h"
#include "pinonce.h"
#include "pintarget.h"
#include "verb.h"

struct arguments {
        struct hn_table_options table;
        const char *bus_address;
        const char *number, *cgroup, *unit;
        const char *nodes_text, *cpus_text, *why;
        struct hn_mask nodes, cpus;
        uint64_t seconds; /* 0: for good */
        bool pages, list, timed;
};

static void unrefp(sd_bus **bus) {
        *bus = sd_bus_flush_close_unref(*bus);
}

static int help(void) {
        printf("Usage: homenode pin [OPTION...] PID|TID -N NODES\n"
               "       homenode pin [OPTION...] --cgroup PATH|--unit UNIT -N NODES\n"
               "       homenode pin --list\n\n"
               "Puts something that runs on nodes, by hand: an override. It outranks rules, new\n"
               "threads and children follow, and every mask comes back at its end.\n\n"
               "Options:\n"
               "  -N, --nodes NODES      these nodes: 0-1,4\n"
               "  -C, --cpus CPUS        only these of their CPUs\n"
               "      --pages            bring the memory of the process too\n"
               "      --for TIME         end after this time: 30min, 2h, 1d; else it has no end\n"
               "      --why TEXT         say why, for others and for the journal\n"
               "      --cgroup PATH      a cgroup and all below it\n"
               "      --unit UNIT        the cgroup of this unit of systemd\n"
               "      --list             show what was put where, by whom and until when\n"
               "      --bus-address ADDR the bus the daemon is on, if not the system's\n"
               "  -h, --help             this text\n");
        hn_table_help(hn_pin_columns, _HN_PIN_COLUMN_MAX, stdout);
        return hn_flush_output();
}

/* what the daemon keeps */

static int print_list(const struct arguments *a, struct hn_table *t) {
        json_t *rows, *object;
        int r;

        if (!a->table.json)
                r = hn_table_print(t, stdout, &a->table);
        else {
                r = hn_table_to_json(t, &rows);
                if (r == 0) {
                        object = json_pack("{s:o}", "overrides", rows);
                        r = hn_json_print(object, stdout);
                        json_decref(object);
                }
        }
        return r < 0 ? hn_complain_errno(r, "cannot print") : hn_flush_output();
}

static int list(const struct arguments *a) {
        _hn_cleanup_(hn_table_freep) struct hn_table *t = hn_table_new(hn_pin_columns, _HN_PIN_COLUMN_MAX);
        _hn_cleanup_(hn_pin_list_deinit) struct hn_pin_list pins = HN_PIN_LIST_NULL;
        _hn_cleanup_(unrefp) sd_bus *bus = NULL;
        sd_bus_error error = SD_BUS_ERROR_NULL;
        const char *unknown;
        int r;

        r = t ? hn_table_select(t, a->table.columns, &unknown) : -ENOMEM;
        if (r == -ENOMEM)
                return hn_complain_errno(r, "cannot make a table");
        if (r < 0) {
                hn_complain("there is no column \"%.*s\"", (int) strcspn(unknown, ","), unknown);
                return hn_complain_usage("pin");
        }
        r = hn_busclient_open(a->bus_address, &bus);
        if (r >= 0)
                r = hn_pin_list_read(bus, &pins, &error);
        if (r < 0) {
                r = hn_busclient_complain(r, &error, "cannot list overrides");
                sd_bus_error_free(&error);
                return r;
        }
        hn_pin_add_rows(t, &pins);
        return print_list(a, t);
}

/* the order */

static void tell(const struct arguments *a, const struct hn_pin_target *target, uint64_t id) {
        printf("Override %" PRIu64 ": %s %s is put on node%s %s%s", id, target->kind, target->name,
               hn_mask_count(&a->nodes) == 1 ? "" : "s", a->nodes_text, a->pages ? ", with its memory" : "");
        if (a->seconds == 0)
                printf(" until \"homenode unpin --id %" PRIu64 "\".\n", id);
        else
                printf(" for %" PRIu64 " s, or until \"homenode unpin --id %" PRIu64 "\".\n", a->seconds, id);
}

/* Returns an exit code, or -1 if no daemon is there. */
static int ask_daemon(const struct arguments *a, const struct hn_pin_target *target) {
        char nodes[HN_MASK_LIST_MAX], cpus[HN_MASK_LIST_MAX], name[65], what[128];
        _hn_cleanup_(unrefp) sd_bus *bus = NULL;
        sd_bus_error error = SD_BUS_ERROR_NULL;
        sd_bus_message *reply = NULL;
        uint64_t id = 0;
        int r;

        if (hn_mask_print_list(&a->nodes, nodes, sizeof(nodes)) < 0 ||
            hn_mask_print_list(&a->cpus, cpus, sizeof(cpus)) < 0)
                return hn_complain_errno(-ENOBUFS, "cannot write down the CPUs");
        (void) hn_escape_text(target->name, strlen(target->name), name, sizeof(name));
        (void) snprintf(what, sizeof(what), "cannot pin %s %s", target->kind, name);
        r = hn_busclient_open(a->bus_address, &bus);
        if (r >= 0)
                r = hn_busclient_call(bus, HN_BUSCLIENT_CHANGE, &error, &reply, "Pin", "ssssbts",
                                      target->kind, target->name, nodes, cpus, (int) a->pages, a->seconds,
                                      a->why);
        if (r >= 0)
                r = sd_bus_message_read(reply, "t", &id);
        if (r >= 0)
                tell(a, target, id);
        /* Where a bus was named, that one has to answer. */
        if (r < 0)
                r = hn_busclient_is_absent(r, &error) && !a->bus_address
                            ? -1
                            : hn_busclient_complain(r, &error, what);
        else
                r = hn_flush_output();
        sd_bus_error_free(&error);
        sd_bus_message_unref(reply);
        return r;
}

static int pin_without_daemon(const struct arguments *a, const struct hn_pin_target *target) {
        int r;

        r = hn_pin_once(target, &a->nodes, &a->cpus, stdout);
        if (r == EX_OK && a->pages)
                printf("Its memory was not brought: without the daemon migratepages(8) moves it.\n");
        return r == EX_OK ? hn_flush_output() : r;
}

/* Parsing */

static bool parse_list(const char *option, const char *text, struct hn_mask *ret) {
        if (hn_mask_parse_list(text, strlen(text), ret) == 0 && !hn_mask_empty(ret))
                return true;
        hn_complain("%s %s: expected a list such as 0-3,8", option, text);
        return false;
}

/* Whole seconds, rounded up: the bus has no smaller ones. */
static bool parse_time(const char *text, struct arguments *a) {
        hn_usec_t usec;

        a->timed = true;
        if (hn_timespan_parse(text, strlen(text), &usec) < 0 || usec == 0) {
                hn_complain("--for %s: expected a time such as 30min, 2h or 1d 12h", text);
                return false;
        }
        a->seconds = usec == HN_USEC_INFINITY ? 0 : (usec - 1) / HN_USEC_PER_SEC + 1;
        return true;
}

/* Returns -1 to go on, else the exit code. */
static int check_arguments(struct arguments *a, int n_numbers) {
        int n_targets = n_numbers + (a->cgroup != NULL) + (a->unit != NULL);

        if (a->list) {
                if (n_targets > 0 || a->nodes_text || a->cpus_text || a->pages || a->timed ||
                    a->why[0] != '\0') {
                        hn_complain("--list shows all there is, and takes nothing to pin");
                        return hn_complain_usage("pin");
                }
                return -1;
        }
        if (n_targets != 1) {
                hn_complain("%s: name one process or thread, or one of --cgroup and --unit",
                            n_targets == 0 ? "nothing to pin" : "too much to pin at once");
                return hn_complain_usage("pin");
        }
        if (!a->nodes_text) {
                hn_complain("-N is missing: name the nodes; \"homenode nodes\" shows them");
                return hn_complain_usage("pin");
        }
        if (!parse_list("-N", a->nodes_text, &a->nodes) ||
            (a->cpus_text && !parse_list("-C", a->cpus_text, &a->cpus)))
                return EX_USAGE;
        return -1;
}

static int parse_arguments(int argc, char **argv, struct arguments *a) {
        static const struct option options[] = {
                { "nodes", required_argument, NULL, 'N' },
                { "cpus", required_argument, NULL, 'C' },
                { "pages", no_argument, NULL, 'P' },
                { "for", required_argument, NULL, 'F' },
                { "why", required_argument, NULL, 'W' },
                { "cgroup", required_argument, NULL, 'G' },
                { "unit", required_argument, NULL, 'U' },
                { "list", no_argument, NULL, 'L' },
                { "bus-address", required_argument, NULL, 'B' },
                { "help", no_argument, NULL, 'h' },
                HN_TABLE_LONG_OPTIONS,
                {},
        };
        int c;

        while ((c = getopt_long(argc, argv, "hN:C:" HN_TABLE_OPTSTRING, options, NULL)) >= 0)
                switch (c) {
                case 'N': a->nodes_text = optarg; break;
                case 'C': a->cpus_text = optarg; break;
                case 'P': a->pages = true; break;
                case 'F':
                        if (!parse_time(optarg, a))
                                return EX_USAGE;
                        break;
                case 'W': a->why = optarg; break;
                case 'G': a->cgroup = optarg; break;
                case 'U': a->unit = optarg; break;
                case 'L': a->list = true; break;
                case 'B': a->bus_address = optarg; break;
                case 'h': return help();
                default:
                        if (!hn_table_option(&a->table, c, optarg))
                                return hn_complain_usage("pin");
                }
        if (optind < argc)
                a->number = argv[optind];
        return check_arguments(a, argc - optind);
}

int hn_verb_pin(int argc, char **argv) {
        _hn_cleanup_(hn_pin_target_deinit) struct hn_pin_target target = HN_PIN_TARGET_NULL;
        struct arguments a = { .why = "" };
        int r = parse_arguments(argc, argv, &a);

        if (r >= 0)
                return r;
        if (a.list)
                return list(&a);
        r = hn_pin_target_find(a.number, a.cgroup, a.unit, &target);
        if (r != 0)
                return r;
        r = ask_daemon(&a, &target);
        return r >= 0 ? r : pin_without_daemon(&a, &target);
}
