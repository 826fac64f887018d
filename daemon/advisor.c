/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>

#include "base/macro.h"
#include "daemon/advisor.h"
#include "daemon/manager.h"
#include "sample/clock.h"

void hn_advisor_end_round(struct hn_advisor *a) {
        if (a->answers > 0)
                hn_advice_round_end(&a->round);
        a->answers = 0;
}

static int on_idle(sd_event_source *s, void *userdata) {
        (void) s;
        hn_advisor_end_round(userdata);
        return 0;
}

int hn_advisor_start(struct hn_manager *m) {
        int r;

        /* Behind the bus: as long as there are calls, it is not its turn. */
        r = sd_event_add_defer(m->event, &m->advisor.idle, on_idle, &m->advisor);
        if (r >= 0)
                r = sd_event_source_set_enabled(m->advisor.idle, SD_EVENT_OFF);
        return r < 0 ? r : sd_event_source_set_priority(m->advisor.idle, SD_EVENT_PRIORITY_NORMAL + 20);
}

void hn_advisor_deinit(struct hn_advisor *a) {
        hn_advisor_end_round(a);
        a->idle = sd_event_source_disable_unref(a->idle);
        hn_account_deinit(&a->account);
        hn_machine_busy_deinit(&a->busy);
        free(a->loads);
        *a = (struct hn_advisor){ .looked = 0 };
}

void hn_advisor_answer_deinit(struct hn_advisor_answer *a) {
        free(a->nodes);
        free(a->views);
        *a = (struct hn_advisor_answer){ .nodes = NULL };
}

static int look(struct hn_manager *m, hn_usec_t now) {
        struct hn_advisor *a = &m->advisor;
        int r;

        if (a->looked != 0 && a->n_nodes == m->topo.n_nodes && now < hn_usec_add(a->looked, HN_ADVISOR_LOOK))
                return 0;
        if (a->n_nodes != m->topo.n_nodes) {
                free(a->loads);
                a->loads = calloc(m->topo.n_nodes, sizeof(*a->loads));
                a->n_nodes = a->loads ? m->topo.n_nodes : 0;
        }
        if (!a->loads)
                return -ENOMEM;
        r = hn_machine_read_memory(&m->root, &m->topo, a->loads);
        if (r >= 0)
                r = hn_machine_read_busy(&m->root, &m->topo, &a->busy, a->loads);
        if (r < 0)
                return r;
        a->busy_known = r == 0;
        a->looked = now;
        return 0;
}

/* By the last tick. Returns false where there is none that would do. */
static bool take_tick(const struct hn_manager *m, hn_usec_t now, struct hn_advisor_answer *ret) {
        const struct hn_snapshot *s = &m->snapshot;

        ret->paper.age = hn_usec_sub(now, m->last_tick);
        if (!m->numa || m->state.n_load != m->topo.n_nodes || s->n_nodes != m->topo.n_nodes || !s->nodes ||
            ret->paper.age > HN_ADVISOR_FRESH)
                return false;
        for (size_t i = 0; i < m->topo.n_nodes; i++) {
                const struct hn_state_node *load = &m->state.load[i];

                ret->nodes[i] = (struct hn_advise_node){
                        .allowed = true,
                        .busy = load->busy,
                        .claimed = (uint64_t) load->others + load->opted_in,
                        .free = s->nodes[i].free,
                        .reclaimable = s->nodes[i].reclaimable,
                };
        }
        ret->paper.source = HN_LOAD_DAEMON;
        return true;
}

static int take_figures(struct hn_manager *m, struct hn_advisor_answer *ret) {
        hn_usec_t now = hn_clock(CLOCK_MONOTONIC);
        const struct hn_advisor *a = &m->advisor;
        int r;

        if (take_tick(m, now, ret))
                return 0;
        r = look(m, now);
        if (r < 0)
                return r;
        for (size_t i = 0; i < m->topo.n_nodes; i++)
                ret->nodes[i] = (struct hn_advise_node){
                        .allowed = true,
                        .busy = a->loads[i].busy,
                        .free = a->loads[i].free,
                        .reclaimable = a->loads[i].reclaimable,
                };
        ret->paper.source = a->busy_known ? HN_LOAD_DAEMON : HN_LOAD_UNKNOWN;
        ret->paper.age = a->busy_known ? hn_usec_sub(now, a->looked) : 0;
        return 0;
}

