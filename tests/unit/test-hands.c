/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What overrides bring into the sample, beside rules and with its memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <limits.h>

#include "fakeroot.h"
#include "overridestage.h"

static void list_thread(const struct hn_tree *t, const char *path, pid_t tid) {
        char text[32];

        (void) snprintf(text, sizeof(text), "%d\n", tid);
        hn_tree_write(t, path, text, 0);
}

/* With what is below; and with narrower orders for a part of it. */
static void a_cgroup(void **state) {
        struct stage *s = *state;
        pid_t thread = puppet_do(&s->puppet, 't'), deep = puppet_do(&s->puppet, 't'),
              beside = puppet_do(&s->puppet, 't');
        struct hn_override wish = wish_of(s, "0"), inner = wish_of(s, "1");
        struct hn_tree tree;
        uint64_t id;

        hn_tree_make(&tree);
        list_thread(&tree, "t[1].slice/cgroup.threads", thread);
        list_thread(&tree, "t[1].slice/a/b.service/cgroup.threads", deep);
        list_thread(&tree, "t1.slice/cgroup.threads", beside);
        stage_cgroups(s, tree.path);
        wish.kind = inner.kind = HN_OVERRIDE_CGROUP;
        wish.pid = inner.pid = 0;
        wish.cgroup = (char *) "t[1].slice";
        inner.cgroup = (char *) "t[1].slice/a";
        (void) add(s, &wish);
        stage_tick(s);
        assert_wears(thread, &first);
        assert_wears(deep, &first);
        assert_wears(beside, &all);
        assert_wears(s->puppet.pid, &all);

        id = add(s, &inner);
        stage_tick(s);
        assert_wears(thread, &first);
        assert_wears(deep, &rest);
        assert_int_equal(hn_override_remove(s->m, id, "user 0"), 0);
        stage_tick(s);
        stage_tick(s);
        assert_wears(deep, &first);

        /* One leaves it; then all of it is gone. */
        hn_tree_write(&tree, "t[1].slice/a/b.service/cgroup.threads", "\n", 0);
        for (unsigned i = 0; i < 6; i++)
                stage_tick(s);
        assert_wears(deep, &all);
        assert_wears(thread, &first);
        hn_tree_delete(&tree, "t[1].slice/a/b.service/cgroup.threads");
        hn_tree_delete(&tree, "t[1].slice/a/b.service");
        hn_tree_delete(&tree, "t[1].slice/a");
        hn_tree_delete(&tree, "t[1].slice/cgroup.threads");
        hn_tree_delete(&tree, "t[1].slice");
        stage_tick(s);
        assert_wears(thread, &all);
        assert_int_equal(hn_override_count(s->m), 0);
        assert_int_equal(hn_ledger_size(s->m->ledger), 0);
        hn_tree_drop(&tree);
}

/* A rule manages the task: it is left alone as long as the order lasts, and back in the rule's care after
 * that, without a word about others who had narrowed its mask. */
static void in_the_care_of_a_rule(void **state) {
        struct stage *s = *state;
        struct hn_override wish = wish_of(s, "0");
        struct hn_tree tree;
        uint64_t id;

        hn_tree_make(&tree);
        list_thread(&tree, "t.slice/cgroup.threads", s->puppet.pid);
        stage_cgroups(s, tree.path);
        stage_write(s->config, "[Daemon]\nMode=manage\n[Rule t]\nCgroup=t.slice\nMode=manage\n");
        hn_manager_reload(s->m);
        stage_tick(s);
        assert_int_equal(s->m->scopes.n_places, 1);
        assert_int_equal(s->m->snapshot.n_tasks, 1);

        id = add(s, &wish);
        for (unsigned i = 0; i < 8; i++) {
                stage_tick(s);
                assert_wears(s->puppet.pid, &first);
        }
        /* Nor does it end with the rule. */
        stage_write(s->config, "[Daemon]\nMode=manage\n");
        hn_manager_reload(s->m);
        stage_tick(s);
        stage_tick(s);
        assert_wears(s->puppet.pid, &first);
        stage_write(s->config, "[Daemon]\nMode=manage\n[Rule t]\nCgroup=t.slice\nMode=manage\n");
        hn_manager_reload(s->m);
        stage_tick(s);
        assert_int_equal(hn_override_remove(s->m, id, "user 0"), 0);
        for (unsigned i = 0; i < 8; i++) {
                stage_tick(s);
                assert_wears(s->puppet.pid, &all);
        }
        assert_int_equal(stage_times_said(s, "somebody"), 0);
        hn_tree_drop(&tree);
}

