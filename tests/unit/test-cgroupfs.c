/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sampletree.h"

#include "sample/cgroupfs.h"
#include "sample/cgrouplist.h"
#include "sample/mountinfo.h"

static const struct {
        const char *line;
        int r;
        const char *root, *point, *type, *options;
} mounts[] = {
        { "32 24 0:27 / /sys/fs/cgroup rw,nosuid shared:8 - cgroup2 cgroup2 rw,nsdelegate", 0, "/",
          "/sys/fs/cgroup", "cgroup2", "rw,nsdelegate" },
        { "32 24 0:27 / /a rw - cgroup2 none rw", 0, "/", "/a", "cgroup2", "rw" },
        { "32 24 0:27 /x /a rw shared:8 master:1 propagate_from:2 unbindable - cgroup c rw,cpuset", 0, "/x",
          "/a", "cgroup", "rw,cpuset" },
        /* a mount point called "-", and one with spaces */
        { "32 24 0:27 / - rw - cgroup2 - rw", 0, "/", "-", "cgroup2", "rw" },
        { "32 24 0:27 / /a\\040b rw - cgroup2 x rw", 0, "/", "/a\\040b", "cgroup2", "rw" },
        { "32 24 0:27 / /a rw shared:8 cgroup2 x rw", -EBADMSG, 0, 0, 0, 0 },
        { "32 24 0:27 / /a rw - cgroup2 x", -EBADMSG, 0, 0, 0, 0 },
        { "32 24 0:27 / /a", -EBADMSG, 0, 0, 0, 0 },
        { "", -EBADMSG, 0, 0, 0, 0 },
};

static void assert_text(struct hn_text t, const char *want) {
        assert_int_equal(t.n, strlen(want));
        assert_memory_equal(t.p, want, t.n);
}

static void mountinfo_has_optional_fields(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(mounts); i++) {
                struct hn_mount m;

                assert_int_equal(hn_mount_parse(mounts[i].line, strlen(mounts[i].line), &m), mounts[i].r);
                if (mounts[i].r < 0)
                        continue;
                assert_text(m.root, mounts[i].root);
                assert_text(m.point, mounts[i].point);
                assert_text(m.type, mounts[i].type);
                assert_text(m.options, mounts[i].options);
        }
}

static const struct {
        const char *escaped, *want;
} escapes[] = {
        { "/a\\040b\\011c\\012d\\134e", "/a b\tc\nd\\e" },
        { "/a\\04", "/a\\04" },
        { "/a\\", "/a\\" },
        { "/a\\999", "/a\\999" },
        { "/a\\000b", "/a\\000b" },
        { "\\134040", "\\040" },
        { "", "" },
};

static void mountinfo_escapes_are_octal(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(escapes); i++) {
                struct hn_text t = { .p = escapes[i].escaped, .n = strlen(escapes[i].escaped) };
                char buf[32];

                assert_int_equal(hn_mount_unescape(t, buf, sizeof(buf)), strlen(escapes[i].want));
                assert_string_equal(buf, escapes[i].want);
                assert_int_equal(hn_mount_unescape(t, buf, strlen(escapes[i].want)), -ENAMETOOLONG);
        }
}

static const char *list(const struct hn_mask *m) {
        static char buf[256];

        assert_true(hn_mask_print_list(m, buf, sizeof(buf)) >= 0);
        return buf;
}

static void assert_limits(const struct hn_cgroupfs *fs, const char *path, pid_t tid, const char *cpus,
                          const char *mems) {
        struct hn_mask m;
        int r = hn_cgroup_read_cpus(fs, path, tid, &m);

        assert_int_equal(r, cpus ? 0 : HN_CGROUP_UNSAID);
        if (cpus)
                assert_string_equal(list(&m), cpus);
        r = hn_cgroup_read_mems(fs, path, tid, &m);
        assert_int_equal(r, mems ? 0 : HN_CGROUP_UNSAID);
        if (mems)
                assert_string_equal(list(&m), mems);
}

static void assert_threads(const struct hn_cgroupfs *fs, const char *path, size_t limit, size_t n,
                           const pid_t *want) {
        pid_t *tids = NULL;
        size_t allocated = 0, k = 77;

        assert_int_equal(hn_cgroup_read_threads(fs, path, limit, &tids, &allocated, &k), 0);
        assert_int_equal(k, n);
        for (size_t i = 0; i < n; i++)
                assert_int_equal(tids[i], want[i]);
        free(tids);
}

