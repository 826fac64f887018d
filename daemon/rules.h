/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/config.h"
#include "policy/snapshot.h"
#include "sample/chooser.h"

struct hn_cgroupfs;

/* The opted-in cgroups of this moment. Owns the scopes and their strings: a reload of the config does not
 * touch them. */
struct hn_scope_list {
        struct hn_scope *scopes; /* the first `n_places` ascending by path, one a cgroup that a rule takes */
        size_t n, n_places;
        bool cut; /* there were more than we follow (HN_CGROUPS_MAX, HN_RULES_CHOSEN_MAX) */

        size_t allocated;
        const struct hn_config *config; /* for the chooser */
        struct hn_rules_place *places;  /* parallel to the first scopes */
        struct hn_rules_candidate *candidates;
        size_t n_candidates, n_allocated; /* of these */
};

#define HN_SCOPE_LIST_NULL ((struct hn_scope_list){})

/* Scopes that single processes may make, beyond one a cgroup. */
#define HN_RULES_CHOSEN_MAX 16384u

void hn_scope_list_deinit(struct hn_scope_list *list);

/* The scope of a cgroup that some rule takes, or takes processes of (then it is `by_process`), or NULL. */
const struct hn_scope *hn_scope_list_find(const struct hn_scope_list *list, const char *path);

/* Whether some rule manages the cgroup, or processes in it that the last sweep met. */
bool hn_scope_list_is_managed(const struct hn_scope_list *list, const char *path);

/* Adds a scope that no rule has made, behind the others; copies its path. Not while a sweep is under way.
 * Returns 0 or -ENOMEM. */
int hn_scope_list_add(struct hn_scope_list *list, const struct hn_scope *scope);

/* Name of the rule that stands behind all others where everything is asked for. No rule of a file can have
 * it. */
#define HN_RULE_ALL "*"

/* Every cgroup some rule takes, itself or by an ancestor, with the settings of the first rule that does,
 * ascending by path. Where a rule that asks for something of processes comes before that one, the scope is
 * `by_process`: see hn_rules_chooser(). A scope's mode is the lower one of its rule's, as the marks of the
 * cgroup leave it, and the daemon's; a cgroup marked "off" is not there. `all`: as if a rule HN_RULE_ALL with
 * Cgroup=* stood last. Its mode is advise, which touches nothing, whatever the daemon's mode is. Returns 0 or
 * -ENOMEM. The caller frees `*ret`. */
int hn_rules_scopes(const struct hn_config *config, const struct hn_cgroupfs *cgroups, bool all,
                    struct hn_scope_list *ret);

/* The sampler's hook for scopes that are `by_process`. It makes a scope for each rule that takes a process,
 * at the end of the list, so that list and config have to stay as long as it is used. */
struct hn_chooser hn_rules_chooser(struct hn_scope_list *list);
