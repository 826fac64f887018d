/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>

#include "sample/hwtopo.h"
#include "sample/machine.h"
#include "sample/meminfo.h"
#include "sample/nodetree.h"
#include "sample/sysfs.h"
#include "sample/tiers.h"

#define CPU_FOLDER "sys/devices/system/cpu"

/* Where the parts of a reading come from. */
struct reading {
        const struct hn_sysroot *root; /* NULL for a described machine */
        hwloc_topology_t hw;
        bool node_folder;       /* the root has nodes of its own to tell about */
        struct hn_mask ids;     /* of the nodes */
        struct hn_mask claimed; /* indices of nodes that claim CPUs, be they offline */
};

/* Returns whether the root has such a list, with something in it or not. */
static int read_cpu_list(const struct reading *rd, const char *path, struct hn_mask *ret) {
        int r = rd->root ? hn_sysfs_read_list(rd->root, path, ret) : HN_SYSFS_ABSENT;

        if (r == HN_SYSFS_ABSENT)
                *ret = HN_MASK_NULL;
        return r;
}

static int read_cpus(const struct reading *rd, struct hn_topology *t) {
        int r;

        r = read_cpu_list(rd, CPU_FOLDER "/online", &t->online);
        if (r < 0)
                return r;
        if (hn_mask_empty(&t->online))
                t->online = hn_hwtopo_online(rd->hw);
        r = read_cpu_list(rd, CPU_FOLDER "/possible", &t->possible);
        if (r < 0)
                return r;
        if (hn_mask_empty(&t->possible))
                t->possible = hn_hwtopo_possible(rd->hw);
        t->possible = hn_mask_or(&t->possible, &t->online);
        r = read_cpu_list(rd, CPU_FOLDER "/isolated", &t->isolated);
        if (r < 0)
                return r;
        r = read_cpu_list(rd, CPU_FOLDER "/nohz_full", &t->nohz_full);
        return r < 0 ? r : 0;
}

static int read_node_ids(struct reading *rd) {
        int r = rd->root ? hn_sysfs_read_node_ids(rd->root, &rd->ids) : HN_SYSFS_ABSENT;

        if (r < 0)
                return r;
        rd->node_folder = r == 0;
        if (!rd->node_folder)
                rd->ids = hn_hwtopo_node_ids(rd->hw);
        if (hn_mask_empty(&rd->ids))
                (void) hn_mask_add(&rd->ids, 0); /* memory is somewhere, even if nobody tells */
        return 0;
}

static int read_node(struct reading *rd, struct hn_topology *t, hn_node_index i) {
        struct hn_node *node = &t->nodes[i];
        struct hn_mask claimed = HN_MASK_NULL;
        struct hn_meminfo memory;
        int r;

        if (rd->node_folder) {
                r = hn_sysfs_read_node_cpus(rd->root, node->id, &claimed);
                if (r < 0)
                        return r;
                r = hn_meminfo_read_node(rd->root, node->id, &memory);
                if (r < 0)
                        return r;
                node->memory = memory.total;
        } else {
                claimed = t->n_nodes == 1 ? t->online : hn_hwtopo_node_cpus(rd->hw, node->id);
                node->memory = hn_hwtopo_node_memory(rd->hw, node->id);
        }
        if (!hn_mask_empty(&claimed))
                (void) hn_mask_add(&rd->claimed, i);
        hn_nodetree_settle(t, i, &claimed);
        return 0;
}

static int read_distances(const struct reading *rd, struct hn_topology *t) {
        _hn_cleanup_(hn_freep) unsigned *matrix = calloc(t->n_nodes * t->n_nodes, sizeof(*matrix));
        int r;

        if (!matrix)
                return -ENOMEM;
        /* 1 for a whole matrix from either. */
        r = rd->node_folder ? hn_nodetree_distances(rd->root, t, matrix)
                            : hn_hwtopo_distances(rd->hw, t, matrix);
        if (r > 0)
                hn_nodetree_set_distances(t, matrix);
        return HN_MIN(r, 0);
}

