/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sampler on this machine's own /proc: a child of eight threads whose leader has left. The list of
 * threads comes from a folder of files, so that no cgroup need be made. */
#include "sampletree.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include "act/affinity.h"
#include "sample/machine.h"
#include "sample/sampler.h"

#define N_THREADS 8u

/* What child and test share. */
struct shared {
        pid_t tids[N_THREADS]; /* [0] is the leader's */
        unsigned n_started;
        bool stop;
};

static struct shared *shared;

static void *run_thread(void *arg) {
        size_t i = (size_t) (uintptr_t) arg;
        char name[32];

        (void) snprintf(name, sizeof(name), "a) S 1\n(%zu)", i);
        (void) prctl(PR_SET_NAME, name);
        if (i == 2) {
                cpu_set_t first;
                int cpu = sched_getcpu();

                CPU_ZERO(&first);
                CPU_SET(cpu >= 0 ? (size_t) cpu : 0, &first);
                (void) sched_setaffinity(0, sizeof(first), &first);
        }
        shared->tids[i] = gettid();
        (void) __atomic_add_fetch(&shared->n_started, 1, __ATOMIC_SEQ_CST);
        while (i == 1 && !__atomic_load_n(&shared->stop, __ATOMIC_SEQ_CST)) {
        }
        for (;;)
                (void) pause();
        return NULL;
}

/* Thread 1 spins until told to stop, the others sleep, the leader leaves. */
static void child(void) {
        pthread_t t;

        (void) prctl(PR_SET_PDEATHSIG, SIGKILL); /* should the test fail */
        shared->tids[0] = getpid();
        for (size_t i = 1; i < N_THREADS; i++)
                if (pthread_create(&t, NULL, run_thread, (void *) (uintptr_t) i) != 0)
                        _exit(EXIT_FAILURE);
        /* Not pthread_exit(), whose cleanup a sanitizer takes for the end of the process. */
        (void) syscall(SYS_exit, 0);
}

/* The state of a thread of the child, '?' if it cannot be told. */
static char state_of(pid_t pid, pid_t tid) {
        char path[64], buf[512] = "", *end;
        FILE *f;

        (void) snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
        f = fopen(path, "re");
        if (!f)
                return '?';
        buf[fread(buf, 1, sizeof(buf) - 1, f)] = '\0';
        (void) fclose(f);
        end = strrchr(buf, ')');
        return end && end[1] == ' ' ? end[2] : '?';
}

/* All of them have done what they had to do before they sleep. */
static bool is_at_rest(pid_t pid) {
        if (__atomic_load_n(&shared->n_started, __ATOMIC_SEQ_CST) < N_THREADS - 1)
                return false;
        for (size_t i = 0; i < N_THREADS; i++)
                if (i != 1 && state_of(pid, shared->tids[i]) != (i == 0 ? 'Z' : 'S'))
                        return false;
        return true;
}

static void wait_for_rest(pid_t pid) {
        for (unsigned i = 0; i < 6000; i++) {
                if (is_at_rest(pid))
                        return;
                (void) usleep(5000);
        }
        fail_msg("the child did not come to rest");
}

/* CPU time of the spinning thread, in nanoseconds. */
static uint64_t spun(pid_t pid) {
        unsigned long long ns = 0;
        char path[64];
        FILE *f;

        (void) snprintf(path, sizeof(path), "/proc/%d/task/%d/schedstat", pid, shared->tids[1]);
        f = fopen(path, "re");
        assert_non_null(f);
        assert_int_equal(fscanf(f, "%llu", &ns), 1);
        (void) fclose(f);
        return ns;
}

/* On a busy machine it may have to wait for its turn. */
static void wait_for_spin(pid_t pid, uint64_t since) {
        for (unsigned i = 0; i < 6000; i++) {
                if (spun(pid) > since)
                        return;
                (void) usleep(5000);
        }
        fail_msg("the spinning thread got no CPU time");
}

