/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sampletree.h"

#include <fcntl.h>

#include "sample/sampler.h"

/* A machine of nodes 0 and 8, CPUs 0-1 on the one and 4-5 on the other. */
struct world {
        struct tree tree;
        struct hn_topology topo;
        struct hn_sampler sampler;
        struct hn_snapshot shot;
        struct hn_scope scopes[2];
        hn_usec_t now;
};

struct thread {
        pid_t tgid, tid;
        const char *name, *state; /* "x", "S" where NULL */
        unsigned flags, n_threads;
        uint64_t start;
        int cpu;
        uint64_t run;
        uint64_t faults[2]; /* private ones on node 0 and 8 */
        const char *cpus;   /* "0-1,4-5" where NULL */
};

static void put_file(const struct world *w, const struct thread *t, const char *file, const char *text) {
        char path[128];

        (void) snprintf(path, sizeof(path), "proc/%d/task/%d/%s", t->tgid, t->tid, file);
        tree_write(&w->tree, path, text);
}

static void put(const struct world *w, const struct thread *t) {
        const char *name = t->name ? t->name : "x";
        char text[1024];

        (void) snprintf(
                text, sizeof(text),
                "%d (%s) %s 1 7 7 0 -1 %u 0 0 0 0 %llu 0 0 0 20 0 %u 0 %llu 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 %d 0 0 0 0"
                " 0 0 0 0 0 0 0 0 0\n",
                t->tid, name, t->state ? t->state : "S", t->flags, (unsigned long long) t->run / 10000000,
                t->n_threads ? t->n_threads : 1, (unsigned long long) t->start, t->cpu);
        put_file(w, t, "stat", text);
        (void) snprintf(text, sizeof(text), "%llu %llu 5\n", (unsigned long long) t->run,
                        (unsigned long long) t->run / 2);
        put_file(w, t, "schedstat", text);
        (void) snprintf(text, sizeof(text), "Name:\tx\nTgid:\t%d\nCpus_allowed_list:\t%s\n", t->tgid,
                        t->cpus ? t->cpus : "0-1,4-5");
        put_file(w, t, "status", text);
        (void) snprintf(
                text, sizeof(text),
                "%s (%d, #threads: 1)\n-------------------------------------------------------------------\n"
                "se.avg.runnable_avg : 77\nmm->numa_scan_seq : 3\nnuma_preferred_nid : 8\n"
                "current_node=0, numa_group_id=5\n"
                "numa_faults node=0 task_private=%llu task_shared=0 group_private=0 group_shared=0\n"
                "numa_faults node=8 task_private=%llu task_shared=1 group_private=0 group_shared=0\n"
                "numa_faults node=99 task_private=99 task_shared=0 group_private=0 group_shared=0\n",
                name, t->tid, (unsigned long long) t->faults[0], (unsigned long long) t->faults[1]);
        if (t->faults[0] + t->faults[1] == 0)
                *strstr(text, "task_shared=1") = 'T'; /* no key of that name: all zero */
        put_file(w, t, "sched", text);
}

static void fill_topology(struct hn_topology *topo, unsigned second) {
        assert_int_equal(hn_topology_init(topo, 2, 6), 0);
        topo->nodes[1].id = second;
        for (unsigned i = 0; i < 2; i++) {
                topo->cpu_node[i] = 0;
                topo->cpu_node[4 + i] = 1;
                (void) hn_mask_add(&topo->nodes[0].cpus, i);
                (void) hn_mask_add(&topo->nodes[1].cpus, 4 + i);
        }
        topo->online = hn_mask_or(&topo->nodes[0].cpus, &topo->nodes[1].cpus);
        topo->possible = topo->online;
        topo->nodes[0].usable = topo->nodes[0].cpus;
        topo->nodes[1].usable = topo->nodes[1].cpus;
        topo->nodes[0].n_cores = topo->nodes[1].n_cores = 1;
}

static int make_world(void **state) {
        struct world *w = calloc(1, sizeof(*w));

        assert_non_null(w);
        tree_make(&w->tree);
        tree_write(&w->tree, "proc/self/mountinfo", "33 22 0:28 / /cg rw - cgroup2 cgroup rw\n");
        tree_write(&w->tree, "proc/sys/kernel/numa_balancing", "1\n");
        tree_write(&w->tree, "cg/a/", "");
        tree_write(&w->tree, "cg/b/", "");
        w->scopes[0].path = "/a";
        w->scopes[1].path = "/b";
        w->now = 1000000;
        fill_topology(&w->topo, 8);
        assert_int_equal(hn_sampler_init(&w->sampler, &w->tree.root, &w->topo, NULL), 0);
        *state = w;
        return 0;
}

