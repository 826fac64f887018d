/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "deadline.h"

static void block_alarm(void) {
        sigset_t set;

        (void) sigemptyset(&set);
        (void) sigaddset(&set, SIGALRM);
        (void) sigprocmask(SIG_BLOCK, &set, NULL);
}

/* Both are handed down by whoever starts a program. */
static void it_stands_whatever_the_parent_did(void **state) {
        struct sigaction action = { .sa_handler = SIG_IGN };
        sigset_t set;

        (void) state;
        block_alarm();
        assert_int_equal(sigaction(SIGALRM, &action, NULL), 0);
        hn_deadline_set(1000);
        assert_in_range(alarm(0), 900, 1000);
        assert_int_equal(sigaction(SIGALRM, NULL, &action), 0);
        assert_true(action.sa_handler == SIG_DFL);
        assert_int_equal(sigprocmask(SIG_BLOCK, NULL, &set), 0);
        assert_int_equal(sigismember(&set, SIGALRM), 0);
}

/* A read that nobody answers, in a process that was started so that it would wait for ever. */
static void it_ends_who_is_held_up(void **state) {
        int fds[2], status;
        pid_t pid;

        (void) state;
        assert_int_equal(pipe(fds), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                char c;

                (void) signal(SIGALRM, SIG_IGN);
                block_alarm();
                hn_deadline_set(1);
                _exit(read(fds[0], &c, 1) < 0 ? 1 : 2);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFSIGNALED(status));
        assert_int_equal(WTERMSIG(status), SIGALRM);
        (void) close(fds[0]);
        (void) close(fds[1]);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(it_stands_whatever_the_parent_did),
                cmocka_unit_test(it_ends_who_is_held_up),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