static struct hn_wish all_of(const struct hn_topology *topo) {
        struct hn_wish all = HN_WISH_NULL;

        for (size_t i = 0; i < topo->n_nodes; i++) {
                all.cpus += UINT64_C(1000) * hn_mask_count(&topo->nodes[i].cpus);
                if (__builtin_add_overflow(all.memory, topo->nodes[i].memory, &all.memory))
                        all.memory = UINT64_MAX;
        }
        return all;
}

/* On the caller's account. Without memory for it his next answer may count too little, and that is all. */
static void remember(struct hn_manager *m, uid_t uid, bool shared, const struct hn_advisor_answer *a) {
        const struct hn_mask *chosen = &a->paper.advice.nodes;

        for (unsigned i = hn_mask_next(chosen, 0); i != HN_MASK_NONE; i = hn_mask_next(chosen, i + 1)) {
                const struct hn_reservation what = {
                        .made = a->request.now,
                        .id = m->topo.nodes[i].id,
                        .cpus = a->views[i].share_cpus,
                        .memory = a->views[i].share_memory,
                        .used = a->views[i].used,
                        .available = a->views[i].available,
                };

                (void) hn_account_add(&m->advisor.account, uid, shared, &what);
        }
}

/* Without waiting for the lock: then this answer is a round, so that the next one may have it. */
static int answer_in_round(struct hn_manager *m, struct hn_advisor_answer *a) {
        const char *const places[HN_ADVICE_PLACES] = { m->options.run_dir, NULL };
        struct hn_advisor *advisor = &m->advisor;
        int r;

        if (advisor->answers == 0)
                hn_advice_round_begin(places, a->request.now, /* wait= */ 0, &advisor->round);
        advisor->answers++;
        r = hn_advice_round_answer(&advisor->round, &m->topo, a->nodes, &a->request, a->views,
                                   &a->paper.advice, &a->paper.kept);
        if (!advisor->idle || advisor->round.kept != HN_ADVICE_KEPT || advisor->answers >= HN_ADVISOR_ROUND ||
            sd_event_source_set_enabled(advisor->idle, SD_EVENT_ONESHOT) < 0)
                hn_advisor_end_round(advisor);
        return r;
}

static int answer(struct hn_manager *m, const struct hn_advisor_question *q, struct hn_advisor_answer *a) {
        struct hn_account *account = &m->advisor.account;
        const struct hn_wish all = all_of(&m->topo);
        struct hn_reservations own = HN_RESERVATIONS_NULL;
        bool share;
        int r;

        a->nodes = calloc(m->topo.n_nodes, sizeof(*a->nodes));
        a->views = calloc(m->topo.n_nodes, sizeof(*a->views));
        r = a->nodes && a->views ? take_figures(m, a) : -ENOMEM;
        if (r < 0)
                return r;
        for (size_t i = 0; q->only && i < m->topo.n_nodes; i++)
                a->nodes[i].allowed = hn_mask_has(q->only, m->topo.nodes[i].id);
        a->request = (struct hn_advice_request){
                .wish = q->wish,
                .near = q->near,
                .now = hn_clock(CLOCK_BOOTTIME),
        };
        hn_account_expire(account, a->request.now);
        share = q->reserve && hn_account_may_share(account, q->uid, &q->wish, &all);
        a->request.reserve = share;
        r = hn_account_private(account, q->uid, &own);
        if (r < 0)
                return r;
        a->request.more = &own;
        r = answer_in_round(m, a);
        a->request.more = NULL;
        hn_reservations_deinit(&own);
        if (r < 0 || !q->reserve)
                return r;
        /* Where it cannot be written down for all, it counts for him. */
        if (share)
                share = a->paper.kept == HN_ADVICE_KEPT || a->paper.kept == HN_ADVICE_BUSY;
        else
                a->paper.kept = HN_ADVICE_OWN;
        remember(m, q->uid, share, a);
        return 0;
}

int hn_advisor_ask(struct hn_manager *m, const struct hn_advisor_question *q, struct hn_advisor_answer *ret) {
        int r;

        *ret = (struct hn_advisor_answer){ .paper = { .topology = &m->topo, .request = &ret->request } };
        r = answer(m, q, ret);
        if (r < 0) {
                hn_advisor_answer_deinit(ret);
                return r;
        }
        ret->paper.nodes = ret->nodes;
        ret->paper.views = ret->views;
        return 0;
}