static int drop_world(void **state) {
        struct world *w = *state;

        hn_sampler_deinit(&w->sampler);
        hn_topology_deinit(&w->topo);
        tree_destroy(&w->tree);
        free(w);
        return 0;
}

/* A second later, after the capture was made anew. */
static void sweep(struct world *w) {
        w->now += HN_USEC_PER_SEC;
        assert_int_equal(hn_sampler_set_root(&w->sampler, &w->tree.root), 0);
        assert_int_equal(hn_sampler_sweep(&w->sampler, w->scopes, 2, w->now, &w->shot), 0);
        assert_int_equal(w->shot.now, w->now);
        for (size_t i = 1; i < w->shot.n_tasks; i++)
                assert_true(w->shot.tasks[i - 1].key.tid < w->shot.tasks[i].key.tid);
}

static const struct hn_task_sample *task(const struct world *w, pid_t tid) {
        for (size_t i = 0; i < w->shot.n_tasks; i++)
                if (w->shot.tasks[i].key.tid == tid)
                        return &w->shot.tasks[i];
        return NULL;
}

/* Threads of an override: those, and no others of their cgroup; a scope before them has them first. */
static void a_scope_of_chosen_threads(void **state) {
        static const pid_t tids[] = { 12, 11, 77, 11 };
        struct world *w = *state;

        for (pid_t tid = 10; tid < 14; tid++)
                put(w, &(struct thread){ .tgid = 10, .tid = tid, .start = 5, .run = 100 });
        tree_write(&w->tree, "cg/a/cgroup.threads", "12\n");
        tree_write(&w->tree, "cg/b/cgroup.threads", "10\n11\n12\n13\n");
        tree_write(&w->tree, "cg/b/cpuset.cpus.effective", "4\n");
        w->scopes[1].by_hand = true;
        w->scopes[1].tids = tids;
        w->scopes[1].n_tids = HN_ELEMENTS(tids);
        for (unsigned i = 0; i < 2; i++) {
                sweep(w);
                assert_int_equal(w->shot.n_tasks, 2);
                assert_int_equal(w->shot.tasks[0].key.tid, 11);
                assert_int_equal(w->shot.tasks[0].scope, 1);
                assert_int_equal(w->shot.tasks[0].hand, 0);
                assert_int_equal(w->shot.tasks[1].key.tid, 12);
                assert_int_equal(w->shot.tasks[1].scope, 0);
                assert_int_equal(hn_mask_count(&w->scopes[1].cpuset), 1);
                assert_true(w->scopes[1].populated);
        }
        w->scopes[1].n_tids = 0;
        sweep(w);
        assert_int_equal(w->shot.n_tasks, 1);
        assert_false(w->scopes[1].populated);
}

static void threads_that_do_not_count_are_counted(void **state) {
        static const struct thread threads[] = {
                { .tgid = 10,
                  .tid = 10,
                  .name = "a) Z 1\n(b:=",
                  .start = 5,
                  .cpu = 4,
                  .run = 100,
                  .faults = { 3, 4 } },
                { .tgid = 10, .tid = 13, .start = 6, .cpu = 3, .run = 100 }, /* a CPU that is not here */
                { .tgid = 2, .tid = 2, .flags = HN_PF_KTHREAD, .start = 5, .run = 100 },
                { .tgid = 11, .tid = 11, .state = "Z", .start = 5, .run = 100 },
        };
        struct world *w = *state;
        const struct hn_task_sample *t;

        for (size_t i = 0; i < HN_ELEMENTS(threads); i++)
                put(w, &threads[i]);
        tree_write(&w->tree, "cg/a/cgroup.threads", "13\n10\n99\n2\n10\n");
        tree_write(&w->tree, "cg/b/cgroup.threads", "11\n13\n");
        for (unsigned i = 0; i < 3; i++) {
                sweep(w);
                assert_int_equal(w->shot.n_tasks, 2);
                assert_int_equal(w->shot.n_gone, 1);
                assert_int_equal(w->sampler.counts.listed, 5);
                assert_int_equal(w->sampler.counts.twice, 2);
                assert_int_equal(w->sampler.counts.kthreads, 1);
                assert_int_equal(w->sampler.counts.zombies, 1);
                assert_int_equal(w->sampler.counts.looked, i == 0 ? 4 : 0);
                assert_true(w->scopes[0].populated && w->scopes[1].populated);
                assert_int_equal(hn_mask_count(&w->scopes[0].cpuset), 4);
                assert_true(hn_mask_has(&w->scopes[0].mems, 8));

                t = task(w, 10);
                assert_string_equal(t->comm, "a) Z 1\n(b:=");
                assert_int_equal(t->node, 1);
                assert_int_equal(t->kernel_preferred, 1);
                assert_int_equal(t->runnable_avg, 77);
                assert_int_equal(t->scan_seq, 3);
                assert_int_equal(t->numa_group, 5);
                assert_int_equal(t->wait_ns, 50);
                assert_int_equal(t->signal, HN_SIGNAL_FAULTS);
                assert_int_equal(t->fresh, i == 0);
                assert_int_equal(w->shot.priv[2 * t->row], 3);
                assert_int_equal(w->shot.priv[2 * t->row + 1], 4);
                assert_int_equal(w->shot.shared[2 * t->row + 1], 1);

                t = task(w, 13);
                assert_int_equal(t->scope, 0);
                assert_int_equal(t->tgid, 10);
                assert_int_equal(t->node, HN_NODE_NONE);
                assert_int_equal(t->signal, HN_SIGNAL_NONE);
        }
        assert_int_equal(w->shot.n_rows, 2); /* the second one was needed for a moment only */
}

