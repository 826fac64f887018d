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

#include "act/actuator.h"
#include "base/macro.h"
#include "restorestage.h"

static void a_changed_mask_is_left(void **state) {
        struct stage *s = *state;
        pid_t thread = puppet_do(&s->puppet, 't');

        assert_int_equal(pin(s, s->puppet.pid, &all, &first), HN_APPLY_OK);
        assert_int_equal(pin(s, thread, &all, &first), HN_APPLY_OK);
        assert_int_equal(hn_affinity_set(thread, &rest), 0);

        /* Hands off already while we run. */
        assert_int_equal(pin(s, thread, &rest, &first), HN_APPLY_CHANGED);
        assert_wears(thread, &rest);

        assert_int_equal(hn_restore_all(&s->restore), 0);
        assert_counts(&s->restore, 1, 0, 0, 0, 1, 0);
        assert_wears(s->puppet.pid, &all);
        assert_wears(thread, &rest);
        assert_nothing_left(s);
}

/* One's own mask may look like ours on the neighbour: who has been given it back is not an heir. */
static void a_users_mask_comes_back_as_it_was(void **state) {
        struct stage *s = *state;
        pid_t thread;

        assert_int_equal(pin(s, s->puppet.pid, &all, &first), HN_APPLY_OK);
        thread = puppet_do(&s->puppet, 't');
        assert_int_equal(hn_affinity_set(thread, &first), 0);
        /* The user's: not an heir, as far as this record goes. */
        struct hn_record rec = {
                .key = key_of(thread),
                .tgid = s->puppet.pid,
                .old = first,
                .before = first,
                .want = rest,
                .boot_usec = 1,
                .real_usec = 1,
                .reason = "user-mask",
                .cgroup = CGROUP,
        };
        assert_int_equal(hn_ledger_note(s->ledger, &rec), 0);
        assert_int_equal(hn_affinity_set(thread, &rest), 0);
        assert_int_equal(hn_ledger_confirm(s->ledger, &rec.key), 0);

        assert_int_equal(hn_restore_all(&s->restore), 0);
        assert_counts(&s->restore, 2, 0, 0, 0, 0, 0);
        assert_wears(s->puppet.pid, &all);
        assert_wears(thread, &first);
        assert_nothing_left(s);
}

static void a_dead_process_is_counted_and_forgotten(void **state) {
        struct stage *s = *state;
        struct puppet other;

        puppet_start(&other);
        struct hn_order order = pin_of(other.pid, other.pid, &all, &first);
        assert_int_equal(hn_actuator_apply(&s->actuator, &order), HN_APPLY_OK);
        puppet_stop(&other);
        assert_int_equal(hn_restore_all(&s->restore), 0);
        assert_counts(&s->restore, 0, 0, 0, 1, 0, 0);
        assert_nothing_left(s);
        assert_int_equal(hn_actuator_apply(&s->actuator, &order), HN_APPLY_GONE);
        assert_nothing_left(s);
}

static bool is_other(void *userdata, const char *cgroup) {
        (void) userdata;
        return strcmp(cgroup, "/homenode-test.slice/other.service") == 0;
}

static void one_scope_is_opted_out(void **state) {
        struct stage *s = *state;
        struct puppet other;
        pid_t child;

        puppet_start(&other);
        struct hn_order order = pin_of(other.pid, other.pid, &all, &first);
        order.pin.cgroup = "/homenode-test.slice/other.service";
        assert_int_equal(hn_actuator_apply(&s->actuator, &order), HN_APPLY_OK);
        child = puppet_do(&other, 'c');
        assert_int_equal(pin(s, s->puppet.pid, &all, &first), HN_APPLY_OK);

        assert_int_equal(hn_restore_where(&s->restore, is_other, NULL), 0);
        assert_counts(&s->restore, 1, 1, 0, 0, 0, 0);
        assert_wears(other.pid, &all);
        assert_wears(child, &all);
        assert_wears(s->puppet.pid, &first);
        assert_int_equal(hn_ledger_size(s->ledger), 1);
        assert_int_equal(hn_ledger_marks(s->ledger)->n, 1);
        assert_int_equal(kill(child, SIGKILL), 0);
        puppet_stop(&other);
}

static bool is_first(void *userdata, const struct hn_task_key *key) {
        const struct hn_task_key *opted_in = userdata;

        return key->tid == opted_in->tid && key->start == opted_in->start;
}

