/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <stdlib.h>
#include <unistd.h>

#include "act/caps.h"
#include "act/pages.h"
#include "base/macro.h"
#include "sample/clock.h"
#include "sample/movepages.h"

/* A call has a fixed cost on every CPU of the machine (it drains their LRU caches), a page has one of the
 * target's mmap lock: few calls, but no long ones. */
#define BATCH_MIN 512u
#define BATCH_MAX 2048u

#define HUGE_SIZE (UINT64_C(2) << 20)

/* What a status reads that the kernel did not write: past the last errno (MAX_ERRNO is 4095). */
#define UNWRITTEN (-4096)

/* Rounds that may move nothing before a process counts as unmovable. */
#define USELESS_MAX 4u

/* Rounds after one that found small pages where a huge one might have been. */
#define SMALL_ROUNDS 15u

static const char *const state_names[_HN_PAGE_JOB_MAX] = {
        [HN_PAGE_JOB_RUNNING] = "running",     [HN_PAGE_JOB_DONE] = "done",
        [HN_PAGE_JOB_GONE] = "gone",           [HN_PAGE_JOB_FULL] = "full",
        [HN_PAGE_JOB_UNMOVABLE] = "unmovable", [HN_PAGE_JOB_REFUSED] = "refused",
};

const char *hn_page_job_state_to_string(enum hn_page_job_state s) {
        return s < _HN_PAGE_JOB_MAX ? state_names[s] : NULL;
}

static int live_query(void *userdata, pid_t pid, size_t n, void *const *addresses, int *status) {
        _hn_cleanup_(hn_caps_lowerp) struct hn_caps caps = HN_CAPS_NULL;
        int r;

        r = hn_caps_raise(&caps, CAP_SYS_PTRACE);
        return r < 0 ? r : hn_query_pages_live(userdata, pid, n, addresses, status);
}

static long live_move(void *userdata, pid_t pid, size_t n, void *const *addresses, unsigned node,
                      int *status) {
        _hn_cleanup_(hn_caps_lowerp) struct hn_caps caps = HN_CAPS_NULL;
        int nodes[BATCH_MAX], r;

        (void) userdata;
        assert(n <= BATCH_MAX);
        r = hn_caps_raise(&caps, CAP_SYS_PTRACE);
        if (r < 0)
                return r;
        for (size_t i = 0; i < n; i++)
                nodes[i] = (int) node;
        return hn_move_pages(pid, n, addresses, nodes, status, HN_MOVE_PAGES_OWN);
}

static hn_usec_t live_clock(void *userdata) {
        (void) userdata;
        return hn_clock(CLOCK_MONOTONIC);
}

struct hn_pages_ops hn_pages_live(void) {
        return (struct hn_pages_ops){ .query = live_query, .move = live_move, .clock = live_clock };
}

void hn_page_job_init(struct hn_page_job *job, const struct hn_task_key *key, unsigned target,
                      const struct hn_mask *sources, uint64_t limit, struct hn_page_range *ranges,
                      size_t n_ranges) {
        *job = (struct hn_page_job){
                .key = *key,
                .target = target,
                .sources = *sources,
                .limit = limit,
                .page_size = (size_t) sysconf(_SC_PAGESIZE),
                .ranges = ranges,
                .n_ranges = n_ranges,
                .at = n_ranges > 0 ? ranges[0].start : 0,
                .batch = BATCH_MIN,
        };
}

void hn_page_job_deinit(struct hn_page_job *job) {
        free(job->ranges);
        *job = HN_PAGE_JOB_NULL;
}

/* One round: some consecutive pages, what is known of them, and which are to be moved. */
struct round {
        size_t n;
        void *address[BATCH_MAX];
        int status[BATCH_MAX];
        size_t n_wanted;
        void *wanted[BATCH_MAX]; /* ascending */
        int result[BATCH_MAX];
        size_t n_heads;
        void *head[BATCH_MAX]; /* first addresses of what may be a huge page */
};

