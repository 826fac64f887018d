/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include "sample/maps.h"

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

/* Counts come from whole words only: with every 'N' broken nothing is left. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        uint64_t pages[3] = { 0 }, none[3] = { 0 };
        struct hn_numa_map a, b;
        char *copy;

        if (hn_numa_map_parse((const char *) data, n, topology(), pages, &a) < 0) {
                assert(pages[0] + pages[1] + pages[2] == 0);
                return 0;
        }
        assert(a.policy < _HN_MEMPOLICY_MAX);
        copy = malloc(n);
        if (!copy)
                abort();
        for (size_t i = 0; i < n; i++)
                copy[i] = data[i] == 'N' ? 'X' : (char) data[i];
        assert(hn_numa_map_parse(copy, n, topology(), none, &b) == 0);
        assert(none[0] + none[1] + none[2] == 0);
        assert(b.start == a.start && b.page_kb == a.page_kb && b.anon == a.anon);
        free(copy);
        return 0;
}
