/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Which configuration files there are, in the order in which they are read: homenode.conf of the first folder
 * that has one, then all homenode.conf.d/NAME.conf, ascending by NAME over all folders. Of files with the
 * same NAME the first folder's counts; an empty file or a link to /dev/null in its place turns the others
 * off. A folder that cannot be listed is listed itself, so that reading it tells why. The folders are /etc,
 * /run, /usr/local/lib, /usr/lib, in this order, as in systemd. */
struct hn_conffile {
        char *path;
        size_t name;   /* offset of the file's name in path */
        char *instead; /* of one that is not read: the path of the file that is; else NULL */
};

struct hn_conffiles {
        struct hn_conffile *files;
        size_t n;
};

#define HN_CONFFILES_NULL ((struct hn_conffiles){})

void hn_conffiles_deinit(struct hn_conffiles *files);

/* `root` is put before every path. Returns 0 or -ENOMEM. */
int hn_conffiles_list(const char *root, struct hn_conffiles *ret);

/* The same, with those that another file keeps from being read, each behind that one. */
int hn_conffiles_list_all(const char *root, struct hn_conffiles *ret);

/* The text of a regular file, at most `limit` bytes; also /dev/null, which is empty. Never waits for the
 * other end of a FIFO. The caller frees `*ret`. Returns 0, -EFBIG, -EISDIR, -EBADF for what is no file to
 * read from, or -errno. */
int hn_conffile_read(const char *path, size_t limit, char **ret, size_t *ret_n);

/* What is wrong with a file, for people: as strerror(3), but in words of files where errno has none. */
const char *hn_conffile_strerror(int r);
