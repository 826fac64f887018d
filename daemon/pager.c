/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "act/actuator.h"
#include "act/ranges.h"
#include "base/macro.h"
#include "daemon/manager.h"
#include "daemon/pager.h"
#include "sample/clock.h"
#include "sample/machineload.h"

/* A slice is followed by a rest of four slices, so that the target's own page faults get their turn at the
 * locks. */
#define REST_PER_SLICE 4

void hn_pager_stop(struct hn_pager *p) {
        if (p->active)
                hn_page_job_deinit(&p->job);
        p->active = false;
}

/* Nodes that pages are taken from; empty: all but the target. */
static struct hn_mask sources_of(const struct hn_topology *topo, const struct hn_decision *d) {
        struct hn_mask sources = HN_MASK_NULL;

        for (hn_node_index i = 0; i < topo->n_nodes; i++)
                if (d->hand ? !hn_mask_has(&d->hand->nodes, topo->nodes[i].id) : i == d->source)
                        (void) hn_mask_add(&sources, topo->nodes[i].id);
        return sources;
}

/* An order to bring the pages is carried out once, where there is room for them. */
static void tell_model(const struct hn_pager *p, struct hn_manager *m) {
        for (size_t i = 0; p->hand != 0 && i < m->snapshot.n_tasks; i++)
                if (m->snapshot.tasks[i].key.tid == p->job.key.tid &&
                    m->snapshot.tasks[i].key.start == p->job.key.start && p->job.state != HN_PAGE_JOB_FULL)
                        hn_model_note_brought(m->model, i, p->hand);
}

bool hn_pager_start(struct hn_pager *p, struct hn_manager *m, const struct hn_decision *d) {
        const struct hn_task_sample *t = &m->snapshot.tasks[d->task];
        struct hn_page_range *ranges = NULL;
        struct hn_mask sources = sources_of(&m->topo, d);
        struct hn_task_key leader;
        size_t n_ranges;
        hn_usec_t now = hn_clock(CLOCK_MONOTONIC);
        int r;

        if (p->active)
                return false;
        r = hn_page_ranges_read(m->world.proc_fd, t->tgid, &ranges, &n_ranges);
        if (r < 0) {
                if (!hn_is_gone(r))
                        hn_log_event_once(
                                &m->log, "page ranges", r, HN_EVENT_DENIED, LOG_WARNING, NULL,
                                "Cannot read the memory map of process %d: %s; pages are moved with "
                                "CAP_SYS_PTRACE only",
                                t->tgid, strerror(-r));
                return false;
        }
        /* The job is the whole process's, whichever thread of it gave the occasion. */
        leader = t->key;
        if (p->bucket.rate != m->config.page_rate)
                p->bucket = hn_bucket_make(m->config.page_rate, now);
        hn_page_job_init(&p->job, &leader, m->topo.nodes[d->to].id, &sources, UINT64_MAX, ranges, n_ranges);
        p->active = true;
        p->target = d->to;
        p->hand = d->hand ? d->hand->id : 0;
        p->counted = 0;
        memcpy(p->comm, t->comm, sizeof(p->comm));
        (void) sd_event_source_set_time_relative(m->page_timer, 0);
        (void) sd_event_source_set_enabled(m->page_timer, SD_EVENT_ONESHOT);
        return true;
}

/* What the node can take, as of now: other work allocates too while we move. */
static uint64_t free_on(struct hn_manager *m, hn_node_index node) {
        _hn_cleanup_(hn_freep) struct hn_node_load *nodes = calloc(m->topo.n_nodes, sizeof(*nodes));

        if (!nodes || hn_machine_read_memory(&m->root, &m->topo, nodes) < 0)
                return 0;
        return nodes[node].free + nodes[node].reclaimable;
}

hn_usec_t hn_pager_step(struct hn_pager *p, struct hn_manager *m, hn_usec_t now) {
        struct hn_actuator actuator = hn_actuator_make(&m->world, m->ledger, /* dry_run= */ false);
        struct hn_page_budget budget;
        const struct hn_order order = { .kind = HN_ORDER_PAGES,
                                        .pages = { .job = &p->job, .budget = &budget, .now = now } };
        struct hn_log_facts facts = HN_LOG_FACTS_NULL;
        enum hn_page_job_state state;

        if (!p->active)
                return HN_USEC_INFINITY;
        budget = (struct hn_page_budget){
                .bucket = &p->bucket,
                .slice = m->config.page_slice,
                .free = free_on(m, p->target),
                .floor = m->topo.nodes[p->target].memory / HN_FLOOR_DIVISOR,
        };
        (void) hn_actuator_apply(&actuator, &order); /* the job knows more */
        state = p->job.state;
        m->state.pages_moved += p->job.count.moved - p->counted;
        p->counted = p->job.count.moved;
        if (state == HN_PAGE_JOB_RUNNING)
                return REST_PER_SLICE * m->config.page_slice;

        facts.tid = p->job.key.tid;
        facts.comm = p->comm;
        facts.to = (int) p->job.target;
        facts.reason = hn_page_job_state_to_string(state);
        hn_log_event(&m->log, HN_EVENT_PAGES_MOVED, LOG_NOTICE, &facts,
                     "%s (%d): %" PRIu64 " pages moved to node %u, %" PRIu64 " were there, %" PRIu64
                     " could not be moved: %s",
                     p->comm, p->job.key.tid, p->job.count.moved, p->job.target, p->job.count.there,
                     p->job.count.shared + p->job.count.busy + p->job.count.failed,
                     hn_page_job_state_to_string(state));
        tell_model(p, m);
        hn_pager_stop(p);
        return HN_USEC_INFINITY;
}
