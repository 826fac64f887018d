/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "load.h"

/* How many CPUs of each node were at work between two looks. */
struct busy {
        double cpus[HN_LOAD_NODES_MAX]; /* by index of the node */
};

/* Since the last look; false at the first, which has none before it. */
bool busy_look(const struct hn_load_cpus *cpus, struct busy *ret);

/* The next look is the first again. */
void busy_forget(void);
