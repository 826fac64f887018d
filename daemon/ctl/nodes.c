/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenode nodes: the machine, as numactl -H shows it, with live figures. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "base/escape.h"
#include "nodelook.h"
#include "policy/balance.h"
#include "policy/topology.h"
#include "table.h"
#include "verb.h"

enum {
        COLUMN_NODE,
        COLUMN_CPUS,
        COLUMN_CORES,
        COLUMN_MEMORY,
        COLUMN_FREE,
        COLUMN_BUSY,
        COLUMN_CLASS,
        COLUMN_TIER,
        COLUMN_PACKAGE,
        COLUMN_WAITING,
        COLUMN_THREADS,
        COLUMN_USABLE,
        COLUMN_LLCS,
        COLUMN_CACHE,
        COLUMN_NEAREST,
        COLUMN_DEVICES,
};

static const struct hn_column columns[] = {
        [COLUMN_NODE] = { "NODE", "the kernel's number", true, true },
        [COLUMN_CPUS] = { "CPUS", "online CPUs", false, true },
        [COLUMN_CORES] = { "CORES", "cores with a CPU that may be used", true, true },
        [COLUMN_MEMORY] = { "MEMORY", "size of its memory", true, true },
        [COLUMN_FREE] = { "FREE", "unused memory", true, true },
        [COLUMN_BUSY] = { "BUSY", "time its usable CPUs are at work, in percent", true, true },
        [COLUMN_CLASS] = { "CLASS", "has-spare, fully-busy or overloaded", false, true },
        [COLUMN_TIER] = { "TIER", "0: the fastest memory, or has CPUs; 1, 2: slower memory", true, true },
        [COLUMN_PACKAGE] = { "PACKAGE", "package it lies in", true, true },
        [COLUMN_WAITING] = { "WAITING", "tasks that wait for a CPU there, on average", true, false },
        [COLUMN_THREADS] = { "THREADS", "number of usable CPUs", true, false },
        [COLUMN_USABLE] = { "USABLE", "usable CPUs: online, not isolated, not nohz_full", false, false },
        [COLUMN_LLCS] = { "LLCS", "last-level caches of the usable CPUs", true, false },
        [COLUMN_CACHE] = { "CACHE", "clean page cache, which may go when memory is asked for", true, false },
        [COLUMN_NEAREST] = { "NEAREST", "other nodes at the smallest distance", false, false },
        [COLUMN_DEVICES] = { "DEVICES", "devices at this node", false, false },
};

struct arguments {
        struct hn_table_options table;
        const char *sysroot, *machine;
};

static int help(void) {
        printf("Usage: homenode nodes [OPTION...]\n\n"
               "Shows the NUMA nodes of this machine, of a captured one, or of a description.\n\n"
               "Options:\n"
               "      --sysroot DIR      read a captured tree of /sys and /proc\n"
               "      --machine WHAT     hwloc's XML (FILE.xml) or a synthetic description,\n"
               "                         such as \"package:2 numa:2 core:4 pu:2\"\n"
               "  -h, --help             this text\n");
        hn_table_help(columns, HN_ELEMENTS(columns), stdout);
        return hn_flush_output();
}

static enum hn_heat heat_of_busy(double percent) {
        return percent >= 90 ? HN_HEAT_HOT : percent >= 60 ? HN_HEAT_WARM : HN_HEAT_COOL;
}

/* Page cache counts as free here: it goes when somebody asks. */
static enum hn_heat heat_of_free(uint64_t available, uint64_t memory) {
        double part = (double) available / (double) memory;

        return part < 0.05 ? HN_HEAT_HOT : part < 0.15 ? HN_HEAT_WARM : HN_HEAT_COOL;
}

static void set_mask(struct hn_table *t, size_t column, const struct hn_mask *mask) {
        char list[HN_MASK_LIST_MAX];

        if (hn_mask_print_list(mask, list, sizeof(list)) >= 0)
                hn_table_set_text(t, column, list);
}

static void set_count(struct hn_table *t, size_t column, unsigned count) {
        hn_table_set(t, column, json_integer(count), "%u", count);
}

