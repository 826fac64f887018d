/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "act/appendfile.h"
#include "act/writeall.h"
#include "base/macro.h"

static void closep(int *fd) {
        if (*fd >= 0)
                (void) close(*fd);
}

static int take_fd(int *fd) {
        int taken = *fd;

        *fd = -1;
        return taken;
}

/* What is written here is acted upon with privilege, so it has to be by somebody who has a right to that: us,
 * or whoever owns the folder, if nobody else may put files there (root looking after the daemon's own user).
 */
static int check_trust(int dir_fd, int fd) {
        struct stat file, dir;

        if (fstat(fd, &file) < 0 || fstat(dir_fd, &dir) < 0)
                return -errno;
        if (!S_ISREG(file.st_mode))
                return -ELOOP;
        if (file.st_nlink > 1)
                return -EMLINK;
        if (file.st_mode & (S_IWGRP | S_IWOTH))
                return -EPERM;
        if (file.st_uid == geteuid())
                return 0;
        return file.st_uid == dir.st_uid && !(dir.st_mode & (S_IWGRP | S_IWOTH)) ? 0 : -EPERM;
}

/* Takes `dir_fd` over, which is locked, if it succeeds. */
static int open_in(int *dir_fd, const char *name, bool create, struct hn_appendfile *ret) {
        _hn_cleanup_(closep) int fd = -1;
        struct hn_appendfile f = HN_APPENDFILE_NULL;
        struct stat st;
        char last;
        int r;

        assert(strlen(name) < sizeof(f.name));

        /* Not blocking, lest a named pipe hold us up; on a regular file it says nothing. */
        fd = openat(*dir_fd, name,
                    O_RDWR | O_APPEND | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC |
                            (create ? O_CREAT : 0),
                    0600);
        if (fd < 0)
                return errno == EISDIR || errno == ENXIO ? -ELOOP : -errno;
        r = check_trust(*dir_fd, fd);
        if (r < 0)
                return r;
        if (fstat(fd, &st) < 0)
                return -errno;

        f.size = (uint64_t) st.st_size;
        f.torn = f.size > 0 && (pread(fd, &last, 1, st.st_size - 1) != 1 || last != '\n');
        (void) snprintf(f.name, sizeof(f.name), "%s", name);
        f.dir_fd = take_fd(dir_fd);
        f.fd = take_fd(&fd);
        *ret = f;
        return 0;
}

int hn_appendfile_open(const char *dir, const char *name, bool create, struct hn_appendfile *ret) {
        _hn_cleanup_(closep) int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

        if (dir_fd < 0)
                return -errno;
        if (flock(dir_fd, LOCK_EX | LOCK_NB) < 0)
                return errno == EWOULDBLOCK ? -EBUSY : -errno;
        return open_in(&dir_fd, name, create, ret);
}

int hn_appendfile_open_beside(const struct hn_appendfile *f, const char *name, struct hn_appendfile *ret) {
        /* The lock is that of the open folder, and so of its duplicate. */
        _hn_cleanup_(closep) int dir_fd = fcntl(f->dir_fd, F_DUPFD_CLOEXEC, 3);

        return dir_fd < 0 ? -errno : open_in(&dir_fd, name, /* create= */ true, ret);
}

void hn_appendfile_close(struct hn_appendfile *f) {
        closep(&f->fd);
        closep(&f->dir_fd);
        *f = HN_APPENDFILE_NULL;
}

const char *hn_appendfile_error(int r) {
        switch (r) {
        case -EBUSY: return "another homenoded holds it";
        case -ELOOP: return "it is not a regular file, or a symbolic link stands in its place";
        case -EPERM: return "it belongs to somebody else, or others may write to it";
        case -EMLINK: return "it has a second name somewhere (a hard link)";
        case -EFBIG: return "it is larger than any ledger can be";
        default: return NULL;
        }
}

int hn_appendfile_read(struct hn_appendfile *f, size_t limit, char **ret, size_t *ret_n) {
        _hn_cleanup_(hn_freep) char *buf = NULL;
        size_t n = 0;

        if (f->size > limit)
                return -EFBIG;
        buf = malloc((size_t) f->size + 1);
        if (!buf)
                return -ENOMEM;
        while (n < f->size) {
                ssize_t k = pread(f->fd, buf + n, (size_t) f->size - n, (off_t) n);

                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0)
                        return -errno;
                if (k == 0)
                        break;
                n += (size_t) k;
        }
        buf[n] = '\0';
        *ret = HN_TAKE_PTR(buf);
        *ret_n = n;
        return 0;
}

int hn_appendfile_append(struct hn_appendfile *f, const char *line, size_t n) {
        struct iovec part[2] = {
                { .iov_base = (void *) "\n", .iov_len = f->torn ? 1 : 0 },
                { .iov_base = (void *) line, .iov_len = n },
        };
        size_t whole = part[0].iov_len + n;
        ssize_t k;

        assert(n > 0 && line[n - 1] == '\n');

        do
                k = writev(f->fd, part, HN_ELEMENTS(part));
        while (k < 0 && errno == EINTR);
        if (k < 0)
                return -errno;
        if ((size_t) k != whole) {
                if (ftruncate(f->fd, (off_t) f->size) < 0) {
                        f->size += (uint64_t) k;
                        f->torn = k > 0 || f->torn;
                }
                return -ENOSPC;
        }
        f->size += (uint64_t) k;
        f->torn = false;
        return 0;
}

int hn_appendfile_replace(struct hn_appendfile *f, const char *data, size_t n) {
        _hn_cleanup_(closep) int fd = -1;
        char aside[sizeof(f->name) + 8];
        struct stat st;
        int r;

        if (fstat(f->fd, &st) < 0)
                return -errno;
        (void) snprintf(aside, sizeof(aside), "%s.new", f->name);
        (void) unlinkat(f->dir_fd, aside, 0); /* left over by one who died here */
        fd = openat(f->dir_fd, aside, O_RDWR | O_APPEND | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0)
                return -errno;

        r = hn_write_all(fd, data, n);
        if (r == 0 && fdatasync(fd) < 0)
                r = -errno;
        /* Root may tidy up the file of the daemon's user, who has to be able to open it again. */
        if (r == 0 && st.st_uid != geteuid() && fchown(fd, st.st_uid, st.st_gid) < 0)
                r = -errno;
        if (r == 0 && renameat(f->dir_fd, aside, f->dir_fd, f->name) < 0)
                r = -errno;
        if (r < 0) {
                (void) unlinkat(f->dir_fd, aside, 0);
                return r;
        }
        (void) close(f->fd);
        f->fd = take_fd(&fd);
        f->size = n;
        f->torn = n > 0 && data[n - 1] != '\n';
        return 0;
}

int hn_appendfile_sync(struct hn_appendfile *f) {
        return fdatasync(f->fd) < 0 ? -errno : 0;
}
