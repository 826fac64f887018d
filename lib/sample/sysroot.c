/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample/sysroot.h"

/* The longest path we build: a cgroup of many components below a root. */
#define PATH_SIZE 8192

int hn_sysroot_open(const char *path, struct hn_sysroot *ret) {
        bool live = !path || strcmp(path, "/") == 0;
        int fd = open(live ? "/" : path, O_PATH | O_DIRECTORY | O_CLOEXEC);

        if (fd < 0)
                return -errno;
        *ret = (struct hn_sysroot){ .fd = fd, .live = live };
        return 0;
}

void hn_sysroot_close(struct hn_sysroot *root) {
        if (root->fd >= 0)
                close(root->fd);
        *root = HN_SYSROOT_NULL;
}

/* Formats the path and opens it below `dirfd`. Returns a descriptor or -errno. */
_hn_printf_(3, 0) static int open_below(int dirfd, int flags, const char *fmt, va_list ap) {
        char path[PATH_SIZE];
        const char *relative = path;
        int n, fd;

        n = vsnprintf(path, sizeof(path), fmt, ap);
        if (n < 0 || (size_t) n >= sizeof(path))
                return -ENAMETOOLONG;
        while (*relative == '/')
                relative++;
        /* Not blocking: a named pipe in a capture, or in a folder of somebody else's, has no writer to wait
         * for. */
        fd = openat(dirfd, *relative ? relative : ".", flags | O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

/* Reads from offset `at` until the end or until `size` bytes are there. Returns the bytes read or -errno. */
static ssize_t fill(int fd, char *buf, size_t size, size_t at) {
        size_t n = 0;

        while (n < size) {
                ssize_t k = pread(fd, buf + n, size - n, (off_t) (at + n));

                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0)
                        return -errno;
                if (k == 0)
                        break;
                n += (size_t) k;
        }
        return (ssize_t) n;
}

ssize_t hn_pread_whole(int fd, char *buf, size_t size) {
        ssize_t n = fill(fd, buf, size, 0);

        if (n < 0)
                return n;
        if ((size_t) n == size)
                return -ENOBUFS;
        buf[n] = '\0';
        return n;
}

ssize_t hn_read_at(int dirfd, char *buf, size_t size, const char *fmt, ...) {
        va_list ap;
        ssize_t n;
        int fd;

        va_start(ap, fmt);
        fd = open_below(dirfd, 0, fmt, ap);
        va_end(ap);
        if (fd < 0)
                return fd;
        n = hn_pread_whole(fd, buf, size);
        close(fd);
        return n;
}

ssize_t hn_read_all_at(int dirfd, size_t limit, char **ret, const char *fmt, ...) {
        _hn_cleanup_(hn_freep) char *buf = NULL;
        size_t size = 4096, n = 0;
        va_list ap;
        int fd;

        va_start(ap, fmt);
        fd = open_below(dirfd, 0, fmt, ap);
        va_end(ap);
        if (fd < 0)
                return fd;

        for (;;) {
                char *bigger = realloc(buf, size);
                ssize_t k;

                if (!bigger) {
                        close(fd);
                        return -ENOMEM;
                }
                buf = bigger;
                k = fill(fd, buf + n, size - n - 1, n);
                if (k < 0 || n + (size_t) k > limit) {
                        close(fd);
                        return k < 0 ? k : -ENOBUFS;
                }
                n += (size_t) k;
                if (n + 1 < size)
                        break;
                size *= 2;
        }
        close(fd);
        buf[n] = '\0';
        *ret = HN_TAKE_PTR(buf);
        return (ssize_t) n;
}

int hn_opendir_at(int dirfd, DIR **ret, const char *fmt, ...) {
        va_list ap;
        DIR *dir;
        int fd;

        va_start(ap, fmt);
        fd = open_below(dirfd, O_DIRECTORY, fmt, ap);
        va_end(ap);
        if (fd < 0)
                return fd;
        dir = fdopendir(fd);
        if (!dir) {
                int r = -errno;

                close(fd);
                return r;
        }
        *ret = dir;
        return 0;
}
