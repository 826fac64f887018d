/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>

#include "allowance.h"
#include "sample/procfs.h"
#include "sample/sysfs.h"

/* /proc/self/status holds two lists of ids: 64 KiB is more than any kernel prints. */
#define STATUS_MAX (64u << 10)

/* The first list that is there and not empty. */
static int read_cpus(const struct hn_sysroot *root, struct hn_mask *ret) {
        static const char *const files[] = { "sys/devices/system/cpu/possible",
                                             "sys/devices/system/cpu/present",
                                             "sys/devices/system/cpu/online" };

        *ret = HN_MASK_NULL;
        for (size_t i = 0; i < HN_ELEMENTS(files); i++) {
                int r = hn_sysfs_read_list(root, files[i], ret);

                if (r < 0 || (r == 0 && !hn_mask_empty(ret)))
                        return r;
        }
        return 0;
}

int hn_allowance_read(const struct hn_sysroot *root, struct hn_allowance *ret, struct hn_why *why) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        struct hn_proc_status status = { .tgid = 0 };
        struct hn_allowance a = { .nodes = HN_MASK_NULL };
        ssize_t n;
        int r;

        r = hn_sysfs_read_node_ids(root, &a.nodes);
        if (r >= 0 && hn_mask_empty(&a.nodes))
                (void) hn_mask_add(&a.nodes, 0);
        if (r >= 0)
                r = read_cpus(root, &a.cpus);
        if (r < 0)
                return hn_why_errno(why, r, "cannot read the machine");
        n = hn_read_all_at(root->fd, STATUS_MAX, &text, "proc/self/status");
        if (n < 0)
                return hn_why_errno(why, (int) n, "cannot read /proc/self/status");
        r = hn_proc_status_parse(text, (size_t) n, &status);
        if (r < 0)
                return hn_why_errno(why, r, "cannot understand /proc/self/status");
        if (hn_mask_empty(&a.cpus))
                a.cpus = status.cpus;
        a.mems = status.has_mems ? hn_mask_and(&status.mems, &a.nodes) : a.nodes;
        a.mine = status.has_cpus ? hn_mask_and(&status.cpus, &a.cpus) : a.cpus;
        *ret = a;
        return 0;
}

int hn_allowance_cpus_of(const struct hn_sysroot *root, const struct hn_mask *nodes, struct hn_mask *ret,
                         struct hn_why *why) {
        struct hn_mask cpus = HN_MASK_NULL, some;
        char list[128];

        for (unsigned id = hn_mask_next(nodes, 0); id != HN_MASK_NONE; id = hn_mask_next(nodes, id + 1)) {
                int r = hn_sysfs_read_node_cpus(root, id, &some);

                if (r < 0)
                        return hn_why_errno(why, r, "cannot read the CPUs of node %u", id);
                if (r > 0)
                        return hn_why(why, -ENODEV, "this machine does not say which CPUs node %u has", id);
                cpus = hn_mask_or(&cpus, &some);
        }
        if (hn_mask_empty(&cpus)) {
                (void) hn_mask_print_list(nodes, list, sizeof(list));
                return hn_why(why, -EINVAL, "there is no CPU to run on: node %s",
                              hn_mask_empty(nodes) ? "list is empty" : "has memory only");
        }
        *ret = cpus;
        return 0;
}
