/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/mask.h"
#include "sample/conflicts.h"
#include "sample/procfs.h"
#include "sample/procview.h"

static int add(struct hn_conflicts *c, const char *kind, const char *fmt, ...) _hn_printf_(3, 4);

static int add(struct hn_conflicts *c, const char *kind, const char *fmt, ...) {
        struct hn_conflict *item = &c->items[c->n];
        va_list ap;
        int n;

        va_start(ap, fmt);
        n = vasprintf(&item->text, fmt, ap);
        va_end(ap);
        if (n < 0)
                return -ENOMEM;
        item->kind = kind;
        c->n++;
        return 0;
}

/* The process that is called `comm`, 0 for none. */
static pid_t find_process(const struct hn_sysroot *root, const char *comm) {
        _hn_cleanup_(hn_freep) pid_t *pids = NULL;
        size_t n;

        if (hn_proc_list(root, &pids, &n) < 0)
                return 0;
        for (size_t i = 0; i < n; i++) {
                char name[32];
                ssize_t k = hn_read_at(root->fd, name, sizeof(name), "proc/%d/comm", pids[i]);

                if (k > 0 && name[k - 1] == '\n')
                        name[k - 1] = '\0';
                if (k > 0 && strcmp(name, comm) == 0)
                        return pids[i];
        }
        return 0;
}

int hn_conflicts_find(const struct hn_sysroot *root, const struct hn_topology *topo,
                      struct hn_conflicts *ret) {
        _hn_cleanup_(hn_conflicts_deinit) struct hn_conflicts c = HN_CONFLICTS_NULL;
        unsigned balancing = hn_proc_read_balancing(root);
        pid_t numad = find_process(root, "numad");
        char cpus[HN_MASK_LIST_MAX];
        int r = 0;

        if (!hn_topology_is_numa(topo))
                r = add(&c, "one-node",
                        "fewer than two nodes have usable CPUs: there is nothing to place here");
        else if (!(balancing & 1))
                r = add(&c, "numa-balancing",
                        "kernel.numa_balancing is %u: the kernel counts no NUMA hinting faults, so "
                        "homenode judges by "
                        "resident pages, which cannot tell the threads of a process apart; \"sysctl "
                        "kernel.numa_balancing=1\" gives it both",
                        balancing);
        if (r == 0 && numad > 0)
                r = add(&c, "numad",
                        "numad runs (PID %d) and sets the masks of whole processes: the two undo each "
                        "other's work; "
                        "\"systemctl stop numad\", or opt nothing in here",
                        numad);
        if (r == 0 && !hn_mask_empty(&topo->isolated) &&
            hn_mask_print_list(&topo->isolated, cpus, sizeof(cpus)) >= 0)
                r = add(&c, "isolated-cpus", "CPUs %s are isolated: nothing is ever placed there", cpus);
        if (r < 0)
                return r;
        *ret = c;
        c = HN_CONFLICTS_NULL;
        return 0;
}

void hn_conflicts_deinit(struct hn_conflicts *c) {
        for (size_t i = 0; i < c->n; i++)
                free(c->items[i].text);
        *c = HN_CONFLICTS_NULL;
}

bool hn_conflicts_equal(const struct hn_conflicts *a, const struct hn_conflicts *b) {
        if (a->n != b->n)
                return false;
        for (size_t i = 0; i < a->n; i++)
                if (strcmp(a->items[i].kind, b->items[i].kind) != 0 ||
                    strcmp(a->items[i].text, b->items[i].text) != 0)
                        return false;
        return true;
}
