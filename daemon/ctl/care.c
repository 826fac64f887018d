/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "care.h"
#include "sample/cgroupglob.h"

/* Whether the cgroup alone does not decide: of a command that is yet to be started nobody knows what it will
 * call itself. */
static bool asks_for_more(const struct hn_rule *rule) {
        for (int m = 0; m < _HN_MATCH_MAX; m++)
                if (m != HN_MATCH_CGROUP && rule->match[m].n > 0)
                        return true;
        return false;
}

const struct hn_rule *hn_care_rule_of(const struct hn_config *config, const char *path) {
        for (size_t i = 0; i < config->n_rules; i++) {
                const struct hn_rule *rule = &config->rules[i];

                const struct hn_words *w = &rule->match[HN_MATCH_CGROUP];

                if (!asks_for_more(rule) && hn_glob_first((const char *const *) w->items, w->n, path) < w->n)
                        return rule;
        }
        return NULL;
}

static const struct hn_rule *find(const struct hn_config *config, const char *name) {
        for (size_t i = 0; i < config->n_rules; i++)
                if (strcmp(config->rules[i].name, name) == 0)
                        return &config->rules[i];
        return NULL;
}

/* The first pattern of the rule that leads to a place which no rule before it takes. */
static int choose_place(const struct hn_config *config, const struct hn_rule *rule, const char *manager,
                        const char *fallback, const char *token, struct hn_rule_scope *ret,
                        struct hn_why *why) {
        int r = hn_why(why, -ENXIO, "rule %s names no cgroup", rule->name);

        for (size_t i = 0; i < rule->match[HN_MATCH_CGROUP].n; i++) {
                const struct hn_rule *taker;
                int k = hn_rule_scope_derive(rule->match[HN_MATCH_CGROUP].items[i], manager, fallback, token,
                                             ret, r == 0 ? NULL : why);

                if (k < 0)
                        continue;
                taker = hn_care_rule_of(config, ret->path);
                if (taker == rule)
                        return 0;
                r = hn_why(why, -ENXIO,
                           "%s, where rule %s has a place, falls under rule %s, which is read before it",
                           ret->path, rule->name, taker ? taker->name : "(none)");
        }
        return -ENXIO;
}

int hn_care_choose(const struct hn_config *config, const char *name, const char *cgroup, uid_t uid,
                   bool bound, const char *token, struct hn_care *ret, struct hn_why *why) {
        struct hn_care care = { .rule = find(config, name) };
        char manager[128];

        if (!care.rule)
                return hn_why(why, -ENOENT, "there is no [Rule %s] in the configuration", name);
        if (asks_for_more(care.rule))
                return hn_why(
                        why, -ENXIO,
                        "[Rule %s] asks for units, names, programs or owners too, and whether the command "
                        "is one of them shows when it runs: give it a rule by Cgroup= alone",
                        name);
        if (bound && !care.rule->within_user_mask)
                return hn_why(
                        why, -EUCLEAN,
                        "homenoded leaves alone what was bound to CPUs by hand: take away --cpunodebind and "
                        "--physcpubind, or set UserMask=within in [Rule %s]",
                        name);
        care.already = hn_care_rule_of(config, cgroup) == care.rule;
        if (!care.already) {
                /* A user's own manager needs no privilege, so it is asked first. */
                (void) snprintf(manager, sizeof(manager), "user.slice/user-%u.slice/user@%u.service", uid,
                                uid);
                care.user = uid != 0 && choose_place(config, care.rule, manager, "app.slice", token,
                                                     &care.scope, NULL) == 0;
                if (!care.user) {
                        int r = choose_place(config, care.rule, "", "system.slice", token, &care.scope, why);

                        if (r < 0)
                                return r;
                }
        }
        *ret = care;
        return 0;
}
