/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "rows.h"

static const struct {
        const struct row *rows;
        const size_t *n;
} tables[] = {
        { rows_policy, &n_rows_policy }, { rows_place, &n_rows_place },   { rows_show, &n_rows_show },
        { rows_shared, &n_rows_shared }, { rows_cpuset, &n_rows_cpuset }, { differences, &n_differences },
};

size_t rows_count(void) {
        size_t n = 0;

        for (size_t k = 0; k < sizeof(tables) / sizeof(tables[0]); k++)
                n += *tables[k].n;
        return n;
}

const struct row *rows_at(size_t i) {
        for (size_t k = 0; k < sizeof(tables) / sizeof(tables[0]); k++) {
                if (i < *tables[k].n)
                        return &tables[k].rows[i];
                i -= *tables[k].n;
        }
        return NULL;
}