static void a_tid_with_another_start_is_another_task(void **state) {
        struct thread t = {
                .tgid = 10, .tid = 10, .start = 5, .cpu = 0, .run = 3000000000, .faults = { 3, 4 }
        };
        struct world *w = *state;
        uint32_t row;

        put(w, &t);
        tree_write(&w->tree, "cg/a/cgroup.threads", "10\n");
        sweep(w);
        row = (uint32_t) task(w, 10)->row;
        t.start = 9;
        t.run = 50;
        t.faults[0] = t.faults[1] = 0;
        put(w, &t);
        sweep(w);
        assert_int_equal(w->shot.n_tasks, 1);
        assert_int_equal(task(w, 10)->key.start, 9);
        assert_int_equal(task(w, 10)->runtime_ns, 50);
        assert_int_equal(task(w, 10)->signal, HN_SIGNAL_NONE);
        t.run = 60;
        t.faults[1] = 1;
        put(w, &t);
        sweep(w);
        assert_int_equal(task(w, 10)->signal, HN_SIGNAL_FAULTS);
        assert_int_equal(task(w, 10)->row, row); /* taken again */
        assert_int_equal(w->shot.priv[2 * row], 0);

        /* dropped with its cgroup, and back */
        tree_write(&w->tree, "cg/a/cgroup.threads", "");
        sweep(w);
        assert_int_equal(w->shot.n_tasks, 0);
        assert_false(w->scopes[0].populated);
        assert_int_equal(w->sampler.table.n_processes, 0);
        tree_write(&w->tree, "cg/b/cgroup.threads", "10\n");
        sweep(w);
        assert_int_equal(task(w, 10)->scope, 1);
}

/* A kernel that does not count run times gives 0 0 0, or has no such file: then field 14 and 15 of stat must
 * do. */
static void run_times_without_schedstat(void **state) {
        struct thread t = { .tgid = 10, .tid = 10, .start = 5, .run = 50000000, .faults = { 1, 0 } };
        struct world *w = *state;

        tree_write(&w->tree, "cg/a/cgroup.threads", "10\n");
        for (unsigned i = 0; i < 2; i++) {
                put(w, &t);
                if (i == 0)
                        put_file(w, &t, "schedstat", "0 0 0\n");
                else
                        tree_unlink(&w->tree, "proc/10/task/10/schedstat");
                sweep(w);
                /* A file that is missing might as well be a task that died: it is new once more. */
                assert_int_equal(task(w, 10)->runtime_ns, 50000000);
                sweep(w);
                assert_int_equal(task(w, 10)->runtime_ns, 50000000);
                t.run += 10000000;
                put(w, &t);
                if (i == 0)
                        put_file(w, &t, "schedstat", "0 0 0\n");
                sweep(w);
                assert_int_equal(task(w, 10)->runtime_ns, 60000000);
                assert_true(task(w, 10)->fresh);
                t.run = 50000000;
        }
}

static void put_numa_maps(const struct world *w, pid_t pid, const char *text) {
        char path[64];

        (void) snprintf(path, sizeof(path), "proc/%d/numa_maps", pid);
        tree_write(&w->tree, path, text);
}

/* Without sched files, on one-node cpusets and for a single thread, pages stand in; else the sample says
 * none. */