static void set_bytes(struct hn_table *t, size_t column, uint64_t bytes) {
        char text[16];

        hn_table_set(t, column, json_integer((json_int_t) bytes), "%s",
                     hn_format_bytes(bytes, text, sizeof(text)));
}

static struct hn_mask nearest_to(const struct hn_topology *t, hn_node_index node) {
        struct hn_mask nearest = HN_MASK_NULL;
        unsigned distance = UINT32_MAX;

        for (hn_node_index i = 0; t->distances_known && i < t->n_nodes; i++) {
                unsigned d = hn_topology_distance(t, node, i);

                if (i == node || d > distance)
                        continue;
                if (d < distance)
                        nearest = HN_MASK_NULL;
                distance = d;
                (void) hn_mask_add(&nearest, t->nodes[i].id);
        }
        return nearest;
}

/* "eth0,nvme0n1"; names are of drivers and rules of udev. */
static void set_devices(struct hn_table *t, const struct hn_topology *topology, hn_node_index node) {
        char *text = NULL;
        size_t size = 0;
        FILE *f = open_memstream(&text, &size);

        if (!f)
                return;
        for (size_t i = 0; i < topology->n_devices; i++)
                if (topology->devices[i].node == node)
                        fprintf(f, "%s%s", ftell(f) > 0 ? "," : "", topology->devices[i].name);
        if (fclose(f) == 0)
                hn_table_set_text(t, COLUMN_DEVICES, text);
        free(text);
}

/* What the policy would call such a node: heuristics H2, in the kernel's unit of 1024 for a CPU. */
static enum hn_node_class classify(const struct hn_node *node, uint32_t busy, uint32_t waiting) {
        uint64_t in_use = busy, wanted = in_use + waiting;

        return hn_node_classify((uint32_t) ((wanted + 500) / 1000), node->n_cpus,
                                1024 * (uint64_t) node->n_cpus, in_use * 1024 / 1000, wanted * 1024 / 1000,
                                HN_IMBALANCE_PCT);
}

static void set_load(struct hn_table *t, const struct hn_node_look *l, hn_node_index i) {
        static const enum hn_heat heats[_HN_CLASS_MAX] = {
                [HN_CLASS_HAS_SPARE] = HN_HEAT_COOL,
                [HN_CLASS_FULLY_BUSY] = HN_HEAT_WARM,
                [HN_CLASS_OVERLOADED] = HN_HEAT_HOT,
        };
        const struct hn_node *node = &l->topology.nodes[i];
        uint32_t busy = l->load[i].busy, waiting = l->waiting[i];
        double percent = busy / (10.0 * node->n_cpus);
        enum hn_node_class class = classify(node, busy, waiting);

        if (l->has_busy) {
                hn_table_set(t, COLUMN_BUSY, json_real(percent), "%.1f", percent);
                hn_table_heat(t, COLUMN_BUSY, heat_of_busy(percent));
        }
        if (l->has_waiting)
                hn_table_set(t, COLUMN_WAITING, json_real(waiting / 1000.0), "%.2f", waiting / 1000.0);
        if (l->has_busy && l->has_waiting) {
                hn_table_set_text(t, COLUMN_CLASS, hn_node_class_to_string(class));
                hn_table_heat(t, COLUMN_CLASS, heats[class]);
        }
}

static void add_node(struct hn_table *t, const struct hn_node_look *l, hn_node_index i) {
        const struct hn_node *node = &l->topology.nodes[i];
        const struct hn_node_load *load = &l->load[i];
        struct hn_mask nearest = nearest_to(&l->topology, i);

        hn_table_add_row(t);
        set_count(t, COLUMN_NODE, node->id);
        set_mask(t, COLUMN_CPUS, &node->cpus);
        set_count(t, COLUMN_CORES, node->n_cores);
        set_bytes(t, COLUMN_MEMORY, node->memory);
        if (l->has_memory && node->memory > 0) {
                set_bytes(t, COLUMN_FREE, load->free);
                set_bytes(t, COLUMN_CACHE, load->reclaimable);
                hn_table_heat(t, COLUMN_FREE, heat_of_free(load->free + load->reclaimable, node->memory));
        }
        if (node->n_cpus > 0)
                set_load(t, l, i);
        set_count(t, COLUMN_TIER, node->tier);
        set_count(t, COLUMN_PACKAGE, node->package);
        set_count(t, COLUMN_THREADS, node->n_cpus);
        set_mask(t, COLUMN_USABLE, &node->usable);
        set_count(t, COLUMN_LLCS, node->n_llcs);
        set_mask(t, COLUMN_NEAREST, &nearest);
        if (hn_table_has(t, COLUMN_DEVICES))
                set_devices(t, &l->topology, i);
}

