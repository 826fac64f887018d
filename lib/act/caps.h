/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <sys/capability.h>

#include "base/macro.h"
#include "sample/privilege.h"

/* Privilege for the length of one call. Per thread, as the kernel has it; homenode has one. */
struct hn_caps {
        cap_value_t cap;
        bool raised; /* by us, so that it is ours to lower */
};

#define HN_CAPS_NULL ((struct hn_caps){})

/* Positive answer of hn_caps_raise(): this process does not have it. */
enum { _HN_CAPS_OK, HN_CAPS_ABSENT };

/* What hn_caps_settle() may find. */
#define HN_CAPS_NICE   1u /* CAP_SYS_NICE: the affinity of other users' tasks */
#define HN_CAPS_PTRACE 2u /* CAP_SYS_PTRACE: the address map and the pages of other users' processes */

/* At start, once: the permitted set becomes CAP_SYS_NICE and CAP_SYS_PTRACE, or what is there of them; the
 * effective, inheritable and ambient sets become empty; everything else is given up for ever, in the bounding
 * set too where that is allowed. Files that need more than the caller's plain identity must be open by then.
 * Sets `*ret_have` to HN_CAPS_* bits. Returns 0 or -errno. */
int hn_caps_settle(unsigned *ret_have);

/* Makes `cap` effective until hn_caps_lower(). Nothing to do where it is effective already; the lowering then
 * leaves it. Returns 0, HN_CAPS_ABSENT if it is not permitted (the call may succeed all the same: tasks of
 * one's own), or -errno. Use: _hn_cleanup_(hn_caps_lowerp) struct hn_caps caps = HN_CAPS_NULL; */
int hn_caps_raise(struct hn_caps *caps, cap_value_t cap);
void hn_caps_lower(struct hn_caps *caps);

static inline void hn_caps_lowerp(struct hn_caps *caps) {
        hn_caps_lower(caps);
}

/* The sampler's hook, over CAP_SYS_PTRACE. `storage` belongs to the caller and outlives the hook. */
struct hn_privilege hn_caps_privilege(struct hn_caps *storage);