/* v2 at a place of its own with a space in it; the controller reaches down to one slice only. */
static void the_unified_hierarchy(void **state) {
        static const pid_t tids[] = { 10, 11, 12 };
        struct hn_cgroupfs fs;
        struct tree t;

        (void) state;
        tree_make(&t);
        tree_write(&t, "proc/self/mountinfo",
                   "22 1 0:5 / /sys/fs/cgroup rw - tmpfs tmpfs rw\nnonsense\n"
                   "32 22 0:27 /part /elsewhere rw - cgroup2 x rw\n"
                   "33 22 0:27 / /my\\040groups rw shared:8 - cgroup2 x rw\n");
        tree_write(&t, "my groups/cpuset.cpus.effective", "0-7\n");
        tree_write(&t, "my groups/cpuset.mems.effective", "0-3\n");
        tree_write(&t, "my groups/a.slice/cpuset.cpus.effective", "2-3\n");
        tree_write(&t, "my groups/a.slice/b.service/cgroup.threads", "10\n11\n0\nx\n99999999999\n12");
        tree_write(&t, "my groups/empty/cpuset.cpus.effective", "\n");
        tree_write(&t, "my groups/odd/cpuset.cpus.effective", "9-2\n");

        assert_int_equal(hn_cgroupfs_open(&t.root, &fs), 0);
        assert_int_equal(fs.layout, HN_CGROUP_V2);
        assert_false(fs.confined);
        assert_limits(&fs, "/a.slice/b.service", 0, "2-3", "0-3");
        assert_limits(&fs, "/", 0, "0-7", "0-3");
        assert_limits(&fs, "/empty", 0, "0-7", "0-3");
        assert_limits(&fs, "/odd", 0, "0-7", "0-3");
        assert_limits(&fs, "/gone/long/ago", 0, "0-7", "0-3");
        assert_threads(&fs, "/a.slice/b.service", 100, 3, tids);
        assert_threads(&fs, "/a.slice/b.service", 2, 2, tids);
        assert_threads(&fs, "/a.slice", 100, 0, NULL);
        assert_threads(&fs, "/gone", 100, 0, NULL);
        hn_cgroupfs_close(&fs);
        assert_int_equal(fs.fd, -1);
        tree_destroy(&t);
}

/* v2 tells who is where, v1 what they may use, and there the cgroups may be other ones. */
static void a_hybrid_machine(void **state) {
        static const pid_t tids[] = { 10 };
        struct hn_cgroupfs fs;
        struct tree t;

        (void) state;
        tree_make(&t);
        tree_write(&t, "proc/self/mountinfo",
                   "32 22 0:27 / /cgroup/cpuset rw - cgroup cgroup rw,cpuset\n"
                   "33 22 0:28 / /cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd\n"
                   "34 22 0:29 / /cgroup/unified rw - cgroup2 x rw\n");
        tree_write(&t, "cgroup/systemd/", "");
        tree_write(&t, "cgroup/unified/a.slice/cgroup.threads", "10\n");
        tree_write(&t, "cgroup/cpuset/cpuset.effective_cpus", "0-15\n");
        tree_write(&t, "cgroup/cpuset/cpuset.effective_mems", "0,8\n");
        tree_write(&t, "cgroup/cpuset/jobs/7/cpuset.effective_cpus", "4-5\n");
        tree_write(&t, "cgroup/cpuset/jobs/7/cpuset.effective_mems", "8\n");
        tree_write(&t, "proc/10/cgroup", "3:cpuset:/jobs/7\n1:name=systemd:/a.slice\n0::/a.slice\n");
        tree_write(&t, "proc/11/cgroup", "3:cpuset:/jobs/8\n0::/a.slice\n");

        assert_int_equal(hn_cgroupfs_open(&t.root, &fs), 0);
        assert_int_equal(fs.layout, HN_CGROUP_HYBRID);
        assert_threads(&fs, "/a.slice", 100, 1, tids);
        assert_limits(&fs, "/a.slice", 10, "4-5", "8");
        assert_limits(&fs, "/a.slice", 11, "0-15", "0,8"); /* a cpuset that is gone */
        assert_limits(&fs, "/a.slice", 12, "0-15", "0,8"); /* a thread that is gone */
        assert_limits(&fs, "/a.slice", 0, "0-15", "0,8");
        hn_cgroupfs_close(&fs);
        tree_destroy(&t);
}

