/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers "numad -w CPUS[:MB]" as numad does, for programs that ask it, such as libvirt: a node list and a
 * newline. Whatever steers numad's daemon is refused. A program of its own, and a small one: it links neither
 * hwloc nor libsystemd, whose start would take longer than the answer. */
#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act/advice.h"
#include "advicelook.h"
#include "deadline.h"
#include "sample/clock.h"

struct arguments {
        const char *wish, *run_dir, *sysroot;
        struct hn_mask reserved;
        bool no_cache, verbose;
};

static void complain(const char *fmt, ...) _hn_printf_(1, 2);

static void complain(const char *fmt, ...) {
        va_list ap;

        fputs("numad (homenode's look-alike): ", stderr);
        va_start(ap, fmt);
        (void) vfprintf(stderr, fmt, ap);
        va_end(ap);
        fputc('\n', stderr);
}

/* numad's exit codes: 0 and 1. */
static int usage(void) {
        fputs("Usage: numad [-C 0|1] [-R CPUS] [-dv] -w CPUS[:MB]\n"
              "This is homenode's look-alike of numad. It answers -w, and nothing else: see homenode-numad(8).\n"
              "  -w CPUS[:MB]  print the nodes that a workload of so many CPUs and MiB would best go to\n"
              "  -C 0|1        count page cache as free memory (1)\n"
              "  -R CPUS       leave these CPUs out\n"
              "  -d, -v        say on standard error what came of the reservation\n"
              "  -h, -V        this text; the version\n",
              stderr);
        return EXIT_FAILURE;
}

static int give(const struct hn_sysroot *root, const struct arguments *a, struct hn_advice_request *rq) {
        _hn_cleanup_(hn_advice_look_deinit) struct hn_advice_look l = HN_ADVICE_LOOK_NULL;
        _hn_cleanup_(hn_freep) struct hn_advise_view *views = NULL;
        struct hn_advice_paper p = { .topology = &l.topology };
        char list[HN_MASK_LIST_MAX];
        int r;

        r = hn_advice_look_take(root, rq->places[0], &l);
        if (r < 0)
                return r;
        hn_advice_look_without(&l, &a->reserved);
        for (size_t i = 0; a->no_cache && i < l.topology.n_nodes; i++)
                l.nodes[i].reclaimable = 0;
        views = calloc(l.topology.n_nodes, sizeof(*views));
        if (!views)
                return -ENOMEM;
        r = hn_advice_give(&l.topology, l.nodes, rq, views, &p.advice, &p.kept);
        if (r >= 0)
                r = hn_advice_print_list(&p, list, sizeof(list));
        if (r < 0)
                return r;
        printf("%s\n", list);
        if (p.advice.shortage != HN_ADVISE_FITS)
                complain("%s does not fit: %s; the list is the best there is", a->wish,
                         hn_advise_shortage_to_sentence(p.advice.shortage));
        if (a->verbose)
                complain("%s", hn_advice_kept_to_sentence(p.kept));
        return 0;
}

static int answer(const struct arguments *a) {
        _hn_cleanup_(hn_sysroot_close) struct hn_sysroot root = HN_SYSROOT_NULL;
        struct hn_advice_request rq = {
                .near = HN_NODE_NONE,
                .wait = HN_ADVICE_WAIT,
        };
        char own[256];
        int r;

        r = hn_wish_parse(a->wish, strlen(a->wish), &rq.wish);
        if (r < 0) {
                complain("cannot make sense of \"%s\": say CPUS or CPUS:MB, such as 4:2048", a->wish);
                return EXIT_FAILURE;
        }
        r = hn_sysroot_open(a->sysroot, &root);
        if (r < 0) {
                complain("cannot open %s: %s", a->sysroot ? a->sysroot : "/", strerror(-r));
                return EXIT_FAILURE;
        }
        rq.places[0] = a->run_dir ? a->run_dir : root.live ? "/run/homenode" : NULL;
        rq.places[1] = a->run_dir || !root.live ? NULL : hn_advice_own_place(own, sizeof(own));
        rq.reserve = rq.places[0] != NULL;
        rq.now = hn_clock(CLOCK_BOOTTIME);
        r = give(&root, a, &rq);
        if (r < 0) {
                complain(r == -ENODEV ? "no node has a CPU to give" : "cannot choose nodes: %s",
                         strerror(-r));
                return EXIT_FAILURE;
        }
        return fflush(stdout) == 0 && !ferror(stdout) ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv) {
        static const struct option options[] = {
                { "run-dir", required_argument, NULL, 1 },
                { "sysroot", required_argument, NULL, 2 },
                {},
        };
        struct arguments a = {};
        int c;

        while ((c = getopt_long(argc, argv, "C:dD:hH:i:K:l:m:p:r:R:S:t:u:vVw:x:", options, NULL)) >= 0)
                switch (c) {
                case 1: a.run_dir = optarg; break;
                case 2: a.sysroot = optarg; break;
                case 'C': a.no_cache = atoi(optarg) == 0; break;
                case 'd':
                case 'v': a.verbose = true; break;
                case 'R':
                        if (hn_mask_parse_list(optarg, strlen(optarg), &a.reserved) < 0) {
                                complain("\"%s\" is no list of CPUs such as 0-3,8", optarg);
                                return EXIT_FAILURE;
                        }
                        break;
                case 'V': printf("numad look-alike of homenode %s\n", HN_VERSION); return EXIT_SUCCESS;
                case 'w': a.wish = optarg; break;
                case 'h':
                case '?': return usage();
                default:
                        complain(
                                "-%c steers numad's own daemon, or tunes what it does; homenode has homenoded(8) for "
                                "that, and here only -w is answered",
                                c);
                        return EXIT_FAILURE;
                }
        if (optind < argc) {
                complain("unexpected argument \"%s\"", argv[optind]);
                return EXIT_FAILURE;
        }
        if (!a.wish) {
                complain("without -w numad starts its daemon, which this is not: see homenoded(8)");
                return EXIT_FAILURE;
        }
        hn_deadline_set(HN_DEADLINE_ADVICE);
        return answer(&a);
}
