/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "act/writeall.h"

static void test_hostile(void **state) {
        int full = open("/dev/full", O_WRONLY | O_CLOEXEC), reader = open("/dev/null", O_RDONLY | O_CLOEXEC);

        (void) state;
        assert_int_equal(hn_write_all(-1, "x", 1), -EBADF);
        assert_int_equal(hn_write_all(reader, "x", 1), -EBADF);
        assert_int_equal(hn_write_all(full, "x", 1), -ENOSPC);
        assert_int_equal(hn_write_all(-1, "", 0), 0);
        close(full);
        close(reader);
}

/* The first call takes what still fits, and the second says why not more does. */
static void test_in_pieces(void **state) {
        char path[] = "/tmp/homenode-test-XXXXXX", text[1500], back[sizeof(text)];
        struct rlimit before, small;
        int fd = mkstemp(path);

        (void) state;
        assert_true(fd >= 0);
        for (size_t i = 0; i < sizeof(text); i++)
                text[i] = (char) (i * 31 >> 4);
        (void) signal(SIGXFSZ, SIG_IGN);
        assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
        small = (struct rlimit){ .rlim_cur = 1000, .rlim_max = before.rlim_max };
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
        assert_int_equal(hn_write_all(fd, text, sizeof(text)), -EFBIG);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
        assert_int_equal(pread(fd, back, sizeof(back), 0), 1000);
        assert_memory_equal(back, text, 1000);
        assert_int_equal(hn_write_all(fd, text + 1000, 500), 0);
        assert_int_equal(pread(fd, back, sizeof(back), 0), sizeof(text));
        assert_memory_equal(back, text, sizeof(text));
        close(fd);
        unlink(path);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(test_hostile),
                cmocka_unit_test(test_in_pieces),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
