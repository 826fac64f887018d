/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "sample/privilege.h"
#include "sample/sysroot.h"

/* The node a device is near, by the numa_node file of /sys. A device is written as
 *
 *      pci:0000:3b:00.0  pci:3b:00.0       an address
 *      netdev:eth0                         a network interface
 *      block:nvme0n1                       a disk or a part of one
 *      /dev/sda  /srv/db                   a device file; a file or folder: the disk it is on
 */

/* This machine as process 1 sees it: all network interfaces are there, and all of /dev, which a locked-down
 * service has not. Needs `privilege` (may be NULL) where the caller is not root. Returns 0 or -errno; the
 * caller closes. */
int hn_device_open_host(const struct hn_privilege *privilege, struct hn_sysroot *ret);

/* Whether a text (n bytes) is of one of these forms; the device need not be there. */
bool hn_device_is_name(const char *name, size_t n);

/* Positive answer: the device is there, but the machine does not say what it is near. */
enum { HN_DEVICE_ANYWHERE = 1 };

/* Finds the node *id* for a name of such a form. Paths are those of this machine, so that on a captured one
 * they are not there. Returns 0, HN_DEVICE_ANYWHERE, -EINVAL for what is no such name, -ENOENT for no such
 * device, or -errno. */
int hn_device_find_node(const struct hn_sysroot *root, const char *name, unsigned *ret_id);
