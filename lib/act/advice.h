/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "base/usec.h"
#include "policy/advise.h"

/* An answer that counts those given a moment ago, and is counted by those that follow. */

/* What became of the reservation. */
enum hn_advice_kept {
        HN_ADVICE_NOT_ASKED, /* nobody wants one */
        HN_ADVICE_KEPT,
        HN_ADVICE_BUSY, /* kept, but the lock was held for too long: who was at it just then is not counted */
        HN_ADVICE_NO_PLACE, /* there is no folder for it that the caller may write to */
        HN_ADVICE_FAILED,   /* it could not be written */
        _HN_ADVICE_KEPT_MAX,
};

const char *hn_advice_kept_to_string(enum hn_advice_kept k); /* "kept" */
const char *hn_advice_kept_to_sentence(enum hn_advice_kept k);

/* How long an answer waits for others that write theirs. */
#define HN_ADVICE_WAIT (100 * HN_USEC_PER_MSEC)

struct hn_advice_request {
        struct hn_wish wish;
        hn_node_index near;
        const char *places[2]; /* folders for reservations, the shared one first; NULL for none */
        bool reserve;          /* leave one; else only those of others are read */
        hn_usec_t now;         /* CLOCK_BOOTTIME, which no one sets */
        hn_usec_t wait;
};

/* Fills the reserved parts of `nodes`, answers as hn_advise() does, and leaves a reservation in the first
 * place where it can. Trouble with reservations never keeps it from answering. */
int hn_advice_give(const struct hn_topology *topo, struct hn_advise_node *nodes,
                   const struct hn_advice_request *rq, struct hn_advise_view *views, struct hn_advice *ret,
                   enum hn_advice_kept *ret_kept);