static void signals_are_told(void **state) {
        struct thread one = { .tgid = 10, .tid = 10, .start = 5, .run = 2000000000 };
        struct thread two[] = { { .tgid = 20, .tid = 20, .start = 5, .run = 2000000000, .n_threads = 2 },
                                { .tgid = 20, .tid = 21, .start = 5, .run = 2000000000, .n_threads = 2 } };
        struct world *w = *state;

        put(w, &one);
        put(w, &two[0]);
        put(w, &two[1]);
        put_numa_maps(w, 10, "1000 default anon=3 N8=3 kernelpagesize_kB=4\n");
        put_numa_maps(w, 20, "1000 default anon=3 N0=5 N8=2 kernelpagesize_kB=4\n");
        tree_write(&w->tree, "cg/a/cgroup.threads", "10\n20\n21\n");
        sweep(w);
        assert_int_equal(task(w, 10)->signal, HN_SIGNAL_RESIDENCY);
        assert_int_equal(w->shot.priv[2 * task(w, 10)->row + 1], 3);
        assert_int_equal(w->shot.shared[2 * task(w, 10)->row + 1], 0);
        assert_true(task(w, 10)->fresh);
        assert_int_equal(task(w, 20)->signal, HN_SIGNAL_NONE);
        assert_int_equal(task(w, 21)->signal, HN_SIGNAL_NONE);
        assert_non_null(strstr(w->shot.why_no_signal, "too few faults"));
        /* they stand for no thread of it, but are known */
        assert_true(task(w, 20)->pages_known);
        assert_int_equal(w->shot.priv[2 * task(w, 21)->pages_row], 5);
        assert_int_equal(w->shot.priv[2 * task(w, 21)->pages_row + 1], 2);

        /* a cpuset with memory of one node */
        tree_write(&w->tree, "cg/a/cpuset.mems.effective", "8\n");
        w->now += 10 * HN_USEC_PER_SEC;
        two[1].run++;
        put(w, &two[1]);
        sweep(w);
        assert_non_null(strstr(w->shot.why_no_signal, "cpuset"));
        assert_int_equal(task(w, 20)->signal, HN_SIGNAL_RESIDENCY);
        assert_int_equal(task(w, 20)->row, task(w, 21)->row); /* of the process */
        assert_false(task(w, 20)->fresh);
        assert_true(task(w, 21)->fresh);
        assert_int_equal(w->shot.priv[2 * task(w, 20)->row], 5);
        tree_unlink(&w->tree, "cg/a/cpuset.mems.effective");

        /* a kernel without the file */
        tree_unlink(&w->tree, "proc/20/task/21/sched");
        two[1].run++;
        put(w, &two[1]);
        tree_unlink(&w->tree, "proc/20/task/21/sched");
        sweep(w);
        assert_non_null(strstr(w->shot.why_no_signal, "/proc/PID/sched"));
        assert_int_equal(task(w, 20)->signal, HN_SIGNAL_NONE);
        assert_int_equal(task(w, 21)->signal, HN_SIGNAL_RESIDENCY);
        assert_int_equal(task(w, 21)->kernel_preferred, -1);

        /* no balancing, and nothing to be found in the process */
        tree_write(&w->tree, "proc/sys/kernel/numa_balancing", "0\n");
        put_numa_maps(w, 20, "1000 default\n");
        w->now += 10 * HN_USEC_PER_SEC;
        two[0].run++;
        put(w, &two[0]);
        sweep(w);
        assert_non_null(strstr(w->shot.why_no_signal, "numa_balancing"));
        assert_int_equal(task(w, 10)->signal, HN_SIGNAL_RESIDENCY);
        assert_false(task(w, 10)->fresh);
        assert_int_equal(task(w, 20)->signal, HN_SIGNAL_NONE);
}

/* Many hungry processes: a bounded number is asked in a sweep, the busiest first, and all have their turn. */
static void processes_take_turns(void **state) {
        static const size_t asked[] = { 32, 8, 0, 32, 8 };
        struct world *w = *state;
        char list[512] = "";

        tree_write(&w->tree, "proc/sys/kernel/numa_balancing", "0\n");
        for (int i = 0; i < 40; i++)
                (void) snprintf(list + strlen(list), sizeof(list) - strlen(list), "%d\n", 100 + i);
        tree_write(&w->tree, "cg/a/cgroup.threads", list);
        for (size_t round = 0; round < HN_ELEMENTS(asked); round++) {
                for (int i = 0; i < 40; i++) {
                        struct thread t = { .tgid = 100 + i, .tid = 100 + i, .start = 5 };

                        t.run = 2000000000 + (round + 1) * 1000u * (unsigned) i + round;
                        put(w, &t);
                        put_numa_maps(w, t.tgid, "1000 default anon=3 N0=3 kernelpagesize_kB=4\n");
                }
                sweep(w);
                assert_int_equal(w->sampler.counts.asked, asked[round]);
                if (round == 0) {
                        assert_int_equal(task(w, 139)->signal, HN_SIGNAL_RESIDENCY);
                        assert_int_equal(task(w, 107)->signal, HN_SIGNAL_NONE);
                } else
                        for (int i = 0; i < 40; i++)
                                assert_int_equal(task(w, 100 + i)->signal, HN_SIGNAL_RESIDENCY);
        }
}

