/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "sample/procfs.h"

#define REST                                                                                                          \
        " 1 7 7 0 -1 4194368 24617 0 0 0 2763 889 30 12 20 0 4 0 5974 321462272 22886 18446744073709551615 1 2 3 0 0" \
        " 0 0 4102 0 0 0 0 -1 6 0 2 0 0 0 0 0 0 0 0 0 0 0\n"
#define KTHREAD                                                                                                 \
        " 0 0 0 0 -1 2129984 0 0 0 0 0 32 0 0 20 0 1 0 122 0 0 18446744073709551615 0 0 0 0 0 0 0 2147483647 0" \
        " 1 0 0 0 3 0 0 0 0 0 0 0 0 0 0 0 0 0\n"

static const struct {
        const char *text;
        int r;
        const char *comm;
        char state;
} stats[] = {
        { "7 (a) S 1\n(b) R" REST, 0, "a) S 1\n(b", 'R' }, /* the last ')' ends the name */
        { "7 (a) Z) D" REST, 0, "a) Z", 'D' },
        { "7 (x\n) S" REST, 0, "x\n", 'S' },
        { "7 () S" REST, 0, "", 'S' },
        { "7 ()) S" REST, 0, ")", 'S' },
        { "7 ((() S" REST, 0, "((", 'S' },
        { "7 (tmux: server) S" REST, 0, "tmux: server", 'S' },
        { "7 (\xff\xfe) S" REST, 0, "\xff\xfe", 'S' },
        { "7 (longer than fifteen) S" REST, 0, "longer than fif", 'S' },
        { "7 (x) S 1 7 7 0", -EBADMSG, NULL, 0 }, /* cut short by the reader */
        { "7 (x)", -EBADMSG, NULL, 0 },
        { "7 )x( S" REST, -EBADMSG, NULL, 0 },
        { "7 (x) SS" REST, -EBADMSG, NULL, 0 },
        { "x (x) S" REST, -EBADMSG, NULL, 0 },
        { "99999999999 (x) S" REST, -EBADMSG, NULL, 0 },
        { "", -EBADMSG, NULL, 0 },
};

static void names_do_not_confuse_stat(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(stats); i++) {
                struct hn_proc_stat s;

                assert_int_equal(hn_proc_stat_parse(stats[i].text, strlen(stats[i].text), &s), stats[i].r);
                if (stats[i].r < 0)
                        continue;
                assert_string_equal(s.comm, stats[i].comm);
                assert_int_equal(s.state, stats[i].state);
                assert_int_equal(s.tid, 7);
                assert_int_equal(s.flags, 4194368);
                assert_int_equal(s.ticks, 2763 + 889);
                assert_int_equal(s.child_ticks, 30 + 12);
                assert_int_equal(s.n_threads, 4);
                assert_int_equal(s.start, 5974);
                assert_int_equal(s.resident, 22886);
                assert_int_equal(s.cpu, 6);
                assert_int_equal(s.sched_class, 2);
        }
}

static void a_kernel_thread_has_its_flag(void **state) {
        static const char text[] = "2 (kthreadd) S" KTHREAD;
        struct hn_proc_stat s;

        (void) state;
        assert_int_equal(hn_proc_stat_parse(text, strlen(text), &s), 0);
        assert_true(s.flags & HN_PF_KTHREAD);
        assert_int_equal(s.start, 122);
        assert_int_equal(s.cpu, 3);
}

/* Whatever length the reader got: an answer that is whole, or none. */
static void a_cut_stat_is_no_stat(void **state) {
        static const char text[] = "7 (x) S" REST;
        struct hn_proc_stat whole, s;
        size_t good = 0;

        (void) state;
        assert_int_equal(hn_proc_stat_parse(text, strlen(text), &whole), 0);
        for (size_t n = 0; n <= strlen(text); n++) {
                char *copy = malloc(n + 1);

                assert_non_null(copy);
                memcpy(copy, text, n);
                if (hn_proc_stat_parse(copy, n, &s) == 0) {
                        assert_int_equal(s.sched_class, whole.sched_class);
                        assert_int_equal(s.cpu, whole.cpu);
                        good++;
                }
                free(copy);
        }
        assert_in_range(good, 1, 40);
}

