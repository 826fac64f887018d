/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "sample/sysroot.h"
#include "why.h"

/* The node a device is attached to, as numactl(8) names devices:
 *
 *      netdev:NAME   a network interface        ip:HOST    the interface on the way to a host
 *      block:NAME    a block device             file:PATH  the block device a file lies on, or that it is
 * itself pci:[SEGMENT:]BUS:DEVICE[.FUNCTION]      in hexadecimal, as lspci(8) prints it
 *
 * For netdev and block it is said by the nearest device above in /sys that knows its node. Returns 0 and a
 * node id; -ENODATA, with no sentence, for a text that is not of these; -ENOENT for a device that is not
 * there, -ENODEV for one whose node the kernel does not know, -EINVAL, or another -errno with the sentence.
 */
int hn_devicenode_find(const struct hn_sysroot *root, const char *text, unsigned *ret_node,
                       struct hn_why *why);
