/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <sysexits.h>
#include <time.h>

#include "nodelook.h"
#include "sample/machine.h"
#include "sample/runqueue.h"
#include "sample/sysroot.h"
#include "verb.h"

/* Between the two looks: 20 ticks of each CPU, which nobody minds to wait. */
#define LOOK_MSEC 200

#define NSEC_PER_SEC 1000000000L

void hn_node_look_deinit(struct hn_node_look *l) {
        hn_topology_deinit(&l->topology);
        free(l->load);
        free(l->waiting);
        *l = HN_NODE_LOOK_NULL;
}

/* One reading of all counters. */
static int read_counters(const struct hn_sysroot *root, struct hn_node_look *l, struct hn_machine_busy *busy,
                         uint64_t *waited, struct timespec *ret_when) {
        size_t n_cpus = l->topology.n_cpu_ids;
        ssize_t n;
        int r;

        r = hn_machine_read_busy(root, &l->topology, busy, l->load);
        if (r < 0)
                return r;
        l->has_busy = r != HN_MACHINE_UNKNOWN;
        n = hn_runqueue_read(root, waited, n_cpus);
        if (n < 0)
                return (int) n;
        l->has_waiting = n > 0;
        if (clock_gettime(CLOCK_MONOTONIC, ret_when) < 0)
                return -errno;
        return 0;
}

static int measure_load(const struct hn_sysroot *root, struct hn_node_look *l) {
        _hn_cleanup_(hn_machine_busy_deinit) struct hn_machine_busy busy = HN_MACHINE_BUSY_NULL;
        size_t n_cpus = l->topology.n_cpu_ids;
        _hn_cleanup_(hn_freep) uint64_t *before = calloc(n_cpus + 1, sizeof(*before));
        _hn_cleanup_(hn_freep) uint64_t *now = calloc(n_cpus + 1, sizeof(*now));
        struct timespec pause = { .tv_nsec = LOOK_MSEC * 1000000L }, from, to;
        int r;

        if (!before || !now)
                return -ENOMEM;
        r = read_counters(root, l, &busy, before, &from);
        if (r < 0)
                return r;
        while (nanosleep(&pause, &pause) < 0 && errno == EINTR)
                ;
        r = read_counters(root, l, &busy, now, &to);
        if (r < 0)
                return r;
        hn_runqueue_between(&l->topology, before, now, n_cpus,
                            (uint64_t) ((to.tv_sec - from.tv_sec) * NSEC_PER_SEC + to.tv_nsec - from.tv_nsec),
                            l->waiting);
        return 0;
}

int hn_node_look_take(const char *sysroot, const char *machine, bool measure, struct hn_node_look *ret) {
        _hn_cleanup_(hn_node_look_deinit) struct hn_node_look l = HN_NODE_LOOK_NULL;
        _hn_cleanup_(hn_sysroot_close) struct hn_sysroot root = HN_SYSROOT_NULL;
        const char *where = sysroot ? sysroot : "/";
        int r;

        r = hn_sysroot_open(sysroot, &root);
        if (r < 0)
                return hn_complain_errno(r, "cannot open %s", where);
        r = hn_machine_read(&root, machine, &l.topology);
        if (r == -ENODEV) {
                hn_complain(
                        "%s holds no machine: no CPU can be found there; --sysroot wants a folder with sys and "
                        "proc in it",
                        where);
                return EX_NOINPUT;
        }
        if (r < 0)
                return hn_complain_errno(r, "cannot read a machine from %s", machine ? machine : where);
        l.load = calloc(l.topology.n_nodes, sizeof(*l.load));
        l.waiting = calloc(l.topology.n_nodes, sizeof(*l.waiting));
        if (!l.load || !l.waiting)
                return hn_complain_errno(-ENOMEM, "cannot keep the figures");

        /* A description has no figures, and a capture stands still. */
        if (!machine) {
                r = hn_machine_read_memory(&root, &l.topology, l.load);
                if (r < 0)
                        return hn_complain_errno(r, "cannot read the memory of the nodes");
                l.has_memory = true;
        }
        if (!machine && root.live && measure) {
                r = measure_load(&root, &l);
                if (r < 0)
                        return hn_complain_errno(r, "cannot measure the load of the nodes");
        }
        *ret = l;
        l = HN_NODE_LOOK_NULL;
        return 0;
}
