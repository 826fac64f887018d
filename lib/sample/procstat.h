/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sample/sysroot.h"

/* What a CPU did since boot, in clock ticks (USER_HZ). Guest time is part of user time already (proc(5)). */
struct hn_cpu_ticks {
        uint64_t busy;  /* user, nice, system, irq, softirq; not steal: another machine's work */
        uint64_t total; /* busy, idle, iowait and steal; 0 for a CPU that is not listed */
};

/* Reads the lines "cpuN user nice system idle iowait irq softirq steal ..." of /proc/stat into `cpus`, by CPU
 * id. CPUs without a line read 0, ids from `n_cpus` on are skipped, and so are damaged lines. Columns that an
 * old kernel does not have count as 0; at least the first four are asked for. Returns the number of lines
 * taken. */
size_t hn_procstat_parse(const char *text, size_t n, struct hn_cpu_ticks *cpus, size_t n_cpus);

/* Reads /proc/stat. Returns the number of CPUs found, 0 where the file is missing, or -ENOMEM. */
ssize_t hn_procstat_read(const struct hn_sysroot *root, struct hn_cpu_ticks *cpus, size_t n_cpus);
