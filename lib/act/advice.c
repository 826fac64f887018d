/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "act/advice.h"
#include "base/macro.h"

/* Lines that are over may pile up to these before they are swept out. */
#define DEAD_LINES_MAX 64

static const struct {
        const char *name, *sentence;
} kepts[_HN_ADVICE_KEPT_MAX] = {
        [HN_ADVICE_NOT_ASKED] = { "not-asked", "no reservation was asked for" },
        [HN_ADVICE_KEPT] = { "kept", "the next ones to ask will count it as taken for a minute" },
        [HN_ADVICE_OWN] = { "own",
                            "only those of the same user who ask next will count it: of the machine no user but root "
                            "reserves more than half" },
        [HN_ADVICE_BUSY] = { "busy",
                             "the next ones to ask will count it, but who asked just before may not be counted: the lock was busy" },
        [HN_ADVICE_NO_PLACE] = { "no-place",
                                 "no reservation was left: there is no folder for it that may be written to" },
        [HN_ADVICE_FAILED] = { "failed", "no reservation was left: it could not be written" },
};

const char *hn_advice_kept_to_string(enum hn_advice_kept k) {
        return (size_t) k < HN_ELEMENTS(kepts) ? kepts[k].name : NULL;
}

const char *hn_advice_kept_to_sentence(enum hn_advice_kept k) {
        return (size_t) k < HN_ELEMENTS(kepts) ? kepts[k].sentence : NULL;
}

void hn_advice_round_end(struct hn_advice_round *r) {
        for (size_t i = 0; i < r->n; i++)
                hn_reservations_deinit(&r->lists[i]);
        hn_reservefile_close(&r->file);
        *r = HN_ADVICE_ROUND_NULL;
}

/* Reads what is reserved there. Returns -errno for a file that cannot be read. */
static int read_file(struct hn_advice_round *r, hn_usec_t now, struct hn_reservations *rs) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        ssize_t n;
        long lines;

        n = hn_reservefile_read(&r->file, &text);
        if (n < 0)
                return (int) n;
        lines = hn_reservations_read(rs, text, (size_t) n, now);
        if (lines < 0)
                return (int) lines;
        r->torn = n > 0 && text[n - 1] != '\n';
        r->sweep = r->torn || n == HN_RESERVEFILE_MAX || (size_t) lines > 2 * rs->n + DEAD_LINES_MAX;
        return 0;
}

/* Reads the places up to the one that can be written to, which stays open and is the last of those read. */
void hn_advice_round_begin(const char *const *places, hn_usec_t now, hn_usec_t wait,
                           struct hn_advice_round *ret) {
        *ret = HN_ADVICE_ROUND_NULL;
        ret->kept = HN_ADVICE_NO_PLACE;
        for (size_t i = 0; i < HN_ADVICE_PLACES; i++) {
                int r = places[i] ? hn_reservefile_open(places[i], wait, &ret->file) : -ENOENT;

                if (r < 0)
                        continue;
                if (read_file(ret, now, &ret->lists[ret->n++]) < 0)
                        ret->kept = HN_ADVICE_FAILED;
                else if (r != HN_RESERVEFILE_READONLY) {
                        ret->kept = r == HN_RESERVEFILE_BUSY ? HN_ADVICE_BUSY : HN_ADVICE_KEPT;
                        return;
                }
                hn_reservefile_close(&ret->file);
        }
}

/* A line for each chosen node; behind those that live on, where too many of the rest have piled up. */
static int leave(struct hn_advice_round *round, const struct hn_topology *topo, const struct hn_mask *chosen,
                 const struct hn_advise_view *views, hn_usec_t now) {
        struct hn_reservations *rs = &round->lists[round->n - 1];
        bool sweep = round->sweep && round->file.lock >= 0;
        size_t n = 0, n_old = sweep ? rs->n : 0;
        _hn_cleanup_(hn_freep) char *text = NULL;
        int r = 0;

        text = malloc((n_old + hn_mask_count(chosen)) * HN_RESERVATION_LINE_MAX + 2);
        if (!text)
                return -ENOMEM;
        if (round->torn && !sweep)
                text[n++] = '\n';
        for (size_t i = 0; i < n_old; i++)
                n += hn_reservation_print(&rs->list[i], text + n, HN_RESERVATION_LINE_MAX);
        for (unsigned i = hn_mask_next(chosen, 0); r == 0 && i != HN_MASK_NONE;
             i = hn_mask_next(chosen, i + 1)) {
                const struct hn_reservation what = {
                        .made = now,
                        .id = topo->nodes[i].id,
                        .cpus = views[i].share_cpus,
                        .memory = views[i].share_memory,
                        .used = views[i].used,
                        .available = views[i].available,
                };

                n += hn_reservation_print(&what, text + n, HN_RESERVATION_LINE_MAX);
                r = hn_reservations_add(rs, &what);
        }
        if (r < 0)
                return r;
        r = sweep ? hn_reservefile_replace(&round->file, text, n)
                  : hn_reservefile_append(&round->file, text, n);
        round->sweep = round->torn = false;
        return r;
}

int hn_advice_round_answer(struct hn_advice_round *round, const struct hn_topology *topo,
                           struct hn_advise_node *nodes, const struct hn_advice_request *rq,
                           struct hn_advise_view *views, struct hn_advice *ret,
                           enum hn_advice_kept *ret_kept) {
        struct hn_reservations lists[HN_ADVICE_PLACES + 1];
        enum hn_advice_kept kept = round->kept;
        size_t n = 0;
        int r;

        for (; n < round->n; n++)
                lists[n] = round->lists[n];
        if (rq->more)
                lists[n++] = *rq->more;
        hn_reservations_apply(lists, n, topo, nodes);
        r = hn_advise(topo, nodes, &rq->wish, rq->near, views, ret);
        if (!rq->reserve)
                kept = HN_ADVICE_NOT_ASKED;
        else if (r == 0 && (kept == HN_ADVICE_KEPT || kept == HN_ADVICE_BUSY) &&
                 leave(round, topo, &ret->nodes, views, rq->now) < 0)
                kept = HN_ADVICE_FAILED;
        *ret_kept = kept;
        return r;
}

int hn_advice_give(const struct hn_topology *topo, struct hn_advise_node *nodes,
                   const struct hn_advice_request *rq, struct hn_advise_view *views, struct hn_advice *ret,
                   enum hn_advice_kept *ret_kept) {
        _hn_cleanup_(hn_advice_round_end) struct hn_advice_round round = HN_ADVICE_ROUND_NULL;

        hn_advice_round_begin(rq->places, rq->now, rq->wait, &round);
        return hn_advice_round_answer(&round, topo, nodes, rq, views, ret, ret_kept);
}