static void a_machine_of_v1(void **state) {
        static const pid_t tids[] = { 7, 8 };
        struct hn_cgroupfs fs;
        struct tree t;

        (void) state;
        tree_make(&t);
        tree_write(&t, "proc/self/mountinfo",
                   "33 22 0:28 / /cg/systemd rw - cgroup cgroup rw,name=systemd\n"
                   "34 22 0:29 / /dev/cpuset rw - cgroup none rw,noprefix,cpuset\n");
        tree_write(&t, "cg/systemd/a.service/tasks", "7\n8\n");
        tree_write(&t, "cg/systemd/a.service/cgroup.threads", "99\n");
        tree_write(&t, "dev/cpuset/cpus", "0-3\n");
        tree_write(&t, "dev/cpuset/mems", "0-1\n");
        tree_write(&t, "dev/cpuset/dummy/cpus", "2\n");
        tree_write(&t, "dev/cpuset/dummy/effective_mems", "1\n");
        tree_write(&t, "proc/7/cgroup", "34:cpuset:/dummy\n33:name=systemd:/a.service\n");

        assert_int_equal(hn_cgroupfs_open(&t.root, &fs), 0);
        assert_int_equal(fs.layout, HN_CGROUP_V1);
        assert_threads(&fs, "/a.service", 100, 2, tids);
        assert_limits(&fs, "/a.service", 7, "2", "1");
        assert_limits(&fs, "/a.service", 0, "0-3", "0-1");
        hn_cgroupfs_close(&fs);
        tree_destroy(&t);
}

/* Nothing mounted, nothing there, and roots that are not the machine's. */
static void no_cgroups_and_namespaces(void **state) {
        struct hn_cgroupfs fs;
        struct tree t;

        (void) state;
        tree_make(&t);
        assert_int_equal(hn_cgroupfs_open(&t.root, &fs), 0);
        assert_int_equal(fs.layout, HN_CGROUP_NONE);
        assert_limits(&fs, "/a", 0, NULL, NULL);
        assert_threads(&fs, "/a", 100, 0, NULL);
        hn_cgroupfs_close(&fs);

        /* listed, but its folder is not in the capture */
        tree_write(&t, "proc/self/mountinfo", "33 22 0:28 / /cg rw - cgroup2 cgroup rw\n");
        assert_int_equal(hn_cgroupfs_open(&t.root, &fs), 0);
        assert_int_equal(fs.layout, HN_CGROUP_NONE);
        hn_cgroupfs_close(&fs);

        tree_write(&t, "cg/", "");
        tree_write(&t, "proc/1/cgroup", "0::/../../init.scope\n");
        assert_int_equal(hn_cgroupfs_open(&t.root, &fs), 0);
        assert_int_equal(fs.layout, HN_CGROUP_V2);
        assert_true(fs.confined);
        assert_limits(&fs, "/a", 0, NULL, NULL);
        hn_cgroupfs_close(&fs);

        tree_write(&t, "proc/1/cgroup", "0::/init.scope\n");
        assert_int_equal(hn_cgroupfs_open(&t.root, &fs), 0);
        assert_false(fs.confined);
        hn_cgroupfs_close(&fs);
        tree_write(&t, "proc/self/mountinfo", "33 22 0:28 /docker/1 /cg rw - cgroup2 cgroup rw\n");
        assert_int_equal(hn_cgroupfs_open(&t.root, &fs), 0);
        assert_true(fs.confined);
        hn_cgroupfs_close(&fs);
        tree_destroy(&t);
}

static void assert_found(const struct hn_cgroupfs *fs, const char *const *patterns, size_t n,
                         const char *want) {
        struct hn_cgroup_list found;
        char text[1024] = "";

        assert_int_equal(hn_cgroups_find(fs, patterns, n, &found), 0);
        for (size_t i = 0; i < found.n; i++)
                (void) snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s=%zu",
                                i > 0 ? " " : "", found.items[i].path, found.items[i].pattern);
        assert_string_equal(text, want);
        assert_false(found.cut);
        hn_cgroup_list_deinit(&found);
}

