/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What one sweep over many threads, or processes, costs, beside the naive way: open, read and close of stat,
 * schedstat and sched of each, in the same run and in turns with it. Rules may take some of the processes
 * only. Times are CPU time of this thread. */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <jansson.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/macro.h"
#include "sample/machine.h"
#include "sample/sampler.h"

#define THREADS_MAX 20000u
#define STACK_SIZE  (64u << 10)
#define CHOSEN      "chosen"

struct crowd {
        unsigned n_threads, n_busy;
        bool processes;    /* of one thread each */
        unsigned n_chosen; /* the first so many are called otherwise */
        unsigned n_started;
        pid_t tids[THREADS_MAX];
};

static struct crowd *crowd;

static uint64_t cpu_ns(void) {
        struct timespec t;

        (void) clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
        return (uint64_t) t.tv_sec * 1000000000 + (uint64_t) t.tv_nsec;
}

static void nap(long ms) {
        (void) nanosleep(&(struct timespec){ .tv_nsec = ms * 1000000 }, NULL);
}

/* The busy ones do a little in each hundredth of a second, so that their run time moves between sweeps. */
static void *live(void *arg) {
        size_t i = (size_t) (uintptr_t) arg;

        crowd->tids[i] = gettid();
        (void) __atomic_add_fetch(&crowd->n_started, 1, __ATOMIC_SEQ_CST);
        while (i < crowd->n_busy)
                nap(10);
        for (;;)
                (void) pause();
        return NULL;
}

static void run_crowd(int gate) {
        pthread_attr_t attr;
        pthread_t t;
        char c;

        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (read(gate, &c, 1) != 1 || pthread_attr_init(&attr) != 0 ||
            pthread_attr_setstacksize(&attr, STACK_SIZE) != 0)
                _exit(EXIT_FAILURE);
        for (size_t i = 1; crowd->processes && i < crowd->n_threads; i++) {
                pid_t pid = fork();

                if (pid < 0)
                        _exit(EXIT_FAILURE);
                if (pid == 0) {
                        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                        (void) prctl(PR_SET_NAME, i < crowd->n_chosen ? CHOSEN : "other");
                        (void) live((void *) (uintptr_t) i);
                }
        }
        (void) prctl(PR_SET_NAME, crowd->n_chosen > 0 ? CHOSEN : "other");
        for (size_t i = 1; !crowd->processes && i < crowd->n_threads; i++)
                if (pthread_create(&t, &attr, live, (void *) (uintptr_t) i) != 0)
                        _exit(EXIT_FAILURE);
        (void) live(NULL);
}

/* Where the threads are listed: a cgroup of our own, or a file. */
struct place {
        char scope[64];
        char folder[64]; /* of the file, "" for none */
        int cgroup_fd;   /* the hierarchy that our cgroup is in, -1 for none */
        const char *kind;
};

static int write_text(int dirfd, const char *path, int flags, const char *text) {
        int fd = openat(dirfd, path, O_WRONLY | O_CLOEXEC | flags, 0644);
        ssize_t n;

        if (fd < 0)
                return -errno;
        n = write(fd, text, strlen(text));
        close(fd);
        return n == (ssize_t) strlen(text) ? 0 : -EIO;
}

static int make_cgroup(const struct hn_sampler *s, pid_t pid, struct place *p) {
        char path[128], text[32];
        int fd = s->cgroups.fd, r;

        if (fd < 0 || s->cgroups.layout == HN_CGROUP_V1)
                return -EOPNOTSUPP;
        (void) snprintf(p->scope, sizeof(p->scope), "/homenode-bench-%d", getpid());
        if (mkdirat(fd, p->scope + 1, 0755) < 0)
                return -errno;
        (void) snprintf(path, sizeof(path), "%s/cgroup.procs", p->scope + 1);
        (void) snprintf(text, sizeof(text), "%d\n", pid);
        r = write_text(fd, path, 0, text);
        if (r < 0) {
                (void) unlinkat(fd, p->scope + 1, AT_REMOVEDIR);
                return r;
        }
        p->cgroup_fd = fd;
        p->kind = "cgroup";
        return 0;
}

