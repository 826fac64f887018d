/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "sample/cgroupglob.h"

/* Matches one character against the bracket that begins at pattern[0] == '['. Returns the bracket's length,
 * or 0 if it is never closed, in which case the '[' stands for itself. */
static size_t bracket(const char *pattern, size_t n, char c, bool *ret_match) {
        size_t i = 1, first;
        bool negate, match = false;

        negate = i < n && (pattern[i] == '!' || pattern[i] == '^');
        i += negate;
        first = i;
        /* A ']' right at the start is an ordinary character. */
        for (; i < n && (pattern[i] != ']' || i == first); i++) {
                unsigned char low = (unsigned char) pattern[i], high = low;

                if (i + 2 < n && pattern[i + 1] == '-' && pattern[i + 2] != ']') {
                        high = (unsigned char) pattern[i + 2];
                        i += 2;
                }
                if (low <= (unsigned char) c && (unsigned char) c <= high)
                        match = true;
        }
        if (i >= n)
                return 0;
        *ret_match = match != negate;
        return i + 1;
}

/* One pattern element against one character. Returns the element's length, 0 for no match. */
static size_t element(const char *pattern, size_t n, char c) {
        size_t length;
        bool match;

        if (*pattern == '?')
                return 1;
        if (*pattern == '[') {
                length = bracket(pattern, n, c, &match);
                if (length > 0)
                        return match ? length : 0;
        }
        return *pattern == c ? 1 : 0;
}

bool hn_glob_match(const char *pattern, size_t n, const char *name, size_t name_length) {
        size_t p = 0, s = 0, star = SIZE_MAX, retry = 0;

        /* Only the last star ever needs another try: what stood before it has matched at its shortest. */
        while (s < name_length) {
                size_t length;

                if (p < n && pattern[p] == '*') {
                        star = ++p;
                        retry = s;
                        continue;
                }
                length = p < n ? element(pattern + p, n - p, name[s]) : 0;
                if (length > 0) {
                        p += length;
                        s++;
                } else if (star != SIZE_MAX) {
                        p = star;
                        s = ++retry;
                } else
                        return false;
        }
        while (p < n && pattern[p] == '*')
                p++;
        return p == n;
}

static const char *skip_slashes(const char *s) {
        while (*s == '/')
                s++;
        return s;
}

struct hn_glob_walk hn_glob_begin(const char *pattern) {
        const char *rest = skip_slashes(pattern);

        if (strcmp(rest, "*") == 0)
                rest = "";
        return (struct hn_glob_walk){ .rest = rest, .alive = true };
}

struct hn_glob_walk hn_glob_descend(struct hn_glob_walk walk, const char *name, size_t name_length) {
        const char *slash;
        size_t n;

        if (!walk.alive || *walk.rest == '\0')
                return walk;
        slash = strchr(walk.rest, '/');
        n = slash ? (size_t) (slash - walk.rest) : strlen(walk.rest);
        walk.alive = hn_glob_match(walk.rest, n, name, name_length);
        walk.rest = skip_slashes(walk.rest + n);
        return walk;
}

size_t hn_glob_first(const char *const *patterns, size_t n, const char *path) {
        for (size_t i = 0; i < n; i++) {
                struct hn_glob_walk walk = hn_glob_begin(patterns[i]);

                for (const char *p = skip_slashes(path); *p && walk.alive && *walk.rest;) {
                        const char *slash = strchr(p, '/');
                        size_t length = slash ? (size_t) (slash - p) : strlen(p);

                        walk = hn_glob_descend(walk, p, length);
                        p = skip_slashes(p + length);
                }
                if (hn_glob_covers(walk))
                        return i;
        }
        return n;
}

char *hn_glob_quote(const char *path) {
        char *quoted = malloc(3 * strlen(path) + 1), *q = quoted;

        for (const char *p = path; quoted && *p != '\0'; p++) {
                bool special = *p == '*' || *p == '?' || *p == '[';

                if (special)
                        *q++ = '[';
                *q++ = *p;
                if (special)
                        *q++ = ']';
        }
        if (quoted)
                *q = '\0';
        return quoted;
}
