/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fakeroot.h"
#include "sample/sysroot.h"

static void roots_open(void **state) {
        static const struct {
                const char *path;
                int r;
                bool live;
        } rows[] = {
                { NULL, 0, true },
                { "/", 0, true },
                { "/tmp", 0, false },
                { "/nonexistent/root", -ENOENT, false },
                { "/proc/self/stat", -ENOTDIR, false },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_sysroot root = HN_SYSROOT_NULL;

                assert_int_equal(hn_sysroot_open(rows[i].path, &root), rows[i].r);
                assert_int_equal(root.fd >= 0, rows[i].r == 0);
                assert_int_equal(root.live, rows[i].live);
                hn_sysroot_close(&root);
                assert_int_equal(root.fd, -1);
                hn_sysroot_close(&root);
        }
}

static void files_are_read_below_the_root(void **state) {
        struct hn_tree t;
        char buf[16];

        (void) state;
        hn_tree_make(&t);
        hn_tree_write(&t, "proc/stat", "12345678", 0);
        assert_false(t.root.live);

        /* A leading slash does not leave the root. */
        assert_int_equal(hn_read_at(t.root.fd, buf, sizeof(buf), "/proc/%s", "stat"), 8);
        assert_string_equal(buf, "12345678");
        assert_int_equal(hn_read_at(t.root.fd, buf, 9, "proc/stat"), 8);
        assert_int_equal(hn_read_at(t.root.fd, buf, 8, "proc/stat"), -ENOBUFS);
        assert_int_equal(hn_read_at(t.root.fd, buf, sizeof(buf), "proc/none"), -ENOENT);
        assert_int_equal(hn_read_at(t.root.fd, buf, sizeof(buf), "proc/stat/none"), -ENOTDIR);
        assert_int_equal(hn_read_at(t.root.fd, buf, sizeof(buf), "proc"), -EISDIR);
        assert_int_equal(hn_read_at(t.root.fd, buf, sizeof(buf), "%9000d", 1), -ENAMETOOLONG);
        hn_tree_drop(&t);
}

/* Opening one to read waits for somebody to write, for ever if need be. */
static void named_pipes_are_not_waited_for(void **state) {
        char path[256], buf[16], *got;
        struct hn_tree t;

        (void) state;
        hn_tree_make(&t);
        (void) snprintf(path, sizeof(path), "%s/pipe", t.path);
        assert_int_equal(mkfifo(path, 0600), 0);
        (void) alarm(10); /* ends the test if it is waited for */
        assert_int_equal(hn_read_at(t.root.fd, buf, sizeof(buf), "pipe"), -ESPIPE);
        assert_int_equal(hn_read_all_at(t.root.fd, 100, &got, "pipe"), -ESPIPE);
        (void) alarm(0);
        assert_int_equal(unlink(path), 0);
        hn_tree_drop(&t);
}

static void long_files_find_their_size(void **state) {
        static const size_t sizes[] = { 0, 1, 4094, 4095, 4096, 4097, 8191, 8192, 70000 };
        char *text = malloc(70001), *got;
        struct hn_tree t;

        (void) state;
        assert_non_null(text);
        memset(text, 'x', 70000);
        hn_tree_make(&t);
        for (size_t i = 0; i < HN_ELEMENTS(sizes); i++) {
                text[sizes[i]] = '\0';
                hn_tree_write(&t, "file", text, 0);
                assert_int_equal(hn_read_all_at(t.root.fd, 70000, &got, "file"), sizes[i]);
                assert_string_equal(got, text);
                free(got);
                if (sizes[i] > 0)
                        assert_int_equal(hn_read_all_at(t.root.fd, sizes[i] - 1, &got, "file"), -ENOBUFS);
                text[sizes[i]] = 'x';
        }
        assert_int_equal(hn_read_all_at(t.root.fd, 70000, &got, "none"), -ENOENT);
        hn_tree_drop(&t);
        free(text);
}

static void a_kept_descriptor_reads_from_the_start(void **state) {
        struct hn_tree t;
        char buf[16];
        int fd;

        (void) state;
        hn_tree_make(&t);
        hn_tree_write(&t, "file", "abc", 0);
        fd = openat(t.root.fd, "file", O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        for (int i = 0; i < 2; i++) {
                assert_int_equal(hn_pread_whole(fd, buf, sizeof(buf)), 3);
                assert_string_equal(buf, "abc");
        }
        assert_int_equal(hn_pread_whole(fd, buf, 3), -ENOBUFS);
        (void) close(fd);
        hn_tree_drop(&t);
}

static void folders_are_listed(void **state) {
        struct hn_tree t;
        size_t n = 0;
        DIR *dir;

        (void) state;
        hn_tree_make(&t);
        hn_tree_write(&t, "a/b1", "", 0);
        hn_tree_write(&t, "a/b2", "", 0);
        assert_int_equal(hn_opendir_at(t.root.fd, &dir, "%s", "/a"), 0);
        for (const struct dirent *de; (de = readdir(dir));)
                n += de->d_name[0] == 'b';
        assert_int_equal(n, 2);
        (void) closedir(dir);
        assert_int_equal(hn_opendir_at(t.root.fd, &dir, "a/b1"), -ENOTDIR);
        assert_int_equal(hn_opendir_at(t.root.fd, &dir, "none"), -ENOENT);
        hn_tree_drop(&t);
}

static void gone_is_a_part_of_life(void **state) {
        (void) state;
        assert_true(hn_is_gone(-ENOENT) && hn_is_gone(-ESRCH) && hn_is_gone(-ENOTDIR));
        assert_false(hn_is_gone(0) || hn_is_gone(-EACCES) || hn_is_gone(-ENOMEM));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(roots_open),
                cmocka_unit_test(files_are_read_below_the_root),
                cmocka_unit_test(named_pipes_are_not_waited_for),
                cmocka_unit_test(long_files_find_their_size),
                cmocka_unit_test(a_kept_descriptor_reads_from_the_start),
                cmocka_unit_test(folders_are_listed),
                cmocka_unit_test(gone_is_a_part_of_life),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