static void assert_known(const struct hn_snapshot *shot, pid_t pid) {
        for (size_t i = 0; i < shot->n_tasks; i++) {
                const struct hn_task_sample *t = &shot->tasks[i];
                struct hn_mask mask = HN_MASK_NULL;
                char name[32];
                size_t j = 1;

                while (j < N_THREADS && shared->tids[j] != t->key.tid)
                        j++;
                assert_true(j < N_THREADS);
                (void) snprintf(name, sizeof(name), "a) S 1\n(%zu)", j);
                assert_string_equal(t->comm, name);
                assert_int_equal(t->tgid, pid);
                assert_true(t->runtime_ns > 0);
                assert_true(t->key.start > 0);
                assert_true(t->cpu >= 0);
                assert_int_equal(t->sched_class, SCHED_OTHER);
                assert_false(t->flags & HN_PF_KTHREAD);
                assert_true(syscall(SYS_sched_getaffinity, t->key.tid, sizeof(mask), &mask) > 0);
                assert_memory_equal(hn_mask_pool_get(shot->masks, t->mask), &mask, sizeof(mask));
                if (j == 2)
                        assert_int_equal(hn_mask_count(&mask), 1);
        }
}

/* Whoever sets a mask, the sleeper it is set for does not wake for it. */
static void pin_a_sleeper(void) {
        struct hn_mask first = HN_MASK_NULL;
        int cpu = sched_getcpu();

        (void) hn_mask_add(&first, cpu >= 0 ? (unsigned) cpu : 0);
        assert_int_equal(hn_affinity_set(shared->tids[3], &first), 0);
}

/* `limit` is that of open files, of which a sampler leaves 256 to others; `kept` what it may keep then. */
static void sweep_a_child(rlim_t limit, size_t kept) {
        struct hn_scope scopes[] = { { .path = "/x" } };
        struct rlimit before, now;
        struct hn_topology topo;
        struct hn_sysroot root;
        struct hn_snapshot shot;
        struct hn_sampler s;
        struct tree t;
        char list[256] = "";
        uint64_t runtime = 0;
        pid_t pid;

        shared->n_started = 0;
        shared->stop = false;
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0)
                child();
        wait_for_rest(pid);

        tree_make(&t);
        tree_write(&t, "proc/self/mountinfo", "33 22 0:28 / /cg rw - cgroup2 cgroup rw\n");
        for (size_t i = 0; i < N_THREADS; i++)
                (void) snprintf(list + strlen(list), sizeof(list) - strlen(list), "%d\n", shared->tids[i]);
        tree_write(&t, "cg/x/cgroup.threads", list);

        assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
        now = before;
        now.rlim_cur = limit > 0 && limit < before.rlim_max ? limit : before.rlim_cur;
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &now), 0);
        assert_int_equal(hn_sysroot_open(NULL, &root), 0);
        assert_int_equal(hn_machine_read(&root, NULL, &topo), 0);
        assert_int_equal(hn_sampler_init(&s, &root, &topo, NULL), 0);
        hn_cgroupfs_close(&s.cgroups);
        assert_int_equal(hn_cgroupfs_open(&t.root, &s.cgroups), 0);

        for (unsigned i = 0; i < 3; i++) {
                assert_int_equal(hn_sampler_sweep(&s, scopes, 1, (i + 1) * HN_USEC_PER_SEC, &shot), 0);
                assert_int_equal(shot.n_tasks, N_THREADS - 1);
                assert_int_equal(shot.n_gone, 0);
                assert_int_equal(s.counts.zombies, 1);
                assert_int_equal(s.table.n_processes, 1);
                assert_known(&shot, pid);
                assert_true(i == 0 ? s.counts.looked == N_THREADS
                                   : s.counts.looked >= 1 && s.counts.looked < 4);
                for (size_t j = 0; j < shot.n_tasks; j++)
                        if (shot.tasks[j].key.tid == shared->tids[1]) {
                                assert_true(shot.tasks[j].runtime_ns > runtime);
                                runtime = shot.tasks[j].runtime_ns;
                        }
                if (limit > 0)
                        assert_int_equal(s.reader.n_open, kept);
                else
                        assert_true(s.reader.n_open >= N_THREADS);
                if (i == 0)
                        pin_a_sleeper();
                wait_for_spin(pid, runtime);
        }
        __atomic_store_n(&shared->stop, true, __ATOMIC_SEQ_CST);

        /* All of them die, though the list still has them. */
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        for (unsigned i = 0; i < 2; i++) {
                assert_int_equal(hn_sampler_sweep(&s, scopes, 1, 9 * HN_USEC_PER_SEC, &shot), 0);
                assert_int_equal(shot.n_tasks, 0);
                assert_int_equal(shot.n_gone, N_THREADS);
                assert_int_equal(s.reader.n_open, 0);
                assert_int_equal(s.table.n_processes, 0);
        }
        hn_sampler_deinit(&s);
        hn_topology_deinit(&topo);
        hn_sysroot_close(&root);
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
        tree_destroy(&t);
}