/* Of two children one goes by the same rule as its parent, the other does not. */
static void a_stranger_does_not_keep_what_it_inherited(void **state) {
        struct stage *s = *state;
        struct hn_task_key opted_in;
        pid_t ours, strange;

        assert_int_equal(hn_restore_strangers(&s->restore, is_first, &opted_in), 0); /* no marks yet */
        assert_int_equal(pin(s, s->puppet.pid, &all, &first), HN_APPLY_OK);
        ours = puppet_do(&s->puppet, 'c');
        strange = puppet_do(&s->puppet, 'c');
        opted_in = key_of(ours);
        assert_int_equal(hn_restore_strangers(&s->restore, is_first, &opted_in), 0);
        assert_counts(&s->restore, 0, 1, 0, 0, 0, 0);
        assert_wears(strange, &all);
        assert_wears(ours, &first);
        assert_wears(s->puppet.pid, &first); /* it has a record of its own */
        assert_int_equal(hn_ledger_size(s->ledger), 1);
        assert_int_equal(hn_ledger_marks(s->ledger)->n, 1);
        assert_int_equal(hn_restore_strangers(&s->restore, is_first, &opted_in), 0);
        assert_counts(&s->restore, 0, 1, 0, 0, 0, 0); /* nobody twice */
        assert_int_equal(kill(ours, SIGKILL), 0);
        assert_int_equal(kill(strange, SIGKILL), 0);
}

/* One of these may come up between two looks of the daemon, which then holds it by hand. */
static void who_was_born_under_an_override_is_no_stranger(void **state) {
        struct hn_task_key nobody = { .tid = 0 };
        struct stage *s = *state;
        struct hn_order order = pin_of(s->puppet.pid, s->puppet.pid, &all, &first);
        pid_t child;

        order.pin.cgroup = "override:7";
        assert_int_equal(hn_actuator_apply(&s->actuator, &order), HN_APPLY_OK);
        child = puppet_do(&s->puppet, 'c');
        assert_int_equal(hn_restore_strangers(&s->restore, is_first, &nobody), 0);
        assert_counts(&s->restore, 0, 0, 0, 0, 0, 0);
        assert_wears(child, &first);
        assert_int_equal(hn_restore_all(&s->restore), 0);
        assert_wears(child, &all);
        assert_int_equal(kill(child, SIGKILL), 0);
}

static void a_release_is_for_one(void **state) {
        struct stage *s = *state;
        struct hn_order release = { .kind = HN_ORDER_RELEASE, .release.key = key_of(s->puppet.pid) };

        assert_int_equal(hn_actuator_apply(&s->actuator, &release), HN_APPLY_GONE);
        assert_int_equal(pin(s, s->puppet.pid, &all, &first), HN_APPLY_OK);
        assert_int_equal(hn_actuator_apply(&s->actuator, &release), HN_APPLY_OK);
        assert_wears(s->puppet.pid, &all);
        assert_int_equal(hn_ledger_size(s->ledger), 0);
        assert_int_equal(hn_restore_one(&s->restore, &release.release.key), -ENOENT);
}

static void a_dry_run_does_all_but_the_act(void **state) {
        struct stage *s = *state;
        struct hn_order order = pin_of(s->puppet.pid, s->puppet.pid, &all, &first);

        s->actuator.dry_run = true;
        assert_int_equal(hn_actuator_apply(&s->actuator, &order), HN_APPLY_WOULD);
        assert_wears(s->puppet.pid, &all);
        assert_nothing_left(s);
        order.pin.expect = rest;
        assert_int_equal(hn_actuator_apply(&s->actuator, &order), HN_APPLY_CHANGED);
        order.pin.expect = all;
        order.pin.key.start++;
        assert_int_equal(hn_actuator_apply(&s->actuator, &order), HN_APPLY_GONE);
}

/* The daemon dies at one of the moments of a pin. Each is played in a process of its own, which is killed
 * there. */
enum moment {
        BEFORE_THE_ACT,        /* the line is there, the act is not */
        AFTER_THE_ACT,         /* not confirmed */
        AFTER_THE_SECOND_LINE, /* moved once, and about to be moved on */
        AFTER_THE_SECOND_ACT,
        _MOMENT_MAX,
};

static void die_at(enum moment moment, const struct puppet *p) {
        struct hn_order order = pin_of(p->pid, p->pid, &all, &first);
        struct hn_actuator a;
        struct hn_record rec;
        struct hn_ledger *l;
        bool moved = moment >= AFTER_THE_SECOND_LINE;

        if (hn_ledger_open(dir, BOOT, /* create= */ true, &l) < 0)
                _exit(1);
        a = hn_actuator_make(&world, l, /* dry_run= */ false);
        if (moved && hn_actuator_apply(&a, &order) != HN_APPLY_OK)
                _exit(2);
        rec = (struct hn_record){
                .key = order.pin.key,
                .tgid = p->pid,
                .unrestricted = true,
                .before = moved ? first : all,
                .want = moved ? rest : first,
                .boot_usec = 1,
                .real_usec = 1,
                .reason = "remote-faults",
                .cgroup = CGROUP,
        };
        if (hn_ledger_note(l, &rec) < 0)
                _exit(3);
        if ((moment == AFTER_THE_ACT || moment == AFTER_THE_SECOND_ACT) &&
            hn_affinity_set(p->pid, &rec.want) < 0)
                _exit(4);
        (void) kill(getpid(), SIGKILL);
}

