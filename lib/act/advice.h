/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "act/reservefile.h"
#include "base/usec.h"
#include "policy/advise.h"
#include "policy/reservation.h"

/* An answer that counts those given a moment ago, and is counted by those that follow. */

/* What became of the reservation. */
enum hn_advice_kept {
        HN_ADVICE_NOT_ASKED, /* nobody wants one */
        HN_ADVICE_KEPT,
        HN_ADVICE_OWN,  /* kept for whoever asked alone, who has his part of the machine by now: account.h */
        HN_ADVICE_BUSY, /* kept, but the lock was held for too long: who was at it just then is not counted */
        HN_ADVICE_NO_PLACE, /* there is no folder for it that the caller may write to */
        HN_ADVICE_FAILED,   /* it could not be written */
        _HN_ADVICE_KEPT_MAX,
};

const char *hn_advice_kept_to_string(enum hn_advice_kept k); /* "kept" */
const char *hn_advice_kept_to_sentence(enum hn_advice_kept k);

/* How long an answer waits for others that write theirs. */
#define HN_ADVICE_WAIT (100 * HN_USEC_PER_MSEC)

#define HN_ADVICE_PLACES 2

struct hn_advice_request {
        struct hn_wish wish;
        hn_node_index near;
        const char
                *places[HN_ADVICE_PLACES]; /* folders for reservations, the shared one first; NULL for none */
        const struct hn_reservations *more; /* count too, beside those in the places; NULL for none */
        bool reserve;                       /* leave one; else only those of others are read */
        hn_usec_t now;                      /* CLOCK_BOOTTIME, which no one sets */
        hn_usec_t wait;
};

/* Fills the reserved parts of `nodes`, answers as hn_advise() does, and leaves a reservation in the first
 * place where it can. Trouble with reservations never keeps it from answering. */
int hn_advice_give(const struct hn_topology *topo, struct hn_advise_node *nodes,
                   const struct hn_advice_request *rq, struct hn_advise_view *views, struct hn_advice *ret,
                   enum hn_advice_kept *ret_kept);

/* The same for several who ask at the same time: the reservations are read once, and their lock is held until
 * the end, which must come soon, as others wait for it. Each answer counts those before it. */
struct hn_advice_round {
        struct hn_reservefile file;
        struct hn_reservations lists[HN_ADVICE_PLACES]; /* the last one is that of `file`, if it is open */
        size_t n;
        enum hn_advice_kept kept; /* what becomes of a reservation, if all goes well */
        bool sweep;               /* the file should be written anew */
        bool torn; /* its last line has no end: of somebody who died, or found the disk full, while writing it
                    */
};

#define HN_ADVICE_ROUND_NULL ((struct hn_advice_round){ .file = HN_RESERVEFILE_NULL })

void hn_advice_round_begin(const char *const *places, hn_usec_t now, hn_usec_t wait,
                           struct hn_advice_round *ret);
void hn_advice_round_end(struct hn_advice_round *r); /* forgives an empty one */

/* As hn_advice_give(), without `places` and `wait` of the request. */
int hn_advice_round_answer(struct hn_advice_round *round, const struct hn_topology *topo,
                           struct hn_advise_node *nodes, const struct hn_advice_request *rq,
                           struct hn_advise_view *views, struct hn_advice *ret,
                           enum hn_advice_kept *ret_kept);
