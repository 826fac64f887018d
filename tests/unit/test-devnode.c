/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sampletree.h"

#include <errno.h>

#include "rows.h"
#include "sample/devnode.h"

static void names(void **state) {
        static const struct {
                const char *name;
                bool good;
        } rows[] = {
                { "", false },
                { "eth0", false },
                { "netdev:", false },
                { "netdev:..", false },
                { "netdev:.", false },
                { "netdev:a/b", false },
                { "block:../../x", false },
                { "pci:", false },
                { "pci:0000:3b:00", false },
                { "pci:0000:3b:00.", false },
                { "pci:0000:3b:00.00", false },
                { "pci:0000:3b:000.0", false },
                { "pci:3b:00.0 ", false },
                { "pci:0000:3b:00.0/..", false },
                { "pci:000000000:3b:00.0", false },
                { "pci::3b:00.0", false },
                { "pci:3g:00.0", false },
                { "usb:1-1", false },
                { "relative/path", false },
                { "pci:3b:00.0", true },
                { "pci:0000:3b:00.f", true },
                { "pci:10000:3b:00.0", true },
                { "netdev:eth0", true },
                { "netdev:...", true },
                { "block:nvme0n1p1", true },
                { "/", true },
                { "/dev/sda", true },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_device_is_name(rows[i].name, strlen(rows[i].name)), rows[i].good);
}

static void put_link(const struct tree *t, const char *name, const char *target) {
        char path[256];

        tree_write(t, name, "");
        (void) snprintf(path, sizeof(path), "%s/%s", t->path, name);
        (void) unlink(path);
        assert_int_equal(symlink(target, path), 0);
}

/* A machine with a card on node 3 that has a disk with a part, one on a bus nobody knows the place of, and an
 * interface that is no device at all. */
static void nodes(void **state) {
        static const struct {
                const char *name;
                int r;
                unsigned node;
        } rows[] = {
                { "eth0", -EINVAL, 99 },
                { "netdev:../../bus/pci/devices/0000:3b:00.0", -EINVAL, 99 },
                { "netdev:eth9", -ENOENT, 99 },
                { "pci:3b:00.1", -ENOENT, 99 },
                { "/dev/sda", -ENOENT, 99 }, /* this machine's, not that one's */
                { "netdev:lo", HN_DEVICE_ANYWHERE, 99 },
                { "netdev:eth1", HN_DEVICE_ANYWHERE, 99 }, /* -1 */
                { "block:odd", HN_DEVICE_ANYWHERE, 99 },   /* not a number */
                { "block:large", HN_DEVICE_ANYWHERE, 99 }, /* no node can be called so */
                { "pci:3b:00.0", 0, 3 },
                { "pci:0000:3b:00.0", 0, 3 },
                { "netdev:eth0", 0, 3 },
                { "block:disk", 0, 3 },
                { "block:disk1", 0, 3 },
                { "block:zero", 0, 0 },
        };
        static const struct {
                const char *path, *text;
        } files[] = {
                { "numa_node", "7\n" }, /* above all devices: nobody's */
                { "sys/devices/pci0/0000:3b:00.0/numa_node", "3\n" },
                { "sys/devices/pci0/0000:3b:00.0/net/eth0/", "" },
                { "sys/devices/pci0/0000:3b:00.0/host0/block/disk/disk1/", "" },
                { "sys/devices/pci0/0000:3c:00.0/numa_node", "-1\n" },
                { "sys/devices/pci0/0000:3c:00.0/net/eth1/", "" },
                { "sys/devices/virtual/net/lo/", "" },
                { "sys/devices/a/numa_node", "three\n" },
                { "sys/devices/a/odd/", "" },
                { "sys/devices/b/numa_node", "99999999999\n" },
                { "sys/devices/b/large/", "" },
                { "sys/devices/c/numa_node", "0\n" },
                { "sys/devices/c/zero/", "" },
        };
        static const struct {
                const char *name, *target;
        } links[] = {
                { "sys/bus/pci/devices/0000:3b:00.0", "../../../devices/pci0/0000:3b:00.0" },
                { "sys/class/net/eth0", "../../devices/pci0/0000:3b:00.0/net/eth0" },
                { "sys/class/net/eth1", "../../devices/pci0/0000:3c:00.0/net/eth1" },
                { "sys/class/net/lo", "../../devices/virtual/net/lo" },
                { "sys/class/block/disk", "../../devices/pci0/0000:3b:00.0/host0/block/disk" },
                { "sys/class/block/disk1", "../../devices/pci0/0000:3b:00.0/host0/block/disk/disk1" },
                { "sys/class/block/odd", "../../devices/a/odd" },
                { "sys/class/block/large", "../../devices/b/large" },
                { "sys/class/block/zero", "../../devices/c/zero" },
        };
        struct tree t;

        (void) state;
        tree_make(&t);
        for (size_t i = 0; i < HN_ELEMENTS(files); i++)
                tree_write(&t, files[i].path, files[i].text);
        for (size_t i = 0; i < HN_ELEMENTS(links); i++)
                put_link(&t, links[i].name, links[i].target);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                unsigned node = 99;

                ROW_EQUAL(i, hn_device_find_node(&t.root, rows[i].name, &node), rows[i].r);
                ROW_EQUAL(i, node, rows[i].node);
        }
        tree_destroy(&t);
}

/* What this machine answers is its business, as long as it is an answer. */
static void paths_of_this_machine(void **state) {
        struct hn_sysroot root;
        unsigned node;
        int r;

        (void) state;
        assert_int_equal(hn_sysroot_open(NULL, &root), 0);
        assert_int_equal(hn_device_find_node(&root, "/nowhere/at/all", &node), -ENOENT);
        assert_int_equal(hn_device_find_node(&root, "/proc", &node), HN_DEVICE_ANYWHERE); /* on no disk */
        r = hn_device_find_node(&root, "/", &node);
        assert_true(r == 0 || r == HN_DEVICE_ANYWHERE);
        hn_sysroot_close(&root);
}

static int refuse(void *userdata) {
        (void) userdata;
        return -EPERM;
}

/* Without the right to look there is nothing; with it, what is found is this machine. */
static void the_machine_of_process_1(void **state) {
        struct hn_privilege none = { .raise = refuse };
        struct hn_sysroot host = HN_SYSROOT_NULL;
        unsigned node;
        int r;

        (void) state;
        assert_int_equal(hn_device_open_host(&none, &host), -EPERM);
        assert_int_equal(host.fd, HN_SYSROOT_NULL.fd);
        r = hn_device_open_host(NULL, &host);
        if (r < 0) {
                assert_true(r == -EACCES || r == -EPERM); /* of a container, even to root */
                return;
        }
        assert_true(host.live);
        assert_int_equal(hn_device_find_node(&host, "netdev:lo", &node), HN_DEVICE_ANYWHERE);
        assert_int_equal(hn_device_find_node(&host, "/nowhere/at/all", &node), -ENOENT);
        hn_sysroot_close(&host);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names),
                cmocka_unit_test(nodes),
                cmocka_unit_test(paths_of_this_machine),
                cmocka_unit_test(the_machine_of_process_1),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
