/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "act/actuator.h"
#include "base/macro.h"
#include "restorestage.h"

static void threads_and_children_come_back(void **state) {
        struct stage *s = *state;
        pid_t before = puppet_do(&s->puppet, 't'), thread, child;

        assert_int_equal(pin(s, s->puppet.pid, &all, &first), HN_APPLY_OK);
        assert_int_equal(pin(s, before, &all, &first), HN_APPLY_OK);
        thread = puppet_do(&s->puppet, 't');
        child = puppet_do(&s->puppet, 'c');
        assert_wears(thread, &first);
        assert_wears(child, &first);

        assert_int_equal(hn_restore_all(&s->restore), 0);
        assert_counts(&s->restore, 2, 2, 0, 0, 0, 0);
        assert_wears(s->puppet.pid, &all);
        assert_wears(before, &all);
        assert_wears(thread, &all);
        assert_wears(child, &all);
        assert_nothing_left(s);
        assert_int_equal(kill(child, SIGKILL), 0);
}

static void an_heir_that_is_pinned_is_owed_the_old_mask(void **state) {
        struct stage *s = *state;
        const struct hn_ledger_entry *e;
        const struct hn_mark *mark;
        struct hn_task_key key;
        pid_t thread;

        assert_int_equal(pin(s, s->puppet.pid, &all, &first), HN_APPLY_OK);
        thread = puppet_do(&s->puppet, 't');
        key = key_of(thread);
        mark = hn_actuator_heir(&s->actuator, &key, s->puppet.pid, CGROUP, &first);
        assert_non_null(mark);
        assert_true(mark->unrestricted);
        assert_null(hn_actuator_heir(&s->actuator, &key, s->puppet.pid, CGROUP, &all));

        assert_int_equal(pin(s, thread, &first, &rest), HN_APPLY_OK);
        e = hn_ledger_find(s->ledger, &key);
        assert_true(e && e->unrestricted && e->confirmed);
        assert_int_equal(hn_restore_all(&s->restore), 0);
        assert_counts(&s->restore, 2, 0, 0, 0, 0, 0);
        assert_wears(thread, &all);
        assert_wears(s->puppet.pid, &all);
}

static void moved_twice_comes_back_once(void **state) {
        struct stage *s = *state;
        pid_t child;

        assert_int_equal(pin(s, s->puppet.pid, &all, &first), HN_APPLY_OK);
        child = puppet_do(&s->puppet, 'c');
        assert_int_equal(pin(s, s->puppet.pid, &first, &rest), HN_APPLY_OK);
        assert_wears(child, &first);
        assert_int_equal(hn_restore_all(&s->restore), 0);
        assert_counts(&s->restore, 1, 1, 0, 0, 0, 0);
        assert_wears(s->puppet.pid, &all);
        assert_wears(child, &all);
        assert_nothing_left(s);
        assert_int_equal(kill(child, SIGKILL), 0);
}

static void heirs_of_the_dead_come_back(void **state) {
        struct stage *s = *state;
        pid_t thread, late;

        /* Only the thread is pinned; it ends; what the process has left are threads born of the main one. */
        thread = puppet_do(&s->puppet, 't');
        assert_int_equal(pin(s, thread, &all, &first), HN_APPLY_OK);
        assert_int_equal(puppet_do(&s->puppet, 'e'), s->puppet.pid);
        assert_int_equal(hn_affinity_set(s->puppet.pid, &first), 0);
        late = puppet_do(&s->puppet, 't');
        assert_int_equal(hn_affinity_set(s->puppet.pid, &all), 0);
        assert_wears(late, &first);

        /* The record goes, the mark stays as long as there is one who may have his mask from it. */
        assert_int_equal(hn_restore_prune(&s->restore), 0);
        assert_int_equal(hn_ledger_size(s->ledger), 0);
        assert_int_equal(hn_ledger_marks(s->ledger)->n, 1);
        assert_int_equal(hn_restore_all(&s->restore), 0);
        assert_counts(&s->restore, 0, 1, 0, 0, 0, 0);
        assert_wears(late, &all);
        assert_nothing_left(s);
}

static void marks_without_heirs_are_pruned(void **state) {
        struct stage *s = *state;
        pid_t thread = puppet_do(&s->puppet, 't');

        assert_int_equal(pin(s, thread, &all, &first), HN_APPLY_OK);
        assert_int_equal(hn_restore_prune(&s->restore), 0);
        assert_int_equal(hn_ledger_size(s->ledger), 1);
        assert_int_equal(puppet_do(&s->puppet, 'e'), s->puppet.pid);
        assert_int_equal(hn_restore_prune(&s->restore), 0);
        assert_nothing_left(s);
}

