/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>

#include "base/macro.h"
#include "base/parse.h"
#include "sample/modemark.h"

static const char *const names[_HN_MARKS_MAX] = {
        [HN_MARKS_NO] = "no",
        [HN_MARKS_LOWER] = "lower",
        [HN_MARKS_ROOT] = "root",
        [HN_MARKS_ALL] = "all",
};

const char *hn_mark_trust_to_string(enum hn_mark_trust t) {
        return t >= 0 && (size_t) t < HN_ELEMENTS(names) ? names[t] : NULL;
}

enum hn_mark_trust hn_mark_trust_from_string(const char *s) {
        for (size_t i = 0; i < HN_ELEMENTS(names); i++)
                if (strcmp(s, names[i]) == 0)
                        return (enum hn_mark_trust) i;
        return _HN_MARKS_INVALID;
}

struct hn_mark_bounds hn_mark_bounds_add(struct hn_mark_bounds b, int level, bool trusted) {
        return (struct hn_mark_bounds){
                .low = trusted ? level : HN_MIN(b.low, level),
                .high = trusted ? level : HN_MIN(b.high, level),
        };
}

int hn_mark_bounds_apply(struct hn_mark_bounds b, enum hn_mode mode) {
        return HN_MAX(b.low, HN_MIN((int) mode, b.high));
}

int hn_mark_parse(const char *text, size_t n, int *ret_level) {
        char word[16];
        enum hn_mode mode;

        hn_trim(&text, &n);
        if (n == 0 || n >= sizeof(word) || memchr(text, '\0', n))
                return -EINVAL;
        memcpy(word, text, n);
        word[n] = '\0';
        if (strcmp(word, "off") == 0) {
                *ret_level = HN_MODE_LEVEL_OFF;
                return 0;
        }
        mode = hn_mode_from_string(word);
        if (mode < 0)
                return -EINVAL;
        *ret_level = (int) mode;
        return 0;
}

/* Whether nobody but root can have written it. */
static bool is_roots_own(const char *path) {
        struct stat st;

        return stat(path, &st) == 0 && st.st_uid == 0 && (st.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

/* Adds what the folder `path` (`length` bytes of it) says. */
static struct hn_mark_bounds look(const struct hn_cgroupfs *fs, const char *path, size_t length,
                                  enum hn_mark_trust trust, struct hn_mark_bounds b) {
        char full[4096 + 64], value[32];
        ssize_t n;
        int level;

        /* There is no getxattr for a name below a descriptor, and none for an O_PATH one: but a path to it.
         */
        if (snprintf(full, sizeof(full), "/proc/self/fd/%d/%.*s", fs->fd, (int) length, path) >=
            (int) sizeof(full))
                return b;
        n = getxattr(full, HN_MARK_XATTR, value, sizeof(value));
        if (n < 0 || hn_mark_parse(value, (size_t) n, &level) < 0)
                return b;
        return hn_mark_bounds_add(b, level,
                                  trust == HN_MARKS_ALL || (trust == HN_MARKS_ROOT && is_roots_own(full)));
}

/* How many of the levels that were read last lie on the way to `path`. */
static size_t common(const struct hn_mark_walk *w, const char *path) {
        size_t k = 0;

        while (k < w->depth && strncmp(w->path, path, w->at[k].length) == 0 &&
               (w->at[k].length <= 1 || path[w->at[k].length] == '/' || path[w->at[k].length] == '\0'))
                k++;
        return k;
}

struct hn_mark_bounds hn_mark_read(const struct hn_cgroupfs *fs, const char *path, enum hn_mark_trust trust,
                                   struct hn_mark_walk *last) {
        struct hn_mark_bounds b = HN_MARK_BOUNDS_NULL;
        size_t length = strlen(path), at, k;
        struct hn_mark_walk own, *w = last;

        if (trust == HN_MARKS_NO || fs->fd < 0 || *path != '/' || length >= sizeof(own.path))
                return b;
        if (!w) {
                own.depth = 0;
                w = &own;
        }
        k = common(w, path);
        at = k > 0 ? w->at[k - 1].length : 0;
        b = k > 0 ? w->at[k - 1].bounds : b;
        w->depth = k;
        memcpy(w->path, path, length + 1);
        /* The root first, which is the slash alone; then a component each time. */
        for (; at < length; k++) {
                if (at > 1)
                        at++;
                at += k == 0 ? 1 : strcspn(path + at, "/");
                b = look(fs, path, at, trust, b);
                if (k < HN_MARK_DEPTH_MAX) {
                        w->at[k].length = at;
                        w->at[k].bounds = b;
                        w->depth = k + 1;
                }
        }
        return b;
}
