/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A row that could be read has as many columns as it was given room for, at most, and reads the same with a
 * newline behind it. */
#include <stdlib.h>
#include <string.h>

#include "sample/sysfs.h"

#define COLUMNS 8

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        unsigned row[COLUMNS + 1], same[COLUMNS];
        size_t columns, again;
        char *longer;

        row[COLUMNS] = 12345;
        if (hn_distances_parse((const char *) data, n, row, COLUMNS, &columns) < 0)
                return 0;
        if (columns > COLUMNS || row[COLUMNS] != 12345)
                abort();
        longer = malloc(n + 1);
        if (!longer)
                return 0;
        if (n > 0)
                memcpy(longer, data, n);
        longer[n] = '\n';
        if (hn_distances_parse(longer, n + 1, same, COLUMNS, &again) < 0 || again != columns ||
            memcmp(row, same, columns * sizeof(*row)) != 0)
                abort();
        free(longer);
        return 0;
}
