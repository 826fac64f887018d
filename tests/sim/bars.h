/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdio.h>

/* What homenode is held against, a line each, with what it came to. `which` are names as they are printed, or
 * their beginnings up to a dot, with commas in between; NULL for all. Returns how many were missed, -EINVAL
 * for an unknown name, or -errno. */
int hn_sim_bars(const char *which, unsigned n_seeds, unsigned seconds, FILE *file);