/* The matrix, as wide as its widest number. */
static void print_distances(const struct hn_topology *t, bool colour) {
        int width = snprintf(NULL, 0, "%u", t->nodes[t->n_nodes - 1].id);

        for (size_t i = 0; i < t->n_nodes * t->n_nodes; i++)
                width = HN_MAX(width, snprintf(NULL, 0, "%u", t->distances[i]));
        printf("\nDistances, from row to column:\n%*s", HN_MAX(width, 4), "NODE");
        for (size_t to = 0; to < t->n_nodes; to++)
                printf("  %*u", width, t->nodes[to].id);
        for (hn_node_index from = 0; from < t->n_nodes; from++) {
                printf("\n%*u", HN_MAX(width, 4), t->nodes[from].id);
                for (hn_node_index to = 0; to < t->n_nodes; to++) {
                        enum hn_heat heat = from == to ? HN_HEAT_FAINT : HN_HEAT_NONE;

                        printf("  %s%*u%s", hn_heat_on(heat, colour), width,
                               hn_topology_distance(t, from, to), hn_heat_off(heat, colour));
                }
        }
        putchar('\n');
}

static void note_set(const char *what, const struct hn_mask *mask) {
        char list[HN_MASK_LIST_MAX];

        if (!hn_mask_empty(mask) && hn_mask_print_list(mask, list, sizeof(list)) >= 0)
                printf("%s: %s\n", what, list);
}

/* What the table cannot say. */
static void print_notes(const struct hn_topology *t) {
        struct hn_mask offline = hn_mask_andnot(&t->possible, &t->online);
        struct hn_mask homeless = t->online;

        for (size_t i = 0; i < t->n_nodes; i++)
                homeless = hn_mask_andnot(&homeless, &t->nodes[i].cpus);
        putchar('\n');
        note_set("Isolated CPUs, where nothing is placed", &t->isolated);
        note_set("CPUs without a tick (nohz_full), where nothing is placed", &t->nohz_full);
        note_set("CPUs on no node that is online", &homeless);
        note_set("CPUs not online", &offline);
        if (t->n_nodes > 1 && !t->distances_known)
                printf("No usable distances: all other nodes count as equally far.\n");
        if (!hn_topology_is_numa(t))
                printf("Fewer than two nodes have usable CPUs: there is nothing to place here.\n");
        else
                printf("%zu nodes, %u CPUs.\n", t->n_nodes, hn_mask_count(&t->online));
}

static json_t *mask_to_json(const struct hn_mask *mask) {
        char list[HN_MASK_LIST_MAX];

        return hn_mask_print_list(mask, list, sizeof(list)) < 0 ? NULL : json_string(list);
}

static json_t *distances_to_json(const struct hn_topology *t) {
        json_t *rows = json_array();

        for (hn_node_index from = 0; from < t->n_nodes; from++) {
                json_t *row = json_array();

                for (hn_node_index to = 0; to < t->n_nodes; to++)
                        (void) json_array_append_new(row, json_integer(hn_topology_distance(t, from, to)));
                (void) json_array_append_new(rows, row);
        }
        return rows;
}

