/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What nobody can order: each refusal with its figures, and nothing changed. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "overridestage.h"
#include "rows.h"

#define FREE_PID 4194300 /* above what a pid can be nearly everywhere, and below what it can be at all */

static void refused(struct stage *s, const struct hn_override *wish, int want, const char *words) {
        const char *refusal = NULL;
        size_t before = hn_override_count(s->m), said = stage_times_said(s, ": refused: ");
        uint64_t id = 0;
        int r = hn_override_add(s->m, wish, &id, &refusal);

        if (r != want || !refusal || !strstr(refusal, words))
                fail_msg("%d and \"%s\", expected %d and \"...%s...\"", r, refusal ? refusal : "", want,
                         words);
        assert_int_equal(hn_override_count(s->m), before);
        assert_int_equal(id, 0);
        /* Each is told in the journal. */
        assert_int_equal(stage_times_said(s, ": refused: "), said + 1);
        stage_tick(s);
        assert_wears(s->puppet.pid, &all);
}

static void nodes_and_cpus(void **state) {
        static const struct {
                const char *nodes, *cpus; /* "first" and "rest" stand for CPUs of nodes 0 and 1 */
                int r;
                const char *words;
        } rows[] = {
                { "", "", -EINVAL, "no node is named: name some of 0-1" },
                { "2", "", -ENOENT, "there is no node 2: this machine has 0-1" },
                { "0,7-8191", "", -ENOENT, "there is no node 7-8191" },
                { "0", "rest", -EINVAL, "is one of node 0: choose from CPUs" },
                { "1", "first", -EINVAL, "is one of node 1: choose from CPUs" },
                { "0-1", "8191", -EINVAL, "none of CPUs 8191" },
        };
        struct stage *s = *state;

        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_override wish = wish_of(s, rows[i].nodes);

                wish.cpus = strcmp(rows[i].cpus, "rest") == 0    ? rest
                            : strcmp(rows[i].cpus, "first") == 0 ? first
                                                                 : list(rows[i].cpus);
                refused(s, &wish, rows[i].r, rows[i].words);
        }
}

static void a_node_without_cpus(void **state) {
        struct stage *s = *state;
        struct hn_override wish = wish_of(s, "0-1");

        s->m->topo.nodes[1].usable = HN_MASK_NULL;
        refused(s, &wish, -EINVAL, "node 1 has no CPU that a task could be given");
        s->m->topo.nodes[1].cpus = HN_MASK_NULL;
        refused(s, &wish, -EINVAL, "(none, less the isolated ones): leave it out");
        s->m->numa = false;
        refused(s, &wish, -EINVAL, "fewer than two nodes have CPUs here");
        s->m->numa = true;
}

static void shapes(void **state) {
        struct stage *s = *state;
        char why[HN_OVERRIDE_WHY_MAX + 2];
        struct hn_override wish = wish_of(s, "0");

        wish.kind = _HN_OVERRIDE_KIND_INVALID;
        refused(s, &wish, -EINVAL, "none of process, thread and cgroup");
        wish = wish_of(s, "0");
        memset(why, 'a', sizeof(why));
        why[sizeof(why) - 1] = '\0';
        wish.why = why;
        refused(s, &wish, -EINVAL, "longer than 256 bytes");
        wish.why = (char *) "\xff";
        refused(s, &wish, -EINVAL, "no valid UTF-8");
        wish = wish_of(s, "0");
        wish.expires = 1;
        refused(s, &wish, -EINVAL, "over already");
}

static void tasks(void **state) {
        struct stage *s = *state;
        pid_t thread = puppet_do(&s->puppet, 't');
        struct hn_override wish = wish_of(s, "0");

        wish.pid = 0;
        refused(s, &wish, -EINVAL, "0 is no process id");
        wish.pid = -1;
        refused(s, &wish, -EINVAL, "-1 is no process id");
        wish.pid = FREE_PID;
        refused(s, &wish, -ESRCH, "there is no process 4194300 (any more)");
        wish.kind = HN_OVERRIDE_THREAD;
        refused(s, &wish, -ESRCH, "there is no thread 4194300 (any more)");
        wish.kind = HN_OVERRIDE_PROCESS;
        wish.pid = thread;
        refused(s, &wish, -ESRCH, "is a thread of process");
        wish.kind = HN_OVERRIDE_THREAD;
        wish.pages = true;
        refused(s, &wish, -EINVAL, "no memory of its own");
        wish = wish_of(s, "0");
        wish.start_time = 1; /* somebody who had that number */
        refused(s, &wish, -ESRCH, "(any more)");
}

