/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "rows.h"
#include "sample/kin.h"
#include "sampletree.h"

#define AFTER 500u

/* A task with its start time and its children. */
static void put(const struct tree *t, unsigned pid, unsigned tid, char state, unsigned start,
                const char *children) {
        char name[128], text[512];

        (void) snprintf(name, sizeof(name), "proc/%u/stat", tid);
        (void) snprintf(
                text, sizeof(text),
                "%u (a) b) %c 1 1 1 0 -1 4194304 0 0 0 0 0 0 0 0 20 0 1 0 %u 0 0 18446744073709551615 0 0 0 0 "
                "0 0 0 0 0 0 0 0 17 0 0 0 0 0 0\n",
                tid, state, start);
        tree_write(t, name, text);
        (void) snprintf(name, sizeof(name), "proc/%u/task/%u/stat", pid, tid);
        tree_write(t, name, text);
        if (!children)
                return;
        /* By the thread's own number, and by that of its process. */
        (void) snprintf(name, sizeof(name), "proc/%u/task/%u/children", tid, tid);
        tree_write(t, name, children);
}

static int proc_of(const struct tree *t) {
        int fd = openat(t->root.fd, "proc", O_PATH | O_DIRECTORY | O_CLOEXEC);

        assert_true(fd >= 0);
        return fd;
}

static void begin(struct hn_kin *k, pid_t pid, uint64_t start) {
        const struct hn_task_key key = { .tid = pid, .start = start };

        *k = HN_KIN_NULL;
        if (pid > 0)
                assert_int_equal(hn_kin_add(k, &key), 0);
}

static bool knows(const struct hn_kin *k, pid_t pid) {
        for (size_t i = 0; i < k->n; i++)
                if (k->processes[i].tid == pid)
                        return true;
        return false;
}

/* 10 has a thread 11 and the child 20 from before; of the others one stems from another. */
static void make_family(struct tree *t) {
        tree_make(t);
        put(t, 10, 10, 'S', 100, "20 30 \n");
        put(t, 10, 11, 'S', 110, "31 0 x -5 99999999999 4000000 31 50");
        put(t, 20, 20, 'S', 499, "21");
        put(t, 21, 21, 'S', 700, "");
        put(t, 30, 30, 'R', 500, "40");
        put(t, 31, 31, 'S', 501, NULL);
        put(t, 40, 40, 'D', 600, NULL);
        put(t, 50, 50, 'Z', 600, "51");
        put(t, 51, 51, 'S', 600, NULL);
}

static void children_since_then_and_theirs(void **state) {
        static const struct {
                pid_t pid;
                bool known;
        } rows[] = {
                { 10, true },  { 20, false },               /* before */
                { 21, false },                              /* a child of that one */
                { 30, true },  { 31, true },  { 40, true }, /* a grandchild */
                { 50, false },                              /* a corpse */
                { 51, false },
        };
        struct hn_kin k;
        struct tree t;
        int proc;

        (void) state;
        make_family(&t);
        proc = proc_of(&t);
        begin(&k, 10, 100);
        for (unsigned i = 0; i < 3; i++) {
                assert_int_equal(hn_kin_update(&k, proc, AFTER, 0), 0);
                assert_int_equal(k.n, 4);
        }
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, knows(&k, rows[i].pid), rows[i].known);

        /* Parents end; who was met stays, until it ends as well or its number is somebody else's. */
        put(&t, 10, 10, 'Z', 100, "");
        put(&t, 31, 31, 'S', 900, NULL);
        assert_int_equal(hn_kin_update(&k, proc, AFTER, 0), 0);
        assert_int_equal(k.n, 2);
        assert_true(knows(&k, 30) && knows(&k, 40));
        hn_kin_deinit(&k);
        (void) close(proc);
        tree_destroy(&t);
}

static void those_of_one_thread(void **state) {
        struct hn_kin k;
        struct tree t;
        int proc;

        (void) state;
        make_family(&t);
        proc = proc_of(&t);
        begin(&k, 0, 0);
        assert_int_equal(hn_kin_update(&k, proc, AFTER, 11), 0);
        assert_int_equal(k.n, 1);
        assert_true(knows(&k, 31));
        hn_kin_deinit(&k);
        (void) close(proc);
        tree_destroy(&t);
}

static void another_under_its_number(void **state) {
        struct hn_kin k;
        struct tree t;
        int proc;

        (void) state;
        make_family(&t);
        proc = proc_of(&t);
        begin(&k, 10, 99);
        assert_int_equal(hn_kin_update(&k, proc, AFTER, 0), 0);
        assert_int_equal(k.n, 0);
        hn_kin_deinit(&k);
        (void) close(proc);
        tree_destroy(&t);
}

/* More threads than are asked at a time: the last one's child is met after some turns. */
static void many_threads_have_their_turn(void **state) {
        unsigned turns = 0;
        struct hn_kin k;
        struct tree t;
        int proc;

        (void) state;
        tree_make(&t);
        for (unsigned i = 0; i < 3 * HN_KIN_ASK_MAX; i++)
                put(&t, 1000, 1000 + i, 'S', 100, "");
        for (unsigned i = 0; i < 3 * HN_KIN_ASK_MAX; i++) {
                char child[16];

                (void) snprintf(child, sizeof(child), "%u", 5000 + i);
                put(&t, 1000, 1000 + i, 'S', 100, child);
                put(&t, 5000 + i, 5000 + i, 'S', 600, NULL);
        }
        proc = proc_of(&t);
        begin(&k, 1000, 100);
        while (k.n < 1 + 3 * HN_KIN_ASK_MAX && turns++ < 20)
                assert_int_equal(hn_kin_update(&k, proc, AFTER, 0), 0);
        assert_int_equal(turns, 3);
        hn_kin_deinit(&k);
        (void) close(proc);
        tree_destroy(&t);
}

static void no_more_than_can_be_followed(void **state) {
        struct hn_kin k = HN_KIN_NULL;

        (void) state;
        for (unsigned i = 0; i < HN_KIN_MAX; i++) {
                const struct hn_task_key key = { .tid = (pid_t) i + 1 };

                assert_int_equal(hn_kin_add(&k, &key), 0);
        }
        assert_int_equal(hn_kin_add(&k, &k.processes[0]), -ENOSPC);
        assert_int_equal(k.n, HN_KIN_MAX);
        hn_kin_deinit(&k);
}

static void threads_of_a_process(void **state) {
        pid_t *list = NULL;
        size_t n = 0, allocated = 0;
        struct tree t;
        int proc;

        (void) state;
        make_family(&t);
        tree_write(&t, "proc/10/task/junk/", "");
        proc = proc_of(&t);
        assert_int_equal(hn_kin_threads(proc, 10, &list, &n, &allocated), 0);
        assert_int_equal(n, 2);
        assert_int_equal(list[0] + list[1], 21);
        assert_int_equal(hn_kin_threads(proc, 77, &list, &n, &allocated), 0);
        assert_int_equal(n, 2);
        assert_int_equal(hn_kin_threads(proc, 30, &list, &n, &allocated), 0);
        assert_int_equal(n, 3);
        free(list);
        (void) close(proc);
        tree_destroy(&t);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(children_since_then_and_theirs),
                cmocka_unit_test(those_of_one_thread),
                cmocka_unit_test(another_under_its_number),
                cmocka_unit_test(many_threads_have_their_turn),
                cmocka_unit_test(no_more_than_can_be_followed),
                cmocka_unit_test(threads_of_a_process),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
