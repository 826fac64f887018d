/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "policy/snapshot.h"
#include "world.h"

/* What homenode's sampler would see of the world: run times as they are, hinting faults as the kernel has
 * counted them so far, pages by a sample of a few. */
struct hn_sim_lens {
        struct hn_snapshot shot;
        struct hn_scope scope;
        struct hn_sim_random random; /* of its own, so that looking changes nothing */
        size_t *index;               /* of the world's task, by that in the snapshot */
        size_t allocated;
        double busy[HN_SIM_NODES]; /* CPU seconds, at the last look */
        double looked_at;
};

/* Returns 0 or -ENOMEM. */
int hn_sim_lens_init(struct hn_sim_lens *l, const struct hn_sim_world *w);
void hn_sim_lens_deinit(struct hn_sim_lens *l);

/* Fills in `shot`. Returns 0 or -ENOMEM. */
int hn_sim_lens_look(struct hn_sim_lens *l, struct hn_sim_world *w);
