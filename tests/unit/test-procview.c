/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "sample/machine.h"
#include "sample/procview.h"

/* Nodes 0 and 255, CPUs 0 and 1 on the first, 2 and 3 on the second. */
static void make_topology(struct hn_topology *t) {
        assert_int_equal(hn_topology_init(t, 2, 4), 0);
        t->nodes[1].id = 255;
        for (unsigned i = 0; i < 4; i++)
                t->cpu_node[i] = (hn_node_index) (i / 2);
}

/* Arithmetic */

struct thread_row {
        hn_node_index node;
        uint64_t ticks, faults[2];
        /* expected */
        enum hn_signal signal;
        hn_node_index home;
        int local;
        uint64_t remote;
};

#define NONE   HN_NODE_NONE
#define FAULTS HN_SIGNAL_FAULTS
#define PAGES  HN_SIGNAL_RESIDENCY
#define NO     HN_SIGNAL_NONE

static const struct {
        bool has_pages;
        uint64_t by_node[2]; /* bytes is their sum, or 1000 where they are unknown */
        size_t n;
        struct thread_row threads[3];
        /* expected */
        enum hn_signal signal;
        hn_node_index home;
        int local;
        uint64_t remote;
} rows[] = {
        /* nothing known is not 0 % */
        { false, { 0, 0 }, 1, { { 0, 5, { 0, 0 }, NO, NONE, -1, 0 } }, NO, NONE, -1, 0 },
        { true, { 0, 0 }, 1, { { 0, 5, { 0, 0 }, NO, NONE, -1, 0 } }, NO, NONE, -1, 0 },
        /* pages alone: the share where it runs; a CPU of no node has none */
        { true, { 250, 750 }, 1, { { 0, 5, { 0, 0 }, PAGES, 1, 250, 750 } }, PAGES, 1, 250, 750 },
        { true, { 250, 750 }, 1, { { NONE, 5, { 0, 0 }, PAGES, 1, -1, 0 } }, PAGES, 1, -1, 0 },
        /* two threads share all pages; the process weighs them by CPU time (3 + 1 and 11 + 1) */
        { true,
          { 200, 800 },
          2,
          { { 0, 3, { 0, 0 }, PAGES, 1, 200, 400 }, { 1, 11, { 0, 0 }, PAGES, 1, 800, 100 } },
          PAGES,
          1,
          650,
          350 },
        /* faults are a thread's own, and tell how much of the memory is its */
        { true,
          { 500, 500 },
          2,
          { { 0, 1, { 90, 10 }, FAULTS, 0, 900, 50 }, { 0, 1, { 0, 100 }, FAULTS, 1, 0, 500 } },
          FAULTS,
          1,
          450,
          550 },
        /* one that has no faults yet goes by pages and does not count for the process */
        { true,
          { 400, 600 },
          3,
          { { 0, 1, { 100, 0 }, FAULTS, 0, 1000, 0 },
            { 1, 900, { 0, 0 }, PAGES, 1, 600, 0 },
            { 1, 1, { 0, 300 }, FAULTS, 1, 1000, 0 } },
          FAULTS,
          1,
          1000,
          0 },
        /* faults without rights to see pages: the size is known from statm */
        { false, { 0, 0 }, 1, { { 1, 1, { 30, 10 }, FAULTS, 0, 250, 750 } }, FAULTS, 0, 250, 750 },
        /* counters near the end of their range */
        { true,
          { UINT64_MAX / 4, UINT64_MAX / 4 },
          1,
          { { 0, 1, { UINT64_MAX / 4, UINT64_MAX / 4 }, FAULTS, 0, 500, UINT64_MAX / 4 } },
          FAULTS,
          0,
          500,
          UINT64_MAX / 4 },
};

static void shares_follow_the_signal(void **state) {
        struct hn_topology topo = HN_TOPOLOGY_NULL;

        (void) state;
        make_topology(&topo);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_thread_view threads[3] = { 0 };
                uint64_t by_node[2], faults[2] = { 7, 7 }, all[6] = { 0 };
                struct hn_proc_view v = HN_PROC_VIEW_NULL;

                memcpy(by_node, rows[i].by_node, sizeof(by_node));
                v.threads = threads;
                v.n_threads = rows[i].n;
                v.by_node = by_node;
                v.faults = faults;
                v.has_pages = rows[i].has_pages;
                v.bytes = rows[i].has_pages ? by_node[0] + by_node[1] : 1000;
                for (size_t k = 0; k < rows[i].n; k++) {
                        threads[k].node = rows[i].threads[k].node;
                        threads[k].ticks = rows[i].threads[k].ticks;
                        memcpy(&all[2 * k], rows[i].threads[k].faults, sizeof(rows[i].threads[k].faults));
                }
                hn_proc_view_settle(&v, &topo, all);

                assert_int_equal(v.signal, rows[i].signal);
                assert_int_equal(v.home, rows[i].home);
                assert_int_equal(v.local, rows[i].local);
                assert_true(v.remote <= rows[i].remote + 1 && v.remote + 1 >= rows[i].remote);
                for (size_t k = 0; k < rows[i].n; k++) {
                        const struct thread_row *want = &rows[i].threads[k];

                        assert_int_equal(threads[k].signal, want->signal);
                        assert_int_equal(threads[k].home, want->home);
                        assert_int_equal(threads[k].local, want->local);
                        assert_true(threads[k].remote <= want->remote + 1 &&
                                    threads[k].remote + 1 >= want->remote);
                }
        }
        hn_topology_deinit(&topo);
}

