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
#include "base/macro.h"
#include "sample/taskref.h"

#define MIB  (UINT64_C(1) << 20)
#define HUGE (2 * MIB)
#define BASE (UINT64_C(64) << 30) /* on the border of a huge page */

/* A process as the kernel sees it: what each page answers to a query, and what happens when it is to be
 * moved. */
struct page {
        int status;        /* node, or -errno of the query */
        int fate;          /* 0: moves; -errno: stays, with that status */
        unsigned stubborn; /* attempts that end in -EBUSY before it moves */
        bool huge;         /* part of a huge page: the first address of a batch moves all, others are busy */
};

struct mm {
        struct page *pages;
        size_t n;
        int call_r; /* what each move answers as a whole, if not 0 */
        int query_r;
        size_t stop_after; /* pages moved in one call until it gives up with the rest untried; 0: never */
        uint64_t room;     /* pages that fit on the target */
        hn_usec_t now, per_page; /* the time that a page takes */
        uint64_t start;          /* of the process */
        unsigned n_calls, n_queries;
        size_t n_moved, longest;
};

static size_t page_size;

static struct page *page_at(struct mm *mm, void *address) {
        uint64_t a = (uint64_t) (uintptr_t) address;

        assert_true(a >= BASE && a % page_size == 0 && (a - BASE) / page_size < mm->n);
        return &mm->pages[(a - BASE) / page_size];
}

static int fake_query(void *userdata, pid_t pid, size_t n, void *const *addresses, int *status) {
        struct mm *mm = userdata;

        assert_int_equal(pid, 7);
        mm->n_queries++;
        for (size_t i = 0; i < n && mm->query_r == 0; i++)
                status[i] = page_at(mm, addresses[i])->status;
        return mm->query_r;
}

static bool move_one(struct mm *mm, struct page *p, unsigned node) {
        if (mm->room == 0)
                return false;
        p->status = (int) node;
        mm->room--;
        mm->n_moved++;
        return true;
}

static long fake_move(void *userdata, pid_t pid, size_t n, void *const *addresses, unsigned node,
                      int *status) {
        size_t per_huge = (size_t) (HUGE / page_size), moved = 0, taken = SIZE_MAX;
        struct mm *mm = userdata;

        assert_int_equal(pid, 7);
        assert_true(n > 0);
        mm->n_calls++;
        mm->longest = HN_MAX(mm->longest, n);
        if (mm->call_r < 0)
                return mm->call_r;
        for (size_t i = 0; i < n; i++) {
                struct page *p = page_at(mm, addresses[i]);
                size_t first = (size_t) (p - mm->pages) / per_huge * per_huge;

                mm->now += mm->per_page;
                assert_true(i == 0 || (uintptr_t) addresses[i] > (uintptr_t) addresses[i - 1]);
                if (mm->stop_after > 0 && moved >= mm->stop_after)
                        return (long) (n - i);
                if (p->huge && taken == first) {
                        status[i] = -EBUSY;
                        continue;
                }
                /* Asked about first, and so never moved without need. */
                assert_int_not_equal(p->status, (int) node);
                if (p->stubborn > 0) {
                        p->stubborn--;
                        status[i] = -EBUSY;
                } else if (p->fate < 0)
                        status[i] = p->fate;
                else if (p->huge) {
                        taken = first;
                        for (size_t k = 0; k < per_huge; k++)
                                if (!move_one(mm, &mm->pages[first + k], node))
                                        return -ENOMEM;
                        moved += per_huge;
                        status[i] = (int) node;
                } else {
                        if (!move_one(mm, p, node))
                                return -ENOMEM;
                        moved++;
                        status[i] = (int) node;
                }
        }
        return 0;
}

static hn_usec_t fake_clock(void *userdata) {
        struct mm *mm = userdata;

        return mm->now;
}

static int fake_start(void *userdata, pid_t tid, uint64_t *ret) {
        struct mm *mm = userdata;

        assert_int_equal(tid, 7);
        if (mm->start == 0)
                return -ESRCH;
        *ret = mm->start;
        return 0;
}

