/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "base/usec.h"
#include "daemon/advicejson.h"
#include "policy/advise.h"
#include "sample/sysroot.h"

/* What an advice goes by: the nodes and what is on them now. */

/* Four of the ticks in which /proc/stat counts. */
#define HN_ADVICE_PAUSE (40 * HN_USEC_PER_MSEC)

/* Figures of the daemon that are older are not used: in the meantime one could have measured. */
#define HN_ADVICE_FRESH (3 * HN_USEC_PER_SEC)

struct hn_advice_look {
        struct hn_topology topology;
        struct hn_advise_node *nodes; /* one a node, all allowed */
        enum hn_load_source source;
        hn_usec_t age; /* of the daemon's figures */
};

#define HN_ADVICE_LOOK_NULL ((struct hn_advice_look){})

void hn_advice_look_deinit(struct hn_advice_look *l);

/* Reads the machine below `root`, with the daemon's figures from `run_dir` where they are fresh (NULL: do not
 * look). Returns 0, -ENODEV for a root without CPUs, or -ENOMEM. */
int hn_advice_look_take(const struct hn_sysroot *root, const char *run_dir, struct hn_advice_look *ret);

/* Takes the CPUs of a mask away from all nodes: they are kept for something else. */
void hn_advice_look_without(struct hn_advice_look *l, const struct hn_mask *cpus);

/* Where reservations of a caller without rights in the shared folder go: $XDG_RUNTIME_DIR/homenode, which is
 * made. Returns `buf`, or NULL where there is none. */
const char *hn_advice_own_place(char *buf, size_t size);
