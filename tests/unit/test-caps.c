/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "act/caps.h"

/* Capabilities cannot be had back, so each case is played in a child. Returns its exit status: 0, or the
 * number of the expectation that failed. */
static int in_a_child(int (*play)(void)) {
        pid_t pid = fork();
        int status;

        assert_true(pid >= 0);
        if (pid == 0)
                _exit(play());
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_true(WIFEXITED(status));
        return WEXITSTATUS(status);
}

static bool has(cap_value_t cap, cap_flag_t set) {
        cap_t c = cap_get_proc();
        cap_flag_value_t v = CAP_CLEAR;

        (void) cap_get_flag(c, cap, set, &v);
        (void) cap_free(c);
        return v == CAP_SET;
}

static bool is_permitted(cap_value_t cap) {
        return has(cap, CAP_PERMITTED);
}

static bool is_effective(cap_value_t cap) {
        return has(cap, CAP_EFFECTIVE);
}

static int play_settle(void) {
        bool nice = is_permitted(CAP_SYS_NICE), ptrace = is_permitted(CAP_SYS_PTRACE);
        bool may_bound = is_permitted(CAP_SETPCAP);
        unsigned have = 99;

        if (hn_caps_settle(&have) != 0)
                return 1;
        if (have != ((nice ? HN_CAPS_NICE : 0) | (ptrace ? HN_CAPS_PTRACE : 0)))
                return 2;
        for (cap_value_t cap = 0; cap < cap_max_bits(); cap++) {
                bool kept = (cap == CAP_SYS_NICE && nice) || (cap == CAP_SYS_PTRACE && ptrace);

                if (is_permitted(cap) != kept)
                        return 3;
                if (is_effective(cap) || has(cap, CAP_INHERITABLE) || cap_get_ambient(cap) == 1)
                        return 4;
                if (may_bound && cap != CAP_SYS_NICE && cap != CAP_SYS_PTRACE && cap_get_bound(cap) == 1)
                        return 5;
        }
        /* Once more finds the same: a process that settled is settled. */
        return hn_caps_settle(&have) == 0 && !is_effective(CAP_SYS_NICE) ? 0 : 6;
}

static int play_nothing_to_keep(void) {
        struct hn_caps caps = HN_CAPS_NULL;
        cap_t none = cap_init();
        unsigned have = 99;

        if (cap_set_proc(none) != 0 || cap_free(none) != 0)
                return 1;
        if (hn_caps_settle(&have) != 0 || have != 0)
                return 2;
        if (hn_caps_raise(&caps, CAP_SYS_NICE) != HN_CAPS_ABSENT || caps.raised)
                return 3;
        hn_caps_lower(&caps);
        return 0;
}

static int play_raise(void) {
        unsigned have;

        if (hn_caps_settle(&have) != 0)
                return 1;
        if (!(have & HN_CAPS_NICE))
                return 0;
        for (unsigned i = 0; i < 2; i++) {
                _hn_cleanup_(hn_caps_lowerp) struct hn_caps caps = HN_CAPS_NULL;
                struct hn_caps inner = HN_CAPS_NULL;

                if (is_effective(CAP_SYS_NICE))
                        return 2;
                if (hn_caps_raise(&caps, CAP_SYS_NICE) != 0 || !is_effective(CAP_SYS_NICE))
                        return 3;
                if (is_effective(CAP_SYS_PTRACE))
                        return 4;
                /* Raised within raised: the outer one lasts. */
                if (hn_caps_raise(&inner, CAP_SYS_NICE) != 0)
                        return 5;
                hn_caps_lower(&inner);
                if (!is_effective(CAP_SYS_NICE))
                        return 6;
        }
        return is_effective(CAP_SYS_NICE) ? 7 : 0;
}

static int play_errno(void) {
        struct hn_caps caps = HN_CAPS_NULL;
        unsigned have;

        if (hn_caps_settle(&have) != 0)
                return 1;
        (void) hn_caps_raise(&caps, CAP_SYS_NICE);
        errno = ESRCH;
        hn_caps_lower(&caps);
        return errno == ESRCH ? 0 : 2;
}

static int play_hook(void) {
        struct hn_caps storage = HN_CAPS_NULL;
        struct hn_privilege hook = hn_caps_privilege(&storage);
        unsigned have;

        if (hn_caps_settle(&have) != 0)
                return 1;
        if (hn_privilege_raise(&hook) != 0)
                return 2;
        if (is_effective(CAP_SYS_PTRACE) != !!(have & HN_CAPS_PTRACE))
                return 3;
        hn_privilege_lower(&hook);
        return is_effective(CAP_SYS_PTRACE) ? 4 : 0;
}

static void settling_keeps_two_and_gives_up_the_rest(void **state) {
        (void) state;
        assert_int_equal(in_a_child(play_settle), 0);
}

static void without_capabilities_nothing_is_raised(void **state) {
        (void) state;
        assert_int_equal(in_a_child(play_nothing_to_keep), 0);
}

static void raised_for_the_length_of_a_scope(void **state) {
        (void) state;
        assert_int_equal(in_a_child(play_raise), 0);
}

static void lowering_keeps_errno(void **state) {
        (void) state;
        assert_int_equal(in_a_child(play_errno), 0);
}

static void the_samplers_hook_raises_ptrace(void **state) {
        (void) state;
        assert_int_equal(in_a_child(play_hook), 0);
}

/* A process that has all its capabilities effective, as plain root, is left as it was. */
static void what_was_effective_before_stays(void **state) {
        struct hn_caps caps = HN_CAPS_NULL;
        bool before = is_effective(CAP_SYS_NICE);

        (void) state;
        assert_true(hn_caps_raise(&caps, CAP_SYS_NICE) >= 0);
        hn_caps_lower(&caps);
        assert_int_equal(is_effective(CAP_SYS_NICE), before);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(settling_keeps_two_and_gives_up_the_rest),
                cmocka_unit_test(without_capabilities_nothing_is_raised),
                cmocka_unit_test(raised_for_the_length_of_a_scope),
                cmocka_unit_test(lowering_keeps_errno),
                cmocka_unit_test(the_samplers_hook_raises_ptrace),
                cmocka_unit_test(what_was_effective_before_stays),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
