/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/conffiles.h"

static const char *const folders[] = { "/etc", "/run", "/usr/local/lib", "/usr/lib" };

/* A folder of a package has a handful; this many is a mistake, and a bound on what it may cost. */
#define FILES_MAX 4096u

void hn_conffiles_deinit(struct hn_conffiles *files) {
        for (size_t i = 0; i < files->n; i++) {
                free(files->files[i].path);
                free(files->files[i].instead);
        }
        free(files->files);
        *files = HN_CONFFILES_NULL;
}

/* Takes over `path`. `instead` is the path of the file that is read in its place, or NULL. */
static int add(struct hn_conffiles *files, char *path, size_t name, const char *instead) {
        struct hn_conffile *grown = reallocarray(files->files, files->n + 1, sizeof(*grown));
        char *copy = instead ? strdup(instead) : NULL;

        if (grown)
                files->files = grown;
        if (!grown || (instead && !copy)) {
                free(path);
                free(copy);
                return -ENOMEM;
        }
        grown[files->n++] = (struct hn_conffile){ .path = path, .name = name, .instead = copy };
        return 0;
}

static int add_main(struct hn_conffiles *files, const char *root, bool all) {
        for (size_t i = 0; i < HN_ELEMENTS(folders); i++) {
                struct stat st;
                char *path;

                if (asprintf(&path, "%s%s/homenode/homenode.conf", root, folders[i]) < 0)
                        return -ENOMEM;
                /* Anything but "not there" counts as there, and is complained about when it is read. */
                if (lstat(path, &st) < 0 && (errno == ENOENT || errno == ENOTDIR))
                        free(path);
                else {
                        int r = add(files, path, 0, files->n > 0 ? files->files[0].path : NULL);

                        if (r < 0 || !all)
                                return r;
                }
        }
        return 0;
}

/* The path of the file of that name which counts, NULL for none. */
static const char *find_known(const struct hn_conffiles *files, size_t from, const char *name) {
        for (size_t i = from; i < files->n; i++)
                if (!files->files[i].instead &&
                    strcmp(files->files[i].path + files->files[i].name, name) == 0)
                        return files->files[i].path;
        return NULL;
}

static int add_folder(struct hn_conffiles *files, size_t from, const char *root, const char *folder,
                      bool all) {
        _hn_cleanup_(hn_freep) char *path = NULL;
        DIR *dir;
        int r = 0;

        if (asprintf(&path, "%s%s/homenode/homenode.conf.d", root, folder) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        dir = opendir(path);
        if (!dir)
                return errno == ENOENT || errno == ENOTDIR ? 0 : add(files, HN_TAKE_PTR(path), 0, NULL);

        while (r == 0 && files->n - from < FILES_MAX) {
                const struct dirent *entry = readdir(dir);
                const char *known;
                size_t length;
                char *file;

                if (!entry)
                        break;
                length = strlen(entry->d_name);
                if (entry->d_name[0] == '.' || length <= strlen(".conf") ||
                    strcmp(entry->d_name + length - strlen(".conf"), ".conf") != 0)
                        continue;
                known = find_known(files, from, entry->d_name);
                if (known && !all)
                        continue;
                if (asprintf(&file, "%s/%s", path, entry->d_name) < 0)
                        r = -ENOMEM;
                else
                        r = add(files, file, strlen(path) + 1, known);
        }
        (void) closedir(dir);
        return r;
}

static int by_name(const void *a, const void *b) {
        const struct hn_conffile *x = a, *y = b;
        int r = strcmp(x->path + x->name, y->path + y->name);

        if (r == 0)
                r = HN_CMP(x->instead != NULL, y->instead != NULL);
        return r != 0 ? r : strcmp(x->path, y->path);
}

static int list(const char *root, bool all, struct hn_conffiles *ret) {
        _hn_cleanup_(hn_conffiles_deinit) struct hn_conffiles files = HN_CONFFILES_NULL;
        size_t from;
        int r;

        r = add_main(&files, root, all);
        if (r < 0)
                return r;
        from = files.n;
        for (size_t i = 0; i < HN_ELEMENTS(folders); i++) {
                r = add_folder(&files, from, root, folders[i], all);
                if (r < 0)
                        return r;
        }
        if (files.n > from)
                qsort(files.files + from, files.n - from, sizeof(*files.files), by_name);
        *ret = files;
        files = HN_CONFFILES_NULL;
        return 0;
}

int hn_conffiles_list(const char *root, struct hn_conffiles *ret) {
        return list(root, /* all= */ false, ret);
}

int hn_conffiles_list_all(const char *root, struct hn_conffiles *ret) {
        return list(root, /* all= */ true, ret);
}

int hn_conffile_read(const char *path, size_t limit, char **ret, size_t *ret_n) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        struct stat st;
        size_t n = 0;
        ssize_t got = 0;
        int fd, r = 0;

        /* O_NONBLOCK: a FIFO called x.conf must not hold the daemon up. */
        fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
        if (fd < 0)
                return -errno;
        if (fstat(fd, &st) < 0)
                r = -errno;
        else if (S_ISDIR(st.st_mode))
                r = -EISDIR;
        else if (!S_ISREG(st.st_mode) && !(S_ISCHR(st.st_mode) && st.st_rdev == makedev(1, 3)))
                r = -EBADF;
        else {
                text = malloc(limit + 1);
                if (!text)
                        r = -ENOMEM;
        }
        while (r == 0 && n <= limit) {
                got = read(fd, text + n, limit + 1 - n);
                if (got < 0)
                        r = -errno;
                if (got <= 0)
                        break;
                n += (size_t) got;
        }
        (void) close(fd);
        if (r < 0)
                return r;
        if (n > limit)
                return -EFBIG;
        *ret = HN_TAKE_PTR(text);
        *ret_n = n;
        return 0;
}

const char *hn_conffile_strerror(int r) {
        switch (r) {
        case -EFBIG: return "it is larger than 1 MiB";
        case -EBADF: return "it is not a regular file";
        case -ENOENT: return "it is a link to nothing";
        default: return strerror(-r);
        }
}