static int unused_get(void *userdata, pid_t tid, struct hn_mask *ret) {
        (void) userdata;
        (void) tid;
        (void) ret;
        return -ENOSYS;
}

static int unused_set(void *userdata, pid_t tid, const struct hn_mask *mask) {
        (void) userdata;
        (void) tid;
        (void) mask;
        return -ENOSYS;
}

/* `n` pages on `node`. */
static void mm_init(struct mm *mm, size_t n, int node) {
        *mm = (struct mm){
                .pages = calloc(n, sizeof(struct page)), .n = n, .room = UINT64_MAX, .start = 100
        };
        for (size_t i = 0; i < n; i++)
                mm->pages[i].status = node;
}

static void job_init(struct hn_page_job *job, const struct mm *mm, uint64_t limit) {
        struct hn_page_range *range = malloc(sizeof(*range));

        *range = (struct hn_page_range){ .start = BASE, .end = BASE + mm->n * page_size };
        hn_page_job_init(job, &(struct hn_task_key){ .tid = 7, .start = 100 }, 1, &HN_MASK_NULL, limit, range,
                         1);
}

/* Everything that can be had, in one slice. */
struct plenty {
        struct hn_bucket bucket;
        struct hn_page_budget budget;
};

static void plenty_init(struct plenty *p) {
        p->bucket = hn_bucket_make(UINT64_C(1) << 40, 0);
        p->budget = (struct hn_page_budget){ .bucket = &p->bucket,
                                             .slice = HN_USEC_PER_SEC,
                                             .free = UINT64_C(1) << 40 };
}

static enum hn_page_job_state step(struct hn_page_job *job, struct mm *mm, struct hn_page_budget *budget) {
        const struct hn_pages_ops ops = {
                .query = fake_query, .move = fake_move, .clock = fake_clock, .userdata = mm
        };
        const struct hn_affinity_ops identity = {
                .get = unused_get, .set = unused_set, .start = fake_start, .userdata = mm
        };

        return hn_page_job_step(job, &ops, &identity, budget, mm->now);
}

/* Whole calls, statuses, and what they come to. */
static const struct {
        const char *what;
        int status, fate;
        unsigned stubborn;
        int query_r, call_r;
        enum hn_page_job_state state;
        uint64_t tried, moved, there, absent, shared, busy, failed;
} rows[] = {
        { "plain", 0, 0, 0, 0, 0, HN_PAGE_JOB_DONE, 3000, 3000, 0, 0, 0, 0, 0 },
        { "there already", 1, 0, 0, 0, 0, HN_PAGE_JOB_DONE, 0, 0, 3000, 0, 0, 0, 0 },
        { "never touched", -ENOENT, 0, 0, 0, 0, HN_PAGE_JOB_DONE, 0, 0, 0, 3000, 0, 0, 0 },
        { "the zero page", -EFAULT, 0, 0, 0, 0, HN_PAGE_JOB_DONE, 0, 0, 0, 3000, 0, 0, 0 },
        { "shared", 0, -EACCES, 0, 0, 0, HN_PAGE_JOB_UNMOVABLE, 2048, 0, 0, 0, 2048, 0, 0 },
        { "pinned", 0, -EBUSY, 0, 0, 0, HN_PAGE_JOB_UNMOVABLE, 2048, 0, 0, 0, 0, 2048, 0 },
        { "busy once", 0, 0, 1, 0, 0, HN_PAGE_JOB_DONE, 3000, 3000, 0, 0, 0, 0, 0 },
        { "freed meanwhile", 0, -ENOENT, 0, 0, 0, HN_PAGE_JOB_UNMOVABLE, 2048, 0, 0, 2048, 0, 0, 0 },
        { "an I/O error", 0, -EIO, 0, 0, 0, HN_PAGE_JOB_UNMOVABLE, 2048, 0, 0, 0, 0, 0, 2048 },
        { "a full target, page by page", 0, -ENOMEM, 0, 0, 0, HN_PAGE_JOB_FULL, 512, 0, 0, 0, 0, 0, 512 },
        { "a full target, at once", 0, 0, 0, 0, -ENOMEM, HN_PAGE_JOB_FULL, 512, 0, 0, 0, 0, 0, 512 },
        { "a node without memory", 0, 0, 0, 0, -ENODEV, HN_PAGE_JOB_REFUSED, 512, 0, 0, 0, 0, 0, 512 },
        { "not in its cpuset", 0, 0, 0, 0, -EACCES, HN_PAGE_JOB_REFUSED, 512, 0, 0, 0, 0, 0, 512 },
        { "no right", 0, 0, 0, 0, -EPERM, HN_PAGE_JOB_REFUSED, 512, 0, 0, 0, 0, 0, 512 },
        { "gone under the move", 0, 0, 0, 0, -ESRCH, HN_PAGE_JOB_GONE, 512, 0, 0, 0, 0, 0, 512 },
        { "no right to ask", 0, 0, 0, -EPERM, 0, HN_PAGE_JOB_REFUSED, 0, 0, 0, 0, 0, 0, 0 },
        { "gone at the question", 0, 0, 0, -ESRCH, 0, HN_PAGE_JOB_GONE, 0, 0, 0, 0, 0, 0, 0 },
};

