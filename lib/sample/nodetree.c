/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "sample/meminfo.h"
#include "sample/nodetree.h"
#include "sample/procstat.h"
#include "sample/sysfs.h"
#include "sample/tiers.h"

#define CPU_FOLDER "sys/devices/system/cpu"

/* SLIT entries are bytes; 10 is local, less is reserved. */
#define DISTANCE_MAX 255u

void hn_nodetree_settle(struct hn_topology *t, hn_node_index i, const struct hn_mask *claimed) {
        struct hn_mask cpus = hn_mask_and(claimed, &t->online);

        for (unsigned c = hn_mask_next(&cpus, 0); c != HN_MASK_NONE; c = hn_mask_next(&cpus, c + 1)) {
                if (t->cpu_node[c] == HN_NODE_NONE)
                        t->cpu_node[c] = i;
                else
                        hn_mask_remove(&cpus, c);
        }
        t->nodes[i].cpus = cpus;
}

struct hn_mask hn_nodetree_usable(const struct hn_topology *t, hn_node_index i) {
        struct hn_mask usable = hn_mask_andnot(&t->nodes[i].cpus, &t->isolated);

        return hn_mask_andnot(&usable, &t->nohz_full);
}

/* Rows have a column for each node that was online when they were read: the online ones, or all possible ones
 * in a capture that was cut down. Returns whether the row is understood. */
static bool take_row(const struct hn_topology *t, const struct hn_mask *possible, const unsigned *row,
                     size_t columns, unsigned *ret) {
        unsigned id = hn_mask_next(possible, 0);
        size_t to = 0;

        if (columns == t->n_nodes) {
                memcpy(ret, row, t->n_nodes * sizeof(*row));
                return true;
        }
        if (columns != hn_mask_count(possible))
                return false;
        for (size_t column = 0; column < columns; column++, id = hn_mask_next(possible, id + 1))
                if (hn_topology_index(t, id) != HN_NODE_NONE)
                        ret[to++] = row[column];
        return to == t->n_nodes;
}

int hn_nodetree_distances(const struct hn_sysroot *root, const struct hn_topology *t, unsigned *matrix) {
        struct hn_mask possible = HN_MASK_NULL;
        unsigned row[HN_SYSFS_NODES_MAX];
        size_t columns;
        int r;

        for (size_t i = 0; i < t->n_nodes; i++) {
                r = hn_sysfs_read_node_distances(root, t->nodes[i].id, row, HN_ELEMENTS(row), &columns);
                if (r == 0 && columns != t->n_nodes && hn_mask_empty(&possible))
                        r = hn_sysfs_read_list(root, "sys/devices/system/node/possible", &possible);
                if (r < 0)
                        return r;
                if (r == HN_SYSFS_ABSENT || !take_row(t, &possible, row, columns, matrix + i * t->n_nodes))
                        return 0;
        }
        return 1;
}

/* Asymmetry is real and fine. A machine whose every entry is 10 has a firmware that did not care. */
static bool is_sane(const unsigned *matrix, size_t n) {
        bool flat = n > 1;

        for (size_t i = 0; i < n * n; i++) {
                bool diagonal = i / n == i % n;

                if (matrix[i] < HN_DISTANCE_LOCAL || matrix[i] > DISTANCE_MAX ||
                    (diagonal && matrix[i] != HN_DISTANCE_LOCAL))
                        return false;
                flat = flat && matrix[i] == HN_DISTANCE_LOCAL;
        }
        return !flat;
}

void hn_nodetree_set_distances(struct hn_topology *t, const unsigned *matrix) {
        t->distances_known = is_sane(matrix, t->n_nodes);
        if (t->distances_known)
                memcpy(t->distances, matrix, t->n_nodes * t->n_nodes * sizeof(*matrix));
}

/* Without a list of those online: the CPUs that nodes claim, else those that /proc/stat counts for. */
static int guess_online(const struct hn_sysroot *root, const struct hn_mask *ids, struct hn_mask *ret) {
        _hn_cleanup_(hn_freep) struct hn_cpu_ticks *ticks = NULL;
        struct hn_mask claimed;
        ssize_t n;
        int r;

        for (unsigned id = hn_mask_next(ids, 0); id != HN_MASK_NONE; id = hn_mask_next(ids, id + 1)) {
                r = hn_sysfs_read_node_cpus(root, id, &claimed);
                if (r < 0)
                        return r;
                if (r == 0)
                        *ret = hn_mask_or(ret, &claimed);
        }
        if (!hn_mask_empty(ret))
                return 0;
        ticks = calloc(HN_MASK_BITS, sizeof(*ticks));
        if (!ticks)
                return -ENOMEM;
        n = hn_procstat_read(root, ticks, HN_MASK_BITS);
        if (n < 0)
                return (int) n;
        for (unsigned c = 0; c < HN_MASK_BITS; c++)
                if (ticks[c].total > 0)
                        (void) hn_mask_add(ret, c);
        return hn_mask_empty(ret) ? -ENODEV : 0;
}