static void eight_threads_and_a_leader_that_left(void **state) {
        (void) state;
        sweep_a_child(0, 0);
}

static void hardly_any_descriptors(void **state) {
        (void) state;
        sweep_a_child(260, 4);
        sweep_a_child(256, 0);
}

/* This process's own pages by way of the query, which here answers as if they were spread over two nodes. */
static int two_to_one(void *userdata, pid_t pid, size_t n, void *const *addresses, int *status) {
        const struct hn_topology *topo = userdata;

        assert_int_equal(pid, getpid());
        for (size_t i = 0; i < n; i++)
                status[i] = addresses[i] && i % 3 != 0 ? (int) topo->nodes[0].id : -ENOENT;
        return 0;
}

static int refuse(void *userdata, pid_t pid, size_t n, void *const *addresses, int *status) {
        assert_non_null(userdata);
        assert_true(pid > 0 && n > 0 && addresses && status);
        return -EPERM;
}

static void residency_of_a_live_process(void **state) {
        struct hn_scope scopes[] = { { .path = "/x" } };
        struct hn_topology topo;
        struct hn_sysroot root;
        struct hn_snapshot shot;
        struct hn_sampler s;
        struct timespec used;
        struct tree t;
        char list[32];

        (void) state;
        tree_make(&t);
        tree_write(&t, "proc/self/mountinfo", "33 22 0:28 / /cg rw - cgroup2 cgroup rw\n");
        (void) snprintf(list, sizeof(list), "%d\n", getpid());
        tree_write(&t, "cg/x/cgroup.threads", list);
        tree_write(&t, "cg/cpuset.mems.effective",
                   "0\n"); /* one node: pages may stand in, whatever the kernel does */
        assert_int_equal(hn_sysroot_open(NULL, &root), 0);
        assert_int_equal(hn_machine_read(&root, NULL, &topo), 0);
        assert_int_equal(hn_sampler_init(&s, &root, &topo, NULL), 0);
        hn_cgroupfs_close(&s.cgroups);
        assert_int_equal(hn_cgroupfs_open(&t.root, &s.cgroups), 0);
        s.residency.query = two_to_one;
        s.residency.userdata = &topo;
        do
                assert_int_equal(clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used), 0);
        while (used.tv_sec < 1 || used.tv_nsec < 50000000);

        assert_int_equal(hn_sampler_sweep(&s, scopes, 1, HN_USEC_PER_SEC, &shot), 0);
        assert_int_equal(shot.n_tasks, 1);
        if (shot.tasks[0].signal != HN_SIGNAL_FAULTS) {
                assert_int_equal(s.counts.asked, 1);
                assert_int_equal(shot.tasks[0].signal, HN_SIGNAL_RESIDENCY);
                assert_in_range(shot.priv[shot.tasks[0].row * topo.n_nodes], 42, 43);

                s.residency.query = refuse;
                assert_int_equal(hn_sampler_sweep(&s, scopes, 1, 9 * HN_USEC_PER_SEC, &shot), 0);
                assert_int_equal(shot.tasks[0].signal, HN_SIGNAL_NONE);
                assert_int_equal(shot.n_denied, 1);
        }
        assert_true(shot.cost < HN_USEC_PER_SEC);
        hn_sampler_deinit(&s);
        hn_topology_deinit(&topo);
        hn_sysroot_close(&root);
        tree_destroy(&t);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(eight_threads_and_a_leader_that_left),
                cmocka_unit_test(hardly_any_descriptors),
                cmocka_unit_test(residency_of_a_live_process),
        };

        shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (shared == MAP_FAILED)
                return EXIT_FAILURE;
        return cmocka_run_group_tests(tests, NULL, NULL);
}
