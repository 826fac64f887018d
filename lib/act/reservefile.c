/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "act/reservefile.h"
#include "base/macro.h"
#include "sample/clock.h"

/* Between two looks at a lock that somebody has: a whole answer takes him less. */
#define NAP_NSEC 1000000L

static void closep(int *fd) {
        if (*fd >= 0)
                (void) close(*fd);
        *fd = -1;
}

void hn_reservefile_close(struct hn_reservefile *f) {
        closep(&f->fd);
        closep(&f->lock);
}

/* Only us, or whoever owns the folder if nobody else may put files there. */
static int check(int dir, int fd) {
        struct stat file, folder;

        if (fstat(fd, &file) < 0 || fstat(dir, &folder) < 0)
                return -errno;
        if (!S_ISREG(file.st_mode))
                return -ELOOP;
        if (file.st_nlink > 1 || (file.st_mode & (S_IWGRP | S_IWOTH)) ||
            (folder.st_mode & (S_IWGRP | S_IWOTH)))
                return -EPERM;
        if (file.st_uid != geteuid() && file.st_uid != folder.st_uid && file.st_uid != 0)
                return -EPERM;
        /* What root makes in the daemon's folder the daemon has to be able to write to. */
        if (geteuid() == 0 && file.st_uid == 0 && folder.st_uid != 0 &&
            fchown(fd, folder.st_uid, folder.st_gid) < 0)
                return -errno;
        return 0;
}

/* Returns a descriptor that was checked, or -errno. */
static int open_checked(int dir, const char *name, int flags, mode_t mode) {
        int fd, r;

        /* Not blocking, lest a named pipe hold us up. */
        fd = openat(dir, name, flags | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, mode);
        if (fd < 0)
                return errno == ENXIO || errno == EISDIR ? -ELOOP : -errno;
        r = check(dir, fd);
        if (r < 0) {
                (void) close(fd);
                return r;
        }
        return fd;
}

/* Polling, as a lock that is waited for in the kernel has no end of its own. By the clock, since a nap may be
 * long on a busy machine; and by number, as a clock that stands still would never say that it is time. */
static int take_lock(int fd, hn_usec_t wait) {
        hn_usec_t until = hn_usec_add(hn_clock(CLOCK_MONOTONIC), wait);
        const struct timespec nap = { .tv_nsec = NAP_NSEC };
        hn_usec_t naps = wait / (NAP_NSEC / 1000);

        while (flock(fd, LOCK_EX | LOCK_NB) < 0) {
                if (errno != EWOULDBLOCK && errno != EINTR)
                        return -errno;
                if (naps-- == 0 || hn_clock(CLOCK_MONOTONIC) >= until)
                        return HN_RESERVEFILE_BUSY;
                (void) nanosleep(&nap, NULL);
        }
        return 0;
}

static int open_in(int dir, hn_usec_t wait, struct hn_reservefile *f) {
        int r;

        f->lock = open_checked(dir, HN_RESERVEFILE_LOCK, O_RDWR | O_CREAT, 0600);
        if (f->lock == -EACCES || f->lock == -EROFS) {
                f->lock = -1;
                f->fd = open_checked(dir, HN_RESERVEFILE_NAME, O_RDONLY, 0);
                return f->fd < 0 ? f->fd : HN_RESERVEFILE_READONLY;
        }
        if (f->lock < 0)
                return f->lock;
        r = take_lock(f->lock, wait);
        if (r != 0)
                closep(&f->lock);
        if (r < 0)
                return r;
        f->fd = open_checked(dir, HN_RESERVEFILE_NAME, O_RDWR | O_APPEND | O_CREAT, 0644);
        return f->fd < 0 ? f->fd : r;
}

int hn_reservefile_open(const char *path, hn_usec_t wait, struct hn_reservefile *ret) {
        _hn_cleanup_(hn_reservefile_close) struct hn_reservefile f = HN_RESERVEFILE_NULL;
        _hn_cleanup_(closep) int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        int r;

        if (dir < 0)
                return -errno;
        r = open_in(dir, wait, &f);
        if (r < 0)
                return r;
        *ret = f;
        f = HN_RESERVEFILE_NULL;
        return r;
}

ssize_t hn_reservefile_read(const struct hn_reservefile *f, char **ret) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        struct stat st;
        size_t size, n = 0;
        off_t from;

        if (fstat(f->fd, &st) < 0)
                return -errno;
        size = (size_t) HN_MIN(st.st_size, (off_t) HN_RESERVEFILE_MAX);
        from = st.st_size - (off_t) size;
        text = malloc(size + 1);
        if (!text)
                return -ENOMEM;
        while (n < size) {
                ssize_t k = pread(f->fd, text + n, size - n, from + (off_t) n);

                if (k < 0 && errno == EINTR)
                        continue;
                if (k < 0)
                        return -errno;
                if (k == 0)
                        break;
                n += (size_t) k;
        }
        text[n] = '\0';
        *ret = HN_TAKE_PTR(text);
        return (ssize_t) n;
}

int hn_reservefile_append(const struct hn_reservefile *f, const char *lines, size_t n) {
        ssize_t k;

        do
                k = write(f->fd, lines, n);
        while (k < 0 && errno == EINTR);
        if (k < 0)
                return -errno;
        /* Half a line is left behind, which readers pass over and the next to write sweeps out. */
        return (size_t) k == n ? 0 : -ENOSPC;
}

int hn_reservefile_replace(const struct hn_reservefile *f, const char *lines, size_t n) {
        if (ftruncate(f->fd, 0) < 0)
                return -errno;
        return hn_reservefile_append(f, lines, n);
}
