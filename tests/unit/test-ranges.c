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
#include <sys/mman.h>
#include <unistd.h>

#include "act/pages.h"
#include "act/ranges.h"
#include "base/macro.h"
#include "fakemm.h"
#include "sample/taskref.h"

static void ranges_are_chosen_by_extent_and_policy(void **state) {
        static const char maps[] = "00400000-00401000 r-xp 00000000 08:01 1 /bin/x\n"
                                   "00600000-00700000 rw-p 00000000 08:01 1 /bin/x\n"
                                   "01000000-01100000 rw-p 00000000 00:00 0 [heap]\n"
                                   "01100000-01200000 rw-p 00000000 00:00 0 \n"
                                   "02000000-02100000 rw-p 00000000 00:00 0 \n"
                                   "03000000-03100000 rw-s 00000000 00:01 5 /memfd:N0=99 default\n"
                                   "04000000-04100000 r--p 00000000 00:00 0 \n"
                                   "05000000-05100000 rw-p 00000000 00:00 0 \n"
                                   "06000000-06100000 rw-p 00000000 00:00 0 \n"
                                   "07000000-07100000 rw-p 00000000 00:00 0 \n"
                                   "08000000-08200000 rw-p 00000000 00:0f 9 /anon_hugepage (deleted)\n"
                                   "09000000-09100000 rw-p 00000000 00:00 0 \n"
                                   "7ffd0000-7ffe0000 rw-p 00000000 00:00 0 [stack]\n"
                                   "7fff0000-7fff1000 r-xp 00000000 00:00 0 [vdso]\n";
        static const char numa_maps[] =
                "00400000 default file=/bin/x mapped=1 N0=1 kernelpagesize_kB=4\n"
                "00600000 default file=/bin/x anon=256 dirty=256 N0=256 kernelpagesize_kB=4\n"
                "01000000 default heap anon=256 dirty=256 N0=256 kernelpagesize_kB=4\n"
                "01100000 local anon=256 dirty=256 N0=256 kernelpagesize_kB=4\n"
                "02000000 bind:1 anon=256 dirty=256 N1=256 kernelpagesize_kB=4\n"
                "03000000 default file=/memfd:N0=99 dirty=256 N0=256 kernelpagesize_kB=4\n"
                "04000000 default anon=256 N0=256 kernelpagesize_kB=4\n"
                "05000000 default\n"
                "06000000 prefer (many):0-1 anon=256 dirty=256 N0=256 kernelpagesize_kB=4\n"
                "08000000 default file=/anon_hugepage\\040(deleted) huge anon=1 dirty=1 N0=1 "
                "kernelpagesize_kB=2048\n"
                "09000000 default anon=1 dirty=1 N0=1 kernelpagesize_kB=4\n"
                "0a000000 default anon=1 dirty=1 N0=1 kernelpagesize_kB=4\n"
                "7ffd0000 default stack anon=3 dirty=3 N0=3 kernelpagesize_kB=4\n";
        /* Not: files, explicit policies, read-only, empty, huge, and what only one of the two knows. */
        static const struct hn_page_range want[] = {
                { 0x01000000, 0x01200000 },
                { 0x09000000, 0x09100000 },
                { 0x7ffd0000, 0x7ffe0000 },
        };
        struct hn_page_range *ranges;
        size_t n;

        (void) state;
        assert_int_equal(
                hn_page_ranges_parse(maps, sizeof(maps) - 1, numa_maps, sizeof(numa_maps) - 1, &ranges, &n),
                0);
        assert_int_equal(n, HN_ELEMENTS(want));
        assert_memory_equal(ranges, want, sizeof(want));
        free(ranges);

        assert_int_equal(hn_page_ranges_parse("", 0, numa_maps, sizeof(numa_maps) - 1, &ranges, &n), 0);
        assert_int_equal(n, 0);
        free(ranges);
}

/* live, on our own memory */

static bool covers(const struct hn_page_range *ranges, size_t n, const void *p) {
        for (size_t i = 0; i < n; i++)
                if (ranges[i].start <= (uint64_t) (uintptr_t) p && (uint64_t) (uintptr_t) p < ranges[i].end)
                        return true;
        return false;
}

static void our_own_memory_is_found(void **state) {
        const size_t size = 64 * page_size;
        struct hn_page_range *ranges;
        struct hn_task_key key;
        struct hn_page_job job;
        struct plenty p;
        size_t n;
        int proc_fd = open("/proc", O_PATH | O_DIRECTORY | O_CLOEXEC), r;
        char *private, *shared, *constant;

        (void) state;
        assert_true(proc_fd >= 0);
        private = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        shared = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        constant = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        memset(private, 1, size);
        memset(shared, 1, size);
        memset(constant, 1, size);
        assert_int_equal(mprotect(constant, size, PROT_READ), 0);

        assert_int_equal(hn_task_key_read(proc_fd, getpid(), &key), 0);
        r = hn_page_ranges_read(proc_fd, getpid(), &ranges, &n);
        if (r == -ENOENT) {
                print_message("No numa_maps here\n");
                skip();
        }
        assert_int_equal(r, 0);
        assert_true(covers(ranges, n, private));
        assert_false(covers(ranges, n, shared));
        assert_false(covers(ranges, n, constant));
        assert_false(covers(ranges, n, (const void *) (uintptr_t) our_own_memory_is_found));

        /* To a node that no machine has: asked about, and refused as a whole. */
        {
                const struct hn_affinity_ops identity = hn_affinity_live(&proc_fd);
                const struct hn_pages_ops ops = hn_pages_live();

                ranges[0] = (struct hn_page_range){ (uintptr_t) private, (uintptr_t) private + size };
                hn_page_job_init(&job, &key, 1023, &HN_MASK_NULL, UINT64_MAX, ranges, 1);
                plenty_init(&p);
                p.bucket = hn_bucket_make(UINT64_C(1) << 30, 0);
                assert_int_equal(hn_page_job_step(&job, &ops, &identity, &p.budget, 0), HN_PAGE_JOB_REFUSED);
                assert_true(job.error == -ENODEV || job.error == -EACCES);
                assert_int_equal(job.count.resident, 64);
                assert_int_equal(job.count.moved, 0);
                hn_page_job_deinit(&job);
        }
        assert_int_equal(hn_page_ranges_read(proc_fd, INT32_MAX, &ranges, &n), -ENOENT);
        (void) munmap(private, size);
        (void) munmap(shared, size);
        (void) munmap(constant, size);
        (void) close(proc_fd);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(ranges_are_chosen_by_extent_and_policy),
                cmocka_unit_test(our_own_memory_is_found),
        };

        page_size = (size_t) sysconf(_SC_PAGESIZE);
        if (page_size != 4096) {
                fprintf(stderr, "The figures are for pages of 4 KiB, not of %zu\n", page_size);
                return 77;
        }
        return cmocka_run_group_tests(tests, NULL, NULL);
}