/* A tree of files */

static void put(const char *root, const char *file, const char *text) {
        char path[256], part[256];
        FILE *f;

        (void) snprintf(path, sizeof(path), "%s/%s", root, file);
        for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
                (void) snprintf(part, sizeof(part), "%.*s", (int) (p - path), path);
                if (mkdir(part, 0755) < 0)
                        assert_int_equal(errno, EEXIST);
        }
        f = fopen(path, "we");
        assert_non_null(f);
        assert_true(fputs(text, f) >= 0);
        assert_int_equal(fclose(f), 0);
}

#define STAT(tid, name, state, flags, cpu)                              \
        tid " (" name ") " state " 1 1 1 0 -1 " flags                   \
            " 0 0 0 0 30 12 0 0 20 0 1 0 555 1000 100 0 1 1 0 0 0 0 0 " \
            "0 0 0 0 0 17 " cpu " 0 0 0 0 0\n"
#define RULER "name (1, #threads: 1)\n---------------------------------\n"

static void odd_processes_are_read_as_they_are(void **state) {
        char dir[] = "/tmp/test-procview-XXXXXX", command[64];
        struct hn_topology topo = HN_TOPOLOGY_NULL;
        struct hn_mask_pool masks = HN_MASK_POOL_NULL;
        struct hn_sysroot root;
        struct hn_proc_viewer viewer = { .root = &root, .topo = &topo, .masks = &masks, .pages = true };
        struct hn_proc_view v;
        pid_t *pids;
        size_t n;

        (void) state;
        assert_non_null(mkdtemp(dir));
        make_topology(&topo);

        /* 10: a name made to lie, faults on both nodes, one on a node that is not there; its leader has left
         */
        put(dir, "proc/10/stat", STAT("10", "a) Z 1\n(b", "S", "0", "0"));
        put(dir, "proc/10/cgroup", "1:name=systemd:/old\n0::/a b\n");
        put(dir, "proc/10/numa_maps",
            "7f0000000000 default anon=4 dirty=4 N0=1 N255=3 kernelpagesize_kB=4\n"
            "7f0000100000 default file=/x\\040N0=99 mapped=9 N0=9 kernelpagesize_kB=4\n");
        put(dir, "proc/10/task/10/stat", STAT("10", "a) Z 1\n(b", "Z", "0", "0"));
        put(dir, "proc/10/task/11/stat", STAT("11", "x", "R", "0", "3"));
        put(dir, "proc/10/task/11/sched",
            RULER "numa_faults node=0 task_private=20 task_shared=5 group_private=0 group_shared=0\n"
                  "numa_faults node=7 task_private=99 task_shared=9 group_private=0 group_shared=0\n"
                  "numa_faults node=255 task_private=60 task_shared=15 group_private=0 group_shared=0\n");
        put(dir, "proc/10/task/11/status",
            "Name:\tx\nTgid:\t10\nCpus_allowed_list:\t2-3\nMems_allowed_list:\t0,255\n");
        put(dir, "proc/10/task/12/stat", STAT("12", "y", "S", "0", "9")); /* a CPU that is not there */
        put(dir, "proc/10/task/13/comm", "left while we looked\n");
        put(dir, "proc/10/task/14/stat", "14 (cut");

        put(dir, "proc/20/stat", STAT("20", "kthreadd", "S", "2129984", "0"));
        put(dir, "proc/30/stat", STAT("30", "dead", "Z", "0", "0"));
        put(dir, "proc/30/task/30/stat", STAT("30", "dead", "Z", "0", "0"));
        put(dir, "proc/self/stat", "1");
        put(dir, "proc/40x/stat", "1");
        assert_int_equal(hn_sysroot_open(dir, &root), 0);
        viewer.residency = (struct hn_residency_reader){ .root = &root, .query = hn_query_pages_live };

        assert_int_equal(hn_proc_list(&root, &pids, &n), 0);
        assert_int_equal(n, 3);
        assert_int_equal(pids[0], 10);
        assert_int_equal(pids[2], 30);
        free(pids);

        assert_int_equal(hn_proc_view_read(&viewer, 10, &v), 0);
        assert_memory_equal(v.comm, "a) Z 1\n(b", 10);
        assert_string_equal(v.cgroup, "/a b");
        assert_int_equal(v.n_threads, 2);
        assert_int_equal(v.threads[0].key.tid, 11);
        assert_int_equal(v.threads[0].key.start, 555);
        assert_int_equal(v.threads[0].ticks, 42);
        assert_int_equal(v.threads[0].faults, 100);
        assert_int_equal(v.threads[0].home, 1);
        assert_int_equal(v.threads[0].local, 750);
        assert_int_equal(v.threads[1].key.tid, 12);
        assert_int_equal(v.threads[1].node, HN_NODE_NONE);
        assert_int_equal(v.threads[1].mask, HN_MASK_ID_NONE);
        assert_true(v.masks_differ);
        assert_int_equal(v.bytes, 4 * (uint64_t) sysconf(_SC_PAGESIZE));
        assert_int_equal(v.by_node[1], 3 * (uint64_t) sysconf(_SC_PAGESIZE));
        assert_int_equal(v.signal, HN_SIGNAL_FAULTS);
        assert_int_equal(v.local, 750);
        assert_int_equal(hn_mask_count(&v.nodes), 1);
        assert_true(hn_mask_has(&v.nodes, 255));
        hn_proc_view_deinit(&v);

        assert_int_equal(hn_proc_view_read(&viewer, 20, &v), HN_PROC_KERNEL);
        assert_int_equal(hn_proc_view_read(&viewer, 30, &v), HN_PROC_GONE);
        assert_int_equal(hn_proc_view_read(&viewer, 99, &v), HN_PROC_GONE);

        hn_sysroot_close(&root);
        hn_mask_pool_deinit(&masks);
        hn_topology_deinit(&topo);
        (void) snprintf(command, sizeof(command), "rm -rf -- '%s'", dir);
        assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): the path is our own */
}

