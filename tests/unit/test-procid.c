/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sampletree.h"

#include <errno.h>
#include <fcntl.h>

#include "rows.h"
#include "sample/procid.h"
#include "sample/taskref.h"

#define STAT(comm, state)                                                                  \
        "7 (" comm ") " state                                                              \
        " 1 7 7 0 -1 0 0 0 0 0 1 0 0 0 20 0 1 0 5 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0" \
        " 0 0 0 0 0 0 0 0 0 0\n"

static int proc_of(const struct tree *t) {
        int fd = openat(t->root.fd, "proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

        assert_true(fd >= 0);
        return fd;
}

static void put_link(const struct tree *t, const char *name, const char *target) {
        char path[256];

        (void) snprintf(path, sizeof(path), "%s/%s", t->path, name);
        (void) unlink(path);
        assert_int_equal(symlink(target, path), 0);
}

static void who_it_is(void **state) {
        static const struct {
                const char *stat, *status, *exe; /* NULL: not there */
                int r;
                const char *comm, *want_exe; /* NULL: unknown */
                int exe_error;
                long uid; /* -1: unknown */
        } rows[] = {
                { NULL, NULL, NULL, HN_TASK_GONE, NULL, NULL, 0, -1 },
                { "7 (cut", NULL, NULL, -EBADMSG, NULL, NULL, 0, -1 },
                { STAT("a) R 1", "S"), NULL, NULL, 0, "a) R 1", NULL, -ENOENT, -1 },
                { STAT("x\n", "S"), "Name:\tx\nTgid:\t7\nUid:\t1\n", NULL, 0, "x\n", NULL, -ENOENT, -1 },
                { STAT("x", "S"), "Tgid:\t7\nUid:\tx\ty\n", "(deleted)", 0, "x", "(deleted)", 0, -1 },
                { STAT("x", "S"), "Tgid:\t7\nUid:\t1000\t0\t3\t4\n", " (deleted)", 0, "x", " (deleted)", 0,
                  0 },
                { STAT("x", "S"), "Tgid:\t7\nUid:\t0\t4294967295\n", "/b/x (deleted)", 0, "x", "/b/x", 0,
                  4294967295 },
                { STAT("x", "S"), "Tgid:\t7\nUid:\t0\t70\t0\t0\n", "/b/a name", 0, "x", "/b/a name", 0, 70 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_proc_id id = HN_PROC_ID_NULL;
                struct tree t;
                int fd, r;

                tree_make(&t);
                tree_write(&t, "proc/7/task/7/", "");
                if (rows[i].stat)
                        tree_write(&t, "proc/7/task/7/stat", rows[i].stat);
                if (rows[i].status)
                        tree_write(&t, "proc/7/task/7/status", rows[i].status);
                if (rows[i].exe)
                        put_link(&t, "proc/7/task/7/exe", rows[i].exe);
                fd = proc_of(&t);
                r = hn_proc_id_read(fd, 7, 7, HN_PROC_ID_EXE | HN_PROC_ID_USER, NULL, &id);
                ROW_EQUAL(i, r, rows[i].r);
                if (r == 0) {
                        assert_int_equal(id.pid, 7);
                        assert_int_equal(id.start, 5);
                        assert_false(id.kthread);
                        assert_string_equal(id.comm, rows[i].comm);
                        ROW_EQUAL(i, id.exe_error, rows[i].exe_error);
                        ROW_EQUAL(i, id.exe != NULL, rows[i].want_exe != NULL);
                        if (id.exe)
                                assert_string_equal(id.exe, rows[i].want_exe);
                        ROW_EQUAL(i, id.has_uid ? (long) id.uid : -1, rows[i].uid);
                }
                hn_proc_id_deinit(&id);
                (void) close(fd);
                tree_destroy(&t);
        }
}

struct hook {
        int answer;
        unsigned raised, lowered;
};

static int raise_it(void *userdata) {
        struct hook *h = userdata;

        h->raised++;
        return h->answer;
}

static void lower_it(void *userdata) {
        ((struct hook *) userdata)->lowered++;
}

/* Around the program alone, and only where somebody asks for it; a thread will do where the first one has
 * ended. */
static void privilege_is_raised_for_the_program(void **state) {
        static const struct {
                unsigned wants;
                int answer;
                unsigned raised, lowered;
                bool found;
                int exe_error;
        } rows[] = {
                { HN_PROC_ID_EXE, -EPERM, 1, 0, false, -EPERM },
                { HN_PROC_ID_USER, 0, 0, 0, false, 0 },
                { 0, 0, 0, 0, false, 0 },
                { HN_PROC_ID_EXE, 0, 1, 1, true, 0 },
        };
        struct tree t;
        int fd;

        (void) state;
        tree_make(&t);
        tree_write(&t, "proc/7/task/7/stat", STAT("x", "Z"));
        tree_write(&t, "proc/7/task/7/status", "Tgid:\t7\nUid:\t1\t2\t3\t4\n");
        tree_write(&t, "proc/7/task/8/", "");
        put_link(&t, "proc/7/task/8/exe", "/bin/x");
        fd = proc_of(&t);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hook h = { .answer = rows[i].answer };
                struct hn_privilege p = { .raise = raise_it, .lower = lower_it, .userdata = &h };
                struct hn_proc_id id;

                ROW_EQUAL(i, hn_proc_id_read(fd, 7, 8, rows[i].wants, &p, &id), 0);
                ROW_EQUAL(i, h.raised, rows[i].raised);
                ROW_EQUAL(i, h.lowered, rows[i].lowered);
                ROW_EQUAL(i, id.exe != NULL, rows[i].found);
                ROW_EQUAL(i, id.exe_error, rows[i].exe_error);
                ROW_EQUAL(i, hn_proc_id_exe_denied(&id), rows[i].answer < 0);
                ROW_EQUAL(i, id.has_uid, (rows[i].wants & HN_PROC_ID_USER) != 0);
                hn_proc_id_deinit(&id);
        }
        (void) close(fd);
        tree_destroy(&t);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(who_it_is),
                cmocka_unit_test(privilege_is_raised_for_the_program),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
