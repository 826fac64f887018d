/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "act/reservefile.h"
#include "fakeroot.h"
#include "rows.h"

#define MSEC HN_USEC_PER_MSEC

static const char *path_of(const struct hn_tree *tree, const char *name) {
        static char path[256];

        (void) snprintf(path, sizeof(path), "%s/%s", tree->path, name);
        return path;
}

static void check_text(const struct hn_reservefile *f, const char *want) {
        char *text = NULL;

        assert_int_equal(hn_reservefile_read(f, &text), strlen(want));
        assert_string_equal(text, want);
        free(text);
}

static void lines_stay(void **state) {
        struct hn_reservefile f;
        struct hn_tree tree;
        struct stat st;

        (void) state;
        hn_tree_make(&tree);
        assert_int_equal(hn_reservefile_open(tree.path, 0, &f), 0);
        check_text(&f, "");
        assert_int_equal(hn_reservefile_append(&f, "a\n", 2), 0);
        assert_int_equal(hn_reservefile_append(&f, "b\n", 2), 0);
        check_text(&f, "a\nb\n");
        hn_reservefile_close(&f);
        hn_reservefile_close(&f);

        assert_int_equal(hn_reservefile_open(tree.path, 0, &f), 0);
        check_text(&f, "a\nb\n");
        assert_int_equal(hn_reservefile_replace(&f, "c\n", 2), 0);
        check_text(&f, "c\n");
        hn_reservefile_close(&f);

        /* Whoever may read the one may not lock the other. */
        assert_int_equal(stat(path_of(&tree, HN_RESERVEFILE_LOCK), &st), 0);
        assert_int_equal(st.st_mode & 07777, 0600);
        hn_tree_drop(&tree);
}

static void the_lock_has_an_end(void **state) {
        struct hn_reservefile f, other = HN_RESERVEFILE_NULL;
        struct hn_tree tree;

        (void) state;
        hn_tree_make(&tree);
        assert_int_equal(hn_reservefile_open(tree.path, 0, &f), 0);
        assert_int_equal(hn_reservefile_append(&f, "a\n", 2), 0);
        assert_int_equal(hn_reservefile_open(tree.path, 0, &other), HN_RESERVEFILE_BUSY);
        assert_int_equal(other.lock, -1);
        check_text(&other, "a\n");
        hn_reservefile_close(&other);
        assert_int_equal(hn_reservefile_open(tree.path, 3 * MSEC, &other), HN_RESERVEFILE_BUSY);
        hn_reservefile_close(&other);
        hn_reservefile_close(&f);
        assert_int_equal(hn_reservefile_open(tree.path, 0, &other), 0);
        hn_reservefile_close(&other);
        hn_tree_drop(&tree);
}

static void not_just_any_file(void **state) {
        static const char *const names[] = { HN_RESERVEFILE_NAME, HN_RESERVEFILE_LOCK };
        struct hn_reservefile f = HN_RESERVEFILE_NULL;
        struct hn_tree tree;
        char x[256];

        (void) state;
        assert_int_equal(hn_reservefile_open("/no/such/folder", 0, &f), -ENOENT);
        assert_int_equal(hn_reservefile_open("/dev/null", 0, &f), -ENOTDIR);
        for (size_t i = 0; i < HN_ELEMENTS(names); i++) {
                hn_tree_make(&tree);
                assert_int_equal(symlink("/etc/passwd", path_of(&tree, names[i])), 0);
                ROW_EQUAL(i, hn_reservefile_open(tree.path, 0, &f), -ELOOP);
                hn_tree_delete(&tree, names[i]);

                assert_int_equal(mkfifo(path_of(&tree, names[i]), 0600), 0);
                ROW_EQUAL(i, hn_reservefile_open(tree.path, 0, &f), -ELOOP);
                hn_tree_delete(&tree, names[i]);

                assert_int_equal(mkdir(path_of(&tree, names[i]), 0700), 0);
                ROW_EQUAL(i, hn_reservefile_open(tree.path, 0, &f), -ELOOP);
                hn_tree_delete(&tree, names[i]);

                hn_tree_write(&tree, names[i], "", 0);
                assert_int_equal(chmod(path_of(&tree, names[i]), 0666), 0);
                ROW_EQUAL(i, hn_reservefile_open(tree.path, 0, &f), -EPERM);
                assert_int_equal(chmod(path_of(&tree, names[i]), 0600), 0);
                ROW_EQUAL(i, hn_reservefile_open(tree.path, 0, &f), 0);
                hn_reservefile_close(&f);
                hn_tree_drop(&tree);
        }

        /* a second name; a folder that all may write to */
        hn_tree_make(&tree);
        hn_tree_write(&tree, "x", "", 0);
        (void) snprintf(x, sizeof(x), "%s/x", tree.path);
        assert_int_equal(link(x, path_of(&tree, HN_RESERVEFILE_NAME)), 0);
        assert_int_equal(hn_reservefile_open(tree.path, 0, &f), -EPERM);
        hn_tree_delete(&tree, HN_RESERVEFILE_NAME);
        assert_int_equal(chmod(tree.path, 0777), 0);
        assert_int_equal(hn_reservefile_open(tree.path, 0, &f), -EPERM);
        hn_tree_drop(&tree);
}

