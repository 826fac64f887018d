/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "fakeroot.h"
#include "rows.h"
#include "sample/devnode.h"

#define PCI "sys/devices/pci0000:00/"

static const struct hn_tree_file files[] = {
        /* above all devices: never to be believed */
        { "numa_node", "7\n", 0 },
        { "sys/numa_node", "7\n", 0 },
        { "sys/devices/numa_node", "7\n", 0 },
        { PCI "0000:3b:00.0/numa_node", "1\n", 0 },
        { PCI "0000:3b:00.0/net/eth0/uevent", "", 0 },
        { PCI "0000:3c:00.0/numa_node", "-1\n", 0 },
        { PCI "0000:3c:00.0/virtio1/net/eth1/uevent", "", 0 },
        { PCI "0000:3d:00.0/numa_node", "x\n", 0 },
        { PCI "0000:3e:00.0/numa_node", "99999999999\n", 0 },
        { PCI "0001:00:00.0/numa_node", "3\n", 0 },
        { PCI "0001:00:00.0/block/sda/sda1/partition", "1\n", 0 },
        { PCI "0001:00:01.0/numa_node", "3\n", 0 },
        { PCI "0001:00:01.0/block/sdb/uevent", "", 0 },
        { PCI "0001:00:02.0/numa_node", "2\n", 0 },
        { PCI "0001:00:02.0/block/sdc/uevent", "", 0 },
        { "sys/devices/virtual/net/br0/uevent", "", 0 },
        { "sys/devices/virtual/block/dm-0/uevent", "", 0 },
        { "sys/devices/virtual/block/dm-1/uevent", "", 0 },
        { "sys/devices/virtual/block/dm-2/uevent", "", 0 },
        { "sys/devices/virtual/block/dm-3/slaves/.hidden/uevent", "", 0 },
        { "srv/file", "", 0 },
};

static const struct {
        const char *path, *to;
} links[] = {
        { "sys/bus/pci/devices/0000:3b:00.0", "../../../devices/pci0000:00/0000:3b:00.0" },
        { "sys/bus/pci/devices/0000:3c:00.0", "../../../devices/pci0000:00/0000:3c:00.0" },
        { "sys/bus/pci/devices/0000:3d:00.0", "../../../devices/pci0000:00/0000:3d:00.0" },
        { "sys/bus/pci/devices/0000:3e:00.0", "../../../devices/pci0000:00/0000:3e:00.0" },
        { "sys/class/net/eth0", "../../devices/pci0000:00/0000:3b:00.0/net/eth0" },
        { "sys/class/net/eth1", "../../devices/pci0000:00/0000:3c:00.0/virtio1/net/eth1" },
        { "sys/class/net/br0", "../../devices/virtual/net/br0" },
        { "sys/class/net/dangling", "../../devices/nowhere" },
        { "sys/class/block/sda1", "../../devices/pci0000:00/0001:00:00.0/block/sda/sda1" },
        { "sys/class/block/dm-0", "../../devices/virtual/block/dm-0" },
        { "sys/class/block/dm-1", "../../devices/virtual/block/dm-1" },
        { "sys/class/block/dm-2", "../../devices/virtual/block/dm-2" },
        { "sys/class/block/dm-3", "../../devices/virtual/block/dm-3" },
        /* of two at one node; of two at two; of itself */
        { "sys/devices/virtual/block/dm-0/slaves/sda1",
          "../../../../pci0000:00/0001:00:00.0/block/sda/sda1" },
        { "sys/devices/virtual/block/dm-0/slaves/sdb", "../../../../pci0000:00/0001:00:01.0/block/sdb" },
        { "sys/devices/virtual/block/dm-1/slaves/dm-0", "../../dm-0" },
        { "sys/devices/virtual/block/dm-1/slaves/sdc", "../../../../pci0000:00/0001:00:02.0/block/sdc" },
        { "sys/devices/virtual/block/dm-2/slaves/dm-2", "../../dm-2" },
};

