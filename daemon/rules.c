/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/rulematch.h"
#include "daemon/rules.h"
#include "sample/cgrouplist.h"

/* What is left to decide by process in one cgroup. */
struct hn_rules_place {
        struct hn_mark_bounds marks;
        size_t first, n; /* candidates in their order; the last one may take all that is left */
};

struct hn_rules_candidate {
        uint32_t rule;
        uint32_t scope; /* HN_SCOPE_NONE before it has taken somebody */
};

void hn_scope_list_deinit(struct hn_scope_list *list) {
        for (size_t i = 0; i < list->n; i++) {
                free((char *) list->scopes[i].path);
                free((char *) list->scopes[i].rule);
        }
        free(list->scopes);
        free(list->places);
        free(list->candidates);
        *list = HN_SCOPE_LIST_NULL;
}

static int path_compare(const void *key, const void *item) {
        return strcmp(key, ((const struct hn_scope *) item)->path);
}

const struct hn_scope *hn_scope_list_find(const struct hn_scope_list *list, const char *path) {
        return list->n_places == 0
                       ? NULL
                       : bsearch(path, list->scopes, list->n_places, sizeof(*list->scopes), path_compare);
}

bool hn_scope_list_is_managed(const struct hn_scope_list *list, const char *path) {
        const struct hn_scope *place = hn_scope_list_find(list, path);

        if (!place || place->mode == HN_MODE_MANAGE)
                return place != NULL;
        for (size_t i = list->n_places; place->by_process && i < list->n; i++)
                if (list->scopes[i].by_process && &list->scopes[list->scopes[i].place] == place &&
                    list->scopes[i].mode == HN_MODE_MANAGE)
                        return true;
        return false;
}

/* Room for so many more scopes, and for what may be chosen behind them: the sampler wants all of them to stay
 * where they are. */
static int reserve(struct hn_scope_list *list, size_t n) {
        size_t more = list->n + n + HN_MIN(list->n_candidates, (size_t) HN_RULES_CHOSEN_MAX);
        struct hn_scope *bigger;

        if (more <= list->allocated)
                return 0;
        bigger = reallocarray(list->scopes, more, sizeof(*bigger));
        if (!bigger)
                return -ENOMEM;
        list->scopes = bigger;
        list->allocated = more;
        return 0;
}

int hn_scope_list_add(struct hn_scope_list *list, const struct hn_scope *scope) {
        char *copy;

        if (reserve(list, 1) < 0)
                return -ENOMEM;
        copy = strdup(scope->path);
        if (!copy)
                return -ENOMEM;
        list->scopes[list->n] = *scope;
        list->scopes[list->n].path = copy;
        list->scopes[list->n++].rule = NULL;
        return 0;
}

/* One index more than there are rules stands for HN_RULE_ALL. */
static const struct hn_rule *rule_at(const struct hn_config *config, size_t i) {
        return i < config->n_rules ? &config->rules[i] : NULL;
}

/* Adds the scope of a rule in a cgroup. Returns 0, 1 where the marks let none be, or -ENOMEM. */
static int add_scope(struct hn_scope_list *list, const char *path, size_t rule_index,
                     struct hn_mark_bounds marks) {
        const struct hn_rule *rule = rule_at(list->config, rule_index);
        int level = hn_mark_bounds_apply(marks, rule ? rule->mode : HN_MODE_ADVISE);
        struct hn_scope *scope = &list->scopes[list->n];
        char *p, *name;

        /* The one for everything touches nothing, whatever somebody marks. */
        level = HN_MIN(level, (int) (rule ? list->config->mode : HN_MODE_ADVISE));
        if (level == HN_MODE_LEVEL_OFF)
                return 1;
        p = strdup(path);
        name = strdup(rule ? rule->name : HN_RULE_ALL);
        if (!p || !name) {
                free(p);
                free(name);
                return -ENOMEM;
        }
        *scope = (struct hn_scope){ .path = p, .rule = name, .mode = (enum hn_mode) level, .pages = true };
        if (rule) {
                scope->pages = rule->pages;
                scope->within_user_mask = rule->within_user_mask;
                scope->nodes = rule->nodes;
                scope->prefer = rule->prefer;
        }
        list->n++;
        return 0;
}

/* Where to look: all patterns of all rules, or everywhere if one of them names none. */
static int find_cgroups(const struct hn_config *config, const struct hn_cgroupfs *cgroups, bool all,
                        struct hn_cgroup_list *ret) {
        _hn_cleanup_(hn_freep) const char **patterns = NULL;
        size_t n = 0;

        for (size_t i = 0; i < config->n_rules; i++) {
                n += config->rules[i].match[HN_MATCH_CGROUP].n;
                all = all || config->rules[i].match[HN_MATCH_CGROUP].n == 0;
        }
        patterns = calloc(n + 1, sizeof(*patterns));
        if (!patterns)
                return -ENOMEM;
        n = 0;
        for (size_t i = 0; !all && i < config->n_rules; i++)
                for (size_t k = 0; k < config->rules[i].match[HN_MATCH_CGROUP].n; k++)
                        patterns[n++] = config->rules[i].match[HN_MATCH_CGROUP].items[k];
        if (all)
                patterns[n++] = "*";
        return n > 0 ? hn_cgroups_find(cgroups, patterns, n, ret) : 0;
}

