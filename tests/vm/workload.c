/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The load: processes of threads, each sweeping over memory that was put on a chosen node while it was
 * started on another chosen one. After the start nothing holds either in place, unless asked: masks are as
 * wide as they were and no memory policy remains, as with any program that was merely unlucky. */

#include "load.h"

#include "exact/wire.h"
#include "options.h"
#include "shorts.h"
#include "work.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <numaif.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE   4096U
#define SECOND 1000000ULL

/* A turn of two that take turns is a part of a sweep: short, as a request and its answer are. */
#define TURN_PARTS 64U

struct process {
        const struct options *options;
        const struct hn_load_cpus *cpus;
        struct hn_load_table *table;
        cpu_set_t mask; /* from before the start */
        unsigned index;
        volatile char *buffers[HN_LOAD_THREADS_MAX]; /* by number among the process's threads */
        int turn_fds[2];
        int ready_fd, go_fd;
        pthread_barrier_t barrier;
};

struct worker {
        struct process *process;
        unsigned index; /* among all threads of all processes */
};

static volatile sig_atomic_t spawn_wanted;

static void on_spawn(int sig) {
        (void) sig;
        spawn_wanted = 1;
}

static void die(const char *what, int error) {
        fprintf(stderr, "hn-load: %s: %s\n", what, strerror(error));
        _exit(EXIT_FAILURE);
}

static void start_on(const struct hn_load_cpus *cpus, int node) {
        cpu_set_t set;

        CPU_ZERO(&set);
        for (unsigned cpu = 0; cpu < HN_LOAD_CPUS_MAX; cpu++)
                if (cpus->node[cpu] == node)
                        CPU_SET(cpu, &set);
        if (sched_setaffinity(0, sizeof(set), &set) < 0)
                die("sched_setaffinity", errno);
}

/* Anonymous memory on `node`, touched; under no policy any more unless `bind`. At a chosen address, or for 0
 * at any. */
static char *memory_on(const struct options *o, int node, uint64_t at, size_t size) {
        unsigned long nodes[HN_LOAD_NODES_MAX / (8 * sizeof(unsigned long))] = { 0 };
        char *memory;

        /* The page behind it stays closed, so that the kernel does not merge it with another thread's memory:
         * each buffer has its own line in numa_maps. */
        memory = mmap((void *) (uintptr_t) at, size + PAGE, PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS | (at != 0 ? MAP_FIXED_NOREPLACE : 0), -1, 0);
        if (memory == MAP_FAILED)
                die("mmap", errno);
        if (mprotect(memory, size, PROT_READ | PROT_WRITE) < 0)
                die("mprotect", errno);
        if (madvise(memory, size, o->thp ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) < 0)
                die("madvise", errno);
        nodes[(unsigned) node / (8 * sizeof(unsigned long))] |= 1UL << ((unsigned) node %
                                                                        (8 * sizeof(unsigned long)));
        if (mbind(memory, size, MPOL_BIND, nodes, HN_LOAD_NODES_MAX + 1, 0) < 0 && errno != ENOSYS)
                die("mbind", errno);
        for (size_t i = 0; i < size; i += PAGE)
                memory[i] = 1;
        if (!o->bind && mbind(memory, size, MPOL_DEFAULT, NULL, 0, 0) < 0 && errno != ENOSYS)
                die("mbind", errno);
        return memory;
}

static void *sleeper(void *unused) {
        for (;;)
                (void) pause();
        return unused;
}

/* A thread and a child that inherit whatever mask this thread has now. They sleep: only their masks are of
 * interest. */
static void spawn(void) {
        pthread_t thread;
        int r;

        spawn_wanted = 0;
        r = pthread_create(&thread, NULL, sleeper, NULL);
        if (r != 0)
                die("pthread_create", r);
        if (fork() == 0) {
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                for (;;)
                        (void) pause();
        }
}

/* One byte: this process's memory is in place; later, that one of its threads has the mask it is to have. */
static void tell_parent(const struct process *p) {
        const char c = 0;

        if (write(p->ready_fd, &c, 1) != 1)
                die("write", errno);
}

/* Tells the parent that this process's memory is in place and waits for the other processes. */
static void process_ready(struct process *p) {
        char c = 0;

        if (munmap(p->table, sizeof(*p->table)) < 0)
                die("munmap", errno);
        tell_parent(p);
        while (read(p->go_fd, &c, 1) < 0 && errno == EINTR)
                ;
}

