/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "calls.h"
#include "guest.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static int call_begin(char *const argv[], struct call *c) {
        posix_spawn_file_actions_t actions;
        int fds[2], r;

        *c = (struct call){ .fd = -1 };
        if (pipe2(fds, O_CLOEXEC) < 0)
                return -errno;
        (void) posix_spawn_file_actions_init(&actions);
        (void) posix_spawn_file_actions_adddup2(&actions, fds[1], STDOUT_FILENO);
        (void) posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, CALLS_ERRORS,
                                                O_WRONLY | O_APPEND | O_CREAT, 0600);
        c->begin = guest_now();
        r = -posix_spawnp(&c->pid, argv[0], &actions, NULL, argv, environ);
        (void) posix_spawn_file_actions_destroy(&actions);
        (void) close(fds[1]);
        if (r < 0)
                (void) close(fds[0]);
        else
                c->fd = fds[0];
        return r;
}

/* The end of its output is its end, to a fraction of a millisecond. */
static void call_read(struct call *c) {
        char rest[64];
        bool room = c->n + 1 < sizeof(c->answer);
        ssize_t n = room ? read(c->fd, c->answer + c->n, sizeof(c->answer) - 1 - c->n)
                         : read(c->fd, rest, sizeof(rest));

        if (n > 0) {
                c->n += room ? (size_t) n : 0;
                return;
        }
        c->end = guest_now();
        (void) close(c->fd);
        c->fd = -1;
}

static unsigned count_open(const struct calls *cs) {
        unsigned open = 0;

        for (unsigned i = 0; i < cs->n; i++)
                open += cs->call[i].fd >= 0;
        return open;
}

/* Reads until no more than so many are under way. */
static void wait_for(struct calls *cs, unsigned open, uint64_t until) {
        while (count_open(cs) > open && guest_now() <= until) {
                struct pollfd fds[CALLS_MAX];

                for (unsigned i = 0; i < cs->n; i++)
                        fds[i] = (struct pollfd){ .fd = cs->call[i].fd, .events = POLLIN };
                if (poll(fds, cs->n, 100) <= 0)
                        continue;
                for (unsigned i = 0; i < cs->n; i++)
                        if (fds[i].revents != 0)
                                call_read(&cs->call[i]);
        }
}

/* Where the kernel has it, for whoever asks why it did not come to an end: what it is, whether it sleeps or
 * would run if it could, how much it has run, in which system call it is and who called whom in there. */
static void say_where(pid_t pid) {
        static const char *const files[] = { "comm", "wchan", "stat", "schedstat", "syscall", "stack" };
        char path[64], text[2048];

        for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
                (void) snprintf(path, sizeof(path), "/proc/%d/%s", pid, files[i]);
                if (guest_file_read(path, text, sizeof(text)) < 0)
                        continue;
                for (char *p = text; (p = strchr(p, '\n'));)
                        *p = p[1] ? '|' : '\0';
                guest_say("%d did not come to an end: %s: %s", pid, files[i], text);
        }
}

static void collect(struct calls *cs) {
        for (unsigned i = 0; i < cs->n; i++) {
                struct call *c = &cs->call[i];
                int status = 0;

                if (c->fd >= 0) {
                        cs->hung++;
                        say_where(c->pid);
                        (void) close(c->fd);
                        (void) kill(c->pid, SIGKILL);
                }
                (void) waitpid(c->pid, &status, 0);
                c->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
        }
}

static int compare(const void *a, const void *b) {
        double x = *(const double *) a, y = *(const double *) b;

        return (x > y) - (x < y);
}

int calls_make(char *const argv[], unsigned n, unsigned at_once, unsigned seconds, struct calls *ret) {
        uint64_t until = guest_now() + seconds * 1000000ULL;
        double times[CALLS_MAX];
        unsigned done = 0;
        int r = 0;

        *ret = (struct calls){ .n = 0 };
        (void) unlink(CALLS_ERRORS);
        while (r == 0 && ret->n < n && ret->n < CALLS_MAX && guest_now() <= until) {
                r = call_begin(argv, &ret->call[ret->n]);
                ret->n += r == 0;
                wait_for(ret, at_once - 1, until);
        }
        wait_for(ret, 0, until);
        collect(ret);
        for (unsigned i = 0; i < ret->n; i++)
                if (ret->call[i].end != 0)
                        times[done++] = (double) (ret->call[i].end - ret->call[i].begin) / 1000;
        qsort(times, done, sizeof(times[0]), compare);
        if (done > 0) {
                ret->slowest_ms = times[done - 1];
                ret->middle_ms = times[done / 2];
        }
        return r;
}
