/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A map that could be read has as many CPUs as its digits have bits set. */
#include <stdlib.h>

#include "sample/sysfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        unsigned bits = 0;
        struct hn_mask m;

        if (hn_cpumap_parse((const char *) data, n, &m) < 0)
                return 0;
        for (size_t i = 0; i < n; i++) {
                char digit[2] = { (char) data[i], '\0' };

                bits += (unsigned) __builtin_popcountl(strtoul(digit, NULL, 16));
        }
        if (bits != hn_mask_count(&m))
                abort();
        return 0;
}
