/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sampletree.h"

#include <fcntl.h>

#include "rows.h"
#include "sample/sampler.h"

/* Two cgroups of which single processes are taken, by their names: "one" and "two" have a scope each, in each
 * of them. Nothing of a thread that nobody takes is kept but that it is there. */
struct world {
        struct tree tree;
        struct hn_topology topo;
        struct hn_sampler sampler;
        struct hn_snapshot shot;
        struct hn_scope scopes[8];
        size_t n_scopes;
        unsigned asked; /* the chooser, in this sweep */
        hn_usec_t now;
};

static uint32_t choose(void *userdata, uint32_t place, const struct hn_proc_id *who) {
        struct world *w = userdata;

        w->asked++;
        if (strcmp(who->comm, "one") != 0 && strcmp(who->comm, "two") != 0)
                return HN_SCOPE_NONE;
        for (size_t i = 2; i < w->n_scopes; i++)
                if (w->scopes[i].place == place && strcmp(w->scopes[i].rule, who->comm) == 0)
                        return (uint32_t) i;
        assert_true(w->n_scopes < HN_ELEMENTS(w->scopes));
        w->scopes[w->n_scopes] = (struct hn_scope){ .path = w->scopes[place].path,
                                                    .rule = who->comm[0] == 'o' ? "one" : "two",
                                                    .by_process = true,
                                                    .place = place };
        return (uint32_t) w->n_scopes++;
}

static void put(const struct world *w, pid_t tgid, pid_t tid, const char *comm, uint64_t start,
                uint64_t run_ms) {
        char path[128], text[512];

        (void) snprintf(path, sizeof(path), "proc/%d/task/%d/stat", tgid, tid);
        (void) snprintf(
                text, sizeof(text),
                "%d (%s) S 1 7 7 0 -1 0 0 0 0 0 %llu 0 0 0 20 0 1 0 %llu 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0"
                " 0 0 0 0 0 0 0 0 0 0 0 0\n",
                tid, comm, (unsigned long long) run_ms / 10, (unsigned long long) start);
        tree_write(&w->tree, path, text);
        (void) snprintf(path, sizeof(path), "proc/%d/task/%d/schedstat", tgid, tid);
        (void) snprintf(text, sizeof(text), "%llu 1 1\n", (unsigned long long) run_ms * 1000000);
        tree_write(&w->tree, path, text);
        (void) snprintf(path, sizeof(path), "proc/%d/task/%d/status", tgid, tid);
        (void) snprintf(text, sizeof(text),
                        "Name:\tx\nTgid:\t%d\nUid:\t0\t0\t0\t0\nCpus_allowed_list:\t0-1\n", tgid);
        tree_write(&w->tree, path, text);
}

static int make_world(void **state) {
        struct world *w = calloc(1, sizeof(*w));

        assert_non_null(w);
        tree_make(&w->tree);
        tree_write(&w->tree, "proc/self/mountinfo", "33 22 0:28 / /cg rw - cgroup2 cgroup rw\n");
        tree_write(&w->tree, "cg/a/cgroup.threads", "");
        tree_write(&w->tree, "cg/b/cgroup.threads", "");
        tree_write(&w->tree, "cg/b/cpuset.cpus.effective", "1\n");
        assert_int_equal(hn_topology_init(&w->topo, 2, 2), 0);
        for (unsigned i = 0; i < 2; i++) {
                w->topo.nodes[i].id = i;
                w->topo.cpu_node[i] = (hn_node_index) i;
                (void) hn_mask_add(&w->topo.nodes[i].cpus, i);
                w->topo.nodes[i].usable = w->topo.nodes[i].cpus;
                (void) hn_mask_add(&w->topo.online, i);
        }
        assert_int_equal(hn_sampler_init(&w->sampler, &w->tree.root, &w->topo, NULL), 0);
        *state = w;
        return 0;
}

static int drop_world(void **state) {
        struct world *w = *state;

        hn_sampler_deinit(&w->sampler);
        hn_topology_deinit(&w->topo);
        tree_destroy(&w->tree);
        free(w);
        return 0;
}

