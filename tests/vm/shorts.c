/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "shorts.h"

#include "work.h"

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#define GROUPS   4U
#define PAIRS    5U /* senders, and as many receivers, of a group */
#define MESSAGES 100U
#define BYTES    100U

#define STORM_BYTES (1U << 20)
#define STORM_USEC  100000U

static bool child(void) {
        if (fork() != 0)
                return false;
        (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
        return true;
}

static void send_all(const int *fds) {
        char message[BYTES] = { 0 };

        for (unsigned i = 0; i < MESSAGES; i++)
                for (unsigned k = 0; k < PAIRS; k++)
                        if (write(fds[k], message, sizeof(message)) < 0)
                                _exit(EXIT_FAILURE);
        _exit(EXIT_SUCCESS);
}

static void receive_all(int fd) {
        char message[BYTES];

        for (unsigned i = 0; i < MESSAGES * PAIRS; i++)
                if (recv(fd, message, sizeof(message), MSG_WAITALL) <= 0)
                        _exit(EXIT_FAILURE);
        _exit(EXIT_SUCCESS);
}

/* Each sender of a group sends to each of its receivers. */
static void group(void) {
        int to[PAIRS];

        for (unsigned i = 0; i < PAIRS; i++) {
                int pair[2];

                if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
                        return;
                to[i] = pair[0];
                if (child())
                        receive_all(pair[1]);
                (void) close(pair[1]);
        }
        for (unsigned i = 0; i < PAIRS; i++)
                if (child())
                        send_all(to);
        for (unsigned i = 0; i < PAIRS; i++)
                (void) close(to[i]);
}

void shorts_burst(_Atomic uint64_t *done) {
        int status;

        for (unsigned i = 0; i < GROUPS; i++)
                group();
        while (wait(&status) > 0)
                atomic_fetch_add(done, 1);
}

static void storm_task(unsigned seed) {
        uint64_t until = work_now() + STORM_USEC * (1 + seed % 3);
        char *memory = mmap(NULL, STORM_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

        while (memory != MAP_FAILED && work_now() < until)
                work_sweep(memory, STORM_BYTES);
        _exit(EXIT_SUCCESS);
}

void shorts_storm(unsigned n, _Atomic uint64_t *done) {
        int status;

        for (unsigned i = 0;; i++) {
                if (child())
                        storm_task(i);
                if (i + 1 >= n && wait(&status) > 0)
                        atomic_fetch_add(done, 1);
        }
}