/* A made-up cgroup file system of one group, written once all threads are there. */
static int make_list(struct hn_sampler *s, struct place *p) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        struct hn_sysroot root;
        size_t n = 0;
        int r;

        text = malloc(THREADS_MAX * 12u);
        if (!text)
                return -ENOMEM;
        strcpy(p->folder, "/tmp/hn-bench-XXXXXX");
        if (!mkdtemp(p->folder))
                return -errno;
        r = hn_sysroot_open(p->folder, &root);
        if (r < 0)
                return r;
        for (size_t i = 0; i < crowd->n_threads; i++)
                n += (size_t) sprintf(text + n, "%d\n", crowd->tids[i]);
        if (mkdirat(root.fd, "proc", 0755) < 0 || mkdirat(root.fd, "proc/self", 0755) < 0 ||
            mkdirat(root.fd, "x", 0755) < 0)
                r = -errno;
        if (r == 0)
                r = write_text(root.fd, "proc/self/mountinfo", O_CREAT,
                               "33 22 0:28 / / rw - cgroup2 cgroup rw\n");
        if (r == 0)
                r = write_text(root.fd, "x/cgroup.threads", O_CREAT, text);
        if (r == 0) {
                hn_cgroupfs_close(&s->cgroups);
                r = hn_cgroupfs_open(&root, &s->cgroups);
        }
        hn_sysroot_close(&root);
        strcpy(p->scope, "/x");
        p->kind = "list";
        return r;
}

static void leave(struct place *p) {
        static const char *const files[] = {
                "x/cgroup.threads", "proc/self/mountinfo", "x", "proc/self", "proc", ""
        };
        char path[128];

        /* A cgroup is empty only a moment after its last thread was waited for. */
        for (unsigned i = 0; p->cgroup_fd >= 0 && i < 100; i++) {
                if (unlinkat(p->cgroup_fd, p->scope + 1, AT_REMOVEDIR) == 0 || errno != EBUSY)
                        break;
                nap(10);
        }
        for (size_t i = 0; p->folder[0] && i < HN_ELEMENTS(files); i++) {
                (void) snprintf(path, sizeof(path), "%s/%s", p->folder, files[i]);
                (void) remove(path);
        }
}

/* Returns how many threads could be read. */
static unsigned naive_sweep(void) {
        static const char *const files[] = { "stat", "schedstat", "sched" };
        static char buf[65536];
        unsigned n = 0;

        for (size_t i = 0; i < crowd->n_threads; i++) {
                size_t k = 0;

                for (size_t f = 0; f < HN_ELEMENTS(files); f++) {
                        char path[64];
                        int fd;

                        (void) snprintf(path, sizeof(path), "/proc/%d/task/%d/%s",
                                        crowd->tids[crowd->processes ? i : 0], crowd->tids[i], files[f]);
                        fd = open(path, O_RDONLY | O_CLOEXEC);
                        if (fd < 0)
                                continue;
                        k += read(fd, buf, sizeof(buf)) > 0;
                        close(fd);
                }
                n += k == HN_ELEMENTS(files);
        }
        return n;
}

static int by_value(const void *a, const void *b) {
        const uint64_t *x = a, *y = b;

        return HN_CMP(*x, *y);
}

/* As a rule with Comm=chosen and User= would. */
static uint32_t choose(void *userdata, uint32_t place, const struct hn_proc_id *who) {
        (void) userdata;
        (void) place;
        return strcmp(who->comm, CHOSEN) == 0 && who->has_uid ? 1 : HN_SCOPE_NONE;
}

struct outcome {
        uint64_t first_ns, sweep_ns, naive_ns; /* the last two: medians */
        size_t looked, descriptors;
};