static int add_candidate(struct hn_scope_list *list, size_t rule) {
        if (list->n_candidates == list->n_allocated) {
                size_t more = list->n_allocated ? 2 * list->n_allocated : 64;
                struct hn_rules_candidate *bigger = reallocarray(list->candidates, more, sizeof(*bigger));

                if (!bigger)
                        return -ENOMEM;
                list->candidates = bigger;
                list->n_allocated = more;
        }
        list->candidates[list->n_candidates++] = (struct hn_rules_candidate){ .rule = (uint32_t) rule,
                                                                              .scope = HN_SCOPE_NONE };
        return 0;
}

/* Adds the scope of a cgroup, if any rule may take something of it. */
static int add_place(struct hn_scope_list *list, const char *path, bool all, struct hn_mark_bounds marks) {
        const struct hn_config *config = list->config;
        struct hn_rules_place place = { .marks = marks, .first = list->n_candidates };
        bool by_process = false;
        size_t last = SIZE_MAX;
        int r;

        for (size_t i = 0; i < config->n_rules + all && last == SIZE_MAX; i++) {
                const struct hn_rule *rule = rule_at(config, i);

                if (rule && !hn_rule_takes_cgroup(rule, path))
                        continue;
                if (!rule || !hn_rule_by_process(rule))
                        last = i;
                else
                        by_process = true;
                if (!by_process)
                        continue;
                r = add_candidate(list, i);
                if (r < 0)
                        return r;
                place.n++;
        }
        if (!by_process && last == SIZE_MAX)
                return 0;
        /* By process, what is said here of the cgroup is only where to look. */
        r = add_scope(list, path, by_process ? list->candidates[place.first].rule : last, marks);
        if (r < 0)
                return r;
        if (r > 0) {
                list->n_candidates = place.first;
                return 0;
        }
        if (by_process) {
                list->scopes[list->n - 1].by_process = true;
                list->scopes[list->n - 1].place = (uint32_t) list->n - 1;
                list->scopes[list->n - 1].mode = HN_MODE_OBSERVE;
        }
        list->places[list->n - 1] = place;
        return 0;
}

int hn_rules_scopes(const struct hn_config *config, const struct hn_cgroupfs *cgroups, bool all,
                    struct hn_scope_list *ret) {
        _hn_cleanup_(hn_scope_list_deinit) struct hn_scope_list list = { .config = config };
        _hn_cleanup_(hn_cgroup_list_deinit) struct hn_cgroup_list found = HN_CGROUP_LIST_NULL;
        _hn_cleanup_(hn_freep) struct hn_mark_walk *walk = NULL;
        int r;

        r = find_cgroups(config, cgroups, all, &found);
        if (r < 0)
                return r;
        walk = calloc(1, sizeof(*walk));
        list.allocated = found.n + 1;
        list.scopes = calloc(list.allocated, sizeof(*list.scopes));
        list.places = calloc(found.n + 1, sizeof(*list.places));
        if (!walk || !list.scopes || !list.places)
                return -ENOMEM;
        for (size_t i = 0; i < found.n; i++) {
                const char *path = found.items[i].path;

                r = add_place(&list, path, all, hn_mark_read(cgroups, path, config->marks, walk));
                if (r < 0)
                        return r;
        }
        list.n_places = list.n;
        list.cut = found.cut;
        r = reserve(&list, 0);
        if (r < 0)
                return r;
        *ret = list;
        list = HN_SCOPE_LIST_NULL;
        return 0;
}

/* The scope that a rule has in a cgroup, made at the first asking. */
static uint32_t chosen(struct hn_scope_list *list, uint32_t place, struct hn_rules_candidate *c) {
        if (c->scope != HN_SCOPE_NONE)
                return c->scope;
        if (list->n == list->allocated) {
                list->cut = true;
                return HN_SCOPE_NONE;
        }
        /* Without memory for it nobody is opted in. */
        if (add_scope(list, list->scopes[place].path, c->rule, list->places[place].marks) != 0)
                return HN_SCOPE_NONE;
        c->scope = (uint32_t) list->n - 1;
        list->scopes[c->scope].by_process = true;
        list->scopes[c->scope].place = place;
        return c->scope;
}

static uint32_t choose(void *userdata, uint32_t place, const struct hn_proc_id *who) {
        struct hn_scope_list *list = userdata;
        const struct hn_rules_place *p = &list->places[place];

        for (size_t i = 0; i < p->n; i++) {
                struct hn_rules_candidate *c = &list->candidates[p->first + i];
                const struct hn_rule *rule = rule_at(list->config, c->rule);

                if (!rule || hn_rule_takes_process(rule, who))
                        return chosen(list, place, c);
        }
        return HN_SCOPE_NONE;
}

struct hn_chooser hn_rules_chooser(struct hn_scope_list *list) {
        return (struct hn_chooser){
                .wants = list->config ? hn_rules_wants(list->config) : 0,
                .choose = choose,
                .userdata = list,
        };
}
