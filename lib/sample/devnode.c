/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/mask.h"
#include "base/parse.h"
#include "sample/devnode.h"

/* From a disk's part to the disk, its controller, its bus: real trees are less than half as deep. */
#define LEVELS_MAX 24u

/* Kinds of names, and the folder of /sys where each is found. */
static const struct kind {
        const char *prefix, *folder;
} kinds[] = {
        { "pci:", "sys/bus/pci/devices" },
        { "netdev:", "sys/class/net" },
        { "block:", "sys/class/block" },
};

static const struct kind *find_kind(const char *name, size_t n) {
        for (size_t i = 0; i < HN_ELEMENTS(kinds); i++)
                if (hn_has_prefix(name, n, kinds[i].prefix))
                        return &kinds[i];
        return NULL;
}

/* Skips `most` hexadecimal digits, one at least. */
static bool skip_hex(const char **p, const char *end, unsigned most) {
        unsigned n = 0;

        while (*p < end && isxdigit((unsigned char) **p) && n < most) {
                (*p)++;
                n++;
        }
        return n > 0;
}

static bool skip_char(const char **p, const char *end, char c) {
        if (*p == end || **p != c)
                return false;
        (*p)++;
        return true;
}

/* "3b:00.0", or with a domain in front: "0000:3b:00.0". */
static bool is_pci_address(const char *p, size_t n, bool *ret_domain) {
        const char *end = p + n, *colon = memchr(p, ':', n);
        bool domain = colon && memchr(colon + 1, ':', (size_t) (end - colon - 1));

        if (domain && (!skip_hex(&p, end, 8) || !skip_char(&p, end, ':')))
                return false;
        if (!skip_hex(&p, end, 2) || !skip_char(&p, end, ':') || !skip_hex(&p, end, 2) ||
            !skip_char(&p, end, '.') || !skip_hex(&p, end, 1) || p != end)
                return false;
        *ret_domain = domain;
        return true;
}

static bool is_file_name(const char *name, size_t n) {
        return n > 0 && n <= NAME_MAX && !memchr(name, '/', n) && !memchr(name, '\0', n) &&
               !(n <= 2 && memcmp(name, "..", n) == 0);
}

bool hn_device_is_name(const char *name, size_t n) {
        const struct kind *kind = find_kind(name, n);
        bool domain;

        if (!kind)
                return n > 0 && n < PATH_MAX && *name == '/' && !memchr(name, '\0', n);
        name += strlen(kind->prefix);
        n -= strlen(kind->prefix);
        return kind == &kinds[0] ? is_pci_address(name, n, &domain) : is_file_name(name, n);
}

/* A path from the root, as one below it. */
static const char *below(const char *path) {
        while (*path == '/')
                path++;
        return *path ? path : ".";
}

/* Where /sys has the device that a path is, or is on. */
static int find_path(const struct hn_sysroot *root, const char *path, char *buf, size_t size) {
        struct stat st;
        dev_t dev;

        if (!root->live)
                return -ENOENT;
        if (fstatat(root->fd, below(path), &st, 0) < 0)
                return -errno;
        dev = S_ISBLK(st.st_mode) || S_ISCHR(st.st_mode) ? st.st_rdev : st.st_dev;
        (void) snprintf(buf, size, "sys/dev/%s/%u:%u", S_ISCHR(st.st_mode) ? "char" : "block", major(dev),
                        minor(dev));
        return 0;
}

/* Returns the descriptor of the device's folder, or -errno. */
static int open_device(const struct hn_sysroot *root, const char *name) {
        const struct kind *kind = find_kind(name, strlen(name));
        char path[PATH_MAX];
        bool domain = true;
        int fd, r;

        if (!kind) {
                r = find_path(root, name, path, sizeof(path));
                if (r < 0)
                        return r;
        } else {
                name += strlen(kind->prefix);
                if (kind == &kinds[0])
                        (void) is_pci_address(name, strlen(name), &domain);
                (void) snprintf(path, sizeof(path), "%s/%s%s", kind->folder, domain ? "" : "0000:", name);
        }
        fd = openat(root->fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

static bool is_same(int fd, const struct stat *other) {
        struct stat st;

        return fstat(fd, &st) == 0 && st.st_dev == other->st_dev && st.st_ino == other->st_ino;
}

/* Reads numa_node here, or in the first folder above that has it. Closes `fd`. */
static int climb(const struct hn_sysroot *root, int fd, unsigned *ret) {
        struct stat top;
        int r = HN_DEVICE_ANYWHERE;

        if (fstatat(root->fd, "sys/devices", &top, 0) < 0)
                top = (struct stat){};
        for (unsigned i = 0; fd >= 0 && i < LEVELS_MAX && !is_same(fd, &top); i++) {
                char text[32];
                ssize_t n = hn_read_at(fd, text, sizeof(text), "numa_node");
                int64_t id;
                int up;

                if (n > 0) {
                        /* -1: nobody told the kernel. */
                        if (hn_parse_i64(text, (size_t) n, &id) == 0 && id >= 0 && id < HN_MASK_BITS) {
                                *ret = (unsigned) id;
                                r = 0;
                        }
                        break;
                }
                up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
                (void) close(fd);
                fd = up;
        }
        if (fd >= 0)
                (void) close(fd);
        return r;
}

int hn_device_open_host(const struct hn_privilege *privilege, struct hn_sysroot *ret) {
        int fd, r;

        r = hn_privilege_raise(privilege);
        if (r < 0)
                return r;
        fd = open("/proc/1/root", O_PATH | O_DIRECTORY | O_CLOEXEC);
        r = fd < 0 ? -errno : 0;
        hn_privilege_lower(privilege);
        if (r == 0)
                *ret = (struct hn_sysroot){ .fd = fd, .live = true };
        return r;
}

int hn_device_find_node(const struct hn_sysroot *root, const char *name, unsigned *ret_id) {
        int fd;

        if (!hn_device_is_name(name, strlen(name)))
                return -EINVAL;
        fd = open_device(root, name);
        /* A file system that is on no disk, or on several, has a number that /sys does not know. */
        if (fd == -ENOENT && *name == '/' && root->live && faccessat(root->fd, below(name), F_OK, 0) == 0)
                return HN_DEVICE_ANYWHERE;
        if (fd < 0)
                return hn_is_gone(fd) ? -ENOENT : fd;
        return climb(root, fd, ret_id);
}
