/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenode advise: the nodes a new workload would best go to. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "act/advice.h"
#include "adviceask.h"
#include "advicelook.h"
#include "adviceshow.h"
#include "daemon/advicejson.h"
#include "deadline.h"
#include "sample/clock.h"
#include "sample/devnode.h"
#include "verb.h"

#define RUN_DIR "/run/homenode"

struct arguments {
        const char *wish, *nodes, *near, *run_dir, *sysroot, *bus_address;
        bool explain, json, no_reserve;
};

static int help(void) {
        printf("Usage: homenode advise [OPTION...] CPUS[:MB]\n\n"
               "Says to which nodes a new workload would best go. The list is for -N and -m of\n"
               "\"homenode run\" and numactl. For a minute the others who ask count it as taken.\n"
               "CPUS may have decimals; MB is in MiB, or has one of K, M, G, T behind it.\n\n"
               "Options:\n"
               "      --nodes LIST       only of these nodes, such as 0-3,8\n"
               "      --near DEVICE      near pci:ADDRESS, netdev:NAME, block:NAME or a path\n"
               "      --explain          a table too: what each node has, why chosen or not\n"
               "      --no-reserve       only ask: leave nothing for others to count\n"
               "      --run-dir DIR      where the daemon keeps its state (/run/homenode)\n"
               "      --bus-address ADDR the bus the daemon is on, if not the system's\n"
               "      --sysroot DIR      read a captured tree of /sys and /proc\n"
               "  -J, --json             JSON: list, table, and where the figures are from\n"
               "  -h, --help             this text\n");
        return hn_flush_output();
}

/* Leaves only the nodes of --nodes allowed. */
static int restrict_nodes(const char *list, struct hn_advice_look *l) {
        struct hn_mask ids;
        int r;

        r = hn_mask_parse_list(list, strlen(list), &ids);
        if (r < 0 || hn_mask_empty(&ids)) {
                hn_complain("\"%s\" is no list of nodes such as 0-3,8", list);
                return hn_complain_usage("advise");
        }
        for (size_t i = 0; i < l->topology.n_nodes; i++) {
                unsigned id = l->topology.nodes[i].id;

                l->nodes[i].allowed = hn_mask_has(&ids, id);
                hn_mask_remove(&ids, id);
        }
        if (!hn_mask_empty(&ids)) {
                hn_complain("there is no node %u here; \"homenode nodes\" shows those that are",
                            hn_mask_next(&ids, 0));
                return EX_NOINPUT;
        }
        return 0;
}

static void complain_anywhere(const char *device) {
        hn_complain("this machine does not say at which node %s is, so the advice goes without it", device);
}

/* The index of the node of --near. Where the machine does not say, it plays no part. */
static int find_near(const struct hn_sysroot *root, const char *what, const struct hn_topology *topo,
                     hn_node_index *ret) {
        unsigned id;
        int r;

        *ret = HN_NODE_NONE;
        r = hn_device_find_node(root, what, &id);
        if (r == -EINVAL) {
                hn_complain(
                        "\"%s\" is no device: say pci:ADDRESS, netdev:NAME, block:NAME or a path that starts with "
                        "a slash",
                        what);
                return hn_complain_usage("advise");
        }
        if (r == 0)
                *ret = hn_topology_index(topo, id);
        if (r == HN_DEVICE_ANYWHERE || (r == 0 && *ret == HN_NODE_NONE)) {
                complain_anywhere(what);
                return 0;
        }
        return r < 0 ? hn_complain_errno(r, "cannot find the device %s", what) : 0;
}

/* Where reservations are: what is promised here has nothing to do with a captured machine, unless somebody
 * says so.
 */
static const char *choose_places(const struct arguments *args, const struct hn_sysroot *root,
                                 struct hn_advice_request *rq, char *own, size_t size) {
        rq->places[0] = args->run_dir ? args->run_dir : root->live ? RUN_DIR : NULL;
        if (!args->run_dir && root->live && !args->no_reserve)
                rq->places[1] = hn_advice_own_place(own, size);
        return rq->places[0];
}

static int give(const struct arguments *args, const struct hn_advice_request *rq, struct hn_advice_look *l,
                json_t **ret) {
        _hn_cleanup_(hn_freep) struct hn_advise_view *views = calloc(l->topology.n_nodes, sizeof(*views));
        struct hn_advice_paper paper = {
                .topology = &l->topology,
                .nodes = l->nodes,
                .views = views,
                .request = rq,
                .source = l->source,
                .age = l->age,
        };
        int r;

        if (!views)
                return hn_complain_errno(-ENOMEM, "cannot keep the figures");
        r = hn_advice_give(&l->topology, l->nodes, rq, views, &paper.advice, &paper.kept);
        if (r == -ENODEV) {
                hn_complain(
                        "none of the nodes %s has CPUs: a workload needs some; name one with CPUs beside them",
                        args->nodes);
                return EX_UNAVAILABLE;
        }
        if (r < 0)
                return hn_complain_errno(r, "cannot choose nodes");
        *ret = hn_advice_to_json(&paper);
        return *ret ? 0 : hn_complain_errno(-ENOMEM, "cannot keep the figures");
}

