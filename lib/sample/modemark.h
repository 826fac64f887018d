/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "policy/snapshot.h"
#include "sample/cgroupfs.h"

/* A workload may say itself how far homenode may go with it: by the extended attribute user.homenode.mode of
 * its cgroup, "off", "observe", "advise" or "manage". It covers everything below. Only who may write to the
 * folder can set it, so the folder's owner is who speaks. */
#define HN_MARK_XATTR "user.homenode.mode"

/* Whose word counts for what (Marks= in homenode.conf(5)). */
enum hn_mark_trust {
        HN_MARKS_NO,    /* marks are not looked at */
        HN_MARKS_LOWER, /* a mark may only lower what the rule says */
        HN_MARKS_ROOT,  /* one on a folder that only root may write to may raise it as well */
        HN_MARKS_ALL,   /* any may */
        _HN_MARKS_MAX,
        _HN_MARKS_INVALID = -22,
};

const char *hn_mark_trust_to_string(enum hn_mark_trust t);
enum hn_mark_trust hn_mark_trust_from_string(const char *s);

/* One below the lowest mode: not opted in at all. */
#define HN_MODE_LEVEL_OFF (-1)

/* What the marks on the way down to a cgroup make of the mode of a rule: it is brought between these two,
 * which are modes or HN_MODE_LEVEL_OFF. */
struct hn_mark_bounds {
        int low, high;
};

#define HN_MARK_BOUNDS_NULL ((struct hn_mark_bounds){ .low = HN_MODE_LEVEL_OFF, .high = HN_MODE_MANAGE })

/* The bounds after one more mark of that level. `trusted`: it may raise. Without, it lowers both. */
struct hn_mark_bounds hn_mark_bounds_add(struct hn_mark_bounds b, int level, bool trusted);

/* The level that comes out for a rule of that mode; the daemon's own mode still caps it. */
int hn_mark_bounds_apply(struct hn_mark_bounds b, enum hn_mode mode);

/* Reads the value of the attribute; white space and NUL bytes at its ends do not matter.
 * Returns 0 or -EINVAL. */
int hn_mark_parse(const char *text, size_t n, int *ret_level);

#define HN_MARK_DEPTH_MAX 64u

/* What was read on the way to a cgroup, for the next one, which may be a child or a neighbour. */
struct hn_mark_walk {
        char path[4096]; /* "" for none */
        size_t depth;
        struct {
                size_t length; /* of the part of the path */
                struct hn_mark_bounds bounds;
        } at[HN_MARK_DEPTH_MAX];
};

#define HN_MARK_WALK_NULL ((struct hn_mark_walk){})

/* The bounds from the marks of a cgroup and of all above it; `path` as in cgroupfs.h. A mark that is not
 * understood counts for none. `last` (may be NULL) is what an earlier call for the same moment left there. */
struct hn_mark_bounds hn_mark_read(const struct hn_cgroupfs *fs, const char *path, enum hn_mark_trust trust,
                                   struct hn_mark_walk *last);