/* This very process */

static pthread_barrier_t barrier;

static void *wait_for_the_end(void *name) {
        (void) prctl(PR_SET_NAME, (const char *) name);
        (void) pthread_barrier_wait(&barrier);
        (void) pthread_barrier_wait(&barrier);
        return NULL;
}

static void we_see_ourselves(void **state) {
        struct hn_topology topo = HN_TOPOLOGY_NULL;
        struct hn_mask_pool masks = HN_MASK_POOL_NULL;
        struct hn_sysroot root;
        struct hn_proc_viewer viewer = { .root = &root, .topo = &topo, .masks = &masks, .pages = true };
        static char name[] = "n\n) R 0 (x";
        struct hn_proc_view v;
        pthread_t thread;
        uint64_t total = 0;
        bool seen = false;

        (void) state;
        assert_int_equal(hn_sysroot_open(NULL, &root), 0);
        assert_int_equal(hn_machine_read(&root, NULL, &topo), 0);
        viewer.residency = (struct hn_residency_reader){ .root = &root, .query = hn_query_pages_live };
        assert_int_equal(pthread_barrier_init(&barrier, NULL, 2), 0);
        assert_int_equal(pthread_create(&thread, NULL, wait_for_the_end, name), 0);
        (void) pthread_barrier_wait(&barrier);

        assert_int_equal(hn_proc_view_read(&viewer, getpid(), &v), 0);
        assert_true(v.n_threads >= 2);
        assert_true(v.bytes > 0);
        assert_int_equal(v.threads[0].key.tid, getpid());
        for (size_t i = 0; i < v.n_threads; i++) {
                assert_int_not_equal(v.threads[i].mask, HN_MASK_ID_NONE);
                seen = seen || memcmp(v.threads[i].comm, name, sizeof(name)) == 0;
        }
        assert_true(seen);
        for (size_t i = 0; i < topo.n_nodes; i++)
                total += v.by_node[i];
        if (v.has_pages)
                assert_true(total <= v.bytes && total + topo.n_nodes > v.bytes);
        hn_proc_view_deinit(&v);

        (void) pthread_barrier_wait(&barrier);
        assert_int_equal(pthread_join(thread, NULL), 0);
        (void) pthread_barrier_destroy(&barrier);
        hn_mask_pool_deinit(&masks);
        hn_topology_deinit(&topo);
        hn_sysroot_close(&root);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(shares_follow_the_signal),
                cmocka_unit_test(odd_processes_are_read_as_they_are),
                cmocka_unit_test(we_see_ourselves),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