/* Of a long file the end counts, which is the latest. */
static void a_long_file_is_read_from_its_end(void **state) {
        const size_t n = HN_RESERVEFILE_MAX + 1000;
        char *text = malloc(n), *got;
        struct hn_reservefile f;
        struct hn_tree tree;

        (void) state;
        assert_non_null(text);
        memset(text, 'x', n);
        text[n - 1] = '\n';
        hn_tree_make(&tree);
        hn_tree_write(&tree, HN_RESERVEFILE_NAME, text, n);
        assert_int_equal(hn_reservefile_open(tree.path, 0, &f), 0);
        assert_int_equal(hn_reservefile_read(&f, &got), HN_RESERVEFILE_MAX);
        assert_memory_equal(got, text + 1000, HN_RESERVEFILE_MAX);
        free(got);
        free(text);
        hn_reservefile_close(&f);
        hn_tree_drop(&tree);
}

static void run_as_nobody(const char *path) {
        struct hn_reservefile f = HN_RESERVEFILE_NULL;
        char *text = NULL;

        if (setgid(65534) < 0 || setuid(65534) < 0)
                _exit(2);
        if (hn_reservefile_open(path, 0, &f) != HN_RESERVEFILE_READONLY)
                _exit(3);
        _exit(hn_reservefile_read(&f, &text) == 2 && strcmp(text, "a\n") == 0 && f.lock == -1 ? 0 : 4);
}

/* What root makes in the folder of another user that one can write to; anybody may read it. */
static void a_folder_is_shared(void **state) {
        struct hn_reservefile f;
        struct hn_tree tree;
        struct stat st;
        int status;
        pid_t pid;

        (void) state;
        if (geteuid() != 0)
                skip();
        hn_tree_make(&tree);
        assert_int_equal(chmod(tree.path, 0755), 0);
        assert_int_equal(chown(tree.path, 12345, 12345), 0);
        assert_int_equal(hn_reservefile_open(tree.path, 0, &f), 0);
        assert_int_equal(hn_reservefile_append(&f, "a\n", 2), 0);
        hn_reservefile_close(&f);
        assert_int_equal(stat(path_of(&tree, HN_RESERVEFILE_LOCK), &st), 0);
        assert_int_equal(st.st_uid, 12345);
        assert_int_equal(stat(path_of(&tree, HN_RESERVEFILE_NAME), &st), 0);
        assert_int_equal(st.st_uid, 12345);
        pid = fork();
        if (pid == 0)
                run_as_nobody(tree.path);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        /* What a third one put there is not taken. */
        assert_int_equal(chown(path_of(&tree, HN_RESERVEFILE_NAME), 54321, 54321), 0);
        assert_int_equal(hn_reservefile_open(tree.path, 0, &f), -EPERM);
        hn_tree_drop(&tree);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(lines_stay),         cmocka_unit_test(the_lock_has_an_end),
                cmocka_unit_test(not_just_any_file),  cmocka_unit_test(a_long_file_is_read_from_its_end),
                cmocka_unit_test(a_folder_is_shared),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
