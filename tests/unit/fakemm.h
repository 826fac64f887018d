/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* The memory of a process that is not there, and what is moved in it. Include after <cmocka.h>. */

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/types.h>

#include "act/pages.h"
#include "base/macro.h"

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

static inline struct page *page_at(struct mm *mm, void *address) {
        uint64_t a = (uint64_t) (uintptr_t) address;

        assert_true(a >= BASE && a % page_size == 0 && (a - BASE) / page_size < mm->n);
        return &mm->pages[(a - BASE) / page_size];
}

static inline int fake_query(void *userdata, pid_t pid, size_t n, void *const *addresses, int *status) {
        struct mm *mm = userdata;

        assert_int_equal(pid, 7);
        mm->n_queries++;
        for (size_t i = 0; i < n && mm->query_r == 0; i++)
                status[i] = page_at(mm, addresses[i])->status;
        return mm->query_r;
}

static inline bool move_one(struct mm *mm, struct page *p, unsigned node) {
        if (mm->room == 0)
                return false;
        p->status = (int) node;
        mm->room--;
        mm->n_moved++;
        return true;
}

static inline long fake_move(void *userdata, pid_t pid, size_t n, void *const *addresses, unsigned node,
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

static inline hn_usec_t fake_clock(void *userdata) {
        struct mm *mm = userdata;

        return mm->now;
}

static inline int fake_start(void *userdata, pid_t tid, uint64_t *ret) {
        struct mm *mm = userdata;

        assert_int_equal(tid, 7);
        if (mm->start == 0)
                return -ESRCH;
        *ret = mm->start;
        return 0;
}

static inline int unused_get(void *userdata, pid_t tid, struct hn_mask *ret) {
        (void) userdata;
        (void) tid;
        (void) ret;
        return -ENOSYS;
}

static inline int unused_set(void *userdata, pid_t tid, const struct hn_mask *mask) {
        (void) userdata;
        (void) tid;
        (void) mask;
        return -ENOSYS;
}

/* `n` pages on `node`. */
static inline void mm_init(struct mm *mm, size_t n, int node) {
        *mm = (struct mm){
                .pages = calloc(n, sizeof(struct page)), .n = n, .room = UINT64_MAX, .start = 100
        };
        for (size_t i = 0; i < n; i++)
                mm->pages[i].status = node;
}

static inline void job_init(struct hn_page_job *job, const struct mm *mm, uint64_t limit) {
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

static inline void plenty_init(struct plenty *p) {
        p->bucket = hn_bucket_make(UINT64_C(1) << 40, 0);
        p->budget = (struct hn_page_budget){ .bucket = &p->bucket,
                                             .slice = HN_USEC_PER_SEC,
                                             .free = UINT64_C(1) << 40 };
}

static inline enum hn_page_job_state step(struct hn_page_job *job, struct mm *mm,
                                          struct hn_page_budget *budget) {
        const struct hn_pages_ops ops = {
                .query = fake_query, .move = fake_move, .clock = fake_clock, .userdata = mm
        };
        const struct hn_affinity_ops identity = {
                .get = unused_get, .set = unused_set, .start = fake_start, .userdata = mm
        };

        return hn_page_job_step(job, &ops, &identity, budget, mm->now);
}
