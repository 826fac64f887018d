/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "base/usec.h"

/* The file with what was advised lately, in a folder that the daemon's user and root share (/run/homenode),
 * or in one of the caller's own. Beside it lies the file that is locked, which only those who may write can
 * open: else anybody could hold the lock and have all others wait. Whoever cannot write may still read.
 *
 * Content is not trusted, see reservation.h; no more than HN_RESERVEFILE_MAX of it is read. */

#define HN_RESERVEFILE_NAME "reservations"
#define HN_RESERVEFILE_LOCK "reservations.lock"
#define HN_RESERVEFILE_MAX  (256u << 10)

struct hn_reservefile {
        int fd, lock; /* -1: not open; not held */
};

#define HN_RESERVEFILE_NULL ((struct hn_reservefile){ .fd = -1, .lock = -1 })

enum {
        _HN_RESERVEFILE_OK,
        HN_RESERVEFILE_READONLY, /* somebody else's folder */
        HN_RESERVEFILE_BUSY, /* the lock was held by others for all of `wait`: what is read may be behind */
};

/* Opens the files in `dir`, making them if need be, and takes the lock. Returns 0 or one of the above; or
 * -errno: -ENOENT without such a folder, or where nothing is to be read; -EPERM for files that somebody else
 * could have put there, -ELOOP for what is no regular file. The caller closes `*ret`, which lets the lock go.
 */
int hn_reservefile_open(const char *dir, hn_usec_t wait, struct hn_reservefile *ret);
void hn_reservefile_close(struct hn_reservefile *f);

/* Reads it. Returns the length, or -errno; the caller frees `*ret`. Of a file that is longer than allowed,
 * the end. */
ssize_t hn_reservefile_read(const struct hn_reservefile *f, char **ret);

/* Adds lines at the end in one piece, with or without the lock; puts them in place of all that is there,
 * under the lock only: what somebody else adds in the middle of it may be lost. Return 0 or -errno. */
int hn_reservefile_append(const struct hn_reservefile *f, const char *lines, size_t n);
int hn_reservefile_replace(const struct hn_reservefile *f, const char *lines, size_t n);
