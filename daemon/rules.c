/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/rules.h"
#include "sample/cgrouplist.h"

void hn_scope_list_deinit(struct hn_scope_list *list) {
        for (size_t i = 0; i < list->n; i++) {
                free((char *) list->scopes[i].path);
                free((char *) list->scopes[i].rule);
        }
        free(list->scopes);
        *list = HN_SCOPE_LIST_NULL;
}

static int path_compare(const void *key, const void *item) {
        return strcmp(key, ((const struct hn_scope *) item)->path);
}

const struct hn_scope *hn_scope_list_find(const struct hn_scope_list *list, const char *path) {
        return list->n_ruled == 0
                       ? NULL
                       : bsearch(path, list->scopes, list->n_ruled, sizeof(*list->scopes), path_compare);
}

/* All patterns of all rules, one after the other, and beside each the rule it is of. */
struct patterns {
        const char **text;
        size_t *rule;
        size_t n;
};

static void patterns_deinit(struct patterns *p) {
        free(p->text);
        free(p->rule);
}

static int patterns_init(struct patterns *p, const struct hn_config *config, bool all) {
        size_t n = all;

        for (size_t i = 0; i < config->n_rules; i++)
                n += config->rules[i].n_cgroups;
        p->text = calloc(n + 1, sizeof(*p->text));
        p->rule = calloc(n + 1, sizeof(*p->rule));
        if (!p->text || !p->rule)
                return -ENOMEM;
        for (size_t i = 0; i < config->n_rules; i++)
                for (size_t k = 0; k < config->rules[i].n_cgroups; k++) {
                        p->text[p->n] = config->rules[i].cgroups[k];
                        p->rule[p->n++] = i;
                }
        if (all) {
                p->text[p->n] = "*";
                p->rule[p->n++] = config->n_rules;
        }
        return 0;
}

/* `rule` is NULL for the one that stands for everything. */
static int add_scope(struct hn_scope_list *list, const char *path, const struct hn_rule *rule,
                     enum hn_mode ceiling) {
        struct hn_scope *scope = &list->scopes[list->n];
        char *p = strdup(path), *name = strdup(rule ? rule->name : HN_RULE_ALL);

        if (!p || !name) {
                free(p);
                free(name);
                return -ENOMEM;
        }
        *scope = (struct hn_scope){ .path = p, .rule = name, .mode = HN_MODE_ADVISE, .pages = true };
        if (rule) {
                scope->mode = HN_MIN(rule->mode, ceiling);
                scope->pages = rule->pages;
                scope->within_user_mask = rule->within_user_mask;
                scope->nodes = rule->nodes;
        }
        list->n++;
        return 0;
}

int hn_rules_scopes(const struct hn_config *config, const struct hn_cgroupfs *cgroups, bool all,
                    struct hn_scope_list *ret) {
        _hn_cleanup_(hn_scope_list_deinit) struct hn_scope_list list = HN_SCOPE_LIST_NULL;
        _hn_cleanup_(hn_cgroup_list_deinit) struct hn_cgroup_list found = HN_CGROUP_LIST_NULL;
        _hn_cleanup_(patterns_deinit) struct patterns patterns = { .n = 0 };
        int r;

        r = patterns_init(&patterns, config, all);
        if (r < 0)
                return r;
        if (patterns.n > 0) {
                r = hn_cgroups_find(cgroups, patterns.text, patterns.n, &found);
                if (r < 0)
                        return r;
        }
        list.scopes = calloc(found.n + 1, sizeof(*list.scopes));
        if (!list.scopes)
                return -ENOMEM;
        for (size_t i = 0; i < found.n; i++) {
                size_t rule = patterns.rule[found.items[i].pattern];

                r = add_scope(&list, found.items[i].path,
                              rule < config->n_rules ? &config->rules[rule] : NULL, config->mode);
                if (r < 0)
                        return r;
        }
        list.n_ruled = list.n;
        list.cut = found.cut;
        *ret = list;
        list = HN_SCOPE_LIST_NULL;
        return 0;
}
