/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "term.h"

bool hn_may_colour(FILE *f) {
        const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

        return isatty(fileno(f)) && !(no && *no) && term && strcmp(term, "dumb") != 0;
}

const char *hn_heat_on(enum hn_heat heat, bool colour) {
        static const char *const on[_HN_HEAT_MAX] = {
                [HN_HEAT_NONE] = "",          [HN_HEAT_COOL] = "\033[32m", [HN_HEAT_WARM] = "\033[33m",
                [HN_HEAT_HOT] = "\033[1;31m", [HN_HEAT_FAINT] = "\033[2m",
        };

        return colour ? on[heat] : "";
}

const char *hn_heat_off(enum hn_heat heat, bool colour) {
        return colour && heat != HN_HEAT_NONE ? "\033[0m" : "";
}

char *hn_format_bytes(uint64_t bytes, char *buf, size_t size) {
        static const char units[] = "KMGTPE";
        uint64_t tenths;
        size_t unit = 0;

        if (bytes < 1024) {
                (void) snprintf(buf, size, "%" PRIu64, bytes);
                return buf;
        }
        while (unit + 2 < sizeof(units) && bytes >> (10 * (unit + 2)) > 0)
                unit++;
        /* Rounded to a tenth; 1023.95K and more is the next unit. */
        tenths = (bytes >> (10 * unit)) * 10;
        tenths = (tenths + 512) / 1024;
        if (tenths >= 10240 && unit + 2 < sizeof(units)) {
                tenths = 10;
                unit++;
        }
        (void) snprintf(buf, size, "%" PRIu64 ".%" PRIu64 "%c", tenths / 10, tenths % 10, units[unit]);
        return buf;
}
