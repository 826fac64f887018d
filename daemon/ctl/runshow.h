/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdio.h>

#include "allowance.h"

/* What numactl prints, line by line, for scripts that read it. */

/* --show: the caller's memory policy, CPUs and nodes. Returns 0 or -errno with the sentence. */
int hn_run_show(const struct hn_sysroot *root, const struct hn_allowance *allowance, FILE *f,
                struct hn_why *why);

/* --hardware: nodes with their CPUs (`ranges`: as ranges), memory and distances. Returns 0 or -errno with the
 * sentence. */
int hn_run_hardware(const struct hn_sysroot *root, const struct hn_allowance *allowance, bool ranges, FILE *f,
                    struct hn_why *why);