static void sweep(struct world *w) {
        for (uint32_t i = 0; i < 2; i++)
                w->scopes[i] = (struct hn_scope){
                        .path = i == 0 ? "/a" : "/b", .rule = "any", .by_process = true, .place = i
                };
        w->n_scopes = 2;
        w->asked = 0;
        w->now += HN_USEC_PER_SEC;
        w->sampler.chooser = (struct hn_chooser){ .choose = choose, .userdata = w };
        assert_int_equal(hn_sampler_set_root(&w->sampler, &w->tree.root), 0);
        assert_int_equal(hn_sampler_sweep(&w->sampler, w->scopes, 2, w->now, &w->shot), 0);
}

/* The snapshot as "TID path rule;". */
static const char *seen(const struct world *w) {
        static char text[512];
        size_t used = 0;

        text[0] = '\0';
        for (size_t i = 0; i < w->shot.n_tasks; i++) {
                const struct hn_task_sample *t = &w->shot.tasks[i];

                assert_true(t->scope < w->shot.n_scopes);
                used += (size_t) snprintf(text + used, sizeof(text) - used, "%d %s %s;", t->key.tid,
                                          w->shot.scopes[t->scope].path, w->shot.scopes[t->scope].rule);
                assert_true(used < sizeof(text));
        }
        return text;
}

static void only_who_is_chosen_is_seen(void **state) {
        struct world *w = *state;

        tree_write(&w->tree, "cg/a/cgroup.threads", "10\n11\n20\n30\n");
        tree_write(&w->tree, "cg/b/cgroup.threads", "40\n21\n");
        put(w, 10, 10, "one", 100, 50);
        put(w, 10, 11, "thread", 101, 50); /* goes by its process */
        put(w, 20, 20, "sh", 100, 50);
        put(w, 20, 21, "one", 101, 50); /* nor is this one its process */
        put(w, 30, 30, "two", 100, 50);
        put(w, 40, 40, "one", 100, 50);
        sweep(w);
        assert_string_equal(seen(w), "10 /a one;11 /a one;30 /a two;40 /b one;");
        assert_int_equal(w->shot.n_scopes, 5);
        assert_int_equal(w->sampler.counts.others, 2);
        assert_int_equal(w->sampler.counts.turned, 2);
        assert_int_equal(w->sampler.counts.listed, 6);
        assert_int_equal(w->asked, 5); /* a process and cgroup once */
        /* what is said of the cgroup holds for whoever is in it */
        assert_int_equal(hn_mask_count(&w->shot.scopes[2].cpuset), 2);
        assert_int_equal(hn_mask_count(&w->shot.scopes[4].cpuset), 1);
        assert_int_equal(hn_mask_count(&w->shot.scopes[4].mems), 2);
        assert_true(w->shot.scopes[4].populated);

        sweep(w);
        assert_string_equal(seen(w), "10 /a one;11 /a one;30 /a two;40 /b one;");
        assert_int_equal(w->sampler.counts.turned, 0);
}

/* As many sweeps as it takes for a name to be read again. */
static void sweep_on(struct world *w) {
        for (unsigned i = 0; i < HN_SAMPLER_ID_SWEEPS; i++)
                sweep(w);
}

static void who_becomes_another_program_is_another(void **state) {
        struct world *w = *state;

        tree_write(&w->tree, "cg/a/cgroup.threads", "10\n20\n30\n");
        put(w, 10, 10, "one", 100, 50);
        put(w, 20, 20, "sh", 100, 50);
        put(w, 30, 30, "two", 100, 50);
        sweep(w);
        assert_string_equal(seen(w), "10 /a one;30 /a two;");

        put(w, 10, 10, "sh", 100, 60);
        put(w, 20, 20, "one", 100, 60);
        put(w, 30, 30, "one", 100, 60);
        sweep_on(w);
        assert_string_equal(seen(w), "20 /a one;30 /a one;");

        /* a new thread has the name read at once */
        put(w, 20, 20, "sh", 100, 60);
        put(w, 20, 21, "sh", 300, 60);
        tree_write(&w->tree, "cg/a/cgroup.threads", "10\n20\n21\n30\n");
        sweep(w);
        sweep(w);
        assert_string_equal(seen(w), "30 /a one;");
}

