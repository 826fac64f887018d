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
#include <unistd.h>

#include "base/macro.h"
#include "owner.h"
#include "sample/machine.h"

static struct hn_mask mask_of(const char *list) {
        struct hn_mask m;

        assert_int_equal(hn_mask_parse_list(list, strlen(list), &m), 0);
        return m;
}

/* CPUs 0-7, of which 6 and 7 are isolated. In the ledger: task 100 (start 5) of process 100 was put on 0-1,
 * and its thread 101 with it; nothing of process 200. */
static const struct {
        pid_t pid, tid;
        uint64_t start;
        const char *mask, *allowed;
        enum hn_owner want;
} rows[] = {
        { 200, 200, 5, "0-7", "0-7", HN_OWNER_NOBODY },
        { 200, 200, 5, "0-5", "0-7", HN_OWNER_NOBODY }, /* isolated ones aside */
        { 200, 200, 5, "2-3", "2-3", HN_OWNER_NOBODY }, /* the cpuset's doing */
        { 200, 200, 5, "6-7", "6-7", HN_OWNER_NOBODY }, /* a cpuset of isolated CPUs */
        { 200, 200, 5, "0-1", "0-7", HN_OWNER_OTHER },  /* a mask like ours, in a process that is not */
        { 100, 100, 5, "0-1", "0-7", HN_OWNER_US },
        { 100, 100, 5, "1", "1-7", HN_OWNER_US },       /* as far as the cpuset lets it through */
        { 100, 100, 5, "2-3", "0-7", HN_OWNER_OTHER },  /* changed since */
        { 100, 100, 5, "0-7", "0-7", HN_OWNER_NOBODY }, /* given back since */
        { 100, 100, 6, "0-2", "0-7", HN_OWNER_OTHER },  /* another task by now */
        { 100, 107, 4000, "0-1", "0-7", HN_OWNER_US },  /* born with it, after we set it */
        { 100, 107, 4000, "0-2", "0-7", HN_OWNER_OTHER },
};

static void masks_have_owners(void **state) {
        struct hn_topology topo = HN_TOPOLOGY_NULL;
        struct hn_mask_pool masks = HN_MASK_POOL_NULL;
        struct hn_owners owners = { .topo = &topo, .masks = &masks, .cgroups = HN_CGROUPFS_NULL };
        struct hn_record *rec = calloc(1, sizeof(*rec));

        (void) state;
        assert_non_null(rec);
        assert_int_equal(hn_topology_init(&topo, 1, 8), 0);
        topo.online = mask_of("0-7");
        topo.isolated = mask_of("6-7");
        assert_int_equal(hn_ledger_new("boot", &owners.ledger), 0);
        for (pid_t tid = 100; tid <= 101; tid++) {
                rec->key = (struct hn_task_key){ .tid = tid, .start = 5 };
                rec->tgid = 100;
                rec->unrestricted = true;
                rec->before = mask_of("0-7");
                rec->want = mask_of("0-1");
                rec->boot_usec = HN_USEC_PER_SEC;
                (void) snprintf(rec->cgroup, sizeof(rec->cgroup), "/a.service");
                (void) snprintf(rec->reason, sizeof(rec->reason), "remote-faults");
                assert_int_equal(hn_ledger_note(owners.ledger, rec), 0);
                assert_int_equal(hn_ledger_confirm(owners.ledger, &rec->key), 0);
        }

        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_mask mask = mask_of(rows[i].mask), allowed = mask_of(rows[i].allowed);
                char cgroup[16];
                struct hn_thread_view threads[2] = {
                        { .key = { .tid = rows[i].pid, .start = rows[i].pid == 100 ? 5 : 9 } },
                        { .key = { .tid = rows[i].tid, .start = rows[i].start } },
                };
                struct hn_proc_view v = {
                        .pid = rows[i].pid, .cgroup = cgroup, .threads = threads, .n_threads = 2
                };

                (void) snprintf(cgroup, sizeof(cgroup), rows[i].pid == 100 ? "/a.service" : "/b.service");
                assert_int_equal(hn_mask_pool_intern(&masks, &mask, &threads[1].mask), 0);
                assert_int_equal(hn_owners_of(&owners, &v, &threads[1], &allowed), rows[i].want);
        }

        /* What was put there by hand, or was born of that. */
        for (unsigned by_hand = 0; by_hand < 2; by_hand++) {
                struct hn_mask mask = mask_of("0-1"), allowed = mask_of("0-7");
                pid_t pid = by_hand ? 300 : 400;
                struct hn_thread_view threads[2] = { { .key = { .tid = pid, .start = 5 } },
                                                     { .key = { .tid = pid + 1, .start = 4000 } } };
                struct hn_proc_view v = {
                        .pid = pid, .cgroup = (char *) "/c.service", .threads = threads, .n_threads = 2
                };

                rec->key = threads[0].key;
                rec->tgid = pid;
                (void) snprintf(rec->cgroup, sizeof(rec->cgroup), by_hand ? "override:7" : "/d.service");
                assert_int_equal(hn_ledger_note(owners.ledger, rec), 0);
                assert_int_equal(hn_mask_pool_intern(&masks, &mask, &threads[0].mask), 0);
                threads[1].mask = threads[0].mask;
                for (size_t i = 0; i < 2; i++) {
                        assert_int_equal(hn_owners_of(&owners, &v, &threads[i], &allowed), HN_OWNER_US);
                        assert_int_equal(hn_owners_by_hand(&owners, &v, &threads[i], &allowed), by_hand);
                }
        }

        /* without a ledger what is narrowed is somebody's */
        owners.ledger = hn_ledger_free(owners.ledger);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_mask mask = mask_of(rows[i].mask), allowed = mask_of(rows[i].allowed);
                struct hn_thread_view thread = { .key = { .tid = rows[i].tid, .start = rows[i].start } };
                struct hn_proc_view v = { .pid = rows[i].pid, .threads = &thread, .n_threads = 1 };

                assert_int_equal(hn_mask_pool_intern(&masks, &mask, &thread.mask), 0);
                assert_int_equal(hn_owners_of(&owners, &v, &thread, &allowed),
                                 rows[i].want == HN_OWNER_NOBODY ? HN_OWNER_NOBODY : HN_OWNER_OTHER);
        }
        free(rec);
        hn_owners_deinit(&owners);
        hn_mask_pool_deinit(&masks);
        hn_topology_deinit(&topo);
}

