/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#pragma GCC visibility push(default)
#include "homenode.h"
#pragma GCC visibility pop

#include "act/affinity.h"
#include "base/macro.h"
#include "policy/faults.h"
#include "policy/topology.h"
#include "sample/machine.h"
#include "sample/procfs.h"
#include "sample/residency.h"
#include "sample/taskref.h"

struct hn_machine {
        struct hn_sysroot root;
        struct hn_topology topo;
        int proc_fd;
        uint64_t *priv, *shared; /* n_nodes, scratch */
};

#define SCHED_SIZE (64u << 10) /* /proc/TID/sched grows by 90 bytes a node */

const char *hn_library_version(void) {
        return HN_VERSION;
}

int hn_machine_open(const char *root, struct hn_machine **ret) {
        struct hn_machine *m = calloc(1, sizeof(*m));
        int r;

        if (!m)
                return -ENOMEM;
        m->root = HN_SYSROOT_NULL;
        m->proc_fd = -1;
        r = hn_sysroot_open(root, &m->root);
        if (r >= 0)
                r = hn_machine_read(&m->root, NULL, &m->topo);
        if (r >= 0) {
                /* A capture may be of /sys alone; then nothing is known of its threads. */
                m->proc_fd = openat(m->root.fd, "proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
                m->priv = calloc(m->topo.n_nodes + 1, sizeof(*m->priv));
                m->shared = calloc(m->topo.n_nodes + 1, sizeof(*m->shared));
                r = m->priv && m->shared ? 0 : -ENOMEM;
        }
        if (r < 0) {
                hn_machine_close(m);
                return r;
        }
        *ret = m;
        return 0;
}

struct hn_machine *hn_machine_close(struct hn_machine *m) {
        if (m) {
                if (m->proc_fd >= 0)
                        close(m->proc_fd);
                hn_topology_deinit(&m->topo);
                hn_sysroot_close(&m->root);
                free(m->priv);
                free(m->shared);
        }
        free(m);
        return NULL;
}

size_t hn_machine_nodes(const struct hn_machine *m, unsigned *ids, size_t n) {
        for (size_t i = 0; i < m->topo.n_nodes && i < n; i++)
                ids[i] = m->topo.nodes[i].id;
        return m->topo.n_nodes;
}

int hn_machine_node_cpus(const struct hn_machine *m, unsigned node, char *buf, size_t size) {
        hn_node_index i = hn_topology_index(&m->topo, node);

        return i == HN_NODE_NONE ? -ENOENT : hn_mask_print_list(&m->topo.nodes[i].usable, buf, size);
}

uint64_t hn_machine_node_memory(const struct hn_machine *m, unsigned node) {
        hn_node_index i = hn_topology_index(&m->topo, node);

        return i == HN_NODE_NONE ? 0 : m->topo.nodes[i].memory;
}

unsigned hn_machine_node_distance(const struct hn_machine *m, unsigned from, unsigned to) {
        hn_node_index f = hn_topology_index(&m->topo, from), t = hn_topology_index(&m->topo, to);

        return f == HN_NODE_NONE || t == HN_NODE_NONE ? 0 : hn_topology_distance(&m->topo, f, t);
}

/* Faults of the thread into m->priv and m->shared. Returns whether there are any, or -errno. */
static int read_faults(const struct hn_machine *m, pid_t tid) {
        char buf[SCHED_SIZE];
        struct hn_proc_sched sched;
        ssize_t n;
        int r;

        if (!(hn_proc_read_balancing(&m->root) & 1))
                return 0;
        n = hn_read_at(m->proc_fd, buf, sizeof(buf), "%d/sched", tid);
        if (n < 0)
                return n == -ENOENT || n == -ENOBUFS ? 0 : (int) n;
        r = hn_proc_sched_parse(buf, (size_t) n, &m->topo, m->priv, m->shared, &sched);
        return r < 0 ? 0 : sched.total > 0;
}

static int read_pages(const struct hn_machine *m, pid_t tid) {
        const struct hn_residency_reader reader = { .root = &m->root, .query = hn_query_pages_live };
        struct hn_residency residency;
        int r;

        memset(m->shared, 0, m->topo.n_nodes * sizeof(*m->shared));
        r = hn_residency_read(&reader, tid, /* seed= */ (uint64_t) tid, &m->topo, m->priv, &residency);
        return r < 0 ? r : residency.by_status[HN_PAGE_ON_NODE] > residency.elsewhere;
}

int hn_machine_find_home(const struct hn_machine *m, pid_t tid, struct hn_home *ret) {
        struct hn_home home = { .source = HN_HOME_FAULTS };
        struct hn_proc_stat stat;
        hn_node_index best, here;
        uint64_t total = 0;
        char buf[2048];
        ssize_t n;
        int r;

        if (m->proc_fd < 0)
                return -ENODATA;
        n = hn_read_at(m->proc_fd, buf, sizeof(buf), "%d/stat", tid);
        if (n < 0)
                return n == -ENOENT ? -ESRCH : (int) n;
        r = hn_proc_stat_parse(buf, (size_t) n, &stat);
        if (r < 0)
                return r;
        here = hn_topology_node_of_cpu(&m->topo, stat.cpu);
        home.runs_on = here == HN_NODE_NONE ? 0 : m->topo.nodes[here].id;

        r = read_faults(m, tid);
        if (r == 0) {
                home.source = HN_HOME_PAGES;
                r = read_pages(m, tid);
        }
        if (r < 0)
                return hn_is_gone(r) ? -ESRCH : r;
        if (r == 0) {
                home.source = HN_HOME_UNKNOWN;
                *ret = home;
                return 0;
        }

        for (size_t i = 0; i < m->topo.n_nodes; i++) {
                m->priv[i] += m->shared[i];
                total += m->priv[i];
        }
        best = hn_preferred(m->priv, m->topo.n_nodes, HN_NODE_NONE);
        home.node = m->topo.nodes[best].id;
        home.share = hn_weight(m->priv[best], 0, total);
        home.local = here == HN_NODE_NONE ? 0 : hn_weight(m->priv[here], 0, total);
        *ret = home;
        return 0;
}

int hn_machine_pin(const struct hn_machine *m, pid_t tid, unsigned node) {
        struct hn_affinity_ops ops = hn_affinity_live(&m->proc_fd);
        hn_node_index i = hn_topology_index(&m->topo, node);
        struct hn_mask now, want;
        struct hn_task_key key;
        int r;

        if (!m->root.live)
                return -EROFS;
        if (i == HN_NODE_NONE)
                return -ENOENT;
        r = hn_task_key_read(m->proc_fd, tid, &key);
        if (r != 0)
                return r < 0 ? r : -ESRCH;
        r = hn_affinity_get(tid, &now);
        if (r < 0)
                return r;
        want = hn_mask_and(&m->topo.nodes[i].usable, &now);
        if (hn_mask_empty(&want))
                return -EINVAL;
        r = hn_affinity_pin(&ops, &key, &now, &want, NULL);
        if (r == HN_APPLY_GONE)
                return -ESRCH;
        if (r == HN_APPLY_CHANGED || r == HN_APPLY_RETRY)
                return -EAGAIN;
        return r == HN_APPLY_REFUSED ? -EPERM : r;
}
