/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/parse.h"
#include "sample/procfs.h"
#include "sample/procview.h"

/* A `sched` file of a machine with 1,024 nodes; a status whose lists are full of holes. */
#define FILE_MAX_SIZE (256u << 10)
/* Threads of one process that we list. */
#define THREADS_MAX (1u << 18)

void hn_proc_view_deinit(struct hn_proc_view *v) {
        free(v->cgroup);
        free(v->threads);
        free(v->by_node);
        free(v->faults);
        *v = HN_PROC_VIEW_NULL;
}

static int by_pid(const void *a, const void *b) {
        const pid_t *x = a, *y = b;

        return HN_CMP(*x, *y);
}

/* The numeric names of a folder below the root, ascending. */
static int list_numbers(int fd, const char *path, pid_t **ret, size_t *ret_n) {
        _hn_cleanup_(hn_freep) pid_t *list = NULL;
        size_t n = 0, allocated = 0;
        const struct dirent *entry;
        DIR *dir;
        int r;

        r = hn_opendir_at(fd, &dir, "%s", path);
        if (r < 0)
                return r;
        while (r == 0 && n < THREADS_MAX && (entry = readdir(dir))) {
                unsigned id;

                if (entry->d_name[0] < '0' || entry->d_name[0] > '9' ||
                    hn_parse_unsigned(entry->d_name, strlen(entry->d_name), &id) < 0 || id > INT32_MAX)
                        continue;
                if (n == allocated) {
                        size_t more = allocated ? 2 * allocated : 64;
                        pid_t *grown = reallocarray(list, more, sizeof(*list));

                        if (!grown) {
                                r = -ENOMEM;
                                break;
                        }
                        list = grown;
                        allocated = more;
                }
                list[n++] = (pid_t) id;
        }
        (void) closedir(dir);
        if (r < 0)
                return r;
        if (n > 1)
                qsort(list, n, sizeof(*list), by_pid);
        *ret = HN_TAKE_PTR(list);
        *ret_n = n;
        return 0;
}

int hn_proc_list(const struct hn_sysroot *root, pid_t **ret, size_t *ret_n) {
        return list_numbers(root->fd, "proc", ret, ret_n);
}

/* Arithmetic */

static hn_node_index argmax(const uint64_t *v, size_t n) {
        hn_node_index best = HN_NODE_NONE;

        for (size_t i = 0; i < n; i++)
                if (v[i] > 0 && (best == HN_NODE_NONE || v[i] > v[best]))
                        best = (hn_node_index) i;
        return best;
}

static uint64_t sum(const uint64_t *v, size_t n) {
        uint64_t total = 0;

        for (size_t i = 0; i < n; i++)
                if (__builtin_add_overflow(total, v[i], &total))
                        return UINT64_MAX;
        return total;
}

static uint64_t scale(uint64_t v, uint64_t part, uint64_t whole) {
        return whole == 0 ? 0 : (uint64_t) ((__uint128_t) v * part / whole);
}

/* Rounded: `part` of `whole`, which is not 0. */
static int permille(uint64_t part, uint64_t whole) {
        return (int) (((__uint128_t) part * 1000 + whole / 2) / whole);
}

static uint64_t remote_of(uint64_t bytes, int local) {
        return local < 0 ? 0 : scale(bytes, (uint64_t) (1000 - local), 1000);
}

static void settle_thread(struct hn_proc_view *v, struct hn_thread_view *t, size_t n_nodes,
                          const uint64_t *row, uint64_t all_faults) {
        const uint64_t *weights = t->faults > 0 ? row : v->by_node;
        uint64_t total, part;

        t->signal = HN_SIGNAL_NONE;
        t->home = HN_NODE_NONE;
        t->local = -1;
        t->remote = 0;
        if (t->faults == 0 && !v->has_pages)
                return;
        total = sum(weights, n_nodes);
        if (total == 0)
                return;
        t->signal = t->faults > 0 ? HN_SIGNAL_FAULTS : HN_SIGNAL_RESIDENCY;
        t->home = argmax(weights, n_nodes);
        if (t->node < n_nodes)
                t->local = permille(weights[t->node], total);

        /* Faults tell how much of the process's memory is this thread's; pages do not, so all have the same.
         */
        part = all_faults > 0 ? scale(v->bytes, t->faults, all_faults) : v->bytes / v->n_threads;
        t->remote = remote_of(part, t->local);
}