static uint64_t address_of(void *p) {
        return (uint64_t) (uintptr_t) p;
}

/* Takes the next pages, up to the end of a range, and up to the border of a huge page where there are more.
 * Returns false at the end of all. */
static bool take_pages(struct hn_page_job *job, struct round *x) {
        const struct hn_page_range *range;
        uint64_t end;

        while (job->range < job->n_ranges && job->at >= job->ranges[job->range].end)
                if (++job->range < job->n_ranges)
                        job->at = job->ranges[job->range].start;
        if (job->range >= job->n_ranges)
                return false;

        range = &job->ranges[job->range];
        end = job->at + job->batch * job->page_size;
        if (end > range->end || end < job->at)
                end = range->end;
        else if (end / HUGE_SIZE * HUGE_SIZE > job->at)
                end = end / HUGE_SIZE * HUGE_SIZE;
        for (x->n = 0; job->at < end; job->at += job->page_size)
                x->address[x->n++] = (void *) (uintptr_t) job->at;
        return true;
}

static bool is_wanted(const struct hn_page_job *job, int status) {
        if (status < 0 || (unsigned) status == job->target)
                return false;
        return hn_mask_empty(&job->sources) || hn_mask_has(&job->sources, (unsigned) status);
}

/* The number of pages from `i` on that fill one huge page's place and lie on one node, or 0. */
static size_t huge_at(const struct hn_page_job *job, const struct round *x, size_t i) {
        size_t n = (size_t) (HUGE_SIZE / job->page_size);

        if (address_of(x->address[i]) % HUGE_SIZE != 0 || x->n - i < n || n < 2)
                return 0;
        for (size_t k = 1; k < n; k++)
                if (x->status[i + k] != x->status[i])
                        return 0;
        return n;
}

/* Chooses what to move, at most `allowance` pages. Returns false if that was not enough for all: the job goes
 * on at the first one left out. */
static bool choose(struct hn_page_job *job, struct round *x, uint64_t allowance) {
        x->n_wanted = x->n_heads = 0;
        for (size_t i = 0, n; i < x->n; i += n) {
                size_t huge = is_wanted(job, x->status[i]) ? huge_at(job, x, i) : 0;

                n = huge > 0 ? huge : 1;
                if (is_wanted(job, x->status[i])) {
                        if (x->n_wanted + n > allowance) {
                                job->at = address_of(x->address[i]);
                                x->n = i;
                                return false;
                        }
                        if (huge > 0)
                                x->head[x->n_heads++] = x->address[i];
                        for (size_t k = 0; k < n; k++)
                                x->wanted[x->n_wanted++] = x->address[i + k];
                }
        }
        return true;
}

static void count_looked(struct hn_page_job *job, const struct round *x) {
        job->count.asked += x->n;
        for (size_t i = 0; i < x->n; i++)
                if (x->status[i] < 0)
                        job->count.absent++;
                else {
                        job->count.resident++;
                        job->count.there += (unsigned) x->status[i] == job->target;
                }
}

/* Ends the job by what a whole call answered. */
static void stop(struct hn_page_job *job, int error) {
        job->error = error;
        switch (-error) {
        case ESRCH:
        case ENOENT: job->state = HN_PAGE_JOB_GONE; break;
        case ENOMEM: job->state = HN_PAGE_JOB_FULL; break;
        case EAGAIN:
        case EINTR: break; /* the next step goes on */
        default: job->state = HN_PAGE_JOB_REFUSED; break;
        }
}

static long move(struct hn_page_job *job, const struct hn_pages_ops *ops, size_t n, void *const *addresses,
                 int *status) {
        for (size_t i = 0; i < n; i++)
                status[i] = UNWRITTEN;
        job->count.calls++;
        return ops->move(ops->userdata, job->key.tid, n, addresses, job->target, status);
}

/* Asks where the wanted pages are now, and keeps those that are not on the target. Returns pages arrived or
 * -errno. */
