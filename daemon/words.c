/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "daemon/words.h"

void hn_words_deinit(struct hn_words *w) {
        for (size_t i = 0; i < w->n; i++)
                free(w->items[i]);
        free(w->items);
        *w = HN_WORDS_NULL;
}

int hn_words_add(struct hn_words *w, const char *line, size_t n, size_t max,
                 bool (*accept)(const char **word, size_t *n)) {
        const char *rest = line, *word;
        size_t left = n, length, n_new = 0;
        char **items;

        for (; hn_next_word(&rest, &left, &word, &length); n_new++)
                if (!accept(&word, &length)) {
                        w->refused = true;
                        return -EINVAL;
                }
        if (n_new == 0) {
                hn_words_deinit(w);
                return 0;
        }
        if (w->n + n_new > max) {
                w->refused = true;
                return -ERANGE;
        }
        items = reallocarray(w->items, w->n + n_new, sizeof(*items));
        if (!items)
                return -ENOMEM;
        w->items = items;
        while (hn_next_word(&line, &n, &word, &length)) {
                (void) accept(&word, &length);
                items[w->n] = strndup(word, length);
                if (!items[w->n])
                        return -ENOMEM;
                w->n++;
        }
        return 0;
}
