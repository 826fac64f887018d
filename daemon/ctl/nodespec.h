/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base/mask.h"
#include "why.h"

/* Lists of nodes and of CPUs as numactl(8) takes them, with the strides of the kernel's own lists:
 *
 *      ""                      nothing
 *      0,2-3,8-15:2            numbers (as in C: 010 is eight, 0x10 sixteen), ranges, every second of a
 * range, 0-31:2/4                the first two of each four all                     all that may be used; as
 * the last item +0-1                    counted among those that may be used !LIST, !+LIST           all
 * others netdev:NAME and so on   nodes only, as the last item: the node of a device
 */

/* What a list is read against. */
struct hn_nodespec_terms {
        const char *noun;       /* "node" or "CPU", for sentences */
        struct hn_mask allowed; /* what a number may name and "all" stands for */
        struct hn_mask present; /* all there are: "!" takes the others out of these */
        bool all;               /* --all was given: `allowed` is as wide as it gets */
        /* The node of a device, NULL where devices have no meaning. Returns 0, -ENODATA for a text that is
         * not the name of a device at all, or another -errno with its sentence. */
        int (*device)(void *userdata, const char *text, unsigned *ret_node, struct hn_why *why);
        void *userdata;
};

/* Returns 0; -EINVAL for bad syntax, a range that runs backwards included; -ERANGE for a number that is not
 * allowed; or what `device` answered. The sentence is in `why`. */
int hn_nodespec_parse(const char *text, const struct hn_nodespec_terms *terms, struct hn_mask *ret,
                      struct hn_why *why);