static int measure(struct hn_sampler *s, struct hn_scope *scope, unsigned n_sweeps, struct outcome *ret) {
        _hn_cleanup_(hn_freep) uint64_t *ours = calloc(n_sweeps, sizeof(*ours));
        _hn_cleanup_(hn_freep) uint64_t *naive = calloc(n_sweeps, sizeof(*naive));
        struct outcome o = { .first_ns = 0 };
        size_t looked = 0;

        if (!ours || !naive)
                return -ENOMEM;
        for (unsigned i = 0; i <= n_sweeps; i++) {
                struct hn_snapshot shot;
                uint64_t begin = cpu_ns(), middle, end;
                unsigned n;
                int r;

                s->chooser = (struct hn_chooser){ .wants = HN_PROC_ID_EXE | HN_PROC_ID_USER,
                                                  .choose = choose };
                r = hn_sampler_sweep(s, scope, 1, i * HN_USEC_PER_SEC, &shot);
                if (r < 0)
                        return r;
                middle = cpu_ns();
                n = naive_sweep();
                end = cpu_ns();
                if (shot.n_tasks != (scope->by_process ? crowd->n_chosen : crowd->n_threads) ||
                    n != crowd->n_threads) {
                        fprintf(stderr, "sweep %u saw %zu threads, the naive way %u, of %u\n", i,
                                shot.n_tasks, n, crowd->n_threads);
                        return -ESRCH;
                }
                /* The first one opens all files and is told apart. */
                if (i == 0)
                        o.first_ns = middle - begin;
                else {
                        ours[i - 1] = middle - begin;
                        naive[i - 1] = end - middle;
                        looked += s->counts.looked;
                }
                nap(20);
        }
        qsort(ours, n_sweeps, sizeof(*ours), by_value);
        qsort(naive, n_sweeps, sizeof(*naive), by_value);
        o.sweep_ns = ours[n_sweeps / 2];
        o.naive_ns = naive[n_sweeps / 2];
        o.looked = looked / n_sweeps;
        o.descriptors = s->reader.n_open;
        *ret = o;
        return 0;
}

static int print(const struct outcome *o, const struct place *p, unsigned n_sweeps, bool json) {
        double ratio = (double) o->naive_ns / (double) HN_MAX(o->sweep_ns, UINT64_C(1));
        json_t *j;

        if (!json) {
                printf("%u %s (%u of them busy), %u sweeps, listed by a %s\n", crowd->n_threads,
                       crowd->processes ? "processes" : "threads", crowd->n_busy, n_sweeps, p->kind);
                if (crowd->n_chosen > 0)
                        printf("%u of them taken by a rule that goes by process\n", crowd->n_chosen);
                printf("first sweep       %8.1f us\n", (double) o->first_ns / 1000);
                printf("sweep, median     %8.1f us   %zu threads looked at closely, %zu descriptors kept\n",
                       (double) o->sweep_ns / 1000, o->looked, o->descriptors);
                printf("open/read/close   %8.1f us   of stat, schedstat and sched of each\n",
                       (double) o->naive_ns / 1000);
                printf("ratio             %8.1f\n", ratio);
                return 0;
        }
        j = json_pack("{s:b, s:i, s:i, s:i, s:i, s:s, s:f, s:f, s:f, s:f, s:i, s:i}", "processes",
                      (int) crowd->processes, "chosen", (int) crowd->n_chosen, "threads",
                      (int) crowd->n_threads, "busy", (int) crowd->n_busy, "sweeps", (int) n_sweeps,
                      "listed_by", p->kind, "first_us", (double) o->first_ns / 1000, "sweep_us",
                      (double) o->sweep_ns / 1000, "naive_us", (double) o->naive_ns / 1000, "ratio", ratio,
                      "looked", (int) o->looked, "descriptors", (int) o->descriptors);
        if (!j || json_dumpf(j, stdout, JSON_INDENT(2)) < 0) {
                json_decref(j);
                return -EIO;
        }
        (void) putchar('\n');
        json_decref(j);
        return 0;
}

static int run(pid_t pid, int gate, unsigned n_sweeps, bool json, struct place *p) {
        struct hn_scope scopes[2] = { { .rule = "bench" }, { .rule = "bench" } };
        struct hn_topology topo = HN_TOPOLOGY_NULL;
        struct hn_sysroot root = HN_SYSROOT_NULL;
        struct hn_sampler s = { .root = NULL };
        struct outcome o;
        int r;

        r = hn_sysroot_open(NULL, &root);
        if (r < 0)
                return r;
        r = hn_machine_read(&root, NULL, &topo);
        if (r == 0)
                r = hn_sampler_init(&s, &root, &topo, NULL);
        if (r < 0) {
                hn_topology_deinit(&topo);
                hn_sysroot_close(&root);
                return r;
        }

        /* Into the cgroup before it has threads: those are born there. */
        r = make_cgroup(&s, pid, p);
        if (write(gate, "x", 1) != 1)
                r = -EPIPE;
        for (unsigned i = 0; r != -EPIPE && i < 6000; i++) {
                if (__atomic_load_n(&crowd->n_started, __ATOMIC_SEQ_CST) == crowd->n_threads)
                        break;
                nap(10);
        }
        if (r < 0 && r != -EPIPE)
                r = make_list(&s, p);
        for (size_t i = 0; i < HN_ELEMENTS(scopes); i++) {
                scopes[i].path = p->scope;
                scopes[i].by_process = crowd->n_chosen > 0;
        }
        if (r == 0)
                r = measure(&s, scopes, n_sweeps, &o);
        if (r == 0)
                r = print(&o, p, n_sweeps, json);

        (void) kill(pid, SIGKILL);
        (void) waitpid(pid, NULL, 0);
        leave(p);
        hn_sampler_deinit(&s);
        hn_topology_deinit(&topo);
        hn_sysroot_close(&root);
        return r;
}

