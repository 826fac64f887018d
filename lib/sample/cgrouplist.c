/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/macro.h"
#include "sample/cgroupglob.h"
#include "sample/cgrouplist.h"

/* One search. `walks` holds a row of n_patterns states for each level from the root down to where we are. */
struct search {
        const struct hn_cgroupfs *fs;
        size_t n_patterns;
        struct hn_glob_walk *walks;
        size_t depth_allocated;
        char path[PATH_MAX];
        struct hn_cgroup_list list;
};

void hn_cgroup_list_deinit(struct hn_cgroup_list *list) {
        for (size_t i = 0; i < list->n; i++)
                free(list->items[i].path);
        free(list->items);
        *list = HN_CGROUP_LIST_NULL;
}

static int add(struct hn_cgroup_list *list, const char *path, size_t pattern) {
        char *copy;

        if (list->n >= HN_CGROUPS_MAX) {
                list->cut = true;
                return 0;
        }
        if (list->n == list->allocated) {
                size_t more = list->allocated ? 2 * list->allocated : 64;
                struct hn_cgroup *bigger = reallocarray(list->items, more, sizeof(*bigger));

                if (!bigger)
                        return -ENOMEM;
                list->items = bigger;
                list->allocated = more;
        }
        copy = strdup(path);
        if (!copy)
                return -ENOMEM;
        list->items[list->n++] = (struct hn_cgroup){ .path = copy, .pattern = pattern };
        return 0;
}

static bool is_folder(DIR *dir, const struct dirent *de) {
        struct stat st;

        if (strcmp(de->d_name, ".") == 0 || strcmp(de->d_name, "..") == 0)
                return false;
        if (de->d_type != DT_UNKNOWN)
                return de->d_type == DT_DIR;
        return fstatat(dirfd(dir), de->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode);
}

/* A row of states for this level; rows above stay where they are while we come back to them. */
static int reserve_row(struct search *s, size_t depth) {
        struct hn_glob_walk *bigger;

        if (depth < s->depth_allocated)
                return 0;
        bigger = reallocarray(s->walks, (depth + 8) * (s->n_patterns + 1), sizeof(*bigger));
        if (!bigger)
                return -ENOMEM;
        s->walks = bigger;
        s->depth_allocated = depth + 8;
        return 0;
}

/* Looks at the cgroup s->path (`length` bytes, no slash at the end), whose row is that of `depth`. */
static int search(struct search *s, size_t length, size_t depth) { /* NOLINT(misc-no-recursion) */
        const struct hn_glob_walk *row = s->walks + depth * s->n_patterns;
        size_t pattern = s->n_patterns;
        bool alive = false;
        DIR *dir;
        int r = 0;

        for (size_t i = 0; i < s->n_patterns; i++) {
                alive = alive || row[i].alive;
                if (hn_glob_covers(row[i])) {
                        pattern = i;
                        break;
                }
        }
        if (!alive)
                return 0;
        if (pattern < s->n_patterns) {
                r = add(&s->list, length > 0 ? s->path : "/", pattern);
                if (r < 0 || s->list.cut)
                        return r;
        }
        if (depth + 1 >= HN_CGROUP_DEPTH_MAX) {
                s->list.cut = true;
                return 0;
        }
        /* Gone, or not for us to see: then there is nothing below either. */
        if (hn_opendir_at(s->fs->fd, &dir, "%s", s->path) < 0)
                return 0;
        r = reserve_row(s, depth + 1);
        for (const struct dirent *de; r == 0 && (de = readdir(dir));) {
                size_t n = strlen(de->d_name);

                if (!is_folder(dir, de))
                        continue;
                if (length + n + 2 > sizeof(s->path)) {
                        s->list.cut = true;
                        continue;
                }
                s->path[length] = '/';
                memcpy(s->path + length + 1, de->d_name, n + 1);
                for (size_t i = 0; i < s->n_patterns; i++)
                        s->walks[(depth + 1) * s->n_patterns + i] = hn_glob_descend(
                                s->walks[depth * s->n_patterns + i], de->d_name, n);
                r = search(s, length + n + 1, depth + 1);
                s->path[length] = '\0';
        }
        closedir(dir);
        return r;
}

static int by_path(const void *a, const void *b) {
        const struct hn_cgroup *x = a, *y = b;

        return strcmp(x->path, y->path);
}

int hn_cgroups_find(const struct hn_cgroupfs *fs, const char *const *patterns, size_t n_patterns,
                    struct hn_cgroup_list *ret) {
        struct search s = { .fs = fs, .n_patterns = n_patterns };
        int r = 0;

        if (fs->fd >= 0 && n_patterns > 0) {
                r = reserve_row(&s, 0);
                if (r == 0) {
                        for (size_t i = 0; i < n_patterns; i++)
                                s.walks[i] = hn_glob_begin(patterns[i]);
                        r = search(&s, 0, 0);
                }
                free(s.walks);
        }
        if (r < 0) {
                hn_cgroup_list_deinit(&s.list);
                return r;
        }
        if (s.list.n > 1)
                qsort(s.list.items, s.list.n, sizeof(*s.list.items), by_path);
        *ret = s.list;
        return 0;
}
