/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sampletree.h"

#include <sys/mman.h>

#include "sample/residency.h"

static const struct {
        int status;
        enum hn_page_status want;
} statuses[] = {
        { 0, HN_PAGE_ON_NODE },        { 255, HN_PAGE_ON_NODE },    { -ENOENT, HN_PAGE_ABSENT },
        { -EFAULT, HN_PAGE_UNMAPPED }, { -EACCES, HN_PAGE_SHARED }, { -EBUSY, HN_PAGE_BUSY },
        { -EAGAIN, HN_PAGE_BUSY },     { -ENOMEM, HN_PAGE_FAILED }, { -EIO, HN_PAGE_FAILED },
        { -EINVAL, HN_PAGE_FAILED },
};

/* Nodes 0, 8 and 255. */
static int topology(void **state) {
        static struct hn_topology topo;

        if (hn_topology_init(&topo, 3, 0) < 0)
                return -1;
        topo.nodes[1].id = 8;
        topo.nodes[2].id = 255;
        *state = &topo;
        return 0;
}

static int no_topology(void **state) {
        hn_topology_deinit(*state);
        return 0;
}

static void every_status_has_its_class(void **state) {
        uint64_t pages[3] = { 0 };
        struct hn_residency r = { .asked = 0 };
        int status[HN_ELEMENTS(statuses) + 2];

        for (size_t i = 0; i < HN_ELEMENTS(statuses); i++) {
                assert_int_equal(hn_page_status_of(statuses[i].status), statuses[i].want);
                status[i] = statuses[i].status;
        }
        status[HN_ELEMENTS(statuses)] = 8;
        status[HN_ELEMENTS(statuses) + 1] = 7; /* a node that is not here */
        hn_residency_tally(status, HN_ELEMENTS(status), *state, pages, &r);
        assert_int_equal(r.asked, HN_ELEMENTS(status));
        assert_int_equal(r.by_status[HN_PAGE_ON_NODE], 4);
        assert_int_equal(r.by_status[HN_PAGE_BUSY], 2);
        assert_int_equal(r.by_status[HN_PAGE_FAILED], 3);
        assert_int_equal(r.elsewhere, 1);
        assert_int_equal(pages[0], 1);
        assert_int_equal(pages[1], 1);
        assert_int_equal(pages[2], 1);
}

static const char maps[] = "10000-20000 r--p 00000000 fe:00 1 /bin/x\n"
                           "100000-200000 rw-p 00000000 00:00 0 [heap]\n" /* 256 pages */
                           "nonsense\n"
                           "300000-310000 rw-s 00000000 00:01 5 /dev/zero (deleted)\n"
                           "400000-700000 rw-p 00000000 00:00 0\n" /* 768 pages */
                           "800000-800800 rw-p 00000000 00:00 0\n" /* half a page */
                           "900000-a00000 ---p 00000000 00:00 0\n"
                           "b00000-b10000 rw-p 00000000 00:01 6 /memfd:x (deleted)\n"
                           "c00000-d00000 rw-p 00000000 00:0f 7 /anon_hugepage (deleted)\n";

static void addresses_lie_in_own_memory_by_size(void **state) {
        uint64_t a[1024], b[1024], previous;
        size_t heap, same;

        (void) state;
        for (uint64_t seed = 0; seed < 50; seed++) {
                assert_int_equal(hn_residency_choose(maps, strlen(maps), seed, 4096, UINT64_MAX, 64, a), 64);
                assert_int_equal(hn_residency_choose(maps, strlen(maps), seed, 4096, UINT64_MAX, 64, b), 64);
                assert_memory_equal(a, b, 64 * sizeof(*a));
                heap = 0;
                previous = 0;
                for (size_t i = 0; i < 64; i++) {
                        assert_int_equal(a[i] % 4096, 0);
                        assert_true(a[i] > previous);
                        assert_true((a[i] >= 0x100000 && a[i] < 0x200000) ||
                                    (a[i] >= 0x400000 && a[i] < 0x700000));
                        heap += a[i] < 0x200000;
                        previous = a[i];
                }
                assert_int_equal(heap, 16); /* a quarter of the memory */
        }
        assert_int_equal(hn_residency_choose(maps, strlen(maps), 1, 4096, UINT64_MAX, 64, b), 64);
        same = 0;
        for (size_t i = 0; i < 64; i++)
                same += a[i] == b[i];
        assert_true(same < 32);
}

