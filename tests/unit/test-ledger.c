/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act/ledger.h"
#include "base/macro.h"
#include "ledgerkit.h"

/* the table */

static void a_task_goes_through_the_ledger(void **state) {
        struct hn_record rec = pin_of(10, 5, "0-5", "0-5", "0-1");
        const struct hn_ledger_entry *e;
        struct hn_ledger *l;

        (void) state;
        assert_int_equal(hn_ledger_new(BOOT, &l), 0);
        assert_null(hn_ledger_find(l, &rec.key));
        assert_int_equal(hn_ledger_note(l, &rec), 0);
        e = hn_ledger_find(l, &rec.key);
        assert_non_null(e);
        assert_false(e->confirmed || e->over_ours || e->unrestricted);
        assert_int_equal(hn_ledger_confirm(l, &rec.key), 0);
        assert_true(hn_ledger_find(l, &rec.key)->confirmed);

        /* Moved on: the oldest mask stays, whatever the caller thinks. */
        rec = pin_of(10, 5, NULL, "0-1", "2-3");
        assert_int_equal(hn_ledger_note(l, &rec), 0);
        e = hn_ledger_find(l, &rec.key);
        assert_true(e->over_ours && !e->confirmed && !e->unrestricted);
        assert_mask(l, e->old, "0-5");
        assert_mask(l, e->want, "2-3");
        assert_int_equal(hn_ledger_marks(l)->n, 2);

        /* Not done after all: it has the mask of the move before. */
        assert_int_equal(hn_ledger_withdraw(l, &rec.key), 0);
        e = hn_ledger_find(l, &rec.key);
        assert_mask(l, e->want, "0-1");
        assert_true(e->confirmed);
        assert_int_equal(hn_ledger_marks(l)->n, 1);

        /* The same tid with another start is another task. */
        rec.key.start++;
        assert_null(hn_ledger_find(l, &rec.key));
        assert_int_equal(hn_ledger_forget(l, &rec.key), 0);
        assert_int_equal(hn_ledger_size(l), 1);
        rec.key.start--;
        assert_int_equal(hn_ledger_forget(l, &hn_ledger_find(l, &rec.key)->key), 0);
        assert_int_equal(hn_ledger_size(l), 0);
        assert_int_equal(hn_ledger_marks(l)->n, 1);
        hn_ledger_free(l);
}

static void a_pin_that_was_not_done_leaves_nothing(void **state) {
        struct hn_record rec = pin_of(10, 5, NULL, "0-5", "0-1");
        struct hn_ledger *l;

        (void) state;
        assert_int_equal(hn_ledger_new(BOOT, &l), 0);
        assert_int_equal(hn_ledger_note(l, &rec), 0);
        assert_int_equal(hn_ledger_withdraw(l, &rec.key), 0);
        assert_int_equal(hn_ledger_size(l), 0);
        assert_int_equal(hn_ledger_marks(l)->n, 0);
        hn_ledger_free(l);
}

static void many_tasks_are_found_and_sorted(void **state) {
        struct hn_task_key *keys;
        struct hn_ledger *l;
        size_t n;

        (void) state;
        assert_int_equal(hn_ledger_new(BOOT, &l), 0);
        for (pid_t tid = 3000; tid > 0; tid--) {
                struct hn_record rec = pin_of(tid, (uint64_t) tid % 7, NULL, "0-7", tid % 2 ? "0-3" : "4-7");

                rec.tgid = 1;
                assert_int_equal(hn_ledger_note(l, &rec), 0);
        }
        assert_int_equal(hn_ledger_size(l), 3000);
        assert_int_equal(hn_ledger_marks(l)->n, 2);
        assert_int_equal(hn_ledger_keys(l, &keys, &n), 0);
        assert_int_equal(n, 3000);
        for (size_t i = 0; i < n; i++) {
                assert_int_equal(keys[i].tid, i + 1);
                assert_non_null(hn_ledger_find(l, &keys[i]));
        }
        for (size_t i = 0; i < n; i += 2)
                assert_int_equal(hn_ledger_forget(l, &keys[i]), 0);
        for (size_t i = 0; i < n; i++)
                assert_int_equal(!hn_ledger_find(l, &keys[i]), i % 2 == 0);
        free(keys);
        hn_ledger_free(l);
}

/* heirs */

