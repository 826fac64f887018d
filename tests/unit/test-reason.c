/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <string.h>

#include "base/macro.h"
#include "policy/reason.h"
#include "rows.h"

static void every_reason_has_a_name_of_its_own(void **state) {
        (void) state;
        for (int r = 0; r < _HN_REASON_MAX; r++) {
                const char *name = hn_reason_to_string((enum hn_reason) r);

                assert_non_null(name);
                ROW_EQUAL(r, hn_reason_from_string(name), r);
                for (const char *c = name; *c != '\0'; c++)
                        if (!islower((unsigned char) *c) && *c != '-')
                                fail_msg("\"%s\" is no word for a field", name);
        }
}

/* It stands after a colon and before a full stop of the writer's. */
static void every_reason_has_a_sentence(void **state) {
        (void) state;
        for (int r = 0; r < _HN_REASON_MAX; r++) {
                const char *text = hn_reason_to_sentence((enum hn_reason) r);

                assert_non_null(text);
                ROW_EQUAL(r, strlen(text) >= 10, true);
                if (!islower((unsigned char) text[0]) || strchr(".\n ", text[strlen(text) - 1]))
                        fail_msg("\"%s\" does not fit into a line", text);
        }
}

static void what_is_no_reason_is_refused(void **state) {
        static const char *const names[] = { "",         "remote_faults", "Settled",
                                             "settled ", "remote-fault",  "none" };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(names); i++)
                ROW_EQUAL(i, hn_reason_from_string(names[i]), _HN_REASON_INVALID);
        assert_null(hn_reason_to_string(_HN_REASON_INVALID));
        assert_null(hn_reason_to_string(_HN_REASON_MAX));
        assert_null(hn_reason_to_sentence(_HN_REASON_INVALID));
        assert_null(hn_reason_to_sentence(_HN_REASON_MAX));
        assert_false(hn_reason_is_refusal(_HN_REASON_INVALID));
        assert_false(hn_reason_is_refusal(_HN_REASON_MAX));
}

static void acting_and_waiting_quietly_is_no_refusal(void **state) {
        static const struct {
                enum hn_reason reason;
                const char *name;
                bool refusal;
        } rows[] = {
                { HN_REASON_REMOTE_FAULTS, "remote-faults", false },
                { HN_REASON_REMOTE_PAGES, "remote-pages", false },
                { HN_REASON_AT_HOME, "at-home", false },
                { HN_REASON_SHARED_MEMORY, "shared-memory", false },
                { HN_REASON_NEAR_DEVICE, "near-device", false },
                { HN_REASON_NODE_FULL, "node-full", false },
                { HN_REASON_MEMORY_OUTGROWN, "memory-outgrown", false },
                { HN_REASON_NODE_OVERLOADED, "node-overloaded", false },
                { HN_REASON_NODE_IDLE, "node-idle", false },
                { HN_REASON_NO_GAIN, "no-gain", false },
                { HN_REASON_MEMORY_TO_TASK, "memory-to-task", false },
                { HN_REASON_OVERRIDE, "override", false },
                { HN_REASON_OVERRIDE_OVER, "override-over", false },
                { HN_REASON_SETTLED, "settled", false },
                { HN_REASON_NO_SIGNAL, "no-signal", false },
                { HN_REASON_TOO_YOUNG, "too-young", false },
                { HN_REASON_IDLE, "idle", false },
                { HN_REASON_FORKS, "forks", false },
                { HN_REASON_COOLDOWN, "cooldown", false },
                { HN_REASON_PASSING_LOAD, "passing-load", false },
                { HN_REASON_SMALL_GAIN, "small-gain", true },
                { HN_REASON_LOAD_IMBALANCE, "load-imbalance", true },
                { HN_REASON_NO_ROOM, "no-room", true },
                { HN_REASON_OUTGROWS_NODE, "outgrows-node", true },
                { HN_REASON_NO_PAYBACK, "no-payback", true },
                { HN_REASON_OBSERVE_ONLY, "observe-only", false },
                { HN_REASON_ONE_NODE, "one-node", false },
                { HN_REASON_USER_MASK, "user-mask", true },
                { HN_REASON_CHANGED_BY_OTHER, "changed-by-other", true },
                { HN_REASON_NO_ALLOWED_CPU, "no-allowed-cpu", true },
                { HN_REASON_KERNEL_THREAD, "kernel-thread", true },
                { HN_REASON_REALTIME, "realtime", true },
                { HN_REASON_REFUSED_BY_KERNEL, "refused-by-kernel", true },
        };

        (void) state;
        assert_int_equal(HN_ELEMENTS(rows), _HN_REASON_MAX);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                assert_string_equal(hn_reason_to_string(rows[i].reason), rows[i].name);
                ROW_EQUAL(i, hn_reason_is_refusal(rows[i].reason), rows[i].refusal);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_reason_has_a_name_of_its_own),
                cmocka_unit_test(every_reason_has_a_sentence),
                cmocka_unit_test(what_is_no_reason_is_refused),
                cmocka_unit_test(acting_and_waiting_quietly_is_no_refusal),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
