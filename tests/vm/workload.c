/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The load: processes of threads, each sweeping over memory that was put on a chosen node while it was
 * started on another chosen one. After the start nothing holds either in place, unless asked: masks are as
 * wide as they were and no memory policy remains, as with any program that was merely unlucky. */

#include "load.h"

#include "exact/wire.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
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
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define PAGE       4096U
#define MIB_MAX    64U
#define LINES_PAGE 8U /* cache lines touched on each page of a sweep */

enum pin { PIN_NONE, PIN_ODD, PIN_ALL };

struct options {
        const char *table;
        unsigned processes;
        unsigned threads; /* of each process */
        unsigned mib;     /* of each thread, or of each process when shared */
        int run[HN_LOAD_THREADS_MAX];
        int mem[HN_LOAD_THREADS_MAX];
        unsigned n_placed;
        enum pin pin;  /* which threads keep the mask of their first node */
        unsigned duty; /* percent of the time a thread works; it sleeps for the rest, after each sweep */
        bool bind;     /* keep the memory bound */
        bool shared;   /* one buffer for the threads of a process, all of them sweep all of it */
        bool thp;
        bool report;
};

struct process {
        const struct options *options;
        const struct hn_load_cpus *cpus;
        struct hn_load_table *table;
        cpu_set_t mask; /* from before the start */
        unsigned index;
        char *shared;
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

static void sweep(volatile char *buffer, size_t size) {
        for (size_t page = 0; page < size; page += PAGE)
                for (unsigned line = 0; line < LINES_PAGE; line++)
                        buffer[page + line * 64] = (char) (buffer[page + line * 64] + 1);
}

static uint64_t now_nsec(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return (uint64_t) ts.tv_sec * 1000000000ULL + (uint64_t) ts.tv_nsec;
}

static void rest_nsec(uint64_t nsec) {
        struct timespec ts = { .tv_sec = (time_t) (nsec / 1000000000ULL),
                               .tv_nsec = (long) (nsec % 1000000000ULL) };

        (void) nanosleep(&ts, NULL);
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

static void *work(void *data) {
        const struct worker *w = data;
        struct process *p = w->process;
        const struct options *o = p->options;
        size_t size = (size_t) o->mib << 20;
        /* Where a counter outside of the guest tells the buffers apart. */
        uint64_t at = HN_EXACT_ARENA(w->index);
        volatile uint64_t *counter;
        bool first = w->index % o->threads == 0;
        char *buffer;

        start_on(p->cpus, o->run[w->index]);
        if (o->shared && first)
                p->shared = memory_on(o, o->mem[w->index], at, size);
        if (o->shared)
                (void) pthread_barrier_wait(&p->barrier);
        buffer = o->shared ? p->shared : memory_on(o, o->mem[w->index], at, size);
        counter = (volatile uint64_t *) (void *) memory_on(o, o->mem[w->index], 0, PAGE);
        p->table->threads[w->index] = (struct hn_load_thread){
                .pid = getpid(),
                .tid = gettid(),
                .run_node = o->run[w->index],
                .mem_node = o->mem[w->index],
                .buffer = (uintptr_t) buffer,
                .pages = size / PAGE,
                .counter = (uintptr_t) counter,
        };
        (void) pthread_barrier_wait(&p->barrier);
        if (first)
                process_ready(p);
        (void) pthread_barrier_wait(&p->barrier);
        if (o->pin == PIN_NONE || (o->pin == PIN_ODD && w->index % 2 == 0))
                if (sched_setaffinity(0, sizeof(p->mask), &p->mask) < 0)
                        die("sched_setaffinity", errno);
        tell_parent(p);
        for (;;) {
                uint64_t began = now_nsec();

                sweep(buffer, size);
                *counter += 1;
                if (o->duty < 100)
                        rest_nsec((now_nsec() - began) * (100 - o->duty) / o->duty);
                if (first && spawn_wanted)
                        spawn();
        }
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
        (void) close(go[1]);
        /* Whoever compares masks later must not take the one of the start for a thread's own. */
        if (!hear(ready[0], o->processes * o->threads))
                return -ECHILD;
        atomic_store(&p.table->ready, 1);
        return watch(o, cpus, p.table);
}

/* "RUN:MEM,RUN:MEM,...", one pair of nodes for each thread. */
static bool place_parse(const char *text, struct options *o) {
        char *end = NULL;

        for (const char *p = text;; p = end + 1) {
                if (o->n_placed == HN_LOAD_THREADS_MAX)
                        return false;
                o->run[o->n_placed] = (int) strtol(p, &end, 10);
                if (*end != ':')
                        return false;
                o->mem[o->n_placed] = (int) strtol(end + 1, &end, 10);
                if (o->run[o->n_placed] < 0 || o->mem[o->n_placed] < 0 ||
                    o->mem[o->n_placed] >= (int) HN_LOAD_NODES_MAX)
                        return false;
                o->n_placed++;
                if (*end != ',')
                        return *end == 0;
        }
}

static bool pin_parse(const char *text, enum pin *ret) {
        static const char *const names[] = { [PIN_NONE] = "none", [PIN_ODD] = "odd", [PIN_ALL] = "all" };

        for (unsigned i = 0; i < sizeof(names) / sizeof(names[0]); i++)
                if (strcmp(text, names[i]) == 0) {
                        *ret = (enum pin) i;
                        return true;
                }
        return false;
}

static const struct option long_options[] = {
        { "table", required_argument, NULL, 't' },   { "processes", required_argument, NULL, 'P' },
        { "threads", required_argument, NULL, 'T' }, { "mib", required_argument, NULL, 'm' },
        { "place", required_argument, NULL, 'p' },   { "pin", required_argument, NULL, 'k' },
        { "duty", required_argument, NULL, 'd' },    { "bind", no_argument, NULL, 'b' },
        { "shared", no_argument, NULL, 's' },        { "thp", no_argument, NULL, 'H' },
        { "report", no_argument, NULL, 'r' },        { NULL, 0, NULL, 0 },
};

static const char usage[] =
        "usage: hn-load --table FILE --place RUN:MEM[,RUN:MEM...] [OPTIONS]\n"
        "  --table FILE      where to describe the threads for those who measure\n"
        "  --place LIST      for each thread, the node it starts on and the node of its memory\n"
        "  --processes N     processes (1)\n"
        "  --threads N       threads of each process (1)\n"
        "  --mib N           working set of each thread, 1 to 64 (16)\n"
        "  --shared          one working set for the threads of a process\n"
        "  --thp             ask for transparent huge pages (refused without this)\n"
        "  --pin WHICH       threads that stay on their first node: none, odd or all (none)\n"
        "  --duty PERCENT    part of the time that a thread works (100)\n"
        "  --bind            keep the memory bound to its node\n"
        "  --report          print a line of JSON a second\n";

static bool options_parse(int argc, char *argv[], struct options *o) {
        int c;

        while ((c = getopt_long(argc, argv, "", long_options, NULL)) >= 0)
                switch (c) {
                case 't': o->table = optarg; break;
                case 'P': o->processes = (unsigned) strtoul(optarg, NULL, 10); break;
                case 'T': o->threads = (unsigned) strtoul(optarg, NULL, 10); break;
                case 'm': o->mib = (unsigned) strtoul(optarg, NULL, 10); break;
                case 'p':
                        if (!place_parse(optarg, o))
                                return false;
                        break;
                case 'k':
                        if (!pin_parse(optarg, &o->pin))
                                return false;
                        break;
                case 'd': o->duty = (unsigned) strtoul(optarg, NULL, 10); break;
                case 'b': o->bind = true; break;
                case 's': o->shared = true; break;
                case 'H': o->thp = true; break;
                case 'r': o->report = true; break;
                default: return false;
                }
        return optind == argc && o->table && o->processes > 0 && o->processes <= HN_LOAD_THREADS_MAX &&
               o->threads > 0 && o->processes * o->threads == o->n_placed && o->mib > 0 &&
               o->mib <= MIB_MAX && o->duty > 0 && o->duty <= 100;
}

int main(int argc, char *argv[]) {
        struct options o = { .processes = 1, .threads = 1, .mib = 16, .duty = 100 };
        struct hn_load_cpus cpus;
        int r;

        if (!options_parse(argc, argv, &o)) {
                fputs(usage, stderr);
                return 64;
        }
        r = hn_load_cpus_read(&cpus);
        if (r >= 0)
                r = load_run(&o, &cpus);
        fprintf(stderr, "hn-load: %s\n", strerror(-r));
        return EXIT_FAILURE;
}