static void cgroups(void **state) {
        static const struct {
                const char *path;
                int r;
                const char *words;
        } rows[] = {
                { NULL, -EINVAL, "\"\" is no path of a cgroup" },
                { "", -EINVAL, "and not the root itself" },
                { "/", -EINVAL, "\"/\" is no path of a cgroup" },
                { "/a", -EINVAL, "no path of a cgroup" },
                { "../a", -EINVAL, "no path of a cgroup" },
                { "\x1b]0;a", -ENOENT, "there is no cgroup \\x1b]0;a" },
                { "\xff", -EINVAL, "no valid UTF-8" },
                { "no-such.slice/homenode-test", -ENOENT, "there is no cgroup no-such.slice/homenode-test" },
        };
        struct stage *s = *state;

        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_override wish = wish_of(s, "0");

                wish.kind = HN_OVERRIDE_CGROUP;
                wish.pid = 0;
                wish.cgroup = (char *) rows[i].path;
                refused(s, &wish, rows[i].r, rows[i].words);
        }
}

static void others(void **state) {
        struct stage *s = *state;
        pid_t thread = puppet_do(&s->puppet, 't');
        struct hn_override mine = wish_of(s, "0"), yours = wish_of(s, "1"), one = wish_of(s, "1");
        const char *refusal;
        char words[64];
        uint64_t id, other = 0;

        mine.owner = 1000;
        yours.owner = one.owner = 1001;
        one.kind = HN_OVERRIDE_THREAD;
        one.pid = thread;
        id = add(s, &mine);
        (void) snprintf(words, sizeof(words), "override %llu of user 1000 holds it", (unsigned long long) id);
        assert_int_equal(hn_override_add(s->m, &yours, &other, &refusal), -EEXIST);
        assert_non_null(strstr(refusal, words));
        assert_int_equal(hn_override_add(s->m, &one, &other, &refusal), -EEXIST);
        assert_non_null(strstr(refusal, words));
        assert_int_equal(hn_override_count(s->m), 1);
        /* Of a part of it the same user may say more, and root anything. */
        one.owner = 1000;
        (void) add(s, &one);
        yours.owner = 0;
        (void) add(s, &yours);
        assert_null(hn_override_find(s->m, id));
        assert_int_equal(hn_override_count(s->m), 2);
        stage_tick(s);
        assert_wears(s->puppet.pid, &rest);
        /* And nobody over root's. */
        mine.owner = 1000;
        assert_int_equal(hn_override_add(s->m, &mine, &other, &refusal), -EEXIST);
        assert_non_null(strstr(refusal, "of user 0 holds it"));
}

static void too_many(void **state) {
        struct stage *s = *state;
        struct hn_override wish = wish_of(s, "0"), o = { .kind = HN_OVERRIDE_CGROUP, .owner = 1000 };

        o.nodes = list("0");
        o.cgroup = (char *) "a";
        o.why = (char *) "";
        o.expires = UINT64_MAX;
        for (o.id = 1; o.id <= HN_OVERRIDES_OWNER_MAX; o.id++)
                assert_int_equal(hn_override_list_put(&s->m->overrides.list, &o, 0), 0);
        wish.owner = 1000;
        refused(s, &wish, -ENOSPC, "user 1000 has 128 overrides, and may not have more");
        /* Their cgroup is none, which the tick has seen. */
        assert_int_equal(hn_override_count(s->m), 0);
}

static void too_many_for_all(void **state) {
        struct stage *s = *state;
        struct hn_override wish = wish_of(s, "0"), o = { .kind = HN_OVERRIDE_CGROUP, .owner = 1000 };
        const char *refusal;
        uint64_t id;

        o.nodes = list("0");
        o.cgroup = (char *) "a";
        o.why = (char *) "";
        for (o.id = 1; o.id <= HN_OVERRIDES_MAX; o.id++)
                assert_int_equal(hn_override_list_put(&s->m->overrides.list, &o, 0), 0);
        assert_int_equal(hn_override_add(s->m, &wish, &id, &refusal), -ENOSPC);
        assert_non_null(strstr(refusal, "there are 1024 overrides"));
        hn_override_list_deinit(&s->m->overrides.list);
}

static void nothing_to_undo_it_by(void **state) {
        struct stage *s = *state;
        struct hn_override wish = wish_of(s, "0");
        struct hn_ledger *ledger = s->m->ledger;

        s->m->ledger = NULL;
        refused(s, &wish, -EROFS, "has no ledger in /tmp/hn-override-");
        s->m->ledger = ledger;
}

int main(void) {
        const struct CMUnitTest tests[] = {
                staged(nodes_and_cpus),
                staged(a_node_without_cpus),
                staged(shapes),
                staged(tasks),
                staged(cgroups),
                staged(others),
                staged(too_many),
                staged(too_many_for_all),
                staged(nothing_to_undo_it_by),
        };
        int r = stage_open();

        return r != 0 ? r : cmocka_run_group_tests(tests, NULL, NULL);
}