static void a_number_that_has_a_new_owner(void **state) {
        struct world *w = *state;

        tree_write(&w->tree, "cg/a/cgroup.threads", "10\n20\n");
        put(w, 10, 10, "one", 100, 50);
        put(w, 20, 20, "sh", 100, 50);
        sweep(w);
        assert_string_equal(seen(w), "10 /a one;");

        /* both died, and other processes have their numbers */
        put(w, 10, 10, "sh", 500, 10);
        put(w, 20, 20, "one", 500, 10);
        sweep(w);
        assert_string_equal(seen(w), ""); /* the opted-in one is known to be dead at once */
        sweep_on(w);
        assert_string_equal(seen(w), "20 /a one;");
        assert_int_equal(w->shot.tasks[0].key.start, 500);
}

static void who_is_gone_is_forgotten(void **state) {
        struct world *w = *state;

        tree_write(&w->tree, "cg/a/cgroup.threads", "10\n20\n99\n");
        put(w, 10, 10, "one", 100, 50);
        put(w, 20, 20, "sh", 100, 50);
        sweep(w); /* 99 is listed and not there */
        assert_string_equal(seen(w), "10 /a one;");
        tree_write(&w->tree, "cg/a/cgroup.threads", "");
        sweep(w);
        assert_string_equal(seen(w), "");
        assert_int_equal(w->sampler.counts.others, 0);
        assert_int_equal(w->sampler.table.n_processes, 0);
}

/* From one cgroup to the other, and from a place that goes by process to one that takes everybody. */
static void a_move_to_another_cgroup(void **state) {
        struct world *w = *state;

        tree_write(&w->tree, "cg/a/cgroup.threads", "10\n20\n");
        put(w, 10, 10, "one", 100, 50);
        put(w, 20, 20, "sh", 100, 50);
        sweep(w);
        tree_write(&w->tree, "cg/a/cgroup.threads", "");
        tree_write(&w->tree, "cg/b/cgroup.threads", "10\n20\n");
        sweep(w);
        assert_string_equal(seen(w), "10 /b one;");

        w->scopes[1].by_process = false;
        w->n_scopes = 2;
        w->now += HN_USEC_PER_SEC;
        assert_int_equal(hn_sampler_sweep(&w->sampler, w->scopes, 2, w->now, &w->shot), 0);
        assert_string_equal(seen(w), "10 /b any;20 /b any;");
        assert_int_equal(w->shot.n_scopes, 2);
}

static void nobody_chooses_nobody(void **state) {
        struct world *w = *state;

        tree_write(&w->tree, "cg/a/cgroup.threads", "10\n");
        put(w, 10, 10, "one", 100, 50);
        sweep(w);
        w->sampler.chooser = (struct hn_chooser){ .choose = NULL };
        w->n_scopes = 2;
        assert_int_equal(hn_sampler_sweep(&w->sampler, w->scopes, 2, w->now, &w->shot), 0);
        assert_string_equal(seen(w), "");
        assert_int_equal(w->shot.n_scopes, 2);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(only_who_is_chosen_is_seen, make_world, drop_world),
                cmocka_unit_test_setup_teardown(who_becomes_another_program_is_another, make_world,
                                                drop_world),
                cmocka_unit_test_setup_teardown(a_number_that_has_a_new_owner, make_world, drop_world),
                cmocka_unit_test_setup_teardown(who_is_gone_is_forgotten, make_world, drop_world),
                cmocka_unit_test_setup_teardown(a_move_to_another_cgroup, make_world, drop_world),
                cmocka_unit_test_setup_teardown(nobody_chooses_nobody, make_world, drop_world),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
