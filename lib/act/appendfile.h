/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* A small private file that only grows, line by line, and is replaced whole when it has become long. One
 * process at a time: the folder is locked as long as it is open (flock(2), so the lock dies with its holder).
 */
struct hn_appendfile {
        int dir_fd, fd;
        char name[32];
        uint64_t size; /* bytes, known since nobody else writes */
        bool torn;     /* the last line has no end: the next one starts with a newline */
};

#define HN_APPENDFILE_NULL ((struct hn_appendfile){ .dir_fd = -1, .fd = -1 })

/* Opens `name` in the folder `dir`; `create` makes it (mode 0600) where it is missing.
 * Returns 0, -EBUSY (another process has the folder), -ELOOP (a symbolic link or no regular file), -EPERM
 * (somebody else owns it or may write to it: not the caller's, nor the owner's of a folder only he may write
 * to), -EMLINK (it has a second name), or what the kernel answers, such as -ENOENT. */
int hn_appendfile_open(const char *dir, const char *name, bool create, struct hn_appendfile *ret);

/* Another file in the folder of `f`, made where it is missing, under the same lock. Returns as
 * hn_appendfile_open(). */
int hn_appendfile_open_beside(const struct hn_appendfile *f, const char *name, struct hn_appendfile *ret);
void hn_appendfile_close(struct hn_appendfile *f);

/* A plain sentence for what hn_appendfile_open() returned, or NULL where strerror(3) says it as well. */
const char *hn_appendfile_error(int r);

/* All of it, NUL-terminated; the caller frees. Returns 0, -EFBIG beyond `limit` bytes, or -errno. */
int hn_appendfile_read(struct hn_appendfile *f, size_t limit, char **ret, size_t *ret_n);

/* Adds one line with one write(2). A line that went in only in part (a full disk) is cut off again.
 * `line` ends in a newline. Returns 0 or -errno. */
int hn_appendfile_append(struct hn_appendfile *f, const char *line, size_t n);

/* Puts `data` in the place of the whole file: written aside, then renamed. On failure the old one stays. */
int hn_appendfile_replace(struct hn_appendfile *f, const char *data, size_t n);

int hn_appendfile_sync(struct hn_appendfile *f);