void hn_proc_view_settle(struct hn_proc_view *v, const struct hn_topology *topo, const uint64_t *rows) {
        size_t n = topo->n_nodes;
        __uint128_t weights = 0, local = 0;

        memset(v->faults, 0, n * sizeof(*v->faults));
        for (size_t i = 0; i < v->n_threads; i++) {
                v->threads[i].faults = sum(&rows[i * n], n);
                for (size_t k = 0; k < n; k++)
                        v->faults[k] += rows[i * n + k];
        }
        v->signal = HN_SIGNAL_NONE;
        v->nodes = HN_MASK_NULL;
        v->mask = v->n_threads > 0 ? v->threads[0].mask : HN_MASK_ID_NONE;
        v->masks_differ = false;
        for (size_t i = 0; i < v->n_threads; i++) {
                struct hn_thread_view *t = &v->threads[i];

                settle_thread(v, t, n, &rows[i * n], sum(v->faults, n));
                v->signal = HN_MAX(v->signal, t->signal);
                if (t->node < n)
                        (void) hn_mask_add(&v->nodes, topo->nodes[t->node].id);
                if (t->mask != v->mask)
                        v->masks_differ = true;
        }
        if (v->masks_differ)
                v->mask = HN_MASK_ID_NONE;

        /* Only threads with the best signal count: faults and pages are not of one kind. A thread that ran
         * counts for what it ran, and one that never did for something, so that a young process has a figure.
         */
        for (size_t i = 0; i < v->n_threads; i++) {
                const struct hn_thread_view *t = &v->threads[i];
                uint64_t weight = t->signal == HN_SIGNAL_FAULTS ? t->faults : t->ticks + 1;

                if (t->signal != v->signal || t->local < 0)
                        continue;
                weights += weight;
                local += (__uint128_t) weight * (unsigned) t->local;
        }
        v->home = v->signal == HN_SIGNAL_FAULTS ? argmax(v->faults, n)
                  : v->has_pages                ? argmax(v->by_node, n)
                                                : HN_NODE_NONE;
        v->local = v->signal == HN_SIGNAL_NONE || weights == 0 ? -1 : (int) ((local + weights / 2) / weights);
        v->remote = remote_of(v->bytes, v->local);
}

/* Reading */

/* One thread into `t`, its faults into `row`. Returns 0 or HN_PROC_GONE or HN_PROC_KERNEL, or -errno. */
static int read_thread(const struct hn_proc_viewer *w, pid_t pid, pid_t tid, char *buf, size_t size,
                       uint64_t *row, uint64_t *scratch, struct hn_thread_view *t) {
        struct hn_proc_status status;
        struct hn_proc_sched sched;
        struct hn_proc_stat stat;
        int fd = w->root->fd, r;
        ssize_t n;

        n = hn_read_at(fd, buf, size, "proc/%d/task/%d/stat", pid, tid);
        if (n < 0)
                return hn_is_gone((int) n) ? HN_PROC_GONE : (int) n;
        r = hn_proc_stat_parse(buf, (size_t) n, &stat);
        if (r < 0 || stat.state == 'Z' || stat.state == 'X')
                return HN_PROC_GONE;
        if (stat.flags & HN_PF_KTHREAD)
                return HN_PROC_KERNEL;
        *t = (struct hn_thread_view){
                .key = { .tid = tid, .start = stat.start },
                .node = hn_topology_node_of_cpu(w->topo, stat.cpu),
                .ticks = stat.ticks,
                .mask = HN_MASK_ID_NONE,
        };
        memcpy(t->comm, stat.comm, sizeof(t->comm));

        /* What is missing from here on is a figure less, not a thread less. */
        memset(row, 0, w->topo->n_nodes * sizeof(*row));
        n = hn_read_at(fd, buf, size, "proc/%d/task/%d/sched", pid, tid);
        if (n >= 0 && hn_proc_sched_parse(buf, (size_t) n, w->topo, row, scratch, &sched) == 0)
                for (size_t i = 0; i < w->topo->n_nodes; i++)
                        row[i] += scratch[i];
        n = hn_read_at(fd, buf, size, "proc/%d/task/%d/status", pid, tid);
        if (n >= 0 && hn_proc_status_parse(buf, (size_t) n, &status) == 0 && status.has_cpus)
                return hn_mask_pool_intern(w->masks, &status.cpus, &t->mask);
        return 0;
}

static int read_threads(const struct hn_proc_viewer *w, char *buf, size_t size, struct hn_proc_view *v,
                        uint64_t **ret_rows) {
        size_t n_nodes = w->topo->n_nodes, n_tids;
        _hn_cleanup_(hn_freep) uint64_t *rows = NULL, *scratch = NULL;
        _hn_cleanup_(hn_freep) pid_t *tids = NULL;
        char path[32];
        int r;

        (void) snprintf(path, sizeof(path), "proc/%d/task", v->pid);
        r = list_numbers(w->root->fd, path, &tids, &n_tids);
        if (r < 0)
                return hn_is_gone(r) ? HN_PROC_GONE : r;
        rows = calloc(n_tids * n_nodes + 1, sizeof(*rows));
        scratch = calloc(n_nodes + 1, sizeof(*scratch));
        v->threads = calloc(n_tids + 1, sizeof(*v->threads));
        if (!rows || !scratch || !v->threads)
                return -ENOMEM;
        for (size_t i = 0; i < n_tids; i++) {
                r = read_thread(w, v->pid, tids[i], buf, size, &rows[v->n_threads * n_nodes], scratch,
                                &v->threads[v->n_threads]);
                if (r < 0 || r == HN_PROC_KERNEL)
                        return r;
                v->n_threads += r == 0;
        }
        *ret_rows = HN_TAKE_PTR(rows);
        return v->n_threads > 0 ? 0 : HN_PROC_GONE;
}

