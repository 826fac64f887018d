/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "why.h"

/* Where systemd would have to start a command so that a pattern of Cgroup= covers it. homenode writes no
 * cgroups, so only systemd's own names are of use: a slice, and a scope in it. */
struct hn_rule_scope {
        char slice[256]; /* "batch.slice"; "-.slice" for the root */
        char unit[256];  /* "batch-1234.scope" */
        char path[1024]; /* below the cgroup root, without slashes at its ends */
};

/* Finds a place that `pattern` covers, below the cgroup of the service manager that is to make it: "" for the
 * system's, "user.slice/user-1000.slice/user@1000.service" for a user's. `fallback` is the slice where the
 * pattern leaves the choice. `token` (letters, digits) makes names unique. Slices must be written out in the
 * pattern; the name of the scope may be a glob. Returns 0; or -ENXIO with the sentence where the pattern
 * names something else: services, other managers' cgroups, slices by globs. */
int hn_rule_scope_derive(const char *pattern, const char *manager, const char *fallback, const char *token,
                         struct hn_rule_scope *ret, struct hn_why *why);
