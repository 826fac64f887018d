/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A wish that was read is within bounds, and reads the same once printed in full. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "policy/wish.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        struct hn_wish w, same;
        char text[128];

        if (hn_wish_parse((const char *) data, n, &w) < 0)
                return 0;
        if (w.cpus > HN_WISH_CPUS_MAX)
                abort();
        /* In KiB: a bare number of bytes cannot be said. */
        if (w.memory % 1024 != 0)
                abort();
        (void) snprintf(text, sizeof(text), "%" PRIu64 ".%03" PRIu64 ":%" PRIu64 "K", w.cpus / 1000,
                        w.cpus % 1000, w.memory / 1024);
        if (hn_wish_parse(text, strlen(text), &same) < 0 || same.cpus != w.cpus || same.memory != w.memory)
                abort();
        return 0;
}
