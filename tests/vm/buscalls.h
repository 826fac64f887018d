/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Calls of homenoded by the system bus, many at once over one connection: what they take is what bus and
 * daemon take, and no start of any process. */

#define BUSCALLS_MAX 128U

struct buscalls {
        unsigned n, answered;
        double slowest_ms, middle_ms;  /* from before a call is sent until its answer is read */
        char answer[BUSCALLS_MAX][64]; /* the list, of Advise; in the order of the calls */
        char error[256];               /* of one that was refused; else empty */
};

enum buscall { BUSCALL_PING, BUSCALL_ADVISE };

/* Sends `n` of a kind and waits for all answers, `seconds` at most: a workload of one CPU and 4 MiB is to be
 * advised. Returns 0 or -errno. */
int buscalls_make(enum buscall kind, unsigned n, unsigned seconds, struct buscalls *ret);
