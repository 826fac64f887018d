/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "act/affinity.h"
#include "base/macro.h"
#include "puppet.h"
#include "sample/taskref.h"

static struct hn_mask list(const char *text) {
        struct hn_mask m;

        assert_int_equal(hn_mask_parse_list(text, strlen(text), &m), 0);
        return m;
}

static void errno_is_sorted(void **state) {
        static const struct {
                int r;
                enum hn_apply want;
        } rows[] = {
                { 0, HN_APPLY_OK },
                { -ESRCH, HN_APPLY_GONE },
                { -ENOENT, HN_APPLY_GONE },
                { -EAGAIN, HN_APPLY_RETRY },
                { -ENOMEM, HN_APPLY_RETRY },
                { -EINTR, HN_APPLY_RETRY },
                { -EINVAL, HN_APPLY_REFUSED },
                { -EPERM, HN_APPLY_REFUSED },
                { -EACCES, HN_APPLY_REFUSED },
                { -EBUSY, HN_APPLY_REFUSED },
                { -EIO, HN_APPLY_REFUSED },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                assert_int_equal(hn_apply_from_errno(rows[i].r), rows[i].want);
}

static void names_are_complete(void **state) {
        (void) state;
        for (enum hn_apply a = HN_APPLY_OK; a < _HN_APPLY_MAX; a++)
                assert_non_null(hn_apply_to_string(a));
        assert_null(hn_apply_to_string(_HN_APPLY_MAX));
}

/* A kernel by script: the n-th look at identity and mask answers the n-th word, the last one for ever. Masks
 * are lists; "=" is what was set last. Words that begin with a dash are errors. */
struct script {
        const char *starts[4];
        const char *masks[4];
        int set_r;
        unsigned n_starts, n_masks, n_sets;
        struct hn_mask set[4];
};

static int error_of(const char *word) {
        static const struct {
                const char *word;
                int r;
        } errors[] = { { "-ESRCH", -ESRCH }, { "-EMFILE", -EMFILE }, { "-EAGAIN", -EAGAIN } };

        for (size_t i = 0; i < HN_ELEMENTS(errors); i++)
                if (strcmp(word, errors[i].word) == 0)
                        return errors[i].r;
        return 0;
}

static const char *next_word(const char *const *words, unsigned *n) {
        const char *word = words[*n];

        if (*n < 3 && words[*n + 1])
                (*n)++;
        return word;
}

static int script_start(void *userdata, pid_t tid, uint64_t *ret) {
        struct script *s = userdata;
        const char *word = next_word(s->starts, &s->n_starts);

        assert_int_equal(tid, 7);
        if (error_of(word) < 0)
                return error_of(word);
        *ret = strtoull(word, NULL, 10);
        return 0;
}

static int script_get(void *userdata, pid_t tid, struct hn_mask *ret) {
        struct script *s = userdata;
        const char *word = next_word(s->masks, &s->n_masks);

        assert_int_equal(tid, 7);
        if (error_of(word) < 0)
                return error_of(word);
        *ret = strcmp(word, "=") == 0 ? s->set[s->n_sets - 1] : list(word);
        return 0;
}

static int script_set(void *userdata, pid_t tid, const struct hn_mask *mask) {
        struct script *s = userdata;

        assert_int_equal(tid, 7);
        assert_true(s->n_sets < HN_ELEMENTS(s->set));
        s->set[s->n_sets++] = *mask;
        return s->set_r;
}

static const struct {
        const char *what;
        const char *starts[4], *masks[4];
        int set_r;
        int want;
        unsigned n_sets;
        const char *last_set; /* NULL: our mask */
} pins[] = {
        { "plain", { "100" }, { "0-7", "=" }, 0, HN_APPLY_OK, 1, NULL },
        { "the cpuset left a part", { "100" }, { "0-7", "1" }, 0, HN_APPLY_OK, 1, NULL },
        { "another task has the tid", { "101" }, { "0-7" }, 0, HN_APPLY_GONE, 0, NULL },
        { "gone at once", { "-ESRCH" }, { "0-7" }, 0, HN_APPLY_GONE, 0, NULL },
        { "gone at the first look", { "100" }, { "-ESRCH" }, 0, HN_APPLY_GONE, 0, NULL },
        { "gone at the write", { "100" }, { "0-7" }, -ESRCH, HN_APPLY_GONE, 1, NULL },
        { "gone at the second look", { "100" }, { "0-7", "-ESRCH" }, 0, HN_APPLY_GONE, 1, NULL },
        { "gone before the proof", { "100", "-ESRCH" }, { "0-7", "=" }, 0, HN_APPLY_GONE, 2, "0-7" },
        { "reused under the write", { "100", "101" }, { "0-7", "=" }, 0, HN_APPLY_GONE, 2, "0-7" },
        { "reused, the owner set its own", { "100", "101" }, { "0-7", "=", "6" }, 0, HN_APPLY_GONE, 1, NULL },
        { "reused, and unharmed", { "100", "101" }, { "0-7", "0-7" }, 0, HN_APPLY_GONE, 1, NULL },
        { "somebody changed it before", { "100" }, { "0-3" }, 0, HN_APPLY_CHANGED, 0, NULL },
        { "somebody changed it just now", { "100" }, { "0-7", "6-7" }, 0, HN_APPLY_CHANGED, 1, NULL },
        { "not even the empty mask", { "100" }, { "0-7", "" }, 0, HN_APPLY_CHANGED, 1, NULL },
        { "PF_NO_SETAFFINITY", { "100" }, { "0-7" }, -EINVAL, HN_APPLY_REFUSED, 1, NULL },
        { "not ours to set", { "100" }, { "0-7" }, -EPERM, HN_APPLY_REFUSED, 1, NULL },
        { "deadline", { "100" }, { "0-7" }, -EBUSY, HN_APPLY_REFUSED, 1, NULL },
        { "no memory", { "100" }, { "0-7" }, -ENOMEM, HN_APPLY_RETRY, 1, NULL },
        { "cpuset in flux", { "100" }, { "0-7" }, -EAGAIN, HN_APPLY_RETRY, 1, NULL },
        { "we cannot look", { "-EMFILE" }, { "0-7" }, 0, -EMFILE, 0, NULL },
        { "we cannot prove", { "100", "-EMFILE" }, { "0-7", "=" }, 0, -EMFILE, 1, NULL },
};

static void pins_by_script(void **state) {
        const struct hn_task_key key = { .tid = 7, .start = 100 };
        const struct hn_mask expect = list("0-7"), want = list("0-1");

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(pins); i++) {
                struct script s = { .set_r = pins[i].set_r };
                const struct hn_affinity_ops ops = {
                        .get = script_get, .set = script_set, .start = script_start, .userdata = &s
                };
                struct hn_mask in_force = list("63"), last = pins[i].last_set ? list(pins[i].last_set) : want;
                int r;

                memcpy(s.starts, pins[i].starts, sizeof(s.starts));
                memcpy(s.masks, pins[i].masks, sizeof(s.masks));
                r = hn_affinity_pin(&ops, &key, &expect, &want, &in_force);
                if (r != pins[i].want || s.n_sets != pins[i].n_sets)
                        fail_msg("%s: %d after %u writes", pins[i].what, r, s.n_sets);
                if (s.n_sets > 0)
                        assert_true(hn_mask_equal(&s.set[s.n_sets - 1], &last));
                /* Written with success only. */
                assert_int_equal(hn_mask_has(&in_force, 63), r != HN_APPLY_OK);
        }
}

