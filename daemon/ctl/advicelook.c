/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "advicelook.h"
#include "base/macro.h"
#include "sample/clock.h"
#include "sample/machineload.h"
#include "sample/nodetree.h"
#include "statefile.h"

void hn_advice_look_deinit(struct hn_advice_look *l) {
        hn_topology_deinit(&l->topology);
        free(l->nodes);
        *l = HN_ADVICE_LOOK_NULL;
}

static void decrefp(json_t **o) {
        json_decref(*o);
}

static uint64_t positive(const json_t *object, const char *key) {
        return (uint64_t) HN_MAX(hn_state_number(object, key), (int64_t) 0);
}

/* Each node has to be there: the daemon may not know yet what came or went. */
static bool take_daemons(const json_t *load, struct hn_advice_look *l) {
        const json_t *o;
        size_t i, found = 0;

        json_array_foreach (load, i, o) {
                uint64_t id = positive(o, "node");
                hn_node_index node = id <= UINT32_MAX ? hn_topology_index(&l->topology, (unsigned) id)
                                                      : HN_NODE_NONE;

                if (node == HN_NODE_NONE || !json_is_integer(json_object_get(o, "busy")))
                        return false;
                l->nodes[node].busy = HN_MIN(positive(o, "busy"), (uint64_t) UINT32_MAX);
                l->nodes[node].claimed = HN_MIN(positive(o, "others"), (uint64_t) UINT32_MAX) +
                                         HN_MIN(positive(o, "opted_in"), (uint64_t) UINT32_MAX);
                found++;
        }
        return found == l->topology.n_nodes;
}

/* Returns whether there are figures of the daemon, which are in `l` then. */
static bool ask_daemon(const struct hn_sysroot *root, const char *run_dir, struct hn_advice_look *l) {
        _hn_cleanup_(decrefp) json_t *state = NULL;
        uint64_t now = hn_clock(CLOCK_REALTIME), written;

        if (hn_statefile_read(run_dir, &state) < 0)
                return false;
        if (hn_statefile_judge(state, now, hn_statefile_is_daemon(root, hn_state_number(state, "pid"))) !=
            HN_DAEMON_RUNNING)
                return false;
        written = positive(state, "time_usec");
        l->age = hn_usec_sub(now, written);
        if (l->age <= HN_ADVICE_FRESH && take_daemons(json_object_get(state, "load"), l))
                return true;
        for (size_t i = 0; i < l->topology.n_nodes; i++)
                l->nodes[i].busy = l->nodes[i].claimed = 0;
        l->age = 0;
        return false;
}

static int measure(const struct hn_sysroot *root, struct hn_node_load *load, struct hn_advice_look *l) {
        _hn_cleanup_(hn_machine_busy_deinit) struct hn_machine_busy busy = HN_MACHINE_BUSY_NULL;
        struct timespec pause = { .tv_nsec = (long) HN_ADVICE_PAUSE * 1000 };
        int r;

        r = hn_machine_read_busy(root, &l->topology, &busy, load);
        if (r < 0 || !busy.primed)
                return r < 0 ? r : 0;
        while (nanosleep(&pause, &pause) < 0 && errno == EINTR)
                ;
        r = hn_machine_read_busy(root, &l->topology, &busy, load);
        if (r < 0)
                return r;
        if (r == HN_MACHINE_UNKNOWN)
                return 0;
        for (size_t i = 0; i < l->topology.n_nodes; i++)
                l->nodes[i].busy = load[i].busy;
        l->source = HN_LOAD_MEASURED;
        return 0;
}

int hn_advice_look_take(const struct hn_sysroot *root, const char *run_dir, struct hn_advice_look *ret) {
        _hn_cleanup_(hn_advice_look_deinit) struct hn_advice_look l = HN_ADVICE_LOOK_NULL;
        _hn_cleanup_(hn_freep) struct hn_node_load *load = NULL;
        int r;

        r = hn_nodetree_read(root, &l.topology, &load);
        if (r < 0)
                return r;
        l.nodes = calloc(l.topology.n_nodes, sizeof(*l.nodes));
        if (!l.nodes)
                return -ENOMEM;
        for (size_t i = 0; i < l.topology.n_nodes; i++)
                l.nodes[i] = (struct hn_advise_node){
                        .allowed = true,
                        .free = load[i].free,
                        .reclaimable = load[i].reclaimable,
                };
        if (run_dir && ask_daemon(root, run_dir, &l))
                l.source = HN_LOAD_DAEMON;
        else if (root->live) {
                /* A capture stands still. */
                r = measure(root, load, &l);
                if (r < 0)
                        return r;
        }
        *ret = l;
        l = HN_ADVICE_LOOK_NULL;
        return 0;
}

void hn_advice_look_without(struct hn_advice_look *l, const struct hn_mask *cpus) {
        for (size_t i = 0; i < l->topology.n_nodes; i++) {
                struct hn_node *node = &l->topology.nodes[i];

                node->cpus = hn_mask_andnot(&node->cpus, cpus);
                node->usable = hn_mask_andnot(&node->usable, cpus);
                node->n_cpus = hn_mask_count(&node->usable);
        }
}

const char *hn_advice_own_place(char *buf, size_t size) {
        const char *dir = getenv("XDG_RUNTIME_DIR");
        int n = dir && dir[0] == '/' ? snprintf(buf, size, "%s/homenode", dir) : -1;

        if (n < 0 || (size_t) n >= size)
                return NULL;
        return mkdir(buf, 0700) < 0 && errno != EEXIST ? NULL : buf;
}