static const struct {
        const char *what;
        pid_t kin[4];
        uint64_t start;
        const char *cgroup, *mask, *allowed;
        const char *old; /* "*" unrestricted, NULL: no heir */
} heirs[] = {
        /* Process 10 of web-1 was pinned to 0-1 at tick 205 (unrestricted before), 20 of db to 2-3 (0-5
           before). */
        { "a thread born later", { 10 }, 300, "/system.slice/web-1.service", "0-1", "0-7", "*" },
        { "born in the same tick", { 10 }, 205, NULL, "0-1", "0-7", "*" },
        { "a thread born before", { 10 }, 204, "/system.slice/web-1.service", "0-1", "0-7", NULL },
        { "another mask", { 10 }, 300, "/system.slice/web-1.service", "0", "0-7", NULL },
        { "the other's mask", { 10 }, 300, "/system.slice/web-1.service", "2-3", "0-7", NULL },
        { "a child elsewhere", { 77, 10, 1 }, 300, "/user.slice", "0-1", "0-7", "*" },
        { "a grandchild elsewhere", { 78, 77, 10, 1 }, 300, NULL, "0-1", "0-7", "*" },
        { "an orphan in the cgroup", { 78, 1 }, 300, "/system.slice/web-1.service", "0-1", "0-7", "*" },
        { "an orphan below it", { 78, 1 }, 300, "/system.slice/web-1.service/x", "0-1", "0-7", "*" },
        { "a namesake", { 78, 1 }, 300, "/system.slice/web-1.service-x", "0-1", "0-7", NULL },
        { "a stranger", { 78, 1 }, 300, "/user.slice", "0-1", "0-7", NULL },
        { "of a process with its number", { 910 }, 300, "/user.slice", "0-1", "0-7", NULL },
        { "restricted before", { 20 }, 300, "/db", "2-3", "0-7", "0-5" },
        { "the cpuset took a part", { 10 }, 300, NULL, "1", "1-7", "*" },
        { "the cpuset took a part, restricted", { 20 }, 300, "/db", "3", "3-7", "0-5" },
        { "all that is allowed", { 20 }, 300, "/db", "3", "3", NULL },
        { "all that is allowed, unrestricted", { 10 }, 300, NULL, "1", "1", "*" },
        { "nothing left of ours", { 10 }, 300, NULL, "4-7", "4-7", NULL },
};

static void heirs_are_told_from_strangers(void **state) {
        struct hn_record web = pin_of(10, 5, NULL, "0-7", "0-1"), db = pin_of(20, 6, "0-5", "0-5", "2-3");
        struct hn_ledger *l;

        (void) state;
        assert_int_equal(hn_ledger_new(BOOT, &l), 0);
        strcpy(db.cgroup, "/db");
        assert_int_equal(hn_ledger_note(l, &web), 0);
        assert_int_equal(hn_ledger_note(l, &db), 0);
        for (size_t i = 0; i < HN_ELEMENTS(heirs); i++) {
                struct hn_task_key kin[4];
                struct hn_heir heir = {
                        .start = heirs[i].start,
                        .cgroup = heirs[i].cgroup,
                        .mask = list(heirs[i].mask),
                        .allowed = list(heirs[i].allowed),
                        .kin = kin,
                };
                const struct hn_mark *mark;

                for (size_t k = 0; k < 4 && heirs[i].kin[k] > 0; k++) {
                        /* 910: number 10 again, but of a process that began after the act. */
                        bool reused = heirs[i].kin[k] > 900;

                        kin[heir.n_kin++] = (struct hn_task_key){
                                .tid = reused ? heirs[i].kin[k] - 900 : heirs[i].kin[k],
                                .start = reused ? 290 : 5,
                        };
                }
                mark = hn_ledger_heir(l, &heir);
                if (!mark != !heirs[i].old)
                        fail_msg("%s: %s", heirs[i].what, mark ? "an heir" : "no heir");
                if (!mark)
                        continue;
                assert_int_equal(mark->unrestricted, heirs[i].old[0] == '*');
                assert_mask(l, mark->old, mark->unrestricted ? "" : heirs[i].old);
        }
        hn_ledger_free(l);
}

static void the_root_cgroup_does_not_cover_everybody(void **state) {
        (void) state;
        assert_true(hn_cgroup_covers("/", "/"));
        assert_false(hn_cgroup_covers("/", "/user.slice"));
        assert_true(hn_cgroup_covers("/a", "/a/b"));
        assert_false(hn_cgroup_covers("/a/b", "/a"));
}

