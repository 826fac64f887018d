/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whatever /proc/schedstat says, no more CPUs have a figure than lines were taken. */
#include <stdlib.h>

#include "sample/runqueue.h"

#define N_CPUS 16

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        uint64_t waited[N_CPUS];
        size_t taken, there = 0;

        taken = hn_runqueue_parse((const char *) data, n, waited, N_CPUS);
        for (size_t i = 0; i < N_CPUS; i++)
                there += waited[i] > 0;
        if (there > taken)
                abort();
        return 0;
}
