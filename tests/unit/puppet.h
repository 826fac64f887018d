/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A process of our own to act on: it makes threads and children when told to, and dies with the test. */

#include <assert.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* Seconds after which it is gone whatever happened to the test. */
#define PUPPET_LIFE 100

struct puppet {
        pid_t pid;
        int fd;
};

static int puppet_end;     /* in the puppet: its end of the line */
static int puppet_wake[2]; /* a byte lets one thread end */

static void puppet_say(pid_t id) {
        if (write(puppet_end, &id, sizeof(id)) != sizeof(id))
                _exit(1);
}

static void *puppet_thread(void *arg) {
        char c;

        (void) arg;
        puppet_say((pid_t) syscall(SYS_gettid));
        (void) !read(puppet_wake[0], &c, 1);
        return NULL;
}

static void puppet_run(void) {
        pthread_t thread, last = 0;
        pid_t pid;

        (void) alarm(PUPPET_LIFE);
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (pipe(puppet_wake) < 0)
                _exit(1);
        puppet_say(getpid());
        for (char c; read(puppet_end, &c, 1) == 1;)
                switch (c) {
                case 't': /* a thread */
                        if (pthread_create(&thread, NULL, puppet_thread, NULL) != 0)
                                _exit(1);
                        last = thread;
                        break;
                case 'e': /* the youngest thread ends */
                        (void) !write(puppet_wake[1], "x", 1);
                        (void) pthread_join(last, NULL);
                        puppet_say(getpid());
                        break;
                case 'c': /* a child */
                        pid = fork();
                        if (pid == 0) {
                                (void) alarm(PUPPET_LIFE);
                                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                                for (;;)
                                        (void) pause();
                        }
                        puppet_say(pid);
                        break;
                default: _exit(1);
                }
        _exit(0);
}

static inline void puppet_start(struct puppet *p) {
        int pair[2];
        pid_t said;

        if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                abort();
        p->pid = fork();
        if (p->pid < 0)
                abort();
        if (p->pid == 0) {
                (void) close(pair[0]);
                puppet_end = pair[1];
                puppet_run();
        }
        (void) close(pair[1]);
        p->fd = pair[0];
        if (read(p->fd, &said, sizeof(said)) != sizeof(said) || said != p->pid)
                abort();
}

/* Returns the id that the puppet answers with. */
static inline pid_t puppet_do(struct puppet *p, char c) {
        pid_t said;

        if (write(p->fd, &c, 1) != 1 || read(p->fd, &said, sizeof(said)) != sizeof(said))
                abort();
        return said;
}

static inline void puppet_stop(struct puppet *p) {
        (void) kill(p->pid, SIGKILL);
        (void) waitpid(p->pid, NULL, 0);
        (void) close(p->fd);
}