/* live */

static int proc_fd;

static struct hn_task_key key_of(pid_t tid) {
        struct hn_task_key key;

        assert_int_equal(hn_task_key_read(proc_fd, tid, &key), 0);
        return key;
}

/* The first and the rest of our own CPUs. */
static void halves(struct hn_mask *all, struct hn_mask *first, struct hn_mask *rest) {
        assert_int_equal(hn_affinity_get(0, all), 0);
        *first = HN_MASK_NULL;
        hn_mask_add(first, hn_mask_next(all, 0));
        *rest = hn_mask_andnot(all, first);
}

static void a_live_task_is_pinned_and_read_back(void **state) {
        const struct hn_affinity_ops ops = hn_affinity_live(&proc_fd);
        struct hn_mask all, first, rest, now;
        struct hn_task_key key;
        struct puppet p;

        (void) state;
        halves(&all, &first, &rest);
        puppet_start(&p);
        key = key_of(p.pid);

        assert_int_equal(hn_affinity_pin(&ops, &key, &all, &first, &now), HN_APPLY_OK);
        assert_true(hn_mask_equal(&now, &first));
        assert_int_equal(hn_affinity_get(p.pid, &now), 0);
        assert_true(hn_mask_equal(&now, &first));

        /* It is not what we expect any more. */
        assert_int_equal(hn_affinity_pin(&ops, &key, &all, &rest, NULL), HN_APPLY_CHANGED);
        assert_int_equal(hn_affinity_pin(&ops, &key, &first, &all, NULL), HN_APPLY_OK);

        /* CPUs that there are not are left out without a word; with none left it is refused. */
        hn_mask_add(&first, HN_MASK_BITS - 1);
        assert_int_equal(hn_affinity_pin(&ops, &key, &all, &first, &now), HN_APPLY_OK);
        assert_int_equal(hn_mask_count(&now), 1);
        first = HN_MASK_NULL;
        hn_mask_add(&first, HN_MASK_BITS - 1);
        assert_int_equal(hn_affinity_pin(&ops, &key, &now, &first, NULL), HN_APPLY_REFUSED);
        puppet_stop(&p);

        assert_int_equal(hn_affinity_pin(&ops, &key, &all, &all, NULL), HN_APPLY_GONE);
}

