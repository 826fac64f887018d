/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <sys/types.h>

#include "daemon/config.h"
#include "rulescope.h"
#include "why.h"

/* Starting a command in the care of a rule: in a cgroup that the rule opts in. homenode writes no cgroups;
 * systemd is asked for a scope in the right place. */
struct hn_care {
        const struct hn_rule *rule;
        bool already; /* the caller's cgroup is in the rule's care as it is */
        bool user;    /* the user's service manager has to do it, not the system's */
        struct hn_rule_scope scope;
};

/* The rule that all of a cgroup falls under, NULL for none. */
const struct hn_rule *hn_care_rule_of(const struct hn_config *config, const char *path);

/* Chooses the place. `cgroup`: the caller's cgroup, without slashes at its ends. `bound`: the command is
 * bound to CPUs by hand. `token`: makes the name of the scope unique. Returns 0; -ENOENT for a rule that is
 * not there; -EUCLEAN for binding by hand what a rule is to place; -ENXIO where no place can be derived from
 * the rule, as it has none, or asks for more than a cgroup, or a rule before it takes all of them. The
 * sentence is in `why`. */
int hn_care_choose(const struct hn_config *config, const char *name, const char *cgroup, uid_t uid,
                   bool bound, const char *token, struct hn_care *ret, struct hn_why *why);