static int read_cpus(const struct hn_sysroot *root, const struct hn_mask *ids, struct hn_topology *t) {
        int r;

        r = hn_sysfs_read_list(root, CPU_FOLDER "/online", &t->online);
        if (r >= 0)
                r = hn_sysfs_read_list(root, CPU_FOLDER "/isolated", &t->isolated);
        if (r >= 0)
                r = hn_sysfs_read_list(root, CPU_FOLDER "/nohz_full", &t->nohz_full);
        if (r < 0)
                return r;
        return hn_mask_empty(&t->online) ? guess_online(root, ids, &t->online) : 0;
}

/* Memory and CPUs of node `i`; `folder`: it has one of its own. */
static int read_node(const struct hn_sysroot *root, struct hn_topology *t, hn_node_index i, bool folder,
                     struct hn_node_load *load, struct hn_mask *claiming) {
        struct hn_mask claimed = HN_MASK_NULL;
        struct hn_node *node = &t->nodes[i];
        struct hn_meminfo memory;
        int r;

        if (folder) {
                r = hn_sysfs_read_node_cpus(root, node->id, &claimed);
                if (r >= 0)
                        r = hn_meminfo_read_node(root, node->id, &memory);
        } else {
                claimed = t->online;
                r = hn_meminfo_read(root, &memory);
        }
        if (r < 0)
                return r;
        if (!hn_mask_empty(&claimed))
                (void) hn_mask_add(claiming, i);
        hn_nodetree_settle(t, i, &claimed);
        node->usable = hn_nodetree_usable(t, i);
        node->n_cpus = hn_mask_count(&node->usable);
        node->n_cores = node->n_cpus;
        node->n_llcs = node->n_cpus > 0;
        node->memory = memory.total;
        *load = (struct hn_node_load){ .free = memory.free, .reclaimable = memory.reclaimable };
        return 0;
}

static int read_nodes(const struct hn_sysroot *root, const struct hn_mask *ids, bool folders,
                      struct hn_topology *t, struct hn_node_load *load) {
        _hn_cleanup_(hn_freep) unsigned *matrix = calloc(t->n_nodes * t->n_nodes, sizeof(*matrix));
        struct hn_mask claiming = HN_MASK_NULL, fast = HN_MASK_NULL;
        unsigned id = hn_mask_next(ids, 0);
        int r;

        if (!matrix)
                return -ENOMEM;
        for (hn_node_index i = 0; i < t->n_nodes; i++, id = hn_mask_next(ids, id + 1)) {
                t->nodes[i].id = id;
                r = read_node(root, t, i, folders, &load[i], &claiming);
                if (r < 0)
                        return r;
        }
        r = folders ? hn_nodetree_distances(root, t, matrix) : 0;
        if (r < 0)
                return r;
        if (r > 0)
                hn_nodetree_set_distances(t, matrix);
        /* All that have CPUs are of the first tier, whatever they are told apart by. */
        if (hn_mask_count(&claiming) == t->n_nodes)
                return 0;
        return hn_tiers_read(root, &claiming, &fast, t);
}

int hn_nodetree_read(const struct hn_sysroot *root, struct hn_topology *ret, struct hn_node_load **ret_load) {
        struct hn_topology masks = HN_TOPOLOGY_NULL, t;
        struct hn_mask ids = HN_MASK_NULL;
        struct hn_node_load *load;
        bool folders;
        int r;

        r = hn_sysfs_read_node_ids(root, &ids);
        if (r < 0)
                return r;
        folders = r == 0;
        r = read_cpus(root, &ids, &masks);
        if (r < 0)
                return r;
        if (!folders)
                (void) hn_mask_add(&ids, 0);

        r = hn_topology_init(&t, hn_mask_count(&ids), hn_mask_last(&masks.online) + 1);
        if (r < 0)
                return r;
        t.online = t.possible = masks.online;
        t.isolated = masks.isolated;
        t.nohz_full = masks.nohz_full;
        load = calloc(t.n_nodes, sizeof(*load));
        r = load ? read_nodes(root, &ids, folders, &t, load) : -ENOMEM;
        if (r < 0) {
                hn_topology_deinit(&t);
                free(load);
                return r;
        }
        *ret = t;
        *ret_load = load;
        return 0;
}
