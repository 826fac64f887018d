/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sampletree.h"

#include "sample/conflicts.h"

static const char *kind(const struct hn_conflicts *c, size_t i) {
        return i < c->n ? c->items[i].kind : "";
}

static void what_is_there_is_told_with_what_to_do(void **state) {
        _hn_cleanup_(hn_conflicts_deinit) struct hn_conflicts none = HN_CONFLICTS_NULL;
        _hn_cleanup_(hn_conflicts_deinit) struct hn_conflicts found = HN_CONFLICTS_NULL;
        struct hn_topology topo;
        struct tree t;

        (void) state;
        tree_make(&t);
        assert_int_equal(hn_topology_init(&topo, 2, 4), 0);
        for (unsigned i = 0; i < 2; i++) {
                topo.nodes[i].id = i;
                (void) hn_mask_add_range(&topo.nodes[i].cpus, 2 * i, 2 * i + 1);
                topo.nodes[i].usable = topo.nodes[i].cpus;
                topo.nodes[i].n_cpus = topo.nodes[i].n_cores = 2;
        }
        tree_write(&t, "proc/sys/kernel/numa_balancing", "1\n");
        assert_int_equal(hn_conflicts_find(&t.root, &topo, &none), 0);
        assert_int_equal(none.n, 0);

        /* not numad, but something that begins like it */
        tree_write(&t, "proc/4/comm", "numadx\n");
        tree_write(&t, "proc/5/comm", "numad\n");
        tree_write(&t, "proc/sys/kernel/numa_balancing", "2\n");
        (void) hn_mask_add(&topo.isolated, 3);
        assert_int_equal(hn_conflicts_find(&t.root, &topo, &found), 0);
        assert_int_equal(found.n, 3);
        assert_string_equal(kind(&found, 0), "numa-balancing");
        assert_non_null(strstr(found.items[0].text, "is 2:"));
        assert_string_equal(kind(&found, 1), "numad");
        assert_non_null(strstr(found.items[1].text, "PID 5)"));
        assert_string_equal(kind(&found, 2), "isolated-cpus");
        assert_true(hn_conflicts_equal(&found, &found));
        assert_false(hn_conflicts_equal(&found, &none));
        hn_conflicts_deinit(&found);
        assert_true(hn_conflicts_equal(&found, &none));

        topo.nodes[1].usable = HN_MASK_NULL;
        topo.nodes[1].n_cpus = topo.nodes[1].n_cores = 0;
        assert_int_equal(hn_conflicts_find(&t.root, &topo, &found), 0);
        assert_string_equal(kind(&found, 0), "one-node");
        hn_topology_deinit(&topo);
        tree_destroy(&t);
}

int main(void) {
        const struct CMUnitTest tests[] = { cmocka_unit_test(what_is_there_is_told_with_what_to_do) };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