static const char help[] =
        "Usage: sweep [OPTION]...\n"
        "CPU time of one sweep over many threads, beside open/read/close of the same files.\n\n"
        "  --threads N   threads to look at (1000)\n"
        "  --busy N      of these, how many run a little all the time (20)\n"
        "  --processes   processes of one thread each, instead of threads of one\n"
        "  --chosen N    of these, how many a rule takes that goes by process (all, by cgroup)\n"
        "  --sweeps N    sweeps to take the median of (50)\n"
        "  --json        the figures as JSON\n"
        "  --help        this text\n";

static bool parse(const char *text, unsigned min, unsigned max, unsigned *ret) {
        char *end;
        unsigned long v;

        errno = 0;
        v = strtoul(text, &end, 10);
        if (errno != 0 || end == text || *end || v < min || v > max) {
                fprintf(stderr, "\"%s\" is no number from %u to %u\n", text, min, max);
                return false;
        }
        *ret = (unsigned) v;
        return true;
}

int main(int argc, char **argv) {
        static const struct option options[] = {
                { "threads", required_argument, NULL, 't' }, { "busy", required_argument, NULL, 'b' },
                { "sweeps", required_argument, NULL, 's' },  { "json", no_argument, NULL, 'j' },
                { "processes", no_argument, NULL, 'p' },     { "chosen", required_argument, NULL, 'c' },
                { "help", no_argument, NULL, 'h' },          { NULL, 0, NULL, 0 },
        };
        unsigned n_threads = 1000, n_busy = 20, n_sweeps = 50, n_chosen = 0;
        bool processes = false;
        struct place place = { .cgroup_fd = -1 };
        struct rlimit limit;
        bool json = false;
        int gate[2], c, r;
        pid_t pid;

        while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
                bool ok = true;

                switch (c) {
                case 't': ok = parse(optarg, 1, THREADS_MAX, &n_threads); break;
                case 'b': ok = parse(optarg, 0, THREADS_MAX, &n_busy); break;
                case 's': ok = parse(optarg, 1, 100000, &n_sweeps); break;
                case 'j': json = true; break;
                case 'p': processes = true; break;
                case 'c': ok = parse(optarg, 1, THREADS_MAX, &n_chosen); break;
                case 'h': fputs(help, stdout); return EXIT_SUCCESS;
                default: ok = false; break;
                }
                if (!ok)
                        return 64;
        }

        if (getrlimit(RLIMIT_NOFILE, &limit) == 0) {
                limit.rlim_cur = limit.rlim_max;
                (void) setrlimit(RLIMIT_NOFILE, &limit);
        }
        crowd = mmap(NULL, sizeof(*crowd), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (crowd == MAP_FAILED || pipe(gate) < 0)
                return EXIT_FAILURE;
        crowd->n_threads = n_threads;
        crowd->n_busy = HN_MIN(n_busy, n_threads);
        crowd->processes = processes;
        crowd->n_chosen = processes ? HN_MIN(n_chosen, n_threads) : 0;
        pid = fork();
        if (pid < 0)
                return EXIT_FAILURE;
        if (pid == 0) {
                close(gate[1]);
                run_crowd(gate[0]);
                _exit(EXIT_FAILURE);
        }
        close(gate[0]);
        r = run(pid, gate[1], n_sweeps, json, &place);
        if (r < 0) {
                fprintf(stderr, "%s\n", strerror(-r));
                (void) kill(pid, SIGKILL);
        }
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
