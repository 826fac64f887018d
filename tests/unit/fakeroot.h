/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/macro.h"
#include "sample/sysroot.h"

/* A folder of one test's own that looks like a machine, or as much of one as the test needs. */
struct hn_tree {
        char path[64];
        struct hn_sysroot root;
};

/* A file of a table; `size` 0 means that the text ends at its NUL. */
struct hn_tree_file {
        const char *path, *text;
        size_t size;
};

static inline void hn_tree_make(struct hn_tree *t) {
        *t = (struct hn_tree){ .root = HN_SYSROOT_NULL };
        (void) snprintf(t->path, sizeof(t->path), "/tmp/homenode-test-XXXXXX");
        if (!mkdtemp(t->path) || hn_sysroot_open(t->path, &t->root) < 0)
                abort();
}

/* Makes the folders on the way, replaces what was there. */
static inline void hn_tree_write(const struct hn_tree *t, const char *path, const char *text, size_t size) {
        char full[512];
        FILE *f;

        (void) snprintf(full, sizeof(full), "%s/%s", t->path, path);
        for (char *slash = full + 1; (slash = strchr(slash, '/')); slash++) {
                *slash = '\0';
                if (mkdir(full, 0755) < 0 && errno != EEXIST)
                        abort();
                *slash = '/';
        }
        f = fopen(full, "we");
        if (!f)
                abort();
        if (size == 0)
                size = strlen(text);
        if (fwrite(text, 1, size, f) != size || fclose(f) != 0)
                abort();
}

/* Up to the first entry without a path, or `n` of them. */
static inline void hn_tree_write_all(const struct hn_tree *t, const struct hn_tree_file *files, size_t n) {
        for (size_t i = 0; i < n && files[i].path; i++)
                hn_tree_write(t, files[i].path, files[i].text, files[i].size);
}

static inline void hn_tree_delete(const struct hn_tree *t, const char *path) {
        char full[512];

        (void) snprintf(full, sizeof(full), "%s/%s", t->path, path);
        if (remove(full) < 0)
                abort();
}

static inline int hn_tree_remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw) {
        (void) st;
        (void) type;
        (void) ftw;
        return remove(path);
}

static inline void hn_tree_drop(struct hn_tree *t) {
        hn_sysroot_close(&t->root);
        if (nftw(t->path, hn_tree_remove_one, 16, FTW_DEPTH | FTW_PHYS) != 0)
                abort();
}
