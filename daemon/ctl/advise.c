/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenode advise: the nodes a new workload would best go to. */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "act/advice.h"
#include "advicelook.h"
#include "deadline.h"
#include "sample/clock.h"
#include "sample/devnode.h"
#include "table.h"
#include "verb.h"

enum {
        COLUMN_NODE,
        COLUMN_CPUS,
        COLUMN_USED,
        COLUMN_PROMISED,
        COLUMN_ROOM,
        COLUMN_AVAILABLE,
        COLUMN_KEPT,
        COLUMN_MEMORY_PROMISED,
        COLUMN_MEMORY_ROOM,
        COLUMN_DISTANCE,
        COLUMN_VERDICT,
        COLUMN_WHY,
};

static const struct hn_column columns[] = {
        [COLUMN_NODE] = { "NODE", "", true, true },
        [COLUMN_CPUS] = { "CPUS", "", true, true },
        [COLUMN_USED] = { "USED", "", true, true },
        [COLUMN_PROMISED] = { "PROMISED", "", true, true },
        [COLUMN_ROOM] = { "ROOM", "", true, true },
        [COLUMN_AVAILABLE] = { "AVAILABLE", "", true, true },
        [COLUMN_KEPT] = { "KEPT", "", true, true },
        [COLUMN_MEMORY_PROMISED] = { "MEMORY-PROMISED", "", true, true },
        [COLUMN_MEMORY_ROOM] = { "MEMORY-ROOM", "", true, true },
        [COLUMN_DISTANCE] = { "DISTANCE", "", true, true },
        [COLUMN_VERDICT] = { "VERDICT", "", false, true },
        [COLUMN_WHY] = { "WHY", "", false, true },
};

struct arguments {
        const char *wish, *nodes, *near, *run_dir, *sysroot;
        bool explain, json, no_reserve;
};

struct answer {
        struct hn_advice_look look;
        struct hn_advise_view *views;
        struct hn_advice_request request;
        struct hn_advice advice;
        enum hn_advice_kept kept;
};

static void answer_deinit(struct answer *a) {
        hn_advice_look_deinit(&a->look);
        free(a->views);
}

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
                hn_complain("this machine does not say at which node %s is, so the advice goes without it",
                            what);
                return 0;
        }
        return r < 0 ? hn_complain_errno(r, "cannot find the device %s", what) : 0;
}

static json_t *thousandths(uint64_t v) {
        return json_real((double) v / 1000);
}

static void set_cpus(struct hn_table *t, size_t column, uint64_t v) {
        hn_table_set(t, column, thousandths(v), "%.2f", (double) v / 1000);
}

static void set_bytes(struct hn_table *t, size_t column, uint64_t bytes) {
        char text[16];

        hn_table_set(t, column, json_integer((json_int_t) HN_MIN(bytes, (uint64_t) INT64_MAX)), "%s",
                     hn_format_bytes(bytes, text, sizeof(text)));
}

static void add_node(struct hn_table *t, const struct answer *a, hn_node_index i) {
        const struct hn_advise_node *node = &a->look.nodes[i];
        const struct hn_advise_view *v = &a->views[i];
        unsigned id = a->look.topology.nodes[i].id;

        hn_table_add_row(t);
        hn_table_set(t, COLUMN_NODE, json_integer(id), "%u", id);
        hn_table_set(t, COLUMN_CPUS, json_integer((json_int_t) (v->capacity / 1000)), "%" PRIu64,
                     v->capacity / 1000);
        if (a->look.source != HN_LOAD_UNKNOWN)
                set_cpus(t, COLUMN_USED, v->used);
        set_cpus(t, COLUMN_PROMISED, node->reserved_cpus);
        set_cpus(t, COLUMN_ROOM, v->room_cpus);
        set_bytes(t, COLUMN_AVAILABLE, v->available);
        set_bytes(t, COLUMN_KEPT, v->kept);
        set_bytes(t, COLUMN_MEMORY_PROMISED, node->reserved_memory);
        set_bytes(t, COLUMN_MEMORY_ROOM, v->room_memory);
        if (a->request.near != HN_NODE_NONE) {
                unsigned far = hn_topology_distance(&a->look.topology, i, a->request.near);

                hn_table_set(t, COLUMN_DISTANCE, json_integer(far), "%u", far);
        }
        hn_table_set_text(t, COLUMN_VERDICT, hn_advise_verdict_to_string(v->verdict));
        hn_table_set_text(t, COLUMN_WHY, hn_advise_verdict_to_sentence(v->verdict));
}

static int print_json(const struct answer *a, const struct hn_table *t, const char *list) {
        const char *shortage = hn_advise_shortage_to_string(a->advice.shortage);
        json_t *o = json_object(), *rows;
        int r;

        r = hn_table_to_json(t, &rows);
        if (r < 0) {
                json_decref(o);
                return r;
        }
        r |= json_object_set_new(o, "list", json_string(list));
        r |= json_object_set_new(o, "cpus", thousandths(a->request.wish.cpus));
        r |= json_object_set_new(
                o, "memory", json_integer((json_int_t) HN_MIN(a->request.wish.memory, (uint64_t) INT64_MAX)));
        r |= json_object_set_new(o, "fits", json_boolean(a->advice.shortage == HN_ADVISE_FITS));
        r |= json_object_set_new(o, "short_of", shortage ? json_string(shortage) : json_null());
        r |= json_object_set_new(o, "load", json_string(hn_load_source_to_string(a->look.source)));
        r |= json_object_set_new(o, "load_age", json_real((double) a->look.age / (double) HN_USEC_PER_SEC));
        r |= json_object_set_new(o, "reservation", json_string(hn_advice_kept_to_string(a->kept)));
        r |= json_object_set_new(o, "nodes", rows);
        r = r < 0 ? -ENOMEM : hn_json_print(o, stdout);
        json_decref(o);
        return r;
}