/* What the CPUs of a node amount to. */
static void count_node(const struct reading *rd, const struct hn_topology *t, hn_node_index i) {
        struct hn_node *node = &t->nodes[i];
        struct hn_mask cores = HN_MASK_NULL, llcs = HN_MASK_NULL;
        unsigned first = hn_mask_next(&node->cpus, 0);

        node->usable = hn_nodetree_usable(t, i);
        for (unsigned c = hn_mask_next(&node->usable, 0); c != HN_MASK_NONE;
             c = hn_mask_next(&node->usable, c + 1)) {
                (void) hn_mask_add(&cores, hn_hwtopo_core(rd->hw, c));
                (void) hn_mask_add(&llcs, hn_hwtopo_llc(rd->hw, c));
        }
        node->n_cpus = hn_mask_count(&node->usable);
        node->n_cores = hn_mask_count(&cores);
        node->n_llcs = hn_mask_count(&llcs);
        node->package = first == HN_MASK_NONE ? hn_hwtopo_node_package(rd->hw, node->id)
                                              : hn_hwtopo_package(rd->hw, first);
}

static int fill(struct reading *rd, struct hn_topology *t) {
        unsigned id = hn_mask_next(&rd->ids, 0);
        struct hn_mask fast = HN_MASK_NULL;
        int r;

        for (hn_node_index i = 0; i < t->n_nodes; i++, id = hn_mask_next(&rd->ids, id + 1)) {
                t->nodes[i].id = id;
                r = read_node(rd, t, i);
                if (r < 0)
                        return r;
                count_node(rd, t, i);
                if (hn_hwtopo_node_is_fast(rd->hw, id))
                        (void) hn_mask_add(&fast, i);
        }
        r = read_distances(rd, t);
        if (r < 0)
                return r;
        r = hn_tiers_read(rd->root, &rd->claimed, &fast, t);
        if (r < 0)
                return r;
        return hn_hwtopo_devices(rd->hw, t, &t->devices, &t->n_devices);
}

int hn_machine_read(const struct hn_sysroot *root, const char *source, struct hn_topology *ret) {
        _hn_cleanup_(hn_hwtopo_freep) hwloc_topology_t hw = NULL;
        struct hn_topology masks = HN_TOPOLOGY_NULL, t;
        struct reading rd;
        int loaded, r;

        loaded = hn_hwtopo_load(root, source, &hw);
        if (loaded < 0 && (loaded == -ENOMEM || source))
                return loaded;
        rd = (struct reading){ .root = source ? NULL : root, .hw = hw };
        r = read_cpus(&rd, &masks);
        if (r < 0)
                return r;
        /* A capture may hold too little for hwloc; with no list of CPUs either there is no machine in it. */
        if (loaded < 0 && hn_mask_empty(&masks.online))
                return -ENODEV;
        r = read_node_ids(&rd);
        if (r < 0)
                return r;

        /* hn_mask_last() of the empty set + 1 is 0. */
        r = hn_topology_init(&t, hn_mask_count(&rd.ids), hn_mask_last(&masks.possible) + 1);
        if (r < 0)
                return r;
        t.possible = masks.possible;
        t.online = masks.online;
        t.isolated = masks.isolated;
        t.nohz_full = masks.nohz_full;
        r = fill(&rd, &t);
        if (r < 0) {
                hn_topology_deinit(&t);
                return r;
        }
        *ret = t;
        return 0;
}

/* Whether the list is there and another one. */
static bool differs(const struct hn_sysroot *root, const char *path, const struct hn_mask *known) {
        struct hn_mask m;

        return hn_sysfs_read_list(root, path, &m) == 0 && !hn_mask_equal(&m, known);
}

bool hn_machine_changed(const struct hn_sysroot *root, const struct hn_topology *topo) {
        struct hn_mask ids = HN_MASK_NULL, now;

        for (size_t i = 0; i < topo->n_nodes; i++)
                (void) hn_mask_add(&ids, topo->nodes[i].id);
        return differs(root, CPU_FOLDER "/online", &topo->online) ||
               differs(root, CPU_FOLDER "/isolated", &topo->isolated) ||
               (hn_sysfs_read_node_ids(root, &now) == 0 && !hn_mask_equal(&now, &ids));
}
