/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/parse.h"
#include "sample/maps.h"
#include "sample/residency.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* Whatever the text: addresses lie in mappings that count, ascend, and are as many as were asked for or all
 * there are. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        const char *text = (const char *) data, *line;
        size_t left = n, length, k;
        uint64_t address[16];

        k = hn_residency_choose(text, n, 5, 4096, n % 7 + 1, 16, address);
        assert(k <= 16);
        for (size_t i = 0; i < k; i++) {
                const char *p = text;
                struct hn_map m;
                bool inside = false;

                left = n;
                while (!inside && hn_next_line(&p, &left, &line, &length))
                        inside = hn_map_parse(line, length, &m) == 0 && hn_map_is_private_memory(&m) &&
                                 address[i] >= m.start && address[i] < m.end;
                assert(inside);
        }
        return 0;
}
