/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "base/parse.h"
#include "devicenode.h"
#include "route.h"

/* Folders between a device and the root of /sys. */
#define DEPTH_MAX 64

static void closep(int *fd) {
        if (*fd >= 0)
                (void) close(*fd);
}

/* -ENOENT for a folder that says nothing of a node, -ENODEV for one that says there is none. */
static int read_node(int fd, unsigned *ret_node) {
        char text[32];
        ssize_t n = hn_read_at(fd, text, sizeof(text), "numa_node");
        int64_t node;

        if (n < 0)
                return (int) n;
        if (hn_parse_i64(text, (size_t) n, &node) < 0)
                return -ENOENT;
        if (node < 0 || node > UINT32_MAX)
                return -ENODEV;
        *ret_node = (unsigned) node;
        return 0;
}

/* Looks in the device's folder and upwards. */
static int node_of(const struct hn_sysroot *root, const char *path, const char *what, unsigned *ret_node,
                   struct hn_why *why) {
        _hn_cleanup_(closep) int fd = -1;

        fd = openat(root->fd, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0)
                return hn_why_errno(why, -errno, "%s: there is no such device (/%s)", what, path);
        for (unsigned depth = 0; depth < DEPTH_MAX; depth++) {
                struct stat here, above;
                int r = read_node(fd, ret_node), up;

                if (r == 0)
                        return 0;
                if (r == -ENODEV)
                        break;
                up = openat(fd, "..", O_PATH | O_DIRECTORY | O_CLOEXEC);
                if (up < 0 || fstat(fd, &here) < 0 || fstat(up, &above) < 0) {
                        r = -errno;
                        closep(&up);
                        return hn_why_errno(why, r, "%s: cannot look above it", what);
                }
                (void) close(fd);
                fd = up;
                if (here.st_dev == above.st_dev && here.st_ino == above.st_ino)
                        break;
        }
        return hn_why(why, -ENODEV, "%s: the kernel does not know its node", what);
}

static int of_class(const struct hn_sysroot *root, const char *class, const char *name, const char *what,
                    unsigned *ret_node, struct hn_why *why) {
        char path[512];

        if (*name == '\0' || strchr(name, '/') || strcmp(name, ".") == 0 || strcmp(name, "..") == 0)
                return hn_why(why, -EINVAL, "%s: \"%s\" is no name of a device", what, name);
        if (snprintf(path, sizeof(path), "sys/class/%s/%s", class, name) >= (int) sizeof(path))
                return hn_why(why, -ENAMETOOLONG, "the name of the device is too long");
        return node_of(root, path, what, ret_node, why);
}

static int of_file(const struct hn_sysroot *root, const char *file, const char *what, unsigned *ret_node,
                   struct hn_why *why) {
        struct stat st;
        char path[128];
        dev_t dev;

        if (stat(file, &st) < 0)
                return hn_why_errno(why, -errno, "%s: cannot look at it", what);
        dev = S_ISBLK(st.st_mode) || S_ISCHR(st.st_mode) ? st.st_rdev : st.st_dev;
        (void) snprintf(path, sizeof(path), "sys/dev/%s/%u:%u", S_ISCHR(st.st_mode) ? "char" : "block",
                        major(dev), minor(dev));
        return node_of(root, path, what, ret_node, why);
}

/* Hexadecimal digits at *p, at most `limit`. */
static bool read_hex(const char **p, unsigned limit, unsigned *ret) {
        size_t n = strspn(*p, "0123456789abcdefABCDEF");
        unsigned value = 0;

        if (n == 0 || n > 8)
                return false;
        for (size_t i = 0; i < n; i++) {
                char c = (*p)[i];

                value = 16 * value + (unsigned) (c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
        }
        *p += n;
        *ret = value;
        return value <= limit;
}

static int of_pci(const struct hn_sysroot *root, const char *name, const char *what, unsigned *ret_node,
                  struct hn_why *why) {
        unsigned part[3] = { 0 }, function = 0, n = 0;
        const char *p = name;
        char path[128];
        bool ok;

        do
                ok = read_hex(&p, n == 0 ? UINT32_MAX : 0xff, &part[n]);
        while (ok && ++n < 3 && *p == ':' && *++p);
        if (ok && *p == '.') {
                p++;
                ok = read_hex(&p, 7, &function);
        }
        if (!ok || *p != '\0' || n < 2 || part[n - 2] > 0xff || part[n - 1] > 0x1f)
                return hn_why(why, -EINVAL,
                              "%s: write it as pci:[SEGMENT:]BUS:DEVICE[.FUNCTION], in hexadecimal", what);
        (void) snprintf(path, sizeof(path), "sys/bus/pci/devices/%04x:%02x:%02x.%x", n == 3 ? part[0] : 0,
                        part[n - 2], part[n - 1], function);
        return node_of(root, path, what, ret_node, why);
}

int hn_devicenode_find(const struct hn_sysroot *root, const char *text, unsigned *ret_node,
                       struct hn_why *why) {
        const char *colon = strchr(text, ':');
        size_t n = colon ? (size_t) (colon - text) : 0;
        char interface[IF_NAMESIZE];
        int r;

        if (n == 6 && strncmp(text, "netdev", n) == 0)
                return of_class(root, "net", colon + 1, text, ret_node, why);
        if (n == 5 && strncmp(text, "block", n) == 0)
                return of_class(root, "block", colon + 1, text, ret_node, why);
        if (n == 4 && strncmp(text, "file", n) == 0)
                return of_file(root, colon + 1, text, ret_node, why);
        if (n == 3 && strncmp(text, "pci", n) == 0)
                return of_pci(root, colon + 1, text, ret_node, why);
        if (n != 2 || strncmp(text, "ip", n) != 0)
                return -ENODATA;
        r = hn_route_interface(colon + 1, interface, why);
        return r < 0 ? r : of_class(root, "net", interface, text, ret_node, why);
}
