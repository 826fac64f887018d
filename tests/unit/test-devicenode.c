/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "devicenode.h"
#include "fakeroot.h"
#include "rows.h"

#define PCI "sys/devices/pci0000:40/"

static const struct hn_tree_file files[] = {
        { PCI "0000:40:01.0/numa_node", "2\n", 0 },
        { PCI "0000:40:01.0/virtio1/net/eth0/mtu", "1500\n", 0 },
        { PCI "0000:40:01.0/0000:41:00.3/numa_node", "1\n", 0 },
        { PCI "0000:40:01.0/0000:41:00.3/block/sda/sda1/size", "8\n", 0 },
        { PCI "0000:40:02.0/numa_node", "-1\n", 0 },
        { PCI "0000:40:02.0/block/sdb/size", "8\n", 0 },
        { PCI "0000:40:03.0/numa_node", "over there\n", 0 },
        { PCI "0000:40:04.0/numa_node", "99999999999\n", 0 },
        { PCI "0001:40:05.0/numa_node", "7\n", 0 },
        { "sys/devices/virtual/net/lo/mtu", "65536\n", 0 },
        { "sys/class/net/bonding_masters", "\n", 0 },
        { "sys/class/block/none", "", 0 },
        { "sys/bus/pci/devices/none", "", 0 },
        { "sys/dev/block/none", "", 0 },
        { "sys/dev/char/none", "", 0 },
};

static const struct {
        const char *link, *to;
} links[] = {
        { "sys/class/net/eth0", "../../devices/pci0000:40/0000:40:01.0/virtio1/net/eth0" },
        { "sys/class/net/eth0.100", "../../devices/pci0000:40/0000:40:01.0/virtio1/net/eth0" },
        { "sys/class/net/lo", "../../devices/virtual/net/lo" },
        { "sys/class/net/loop", "loop" },
        { "sys/class/net/dangling", "../../devices/gone" },
        { "sys/class/block/sda1", "../../devices/pci0000:40/0000:40:01.0/0000:41:00.3/block/sda/sda1" },
        { "sys/class/block/sdb", "../../devices/pci0000:40/0000:40:02.0/block/sdb" },
        { "sys/bus/pci/devices/0000:40:01.0", "../../../devices/pci0000:40/0000:40:01.0" },
        { "sys/bus/pci/devices/0000:41:00.3", "../../../devices/pci0000:40/0000:40:01.0/0000:41:00.3" },
        { "sys/bus/pci/devices/0000:40:03.0", "../../../devices/pci0000:40/0000:40:03.0" },
        { "sys/bus/pci/devices/0000:40:04.0", "../../../devices/pci0000:40/0000:40:04.0" },
        { "sys/bus/pci/devices/0001:40:05.0", "../../../devices/pci0000:40/0001:40:05.0" },
};

