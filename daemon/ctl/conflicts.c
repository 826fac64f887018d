/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/mask.h"
#include "conflicts.h"
#include "sample/procfs.h"
#include "sample/procview.h"

static int add(json_t *list, const char *kind, const char *fmt, ...) _hn_printf_(3, 4);

static int add(json_t *list, const char *kind, const char *fmt, ...) {
        json_t *o = json_object();
        char *text = NULL;
        va_list ap;
        int r;

        va_start(ap, fmt);
        r = vasprintf(&text, fmt, ap);
        va_end(ap);
        if (r < 0) {
                json_decref(o);
                return -ENOMEM;
        }
        r = json_object_set_new(o, "kind", json_string(kind));
        r |= json_object_set_new(o, "text", json_string(text));
        r |= json_array_append_new(list, o);
        free(text);
        return r == 0 ? 0 : -ENOMEM;
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

int hn_conflicts_find(const struct hn_sysroot *root, const struct hn_topology *topo, json_t **ret) {
        unsigned balancing = hn_proc_read_balancing(root);
        pid_t numad = find_process(root, "numad");
        json_t *list = json_array();
        char cpus[HN_MASK_LIST_MAX];
        int r = list ? 0 : -ENOMEM;

        if (r == 0 && !hn_topology_is_numa(topo))
                r = add(list, "one-node",
                        "fewer than two nodes have usable CPUs: there is nothing to place here");
        else if (r == 0 && !(balancing & 1))
                r = add(list, "numa-balancing",
                        "kernel.numa_balancing is %u: the kernel counts no NUMA hinting faults, so "
                        "homenode judges by "
                        "resident pages, which cannot tell the threads of a process apart; \"sysctl "
                        "kernel.numa_balancing=1\" gives it both",
                        balancing);
        if (r == 0 && numad > 0)
                r = add(list, "numad",
                        "numad runs (PID %d) and sets the masks of whole processes: the two undo each "
                        "other's work; "
                        "\"systemctl stop numad\", or opt nothing in here",
                        numad);
        if (r == 0 && !hn_mask_empty(&topo->isolated) &&
            hn_mask_print_list(&topo->isolated, cpus, sizeof(cpus)) >= 0)
                r = add(list, "isolated-cpus", "CPUs %s are isolated: nothing is ever placed there", cpus);
        if (r < 0) {
                json_decref(list);
                return r;
        }
        *ret = list;
        return 0;
}
