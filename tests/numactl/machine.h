/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "invoke.h"

/* This machine, as far as rows depend on it. */
struct machine {
        unsigned on;   /* ON_ANY, ON_FOUR, ON_CPUSET, or 0: limited in a way that no row knows of */
        bool later;    /* a numactl after 2.0.16 */
        bool weighted; /* the kernel interleaves by weight */
};

/* Looks, and tries numactl. Returns 0, -ENOEXEC if it is not installed or does not work here, or -errno. */
int machine_look(const struct side *numactl, const char *self, const char *folder, struct machine *ret);
