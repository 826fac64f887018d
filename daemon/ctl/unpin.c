/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenode unpin: ends what `homenode pin` has ordered. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/parse.h"
#include "busclient.h"
#include "pinlist.h"
#include "pintarget.h"
#include "verb.h"

struct arguments {
        const char *bus_address, *number, *id, *cgroup, *unit;
        bool all;
};

static void unrefp(sd_bus **bus) {
        *bus = sd_bus_flush_close_unref(*bus);
}

static int help(void) {
        printf("Usage: homenode unpin [OPTION...] PID|TID|ID\n"
               "       homenode unpin [OPTION...] --id ID|--cgroup PATH|--unit UNIT|--all\n\n"
               "Ends an override that was ordered by \"homenode pin\": every mask is as it was.\n\n"
               "Options:\n"
               "      --id ID            the one of this number: \"homenode pin --list\"\n"
               "      --cgroup PATH      the one for this cgroup\n"
               "      --unit UNIT        the one for the cgroup of this unit of systemd\n"
               "      --all              all of one's own; as root, everybody's\n"
               "      --bus-address ADDR the bus the daemon is on, if not the system's\n"
               "  -h, --help             this text\n");
        return hn_flush_output();
}

static int unpin(sd_bus *bus, const struct hn_pin *pin) {
        sd_bus_error error = SD_BUS_ERROR_NULL;
        char what[64];
        int r = hn_busclient_call(bus, HN_BUSCLIENT_CHANGE, &error, NULL, "Unpin", "t", pin->id);

        (void) snprintf(what, sizeof(what), "cannot end override %" PRIu64, pin->id);
        if (r < 0)
                r = hn_busclient_complain(r, &error, what);
        else {
                printf("Override %" PRIu64 " of %s %s is over.\n", pin->id, pin->kind, pin->target);
                r = 0;
        }
        sd_bus_error_free(&error);
        return r;
}

/* The first failure counts; the others are ended all the same. */
static int unpin_all(sd_bus *bus, const struct hn_pin_list *pins) {
        int first = 0;

        for (size_t i = 0; i < pins->n; i++) {
                int r = geteuid() == 0 || pins->pins[i].owner == geteuid() ? unpin(bus, &pins->pins[i]) : 0;

                first = first ? first : r;
        }
        return first;
}

static const struct hn_pin *find_cgroup(const struct hn_pin_list *pins, const char *path) {
        for (size_t i = 0; i < pins->n; i++)
                if (strcmp(pins->pins[i].kind, "cgroup") == 0 && strcmp(pins->pins[i].target, path) == 0)
                        return &pins->pins[i];
        return NULL;
}

static const struct hn_pin *find_id(const struct hn_pin_list *pins, uint64_t id) {
        for (size_t i = 0; i < pins->n; i++)
                if (pins->pins[i].id == id)
                        return &pins->pins[i];
        return NULL;
}

/* Returns 0 or the exit code for what is wrong, which has been said. */
static int find(const struct arguments *a, const struct hn_pin_list *pins, const struct hn_pin **ret) {
        _hn_cleanup_(hn_pin_target_deinit) struct hn_pin_target target = HN_PIN_TARGET_NULL;
        const char *name = a->number ? a->number : a->id;
        uint64_t number = 0;
        bool two = false;
        int r;

        if (name && hn_parse_u64(name, strlen(name), &number) < 0) {
                hn_complain("%s is neither a process id nor the number of an override", name);
                return EX_USAGE;
        }
        if (a->id)
                *ret = find_id(pins, number);
        else if (a->number)
                *ret = hn_pin_list_choose(pins, number, &two);
        else {
                r = hn_pin_target_find(NULL, a->cgroup, a->unit, &target);
                if (r != 0)
                        return r;
                name = target.name;
                *ret = find_cgroup(pins, name);
        }
        if (*ret)
                return 0;
        if (two)
                hn_complain(
                        "%s is both the number of an override and a process under another: write --id and "
                        "the number of the one that is meant",
                        name);
        else
                hn_complain("there is no override for %s: see \"homenode pin --list\"", name);
        return two ? EX_USAGE : EX_NOINPUT;
}

static int parse_arguments(int argc, char **argv, struct arguments *a) {
        static const struct option options[] = {
                { "id", required_argument, NULL, 'I' },
                { "cgroup", required_argument, NULL, 'G' },
                { "unit", required_argument, NULL, 'U' },
                { "all", no_argument, NULL, 'A' },
                { "bus-address", required_argument, NULL, 'B' },
                { "help", no_argument, NULL, 'h' },
                {},
        };
        int c, n;

        while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
                switch (c) {
                case 'I': a->id = optarg; break;
                case 'G': a->cgroup = optarg; break;
                case 'U': a->unit = optarg; break;
                case 'A': a->all = true; break;
                case 'B': a->bus_address = optarg; break;
                case 'h': return help();
                default: return hn_complain_usage("unpin");
                }
        if (optind < argc)
                a->number = argv[optind];
        n = argc - optind + (a->id != NULL) + (a->cgroup != NULL) + (a->unit != NULL) + a->all;
        if (n == 1)
                return -1;
        hn_complain("%s: name one process, thread or override, or one of --id, --cgroup, --unit and --all",
                    n == 0 ? "nothing to unpin" : "too much to unpin at once");
        return hn_complain_usage("unpin");
}

int hn_verb_unpin(int argc, char **argv) {
        _hn_cleanup_(hn_pin_list_deinit) struct hn_pin_list pins = HN_PIN_LIST_NULL;
        _hn_cleanup_(unrefp) sd_bus *bus = NULL;
        sd_bus_error error = SD_BUS_ERROR_NULL;
        const struct hn_pin *pin;
        struct arguments a = { .all = false };
        int r = parse_arguments(argc, argv, &a), k;

        if (r >= 0)
                return r;
        r = hn_busclient_open(a.bus_address, &bus);
        if (r >= 0)
                r = hn_pin_list_read(bus, &pins, &error);
        if (r < 0) {
                r = hn_busclient_complain(r, &error, "cannot end overrides");
                sd_bus_error_free(&error);
                return r;
        }
        if (a.all)
                r = unpin_all(bus, &pins);
        else {
                r = find(&a, &pins, &pin);
                if (r == 0)
                        r = unpin(bus, pin);
        }
        k = hn_flush_output();
        return r != 0 ? r : k;
}