static void few_pages_are_all_asked(void **state) {
        static const char tiny[] = "1000-3000 rw-p 00000000 00:00 0\n5000-6000 rw-p 00000000 00:00 0 [stack]";
        uint64_t a[64];

        (void) state;
        assert_int_equal(hn_residency_choose(tiny, strlen(tiny), 9, 4096, UINT64_MAX, 64, a), 3);
        assert_int_equal(a[0], 0x1000);
        assert_int_equal(a[1], 0x2000);
        assert_int_equal(a[2], 0x5000);
        assert_int_equal(hn_residency_choose("", 0, 9, 4096, UINT64_MAX, 64, a), 0);
}

/* A sparse giant, as of a sanitizer or a garbage collector, does not hide the rest. */
static void a_cap_spreads_over_the_whole_mapping(void **state) {
        static const char text[] = "100000000-900000000 rw-p 00000000 00:00 0\n"
                                   "a00000000-a00010000 rw-p 00000000 00:00 0\n"; /* 16 pages */
        uint64_t a[32];
        size_t small = 0;

        (void) state;
        assert_int_equal(hn_residency_choose(text, strlen(text), 3, 4096, 16, 32, a), 32);
        for (size_t i = 0; i < 32; i++)
                small += a[i] >= 0xa00000000;
        assert_int_equal(small, 16);
        assert_true(a[15] > 0x700000000 && a[15] < 0x900000000);
        assert_int_equal(a[31], 0xa0000f000);
}

/* An address space said to be full, and fuller. */
static void sizes_do_not_overflow(void **state) {
        static const char line[] = "0-ffffffffffffffff rw-p 00000000 00:00 0\n";
        const size_t n = strlen(line);
        char text[60 * sizeof(line)];
        uint64_t a[64];

        (void) state;
        for (size_t i = 0; i < 60 * n; i++)
                text[i] = line[i % n];
        assert_int_equal(hn_residency_choose(text, n, 9, 4096, UINT64_MAX, 64, a), 64);
        assert_int_equal(hn_residency_choose(text, 60 * n, 9, 1, UINT64_MAX, 64, a), 0);
}

static struct {
        int r, status;
        unsigned calls, raised, lowered;
        size_t n;
} fake;

/* Answers once as told, then that all is on node 8. */
static int fake_query(void *userdata, pid_t pid, size_t n, void *const *addresses, int *status) {
        assert_ptr_equal(userdata, &fake);
        assert_int_equal(pid, getpid());
        assert_non_null(addresses[n - 1]);
        assert_int_equal(fake.raised, fake.lowered + 1);
        if (fake.r < 0)
                return fake.r;
        for (size_t i = 0; i < n; i++)
                status[i] = fake.calls == 0 ? fake.status : 8;
        fake.calls++;
        fake.n = n;
        return 0;
}

static int fake_raise(void *userdata) {
        assert_ptr_equal(userdata, &fake);
        fake.raised++;
        return 0;
}

static void fake_lower(void *userdata) {
        assert_ptr_equal(userdata, &fake);
        fake.lowered++;
}

static const struct {
        int r, status;
        unsigned calls;
        uint64_t node8;
} answers[] = {
        { 0, 8, 1, HN_RESIDENCY_PAGES },
        { 0, -ENOENT, 2, 1024 }, /* nothing but air: another, larger round */
        { 0, -EFAULT, 2, 1024 },
        { 0, 7, 1, 0 }, /* resident, on a node that is not here */
        { -EPERM, 0, 0, 0 },
        { -ESRCH, 0, 0, 0 },
        { -EINVAL, 0, 0, 0 },
};

