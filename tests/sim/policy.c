/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "base/macro.h"
#include "policy.h"

static const struct hn_sim_policy *const policies[] = {
        &hn_sim_policy_none,
        &hn_sim_policy_interleave,
        &hn_sim_policy_kernel,
        &hn_sim_policy_shortcut,
        &hn_sim_policy_numad,
        &hn_sim_policy_homenode,
        &hn_sim_policy_homenode_kernel,
        &hn_sim_policy_oracle,
        &hn_sim_policy_hard,
        &hn_sim_policy_inverse,
};

size_t hn_sim_policies(const struct hn_sim_policy *const **ret) {
        *ret = policies;
        return HN_ELEMENTS(policies);
}

const struct hn_sim_policy *hn_sim_policy_find(const char *name) {
        for (size_t i = 0; i < HN_ELEMENTS(policies); i++)
                if (strcmp(policies[i]->name, name) == 0)
                        return policies[i];
        return NULL;
}
