/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "sample/procfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* What was read can be written down and read back, with a name that is as bad as can be. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        struct hn_proc_stat a, b;
        char text[1024];
        int k;

        if (hn_proc_stat_parse((const char *) data, n, &a) < 0)
                return 0;
        assert(memchr(a.comm, '\0', sizeof(a.comm)) && a.tid >= 0 && a.cpu >= -1);
        k = snprintf(text, sizeof(text),
                     "%d () %c) %c 1 7 7 0 -1 %" PRIu32 " 0 0 0 0 %" PRIu64 " 0 0 0 20 0 %" PRIu32
                     " 0 %" PRIu64 " 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 %d 0 %u 0",
                     a.tid, a.state, a.state, a.flags, a.ticks, a.n_threads, a.start, a.cpu,
                     (unsigned) a.sched_class);
        assert(k > 0 && hn_proc_stat_parse(text, (size_t) k, &b) == 0);
        assert(b.tid == a.tid && b.state == a.state && b.flags == a.flags && b.n_threads == a.n_threads);
        assert(b.ticks == a.ticks && b.start == a.start && b.cpu == a.cpu && b.sched_class == a.sched_class);
        return 0;
}
