/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was read as a span reads the same once more, written as microseconds. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/timespan.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        hn_usec_t span, again;
        char text[32];

        if (hn_timespan_parse((const char *) data, n, &span) < 0)
                return 0;
        if (span == HN_USEC_INFINITY)
                return 0;
        (void) snprintf(text, sizeof(text), "%" PRIu64 "us", span);
        if (hn_timespan_parse(text, strlen(text), &again) < 0 || span != again)
                abort();
        return 0;
}
