/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "base/macro.h"
#include "daemon/rulematch.h"
#include "sample/cgroupglob.h"
#include "sample/unitpath.h"

/* As with cgroups, a glob never goes across a slash; but the whole path has to be matched. */
static bool is_path(const char *pattern, const char *path) {
        for (;;) {
                size_t n = strcspn(pattern, "/"), length = strcspn(path, "/");

                if (!hn_glob_match(pattern, n, path, length))
                        return false;
                pattern += n;
                path += length;
                if (*pattern == '\0' || *path == '\0')
                        return *pattern == *path;
                pattern++;
                path++;
        }
}

/* Whether word `k` of a key fits. */
static bool fits(const struct hn_rule *rule, enum hn_matcher m, size_t k, const char *cgroup,
                 const struct hn_proc_id *who) {
        const char *word = rule->match[m].items[k];

        switch (m) {
        case HN_MATCH_CGROUP: return hn_glob_first(&word, 1, cgroup) == 0;
        case HN_MATCH_UNIT: return hn_unitpath_match(cgroup, word);
        case HN_MATCH_COMM:
                return hn_glob_match(word, strlen(word), who->comm, strnlen(who->comm, sizeof(who->comm)));
        case HN_MATCH_EXE: return is_path(word, who->exe);
        case HN_MATCH_USER: return rule->uids && rule->uids[k] != (uid_t) -1 && rule->uids[k] == who->uid;
        case _HN_MATCH_MAX: break;
        }
        return false;
}

static enum hn_answer ask(const struct hn_rule *rule, enum hn_matcher m, const char *cgroup,
                          const struct hn_proc_id *who, size_t *ret_word) {
        if (rule->match[m].n == 0)
                return HN_ANSWER_UNASKED;
        if ((m == HN_MATCH_EXE && !who->exe) || (m == HN_MATCH_USER && !who->has_uid))
                return HN_ANSWER_UNKNOWN;
        for (size_t k = 0; k < rule->match[m].n; k++)
                if (fits(rule, m, k, cgroup, who)) {
                        *ret_word = k;
                        return HN_ANSWER_HIT;
                }
        return HN_ANSWER_MISS;
}

static bool is_yes(enum hn_answer a) {
        return a == HN_ANSWER_UNASKED || a == HN_ANSWER_HIT;
}

bool hn_rule_try(const struct hn_rule *rule, const char *cgroup, const struct hn_proc_id *who,
                 struct hn_rule_trial *ret) {
        struct hn_rule_trial t = { .word = { 0 } };
        bool takes = true;

        for (enum hn_matcher m = 0; m < _HN_MATCH_MAX; m++) {
                t.answer[m] = ask(rule, m, cgroup, who, &t.word[m]);
                takes = takes && is_yes(t.answer[m]);
        }
        *ret = t;
        return takes;
}

/* The keys from..to-1. */
static bool takes(const struct hn_rule *rule, enum hn_matcher from, enum hn_matcher to, const char *cgroup,
                  const struct hn_proc_id *who) {
        size_t word;

        for (enum hn_matcher m = from; m < to; m++)
                if (!is_yes(ask(rule, m, cgroup, who, &word)))
                        return false;
        return true;
}

bool hn_rule_takes_cgroup(const struct hn_rule *rule, const char *cgroup) {
        return takes(rule, HN_MATCH_CGROUP, HN_MATCH_COMM, cgroup, NULL);
}

bool hn_rule_takes_process(const struct hn_rule *rule, const struct hn_proc_id *who) {
        return takes(rule, HN_MATCH_COMM, _HN_MATCH_MAX, NULL, who);
}

bool hn_rule_by_process(const struct hn_rule *rule) {
        for (enum hn_matcher m = HN_MATCH_COMM; m < _HN_MATCH_MAX; m++)
                if (rule->match[m].n > 0)
                        return true;
        return false;
}

unsigned hn_rules_wants(const struct hn_config *config) {
        unsigned wants = 0;

        for (size_t i = 0; i < config->n_rules; i++) {
                wants |= config->rules[i].match[HN_MATCH_EXE].n > 0 ? HN_PROC_ID_EXE : 0;
                wants |= config->rules[i].match[HN_MATCH_USER].n > 0 ? HN_PROC_ID_USER : 0;
        }
        return wants;
}
