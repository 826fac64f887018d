/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdio.h>

/* Draws how policies compare along a row of scenarios, "jbb" or "schedbench", as SVG. Returns 0, -EINVAL for
 * another name, or -errno. */
int hn_sim_plot(const char *name, unsigned n_seeds, unsigned seconds, FILE *file);
