/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "daemon/options.h"

static const char help[] =
        "Usage: homenoded [OPTION...]\n"
        "Keeps running programs next to their memory on machines with several NUMA nodes.\n"
        "\n"
        "  --config FILE        read this file alone, not homenode.conf and its drop-ins\n"
        "  --mode MODE          observe, advise or manage: no rule goes beyond it\n"
        "  --all                every cgroup, as if a last rule \"*\" said Mode=advise\n"
        "  --for SECONDS        leave after this time\n"
        "  --run-dir DIR        where ledger and state.json are kept (" HN_RUN_DIR ")\n"
        "  --bus-address ADDR   the bus to be on, or \"none\", instead of the system bus\n"
        "  --sysroot DIR        look at a captured machine; nothing is ever changed then\n"
        "  --restore            give back every mask that the ledger has, and leave\n"
        "  --help               show this\n"
        "  --version            show the version\n"
        "\n"
        "See homenoded(8), and homenode.conf(5) for how to opt a service in.\n";

enum {
        OPT_CONFIG = 1,
        OPT_MODE,
        OPT_ALL,
        OPT_FOR,
        OPT_RUN_DIR,
        OPT_BUS_ADDRESS,
        OPT_SYSROOT,
        OPT_RESTORE,
        OPT_HELP,
        OPT_VERSION
};

static const struct option options[] = {
        { "config", required_argument, NULL, OPT_CONFIG },
        { "mode", required_argument, NULL, OPT_MODE },
        { "all", no_argument, NULL, OPT_ALL },
        { "for", required_argument, NULL, OPT_FOR },
        { "run-dir", required_argument, NULL, OPT_RUN_DIR },
        { "bus-address", required_argument, NULL, OPT_BUS_ADDRESS },
        { "sysroot", required_argument, NULL, OPT_SYSROOT },
        { "restore", no_argument, NULL, OPT_RESTORE },
        { "help", no_argument, NULL, OPT_HELP },
        { "version", no_argument, NULL, OPT_VERSION },
        { NULL, 0, NULL, 0 },
};

static int bad(const char *option, const char *value, const char *expected) {
        fprintf(stderr, "homenoded: --%s %s: expected %s\n", option, value, expected);
        return -EINVAL;
}

int hn_options_parse(int argc, char **argv, struct hn_options *ret) {
        struct hn_options o = HN_OPTIONS_NULL;
        int c;

        optind = 0;
        while ((c = getopt_long(argc, argv, "", options, NULL)) != -1)
                switch (c) {
                case OPT_CONFIG: o.config = optarg; break;
                case OPT_MODE:
                        o.mode = hn_mode_from_string(optarg);
                        if (o.mode == _HN_MODE_INVALID)
                                return bad("mode", optarg, "observe, advise or manage");
                        break;
                case OPT_ALL: o.all = true; break;
                case OPT_FOR:
                        if (hn_parse_usec(optarg, strlen(optarg), HN_USEC_PER_SEC, &o.run_for) < 0)
                                return bad("for", optarg, "a time such as 20 or 5min");
                        break;
                case OPT_RUN_DIR: o.run_dir = optarg; break;
                case OPT_BUS_ADDRESS: o.bus_address = optarg; break;
                case OPT_SYSROOT: o.sysroot = optarg; break;
                case OPT_RESTORE: o.restore = true; break;
                case OPT_HELP: fputs(help, stdout); return HN_OPTIONS_DONE;
                case OPT_VERSION: puts("homenoded " HN_VERSION); return HN_OPTIONS_DONE;
                default: fputs("Try 'homenoded --help'.\n", stderr); return -EINVAL;
                }
        if (optind < argc) {
                fprintf(stderr, "homenoded: %s: it takes options only; try 'homenoded --help'\n",
                        argv[optind]);
                return -EINVAL;
        }
        *ret = o;
        return 0;
}