static void answers_come_to_states(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_page_job job;
                struct plenty p;
                struct mm mm;
                enum hn_page_job_state s;

                mm_init(&mm, 3000, rows[i].status);
                mm.query_r = rows[i].query_r;
                mm.call_r = rows[i].call_r;
                mm.per_page = 600; /* so slow that the batches stay at their smallest */
                for (size_t k = 0; k < mm.n; k++) {
                        mm.pages[k].fate = rows[i].fate;
                        mm.pages[k].stubborn = rows[i].stubborn;
                }
                job_init(&job, &mm, UINT64_MAX);
                job.small_pages = 1000; /* huge ones have a test of their own */
                plenty_init(&p);
                for (unsigned n = 0; (s = step(&job, &mm, &p.budget)) == HN_PAGE_JOB_RUNNING && n < 100; n++)
                        ;
                if (s != rows[i].state)
                        fail_msg("%s: %s", rows[i].what, hn_page_job_state_to_string(s));
                if (job.count.tried != rows[i].tried)
                        fail_msg("%s: %lu tried", rows[i].what, (unsigned long) job.count.tried);
                if (job.count.moved != rows[i].moved || mm.n_moved != rows[i].moved ||
                    job.count.there != rows[i].there)
                        fail_msg("%s: %lu moved", rows[i].what, (unsigned long) job.count.moved);
                /* Each page that was tried and did not move has one cause. */
                assert_int_equal(job.count.tried - job.count.moved + (rows[i].status < 0 ? 3000 : 0),
                                 job.count.absent + job.count.shared + job.count.busy + job.count.failed);
                assert_int_equal(!job.count.absent, !rows[i].absent);
                assert_int_equal(!job.count.shared, !rows[i].shared);
                assert_int_equal(!job.count.busy, !rows[i].busy);
                assert_int_equal(!job.count.failed, !rows[i].failed);
                /* What it ended in it stays in. */
                mm.n_calls = 0;
                assert_int_equal(step(&job, &mm, &p.budget), s);
                assert_int_equal(mm.n_calls, 0);
                hn_page_job_deinit(&job);
                free(mm.pages);
        }
}