static void cgroups_are_found_by_pattern(void **state) {
        static const char *const web[] = { "system.slice/web-*.service", "system.slice/*" };
        static const char *const all[] = { "*" }, *const late[] = { "a/b/c", "*" },
                                 *const none[] = { "x/y", "b/a" };
        static const char *const inner[] = { "system.slice/web-1.service/inner",
                                             "system.slice/web-1.service" };
        struct hn_cgroupfs fs;
        struct tree t;

        (void) state;
        tree_make(&t);
        tree_write(&t, "proc/self/mountinfo", "33 22 0:28 / /cg rw - cgroup2 cgroup rw\n");
        tree_write(&t, "cg/cgroup.procs", "");
        tree_write(&t, "cg/system.slice/web-1.service/inner/deep/", "");
        tree_write(&t, "cg/system.slice/web-2.service/cgroup.threads", "");
        tree_write(&t, "cg/system.slice/db.service/", "");
        tree_write(&t, "cg/a/b/c/d/", "");
        assert_int_equal(hn_cgroupfs_open(&t.root, &fs), 0);

        assert_found(
                &fs, web, 2,
                "/system.slice/db.service=1 /system.slice/web-1.service=0 /system.slice/web-1.service/inner=0"
                " /system.slice/web-1.service/inner/deep=0 /system.slice/web-2.service=0");
        assert_found(&fs, web, 0, "");
        assert_found(&fs, none, 2, "");
        assert_found(&fs, late, 2,
                     "/=1 /a=1 /a/b=1 /a/b/c=0 /a/b/c/d=0 /system.slice=1 /system.slice/db.service=1"
                     " /system.slice/web-1.service=1 /system.slice/web-1.service/inner=1"
                     " /system.slice/web-1.service/inner/deep=1 /system.slice/web-2.service=1");
        assert_found(&fs, inner, 2,
                     "/system.slice/web-1.service=1 /system.slice/web-1.service/inner=0"
                     " /system.slice/web-1.service/inner/deep=0");
        assert_found(&fs, all, 1,
                     "/=0 /a=0 /a/b=0 /a/b/c=0 /a/b/c/d=0 /system.slice=0 /system.slice/db.service=0"
                     " /system.slice/web-1.service=0 /system.slice/web-1.service/inner=0"
                     " /system.slice/web-1.service/inner/deep=0 /system.slice/web-2.service=0");
        hn_cgroupfs_close(&fs);
        tree_destroy(&t);
}

/* A tree that goes down and down is walked to a bound, and the answer says that it is not whole. */
static void depth_is_bounded(void **state) {
        static const char *const all[] = { "*" };
        struct hn_cgroup_list found;
        struct hn_cgroupfs fs;
        struct tree t;
        char path[1024] = "cg/";

        (void) state;
        tree_make(&t);
        tree_write(&t, "proc/self/mountinfo", "33 22 0:28 / /cg rw - cgroup2 cgroup rw\n");
        for (size_t i = 0; i < HN_CGROUP_DEPTH_MAX + 5; i++)
                memcpy(path + 3 + 2 * i, "d/", sizeof("d/"));
        tree_write(&t, path, "");
        assert_int_equal(hn_cgroupfs_open(&t.root, &fs), 0);
        assert_int_equal(hn_cgroups_find(&fs, all, 1, &found), 0);
        assert_int_equal(found.n, HN_CGROUP_DEPTH_MAX);
        assert_true(found.cut);
        hn_cgroup_list_deinit(&found);
        hn_cgroupfs_close(&fs);
        tree_destroy(&t);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(mountinfo_has_optional_fields),
                cmocka_unit_test(mountinfo_escapes_are_octal),
                cmocka_unit_test(the_unified_hierarchy),
                cmocka_unit_test(a_hybrid_machine),
                cmocka_unit_test(a_machine_of_v1),
                cmocka_unit_test(no_cgroups_and_namespaces),
                cmocka_unit_test(cgroups_are_found_by_pattern),
                cmocka_unit_test(depth_is_bounded),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