static int drop_arrived(struct hn_page_job *job, const struct hn_pages_ops *ops, struct round *x) {
        size_t left = 0, n = x->n_wanted;
        int r;

        r = ops->query(ops->userdata, job->key.tid, n, x->wanted, x->status);
        if (r < 0)
                return r;
        for (size_t i = 0; i < n; i++)
                if (x->status[i] < 0 || (unsigned) x->status[i] != job->target) {
                        x->wanted[left] = x->wanted[i];
                        x->result[left++] = x->result[i];
                }
        x->n_wanted = left;
        return (int) (n - left);
}

static bool is_busy(int status) {
        return status == UNWRITTEN || hn_page_status_of(status) == HN_PAGE_BUSY;
}

/* Moves what was chosen. Returns pages found on the target afterwards; `*ret_error` is what a call answered
 * as a whole, or 0. */
static uint64_t move_chosen(struct hn_page_job *job, const struct hn_pages_ops *ops, struct round *x,
                            int *ret_error) {
        uint64_t arrived = 0;
        long failed;
        int r;

        *ret_error = 0;
        for (size_t i = 0; i < x->n_wanted; i++)
                x->result[i] = UNWRITTEN;

        /* Huge pages first, by one address each: the other 511 would be told that theirs is busy. */
        if (x->n_heads > 0 && job->small_pages == 0) {
                failed = move(job, ops, x->n_heads, x->head, x->status);
                if (failed < 0)
                        goto ended;
                r = drop_arrived(job, ops, x);
                if (r < 0)
                        goto lost;
                arrived += (uint64_t) r;
                if (r > 0 && (size_t) r <= x->n_heads)
                        job->small_pages = SMALL_ROUNDS + 1;
        }
        if (job->small_pages > 0)
                job->small_pages--;

        /* Then all that is left, and once more what was busy or not come to. */
        for (unsigned attempt = 0; attempt < 2 && x->n_wanted > 0; attempt++) {
                size_t n_again = 0;

                failed = move(job, ops, x->n_wanted, x->wanted, x->result);
                if (failed < 0)
                        goto ended;
                r = drop_arrived(job, ops, x);
                if (r < 0)
                        goto lost;
                arrived += (uint64_t) r;
                for (size_t i = 0; i < x->n_wanted; i++)
                        n_again += is_busy(x->result[i]);
                if (n_again == 0)
                        break;
        }
        return arrived;

ended:
        /* Some may have gone over before the call gave up. */
        *ret_error = (int) failed;
        r = drop_arrived(job, ops, x);
        if (r >= 0)
                return arrived + (uint64_t) r;
lost:
        if (*ret_error == 0)
                *ret_error = r;
        return arrived;
}

/* Counts what stayed behind. Returns whether the target told that it is full. */
static bool count_left(struct hn_page_job *job, const struct round *x) {
        bool full = false;

        for (size_t i = 0; i < x->n_wanted; i++)
                switch (hn_page_status_of(x->result[i])) {
                case HN_PAGE_SHARED: job->count.shared++; break;
                case HN_PAGE_BUSY: job->count.busy++; break;
                case HN_PAGE_ABSENT:
                case HN_PAGE_UNMAPPED: job->count.absent++; break; /* freed meanwhile */
                case HN_PAGE_ON_NODE:
                case HN_PAGE_FAILED:
                case _HN_PAGE_STATUS_MAX:
                        job->count.failed++;
                        full = full || x->result[i] == -ENOMEM;
                        break;
                }
        return full;
}

/* Pages that may be moved now, and the state that the job ends in where it is none for good. */
static uint64_t allowance_of(struct hn_page_job *job, struct hn_page_budget *budget, hn_usec_t now) {
        uint64_t moved = job->count.moved * job->page_size;
        uint64_t left = job->limit > moved ? job->limit - moved : 0;
        uint64_t room = budget->free > budget->floor ? budget->free - budget->floor : 0;

        assert(job->page_size > 0);
        if (left < job->page_size)
                job->state = HN_PAGE_JOB_DONE;
        else if (room < job->page_size)
                job->state = HN_PAGE_JOB_FULL;
        return HN_MIN(HN_MIN(left, room), hn_bucket_level(budget->bucket, now)) / job->page_size;
}