/* A task pinned to A and then to B: its children of the first time still wear A. */
static void each_move_leaves_its_mark(void **state) {
        struct hn_record first = pin_of(10, 5, NULL, "0-7", "0-1"),
                         second = pin_of(10, 5, NULL, "0-1", "2-3");
        const struct hn_task_key kin = { .tid = 10, .start = 5 };
        struct hn_heir heir = {
                .start = 1000, .mask = list("0-1"), .allowed = list("0-7"), .kin = &kin, .n_kin = 1
        };
        struct hn_ledger *l;

        (void) state;
        assert_int_equal(hn_ledger_new(BOOT, &l), 0);
        assert_int_equal(hn_ledger_note(l, &first), 0);
        second.boot_usec += 5000000;
        assert_int_equal(hn_ledger_note(l, &second), 0);
        assert_non_null(hn_ledger_heir(l, &heir));
        heir.mask = list("2-3");
        assert_non_null(hn_ledger_heir(l, &heir));
        heir.start = 300; /* before the second move */
        assert_null(hn_ledger_heir(l, &heir));
        hn_ledger_free(l);
}

static void marks_are_bounded(void **state) {
        const struct hn_mark one = { .tgid = 1, .unrestricted = true, .since = 5 };
        struct hn_marks m = HN_MARKS_NULL;
        struct hn_mark mark = one;
        char cgroup[32];

        (void) state;
        /* Of one cgroup: they become one that stands for all. */
        for (pid_t tgid = 1; tgid <= (pid_t) HN_MARKS_MAX; tgid++) {
                mark.tgid = tgid;
                assert_int_equal(hn_marks_add(&m, &mark, "/a"), 1);
        }
        mark.tgid = 99999;
        mark.since = 3;
        assert_int_equal(hn_marks_add(&m, &mark, "/a"), 0);
        assert_int_equal(m.n, HN_MARKS_MAX);
        assert_true(hn_marks_find(&m, &mark, "/a") != SIZE_MAX);
        assert_int_equal(m.marks[hn_marks_find(&m, &mark, "/a")].since, 3);

        /* Of many: the oldest goes. */
        for (unsigned i = 0; i < 3 * HN_MARKS_MAX; i++) {
                (void) snprintf(cgroup, sizeof(cgroup), "/b%u", i);
                mark = one;
                mark.since = 10 + i;
                assert_int_equal(hn_marks_add(&m, &mark, cgroup), 1);
        }
        assert_int_equal(m.n, HN_MARKS_MAX);
        mark.since = 0;
        assert_true(hn_marks_find(&m, &mark, "/b0") == SIZE_MAX);
        assert_true(hn_marks_find(&m, &mark, cgroup) != SIZE_MAX);
        hn_marks_deinit(&m);
}

static bool never(void *userdata, const struct hn_mark *mark) {
        (void) userdata;
        (void) mark;
        return false;
}

static void pruning_spares_what_an_entry_stands_behind(void **state) {
        struct hn_record a = pin_of(10, 5, NULL, "0-7", "0-1"), b = pin_of(20, 5, NULL, "0-7", "0-1");
        struct hn_ledger *l;

        (void) state;
        assert_int_equal(hn_ledger_new(BOOT, &l), 0);
        assert_int_equal(hn_ledger_note(l, &a), 0);
        assert_int_equal(hn_ledger_note(l, &b), 0);
        assert_int_equal(hn_ledger_forget(l, &a.key), 0);
        assert_int_equal(hn_ledger_marks(l)->n, 2);
        assert_int_equal(hn_ledger_prune(l, never, NULL), 0);
        assert_int_equal(hn_ledger_marks(l)->n, 1);
        assert_int_equal(hn_ledger_marks(l)->marks[0].tgid, 20);
        hn_ledger_free(l);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_task_goes_through_the_ledger),
                cmocka_unit_test(a_pin_that_was_not_done_leaves_nothing),
                cmocka_unit_test(many_tasks_are_found_and_sorted),
                cmocka_unit_test(heirs_are_told_from_strangers),
                cmocka_unit_test(the_root_cgroup_does_not_cover_everybody),
                cmocka_unit_test(each_move_leaves_its_mark),
                cmocka_unit_test(marks_are_bounded),
                cmocka_unit_test(pruning_spares_what_an_entry_stands_behind),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