/* A call that gives up in the middle leaves the status of the rest unwritten: no node 0, no success. */
static void the_untried_are_tried_again(void **state) {
        struct hn_page_job job;
        struct plenty p;
        struct mm mm;

        (void) state;
        mm_init(&mm, 1000, 0);
        mm.stop_after = 300;
        job_init(&job, &mm, UINT64_MAX);
        job.small_pages = 1000;
        plenty_init(&p);
        while (step(&job, &mm, &p.budget) == HN_PAGE_JOB_RUNNING)
                ;
        assert_int_equal(job.state, HN_PAGE_JOB_DONE);
        assert_int_equal(job.count.moved, mm.n_moved);
        assert_int_equal(job.count.tried, 1000);
        /* 300 and the other 212 of 512; 300 and 188 of 488. */
        assert_int_equal(job.count.moved, 1000);
        assert_int_equal(job.count.calls, 4);
        hn_page_job_deinit(&job);
        free(mm.pages);
}

static void huge_pages_move_by_one_address(void **state) {
        size_t per_huge = (size_t) (HUGE / page_size);
        struct hn_page_job job;
        struct plenty p;
        struct mm mm;

        (void) state;
        mm_init(&mm, 8 * per_huge, 0);
        for (size_t i = 0; i < mm.n; i++)
                mm.pages[i].huge = true;
        job_init(&job, &mm, UINT64_MAX);
        plenty_init(&p);
        while (step(&job, &mm, &p.budget) == HN_PAGE_JOB_RUNNING)
                ;
        assert_int_equal(job.state, HN_PAGE_JOB_DONE);
        assert_int_equal(job.count.moved, mm.n);
        assert_true(mm.longest <= 4);
        assert_int_equal(job.count.busy, 0);
        hn_page_job_deinit(&job);
        free(mm.pages);
}

static void small_pages_cost_one_more_call_in_sixteen(void **state) {
        size_t per_huge = (size_t) (HUGE / page_size);
        struct hn_page_job job;
        struct plenty p;
        struct mm mm;

        (void) state;
        mm_init(&mm, 16 * per_huge, 0);
        mm.per_page = 200;
        job_init(&job, &mm, UINT64_MAX);
        plenty_init(&p);
        while (step(&job, &mm, &p.budget) == HN_PAGE_JOB_RUNNING)
                ;
        assert_int_equal(job.state, HN_PAGE_JOB_DONE);
        assert_int_equal(job.count.moved, mm.n);
        assert_true(job.count.calls <= 17);
        hn_page_job_deinit(&job);
        free(mm.pages);
}

static void never_more_than_asked(void **state) {
        size_t per_huge = (size_t) (HUGE / page_size);
        static const uint64_t limits[] = { 0, 1, 4095, 4096, 40960, HUGE - 1, HUGE, HUGE + 1, 3 * HUGE };

        (void) state;
        for (unsigned huge = 0; huge < 2; huge++)
                for (size_t i = 0; i < HN_ELEMENTS(limits); i++) {
                        struct hn_page_job job;
                        struct plenty p;
                        struct mm mm;

                        mm_init(&mm, 4 * per_huge, 0);
                        for (size_t k = 0; k < mm.n; k++)
                                mm.pages[k].huge = huge;
                        /* A hole in the first window: it cannot be a huge page. */
                        if (!huge)
                                mm.pages[5].status = -ENOENT;
                        job_init(&job, &mm, limits[i]);
                        plenty_init(&p);
                        while (step(&job, &mm, &p.budget) == HN_PAGE_JOB_RUNNING)
                                ;
                        assert_int_equal(job.state, HN_PAGE_JOB_DONE);
                        assert_true(mm.n_moved * page_size <= limits[i]);
                        assert_true(limits[i] - mm.n_moved * page_size < HUGE);
                        if (!huge && limits[i] < HUGE)
                                assert_int_equal(mm.n_moved, HN_MIN(limits[i] / page_size, per_huge - 1));
                        hn_page_job_deinit(&job);
                        free(mm.pages);
                }
}

