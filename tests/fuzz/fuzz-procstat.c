/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whatever /proc/stat says, a CPU is busy no longer than it exists, and as many CPUs are there as lines were
 * taken (or fewer, where lines repeat). */
#include <stdlib.h>

#include "sample/procstat.h"

#define N_CPUS 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        struct hn_cpu_ticks cpus[N_CPUS];
        size_t taken, there = 0;

        taken = hn_procstat_parse((const char *) data, n, cpus, N_CPUS);
        for (size_t i = 0; i < N_CPUS; i++) {
                if (cpus[i].busy > cpus[i].total)
                        abort();
                there += cpus[i].total > 0;
        }
        if (there > taken)
                abort();
        return 0;
}
