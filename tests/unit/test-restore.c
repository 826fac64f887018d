/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "act/actuator.h"
#include "base/macro.h"
#include "puppet.h"
#include "sample/taskref.h"

/* No cgroup of this machine: heirs are found by kinship, and nobody else's task is ever touched by these
 * tests. */
#define CGROUP "/homenode-test.slice/puppet.service"
#define BOOT   "11111111-2222-3333-4444-555555555555"

static struct hn_sysroot root;
static struct hn_world world;
static struct hn_mask all, first, rest;
static char dir[64];

struct stage {
        struct hn_ledger *ledger;
        struct hn_actuator actuator;
        struct hn_restore restore;
        struct puppet puppet;
};

static int setup(void **state) {
        struct stage *s = calloc(1, sizeof(*s));

        strcpy(dir, "/tmp/hn-restore-XXXXXX");
        if (!s || !mkdtemp(dir))
                return -1;
        puppet_start(&s->puppet); /* first, lest it inherit the lock of the ledger's folder */
        if (hn_ledger_open(dir, BOOT, /* create= */ true, &s->ledger) < 0)
                return -1;
        s->actuator = hn_actuator_make(&world, s->ledger, /* dry_run= */ false);
        s->restore = (struct hn_restore){ .world = &world, .ledger = s->ledger };
        *state = s;
        return 0;
}

static const char *ledger_path(void) {
        static char path[128];

        (void) snprintf(path, sizeof(path), "%s/ledger", dir);
        return path;
}

static int teardown(void **state) {
        struct stage *s = *state;

        puppet_stop(&s->puppet);
        hn_ledger_free(s->ledger);
        free(s);
        (void) unlink(ledger_path());
        return rmdir(dir);
}

static struct hn_task_key key_of(pid_t tid) {
        struct hn_task_key key;

        assert_int_equal(hn_task_key_read(world.proc_fd, tid, &key), 0);
        return key;
}

static void assert_wears(pid_t tid, const struct hn_mask *want) {
        struct hn_mask now;

        assert_int_equal(hn_affinity_get(tid, &now), 0);
        assert_true(hn_mask_equal(&now, want));
}

static struct hn_act pin_of(pid_t tgid, pid_t tid, const struct hn_mask *expect, const struct hn_mask *want) {
        struct hn_mask allowed;

        hn_world_allowed(&world, tid, &allowed);
        return (struct hn_act){
                .kind = HN_ACT_PIN,
                .pin = {
                        .key = key_of(tid),
                        .tgid = tgid,
                        .expect = *expect,
                        .want = *want,
                        .old_unrestricted = hn_world_is_unrestricted(&world, expect, &allowed),
                        .cgroup = CGROUP,
                        .reason = "remote-faults",
                },
        };
}

static int pin(struct stage *s, pid_t tid, const struct hn_mask *expect, const struct hn_mask *want) {
        struct hn_act act = pin_of(s->puppet.pid, tid, expect, want);

        return hn_actuator_apply(&s->actuator, &act);
}

static void assert_counts(const struct hn_restore *x, size_t restored, size_t heirs, size_t untouched,
                          size_t gone, size_t changed, size_t failed) {
        assert_int_equal(x->count[HN_RESTORE_RESTORED], restored);
        assert_int_equal(x->count[HN_RESTORE_HEIR], heirs);
        assert_int_equal(x->count[HN_RESTORE_UNTOUCHED], untouched);
        assert_int_equal(x->count[HN_RESTORE_GONE], gone);
        assert_int_equal(x->count[HN_RESTORE_CHANGED], changed);
        assert_int_equal(x->count[HN_RESTORE_FAILED], failed);
}

static void assert_nothing_left(struct stage *s) {
        assert_int_equal(hn_ledger_size(s->ledger), 0);
        assert_int_equal(hn_ledger_marks(s->ledger)->n, 0);
}

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