static void the_floor_stays_free(void **state) {
        size_t per_huge = (size_t) (HUGE / page_size);
        struct hn_page_job job;
        struct plenty p;
        struct mm mm;

        (void) state;
        mm_init(&mm, 8 * per_huge, 0);
        job_init(&job, &mm, UINT64_MAX);
        plenty_init(&p);
        p.budget.free = 100 * MIB + 3 * HUGE + 12345;
        p.budget.floor = 100 * MIB;
        while (step(&job, &mm, &p.budget) == HN_PAGE_JOB_RUNNING)
                ;
        assert_int_equal(job.state, HN_PAGE_JOB_FULL);
        assert_int_equal(mm.n_moved, 3 * per_huge);
        assert_int_equal(p.budget.free, 100 * MIB + 12345);

        /* Nothing free at all: not even a question. */
        hn_page_job_deinit(&job);
        job_init(&job, &mm, UINT64_MAX);
        mm.n_queries = 0;
        p.budget.free = 5;
        assert_int_equal(step(&job, &mm, &p.budget), HN_PAGE_JOB_FULL);
        assert_int_equal(mm.n_queries, 0);
        hn_page_job_deinit(&job);
        free(mm.pages);
}

static void a_slice_ends_a_step(void **state) {
        struct hn_page_job job;
        hn_usec_t longest = 0;
        struct plenty p;
        unsigned n = 0;
        struct mm mm;

        (void) state;
        mm_init(&mm, 50000, 0);
        mm.per_page = 10; /* 400 MB/s */
        job_init(&job, &mm, UINT64_MAX);
        plenty_init(&p);
        p.budget.slice = 20 * HN_USEC_PER_MSEC;
        do {
                hn_usec_t begin = mm.now;

                (void) step(&job, &mm, &p.budget);
                longest = HN_MAX(longest, mm.now - begin);
                n++;
        } while (job.state == HN_PAGE_JOB_RUNNING);
        assert_int_equal(job.state, HN_PAGE_JOB_DONE);
        assert_int_equal(job.count.moved, 50000);
        assert_true(n >= 15);
        assert_true(longest < 2 * p.budget.slice);
        hn_page_job_deinit(&job);
        free(mm.pages);
}

static void the_rate_holds_over_steps(void **state) {
        struct hn_bucket bucket = hn_bucket_make(16 * MIB, 0);
        struct hn_page_budget budget = { .bucket = &bucket, .slice = HN_USEC_PER_SEC, .free = UINT64_MAX };
        struct hn_page_job job;
        struct mm mm;

        (void) state;
        mm_init(&mm, (size_t) (64 * MIB / page_size), 0);
        job_init(&job, &mm, UINT64_MAX);
        /* One second's worth at once, then 16 MiB each second. */
        for (unsigned tick = 0; job.state == HN_PAGE_JOB_RUNNING && tick < 100; tick++) {
                mm.now = tick * 100 * HN_USEC_PER_MSEC;
                (void) step(&job, &mm, &budget);
                assert_true(mm.n_moved * page_size <= 16 * MIB + tick * 16 * MIB / 10 + page_size);
                if (tick == 31)
                        assert_true(mm.n_moved * page_size >= 60 * MIB);
        }
        assert_int_equal(job.state, HN_PAGE_JOB_DONE);
        assert_int_equal(mm.n_moved, mm.n);
        hn_page_job_deinit(&job);
        free(mm.pages);
}

static void only_from_the_sources(void **state) {
        struct hn_page_job job;
        struct plenty p;
        struct mm mm;

        (void) state;
        mm_init(&mm, 3000, 0);
        for (size_t i = 0; i < mm.n; i++)
                mm.pages[i].status = (int) (i % 4);
        job_init(&job, &mm, UINT64_MAX);
        hn_mask_add(&job.sources, 2);
        plenty_init(&p);
        while (step(&job, &mm, &p.budget) == HN_PAGE_JOB_RUNNING)
                ;
        assert_int_equal(job.state, HN_PAGE_JOB_DONE);
        assert_int_equal(mm.n_moved, 750);
        assert_int_equal(mm.pages[0].status, 0);
        assert_int_equal(mm.pages[2].status, 1);
        assert_int_equal(mm.pages[3].status, 3);
        hn_page_job_deinit(&job);
        free(mm.pages);
}