static const struct {
        const char *text;
        int r;
        uint64_t run, wait;
} schedstats[] = {
        { "36649874240 569751352 317\n", 0, 36649874240, 569751352 },
        { "0 0 0\n", 0, 0, 0 },
        { "1 2", -EBADMSG, 0, 0 }, /* the second number may go on */
        { "1\n", -EBADMSG, 0, 0 },
        { "-1 2 3\n", -EBADMSG, 0, 0 },
        { "18446744073709551616 2 3\n", -EBADMSG, 0, 0 },
        { "", -EBADMSG, 0, 0 },
};

static void schedstat_has_run_and_wait(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(schedstats); i++) {
                struct hn_proc_schedstat s;
                const char *text = schedstats[i].text;

                assert_int_equal(hn_proc_schedstat_parse(text, strlen(text), &s), schedstats[i].r);
                if (schedstats[i].r < 0)
                        continue;
                assert_int_equal(s.run_ns, schedstats[i].run);
                assert_int_equal(s.wait_ns, schedstats[i].wait);
        }
}

#define RULER "-------------------------------------------------------------------\n"

struct sched_row {
        const char *text;
        int r;
        bool has_faults;
        uint32_t runnable, group;
        int preferred;
        uint64_t seq, priv[3], shared[3]; /* of nodes 0, 8 and 252 */
};

static const struct sched_row scheds[] = {
        /* The first line forges what follows; a ruler of a name's length is none. */
        { .text = "a\nnuma_faults (1, #threads: 1)\n" RULER "numa_preferred_nid : 8\n", .preferred = 8 },
        { .text = "\n-------------\n (1, #threads: 1)\nnuma_faults node=0 task_private=9 task_shared=9\n" RULER
                  "numa_faults node=8 task_private=1 task_shared=2 group_private=3 group_shared=4\n",
          .preferred = -1,
          .has_faults = true,
          .priv = { 0, 1, 0 },
          .shared = { 0, 2, 0 } },
        /* 6.1 and 6.12 */
        { .text = "x (1, #threads: 4)\n" RULER
                  "se.avg.runnable_sum                          :             48757168\n"
                  "se.avg.runnable_avg                          :                 1024\n"
                  "mm->numa_scan_seq                            :                    4\n"
                  "numa_pages_migrated                          :                 8198\n"
                  "numa_preferred_nid                           :                    0\n"
                  "total_numa_faults                            :                 4745\n"
                  "current_node=0, numa_group_id=537\n"
                  "numa_faults node=0 task_private=0 task_shared=0 group_private=11911 group_shared=640\n"
                  "numa_faults node=8 task_private=4486 task_shared=256 group_private=4486 group_shared=512\n"
                  "numa_faults node=252 task_private=2 task_shared=0 group_private=2 group_shared=256\n",
          .has_faults = true,
          .runnable = 1024,
          .group = 537,
          .preferred = 0,
          .seq = 4,
          .priv = { 0, 4486, 2 },
          .shared = { 0, 256, 0 } },
        /* other prefixes, another order, fields more and fewer, nodes that are not here */
        { .text = "x (1, #threads: 4)\n" RULER "se.statistics.avg.runnable_avg : 7\nnuma_scan_seq : 3\n"
                  "current_node=252, new=1, numa_group_id=5\n"
                  "numa_faults new=1 task_shared=2, task_private=3, node=252 more=4\n"
                  "numa_faults node=1 task_private=99 task_shared=99\n"
                  "numa_faults node=99999999999 task_private=99 task_shared=99\n"
                  "numa_faults node=0 task_private=x\nnuma_faults\nnuma_faults node= task_private=1\n",
          .has_faults = true,
          .runnable = 7,
          .group = 5,
          .preferred = -1,
          .seq = 3,
          .priv = { 0, 0, 3 },
          .shared = { 0, 0, 2 } },
        /* no NUMA balancing in this kernel, a negative preference, keys that only look alike */
        { .text = "x (1, #threads: 1)\n" RULER "numa_preferred_nid : -1\nxrunnable_avg : 5\n:\n:::\n",
          .preferred = -1 },
        { .text = "x (1, #threads: 1)\n" RULER, .preferred = -1 },
        { .text = "x (1, #threads: 1)\nnuma_preferred_nid : 8\n", .r = -EBADMSG },
        { .text = "", .r = -EBADMSG },
};

