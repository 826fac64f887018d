/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>

#include "act/affinity.h"
#include "mempolicy.h"
#include "runshow.h"
#include "sample/meminfo.h"
#include "sample/sysfs.h"

static void print_ids(FILE *f, const char *label, const struct hn_mask *m) {
        fprintf(f, "%s:", label);
        for (unsigned id = hn_mask_next(m, 0); id != HN_MASK_NONE; id = hn_mask_next(m, id + 1))
                fprintf(f, " %u", id);
        fputc('\n', f);
}

static void print_preferred(FILE *f, const struct hn_mempolicy *p, unsigned next) {
        unsigned first = hn_mask_next(&p->nodes, 0);

        fputs("preferred node: ", f);
        if (p->mode == HN_MPOL_INTERLEAVE || p->mode == HN_MPOL_WEIGHTED_INTERLEAVE)
                fprintf(f, "%u (interleave next)\n", next);
        else if (first == HN_MASK_NONE)
                fputs("current\n", f);
        else
                fprintf(f, "%u%s\n", first, p->mode == HN_MPOL_PREFERRED_MANY ? " (preferred-many)" : "");
}

int hn_run_show(const struct hn_sysroot *root, const struct hn_allowance *allowance, FILE *f,
                struct hn_why *why) {
        struct hn_mask cpus, nodes = HN_MASK_NULL, some;
        struct hn_mempolicy p;
        const char *name;
        unsigned next = 0;
        int r;

        r = hn_affinity_get(0, &cpus);
        if (r < 0)
                return hn_why_errno(why, r, "cannot read the CPU affinity");
        r = hn_mempolicy_get(&p);
        if (r < 0)
                return hn_why_errno(why, r, "cannot read the memory policy");
        (void) hn_mempolicy_next(&next);
        for (unsigned id = hn_mask_next(&allowance->mems, 0); id != HN_MASK_NONE;
             id = hn_mask_next(&allowance->mems, id + 1))
                if (hn_sysfs_read_node_cpus(root, id, &some) == 0 && hn_mask_intersects(&some, &cpus))
                        (void) hn_mask_add(&nodes, id);
        name = hn_mempolicy_name(p.mode);
        if (name)
                fprintf(f, "policy: %s%s\n", name, p.flags & HN_MPOL_F_NUMA_BALANCING ? " balancing" : "");
        else
                fprintf(f, "policy: [%d]\n", p.mode);
        print_preferred(f, &p, next);
        if (p.mode == HN_MPOL_INTERLEAVE || p.mode == HN_MPOL_WEIGHTED_INTERLEAVE) {
                print_ids(f, "interleavemask", &p.nodes);
                fprintf(f, "interleavenode: %u\n", next);
        }
        print_ids(f, "physcpubind", &cpus);
        print_ids(f, "cpubind", &nodes);
        print_ids(f, "nodebind", &nodes);
        print_ids(f, "membind", p.mode == HN_MPOL_BIND ? &p.nodes : &allowance->mems);
        /* Of every policy, as numactl has it, and not only of those that prefer. */
        print_ids(f, "preferred", &p.nodes);
        return 0;
}

/* Hardware */

/* " 0-3, 8 (5)" */
static void print_ranges(FILE *f, unsigned node, const struct hn_mask *m) {
        const char *comma = "";

        fprintf(f, "node %u cpus:", node);
        for (unsigned first = hn_mask_next(m, 0); first != HN_MASK_NONE;) {
                unsigned last = first;

                while (hn_mask_has(m, last + 1))
                        last++;
                if (last > first)
                        fprintf(f, "%s %u-%u", comma, first, last);
                else
                        fprintf(f, "%s %u", comma, first);
                comma = ",";
                first = hn_mask_next(m, last + 1);
        }
        fprintf(f, " (%u)\n", hn_mask_count(m));
}

static int print_node(const struct hn_sysroot *root, unsigned id, const struct hn_mask *online, bool ranges,
                      FILE *f) {
        struct hn_mask cpus = HN_MASK_NULL;
        struct hn_meminfo memory;
        char label[32];
        int r;

        r = hn_sysfs_read_node_cpus(root, id, &cpus);
        if (r >= 0)
                r = hn_meminfo_read_node(root, id, &memory);
        if (r < 0)
                return r;
        if (!hn_mask_empty(online))
                cpus = hn_mask_and(&cpus, online);
        (void) snprintf(label, sizeof(label), "node %u cpus", id);
        if (ranges)
                print_ranges(f, id, &cpus);
        else
                print_ids(f, label, &cpus);
        fprintf(f, "node %u size: %" PRIu64 " MB\nnode %u free: %" PRIu64 " MB\n", id, memory.total >> 20, id,
                memory.free >> 20);
        return 0;
}

/* Rows of the kernel hold a distance for each online node, in order. */
static int print_distances(const struct hn_sysroot *root, const struct hn_mask *nodes, FILE *f) {
        unsigned row[HN_SYSFS_NODES_MAX], n_nodes = hn_mask_count(nodes);
        bool said = false;

        for (unsigned id = hn_mask_next(nodes, 0); id != HN_MASK_NONE; id = hn_mask_next(nodes, id + 1)) {
                size_t n = 0;
                int r = hn_sysfs_read_node_distances(root, id, row, HN_ELEMENTS(row), &n);

                if (r < 0)
                        return r;
                if (r > 0 || n != n_nodes) {
                        if (!said)
                                fputs("No distance information available.\n", f);
                        return 0;
                }
                if (!said) {
                        fputs("node distances:\nnode ", f);
                        for (unsigned k = hn_mask_next(nodes, 0); k != HN_MASK_NONE;
                             k = hn_mask_next(nodes, k + 1))
                                fprintf(f, " %4u", k);
                        fputc('\n', f);
                        said = true;
                }
                fprintf(f, "%4u:", id);
                for (size_t k = 0; k < n; k++)
                        fprintf(f, " %4u", row[k]);
                fputc('\n', f);
        }
        return 0;
}

int hn_run_hardware(const struct hn_sysroot *root, const struct hn_allowance *allowance, bool ranges, FILE *f,
                    struct hn_why *why) {
        struct hn_mask online = HN_MASK_NULL;
        char list[HN_MASK_LIST_MAX];
        int r;

        (void) hn_mask_print_list(&allowance->nodes, list, sizeof(list));
        fprintf(f, "available: %u nodes (%s)\n", hn_mask_count(&allowance->nodes), list);
        r = hn_sysfs_read_list(root, "sys/devices/system/cpu/online", &online);
        for (unsigned id = hn_mask_next(&allowance->nodes, 0); r >= 0 && id != HN_MASK_NONE;
             id = hn_mask_next(&allowance->nodes, id + 1))
                r = print_node(root, id, &online, ranges, f);
        if (r >= 0)
                r = print_distances(root, &allowance->nodes, f);
        return r < 0 ? hn_why_errno(why, r, "cannot read the machine") : 0;
}
