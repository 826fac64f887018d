/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/macro.h"

/* The root all paths hang on: "/" or a captured tree. A capture can be read like a machine, never acted on.
 */
struct hn_sysroot {
        int fd;
        bool live; /* true only for "/" */
};

#define HN_SYSROOT_NULL ((struct hn_sysroot){ .fd = -1 })

/* `path` NULL or "/" is the live machine. Returns 0 or -errno. */
int hn_sysroot_open(const char *path, struct hn_sysroot *ret);
void hn_sysroot_close(struct hn_sysroot *root);

/* Reads a file relative to `dirfd` (leading slashes are dropped, so that "/proc/stat" stays below the root)
 * into `buf` and NUL-terminates it; the NUL counts against `size`. Returns the length, -ENOBUFS where the
 * file is longer than the buffer, or what open or read answered: -ENOENT for a file that is not there, -ESRCH
 * for a task that died between the two, -ESPIPE for a named pipe, which is not waited for. */
ssize_t hn_read_at(int dirfd, char *buf, size_t size, const char *fmt, ...) _hn_printf_(4, 5);

/* The same into memory of its own, up to `limit` bytes. The caller frees `*ret`, which is NUL-terminated. */
ssize_t hn_read_all_at(int dirfd, size_t limit, char **ret, const char *fmt, ...) _hn_printf_(4, 5);

/* As hn_read_at(), over an open file and from its start: what a kept descriptor of /proc is for. */
ssize_t hn_pread_whole(int fd, char *buf, size_t size);

/* Opens a folder below `dirfd` for readdir(3). Returns 0 or -errno. The caller closes `*ret`. */
int hn_opendir_at(int dirfd, DIR **ret, const char *fmt, ...) _hn_printf_(3, 4);

/* Names of files and tasks that are gone, never were, or left while we looked: part of life, not an error. */
static inline bool hn_is_gone(int r) {
        return r == -ENOENT || r == -ESRCH || r == -ENOTDIR;
}