/* One sweep, walk or turn. */
static void step(const struct worker *w, volatile char *buffer, size_t size, uint64_t *seed) {
        const struct options *o = w->process->options;
        size_t part = size / TURN_PARTS;

        if (o->turns) {
                work_sweep(buffer + *seed % TURN_PARTS * part, part);
                *seed += 1;
                work_turn(w->process->turn_fds[w->index % 2]);
        } else if (o->random)
                work_walk(buffer, size, seed);
        else {
                /* Emulated CPUs are all as fast: threads that begin together stay together, the one that is
                 * ahead meets all hinting faults, and the kernel takes what they share for private (60 of
                 * 14,000 faults were shared). */
                size_t start = o->shared ? size / PAGE * (w->index % o->threads) / o->threads * PAGE : 0;

                work_sweep(buffer + start, size - start);
                work_sweep(buffer, start);
        }
}

static void work_for_ever(const struct worker *w, volatile uint64_t *counter) {
        struct process *p = w->process;
        const struct options *o = p->options;
        size_t size = (size_t) o->mib << 20;
        uint64_t go = work_now(), seed = 88172645463325252ULL + w->index;

        work_rest(w->index % o->threads * o->ramp * SECOND);
        for (;;) {
                uint64_t began = work_now();
                unsigned owner = hn_load_owner(w->index, o->threads, o->swap * SECOND, began - go);

                step(w, p->buffers[owner % o->threads], size, &seed);
                *counter += 1;
                if (o->duty < 100)
                        work_rest((work_now() - began) * (100 - o->duty) / o->duty);
                if (w->index % o->threads == 0 && spawn_wanted)
                        spawn();
        }
}

static void *work(void *data) {
        const struct worker *w = data;
        struct process *p = w->process;
        const struct options *o = p->options;
        size_t size = (size_t) o->mib << 20;
        /* Where a counter outside of the guest tells the buffers apart. */
        uint64_t at = HN_EXACT_ARENA(w->index);
        volatile uint64_t *counter;
        unsigned j = w->index % o->threads;

        start_on(p->cpus, o->run[w->index]);
        if (!o->shared || j == 0)
                p->buffers[j] = memory_on(o, o->mem[w->index], at, size);
        if (o->shared)
                (void) pthread_barrier_wait(&p->barrier);
        if (o->shared)
                p->buffers[j] = p->buffers[0];
        counter = (volatile uint64_t *) (void *) memory_on(o, o->mem[w->index], 0, PAGE);
        p->table->threads[w->index] = (struct hn_load_thread){
                .pid = getpid(),
                .tid = gettid(),
                .run_node = o->run[w->index],
                .mem_node = o->mem[w->index],
                .buffer = (uintptr_t) p->buffers[j],
                .pages = size / PAGE,
                .counter = (uintptr_t) counter,
                .delay = j * o->ramp * SECOND,
        };
        (void) pthread_barrier_wait(&p->barrier);
        if (j == 0)
                process_ready(p);
        (void) pthread_barrier_wait(&p->barrier);
        if (o->pin == PIN_NONE || (o->pin == PIN_ODD && w->index % 2 == 0))
                if (sched_setaffinity(0, sizeof(p->mask), &p->mask) < 0)
                        die("sched_setaffinity", errno);
        tell_parent(p);
        work_for_ever(w, counter);
        return NULL;
}

/* One process of the load; its main thread works too, so that the process has no thread but those in the
 * table. */
static void process_run(struct process *p) {
        static struct worker workers[HN_LOAD_THREADS_MAX];
        struct sigaction spawn_action = { .sa_handler = on_spawn, .sa_flags = SA_RESTART };
        pthread_t thread;
        int r;

        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        (void) sigaction(SIGUSR1, &spawn_action, NULL);
        (void) pthread_barrier_init(&p->barrier, NULL, p->options->threads);
        if (p->options->turns && socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, p->turn_fds) < 0)
                die("socketpair", errno);
        for (unsigned i = 0; i < p->options->threads; i++)
                workers[i] = (struct worker){ .process = p, .index = p->index * p->options->threads + i };
        for (unsigned i = 1; i < p->options->threads; i++) {
                r = pthread_create(&thread, NULL, work, &workers[i]);
                if (r != 0)
                        die("pthread_create", r);
        }
        (void) work(&workers[0]);
}

