/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "sample/sysfs.h"
#include "sample/tiers.h"

#define TIER_FOLDER "sys/devices/virtual/memory_tiering"

/* Of a node that the kernel has in no tier. */
#define UNLISTED UINT32_MAX

/* The kernel's tier of each node, UNLISTED without one. */
static int read_kernel_tiers(const struct hn_sysroot *root, const struct hn_topology *t, unsigned *tiers) {
        DIR *dir;
        int r;

        r = hn_opendir_at(root->fd, &dir, TIER_FOLDER);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                return 0; /* no such folder: no tiers */
        for (const struct dirent *de; (de = readdir(dir));) {
                struct hn_mask nodes;
                char path[128];
                unsigned tier;

                if (hn_numbered_name_parse(de->d_name, "memory_tier", &tier) < 0)
                        continue;
                (void) snprintf(path, sizeof(path), TIER_FOLDER "/memory_tier%u/nodelist", tier);
                r = hn_sysfs_read_list(root, path, &nodes);
                if (r < 0)
                        break;
                for (size_t i = 0; r == 0 && i < t->n_nodes; i++)
                        if (hn_mask_has(&nodes, t->nodes[i].id))
                                tiers[i] = tier;
        }
        (void) closedir(dir);
        return r < 0 ? r : 0;
}

/* The tier of the nodes with CPUs (the fastest, should they differ), else the fastest there is. */
static unsigned find_base(const struct hn_topology *t, const struct hn_mask *claimed, const unsigned *tiers) {
        unsigned with_cpus = UNLISTED, any = UNLISTED;

        for (unsigned i = 0; i < t->n_nodes; i++) {
                any = HN_MIN(any, tiers[i]);
                if (hn_mask_has(claimed, i))
                        with_cpus = HN_MIN(with_cpus, tiers[i]);
        }
        return with_cpus != UNLISTED ? with_cpus : any;
}

/* How many different tiers there are behind `base`, up to `tier`. */
static unsigned steps_behind(const unsigned *tiers, size_t n, unsigned base, unsigned tier) {
        unsigned steps = 0, reached = base;

        while (reached < tier) {
                unsigned next = tier;

                for (size_t i = 0; i < n; i++)
                        if (tiers[i] > reached)
                                next = HN_MIN(next, tiers[i]);
                reached = next;
                steps++;
        }
        return steps;
}

/* Whether a node with CPUs but no memory has nothing nearer than node `m`. */
static bool stands_in(const struct hn_topology *t, hn_node_index m) {
        for (hn_node_index i = 0; t->distances_known && i < t->n_nodes; i++) {
                bool nearest = hn_mask_count(&t->nodes[i].cpus) > 0 && t->nodes[i].memory == 0;

                for (hn_node_index k = 0; nearest && k < t->n_nodes; k++)
                        nearest = t->nodes[k].memory == 0 ||
                                  hn_topology_distance(t, i, m) <= hn_topology_distance(t, i, k);
                if (nearest)
                        return true;
        }
        return false;
}

int hn_tiers_read(const struct hn_sysroot *root, const struct hn_mask *claimed, const struct hn_mask *fast,
                  struct hn_topology *t) {
        _hn_cleanup_(hn_freep) unsigned *tiers = calloc(t->n_nodes + 1, sizeof(*tiers));
        unsigned base;
        int r;

        if (!tiers)
                return -ENOMEM;
        for (size_t i = 0; i < t->n_nodes; i++)
                tiers[i] = UNLISTED;
        if (root) {
                r = read_kernel_tiers(root, t, tiers);
                if (r < 0)
                        return r;
        }
        base = find_base(t, claimed, tiers);

        for (hn_node_index i = 0; i < t->n_nodes; i++) {
                struct hn_node *node = &t->nodes[i];

                if (hn_mask_has(claimed, i) || node->memory == 0)
                        node->tier = 0;
                else if (tiers[i] != UNLISTED)
                        node->tier = steps_behind(tiers, t->n_nodes, base, tiers[i]);
                else
                        node->tier = hn_mask_has(fast, i) || stands_in(t, i) ? 0 : 1;
        }
        return 0;
}