static void print_notes(const struct answer *a) {
        static const char *const notes[_HN_LOAD_SOURCE_MAX] = {
                [HN_LOAD_UNKNOWN] = "The load is not known: nodes count as idle.",
                [HN_LOAD_MEASURED] = "The load was measured for 40 ms.",
        };

        printf("\nAll together: %s.\n", hn_advise_shortage_to_sentence(a->advice.shortage));
        if (a->look.source == HN_LOAD_DAEMON)
                printf("The load is what homenoded said %.1f s ago.\n",
                       (double) a->look.age / (double) HN_USEC_PER_SEC);
        else
                printf("%s\n", notes[a->look.source]);
        printf("Reservation: %s.\n", hn_advice_kept_to_sentence(a->kept));
}

/* With --explain and -J, figures too. */
static int show(const struct answer *a, const struct arguments *args, const char *list) {
        _hn_cleanup_(hn_table_freep) struct hn_table *t = hn_table_new(columns, HN_ELEMENTS(columns));
        const struct hn_table_options options = { .json = false };
        int r;

        if (!t)
                return -ENOMEM;
        for (hn_node_index i = 0; i < a->look.topology.n_nodes; i++)
                add_node(t, a, i);
        if (args->json)
                return print_json(a, t, list);
        putchar('\n');
        r = hn_table_print(t, stdout, &options);
        print_notes(a);
        return r;
}

static int print_answer(const struct answer *a, const struct arguments *args) {
        struct hn_mask ids = HN_MASK_NULL;
        char list[HN_MASK_LIST_MAX];
        int r = 0;

        for (size_t i = 0; i < a->look.topology.n_nodes; i++)
                if (hn_mask_has(&a->advice.nodes, (unsigned) i))
                        (void) hn_mask_add(&ids, a->look.topology.nodes[i].id);
        if (hn_mask_print_list(&ids, list, sizeof(list)) < 0)
                return hn_complain_errno(-ENOBUFS, "cannot print the list");
        if (!args->json)
                printf("%s\n", list);
        if (args->json || args->explain)
                r = show(a, args, list);
        if (r < 0)
                return hn_complain_errno(r, "cannot show the figures");
        r = hn_flush_output();
        if (r != EX_OK || a->advice.shortage == HN_ADVISE_FITS)
                return r;
        hn_complain("it does not fit: %s; the list is the best there is",
                    hn_advise_shortage_to_sentence(a->advice.shortage));
        return EX_UNAVAILABLE;
}

/* Returns 0 or the exit code for what went wrong, which has been said. */
static int find_answer(const struct arguments *args, struct answer *a) {
        _hn_cleanup_(hn_sysroot_close) struct hn_sysroot root = HN_SYSROOT_NULL;
        const char *run_dir = args->run_dir;
        char own[256];
        int r;

        r = hn_sysroot_open(args->sysroot, &root);
        if (r < 0)
                return hn_complain_errno(r, "cannot open %s", args->sysroot ? args->sysroot : "/");
        /* What is promised here has nothing to do with a captured machine, unless somebody says so. */
        if (!run_dir && root.live) {
                run_dir = "/run/homenode";
                a->request.places[1] = args->no_reserve ? NULL : hn_advice_own_place(own, sizeof(own));
        }
        a->request.places[0] = run_dir;

        r = hn_advice_look_take(&root, run_dir, &a->look);
        if (r == -ENODEV) {
                hn_complain("%s holds no machine: no CPU can be found there",
                            args->sysroot ? args->sysroot : "/");
                return EX_NOINPUT;
        }
        if (r < 0)
                return hn_complain_errno(r, "cannot read the nodes");
        r = args->nodes ? restrict_nodes(args->nodes, &a->look) : 0;
        a->request.near = HN_NODE_NONE;
        if (r == 0 && args->near)
                r = find_near(&root, args->near, &a->look.topology, &a->request.near);
        if (r != 0)
                return r;
        a->views = calloc(a->look.topology.n_nodes, sizeof(*a->views));
        if (!a->views)
                return hn_complain_errno(-ENOMEM, "cannot keep the figures");
        a->request.now = hn_clock(CLOCK_BOOTTIME);
        a->request.wait = HN_ADVICE_WAIT;
        a->request.reserve = !args->no_reserve && run_dir;
        r = hn_advice_give(&a->look.topology, a->look.nodes, &a->request, a->views, &a->advice, &a->kept);
        if (r == -ENODEV) {
                hn_complain(
                        "none of the nodes %s has CPUs: a workload needs some; name one with CPUs beside them",
                        args->nodes);
                return EX_UNAVAILABLE;
        }
        return r < 0 ? hn_complain_errno(r, "cannot choose nodes") : 0;
}

int hn_verb_advise(int argc, char **argv) {
        static const struct option options[] = {
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
        _hn_cleanup_(answer_deinit) struct answer answer = { .look = HN_ADVICE_LOOK_NULL };
        struct arguments a = {};
        int c, r;

        while ((c = getopt_long(argc, argv, "hJ", options, NULL)) >= 0)
                switch (c) {
                case 'h': return help();
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
        r = hn_wish_parse(a.wish, strlen(a.wish), &answer.request.wish);
        if (r < 0) {
                hn_complain(r == -ERANGE ? "\"%s\" is more than any machine has"
                                         : "\"%s\" is not CPUS[:MB], such as 8:16384 or 8:16G",
                            a.wish);
                return hn_complain_usage("advise");
        }
        hn_deadline_set(HN_DEADLINE_ADVICE);
        r = find_answer(&a, &answer);
        return r != 0 ? r : print_answer(&answer, &a);
}
