/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "policy/account.h"

void hn_account_deinit(struct hn_account *a) {
        free(a->list);
        *a = HN_ACCOUNT_NULL;
}

void hn_account_expire(struct hn_account *a, hn_usec_t now) {
        size_t n = 0;

        for (size_t i = 0; i < a->n; i++)
                if (hn_usec_sub(now, a->list[i].what.made) < HN_RESERVATION_LIFE)
                        a->list[n++] = a->list[i];
        a->n = n;
}

static uint64_t sum(uint64_t a, uint64_t b) {
        return a + HN_MIN(b, UINT64_MAX - a);
}

bool hn_account_may_share(const struct hn_account *a, uid_t uid, const struct hn_wish *wish,
                          const struct hn_wish *all) {
        uint64_t cpus = wish->cpus, memory = wish->memory;
        size_t n = 0;

        if (uid == 0)
                return true;
        for (size_t i = 0; i < a->n; i++) {
                const struct hn_account_entry *e = &a->list[i];

                if (e->uid != uid || !e->shared)
                        continue;
                cpus = sum(cpus, e->what.cpus);
                memory = sum(memory, e->what.memory);
                n++;
        }
        return n < HN_ACCOUNT_SHARED && a->n < HN_ACCOUNT_MAX && cpus <= all->cpus / HN_ACCOUNT_PART &&
               memory <= all->memory / HN_ACCOUNT_PART;
}

static void forget(struct hn_account *a, size_t i) {
        a->n--;
        memmove(a->list + i, a->list + i + 1, (a->n - i) * sizeof(*a->list));
}

/* What is shared stays: whoever made it be forgotten could share as much again. */
static void make_room_of_user(struct hn_account *a, uid_t uid) {
        size_t n = 0, oldest = SIZE_MAX;

        for (size_t i = 0; i < a->n; i++)
                if (a->list[i].uid == uid && !a->list[i].shared) {
                        oldest = HN_MIN(oldest, i);
                        n++;
                }
        if (n >= HN_ACCOUNT_PRIVATE)
                forget(a, oldest);
}

int hn_account_add(struct hn_account *a, uid_t uid, bool shared, const struct hn_reservation *what) {
        if (uid == 0)
                return 0;
        if (!shared)
                make_room_of_user(a, uid);
        /* What is shared by now has to be counted: an advice has a few lines, and is let in whole. */
        if (!shared && a->n >= HN_ACCOUNT_MAX)
                return 0;
        if (a->n == a->allocated) {
                size_t allocated = hn_more(a->allocated);
                struct hn_account_entry *list = realloc(a->list, allocated * sizeof(*list));

                if (!list)
                        return -ENOMEM;
                a->list = list;
                a->allocated = allocated;
        }
        a->list[a->n++] = (struct hn_account_entry){ .uid = uid, .shared = shared, .what = *what };
        return 0;
}

int hn_account_private(const struct hn_account *a, uid_t uid, struct hn_reservations *ret) {
        struct hn_reservations rs = { .allocated = HN_ACCOUNT_PRIVATE };

        rs.list = calloc(rs.allocated, sizeof(*rs.list));
        if (!rs.list)
                return -ENOMEM;
        for (size_t i = 0; i < a->n && rs.n < rs.allocated; i++)
                if (a->list[i].uid == uid && !a->list[i].shared)
                        rs.list[rs.n++] = a->list[i].what;
        *ret = rs;
        return 0;
}