static void a_corpse_is_gone(void **state) {
        const struct hn_affinity_ops ops = hn_affinity_live(&proc_fd);
        struct hn_task_key key;
        struct puppet p;
        siginfo_t info;

        (void) state;
        puppet_start(&p);
        key = key_of(p.pid);
        assert_int_equal(hn_affinity_verify(&ops, &key), 0);
        assert_int_equal(kill(p.pid, SIGKILL), 0);
        assert_int_equal(waitid(P_PID, (id_t) p.pid, &info, WEXITED | WNOWAIT), 0);
        assert_int_equal(hn_affinity_verify(&ops, &key), HN_APPLY_GONE);
        puppet_stop(&p);
        assert_int_equal(hn_affinity_verify(&ops, &key), HN_APPLY_GONE);
}

/* The kernel hands out ids upwards from the last one; a checkpointing kernel lets root say which one that
 * was. */
static void a_reused_tid_is_another_task(void **state) {
        const struct hn_affinity_ops ops = hn_affinity_live(&proc_fd);
        struct hn_mask all, first, rest, now;
        struct hn_task_key key;
        struct puppet p, q;
        char text[16];
        int fd, n;

        (void) state;
        halves(&all, &first, &rest);
        fd = openat(proc_fd, "sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
        if (fd < 0) {
                print_message("No right to choose the next pid: covered by the script only\n");
                skip();
        }
        for (unsigned attempt = 0; attempt < 200; attempt++) {
                puppet_start(&p);
                key = key_of(p.pid);
                puppet_stop(&p);
                usleep(20000); /* start times count in 1/100 s */
                n = snprintf(text, sizeof(text), "%d", key.tid - 1);
                assert_int_equal(pwrite(fd, text, (size_t) n, 0), n);
                puppet_start(&q);
                if (q.pid == key.tid)
                        break;
                puppet_stop(&q); /* somebody else was faster */
                q.pid = 0;
        }
        (void) close(fd);
        assert_int_equal(q.pid, key.tid);
        assert_int_equal(hn_affinity_pin(&ops, &key, &all, &first, NULL), HN_APPLY_GONE);
        assert_int_equal(hn_affinity_get(q.pid, &now), 0);
        assert_true(hn_mask_equal(&now, &all));
        puppet_stop(&q);
}

/* struct sched_attr, first form: libc 2.36 has no header for it. */
struct deadline {
        uint32_t size, policy;
        uint64_t flags;
        int32_t nice;
        uint32_t priority;
        uint64_t runtime, deadline, period;
};

static void a_deadline_task_is_refused(void **state) {
        const struct hn_affinity_ops ops = hn_affinity_live(&proc_fd);
        const struct deadline attr = { .size = sizeof(attr),
                                       .policy = 6,
                                       .runtime = 1000000,
                                       .deadline = 100000000,
                                       .period = 100000000 };
        struct hn_mask all, first, rest, now;
        struct hn_task_key key;
        struct puppet p;

        (void) state;
        halves(&all, &first, &rest);
        puppet_start(&p);
        if (syscall(SYS_sched_setattr, p.pid, &attr, 0u) < 0) {
                print_message("No SCHED_DEADLINE here (%s): covered by the script only\n", strerror(errno));
                puppet_stop(&p);
                skip();
        }
        key = key_of(p.pid);
        assert_int_equal(hn_affinity_pin(&ops, &key, &all, &first, NULL), HN_APPLY_REFUSED);
        assert_int_equal(hn_affinity_get(p.pid, &now), 0);
        assert_true(hn_mask_equal(&now, &all));
        puppet_stop(&p);
}

int main(void) {
        const struct CMUnitTest tables[] = {
                cmocka_unit_test(errno_is_sorted),
                cmocka_unit_test(names_are_complete),
                cmocka_unit_test(pins_by_script),
        };
        const struct CMUnitTest live[] = {
                cmocka_unit_test(a_live_task_is_pinned_and_read_back),
                cmocka_unit_test(a_corpse_is_gone),
                cmocka_unit_test(a_reused_tid_is_another_task),
                cmocka_unit_test(a_deadline_task_is_refused),
        };
        struct hn_mask all;
        int r = cmocka_run_group_tests(tables, NULL, NULL);

        if (r != 0)
                return r;
        proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (proc_fd < 0 || hn_affinity_get(0, &all) < 0 || hn_mask_count(&all) < 2) {
                fprintf(stderr, "The live part needs two CPUs and /proc\n");
                return 77;
        }
        return cmocka_run_group_tests(live, NULL, NULL);
}