static void a_ledger_on_disk_is_read_and_left_alone(void **state) {
        char dir[] = "/tmp/test-owner-XXXXXX", path[64], boot_id[HN_BOOT_ID_MAX];
        struct hn_topology topo = HN_TOPOLOGY_NULL;
        struct hn_mask_pool masks = HN_MASK_POOL_NULL;
        struct hn_record *rec = calloc(1, sizeof(*rec));
        struct hn_ledger *ledger;
        struct hn_owners owners;
        struct hn_sysroot root;
        int proc;

        (void) state;
        assert_non_null(rec);
        assert_non_null(mkdtemp(dir));
        assert_int_equal(hn_sysroot_open(NULL, &root), 0);
        assert_int_equal(hn_machine_read(&root, NULL, &topo), 0);

        /* no folder, no ledger: nobody's fault */
        assert_int_equal(hn_owners_init(&owners, &root, &topo, &masks, "/nonexistent"), 0);
        assert_null(owners.ledger);
        assert_int_equal(owners.ledger_error, 0);
        hn_owners_deinit(&owners);

        proc = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        assert_true(proc >= 0);
        assert_int_equal(hn_ledger_boot_id(proc, boot_id), 0);
        (void) close(proc);
        assert_int_equal(hn_ledger_open(dir, boot_id, true, &ledger), 0);
        rec->key = (struct hn_task_key){ .tid = 100, .start = 5 };
        rec->tgid = 100;
        rec->unrestricted = true;
        rec->want = mask_of("0");
        (void) snprintf(rec->cgroup, sizeof(rec->cgroup), "/a");
        (void) snprintf(rec->reason, sizeof(rec->reason), "at-home");
        assert_int_equal(hn_ledger_note(ledger, rec), 0);

        /* while the daemon has it open */
        assert_int_equal(hn_owners_init(&owners, &root, &topo, &masks, dir), 0);
        assert_non_null(owners.ledger);
        assert_int_equal(hn_ledger_size(owners.ledger), 1);
        hn_owners_deinit(&owners);
        assert_int_equal(hn_ledger_size(ledger), 1);
        ledger = hn_ledger_free(ledger);

        (void) snprintf(path, sizeof(path), "%s/ledger", dir);
        assert_int_equal(unlink(path), 0);
        assert_int_equal(rmdir(dir), 0);
        free(rec);
        hn_mask_pool_deinit(&masks);
        hn_topology_deinit(&topo);
        hn_sysroot_close(&root);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(masks_have_owners),
                cmocka_unit_test(a_ledger_on_disk_is_read_and_left_alone),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
