/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whatever a meminfo says, a node has no more free and reclaimable memory than memory. */
#include <stdlib.h>

#include "sample/meminfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        struct hn_meminfo m;

        hn_meminfo_parse((const char *) data, n, &m);
        if (m.total > 0 && (m.free > m.total || m.reclaimable > m.total - m.free))
                abort();
        return 0;
}