/* Nothing was moved though something was wanted and the allowance was too small for one huge page. */
static void judge_allowance(struct hn_page_job *job, const struct hn_page_budget *budget) {
        uint64_t moved = job->count.moved * job->page_size;

        if (job->limit - moved < HUGE_SIZE)
                job->state = HN_PAGE_JOB_DONE;
        else if (budget->free - budget->floor < HUGE_SIZE)
                job->state = HN_PAGE_JOB_FULL;
}

/* Returns false when the step is over. */
static bool run_round(struct hn_page_job *job, const struct hn_pages_ops *ops, struct hn_page_budget *budget,
                      hn_usec_t now, struct round *x) {
        uint64_t allowance = allowance_of(job, budget, now), arrived;
        bool all;
        int r;

        if (job->state != HN_PAGE_JOB_RUNNING || allowance == 0)
                return false;
        if (!take_pages(job, x)) {
                job->state = HN_PAGE_JOB_DONE;
                return false;
        }
        r = ops->query(ops->userdata, job->key.tid, x->n, x->address, x->status);
        if (r < 0) {
                job->at = address_of(x->address[0]);
                stop(job, r);
                return false;
        }
        all = choose(job, x, allowance);
        count_looked(job, x);
        if (x->n_wanted == 0) {
                if (!all)
                        judge_allowance(job, budget);
                return all;
        }

        job->count.tried += x->n_wanted;
        arrived = move_chosen(job, ops, x, &r);
        job->count.moved += arrived;
        budget->free -= HN_MIN(budget->free, arrived * job->page_size);
        hn_bucket_spend(budget->bucket, arrived * job->page_size);
        if (count_left(job, x))
                r = -ENOMEM;
        if (r < 0)
                stop(job, r);
        job->n_useless = arrived > 0 ? 0 : job->n_useless + 1;
        if (job->state == HN_PAGE_JOB_RUNNING && job->n_useless >= USELESS_MAX)
                job->state = HN_PAGE_JOB_UNMOVABLE;
        return all && r == 0 && job->state == HN_PAGE_JOB_RUNNING;
}

/* Larger rounds where they fit easily into the slice, smaller ones where they do not. */
static void adapt(struct hn_page_job *job, hn_usec_t took, hn_usec_t slice) {
        if (took > slice / 2)
                job->batch = HN_MAX(job->batch / 2, (size_t) BATCH_MIN);
        else if (took < slice / 4)
                job->batch = HN_MIN(job->batch * 2, (size_t) BATCH_MAX);
}

enum hn_page_job_state hn_page_job_step(struct hn_page_job *job, const struct hn_pages_ops *ops,
                                        const struct hn_affinity_ops *identity, struct hn_page_budget *budget,
                                        hn_usec_t now) {
        _hn_cleanup_(hn_freep) struct round *x = NULL;
        hn_usec_t begin = ops->clock(ops->userdata), before = begin;
        bool more = true;

        assert(job->page_size > 0);
        if (job->state != HN_PAGE_JOB_RUNNING)
                return job->state;
        x = malloc(sizeof(*x));
        if (!x)
                return job->state; /* the next step may find memory */

        while (more) {
                hn_usec_t after;
                int r = hn_affinity_verify(identity, &job->key);

                if (r != 0) {
                        stop(job, r == HN_APPLY_GONE ? -ESRCH : r);
                        break;
                }
                more = run_round(job, ops, budget, hn_usec_add(now, before - begin), x);
                after = ops->clock(ops->userdata);
                adapt(job, after - before, budget->slice);
                before = after;
                more = more && before - begin < budget->slice;
        }
        return job->state;
}
