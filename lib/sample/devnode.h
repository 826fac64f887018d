/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sample/sysroot.h"

/* The node a device is at, as sysfs tells: the file numa_node of the device or of what it hangs on. */

/* `what` is "pci:0000:3b:00.0" (the domain may be left off), "netdev:eth0", "block:nvme0n1", or a path that
 * starts with a slash: of a device file, or of anything that lies on a file system of a block device. Of a
 * device that is made of others (dm, md) all have to be at the same node.
 *
 * Returns 0 and the kernel's number of the node; -EINVAL for text of another form; -ENOENT, -EACCES, ... for
 * a device or path that is not there or may not be looked at; -ENODATA where the machine does not say. */
int hn_devnode_find(const struct hn_sysroot *root, const char *what, unsigned *ret_id);
