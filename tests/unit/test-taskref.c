/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sampletree.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

#include "sample/taskref.h"

#define REST " 1 7 7 0 -1 0 0 0 0 0 1 2 0 0 20 0 1 0 %s 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0\n"

static void write_stat(const struct tree *t, const char *name, const char *state, const char *start) {
        char text[512];

        (void) snprintf(text, sizeof(text), "7 (%s) %s" REST, name, state, start);
        tree_write(t, "proc/7/task/7/stat", text);
}

static const struct {
        const char *name, *state, *start;
        int r;
} rows[] = {
        { "x", "S", "500", 0 },
        { "x) Z 1 (", "S", "500", 0 },     /* a name that plays dead */
        { "x", "S", "501", HN_TASK_GONE }, /* the tid has another owner */
        { "x", "Z", "500", HN_TASK_GONE },
        { "x", "X", "500", HN_TASK_GONE },
        { "x", "S", "x", -EBADMSG },
};

static void a_key_is_tid_and_start(void **state) {
        const struct hn_task_key key = { .tid = 7, .start = 500 };
        struct hn_task_key got;
        struct tree t;
        int proc_fd;

        (void) state;
        tree_make(&t);
        tree_write(&t, "proc/", "");
        proc_fd = openat(t.root.fd, "proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        assert_true(proc_fd >= 0);
        assert_int_equal(hn_task_verify(proc_fd, &key), HN_TASK_GONE);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                write_stat(&t, rows[i].name, rows[i].state, rows[i].start);
                assert_int_equal(hn_task_verify(proc_fd, &key), rows[i].r);
                if (rows[i].r != 0)
                        continue;
                assert_int_equal(hn_task_key_read(proc_fd, 7, &got), 0);
                assert_int_equal(got.tid, 7);
                assert_int_equal(got.start, 500);
        }
        close(proc_fd);
        tree_destroy(&t);
}

/* A real child with a name that lies: alive, then a zombie, then nobody. */
static void a_child_lives_and_dies(void **state) {
        int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        struct hn_task_key key;
        siginfo_t info;
        int ready[2];
        pid_t pid;
        char c;

        (void) state;
        assert_true(proc_fd >= 0);
        assert_int_equal(pipe(ready), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                (void) prctl(PR_SET_NAME, "a) Z 1\n(b:=");
                (void) !write(ready[1], "x", 1);
                for (;;)
                        (void) pause();
        }
        assert_int_equal(read(ready[0], &c, 1), 1);
        assert_int_equal(hn_task_key_read(proc_fd, pid, &key), 0);
        assert_int_equal(hn_task_verify(proc_fd, &key), 0);
        key.start++;
        assert_int_equal(hn_task_verify(proc_fd, &key), HN_TASK_GONE);
        key.start--;

        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitid(P_PID, (id_t) pid, &info, WEXITED | WNOWAIT), 0);
        assert_int_equal(hn_task_verify(proc_fd, &key), HN_TASK_GONE); /* still there, as a zombie */
        assert_int_equal(waitpid(pid, NULL, 0), pid);
        assert_int_equal(hn_task_verify(proc_fd, &key), HN_TASK_GONE);
        close(ready[0]);
        close(ready[1]);
        close(proc_fd);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_key_is_tid_and_start),
                cmocka_unit_test(a_child_lives_and_dies),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