static void list_two(const struct hn_tree *t, const char *cgroup, pid_t a, pid_t b) {
        char text[32], path[PATH_MAX + 32];

        (void) snprintf(text, sizeof(text), "%d\n%d\n", a, b);
        (void) snprintf(path, sizeof(path), "%s/cgroup.threads", strcmp(cgroup, "/") == 0 ? "" : cgroup);
        hn_tree_write(t, path + strspn(path, "/"), text, 0);
}

static const struct hn_scope *scope_of(const struct stage *s, pid_t tid) {
        const struct hn_snapshot *shot = &s->m->snapshot;

        for (size_t i = 0; i < shot->n_tasks; i++)
                if (shot->tasks[i].key.tid == tid)
                        return &shot->scopes[shot->tasks[i].scope];
        return NULL;
}

/* A cgroup of which rules take single processes, and not this one: it is in nobody's care but the hand's,
 * with the child that it forks, and what the rules do about strangers is none of its business. */
static void where_rules_take_others(void **state) {
        static const enum hn_override_kind kinds[] = { HN_OVERRIDE_PROCESS, HN_OVERRIDE_THREAD,
                                                       HN_OVERRIDE_CGROUP };
        struct stage *s = *state;
        pid_t thread = puppet_do(&s->puppet, 't');
        char cgroup[PATH_MAX];

        stage_write(s->config, "[Daemon]\nMode=manage\n[Rule other]\nComm=no-such-program\nMode=manage\n");
        hn_manager_reload(s->m);
        assert_true(hn_world_cgroup(&s->m->world, s->puppet.pid, cgroup, sizeof(cgroup)) >= 0);
        for (size_t k = 0; k < HN_ELEMENTS(kinds); k++) {
                bool alone = kinds[k] == HN_OVERRIDE_THREAD, by_path = kinds[k] == HN_OVERRIDE_CGROUP;
                struct hn_override wish = wish_of(s, "0");
                const struct hn_scope *scope;
                struct hn_tree tree;
                uint64_t id;

                hn_tree_make(&tree);
                list_two(&tree, by_path ? "/t.slice" : cgroup, s->puppet.pid, thread);
                stage_cgroups(s, tree.path);
                wish.kind = kinds[k];
                wish.pid = by_path ? 0 : alone ? thread : s->puppet.pid;
                wish.cgroup = by_path ? (char *) "t.slice" : NULL;
                stage_tick(s);
                assert_int_equal(s->m->snapshot.n_tasks, 0);
                assert_int_equal(s->m->sampler.counts.others, 2);

                id = add(s, &wish);
                for (unsigned i = 0; i < 8; i++) {
                        stage_tick(s);
                        assert_wears(thread, &first);
                        assert_wears(s->puppet.pid, alone ? &all : &first);
                        assert_int_equal(s->m->snapshot.n_tasks, 2);
                        assert_int_equal(s->m->state.n_scopes, 0); /* no rule holds anything */
                        if (i == 4)
                                hn_manager_reload(s->m);
                }
                scope = scope_of(s, thread);
                assert_non_null(scope);
                assert_true(scope->by_hand && scope->by_process && scope->populated);
                assert_true(hn_mask_equal(&scope->cpuset, &s->m->snapshot.scopes[scope->place].cpuset));
                assert_int_equal(scope->mode, HN_MODE_OBSERVE);

                assert_int_equal(hn_override_remove(s->m, id, "user 0"), 0);
                stage_tick(s);
                assert_wears(thread, &all);
                assert_wears(s->puppet.pid, &all);
                stage_tick(s);
                assert_int_equal(s->m->snapshot.n_tasks, 0);
                assert_int_equal(hn_ledger_size(s->m->ledger), 0);
                hn_tree_drop(&tree);
        }
        assert_int_equal(stage_times_said(s, "somebody"), 0);
}

