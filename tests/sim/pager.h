/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "world.h"

/* Pages of one process on their way to other nodes, at a bounded rate. */
struct hn_sim_pager {
        bool active;
        size_t process;
        pid_t tgid;
        uint32_t to;     /* nodes, a bit each: as evenly as they have room */
        uint32_t source; /* nodes to take from */
        double mib_per_second;
        double keep_free; /* part of a node that is left free */
};

/* A tenth of a second: moves what may be moved, and ends when all is there. */
void hn_sim_pager_step(struct hn_sim_pager *p, struct hn_sim_world *w);