static void sched_is_read_by_key(void **state) {
        struct hn_topology topo;

        (void) state;
        assert_int_equal(hn_topology_init(&topo, 3, 0), 0);
        topo.nodes[1].id = 8;
        topo.nodes[2].id = 252;
        for (size_t i = 0; i < HN_ELEMENTS(scheds); i++) {
                const struct sched_row *row = &scheds[i];
                uint64_t priv[3] = { 55, 55, 55 }, shared[3] = { 55, 55, 55 }, total = 0;
                struct hn_proc_sched s;

                assert_int_equal(hn_proc_sched_parse(row->text, strlen(row->text), &topo, priv, shared, &s),
                                 row->r);
                if (row->r < 0)
                        continue;
                assert_int_equal(s.has_faults, row->has_faults);
                assert_int_equal(s.runnable_avg, row->runnable);
                assert_int_equal(s.numa_group, row->group);
                assert_int_equal(s.preferred, row->preferred);
                assert_int_equal(s.scan_seq, row->seq);
                for (size_t j = 0; j < 3; j++) {
                        assert_int_equal(priv[j], row->priv[j]);
                        assert_int_equal(shared[j], row->shared[j]);
                        total += row->priv[j] + row->shared[j];
                }
                assert_int_equal(s.total, total);
        }
        hn_topology_deinit(&topo);
}

static void status_tells_process_and_lists(void **state) {
        static const char text[] =
                "Name:\tTgid:\\n5\nUmask:\t0022\nTgid:\t531\nNgid:\t0\nVmLck:\t       8 kB\n"
                "VmPin:\t      16 kB\nCpus_allowed:\tff\nCpus_allowed_list:\t0-3,8\n"
                "Mems_allowed_list:\t0,252\n";
        static const char odd[] = "Tgid:\t7\nCpus_allowed_list:\t9-1\nVmPin:\tlots\n";
        static const char *const bad[] = { "", "Name:\tx\n", "Tgid:\tx\n", "Tgid:\t99999999999\n" };
        struct hn_proc_status s;

        (void) state;
        assert_int_equal(hn_proc_status_parse(text, strlen(text), &s), 0);
        assert_int_equal(s.tgid, 531);
        assert_int_equal(s.locked, 8192);
        assert_int_equal(s.pinned, 16384);
        assert_true(s.has_cpus && s.has_mems);
        assert_int_equal(hn_mask_count(&s.cpus), 5);
        assert_true(hn_mask_has(&s.cpus, 8));
        assert_true(hn_mask_has(&s.mems, 252));

        assert_int_equal(hn_proc_status_parse(odd, strlen(odd), &s), 0);
        assert_false(s.has_cpus || s.has_mems);
        assert_int_equal(s.pinned, 0);
        for (size_t i = 0; i < HN_ELEMENTS(bad); i++)
                assert_int_equal(hn_proc_status_parse(bad[i], strlen(bad[i]), &s), -EBADMSG);
}

static const struct {
        const char *text, *controller, *path; /* path NULL: not there */
} cgroups[] = {
        { "0::/system.slice/lab.service\n", NULL, "/system.slice/lab.service" },
        { "9:name=systemd:/init.scope\n3:cpuset:/a:b\n0::/x\n", "name=systemd", "/init.scope" },
        { "9:name=systemd:/init.scope\n3:cpu,cpuset:/a:b\n0::/x\n", "cpuset", "/a:b" },
        { "3:cpusets:/a\n", "cpuset", NULL },
        { "9:name=systemd:/init.scope\n", NULL, NULL },
        { "0::/../x\n", NULL, "/../x" },
        { "0::/gone (deleted)\n", NULL, "/gone (deleted)" },
        { "0::\n0:\n0\n\n::/\n", NULL, NULL },
        { "", NULL, NULL },
};

static void cgroup_paths_by_controller(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(cgroups); i++) {
                const char *path;
                size_t n;
                int r = hn_proc_cgroup_parse(cgroups[i].text, strlen(cgroups[i].text), cgroups[i].controller,
                                             &path, &n);

                assert_int_equal(r, cgroups[i].path ? 0 : -ENOENT);
                if (!cgroups[i].path)
                        continue;
                assert_int_equal(n, strlen(cgroups[i].path));
                assert_memory_equal(path, cgroups[i].path, n);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names_do_not_confuse_stat),
                cmocka_unit_test(a_kernel_thread_has_its_flag),
                cmocka_unit_test(a_cut_stat_is_no_stat),
                cmocka_unit_test(schedstat_has_run_and_wait),
                cmocka_unit_test(sched_is_read_by_key),
                cmocka_unit_test(status_tells_process_and_lists),
                cmocka_unit_test(cgroup_paths_by_controller),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
