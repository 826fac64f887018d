/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "act/advice.h"
#include "act/reservefile.h"
#include "base/macro.h"
#include "policy/reservation.h"

/* Lines that are over may pile up to these before they are swept out. */
#define DEAD_LINES_MAX 64

static const struct {
        const char *name, *sentence;
} kepts[_HN_ADVICE_KEPT_MAX] = {
        [HN_ADVICE_NOT_ASKED] = { "not-asked", "no reservation was asked for" },
        [HN_ADVICE_KEPT] = { "kept", "the next ones to ask will count it as taken for a minute" },
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

#define PLACES HN_ELEMENTS(((struct hn_advice_request *) NULL)->places)

/* A file, and what is in it. */
struct place {
        struct hn_reservefile file;
        bool sweep; /* it should be written anew */
        bool torn; /* its last line has no end: of somebody who died, or found the disk full, while writing it
                    */
};

static void place_deinit(struct place *p) {
        hn_reservefile_close(&p->file);
}

/* Reads what is reserved there. Returns -errno for a file that cannot be read. */
static int read_file(struct place *p, hn_usec_t now, struct hn_reservations *rs) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        ssize_t n;
        long lines;

        n = hn_reservefile_read(&p->file, &text);
        if (n < 0)
                return (int) n;
        lines = hn_reservations_read(rs, text, (size_t) n, now);
        if (lines < 0)
                return (int) lines;
        p->torn = n > 0 && text[n - 1] != '\n';
        p->sweep = p->torn || n == HN_RESERVEFILE_MAX || (size_t) lines > 2 * rs->n + DEAD_LINES_MAX;
        return 0;
}

/* Reads the places up to the one that can be written to, which stays open and is the last of those read. */
static enum hn_advice_kept open_places(const struct hn_advice_request *rq, struct place *p,
                                       struct hn_reservations *lists, size_t *ret_n) {
        enum hn_advice_kept kept = HN_ADVICE_NO_PLACE;

        *ret_n = 0;
        for (size_t i = 0; i < PLACES; i++) {
                int r = rq->places[i] ? hn_reservefile_open(rq->places[i], rq->wait, &p->file) : -ENOENT;

                if (r < 0)
                        continue;
                if (read_file(p, rq->now, &lists[(*ret_n)++]) < 0)
                        kept = HN_ADVICE_FAILED;
                else if (r != HN_RESERVEFILE_READONLY)
                        return r == HN_RESERVEFILE_BUSY ? HN_ADVICE_BUSY : HN_ADVICE_KEPT;
                hn_reservefile_close(&p->file);
        }
        return kept;
}

/* A line for each chosen node; behind those that live on, where too many of the rest have piled up. */
static int leave(const struct place *p, const struct hn_reservations *rs, const struct hn_topology *topo,
                 const struct hn_mask *chosen, const struct hn_advise_view *views, hn_usec_t now) {
        bool sweep = p->sweep && p->file.lock >= 0;
        size_t n = 0, n_old = sweep ? rs->n : 0;
        _hn_cleanup_(hn_freep) char *text = NULL;

        text = malloc((n_old + hn_mask_count(chosen)) * HN_RESERVATION_LINE_MAX + 2);
        if (!text)
                return -ENOMEM;
        if (p->torn && !sweep)
                text[n++] = '\n';
        for (size_t i = 0; i < n_old; i++)
                n += hn_reservation_print(&rs->list[i], text + n, HN_RESERVATION_LINE_MAX);
        for (unsigned i = hn_mask_next(chosen, 0); i != HN_MASK_NONE; i = hn_mask_next(chosen, i + 1)) {
                const struct hn_reservation r = {
                        .made = now,
                        .id = topo->nodes[i].id,
                        .cpus = views[i].share_cpus,
                        .memory = views[i].share_memory,
                        .used = views[i].used,
                        .available = views[i].available,
                };

                n += hn_reservation_print(&r, text + n, HN_RESERVATION_LINE_MAX);
        }
        return sweep ? hn_reservefile_replace(&p->file, text, n) : hn_reservefile_append(&p->file, text, n);
}

int hn_advice_give(const struct hn_topology *topo, struct hn_advise_node *nodes,
                   const struct hn_advice_request *rq, struct hn_advise_view *views, struct hn_advice *ret,
                   enum hn_advice_kept *ret_kept) {
        _hn_cleanup_(place_deinit) struct place place = { .file = HN_RESERVEFILE_NULL };
        struct hn_reservations lists[PLACES] = {};
        enum hn_advice_kept kept;
        size_t n;
        int r;

        kept = open_places(rq, &place, lists, &n);
        hn_reservations_apply(lists, n, topo, nodes);
        r = hn_advise(topo, nodes, &rq->wish, rq->near, views, ret);
        if (!rq->reserve)
                kept = HN_ADVICE_NOT_ASKED;
        else if (r == 0 && (kept == HN_ADVICE_KEPT || kept == HN_ADVICE_BUSY) &&
                 leave(&place, &lists[n - 1], topo, &ret->nodes, views, rq->now) < 0)
                kept = HN_ADVICE_FAILED;
        for (size_t i = 0; i < n; i++)
                hn_reservations_deinit(&lists[i]);
        *ret_kept = kept;
        return r;
}
