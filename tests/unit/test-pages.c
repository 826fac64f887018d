/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "act/pages.h"
#include "base/macro.h"
#include "fakemm.h"

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
        };

        page_size = (size_t) sysconf(_SC_PAGESIZE);
        if (page_size != 4096) {
                fprintf(stderr, "The figures are for pages of 4 KiB, not of %zu\n", page_size);
                return 77;
        }
        return cmocka_run_group_tests(tests, NULL, NULL);
}