static void killed_at_any_moment_another_restores(void **state) {
        struct stage *s = *state;
        pid_t pid;
        int status;

        for (enum moment moment = BEFORE_THE_ACT; moment < _MOMENT_MAX; moment++) {
                s->ledger = hn_ledger_free(s->ledger); /* another process is to have it */
                pid = fork();
                assert_true(pid >= 0);
                if (pid == 0)
                        die_at(moment, &s->puppet);
                assert_int_equal(waitpid(pid, &status, 0), pid);
                assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);

                assert_int_equal(hn_ledger_open(dir, BOOT, /* create= */ false, &s->ledger), 0);
                s->restore = (struct hn_restore){ .world = &world, .ledger = s->ledger };
                assert_int_equal(hn_ledger_size(s->ledger), 1);
                assert_int_equal(hn_restore_all(&s->restore), 0);
                assert_counts(&s->restore, moment != BEFORE_THE_ACT, 0, moment == BEFORE_THE_ACT, 0, 0, 0);
                assert_wears(s->puppet.pid, &all);
                assert_nothing_left(s);
        }
}

/* Two restores one after the other: the second finds nothing to do, and undoes nothing. */
static void restoring_is_idempotent(void **state) {
        struct stage *s = *state;
        _hn_cleanup_(hn_freep) char *text = calloc(1, 65536);
        int fd;
        ssize_t n;

        assert_int_equal(pin(s, s->puppet.pid, &all, &first), HN_APPLY_OK);
        fd = open(ledger_path(), O_RDWR | O_CLOEXEC);
        n = read(fd, text, 65536);
        assert_true(fd >= 0 && n > 0);
        (void) close(fd);
        assert_int_equal(hn_restore_all(&s->restore), 0);

        /* A ledger that could not be written to any more still says that the task is ours. */
        s->ledger = hn_ledger_free(s->ledger);
        fd = open(ledger_path(), O_RDWR | O_TRUNC | O_CLOEXEC);
        assert_int_equal(write(fd, text, (size_t) n), n);
        (void) close(fd);
        assert_int_equal(hn_ledger_open(dir, BOOT, /* create= */ false, &s->ledger), 0);
        s->restore = (struct hn_restore){ .world = &world, .ledger = s->ledger };
        assert_int_equal(hn_restore_all(&s->restore), 0);
        assert_counts(&s->restore, 0, 0, 0, 0, 1, 0);
        assert_wears(s->puppet.pid, &all);
}

/* A kernel that refuses: the record stays for the next try. */
static int refuse(void *userdata, pid_t tid, const struct hn_mask *mask) {
        (void) userdata;
        (void) tid;
        (void) mask;
        return -EPERM;
}

static struct hn_restore_event last_event;

static void remember(void *userdata, const struct hn_restore_event *event) {
        (void) userdata;
        last_event = *event;
}

static void what_cannot_be_restored_stays(void **state) {
        struct stage *s = *state;
        struct hn_affinity_ops live = world.ops;

        assert_int_equal(pin(s, s->puppet.pid, &all, &first), HN_APPLY_OK);
        s->restore.report = remember;
        world.ops.set = refuse;
        assert_int_equal(hn_restore_all(&s->restore), 0);
        world.ops = live;
        assert_counts(&s->restore, 0, 0, 0, 0, 0, 1);
        assert_int_equal(last_event.outcome, HN_RESTORE_FAILED);
        assert_int_equal(last_event.failure, HN_APPLY_REFUSED);
        assert_string_equal(last_event.cgroup, CGROUP);
        assert_int_equal(hn_ledger_size(s->ledger), 1);
        assert_int_equal(hn_restore_all(&s->restore), 0);
        assert_counts(&s->restore, 1, 0, 0, 0, 0, 1);
        assert_int_equal(last_event.outcome, HN_RESTORE_RESTORED);
        assert_wears(s->puppet.pid, &all);
}

static void a_captured_machine_is_never_acted_on(void **state) {
        struct hn_sysroot captured;
        struct hn_world w;

        (void) state;
        assert_int_equal(hn_sysroot_open("/proc", &captured), 0);
        assert_int_equal(hn_world_init(&w, &captured), -EROFS);
        hn_sysroot_close(&captured);
}

static void outcomes_have_names(void **state) {
        (void) state;
        for (enum hn_restore_outcome o = 0; o < _HN_RESTORE_MAX; o++)
                assert_non_null(hn_restore_outcome_to_string(o));
        assert_null(hn_restore_outcome_to_string(_HN_RESTORE_MAX));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_captured_machine_is_never_acted_on),
                cmocka_unit_test(outcomes_have_names),
                staged(a_changed_mask_is_left),
                staged(a_users_mask_comes_back_as_it_was),
                staged(a_dead_process_is_counted_and_forgotten),
                staged(one_scope_is_opted_out),
                staged(a_stranger_does_not_keep_what_it_inherited),
                staged(who_was_born_under_an_override_is_no_stranger),
                staged(a_release_is_for_one),
                staged(a_dry_run_does_all_but_the_act),
                staged(killed_at_any_moment_another_restores),
                staged(restoring_is_idempotent),
                staged(what_cannot_be_restored_stays),
        };
        int r = stage_open();

        if (r != 0)
                return r;
        r = cmocka_run_group_tests(tests, NULL, NULL);
        stage_close();
        return r;
}
