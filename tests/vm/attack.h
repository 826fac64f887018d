/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "caller.h"
#include "hostile.h"

/* A series of hostile calls by a user, one after the other. */
struct attack {
        struct hostile hostile;
        unsigned calls;

        unsigned sent, answered, refused;
        unsigned denied;      /* of those refused: by polkit, */
        unsigned late;        /* or in its place, as it took too long */
        unsigned carried_out; /* of those answered: something was changed. None of it is his to change */
        unsigned unheard; /* no answer at all: the daemon is gone, or hangs; nothing was sent after that */
        char first[256];  /* of what was carried out, or unheard: the first */
        double denied_ms, all_ms, slowest_ms;
        char slowest[512];
};

/* Runs it; `a` is in memory of caller_share(). The methods are those that the daemon tells of. Returns as
 * caller_run(). */
int attack_run(const struct caller *who, unsigned seconds, struct attack *a);
