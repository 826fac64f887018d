/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Calls of "homenode advise" or its like, many at once, beside as many one after the other: all must answer,
 * and both must give out the same. As a test it fails on that, and on calls that stand in each other's way;
 * never on a time by itself. */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <getopt.h>
#include <jansson.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/usec.h"

#define CALLS_MAX 1000u
#define NODES     4u
#define CPUS      8u

/* All of them at once may take so much longer than one after the other: waking up is not for nothing. */
#define TIMES_MAX 4

/* So many of a hundred may be told something else than one by one: on a machine whose CPUs others use, the
 * lock is busy for longer than an answer waits for it. That all count all is shown by test-advice, where they
 * wait for it. */
#define PERCENT_OTHERWISE 10u

/* What a machine may be held up by, whoever else is on it. */
#define GRACE (5 * HN_USEC_PER_SEC)

extern char **environ;

struct call {
        pid_t pid;
        int fd;
        hn_usec_t begin, end;
        char answer[64];
};

static hn_usec_t now(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return (hn_usec_t) ts.tv_sec * HN_USEC_PER_SEC + (hn_usec_t) ts.tv_nsec / 1000;
}

static void write_file(const char *root, const char *path, const char *text) {
        char full[512];
        FILE *f;

        (void) snprintf(full, sizeof(full), "%s/%s", root, path);
        for (char *p = full + 1; (p = strchr(p, '/')); *p++ = '/') {
                *p = '\0';
                if (mkdir(full, 0755) < 0 && errno != EEXIST)
                        abort();
        }
        f = fopen(full, "we");
        if (!f || fputs(text, f) < 0 || fclose(f) != 0)
                abort();
}

/* Nodes of 8 CPUs and 16 GiB that nobody uses: a capture, so that every call sees the same. */
static void make_machine(const char *root) {
        char path[128], text[128];

        (void) snprintf(text, sizeof(text), "0-%u\n", NODES * CPUS - 1);
        write_file(root, "sys/devices/system/cpu/online", text);
        for (unsigned i = 0; i < NODES; i++) {
                (void) snprintf(path, sizeof(path), "sys/devices/system/node/node%u/cpulist", i);
                (void) snprintf(text, sizeof(text), "%u-%u\n", i * CPUS, (i + 1) * CPUS - 1);
                write_file(root, path, text);
                (void) snprintf(path, sizeof(path), "sys/devices/system/node/node%u/meminfo", i);
                (void) snprintf(text, sizeof(text),
                                "Node %u MemTotal: 16777216 kB\nNode %u MemFree: 16777216 kB\n", i, i);
                write_file(root, path, text);
        }
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
        (void) st;
        (void) type;
        (void) ftw;
        return remove(path);
}

static bool start(char **argv, struct call *c) {
        posix_spawn_file_actions_t actions;
        int fds[2];
        bool ok;

        if (pipe2(fds, O_CLOEXEC) < 0)
                return false;
        (void) posix_spawn_file_actions_init(&actions);
        (void) posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
        (void) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
        c->begin = now();
        ok = posix_spawn(&c->pid, argv[0], &actions, NULL, argv, environ) == 0;
        (void) posix_spawn_file_actions_destroy(&actions);
        (void) close(fds[1]);
        c->fd = fds[0];
        return ok;
}

/* Returns whether it answered: with exit status 0, or 69 for what does not fit. */
static bool finish(struct call *c) {
        int status;
        ssize_t n;

        n = read(c->fd, c->answer, sizeof(c->answer) - 1);
        c->answer[n > 0 ? n : 0] = '\0';
        (void) close(c->fd);
        if (waitpid(c->pid, &status, 0) != c->pid)
                return false;
        c->end = now();
        return WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 69) && n > 1 &&
               c->answer[n - 1] == '\n';
}

static int compare_answers(const void *a, const void *b) {
        return strcmp(((const struct call *) a)->answer, ((const struct call *) b)->answer);
}