/* Without the daemon's help. Returns 0 or the exit code for what went wrong, which has been said. */
static int find_answer(const struct arguments *args, const struct hn_wish *wish, json_t **ret) {
        _hn_cleanup_(hn_sysroot_close) struct hn_sysroot root = HN_SYSROOT_NULL;
        _hn_cleanup_(hn_advice_look_deinit) struct hn_advice_look l = HN_ADVICE_LOOK_NULL;
        struct hn_advice_request rq = { .wish = *wish, .near = HN_NODE_NONE, .wait = HN_ADVICE_WAIT };
        const char *run_dir;
        char own[256];
        int r;

        r = hn_sysroot_open(args->sysroot, &root);
        if (r < 0)
                return hn_complain_errno(r, "cannot open %s", args->sysroot ? args->sysroot : "/");
        run_dir = choose_places(args, &root, &rq, own, sizeof(own));
        r = hn_advice_look_take(&root, run_dir, &l);
        if (r == -ENODEV) {
                hn_complain("%s holds no machine: no CPU can be found there",
                            args->sysroot ? args->sysroot : "/");
                return EX_NOINPUT;
        }
        if (r < 0)
                return hn_complain_errno(r, "cannot read the nodes");
        r = args->nodes ? restrict_nodes(args->nodes, &l) : 0;
        if (r == 0 && args->near)
                r = find_near(&root, args->near, &l.topology, &rq.near);
        if (r != 0)
                return r;
        rq.now = hn_clock(CLOCK_BOOTTIME);
        rq.reserve = !args->no_reserve && run_dir;
        return give(args, &rq, &l, ret);
}

/* By the daemon, if there is one that answers soon. Who names another machine, or another folder, is not
 * asking about the daemon's. */
static bool ask_daemon(const struct arguments *args, const struct hn_wish *wish, json_t **ret) {
        const struct hn_advice_wishes w = {
                .wish = *wish,
                .nodes = args->nodes,
                .near = args->near,
                .reserve = !args->no_reserve,
        };

        if (!args->bus_address && (args->sysroot || args->run_dir || !hn_advice_may_ask(RUN_DIR)))
                return false;
        if (hn_advice_ask(args->bus_address, &w, ret) < 0)
                return false;
        if (args->near && json_is_null(json_object_get(*ret, "near")))
                complain_anywhere(args->near);
        return true;
}

static int answer(const struct arguments *args, const struct hn_wish *wish) {
        json_t *advice = NULL;
        bool asked = ask_daemon(args, wish, &advice);
        int r = asked ? 0 : find_answer(args, wish, &advice);

        if (r == 0 &&
            json_object_set_new(advice, "answered_by", json_string(asked ? "homenoded" : "homenode")) < 0)
                r = hn_complain_errno(-ENOMEM, "cannot keep the figures");
        if (r == 0)
                r = hn_advice_show(advice, args->explain, args->json);
        json_decref(advice);
        return r;
}

int hn_verb_advise(int argc, char **argv) {
        static const struct option options[] = {
                { "bus-address", required_argument, NULL, 'B' },
                { "explain", no_argument, NULL, 'E' },
                { "help", no_argument, NULL, 'h' },
                { "json", no_argument, NULL, 'J' },
                { "near", required_argument, NULL, 'D' },
                { "no-reserve", no_argument, NULL, 'R' },
                { "nodes", required_argument, NULL, 'N' },
                { "run-dir", required_argument, NULL, 'U' },
                { "sysroot", required_argument, NULL, 'S' },
                {},
        };
        struct arguments a = {};
        struct hn_wish wish;
        int c, r;

        while ((c = getopt_long(argc, argv, "hJ", options, NULL)) >= 0)
                switch (c) {
                case 'h': return help();
                case 'B': a.bus_address = optarg; break;
                case 'D': a.near = optarg; break;
                case 'E': a.explain = true; break;
                case 'J': a.json = true; break;
                case 'N': a.nodes = optarg; break;
                case 'R': a.no_reserve = true; break;
                case 'S': a.sysroot = optarg; break;
                case 'U': a.run_dir = optarg; break;
                default: return hn_complain_usage("advise");
                }
        if (argc - optind != 1) {
                hn_complain(optind == argc ? "advise wants to know how many CPUs, and how many MB: 8:16384"
                                           : "advise takes one argument, CPUS[:MB]");
                return hn_complain_usage("advise");
        }
        a.wish = argv[optind];
        r = hn_wish_parse(a.wish, strlen(a.wish), &wish);
        if (r < 0) {
                hn_complain(r == -ERANGE ? "\"%s\" is more than any machine has"
                                         : "\"%s\" is not CPUS[:MB], such as 8:16384 or 8:16G",
                            a.wish);
                return hn_complain_usage("advise");
        }
        hn_deadline_set(HN_DEADLINE_ADVICE);
        return answer(&a, &wish);
}