static void a_new_owner_of_the_pid_is_left_alone(void **state) {
        struct hn_page_job job;
        struct plenty p;
        struct mm mm;

        (void) state;
        mm_init(&mm, 3000, 0);
        job_init(&job, &mm, UINT64_MAX);
        plenty_init(&p);
        mm.start = 101;
        assert_int_equal(step(&job, &mm, &p.budget), HN_PAGE_JOB_GONE);
        assert_int_equal(mm.n_queries + mm.n_calls, 0);
        hn_page_job_deinit(&job);
        free(mm.pages);
}

static void nothing_to_do_is_done(void **state) {
        struct hn_page_job job;
        struct plenty p;
        struct mm mm = { .start = 100 };

        (void) state;
        plenty_init(&p);
        hn_page_job_init(&job, &(struct hn_task_key){ .tid = 7, .start = 100 }, 1, &HN_MASK_NULL, UINT64_MAX,
                         NULL, 0);
        assert_int_equal(step(&job, &mm, &p.budget), HN_PAGE_JOB_DONE);
        for (enum hn_page_job_state s = 0; s < _HN_PAGE_JOB_MAX; s++)
                assert_non_null(hn_page_job_state_to_string(s));
        hn_page_job_deinit(&job);
}

/* the bucket */

static void a_bucket_fills_and_overflows(void **state) {
        struct hn_bucket b = hn_bucket_make(10 * MIB, 1000);

        (void) state;
        assert_int_equal(hn_bucket_level(&b, 1000), 10 * MIB);
        hn_bucket_spend(&b, 15 * MIB);
        assert_int_equal(hn_bucket_level(&b, 1000), 0);
        assert_int_equal(hn_bucket_level(&b, 1000 + HN_USEC_PER_SEC / 2), 0);
        assert_int_equal(hn_bucket_level(&b, 1000 + HN_USEC_PER_SEC), 5 * MIB);
        assert_int_equal(hn_bucket_level(&b, 500), 5 * MIB); /* a clock that goes back */
        assert_int_equal(hn_bucket_level(&b, HN_USEC_INFINITY), 10 * MIB);

        /* In steps of a microsecond nothing is lost. */
        b = hn_bucket_make(1234567, 0);
        hn_bucket_spend(&b, 2 * MIB);
        for (hn_usec_t now = 0; now <= HN_USEC_PER_SEC; now++)
                (void) hn_bucket_level(&b, now);
        assert_in_range(hn_bucket_level(&b, HN_USEC_PER_SEC), 1234560, 1234567);

        b = hn_bucket_make(0, 0);
        assert_int_equal(hn_bucket_level(&b, HN_USEC_INFINITY), 0);
        b = hn_bucket_make(1, 0);
        assert_int_equal(hn_bucket_level(&b, 0), 2 * MIB); /* a huge page has to fit */
        b = hn_bucket_make(UINT64_MAX, 0);
        hn_bucket_spend(&b, UINT64_MAX);
        assert_true(hn_bucket_level(&b, HN_USEC_INFINITY) > 0);
}

/* the ranges */

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
                cmocka_unit_test(answers_come_to_states),
                cmocka_unit_test(the_untried_are_tried_again),
                cmocka_unit_test(huge_pages_move_by_one_address),
                cmocka_unit_test(small_pages_cost_one_more_call_in_sixteen),
                cmocka_unit_test(never_more_than_asked),
                cmocka_unit_test(the_floor_stays_free),
                cmocka_unit_test(a_slice_ends_a_step),
                cmocka_unit_test(the_rate_holds_over_steps),
                cmocka_unit_test(only_from_the_sources),
                cmocka_unit_test(a_new_owner_of_the_pid_is_left_alone),
                cmocka_unit_test(nothing_to_do_is_done),
                cmocka_unit_test(a_bucket_fills_and_overflows),
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