static void the_kernel_is_asked_under_privilege(void **state) {
        const size_t size = 8u << 20;
        void *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        const struct hn_privilege privilege = { fake_raise, fake_lower, &fake };
        struct hn_residency_reader reader = { .privilege = &privilege,
                                              .query = fake_query,
                                              .userdata = &fake };
        struct hn_sysroot root;

        assert_ptr_not_equal(memory, MAP_FAILED);
        memset(memory, 1, size); /* resident, so that it weighs in full */
        assert_int_equal(hn_sysroot_open("/", &root), 0);
        reader.root = &root;
        for (size_t i = 0; i < HN_ELEMENTS(answers); i++) {
                uint64_t pages[3] = { 9, 9, 9 };
                struct hn_residency r;

                memset(&fake, 0, sizeof(fake));
                fake.r = answers[i].r;
                fake.status = answers[i].status;
                assert_int_equal(hn_residency_read(&reader, getpid(), i, *state, pages, &r), answers[i].r);
                assert_int_equal(fake.calls, answers[i].calls);
                assert_int_equal(fake.raised, fake.lowered);
                assert_int_equal(pages[0], 0);
                assert_int_equal(pages[1], answers[i].node8);
                if (answers[i].r == 0)
                        assert_int_equal(r.asked, answers[i].calls == 2 ? HN_RESIDENCY_PAGES + 1024
                                                                        : HN_RESIDENCY_PAGES);
        }
        hn_sysroot_close(&root);
        (void) munmap(memory, size);
}

/* The real call on ourselves, all of our memory touched. */
static void our_own_pages_are_somewhere(void **state) {
        const size_t size = 64u << 20;
        char *memory = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        struct hn_residency_reader reader = { .query = hn_query_pages_live };
        struct hn_sysroot root;
        struct hn_residency r;
        uint64_t pages[3];
        int q;

        assert_ptr_not_equal(memory, MAP_FAILED);
        memset(memory, 1, size);
        assert_int_equal(hn_sysroot_open("/", &root), 0);
        reader.root = &root;
        q = hn_residency_read(&reader, getpid(), 5, *state, pages, &r);
        hn_sysroot_close(&root);
        (void) munmap(memory, size);
        if (q == -EPERM || q == -ENOSYS)
                skip(); /* a sandbox that does not let us ask */
        assert_int_equal(q, 0);
        assert_true(r.by_status[HN_PAGE_ON_NODE] >= 8);
        assert_int_equal(r.by_status[HN_PAGE_ON_NODE], pages[0] + pages[1] + pages[2] + r.elsewhere);
}

static void a_capture_is_counted(void **state) {
        struct hn_residency_reader reader = { .query = fake_query };
        struct hn_residency r;
        uint64_t pages[3];
        struct tree t;

        tree_make(&t);
        reader.root = &t.root;
        assert_int_equal(hn_residency_read(&reader, 7, 0, *state, pages, &r), -ENOENT);
        tree_write(&t, "proc/7/numa_maps",
                   "1000 default anon=3 dirty=3 N0=1 N8=2 kernelpagesize_kB=4\n"
                   "2000 default file=/bin/x mapped=50 N0=50 kernelpagesize_kB=4\n"
                   "3000 default file=/bin/x anon=1 N0=1 kernelpagesize_kB=4\n"
                   "4000 default huge anon=2 N0=2 kernelpagesize_kB=2048\n"
                   "5000 default heap anon=5 N255=4 N9=1 kernelpagesize_kB=64\n"
                   "6000 default\nnonsense\n");
        assert_int_equal(hn_residency_read(&reader, 7, 0, *state, pages, &r), 0);
        assert_int_equal(pages[0], 1);
        assert_int_equal(pages[1], 2);
        assert_int_equal(pages[2], 64); /* in pages of 4 KiB, as the smallest are */
        assert_int_equal(r.by_status[HN_PAGE_ON_NODE], 67);
        tree_destroy(&t);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_status_has_its_class),
                cmocka_unit_test(addresses_lie_in_own_memory_by_size),
                cmocka_unit_test(few_pages_are_all_asked),
                cmocka_unit_test(sizes_do_not_overflow),
                cmocka_unit_test(a_cap_spreads_over_the_whole_mapping),
                cmocka_unit_test(the_kernel_is_asked_under_privilege),
                cmocka_unit_test(our_own_pages_are_somewhere),
                cmocka_unit_test(a_capture_is_counted),
        };

        return cmocka_run_group_tests(tests, topology, no_topology);
}
