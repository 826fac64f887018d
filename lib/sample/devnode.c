/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/parse.h"
#include "sample/devnode.h"

/* Folders above a device, and devices below one another; more is no tree of devices. */
#define CLIMB_MAX 32
#define STACK_MAX 8

/* Where the climb ends: above are no devices, and above the root of a capture is somebody else's machine. */
struct top {
        struct stat devices, root;
        bool has_devices;
};

static int find_below(const struct top *top, int dirfd, const char *path, int depth, unsigned *ret_id);

static bool is_same(const struct stat *a, const struct stat *b) {
        return a->st_dev == b->st_dev && a->st_ino == b->st_ino;
}

static bool is_top(const struct top *top, int dir) {
        struct stat st;

        return fstat(dir, &st) < 0 || is_same(&st, &top->root) ||
               (top->has_devices && is_same(&st, &top->devices));
}

/* The number in the folder's numa_node, -1 for none. */
static int64_t read_number(int dir) {
        char text[32];
        ssize_t n = hn_read_at(dir, text, sizeof(text), "numa_node");
        int64_t id;

        return n >= 0 && hn_parse_i64(text, (size_t) n, &id) == 0 && id >= 0 && id <= UINT32_MAX ? id : -1;
}

/* What the devices in the folder "slaves" agree on. */
static int ask_parts(const struct top *top, int dir, int depth, unsigned *ret_id) {
        bool any = false, same = true;
        DIR *slaves;
        int r;

        r = hn_opendir_at(dir, &slaves, "slaves");
        if (r < 0)
                return -ENODATA;
        for (const struct dirent *de; same && (de = readdir(slaves));) {
                unsigned id;

                if (de->d_name[0] == '.')
                        continue;
                same = find_below(top, dirfd(slaves), de->d_name, depth + 1, &id) == 0 &&
                       (!any || id == *ret_id);
                if (same)
                        *ret_id = id;
                any = true;
        }
        (void) closedir(slaves);
        return any && same ? 0 : -ENODATA;
}

/* A folder of a device, or a link to one: up from where it really is, until a folder has a node to tell. */
static int find_below(const struct top *top, int dirfd, const char *path, int depth, unsigned *ret_id) {
        int dir = openat(dirfd, path, O_PATH | O_DIRECTORY | O_CLOEXEC), r = -ENODATA;

        if (dir < 0)
                return -errno;
        if (depth < STACK_MAX)
                r = ask_parts(top, dir, depth, ret_id);
        for (unsigned i = 0; r < 0 && i < CLIMB_MAX && !is_top(top, dir); i++) {
                int64_t id = read_number(dir);
                int above = id < 0 ? openat(dir, "..", O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;

                if (id >= 0) {
                        *ret_id = (unsigned) id;
                        r = 0;
                }
                if (above < 0)
                        break;
                (void) close(dir);
                dir = above;
        }
        (void) close(dir);
        return r;
}

static int find_from_root(const struct hn_sysroot *root, const char *path, unsigned *ret_id) {
        struct top top = { .has_devices = false };

        top.has_devices = fstatat(root->fd, "sys/devices", &top.devices, 0) == 0;
        if (fstat(root->fd, &top.root) < 0)
                return -errno;
        return find_below(&top, root->fd, path, 0, ret_id);
}

/* Names are one component. */
static int find_named(const struct hn_sysroot *root, const char *folder, const char *name, unsigned *ret_id) {
        char path[512];
        int n;

        if (!*name || strchr(name, '/') || name[0] == '.')
                return -EINVAL;
        n = snprintf(path, sizeof(path), "%s/%s", folder, name);
        if (n < 0 || (size_t) n >= sizeof(path))
                return -ENAMETOOLONG;
        return find_from_root(root, path, ret_id);
}

static int find_path(const struct hn_sysroot *root, const char *path, unsigned *ret_id) {
        bool character;
        struct stat st;
        char link[64];
        dev_t device;

        while (*path == '/')
                path++;
        if (fstatat(root->fd, *path ? path : ".", &st, 0) < 0)
                return -errno;
        character = S_ISCHR(st.st_mode);
        device = character || S_ISBLK(st.st_mode) ? st.st_rdev : st.st_dev;
        (void) snprintf(link, sizeof(link), "sys/dev/%s/%u:%u", character ? "char" : "block", major(device),
                        minor(device));
        /* A file system without a device, such as tmpfs or an overlay, has a number all the same. */
        return find_from_root(root, link, ret_id) == 0 ? 0 : -ENODATA;
}

int hn_devnode_find(const struct hn_sysroot *root, const char *what, unsigned *ret_id) {
        static const struct {
                const char *prefix, *folder;
        } kinds[] = {
                { "pci:", "sys/bus/pci/devices" },
                { "netdev:", "sys/class/net" },
                { "block:", "sys/class/block" },
        };
        char address[64];

        if (*what == '/')
                return find_path(root, what, ret_id);
        for (size_t i = 0; i < HN_ELEMENTS(kinds); i++) {
                const char *name = what + strlen(kinds[i].prefix);

                if (!hn_has_prefix(what, strlen(what), kinds[i].prefix))
                        continue;
                /* "3b:00.0" is of the first domain. */
                if (i == 0 && strlen(name) < 10) {
                        (void) snprintf(address, sizeof(address), "0000:%s", name);
                        name = address;
                }
                return find_named(root, kinds[i].folder, name, ret_id);
        }
        return -EINVAL;
}
