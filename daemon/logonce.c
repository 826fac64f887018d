/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/logonce.h"

static void entry_deinit(struct hn_log_once *e) {
        free(e->object);
        free(e->text);
}

/* A scan: 1,024 entries at most, the code is compared first, and only what goes wrong comes here. */
struct hn_log_once *hn_log_once_find(struct hn_log_once *table, size_t n, const char *object, int code) {
        for (size_t i = 0; i < n; i++)
                if (table[i].code == code && strcmp(table[i].object, object) == 0)
                        return &table[i];
        return NULL;
}

void hn_log_once_remove(struct hn_log_once *table, size_t *n, struct hn_log_once *entry) {
        entry_deinit(entry);
        *entry = table[--*n];
}

struct hn_log_once *hn_log_once_add(struct hn_log_once **table, size_t *n, size_t max, const char *object,
                                    int code, const char *text) {
        _hn_cleanup_(hn_freep) char *o = strdup(object), *t = strdup(text);
        struct hn_log_once *grown;

        if (!o || !t)
                return NULL;
        if (*n >= max) {
                struct hn_log_once *quietest = *table;

                for (size_t i = 1; i < *n; i++)
                        if ((*table)[i].last < quietest->last)
                                quietest = &(*table)[i];
                hn_log_once_remove(*table, n, quietest);
        }
        grown = reallocarray(*table, *n + 1, sizeof(*grown));
        if (!grown)
                return NULL;
        *table = grown;
        grown[*n] = (struct hn_log_once){
                .object = HN_TAKE_PTR(o), .text = HN_TAKE_PTR(t), .code = code, .total = 1
        };
        return &grown[(*n)++];
}

void hn_log_once_clear(struct hn_log_once **table, size_t *n) {
        for (size_t i = 0; i < *n; i++)
                entry_deinit(&(*table)[i]);
        free(*table);
        *table = NULL;
        *n = 0;
}
