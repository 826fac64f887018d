/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "base/usec.h"
#include "policy/wish.h"

/* The daemon's advice, by the bus: for users without rights in the shared folder it is the way to be counted
 * by others. */

/* For all of it: to connect, and to be answered. Whoever waits longer could have looked for himself many
 * times. */
#define HN_ADVICE_PATIENCE HN_USEC_PER_SEC

struct hn_advice_wishes {
        struct hn_wish wish;
        const char *nodes, *near; /* NULL: not given */
        bool reserve;
};

/* Whether there may be a daemon that can be asked: there is a word of it in this folder. */
bool hn_advice_may_ask(const char *run_dir);

/* Asks on the system bus, or at `address`. Returns 0 with all of the answer as advicejson.h has it, which the
 * caller decrefs; or -errno where there was none of use, for whatever reason: -EOPNOTSUPP for a wish that the
 * daemon would not take. It says nothing: who has no answer looks for himself, and then says what is wrong.
 */
int hn_advice_ask(const char *address, const struct hn_advice_wishes *w, json_t **ret);
