/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sampletree.h"

#include <errno.h>

#include "rows.h"
#include "sample/subject.h"

#define NO_CAPS "CapPrm:\t0000000000000000\nCapEff:\t0000000000000000\n"
#define STAT_REST                                                                                           \
        " 1 7 7 0 -1 4194368 24617 0 0 0 2763 889 30 12 20 0 4 0 5974 321462272 22886 1 1 2 3 0 0 0 0 0 0 " \
        "0 0 0 -1 6 0 0 0 0 0 0 0 0 0 0 0 0 0\n"

static void whose_a_task_is(void **state) {
        static const struct {
                const char *status;
                int r;
                bool of_1000, of_0;
        } rows[] = {
                { "", -EBADMSG, false, false },
                { "Tgid:\t7\n", -EBADMSG, false, false },
                { "Uid:\t1000\t1000\t1000\t1000\n" NO_CAPS, -EBADMSG, false, false },
                { "Tgid:\t0\nUid:\t1000\t1000\t1000\t1000\n" NO_CAPS, -EBADMSG, false, false },
                { "Tgid:\t7\nUid:\t1000\t1000\n" NO_CAPS, -EBADMSG, false, false },
                { "Tgid:\t7\nUid:\t1000\t1000\t-1\t0\n" NO_CAPS, -EBADMSG, false, false },
                { "Tgid:\t7\nUid:\t1000\t1000\t99999999999\t0\n" NO_CAPS, -EBADMSG, false, false },
                /* The kernel escapes the newline of a name: this is all one line. */
                { "Name:\tx\\nUid:\t0\t0\t0\t0\nTgid:\t7\nUid:\t1000\t1000\t1000\t1000\n" NO_CAPS, 0, true,
                  false },
                { "Tgid:\t7\nUid:\t1000\t1000\t1000\t1000\n" NO_CAPS, 0, true, false },
                /* set-user-ID programs, on their way up and down */
                { "Tgid:\t7\nUid:\t1000\t0\t0\t0\n" NO_CAPS, 0, false, false },
                { "Tgid:\t7\nUid:\t1000\t1000\t0\t1000\n" NO_CAPS, 0, false, false },
                { "Tgid:\t7\nUid:\t0\t1000\t1000\t1000\n" NO_CAPS, 0, false, false },
                { "Tgid:\t7\nUid:\t0\t0\t0\t0\n" NO_CAPS, 0, false, true },
                /* capabilities */
                { "Tgid:\t7\nUid:\t1000\t1000\t1000\t1000\n", 0, false, false },
                { "Tgid:\t7\nUid:\t1000\t1000\t1000\t1000\nCapPrm:\t0\n", 0, false, false },
                { "Tgid:\t7\nUid:\t1000\t1000\t1000\t1000\nCapPrm:\t\nCapEff:\t0\n", 0, false, false },
                { "Tgid:\t7\nUid:\t1000\t1000\t1000\t1000\nCapPrm:\t0000000000002000\nCapEff:\t0\n", 0, false,
                  false },
                { "Tgid:\t7\nUid:\t1000\t1000\t1000\t1000\nCapPrm:\t0\nCapEff:\t0000000000002000\n", 0, false,
                  false },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_subject s = { .tgid = -1 };

                ROW_EQUAL(i, hn_subject_parse_status(rows[i].status, strlen(rows[i].status), &s), rows[i].r);
                if (rows[i].r < 0) {
                        ROW_EQUAL(i, s.tgid, -1);
                        continue;
                }
                ROW_EQUAL(i, s.tgid, 7);
                ROW_EQUAL(i, hn_subject_is_of(&s, 1000), rows[i].of_1000);
                ROW_EQUAL(i, hn_subject_is_of(&s, 0), rows[i].of_0);
        }
}

static void a_task_is_read_from_its_folder(void **state) {
        struct hn_subject s;
        struct tree t;

        (void) state;
        tree_make(&t);
        assert_int_equal(hn_subject_read(&t.root, 7, &s), -ESRCH);
        tree_write(&t, "proc/7/", "");
        assert_int_equal(hn_subject_read(&t.root, 7, &s), -ESRCH);
        tree_write(&t, "proc/7/stat", "7 (a) Z 1\n) S" STAT_REST);
        assert_int_equal(hn_subject_read(&t.root, 7, &s), -ESRCH);
        tree_write(&t, "proc/7/status", "nonsense\n");
        assert_int_equal(hn_subject_read(&t.root, 7, &s), -EBADMSG);
        tree_write(&t, "proc/7/status", "Tgid:\t6\nUid:\t1000\t1000\t1000\t1000\n" NO_CAPS);
        assert_int_equal(hn_subject_read(&t.root, 7, &s), 0);
        assert_int_equal(s.key.tid, 7);
        assert_int_equal(s.key.start, 5974);
        assert_int_equal(s.tgid, 6);
        assert_string_equal(s.comm, "a) Z 1\n");
        assert_true(hn_subject_is_of(&s, 1000));

        tree_write(&t, "proc/7/stat", "7 (a) Z" STAT_REST);
        assert_int_equal(hn_subject_read(&t.root, 7, &s), -ESRCH);
        tree_write(&t, "proc/7/stat", "7 (a) S\n");
        assert_int_equal(hn_subject_read(&t.root, 7, &s), -EBADMSG);
        tree_destroy(&t);
}

/* Root's on paper, the kernel's in fact. */
static void a_kernel_thread_is_nobodys(void **state) {
        struct hn_subject s;
        struct tree t;

        (void) state;
        tree_make(&t);
        tree_write(
                &t, "proc/2/stat",
                "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 32 0 0 20 0 1 0 122 0 0 1 0 0 0 0 0 0 0 1 0 1 0 0 0 3 "
                "0 0 0 0 0 0 0 0 0 0 0 0 0\n");
        tree_write(&t, "proc/2/status", "Tgid:\t2\nUid:\t0\t0\t0\t0\n" NO_CAPS);
        assert_int_equal(hn_subject_read(&t.root, 2, &s), 0);
        assert_true(s.kernel);
        assert_false(hn_subject_is_of(&s, 0));
        tree_destroy(&t);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(whose_a_task_is),
                cmocka_unit_test(a_task_is_read_from_its_folder),
                cmocka_unit_test(a_kernel_thread_is_nobodys),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