static void a_dead_process_is_counted_and_forgotten(void **state) {
        struct stage *s = *state;
        struct puppet other;

        puppet_start(&other);
        struct hn_act act = pin_of(other.pid, other.pid, &all, &first);
        assert_int_equal(hn_actuator_apply(&s->actuator, &act), HN_APPLY_OK);
        puppet_stop(&other);
        assert_int_equal(hn_restore_all(&s->restore), 0);
        assert_counts(&s->restore, 0, 0, 0, 1, 0, 0);
        assert_nothing_left(s);
        assert_int_equal(hn_actuator_apply(&s->actuator, &act), HN_APPLY_GONE);
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
        struct hn_act act = pin_of(other.pid, other.pid, &all, &first);
        act.pin.cgroup = "/homenode-test.slice/other.service";
        assert_int_equal(hn_actuator_apply(&s->actuator, &act), HN_APPLY_OK);
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

static void a_release_is_for_one(void **state) {
        struct stage *s = *state;
        struct hn_act release = { .kind = HN_ACT_RELEASE, .release.key = key_of(s->puppet.pid) };

        assert_int_equal(hn_actuator_apply(&s->actuator, &release), HN_APPLY_GONE);
        assert_int_equal(pin(s, s->puppet.pid, &all, &first), HN_APPLY_OK);
        assert_int_equal(hn_actuator_apply(&s->actuator, &release), HN_APPLY_OK);
        assert_wears(s->puppet.pid, &all);
        assert_int_equal(hn_ledger_size(s->ledger), 0);
        assert_int_equal(hn_restore_one(&s->restore, &release.release.key), -ENOENT);
}

static void a_dry_run_does_all_but_the_act(void **state) {
        struct stage *s = *state;
        struct hn_act act = pin_of(s->puppet.pid, s->puppet.pid, &all, &first);

        s->actuator.dry_run = true;
        assert_int_equal(hn_actuator_apply(&s->actuator, &act), HN_APPLY_WOULD);
        assert_wears(s->puppet.pid, &all);
        assert_nothing_left(s);
        act.pin.expect = rest;
        assert_int_equal(hn_actuator_apply(&s->actuator, &act), HN_APPLY_CHANGED);
        act.pin.expect = all;
        act.pin.key.start++;
        assert_int_equal(hn_actuator_apply(&s->actuator, &act), HN_APPLY_GONE);
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
        struct hn_act act = pin_of(p->pid, p->pid, &all, &first);
        struct hn_actuator a;
        struct hn_record rec;
        struct hn_ledger *l;
        bool moved = moment >= AFTER_THE_SECOND_LINE;

        if (hn_ledger_open(dir, BOOT, /* create= */ true, &l) < 0)
                _exit(1);
        a = hn_actuator_make(&world, l, /* dry_run= */ false);
        if (moved && hn_actuator_apply(&a, &act) != HN_APPLY_OK)
                _exit(2);
        rec = (struct hn_record){
                .key = act.pin.key,
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
        struct hn_act act = pin_of(pid, pid, &all, &first);
        assert_int_equal(hn_actuator_apply(&s->actuator, &act), HN_APPLY_OK);
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

#define staged(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_captured_machine_is_never_acted_on),
                cmocka_unit_test(outcomes_have_names),
                staged(threads_and_children_come_back),
                staged(a_changed_mask_is_left),
                staged(a_users_mask_comes_back_as_it_was),
                staged(an_heir_that_is_pinned_is_owed_the_old_mask),
                staged(moved_twice_comes_back_once),
                staged(heirs_of_the_dead_come_back),
                staged(marks_without_heirs_are_pruned),
                staged(a_dead_process_is_counted_and_forgotten),
                staged(one_scope_is_opted_out),
                staged(a_release_is_for_one),
                staged(a_dry_run_does_all_but_the_act),
                staged(killed_at_any_moment_another_restores),
                staged(restoring_is_idempotent),
                staged(what_cannot_be_restored_stays),
                staged(who_forks_meanwhile_comes_back_too),
                staged(a_cpuset_may_come_and_go),
        };
        struct hn_mask allowed;
        int r;

        if (hn_sysroot_open(NULL, &root) < 0 || hn_world_init(&world, &root) < 0 ||
            hn_affinity_get(0, &all) < 0) {
                fprintf(stderr, "Cannot see this machine\n");
                return 1;
        }
        hn_world_allowed(&world, getpid(), &allowed);
        if (hn_mask_count(&all) < 2 || !hn_world_is_unrestricted(&world, &all, &allowed)) {
                fprintf(stderr, "Needs two CPUs and a test that is not pinned itself\n");
                return 77;
        }
        hn_mask_add(&first, hn_mask_next(&all, 0));
        rest = hn_mask_andnot(&all, &first);
        r = cmocka_run_group_tests(tests, NULL, NULL);
        hn_world_deinit(&world);
        hn_sysroot_close(&root);
        return r;
}