/* A chain of processes that goes on forking, one link each 2 ms; each waits for its child. */
static void fork_on(pid_t parent) {
        for (unsigned i = 0;; i++) {
                pid_t child;

                (void) alarm(PUPPET_LIFE);
                (void) prctl(PR_SET_PDEATHSIG, SIGKILL);
                if (getppid() != parent) /* died before we asked to die with it */
                        _exit(0);
                if (i == 60)
                        (void) pause();
                usleep(2000);
                parent = getpid();
                child = fork();
                if (child != 0) {
                        (void) waitpid(child, NULL, 0);
                        _exit(0);
                }
        }
}

static pid_t child_of(pid_t pid) {
        char path[64], text[64] = "";
        ssize_t n;
        int fd;

        (void) snprintf(path, sizeof(path), "/proc/%d/task/%d/children", pid, pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return 0;
        n = read(fd, text, sizeof(text) - 1);
        (void) close(fd);
        return n > 0 ? (pid_t) strtol(text, NULL, 10) : 0;
}

static void who_forks_meanwhile_comes_back_too(void **state) {
        struct stage *s = *state;
        pid_t self = getpid(), pid = fork();
        unsigned n = 0;

        assert_true(pid >= 0);
        if (pid == 0)
                fork_on(self);
        struct hn_order order = pin_of(pid, pid, &all, &first);
        assert_int_equal(hn_actuator_apply(&s->actuator, &order), HN_APPLY_OK);
        usleep(30000);
        assert_int_equal(hn_restore_all(&s->restore), 0);
        assert_int_equal(s->restore.count[HN_RESTORE_FAILED], 0);
        assert_nothing_left(s);

        /* Nobody of that family wears our mask, though it has grown meanwhile. */
        usleep(150000);
        for (pid_t p = pid; p > 0; p = child_of(p), n++)
                assert_wears(p, &all);
        assert_true(n > 1);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, NULL, 0), pid);
}

/* A cpuset that moves away from under our mask: the kernel falls back to all that it allows, but remembers
 * our request and would put it in force again. Giving the mask back has to clear that too. */
static bool write_text(const char *path, const char *text) {
        int fd = open(path, O_WRONLY | O_CLOEXEC);
        bool ok = fd >= 0 && write(fd, text, strlen(text)) == (ssize_t) strlen(text);

        if (fd >= 0)
                (void) close(fd);
        return ok;
}

static void a_cpuset_may_come_and_go(void **state) {
        static const char *const mounts[] = { "/sys/fs/cgroup/cpuset", "/sys/fs/cgroup" };
        struct stage *s = *state;
        char group[128] = "", path[192], cpus[16], text[32];
        bool made = false;

        for (size_t i = 0; !made && i < HN_ELEMENTS(mounts); i++) {
                (void) snprintf(path, sizeof(path), "%s/cgroup.procs", mounts[i]);
                if (access(path, W_OK) < 0)
                        continue;
                (void) snprintf(group, sizeof(group), "%s/homenode-test-%d", mounts[i], getpid());
                made = mkdir(group, 0755) == 0;
        }
        (void) snprintf(path, sizeof(path), "%s/cpuset.cpus", group);
        if (!made || access(path, W_OK) < 0) {
                if (made)
                        (void) rmdir(group);
                print_message("No cpuset that may be written to\n");
                skip();
        }
        assert_true(hn_mask_print_list(&all, cpus, sizeof(cpus)) > 0);
        assert_true(write_text(path, cpus));
        (void) snprintf(path, sizeof(path), "%s/cpuset.mems", group);
        (void) write_text(path, "0");
        (void) snprintf(path, sizeof(path), "%s/cgroup.procs", group);
        (void) snprintf(text, sizeof(text), "%d", s->puppet.pid);
        assert_true(write_text(path, text));

        assert_int_equal(pin(s, s->puppet.pid, &all, &first), HN_APPLY_OK);
        (void) snprintf(path, sizeof(path), "%s/cpuset.cpus", group);
        assert_true(hn_mask_print_list(&rest, text, sizeof(text)) > 0);
        assert_true(write_text(path, text));
        assert_wears(s->puppet.pid, &rest);

        assert_int_equal(hn_restore_all(&s->restore), 0);
        assert_counts(&s->restore, 1, 0, 0, 0, 0, 0);
        assert_wears(s->puppet.pid, &rest);
        /* Wider again: unrestricted means that this applies. */
        assert_true(write_text(path, cpus));
        assert_wears(s->puppet.pid, &all);

        puppet_stop(&s->puppet);
        for (unsigned i = 0; i < 100 && rmdir(group) < 0; i++)
                usleep(10000);
        puppet_start(&s->puppet); /* for the teardown */
}

int main(void) {
        const struct CMUnitTest tests[] = {
                staged(threads_and_children_come_back), staged(an_heir_that_is_pinned_is_owed_the_old_mask),
                staged(moved_twice_comes_back_once),    staged(heirs_of_the_dead_come_back),
                staged(marks_without_heirs_are_pruned), staged(who_forks_meanwhile_comes_back_too),
                staged(a_cpuset_may_come_and_go),
        };
        int r = stage_open();

        if (r != 0)
                return r;
        r = cmocka_run_group_tests(tests, NULL, NULL);
        stage_close();
        return r;
}