static json_t *devices_to_json(const struct hn_topology *t) {
        json_t *devices = json_array();

        for (size_t i = 0; i < t->n_devices; i++) {
                const struct hn_device *d = &t->devices[i];
                char name[HN_ESCAPE_SIZE(sizeof(d->name))];
                json_t *node = d->node == HN_NODE_NONE ? json_null() : json_integer(t->nodes[d->node].id);

                (void) hn_escape_text(d->name, sizeof(d->name), name, sizeof(name));
                (void) json_array_append_new(
                        devices, json_pack("{s:s, s:s, s:o}", "name", name, "kind", d->kind, "node", node));
        }
        return devices;
}

static int print_json(const struct hn_table *table, const struct hn_topology *t) {
        json_t *nodes, *o;
        int r;

        r = hn_table_to_json(table, &nodes);
        if (r < 0)
                return r;
        o = json_object();
        /* A member that could not be made is refused, as is any member of no object. */
        r |= json_object_set_new(o, "nodes", nodes);
        r |= json_object_set_new(o, "numa", json_boolean(hn_topology_is_numa(t)));
        r |= json_object_set_new(o, "distances_known", json_boolean(t->distances_known));
        r |= json_object_set_new(o, "distances", distances_to_json(t));
        r |= json_object_set_new(o, "online", mask_to_json(&t->online));
        r |= json_object_set_new(o, "possible", mask_to_json(&t->possible));
        r |= json_object_set_new(o, "isolated", mask_to_json(&t->isolated));
        r |= json_object_set_new(o, "nohz_full", mask_to_json(&t->nohz_full));
        r |= json_object_set_new(o, "devices", devices_to_json(t));
        r = r < 0 ? -ENOMEM : hn_json_print(o, stdout);
        json_decref(o);
        return r;
}

static int show(const struct arguments *a, const struct hn_table *table, const struct hn_node_look *l) {
        int r;

        if (a->table.json)
                r = print_json(table, &l->topology);
        else
                r = hn_table_print(table, stdout, &a->table);
        if (r < 0)
                return hn_complain_errno(r, "cannot show the nodes");

        /* Whoever asks for columns, raw text or no headings reads by program. */
        if (!a->table.json && !a->table.raw && !a->table.noheadings && !a->table.columns) {
                if (l->topology.n_nodes > 1 && l->topology.distances_known)
                        print_distances(&l->topology, hn_may_colour(stdout));
                print_notes(&l->topology);
        }
        return hn_flush_output();
}

int hn_verb_nodes(int argc, char **argv) {
        static const struct option options[] = {
                { "help", no_argument, NULL, 'h' },
                { "machine", required_argument, NULL, 'M' },
                { "sysroot", required_argument, NULL, 'S' },
                HN_TABLE_LONG_OPTIONS,
                {},
        };
        _hn_cleanup_(hn_table_freep) struct hn_table *table = hn_table_new(columns, HN_ELEMENTS(columns));
        _hn_cleanup_(hn_node_look_deinit) struct hn_node_look look = HN_NODE_LOOK_NULL;
        struct arguments a = {};
        bool measure;
        int c, r;

        while ((c = getopt_long(argc, argv, "h" HN_TABLE_OPTSTRING, options, NULL)) >= 0) {
                if (hn_table_option(&a.table, c, optarg))
                        continue;
                switch (c) {
                case 'h': return help();
                case 'M': a.machine = optarg; break;
                case 'S': a.sysroot = optarg; break;
                default: return hn_complain_usage("nodes");
                }
        }
        if (optind < argc) {
                hn_complain("nodes takes no argument, not \"%s\"", argv[optind]);
                return hn_complain_usage("nodes");
        }
        if (a.machine && a.sysroot) {
                hn_complain("--machine and --sysroot exclude each other");
                return hn_complain_usage("nodes");
        }
        r = hn_table_choose(table, &a.table, "nodes");
        if (r != 0)
                return r;

        measure = hn_table_has(table, COLUMN_BUSY) || hn_table_has(table, COLUMN_WAITING) ||
                  hn_table_has(table, COLUMN_CLASS);
        r = hn_node_look_take(a.sysroot, a.machine, measure, &look);
        if (r != 0)
                return r;
        for (hn_node_index i = 0; i < look.topology.n_nodes; i++)
                add_node(table, &look, i);
        return show(&a, table, &look);
}
