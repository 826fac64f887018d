/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* A puppet, a ledger, and the two that act on them. Include after <cmocka.h>. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

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

static inline int setup(void **state) {
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

static inline const char *ledger_path(void) {
        static char path[128];

        (void) snprintf(path, sizeof(path), "%s/ledger", dir);
        return path;
}

static inline int teardown(void **state) {
        struct stage *s = *state;

        puppet_stop(&s->puppet);
        hn_ledger_free(s->ledger);
        free(s);
        (void) unlink(ledger_path());
        return rmdir(dir);
}

static inline struct hn_task_key key_of(pid_t tid) {
        struct hn_task_key key;

        assert_int_equal(hn_task_key_read(world.proc_fd, tid, &key), 0);
        return key;
}

static inline void assert_wears(pid_t tid, const struct hn_mask *want) {
        struct hn_mask now;

        assert_int_equal(hn_affinity_get(tid, &now), 0);
        assert_true(hn_mask_equal(&now, want));
}

static inline struct hn_order pin_of(pid_t tgid, pid_t tid, const struct hn_mask *expect,
                                     const struct hn_mask *want) {
        struct hn_mask allowed;

        hn_world_allowed(&world, tid, &allowed);
        return (struct hn_order){
                .kind = HN_ORDER_PIN,
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

static inline int pin(struct stage *s, pid_t tid, const struct hn_mask *expect, const struct hn_mask *want) {
        struct hn_order order = pin_of(s->puppet.pid, tid, expect, want);

        return hn_actuator_apply(&s->actuator, &order);
}

static inline void assert_counts(const struct hn_restore *x, size_t restored, size_t heirs, size_t untouched,
                                 size_t gone, size_t changed, size_t failed) {
        assert_int_equal(x->count[HN_RESTORE_RESTORED], restored);
        assert_int_equal(x->count[HN_RESTORE_HEIR], heirs);
        assert_int_equal(x->count[HN_RESTORE_UNTOUCHED], untouched);
        assert_int_equal(x->count[HN_RESTORE_GONE], gone);
        assert_int_equal(x->count[HN_RESTORE_CHANGED], changed);
        assert_int_equal(x->count[HN_RESTORE_FAILED], failed);
}

static inline void assert_nothing_left(struct stage *s) {
        assert_int_equal(hn_ledger_size(s->ledger), 0);
        assert_int_equal(hn_ledger_marks(s->ledger)->n, 0);
}

#define staged(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

/* Looks at this machine, once and before all tests. Returns what the program is to leave with, 0: go on. */
static inline int stage_open(void) {
        struct hn_mask allowed;

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
        return 0;
}

static inline void stage_close(void) {
        hn_world_deinit(&world);
        hn_sysroot_close(&root);
}