static const struct {
        const char *text;
        int r;
        unsigned node;
} rows[] = {
        /* hostile */
        { "", -ENODATA, 0 },
        { ":", -ENODATA, 0 },
        { "netdev", -ENODATA, 0 },
        { "netdevice:eth0", -ENODATA, 0 },
        { "NETDEV:eth0", -ENODATA, 0 },
        { "0,netdev:eth0", -ENODATA, 0 },
        { "netdev:", -EINVAL, 0 },
        { "netdev:.", -EINVAL, 0 },
        { "netdev:..", -EINVAL, 0 },
        { "netdev:../net/eth0", -EINVAL, 0 },
        { "netdev:eth0/", -EINVAL, 0 },
        { "netdev:eth\n0", -ENOENT, 0 },
        { "netdev:loop", -ELOOP, 0 },
        { "netdev:dangling", -ENOENT, 0 },
        { "netdev:bonding_masters", -ENOTDIR, 0 },
        { "netdev:lo", -ENODEV, 0 },
        { "block:sdb", -ENODEV, 0 },
        { "block:sdc", -ENOENT, 0 },
        { "file:", -ENOENT, 0 },
        { "file:/nonexistent", -ENOENT, 0 },
        { "pci:", -EINVAL, 0 },
        { "pci:40", -EINVAL, 0 },
        { "pci:40:", -EINVAL, 0 },
        { "pci::1", -EINVAL, 0 },
        { "pci:40:1.", -EINVAL, 0 },
        { "pci:40:1.8", -EINVAL, 0 },
        { "pci:40:20", -EINVAL, 0 },
        { "pci:100:1", -EINVAL, 0 },
        { "pci:0:0:40:1", -EINVAL, 0 },
        { "pci:0:100:1", -EINVAL, 0 },
        { "pci:123456789:40:1", -EINVAL, 0 },
        { "pci:40:1.0x", -EINVAL, 0 },
        { "pci:40:1.0,0", -EINVAL, 0 },
        { "pci:40:6", -ENOENT, 0 },
        { "pci:40:3", -ENODEV, 0 },
        { "pci:40:4", -ENODEV, 0 },
        { "ip:", -ENOENT, 0 },
        { "ip:256.1.1.1.1.", -ENOENT, 0 },
        /* good */
        { "netdev:eth0", 0, 2 },
        { "netdev:eth0.100", 0, 2 },
        { "block:sda1", 0, 1 },
        { "pci:40:1", 0, 2 },
        { "pci:0000:40:01.0", 0, 2 },
        { "pci:41:0.3", 0, 1 },
        { "pci:1:40:5", 0, 7 },
        { "ip:127.0.0.1", -ENODEV, 0 },
};

static void tree(struct hn_tree *t) {
        char path[256];

        hn_tree_make(t);
        hn_tree_write_all(t, files, HN_ELEMENTS(files));
        for (size_t i = 0; i < HN_ELEMENTS(links); i++) {
                (void) snprintf(path, sizeof(path), "%s/%s", t->path, links[i].link);
                assert_int_equal(symlink(links[i].to, path), 0);
        }
}

static void devices_have_nodes(void **state) {
        struct hn_tree t;

        (void) state;
        tree(&t);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_why why = HN_WHY_NULL;
                unsigned node = 0;

                ROW_EQUAL(i, hn_devicenode_find(&t.root, rows[i].text, &node, &why), rows[i].r);
                ROW_EQUAL(i, node, rows[i].node);
                ROW_EQUAL(i, why.text[0] != '\0', rows[i].r < 0 && rows[i].r != -ENODATA);
        }
        hn_tree_drop(&t);
}

/* By the numbers of the device that a file lies on, or is. */
static void files_lie_on_devices(void **state) {
        char link[256], file[128];
        struct hn_tree t;
        struct stat st;
        unsigned node = 0;

        (void) state;
        tree(&t);
        (void) snprintf(file, sizeof(file), "file:%s", t.path);
        assert_int_equal(stat(t.path, &st), 0);
        assert_int_equal(hn_devicenode_find(&t.root, file, &node, NULL), -ENOENT);
        (void) snprintf(link, sizeof(link), "%s/sys/dev/block/%u:%u", t.path, major(st.st_dev),
                        minor(st.st_dev));
        assert_int_equal(symlink("../../class/block/sda1", link), 0);
        assert_int_equal(hn_devicenode_find(&t.root, file, &node, NULL), 0);
        assert_int_equal(node, 1);
        assert_int_equal(hn_devicenode_find(&t.root, "file:/dev/null", &node, NULL), -ENOENT);
        (void) snprintf(link, sizeof(link), "%s/sys/dev/char/1:3", t.path);
        assert_int_equal(symlink("../../devices/pci0000:40/0000:40:01.0", link), 0);
        assert_int_equal(hn_devicenode_find(&t.root, "file:/dev/null", &node, NULL), 0);
        assert_int_equal(node, 2);
        hn_tree_drop(&t);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(devices_have_nodes),
                cmocka_unit_test(files_lie_on_devices),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
