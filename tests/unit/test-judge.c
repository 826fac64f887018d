/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "policy/judge.h"
#include "rows.h"

#define FREE _HN_REASON_INVALID /* none against it */

/* One thing after another is wrong with a task that may be placed; the later rows have several faults, of
 * which the first in a person's interest is named. */
static const struct {
        uint32_t flags;
        enum hn_mode mode;
        uint8_t sched_class;
        bool changed, refused, pinned, within;
        const char *mask; /* NULL: not readable */
        size_t n_reachable;
        uint64_t runtime;
        enum hn_signal signal;
        uint64_t faults;
        uint32_t samples, demand;
        enum hn_reason reason;
} rows[] = {
#define OK "0-7", 4, 1000000000, HN_SIGNAL_FAULTS, 500, 1, 50
        { 0, HN_MODE_MANAGE, 0, false, false, false, false, OK, FREE },
        { 0, HN_MODE_ADVISE, 0, false, false, false, false, OK, FREE },
        { 0, HN_MODE_MANAGE, 3, false, false, false, false, OK, FREE }, /* SCHED_BATCH */
        { 0, HN_MODE_MANAGE, 5, false, false, false, false, OK, FREE }, /* SCHED_IDLE */
        { HN_PF_KTHREAD, HN_MODE_MANAGE, 0, false, false, false, false, OK, HN_REASON_KERNEL_THREAD },
        { HN_PF_NO_SETAFFINITY, HN_MODE_MANAGE, 0, false, false, false, false, OK, HN_REASON_KERNEL_THREAD },
        { ~(HN_PF_KTHREAD | HN_PF_NO_SETAFFINITY), HN_MODE_MANAGE, 0, false, false, false, false, OK, FREE },
        { 0, HN_MODE_OBSERVE, 0, false, false, false, false, OK, HN_REASON_OBSERVE_ONLY },
        { 0, HN_MODE_MANAGE, 1, false, false, false, false, OK, HN_REASON_REALTIME },
        { 0, HN_MODE_MANAGE, 2, false, false, false, false, OK, HN_REASON_REALTIME },
        { 0, HN_MODE_MANAGE, 6, false, false, false, false, OK, HN_REASON_REALTIME },
        { 0, HN_MODE_MANAGE, 0, true, false, false, false, OK, HN_REASON_CHANGED_BY_OTHER },
        { 0, HN_MODE_MANAGE, 0, false, true, false, false, OK, HN_REASON_REFUSED_BY_KERNEL },
#undef OK
#define BY(pinned, within) 0, HN_MODE_MANAGE, 0, false, false, pinned, within
        { BY(false, false), NULL, 4, 1000000000, HN_SIGNAL_FAULTS, 500, 1, 50, HN_REASON_NO_SIGNAL },
        { BY(false, false), "0-3", 4, 1000000000, HN_SIGNAL_FAULTS, 500, 1, 50, HN_REASON_USER_MASK },
        { BY(false, true), "0-3", 4, 1000000000, HN_SIGNAL_FAULTS, 500, 1, 50, FREE },
        { BY(true, false), "0-3", 4, 1000000000, HN_SIGNAL_FAULTS, 500, 1, 50, FREE }, /* it is ours */
        { BY(false, false), "0-9", 4, 1000000000, HN_SIGNAL_FAULTS, 500, 1, 50, FREE },
        { BY(false, false), "0-7", 0, 1000000000, HN_SIGNAL_FAULTS, 500, 1, 50, HN_REASON_NO_ALLOWED_CPU },
        { BY(false, false), "0-7", 1, 1000000000, HN_SIGNAL_FAULTS, 500, 1, 50, HN_REASON_ONE_NODE },
        { BY(false, false), "0-7", 2, 1000000000, HN_SIGNAL_FAULTS, 500, 1, 50, FREE },
        { BY(false, false), "0-7", 4, 999999999, HN_SIGNAL_FAULTS, 500, 1, 50, HN_REASON_TOO_YOUNG },
        { BY(false, false), "0-7", 4, 1000000000, HN_SIGNAL_NONE, 500, 1, 50, HN_REASON_NO_SIGNAL },
        { BY(false, false), "0-7", 4, 1000000000, HN_SIGNAL_RESIDENCY, 500, 1, 50, FREE },
        { BY(false, false), "0-7", 4, 1000000000, HN_SIGNAL_RESIDENCY, 1, 1, 50, FREE },
        { BY(false, false), "0-7", 4, 1000000000, HN_SIGNAL_FAULTS, 0, 1, 50,
          HN_REASON_NO_SIGNAL }, /* zeros */
        { BY(false, false), "0-7", 4, 1000000000, HN_SIGNAL_RESIDENCY, 0, 1, 50, HN_REASON_NO_SIGNAL },
        { BY(false, false), "0-7", 4, 1000000000, HN_SIGNAL_FAULTS, 500, 0, 50, HN_REASON_NO_SIGNAL },
        { BY(false, false), "0-7", 4, 1000000000, HN_SIGNAL_FAULTS, 500, 1, 49, HN_REASON_IDLE },

        { BY(false, false), "0-7", 0, 0, HN_SIGNAL_NONE, 0, 0, 0, HN_REASON_NO_ALLOWED_CPU },
        { BY(false, false), "0-7", 1, 0, HN_SIGNAL_NONE, 0, 0, 0, HN_REASON_ONE_NODE },
        { BY(false, false), "0-7", 2, 0, HN_SIGNAL_NONE, 0, 0, 0, HN_REASON_TOO_YOUNG },
        { BY(false, false), "0", 0, 0, HN_SIGNAL_NONE, 0, 0, 0, HN_REASON_USER_MASK },
#undef BY
        { HN_PF_KTHREAD, HN_MODE_OBSERVE, 1, true, true, false, false, "0", 0, 0, HN_SIGNAL_NONE, 0, 0, 0,
          HN_REASON_KERNEL_THREAD },
        { 0, HN_MODE_OBSERVE, 1, true, true, false, false, "0", 0, 0, HN_SIGNAL_NONE, 0, 0, 0,
          HN_REASON_OBSERVE_ONLY },
        { 0, HN_MODE_MANAGE, 1, true, true, false, false, "0", 0, 0, HN_SIGNAL_NONE, 0, 0, 0,
          HN_REASON_REALTIME },
        { 0, HN_MODE_MANAGE, 0, true, true, false, false, "0", 0, 0, HN_SIGNAL_NONE, 0, 0, 0,
          HN_REASON_CHANGED_BY_OTHER },
        { 0, HN_MODE_MANAGE, 0, false, true, false, false, "0", 0, 0, HN_SIGNAL_NONE, 0, 0, 0,
          HN_REASON_REFUSED_BY_KERNEL },
};

