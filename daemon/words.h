/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* The value of a key that is a list of words and may be given several times. */
struct hn_words {
        char **items;
        size_t n;
        bool refused; /* one was bad, and has had its warning */
};

#define HN_WORDS_NULL ((struct hn_words){})

void hn_words_deinit(struct hn_words *w);

/* Adds the words of a line; an empty one forgets all earlier ones. All words of a line are good, or none is
 * taken and `refused` is set: `accept` says of each, and may narrow it.
 * Returns 0, -EINVAL, -ERANGE for more than `max` in all, or -ENOMEM. */
int hn_words_add(struct hn_words *w, const char *line, size_t n, size_t max,
                 bool (*accept)(const char **word, size_t *n));
