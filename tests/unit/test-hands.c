/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What overrides bring into the sample, beside rules and with its memory. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

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
                staged(with_its_memory),
        };
        int r = stage_open();

        return r != 0 ? r : cmocka_run_group_tests(tests, NULL, NULL);
}
