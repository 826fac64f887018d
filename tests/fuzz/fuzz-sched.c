/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "sample/procfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static const struct hn_topology *topology(void) {
        static struct hn_topology topo;

        if (topo.n_nodes == 0) {
                if (hn_topology_init(&topo, 3, 0) < 0)
                        abort();
                topo.nodes[1].id = 1;
                topo.nodes[2].id = 255;
        }
        return &topo;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        uint64_t priv[3] = { 7, 7, 7 }, shared[3] = { 7, 7, 7 }, total = 0;
        struct hn_proc_sched s;
        int r = hn_proc_sched_parse((const char *) data, n, topology(), priv, shared, &s);

        for (size_t i = 0; i < 3; i++)
                total += priv[i] + shared[i];
        /* Without a ruler nothing counts, and without such lines there are no faults. */
        if (r < 0) {
                assert(total == 0);
                return 0;
        }
        assert(s.total == total && s.preferred >= -1);
        assert(s.has_faults || total == 0);
        return 0;
}
