/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>
#include <systemd/sd-event.h>

#include "daemon/advicejson.h"
#include "policy/account.h"
#include "sample/machineload.h"

struct hn_manager;

/* `homenode advise` within the daemon: the same answer, by what the last tick saw, and counting the same
 * reservations. */

/* A tick that is older is not gone by: the daemon then looks for itself, no more often than that. */
#define HN_ADVISOR_FRESH (3 * HN_USEC_PER_SEC)
#define HN_ADVISOR_LOOK  HN_USEC_PER_SEC

/* Callers that come one upon the other are answered in one round, so that the reservations are read once. It
 * ends when nobody is waiting any more, before a tick, and after so many, as its lock keeps others out. */
#define HN_ADVISOR_ROUND 64u

struct hn_advisor {
        struct hn_account account;
        struct hn_advice_round round;
        unsigned answers;      /* of this round; 0: there is none */
        sd_event_source *idle; /* ends it; NULL without an event loop: each answer is a round */
        /* a look of its own, where there are no ticks or too few */
        hn_usec_t looked; /* 0: never */
        size_t n_nodes;
        struct hn_node_load *loads;
        struct hn_machine_busy busy;
        bool busy_known;
};

/* Begins to serve, on the manager's event loop. Returns 0 or -errno. */
int hn_advisor_start(struct hn_manager *m);
void hn_advisor_deinit(struct hn_advisor *a); /* forgives a struct of zeroes */

void hn_advisor_end_round(struct hn_advisor *a);

/* What is asked. */
struct hn_advisor_question {
        uid_t uid;
        struct hn_wish wish;
        hn_node_index near;
        const struct hn_mask *only; /* kernel's numbers of the nodes that may be chosen; NULL: all */
        bool reserve;
};

/* An answer; its paper points into it and into the manager. */
struct hn_advisor_answer {
        struct hn_advice_request request;
        struct hn_advise_node *nodes;
        struct hn_advise_view *views;
        struct hn_advice_paper paper;
};

void hn_advisor_answer_deinit(struct hn_advisor_answer *a);

/* Answers, and keeps what is to be kept. Waits for nobody: who has the lock of the reservations just then is
 * not counted yet. Returns 0, -ENOMEM, or -ENODEV if none of the nodes has CPUs; the caller deinits `ret`,
 * which must stay where it is. */
int hn_advisor_ask(struct hn_manager *m, const struct hn_advisor_question *q, struct hn_advisor_answer *ret);