/* The path in the hierarchy that cgroupfs.h calls the one of identity. */
static int read_cgroup(const struct hn_proc_viewer *w, char *buf, size_t size, struct hn_proc_view *v) {
        static const char *const controllers[] = { NULL, "name=systemd", "cpuset" };
        const char *path = "";
        size_t length = 0;
        ssize_t n = hn_read_at(w->root->fd, buf, size, "proc/%d/cgroup", v->pid);

        for (size_t i = 0; n >= 0 && i < HN_ELEMENTS(controllers); i++)
                if (hn_proc_cgroup_parse(buf, (size_t) n, controllers[i], &path, &length) == 0)
                        break;
        v->cgroup = strndup(path, length);
        return v->cgroup ? 0 : -ENOMEM;
}

/* Anonymous memory from statm(5): resident less shared pages. */
static void read_size(const struct hn_proc_viewer *w, char *buf, size_t size, struct hn_proc_view *v) {
        ssize_t got = hn_read_at(w->root->fd, buf, size, "proc/%d/statm", v->pid);
        uint64_t fields[3];
        const char *text = buf, *word;
        size_t n = got < 0 ? 0 : (size_t) got, length;

        for (size_t i = 0; i < HN_ELEMENTS(fields); i++)
                if (!hn_next_word(&text, &n, &word, &length) || hn_parse_u64(word, length, &fields[i]) < 0)
                        return;
        v->bytes = hn_usec_sub(fields[1], fields[2]) * (uint64_t) sysconf(_SC_PAGESIZE);
}

static int read_pages(const struct hn_proc_viewer *w, struct hn_proc_view *v) {
        size_t n = w->topo->n_nodes;
        uint64_t page = (uint64_t) sysconf(_SC_PAGESIZE), known;
        struct hn_residency residency;
        int r;

        r = hn_residency_read(&w->residency, v->pid, (uint64_t) v->pid, w->topo, v->by_node, &residency);
        if (r == -ENOMEM)
                return r;
        v->pages_denied = r == -EPERM || r == -EACCES;
        known = r < 0 ? 0 : sum(v->by_node, n);
        if (known == 0) {
                memset(v->by_node, 0, n * sizeof(*v->by_node));
                return 0;
        }
        v->has_pages = true;
        /* A capture's numa_maps counted every page, a live machine was asked about a few. */
        if (!w->root->live)
                v->bytes = known * page;
        for (size_t i = 0; i < n; i++)
                v->by_node[i] = scale(v->bytes, v->by_node[i], known);
        return 0;
}

int hn_proc_view_read(const struct hn_proc_viewer *viewer, pid_t pid, struct hn_proc_view *ret) {
        _hn_cleanup_(hn_proc_view_deinit) struct hn_proc_view v = HN_PROC_VIEW_NULL;
        _hn_cleanup_(hn_freep) uint64_t *rows = NULL;
        _hn_cleanup_(hn_freep) char *buf = malloc(FILE_MAX_SIZE);
        struct hn_proc_stat stat;
        ssize_t n;
        int r;

        v.pid = pid;
        v.by_node = calloc(viewer->topo->n_nodes + 1, sizeof(*v.by_node));
        v.faults = calloc(viewer->topo->n_nodes + 1, sizeof(*v.faults));
        if (!buf || !v.by_node || !v.faults)
                return -ENOMEM;
        n = hn_read_at(viewer->root->fd, buf, FILE_MAX_SIZE, "proc/%d/stat", pid);
        if (n < 0)
                return hn_is_gone((int) n) ? HN_PROC_GONE : (int) n;
        if (hn_proc_stat_parse(buf, (size_t) n, &stat) < 0)
                return HN_PROC_GONE;
        if (stat.flags & HN_PF_KTHREAD)
                return HN_PROC_KERNEL;
        memcpy(v.comm, stat.comm, sizeof(v.comm));

        r = read_threads(viewer, buf, FILE_MAX_SIZE, &v, &rows);
        if (r == 0)
                r = read_cgroup(viewer, buf, FILE_MAX_SIZE, &v);
        if (r != 0)
                return r;
        read_size(viewer, buf, FILE_MAX_SIZE, &v);
        if (viewer->pages) {
                r = read_pages(viewer, &v);
                if (r < 0)
                        return r;
        }
        hn_proc_view_settle(&v, viewer->topo, rows);
        *ret = v;
        v = HN_PROC_VIEW_NULL;
        return 0;
}
