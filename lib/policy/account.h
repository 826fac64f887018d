/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/reservation.h"
#include "policy/wish.h"

/* Who has reserved what of late, so that no user but root can take the machine from all others by asking:
 * beyond his part, what is advised to him is counted when he asks again, and by nobody else. */

/* Reservations of one user that others count: no more than this part of all CPUs and of all memory, and so
 * many. */
#define HN_ACCOUNT_PART    2u /* a half */
#define HN_ACCOUNT_SHARED  128u
#define HN_ACCOUNT_PRIVATE 128u  /* those that he alone counts; the oldest leaves */
#define HN_ACCOUNT_MAX     4096u /* of all users; with so many none is shared, and no other is remembered */

struct hn_account_entry {
        uid_t uid;
        bool shared;
        struct hn_reservation what;
};

struct hn_account {
        size_t n, allocated;
        struct hn_account_entry *list; /* in the order they were made in */
};

#define HN_ACCOUNT_NULL ((struct hn_account){})

void hn_account_deinit(struct hn_account *a);

/* Forgets what is over at `now`. */
void hn_account_expire(struct hn_account *a, hn_usec_t now);

/* Whether others are to count what the user wishes for now, of a machine that has `all`. */
bool hn_account_may_share(const struct hn_account *a, uid_t uid, const struct hn_wish *wish,
                          const struct hn_wish *all);

/* Remembers a reservation; root's need not be. Returns 0 or -ENOMEM. */
int hn_account_add(struct hn_account *a, uid_t uid, bool shared, const struct hn_reservation *what);

/* Those that the user alone counts. Returns 0 or -ENOMEM; the caller deinits `*ret`. */
int hn_account_private(const struct hn_account *a, uid_t uid, struct hn_reservations *ret);
