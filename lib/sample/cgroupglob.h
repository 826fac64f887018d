/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Globs over paths of cgroups: `*`, `?`, `[a-z]` and `[!a-z]` inside one component, never across a slash.
 * There is no escape character, since unit names are full of backslashes ("a\x2db.service"). A lone "*", "/"
 * or "" is the root and hence, as a match covers what lies below it, every cgroup. Slashes at the ends and
 * doubled ones do not matter. */

/* Whether one component `name` is what `pattern` (n bytes, no slash) asks for. Linear in practice and never
 * worse than the product of the lengths, whatever somebody calls his cgroup. */
bool hn_glob_match(const char *pattern, size_t n, const char *name, size_t name_length);

/* What becomes of a pattern on the way down a path, one component after the other. */
struct hn_glob_walk {
        const char *rest; /* components still to match; "" once the pattern covers this path */
        bool alive;       /* false: nothing at or below this path can match any more */
};

struct hn_glob_walk hn_glob_begin(const char *pattern);
struct hn_glob_walk hn_glob_descend(struct hn_glob_walk walk, const char *name, size_t name_length);

static inline bool hn_glob_covers(struct hn_glob_walk walk) {
        return walk.alive && *walk.rest == '\0';
}

/* The pattern that `path` alone (and what lies below it) matches, whatever it is called. The caller frees;
 * NULL without memory. */
char *hn_glob_quote(const char *path);

/* The lowest index of a pattern that matches `path` or one of its ancestors; `n` for none. */
size_t hn_glob_first(const char *const *patterns, size_t n, const char *path);
