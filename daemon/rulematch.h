/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "daemon/config.h"
#include "sample/procid.h"

/* Whether a rule takes a cgroup and a process in it: each of its keys has to fit, by one of its words. The
 * daemon and `homenode match` ask the same functions. */

enum hn_answer {
        HN_ANSWER_UNASKED, /* the rule has no such key */
        HN_ANSWER_HIT,
        HN_ANSWER_MISS,
        HN_ANSWER_UNKNOWN, /* it cannot be told, as something could not be read: no match */
};

/* What became of each key. */
struct hn_rule_trial {
        enum hn_answer answer[_HN_MATCH_MAX];
        size_t word[_HN_MATCH_MAX]; /* the one that fitted, where there was a HIT */
};

/* Asks all keys. Returns whether the rule takes the process. */
bool hn_rule_try(const struct hn_rule *rule, const char *cgroup, const struct hn_proc_id *who,
                 struct hn_rule_trial *ret);

/* The two halves of it: Cgroup= and Unit=, and all others. */
bool hn_rule_takes_cgroup(const struct hn_rule *rule, const char *cgroup);
bool hn_rule_takes_process(const struct hn_rule *rule, const struct hn_proc_id *who);

/* Whether a rule asks for something of processes, so that cgroups alone do not decide. */
bool hn_rule_by_process(const struct hn_rule *rule);

/* What of processes the rules ask for: HN_PROC_ID_*. */
unsigned hn_rules_wants(const struct hn_config *config);
