/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A machine of a few files: a folder below /tmp that a test fills and reads by an hn_sysroot. */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "sample/sysroot.h"

struct tree {
        char path[64];
        struct hn_sysroot root;
};

static inline int tree_remove_one(const char *path, const struct stat *st, int kind, struct FTW *ftw) {
        (void) st;
        (void) kind;
        (void) ftw;
        return remove(path);
}

static inline void tree_make(struct tree *t) {
        strcpy(t->path, "/tmp/hn-tree-XXXXXX");
        assert_non_null(mkdtemp(t->path));
        assert_int_equal(hn_sysroot_open(t->path, &t->root), 0);
}

static inline void tree_destroy(struct tree *t) {
        hn_sysroot_close(&t->root);
        (void) nftw(t->path, tree_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Writes `text` to the file `name`, making the folders on the way; a name that ends in a slash is one. */
static inline void tree_write(const struct tree *t, const char *name, const char *text) {
        char path[4096];
        int n = snprintf(path, sizeof(path), "%s/%s", t->path, name);
        FILE *f;

        assert_in_range(n, 1, sizeof(path) - 1);
        for (char *p = path + strlen(t->path) + 1; (p = strchr(p, '/')); p++) {
                *p = '\0';
                (void) mkdir(path, 0755);
                *p = '/';
        }
        if (path[n - 1] == '/')
                return;
        /* A new file: some file systems write one out at once that was cut and written again. */
        (void) unlink(path);
        f = fopen(path, "we");
        assert_non_null(f);
        assert_int_equal(fwrite(text, 1, strlen(text), f), strlen(text));
        assert_int_equal(fclose(f), 0);
}

static inline void tree_unlink(const struct tree *t, const char *name) {
        char path[4096];

        (void) snprintf(path, sizeof(path), "%s/%s", t->path, name);
        assert_int_equal(unlink(path), 0);
}
