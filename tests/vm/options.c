/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "options.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MIB_MAX 64U

/* "RUN:MEM,RUN:MEM,...", one pair of nodes for each thread. */
static bool place_parse(const char *text, struct options *o) {
        char *end = NULL;

        for (const char *p = text;; p = end + 1) {
                if (o->n_placed == HN_LOAD_THREADS_MAX)
                        return false;
                o->run[o->n_placed] = (int) strtol(p, &end, 10);
                if (*end != ':')
                        return false;
                o->mem[o->n_placed] = (int) strtol(end + 1, &end, 10);
                if (o->run[o->n_placed] < 0 || o->mem[o->n_placed] < 0 ||
                    o->mem[o->n_placed] >= (int) HN_LOAD_NODES_MAX)
                        return false;
                o->n_placed++;
                if (*end != ',')
                        return *end == 0;
        }
}

static bool pin_parse(const char *text, enum pin *ret) {
        static const char *const names[] = { [PIN_NONE] = "none", [PIN_ODD] = "odd", [PIN_ALL] = "all" };

        for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (strcmp(text, names[i]) == 0) {
                        *ret = (enum pin) i;
                        return true;
                }
        return false;
}

static const struct option long_options[] = {
        { "table", required_argument, NULL, 't' },   { "processes", required_argument, NULL, 'P' },
        { "threads", required_argument, NULL, 'T' }, { "mib", required_argument, NULL, 'm' },
        { "place", required_argument, NULL, 'p' },   { "pin", required_argument, NULL, 'k' },
        { "duty", required_argument, NULL, 'd' },    { "bind", no_argument, NULL, 'b' },
        { "shared", no_argument, NULL, 's' },        { "thp", no_argument, NULL, 'H' },
        { "report", no_argument, NULL, 'r' },        { "random", no_argument, NULL, 'R' },
        { "turns", no_argument, NULL, 'u' },         { "ramp", required_argument, NULL, 'a' },
        { "swap", required_argument, NULL, 'w' },    { "burst", required_argument, NULL, 'B' },
        { "storm", required_argument, NULL, 'S' },   { NULL, 0, NULL, 0 },
};

static const char usage[] =
        "usage: hn-load --table FILE --place RUN:MEM[,RUN:MEM...] [OPTIONS]\n"
        "  --table FILE      where to describe the threads for those who measure\n"
        "  --place LIST      for each thread, the node it starts on and the node of its memory\n"
        "  --processes N     processes (1)\n"
        "  --threads N       threads of each process (1)\n"
        "  --mib N           working set of each thread, 1 to 64 (16)\n"
        "  --shared          one working set for the threads of a process\n"
        "  --thp             ask for transparent huge pages (refused without this)\n"
        "  --pin WHICH       threads that stay on their first node: none, odd or all (none)\n"
        "  --duty PERCENT    part of the time that a thread works (100)\n"
        "  --random          touch lines at random, not page after page\n"
        "  --turns           the two threads of a process take turns\n"
        "  --ramp S          one more thread of each process begins every S seconds\n"
        "  --swap S          every S seconds the threads of a process change buffers\n"
        "  --burst S         after S seconds, a second or so of short tasks that send messages\n"
        "  --storm N         N short tasks at a time, for ever\n"
        "  --bind            keep the memory bound to its node\n"
        "  --report          print a line of JSON a second\n";

static bool options_get(int argc, char *argv[], struct options *o) {
        int c;

        while ((c = getopt_long(argc, argv, "", long_options, NULL)) >= 0)
                switch (c) {
                case 't': o->table = optarg; break;
                case 'P': o->processes = (unsigned) strtoul(optarg, NULL, 10); break;
                case 'T': o->threads = (unsigned) strtoul(optarg, NULL, 10); break;
                case 'm': o->mib = (unsigned) strtoul(optarg, NULL, 10); break;
                case 'p':
                        if (!place_parse(optarg, o))
                                return false;
                        break;
                case 'k':
                        if (!pin_parse(optarg, &o->pin))
                                return false;
                        break;
                case 'd': o->duty = (unsigned) strtoul(optarg, NULL, 10); break;
                case 'R': o->random = true; break;
                case 'u': o->turns = true; break;
                case 'a': o->ramp = (unsigned) strtoul(optarg, NULL, 10); break;
                case 'w': o->swap = (unsigned) strtoul(optarg, NULL, 10); break;
                case 'B': o->burst = (unsigned) strtoul(optarg, NULL, 10); break;
                case 'S': o->storm = (unsigned) strtoul(optarg, NULL, 10); break;
                case 'b': o->bind = true; break;
                case 's': o->shared = true; break;
                case 'H': o->thp = true; break;
                case 'r': o->report = true; break;
                default: return false;
                }
        return optind == argc && o->table && o->processes > 0 && o->processes <= HN_LOAD_THREADS_MAX &&
               o->threads > 0 && o->processes * o->threads == o->n_placed && o->mib > 0 &&
               o->mib <= MIB_MAX && (!o->turns || o->threads == 2) && o->duty > 0 && o->duty <= 100;
}

bool options_parse(int argc, char *argv[], struct options *ret) {
        struct options o = { .processes = 1, .threads = 1, .mib = 16, .duty = 100 };

        if (!options_get(argc, argv, &o)) {
                fputs(usage, stderr);
                return false;
        }
        *ret = o;
        return true;
}
