/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/config.h"
#include "policy/snapshot.h"

struct hn_cgroupfs;

/* The opted-in cgroups of this moment. Owns the scopes and their strings: a reload of the config does not
 * touch them. */
struct hn_scope_list {
        struct hn_scope *scopes;
        size_t n;
        size_t n_ruled; /* of them, opted in by a rule: the first ones, ascending by path */
        bool cut;       /* there were more than we follow (HN_CGROUPS_MAX) */
};

#define HN_SCOPE_LIST_NULL ((struct hn_scope_list){})

void hn_scope_list_deinit(struct hn_scope_list *list);

/* The scope that a rule has made of this cgroup, or NULL. */
const struct hn_scope *hn_scope_list_find(const struct hn_scope_list *list, const char *path);

/* Name of the rule that stands behind all others where everything is asked for. No rule of a file can have
 * it. */
#define HN_RULE_ALL "*"

/* Every cgroup some rule names, itself or by an ancestor, with the settings of the first rule that does,
 * ascending by path. A scope's mode is the lower one of its rule's and the daemon's. `all`: as if a rule
 * HN_RULE_ALL with Cgroup=* stood last. Its mode is advise, which touches nothing, whatever the daemon's mode
 * is. Returns 0 or -ENOMEM. The caller frees `*ret`. */
int hn_rules_scopes(const struct hn_config *config, const struct hn_cgroupfs *cgroups, bool all,
                    struct hn_scope_list *ret);
