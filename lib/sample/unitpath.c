/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "base/macro.h"
#include "sample/cgroupglob.h"
#include "sample/unitpath.h"

static bool ends_in(const char *name, size_t n, const char *suffix) {
        size_t length = strlen(suffix);

        return n > length && memcmp(name + n - length, suffix, length) == 0;
}

static bool is_unit(const char *name, size_t n) {
        static const char *const suffixes[] = {
                ".service", ".scope", ".slice", ".socket", ".mount", ".swap"
        };

        for (size_t i = 0; i < HN_ELEMENTS(suffixes); i++)
                if (ends_in(name, n, suffixes[i]))
                        return true;
        return false;
}

bool hn_unitpath_next(const char **path, const char **ret, size_t *ret_length) {
        const char *name = *path;
        size_t n;

        while (*name == '/')
                name++;
        n = strcspn(name, "/");
        *path = name + n;
        if (!is_unit(name, n)) {
                *path += strlen(*path);
                return false;
        }
        /* The last one: what is below it is named by it. */
        if (!ends_in(name, n, ".slice"))
                *path += strlen(*path);
        if (*name == '_' && n > 1) {
                name++;
                n--;
        }
        *ret = name;
        *ret_length = n;
        return true;
}

bool hn_unitpath_match(const char *path, const char *pattern) {
        const char *name;
        size_t n;

        while (hn_unitpath_next(&path, &name, &n))
                if (hn_glob_match(pattern, strlen(pattern), name, n))
                        return true;
        return false;
}

bool hn_unitpath_is_pattern(const char *pattern, size_t n) {
        return n > 0 && !memchr(pattern, '/', n) && (strchr("*?]", pattern[n - 1]) || is_unit(pattern, n));
}