static void first_reason_against_it(void **state) {
        const struct hn_limits limits = HN_LIMITS_DEFAULT;

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                enum hn_reason reason = FREE;
                struct hn_task_state st = {
                        .home = HN_NODE_NONE,
                        .pinned = rows[i].pinned ? 1 : HN_NODE_NONE,
                        .changed_by_other = rows[i].changed,
                        .refused = rows[i].refused,
                        .samples = rows[i].samples,
                        .demand = rows[i].demand,
                        .signal = rows[i].signal,
                };
                struct fixture f;

                fixture_init(&f, 4, 2, 1);
                f.scopes[0].mode = rows[i].mode;
                f.scopes[0].within_user_mask = rows[i].within;
                f.tasks[0].flags = rows[i].flags;
                f.tasks[0].sched_class = rows[i].sched_class;
                f.tasks[0].mask = rows[i].mask ? fixture_mask(&f, rows[i].mask) : HN_MASK_ID_NONE;
                f.tasks[0].runtime_ns = rows[i].runtime;
                f.shared[2] = rows[i].faults;
                ROW_EQUAL(i, hn_judge(&f.s, 0, &st, rows[i].n_reachable, &f.topo, &limits, &reason),
                          rows[i].reason == FREE);
                ROW_EQUAL(i, reason, rows[i].reason);
                fixture_deinit(&f);
        }
}

/* Who has not lived for two seconds may be gone in the next, however busy it is. */
static void the_young_are_left_alone(void **state) {
        static const struct {
                hn_usec_t age;
                enum hn_reason reason;
        } ages[] = {
                { 0, FREE }, /* not known */
                { 1, HN_REASON_TOO_YOUNG },
                { 2 * HN_USEC_PER_SEC - 1, HN_REASON_TOO_YOUNG },
                { 2 * HN_USEC_PER_SEC, FREE },
        };
        const struct hn_limits limits = HN_LIMITS_DEFAULT;

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(ages); i++) {
                struct hn_task_state st = {
                        .home = HN_NODE_NONE,
                        .pinned = HN_NODE_NONE,
                        .samples = 1,
                        .demand = 1000,
                        .signal = HN_SIGNAL_FAULTS,
                };
                enum hn_reason reason = FREE;
                struct fixture f;

                fixture_init(&f, 4, 2, 1);
                fixture_memory(&f, 0, 1, 1000);
                f.tasks[0].age = ages[i].age;
                ROW_EQUAL(i, hn_judge(&f.s, 0, &st, 4, &f.topo, &limits, &reason), ages[i].reason == FREE);
                ROW_EQUAL(i, reason, ages[i].reason);
                fixture_deinit(&f);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(first_reason_against_it),
                cmocka_unit_test(the_young_are_left_alone),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
