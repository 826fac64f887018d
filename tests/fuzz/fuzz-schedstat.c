/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "sample/procfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        struct hn_proc_schedstat a, b;
        char text[64];
        int k;

        if (hn_proc_schedstat_parse((const char *) data, n, &a) < 0)
                return 0;
        k = snprintf(text, sizeof(text), "%" PRIu64 " %" PRIu64 " 1", a.run_ns, a.wait_ns);
        assert(k > 0 && hn_proc_schedstat_parse(text, (size_t) k, &b) == 0);
        assert(b.run_ns == a.run_ns && b.wait_ns == a.wait_ns);
        return 0;
}