static void report_line(const struct hn_load_sample *s, double at) {
        printf("{\"at\":%.1f,\"sweeps\":%llu,", at, (unsigned long long) s->sweeps);
        if (!isnan(s->share))
                printf("\"share\":%.3f,", s->share);
        printf("\"threads\":[");
        for (unsigned i = 0; i < s->n_threads; i++) {
                printf("%s{\"cpu\":%d", i > 0 ? "," : "", s->cpu[i]);
                if (!isnan(s->thread_share[i]))
                        printf(",\"share\":%.3f", s->thread_share[i]);
                printf("}");
        }
        printf("]}\n");
        (void) fflush(stdout);
}

/* Short tasks come from a process of their own, which does not end. */
static int shorts_start(const struct options *o, struct hn_load_table *table) {
        pid_t pid;

        if (o->burst == 0 && o->storm == 0)
                return 0;
        pid = fork();
        if (pid != 0)
                return pid < 0 ? -errno : 0;
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (o->burst > 0) {
                work_rest(o->burst * SECOND);
                shorts_burst(&table->short_tasks);
        }
        if (o->storm > 0)
                shorts_storm(o->storm, &table->short_tasks);
        for (;;)
                (void) pause();
}

/* The parent's second half: waits until a process ends, and says each second how the threads fare if asked
 * to. */
static int watch(const struct options *o, const struct hn_load_cpus *cpus,
                 const struct hn_load_table *table) {
        struct hn_load_sample sample;
        struct timespec second = { .tv_sec = 1 };
        int status;

        if (!o->report)
                return wait(&status) < 0 ? -errno : -ECHILD;
        for (unsigned i = 1; waitpid(-1, &status, WNOHANG) == 0; i++) {
                (void) nanosleep(&second, NULL);
                if (hn_load_sample(table, cpus, i * 7, &sample) == 0)
                        report_line(&sample, i);
        }
        return -ECHILD;
}

static int table_make(const char *path, unsigned n_threads, struct hn_load_table **ret) {
        struct hn_load_table *table;
        int fd, r;

        fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
        if (fd < 0)
                return -errno;
        if (ftruncate(fd, (off_t) sizeof(*table)) < 0) {
                r = -errno;
                (void) close(fd);
                return r;
        }
        table = mmap(NULL, sizeof(*table), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        r = table == MAP_FAILED ? -errno : 0;
        (void) close(fd);
        if (r < 0)
                return r;
        table->magic = HN_LOAD_MAGIC;
        table->n_threads = n_threads;
        *ret = table;
        return 0;
}

/* Waits for `n` bytes of tell_parent(). */
static bool hear(int fd, unsigned n) {
        char c;

        for (unsigned i = 0; i < n; i++)
                if (read(fd, &c, 1) != 1)
                        return false;
        return true;
}

static int load_run(const struct options *o, const struct hn_load_cpus *cpus) {
        struct process p = { .options = o, .cpus = cpus };
        int ready[2], go[2], r;

        r = table_make(o->table, o->processes * o->threads, &p.table);
        if (r < 0)
                return r;
        p.table->threads_each = o->threads;
        p.table->swap = o->swap * SECOND;
        if (sched_getaffinity(0, sizeof(p.mask), &p.mask) < 0 || pipe(ready) < 0 || pipe(go) < 0)
                return -errno;
        p.ready_fd = ready[1];
        p.go_fd = go[0];
        for (p.index = 0; p.index < o->processes; p.index++) {
                pid_t pid = fork();

                if (pid < 0)
                        return -errno;
                if (pid == 0) {
                        (void) close(go[1]);
                        process_run(&p);
                }
        }
        (void) close(ready[1]);
        if (!hear(ready[0], o->processes))
                return -ECHILD;
        p.table->go = work_now();
        (void) close(go[1]);
        /* Whoever compares masks later must not take the one of the start for a thread's own. */
        if (!hear(ready[0], o->processes * o->threads))
                return -ECHILD;
        r = shorts_start(o, p.table);
        if (r < 0)
                return r;
        atomic_store(&p.table->ready, 1);
        return watch(o, cpus, p.table);
}

int main(int argc, char *argv[]) {
        struct options o;
        struct hn_load_cpus cpus;
        int r;

        if (!options_parse(argc, argv, &o))
                return 64;
        r = hn_load_cpus_read(&cpus);
        if (r >= 0)
                r = load_run(&o, &cpus);
        fprintf(stderr, "hn-load: %s\n", strerror(-r));
        return EXIT_FAILURE;
}
