/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <math.h>

#include "task.h"

double hn_sim_set_size(const struct hn_sim_set *set) {
        double sum = 0;

        for (unsigned i = 0; i < HN_SIM_NODES; i++)
                sum += set->pages[i];
        return sum;
}

double hn_sim_set_move(struct hn_sim_set *set, unsigned from, unsigned to, double pages) {
        double n = fmin(pages, set->pages[from]);

        set->pages[from] -= n;
        set->pages[to] += n;
        return n;
}