static void masks_are_shared_and_bounded(void **state) {
        struct thread t = { .tgid = 10, .tid = 10, .start = 5 },
                      u = { .tgid = 11, .tid = 11, .start = 5, .cpus = "1" };
        struct world *w = *state;
        char cpus[32];

        put(w, &t);
        put(w, &u);
        tree_write(&w->tree, "cg/a/cgroup.threads", "10\n11\n");
        for (unsigned i = 0; i < 1200; i++) {
                (void) snprintf(cpus, sizeof(cpus), "%u", i + 2);
                t.cpus = cpus;
                t.run = i + 1;
                put(w, &t);
                sweep(w);
                if (i < 900)
                        assert_true(hn_mask_has(hn_mask_pool_get(w->shot.masks, task(w, 10)->mask), i + 2));
        }
        assert_int_equal(task(w, 10)->mask, HN_MASK_ID_NONE);
        assert_int_equal(w->shot.masks->n, 1024);
        assert_true(hn_mask_has(hn_mask_pool_get(w->shot.masks, task(w, 11)->mask), 1));

        /* One that is known is still found. */
        t.cpus = "7";
        t.run = 5000;
        put(w, &t);
        sweep(w);
        assert_true(hn_mask_has(hn_mask_pool_get(w->shot.masks, task(w, 10)->mask), 7));
}

static void another_topology_starts_anew(void **state) {
        struct thread t = { .tgid = 10, .tid = 10, .start = 5, .cpu = 4, .run = 100, .faults = { 3, 4 } };
        struct world *w = *state;
        struct hn_topology other;

        put(w, &t);
        tree_write(&w->tree, "cg/a/cgroup.threads", "10\n");
        sweep(w);
        fill_topology(&other, 99);
        assert_int_equal(hn_sampler_set_topology(&w->sampler, &other), 0);
        sweep(w);
        assert_int_equal(w->shot.n_tasks, 1);
        assert_int_equal(task(w, 10)->kernel_preferred, -1); /* node 8 is no more */
        assert_int_equal(w->shot.priv[2 * task(w, 10)->row + 1], 99);
        assert_true(hn_mask_has(&w->scopes[0].mems, 99));
        assert_int_equal(hn_sampler_set_topology(&w->sampler, &w->topo), 0);
        hn_topology_deinit(&other);
        sweep(w);
        assert_int_equal(w->shot.priv[2 * task(w, 10)->row + 1], 4);
}

static void nothing_at_all(void **state) {
        struct hn_sampler never = { .root = NULL };
        struct world *w = *state;

        /* Neither of these closes descriptor 0. */
        hn_sampler_deinit(&never);
        hn_sampler_deinit(&never);
        assert_true(fcntl(STDIN_FILENO, F_GETFD) >= 0);

        tree_unlink(&w->tree, "proc/self/mountinfo");
        sweep(w);
        assert_int_equal(w->shot.n_tasks, 0);
        assert_null(w->shot.why_no_signal);
        assert_int_equal(hn_sampler_sweep(&w->sampler, NULL, 0, 5, &w->shot), 0);
        assert_int_equal(w->shot.n_tasks, 0);
        assert_int_equal(w->shot.n_nodes, 2);
}

#define IN_WORLD(f) cmocka_unit_test_setup_teardown(f, make_world, drop_world)

int main(void) {
        const struct CMUnitTest tests[] = {
                IN_WORLD(a_scope_of_chosen_threads),
                IN_WORLD(threads_that_do_not_count_are_counted),
                IN_WORLD(a_tid_with_another_start_is_another_task),
                IN_WORLD(run_times_without_schedstat),
                IN_WORLD(signals_are_told),
                IN_WORLD(processes_take_turns),
                IN_WORLD(masks_are_shared_and_bounded),
                IN_WORLD(another_topology_starts_anew),
                IN_WORLD(nothing_at_all),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