/* Runs all calls, at once or one by one. Returns how many answered. */
static size_t run(char **argv, struct call *calls, size_t n, bool at_once, hn_usec_t *ret_all) {
        hn_usec_t begin = now();
        size_t answered = 0;

        for (size_t i = 0; i < n; i++) {
                if (!start(argv, &calls[i]))
                        return answered;
                if (!at_once)
                        answered += finish(&calls[i]);
        }
        for (size_t i = 0; at_once && i < n; i++)
                answered += finish(&calls[i]);
        *ret_all = now() - begin;
        qsort(calls, n, sizeof(*calls), compare_answers);
        return answered;
}

/* How many answers of `a` have no match in `b`; both are sorted. */
static size_t count_otherwise(const struct call *a, const struct call *b, size_t n) {
        size_t otherwise = 0;

        for (size_t i = 0, k = 0; i < n;) {
                int r = k < n ? strcmp(a[i].answer, b[k].answer) : -1;

                otherwise += r < 0;
                i += r <= 0;
                k += r >= 0;
        }
        return otherwise;
}

static double slowest(const struct call *calls, size_t n) {
        hn_usec_t most = 0;

        for (size_t i = 0; i < n; i++)
                most = HN_MAX(most, calls[i].end - calls[i].begin);
        return (double) most / 1000;
}

static int bench(char **command, size_t n_words, const char *root, size_t n) {
        static struct call first[CALLS_MAX], second[CALLS_MAX];
        char one_by_one[128], at_once[128];
        hn_usec_t time_first = 0, time_second = 0;
        bool in_time;
        size_t a, b, otherwise;
        json_t *o;

        make_machine(root);
        (void) snprintf(one_by_one, sizeof(one_by_one), "%s/one-by-one", root);
        (void) snprintf(at_once, sizeof(at_once), "%s/at-once", root);
        if (mkdir(one_by_one, 0755) < 0 || mkdir(at_once, 0755) < 0)
                return EXIT_FAILURE;

        command[n_words - 2] = one_by_one;
        a = run(command, first, n, false, &time_first);
        command[n_words - 2] = at_once;
        b = run(command, second, n, true, &time_second);
        otherwise = count_otherwise(first, second, n);
        in_time = time_second <= TIMES_MAX * time_first + GRACE;

        o = json_pack("{s:I, s:I, s:I, s:f, s:f, s:f, s:f, s:I, s:b}", "calls", (json_int_t) n,
                      "answered_one_by_one", (json_int_t) a, "answered_at_once", (json_int_t) b,
                      "one_by_one_ms", (double) time_first / 1000, "at_once_ms", (double) time_second / 1000,
                      "slowest_one_by_one_ms", slowest(first, n), "slowest_at_once_ms", slowest(second, n),
                      "answered_otherwise", (json_int_t) otherwise, "in_time", in_time);
        (void) json_dumpf(o, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(5));
        putchar('\n');
        json_decref(o);
        return a == n && b == n && 100 * otherwise <= PERCENT_OTHERWISE * n && in_time ? EXIT_SUCCESS
                                                                                       : EXIT_FAILURE;
}

int main(int argc, char **argv) {
        static const struct option options[] = { { "calls", required_argument, NULL, 'c' }, {} };
        char root[] = "/tmp/homenode-bench-XXXXXX";
        char *command[32] = {};
        size_t n = 100, n_words = 0;
        int c, r;

        while ((c = getopt_long(argc, argv, "+", options, NULL)) >= 0)
                if (c == 'c')
                        n = strtoul(optarg, NULL, 10);
                else
                        return 64;
        if (optind == argc || argc - optind > 24 || n == 0 || n > CALLS_MAX) {
                fprintf(stderr, "usage: bench-advise [--calls N] PROGRAM [WORD...]\n");
                return 64;
        }
        if (!mkdtemp(root))
                return EXIT_FAILURE;
        for (int i = optind; i < argc; i++)
                command[n_words++] = argv[i];
        command[n_words++] = (char *) "--sysroot";
        command[n_words++] = root;
        command[n_words++] = (char *) "--run-dir";
        n_words++; /* the folder */
        command[n_words++] = NULL;
        r = bench(command, n_words, root, n);
        (void) nftw(root, remove_one, 16, FTW_DEPTH | FTW_PHYS);
        return r;
}
