/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "act/appendfile.h"
#include "act/ledger.h"
#include "base/macro.h"
#include "ledgerkit.h"

static char dir[64];

static int setup(void **state) {
        (void) state;
        strcpy(dir, "/tmp/hn-ledger-XXXXXX");
        return mkdtemp(dir) ? 0 : -1;
}

static const char *in_dir(const char *name) {
        static char path[128];

        (void) snprintf(path, sizeof(path), "%s/%s", dir, name);
        return path;
}

static int teardown(void **state) {
        (void) state;
        (void) unlink(in_dir("ledger"));
        (void) unlink(in_dir("ledger.new"));
        (void) unlink(in_dir("other"));
        return rmdir(dir);
}

static char *slurp(size_t *ret_n) {
        char *text = calloc(1, 1 << 20);
        int fd = open(in_dir("ledger"), O_RDONLY | O_CLOEXEC);
        ssize_t n = read(fd, text, (1 << 20) - 1);

        assert_true(n >= 0);
        (void) close(fd);
        if (ret_n)
                *ret_n = (size_t) n;
        return text;
}

static void spill(const char *text, size_t n) {
        int fd = open(in_dir("ledger"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        assert_int_equal(write(fd, text, n), n);
        (void) close(fd);
}

static struct hn_ledger *open_ledger(const char *boot) {
        struct hn_ledger *l;

        assert_int_equal(hn_ledger_open(dir, boot, /* create= */ true, &l), 0);
        return l;
}

static void note(struct hn_ledger *l, struct hn_record rec) {
        assert_int_equal(hn_ledger_note(l, &rec), 0);
}

static void what_was_written_is_there_again(void **state) {
        struct hn_record moved = pin_of(10, 5, NULL, "0-1", "2-3");
        struct hn_ledger *l = open_ledger(BOOT);
        const struct hn_ledger_entry *e;
        struct stat st;

        (void) state;
        assert_int_equal(stat(in_dir("ledger"), &st), 0);
        assert_int_equal(st.st_mode, S_IFREG | 0600);
        note(l, pin_of(10, 5, "0-5", "0-5", "0-1"));
        assert_int_equal(hn_ledger_confirm(l, &moved.key), 0);
        note(l, moved);
        note(l, pin_of(11, 5, NULL, "0-7", "0-1"));
        note(l, pin_of(12, 5, NULL, "0-7", "0-1"));
        note(l, pin_of(13, 5, NULL, "0-7", "0-1"));
        assert_int_equal(hn_ledger_withdraw(l, &(struct hn_task_key){ 12, 5 }), 0);
        assert_int_equal(hn_ledger_forget(l, &(struct hn_task_key){ 13, 5 }), 0);
        assert_int_equal(hn_ledger_sync(l), 0);
        hn_ledger_free(l);

        /* Twice: as it was written line by line, and as it was written anew. */
        for (unsigned i = 0; i < 2; i++) {
                l = open_ledger(BOOT);
                assert_int_equal(hn_ledger_size(l), 2);
                assert_int_equal(hn_ledger_n_damaged(l) + hn_ledger_n_void(l), 0);
                e = hn_ledger_find(l, &moved.key);
                assert_non_null(e);
                assert_true(e->over_ours && !e->confirmed && !e->unrestricted);
                assert_mask(l, e->old, "0-5");
                assert_mask(l, e->before, "0-1");
                assert_mask(l, e->want, "2-3");
                assert_string_equal(e->cgroup, moved.cgroup);
                assert_string_equal(e->reason, "remote-faults");
                assert_int_equal(e->real_usec, moved.real_usec);
                assert_null(hn_ledger_find(l, &(struct hn_task_key){ 12, 5 }));
                /* 10 twice, 11, 13: but not what was not done */
                assert_int_equal(hn_ledger_marks(l)->n, 4);
                assert_int_equal(hn_ledger_compact(l), 0);
                hn_ledger_free(l);
        }
}

static void torn_and_damaged_lines_are_left_out(void **state) {
        struct hn_ledger *l = open_ledger(BOOT);
        _hn_cleanup_(hn_freep) char *text = NULL;
        size_t n;

        (void) state;
        note(l, pin_of(10, 5, NULL, "0-7", "0-1"));
        note(l, pin_of(11, 5, NULL, "0-7", "0-1"));
        note(l, pin_of(12, 5, NULL, "0-7", "0-1"));
        hn_ledger_free(l);
        text = slurp(&n);

        /* Cut anywhere: what is whole counts, never more, and the next line is not spoilt by the torn one. */
        for (size_t cut = 0; cut <= n; cut++) {
                size_t n_lines = 0;

                for (size_t i = 0; i < cut; i++)
                        n_lines += text[i] == '\n';
                /* A line without its end is whole as far as its checksum says. */
                if (cut < n && text[cut] == '\n')
                        n_lines++;
                spill(text, cut);
                l = open_ledger(BOOT);
                assert_int_equal(hn_ledger_size(l), n_lines > 0 ? n_lines - 1 : 0);
                note(l, pin_of(99, 5, NULL, "0-7", "0-1"));
                hn_ledger_free(l);
                l = open_ledger(BOOT);
                assert_non_null(hn_ledger_find(l, &(struct hn_task_key){ 99, 5 }));
                assert_int_equal(hn_ledger_n_damaged(l), 0);
                hn_ledger_free(l);
        }

        /* A flipped bit in the header or in a line costs that line. */
        for (size_t i = 0; i < n; i++) {
                text[i] = (char) (text[i] ^ 4);
                spill(text, n);
                l = open_ledger(BOOT);
                assert_true(hn_ledger_n_damaged(l) >= 1);
                assert_true(hn_ledger_size(l) >= 1);
                hn_ledger_free(l);
                text[i] = (char) (text[i] ^ 4);
        }
}

static void a_file_full_of_noise_is_survived(void **state) {
        char noise[5000];
        struct hn_ledger *l;

        (void) state;
        for (size_t i = 0; i < sizeof(noise); i++)
                noise[i] = (char) (i * 2654435761u >> 13);
        spill(noise, sizeof(noise));
        l = open_ledger(BOOT);
        assert_int_equal(hn_ledger_size(l), 0);
        assert_true(hn_ledger_n_damaged(l) > 0);
        hn_ledger_free(l);
        l = open_ledger(BOOT);
        assert_int_equal(hn_ledger_n_damaged(l), 0);
        hn_ledger_free(l);
}

static void another_boot_is_void(void **state) {
        struct hn_ledger *l = open_ledger(BOOT);

        (void) state;
        note(l, pin_of(10, 5, NULL, "0-7", "0-1"));
        note(l, pin_of(11, 5, NULL, "0-7", "0-1"));
        hn_ledger_free(l);
        l = open_ledger(OTHER_BOOT);
        assert_int_equal(hn_ledger_size(l), 0);
        assert_int_equal(hn_ledger_n_void(l), 2);
        assert_int_equal(hn_ledger_n_damaged(l), 0);
        assert_int_equal(hn_ledger_marks(l)->n, 0);
        hn_ledger_free(l);
        l = open_ledger(OTHER_BOOT);
        assert_int_equal(hn_ledger_n_void(l), 0);
        hn_ledger_free(l);
}

static void the_last_of_duplicate_keys_counts(void **state) {
        struct hn_ledger *l = open_ledger(BOOT);
        _hn_cleanup_(hn_freep) char *text = NULL;
        size_t n, header;

        (void) state;
        note(l, pin_of(10, 5, NULL, "0-7", "0-1"));
        hn_ledger_free(l);
        text = slurp(&n);
        header = (size_t) (strchr(text, '\n') + 1 - text);
        memmove(text + n, text + header, n - header);
        spill(text, 2 * n - header);
        l = open_ledger(BOOT);
        assert_int_equal(hn_ledger_size(l), 1);
        assert_int_equal(hn_ledger_marks(l)->n, 1);
        hn_ledger_free(l);
}

static void a_long_past_is_forgotten(void **state) {
        struct hn_ledger *l = open_ledger(BOOT);
        struct stat st;

        (void) state;
        note(l, pin_of(1, 5, NULL, "0-7", "0-1"));
        for (pid_t tid = 100; tid < 6000; tid++) {
                struct hn_record rec = pin_of(tid, 5, NULL, "0-7", "0-1");

                rec.tgid = 1;
                note(l, rec);
                assert_int_equal(hn_ledger_forget(l, &rec.key), 0);
        }
        hn_ledger_free(l);
        assert_int_equal(stat(in_dir("ledger"), &st), 0);
        assert_true(st.st_size < 1 << 20);
        l = open_ledger(BOOT);
        assert_int_equal(hn_ledger_size(l), 1);
        assert_int_equal(hn_ledger_n_damaged(l), 0);
        hn_ledger_free(l);
}

static void one_process_at_a_time(void **state) {
        struct hn_ledger *l = open_ledger(BOOT), *second;
        int pair[2], status;
        pid_t pid;
        char c;

        (void) state;
        assert_int_equal(hn_ledger_open(dir, BOOT, true, &second), -EBUSY);
        assert_non_null(hn_appendfile_error(-EBUSY));
        hn_ledger_free(l);

        /* The lock dies with its holder, however it dies. */
        assert_int_equal(pipe(pair), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                l = open_ledger(BOOT);
                note(l, pin_of(10, 5, NULL, "0-7", "0-1"));
                (void) !write(pair[1], "x", 1);
                (void) pause();
                _exit(0);
        }
        assert_int_equal(read(pair[0], &c, 1), 1);
        assert_int_equal(hn_ledger_open(dir, BOOT, true, &second), -EBUSY);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        l = open_ledger(BOOT);
        assert_int_equal(hn_ledger_size(l), 1);
        hn_ledger_free(l);
        (void) close(pair[0]);
        (void) close(pair[1]);
}

/* Under the lock that is held; and what stands in its place is trusted no more than a ledger. */
static void a_file_beside_it(void **state) {
        struct hn_appendfile f;
        struct hn_ledger *l = open_ledger(BOOT);
        char *text;
        size_t n;

        (void) state;
        assert_int_equal(hn_ledger_open_beside(l, "other", &f), 0);
        assert_int_equal(hn_appendfile_append(&f, "a line\n", 7), 0);
        hn_appendfile_close(&f);
        assert_int_equal(hn_ledger_open_beside(l, "other", &f), 0);
        assert_int_equal(hn_appendfile_replace(&f, "another\n", 8), 0);
        assert_int_equal(hn_appendfile_read(&f, 100, &text, &n), 0);
        assert_string_equal(text, "another\n");
        free(text);
        hn_appendfile_close(&f);
        assert_int_equal(chmod(in_dir("other"), 0666), 0);
        assert_int_equal(hn_ledger_open_beside(l, "other", &f), -EPERM);
        assert_int_equal(unlink(in_dir("other")), 0);
        assert_int_equal(symlink("ledger", in_dir("other")), 0);
        assert_int_equal(hn_ledger_open_beside(l, "other", &f), -ELOOP);
        hn_ledger_free(l);

        /* One in memory has no folder. */
        assert_int_equal(hn_ledger_new(BOOT, &l), 0);
        assert_int_equal(hn_ledger_open_beside(l, "other", &f), -EBADF);
        hn_ledger_free(l);
}

static void files_of_others_are_refused(void **state) {
        struct hn_ledger *l;

        (void) state;
        assert_int_equal(hn_ledger_open(dir, BOOT, /* create= */ false, &l), -ENOENT);
        assert_int_equal(hn_ledger_open("/nonexistent/run", BOOT, true, &l), -ENOENT);

        /* A symbolic link, even to something harmless. */
        assert_int_equal(symlink("/etc/passwd", in_dir("ledger")), 0);
        assert_int_equal(hn_ledger_open(dir, BOOT, true, &l), -ELOOP);
        assert_int_equal(unlink(in_dir("ledger")), 0);
        assert_int_equal(symlink("nowhere", in_dir("ledger")), 0);
        assert_int_equal(hn_ledger_open(dir, BOOT, true, &l), -ELOOP);
        assert_int_equal(unlink(in_dir("ledger")), 0);

        /* A pipe, a folder. */
        assert_int_equal(mkfifo(in_dir("ledger"), 0600), 0);
        assert_int_equal(hn_ledger_open(dir, BOOT, true, &l), -ELOOP);
        assert_int_equal(unlink(in_dir("ledger")), 0);
        assert_int_equal(mkdir(in_dir("ledger"), 0700), 0);
        assert_int_equal(hn_ledger_open(dir, BOOT, true, &l), -ELOOP);
        assert_int_equal(rmdir(in_dir("ledger")), 0);

        /* A second name, and one that others may write to. */
        spill("", 0);
        assert_int_equal(link(in_dir("ledger"), strcat(strcpy((char[128]){ 0 }, dir), "/other")), 0);
        assert_int_equal(hn_ledger_open(dir, BOOT, true, &l), -EMLINK);
        assert_int_equal(unlink(in_dir("other")), 0);
        assert_int_equal(chmod(in_dir("ledger"), 0622), 0);
        assert_int_equal(hn_ledger_open(dir, BOOT, true, &l), -EPERM);
        assert_int_equal(chmod(in_dir("ledger"), 0600), 0);

        if (geteuid() == 0) {
                /* Somebody else's file in our folder; then in his own; then in his own where others may
                 * write. */
                assert_int_equal(chown(in_dir("ledger"), 12345, 12345), 0);
                assert_int_equal(hn_ledger_open(dir, BOOT, true, &l), -EPERM);
                assert_int_equal(chown(dir, 12345, 12345), 0);
                assert_int_equal(hn_ledger_open(dir, BOOT, true, &l), 0);
                assert_int_equal(hn_ledger_compact(l), 0);
                hn_ledger_free(l);
                struct stat st;
                assert_int_equal(stat(in_dir("ledger"), &st), 0);
                assert_int_equal(st.st_uid, 12345);
                assert_int_equal(chmod(dir, 01777), 0);
                assert_int_equal(hn_ledger_open(dir, BOOT, true, &l), -EPERM);
        }
        for (int r = -200; r < 0; r++)
                if (r == -ELOOP || r == -EPERM || r == -EMLINK || r == -EBUSY || r == -EFBIG)
                        assert_non_null(hn_appendfile_error(r));
}

/* A full disk: /dev/full answers every write with ENOSPC. */
static void an_act_without_its_line_is_not_noted(void **state) {
        struct hn_appendfile f = { .dir_fd = -1,
                                   .fd = open("/dev/full", O_RDWR | O_CLOEXEC),
                                   .name = "ledger" };

        (void) state;
        assert_true(f.fd >= 0);
        assert_int_equal(hn_appendfile_append(&f, "x\n", 2), -ENOSPC);
        assert_int_equal(f.size, 0);
        hn_appendfile_close(&f);
}

static void a_line_cut_short_is_taken_back(void **state) {
        struct hn_ledger *l;
        pid_t pid = fork();
        int status;

        (void) state;
        assert_true(pid >= 0);
        if (pid == 0) {
                struct hn_record rec = pin_of(11, 5, NULL, "0-7", "0-1");
                struct rlimit limit = { .rlim_cur = 250, .rlim_max = 250 };

                (void) signal(SIGXFSZ, SIG_IGN);
                l = open_ledger(BOOT);
                note(l, pin_of(10, 5, NULL, "0-7", "0-1"));
                if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
                        _exit(1);
                /* The kernel takes the part of the line that fits. */
                if (hn_ledger_note(l, &rec) != -ENOSPC || hn_ledger_find(l, &rec.key))
                        _exit(2);
                if (hn_ledger_marks(l)->n != 1)
                        _exit(3);
                _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        l = open_ledger(BOOT);
        assert_int_equal(hn_ledger_size(l), 1);
        assert_int_equal(hn_ledger_n_damaged(l), 0);
        hn_ledger_free(l);
}

static void the_boot_id_is_read(void **state) {
        char boot[HN_BOOT_ID_MAX] = "";
        int fd = open("/proc", O_PATH | O_CLOEXEC);

        (void) state;
        assert_true(fd >= 0);
        assert_int_equal(hn_ledger_boot_id(fd, boot), 0);
        assert_int_equal(strlen(boot), 36);
        (void) close(fd);
}

#define with_dir(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
        const struct CMUnitTest tests[] = {
                with_dir(what_was_written_is_there_again),
                with_dir(torn_and_damaged_lines_are_left_out),
                with_dir(a_file_full_of_noise_is_survived),
                with_dir(another_boot_is_void),
                with_dir(the_last_of_duplicate_keys_counts),
                with_dir(a_long_past_is_forgotten),
                with_dir(one_process_at_a_time),
                with_dir(a_file_beside_it),
                with_dir(files_of_others_are_refused),
                cmocka_unit_test(an_act_without_its_line_is_not_noted),
                with_dir(a_line_cut_short_is_taken_back),
                cmocka_unit_test(the_boot_id_is_read),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