static void make(struct hn_tree *tree) {
        hn_tree_make(tree);
        hn_tree_write_all(tree, files, HN_ELEMENTS(files));
        for (size_t i = 0; i < HN_ELEMENTS(links); i++) {
                char full[512];

                /* Makes the folders. */
                hn_tree_write(tree, links[i].path, "", 0);
                hn_tree_delete(tree, links[i].path);
                (void) snprintf(full, sizeof(full), "%s/%s", tree->path, links[i].path);
                assert_int_equal(symlink(links[i].to, full), 0);
        }
}

static void names(void **state) {
        static const struct {
                const char *what;
                int r;
                unsigned id;
        } rows[] = {
                { "", -EINVAL, 0 },
                { "eth0", -EINVAL, 0 },
                { "netdev", -EINVAL, 0 },
                { "netdev:", -EINVAL, 0 },
                { "netdev:.", -EINVAL, 0 },
                { "netdev:..", -EINVAL, 0 },
                { "netdev:../net/eth0", -EINVAL, 0 },
                { "netdev:eth9", -ENOENT, 0 },
                { "netdev:dangling", -ENOENT, 0 },
                { "netdev:a\nb", -ENOENT, 0 },
                { "pci:3f:00.0", -ENOENT, 0 },
                { "netdev:eth0", 0, 1 },
                { "pci:0000:3b:00.0", 0, 1 },
                { "pci:3b:00.0", 0, 1 },
                /* -1 is what a machine says that does not know */
                { "netdev:eth1", -ENODATA, 0 },
                { "pci:3c:00.0", -ENODATA, 0 },
                { "pci:3d:00.0", -ENODATA, 0 },
                { "pci:3e:00.0", -ENODATA, 0 },
                { "netdev:br0", -ENODATA, 0 },
                { "block:sda1", 0, 3 },
                { "block:dm-0", 0, 3 },
                { "block:dm-1", -ENODATA, 0 },
                { "block:dm-2", -ENODATA, 0 },
                { "block:dm-3", -ENODATA, 0 },
                { "/no/such/file", -ENOENT, 0 },
        };
        struct hn_tree tree;

        (void) state;
        make(&tree);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                unsigned id = 77;

                ROW_EQUAL(i, hn_devnode_find(&tree.root, rows[i].what, &id), rows[i].r);
                if (rows[i].r == 0)
                        ROW_EQUAL(i, id, rows[i].id);
        }
        hn_tree_drop(&tree);
}

/* A name longer than any. */
static void a_long_name(void **state) {
        char what[2048];
        struct hn_tree tree;
        unsigned id;

        (void) state;
        make(&tree);
        memset(what, 'x', sizeof(what));
        memcpy(what, "block:", 6);
        what[sizeof(what) - 1] = '\0';
        assert_int_equal(hn_devnode_find(&tree.root, what, &id), -ENAMETOOLONG);
        hn_tree_drop(&tree);
}

/* The file lies on what the test runs on; only its number is led to a device of ours. */
static void a_path_is_where_its_file_system_is(void **state) {
        char link[128], full[512];
        struct hn_tree tree;
        struct stat st;
        unsigned id = 77;

        (void) state;
        make(&tree);
        assert_int_equal(hn_devnode_find(&tree.root, "/srv/file", &id), -ENODATA);
        (void) snprintf(full, sizeof(full), "%s/srv/file", tree.path);
        assert_int_equal(stat(full, &st), 0);
        (void) snprintf(link, sizeof(link), "sys/dev/block/%u:%u", major(st.st_dev), minor(st.st_dev));
        hn_tree_write(&tree, link, "", 0);
        hn_tree_delete(&tree, link);
        (void) snprintf(full, sizeof(full), "%s/%s", tree.path, link);
        assert_int_equal(symlink("../../devices/pci0000:00/0001:00:02.0/block/sdc", full), 0);
        assert_int_equal(hn_devnode_find(&tree.root, "/srv/file", &id), 0);
        assert_int_equal(id, 2);
        assert_int_equal(hn_devnode_find(&tree.root, "//srv", &id), 0);
        assert_int_equal(hn_devnode_find(&tree.root, "/", &id), 0);
        hn_tree_drop(&tree);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names),
                cmocka_unit_test(a_long_name),
                cmocka_unit_test(a_path_is_where_its_file_system_is),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