/* A rule takes the process itself, then another one does, then none; the hand holds it all the while. */
static void where_a_rule_takes_it(void **state) {
        static const char *const configs[] = {
                "[Daemon]\nMode=manage\n[Rule it]\nComm=test-hands\nMode=manage\n",
                "[Daemon]\nMode=manage\n[Rule seen]\nComm=test-hands\nMode=observe\n[Rule it]\nComm=x\nMode=manage\n",
                "[Daemon]\nMode=manage\n[Rule it]\nComm=no-such-program\nMode=manage\n",
                "[Daemon]\nMode=manage\n[Rule it]\nComm=test-hands\nMode=manage\n",
        };
        static const char *const rules[] = { "it", "seen", NULL, "it" };
        struct stage *s = *state;
        pid_t thread = puppet_do(&s->puppet, 't'), child;
        struct hn_override wish = wish_of(s, "0");
        char cgroup[PATH_MAX];
        struct hn_tree tree;
        uint64_t id = 0;

        assert_true(hn_world_cgroup(&s->m->world, s->puppet.pid, cgroup, sizeof(cgroup)) >= 0);
        hn_tree_make(&tree);
        list_two(&tree, cgroup, s->puppet.pid, thread);
        stage_cgroups(s, tree.path);
        for (size_t k = 0; k < HN_ELEMENTS(configs); k++) {
                stage_write(s->config, configs[k]);
                hn_manager_reload(s->m);
                if (id == 0) {
                        stage_tick(s);
                        id = add(s, &wish);
                }
                for (unsigned i = 0; i < 8; i++) {
                        const struct hn_scope *scope;

                        stage_tick(s);
                        assert_wears(thread, &first);
                        assert_wears(s->puppet.pid, &first);
                        scope = scope_of(s, thread);
                        assert_non_null(scope);
                        assert_int_equal(scope->by_hand, !rules[k]);
                        assert_int_equal(s->m->state.n_scopes, rules[k] ? 1 : 0);
                        if (rules[k]) {
                                assert_string_equal(scope->rule, rules[k]);
                                assert_string_equal(s->m->state.scopes[0].rule, rules[k]);
                                assert_string_equal(hn_state_scope_part(&s->m->state.scopes[0]), rules[k]);
                        }
                }
        }
        assert_int_equal(s->m->state.restored, 0); /* not even for a moment */
        /* Born between two looks, and not listed yet: what is left out is asked for once more just now. */
        child = puppet_do(&s->puppet, 'c');
        hn_manager_reload(s->m);
        stage_tick(s);
        assert_wears(child, &first);

        assert_int_equal(hn_override_remove(s->m, id, "user 0"), 0);
        for (unsigned i = 0; i < 8; i++) {
                stage_tick(s);
                assert_wears(thread, &all);
                assert_wears(s->puppet.pid, &all);
                assert_wears(child, &all);
        }
        assert_string_equal(scope_of(s, thread)->rule, "it");
        assert_int_equal(hn_ledger_size(s->m->ledger), 0);
        assert_int_equal(stage_times_said(s, "somebody"), 0);
        assert_int_equal(kill(child, SIGKILL), 0);
        hn_tree_drop(&tree);
}

/* Its memory is looked for on the other node, which has none; all is done once it has been gone through. */
static void with_its_memory(void **state) {
        struct stage *s = *state;
        struct hn_override wish = wish_of(s, "0");
        uint64_t id;

        wish.pages = true;
        s->m->limits.min_age = 0;
        id = add(s, &wish);
        stage_tick(s);
        assert_wears(s->puppet.pid, &first);
        if (s->m->snapshot.nodes[0].free == 0)
                skip(); /* a machine that does not tell */
        assert_false(s->m->pager.active);
        stage_tick(s);
        assert_true(s->m->pager.active);
        assert_int_equal(s->m->pager.hand, id);
        assert_int_equal(hn_mask_next(&s->m->pager.job.sources, 0), 1);
        assert_int_equal(hn_mask_count(&s->m->pager.job.sources), 1);
        /* A sanitizer's process has terabytes to go through. */
        s->m->pager.job.n_ranges = 0;
        (void) hn_pager_step(&s->m->pager, s->m, s->now);
        assert_false(s->m->pager.active);
        assert_int_equal(s->m->state.pages_moved, 0);
        for (unsigned i = 0; i < 40; i++) {
                stage_tick(s);
                assert_false(s->m->pager.active);
        }

        /* Another order is another word; its end is the end of that. */
        id = add(s, &wish);
        stage_tick(s);
        stage_tick(s);
        assert_true(s->m->pager.active);
        assert_int_equal(hn_override_remove(s->m, id, "user 0"), 0);
        stage_tick(s);
        assert_false(s->m->pager.active);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                staged(a_cgroup),
                staged(in_the_care_of_a_rule),
                staged(where_rules_take_others),
                staged(where_a_rule_takes_it),
                staged(with_its_memory),
        };
        int r = stage_open();

        return r != 0 ? r : cmocka_run_group_tests(tests, NULL, NULL);
}
