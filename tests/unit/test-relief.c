/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* No node of ours keeps tasks waiting while another has nothing to do (S4). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenes.h"

/* Two are held on node 0, where others have lately come in such numbers that both wait for `waited`; nodes 1
 * and 3 are busy, and node 2 for `elsewhere`. */
static void crowd(struct fixture *f, uint32_t waited, uint32_t elsewhere, unsigned seconds) {
        start(f, 2);
        for (size_t i = 0; i < 2; i++)
                cast(f, i, 0, 0);
        f->others[1] = f->others[2] = f->others[3] = 2000;
        for (unsigned i = 0; i < 6; i++)
                fixture_second(f, 1000, 0);
        for (size_t i = 0; i < 2; i++)
                hold(f, i, 0, 0);
        fixture_memory(f, 1, 0, 900);
        f->priv[4 + 2] = 100;
        f->others[0] = 1000;
        f->others[2] = elsewhere;
        for (unsigned i = 0; i < seconds; i++)
                fixture_second(f, 1000 - waited, waited);
}

static void two_wait_and_a_node_idles(struct fixture *f) {
        crowd(f, 500, 0, 2);
}

static void not_for_long_enough(struct fixture *f) {
        crowd(f, 500, 0, 1);
}

static void hardly_anybody_waits(struct fixture *f) {
        crowd(f, 499, 0, 2);
}

static void no_node_is_idle(struct fixture *f) {
        crowd(f, 500, 50, 2);
}

static void we_are_all_that_runs_there(struct fixture *f) {
        crowd(f, 500, 49, 2);
}

static void it_is_closed_to_them(struct fixture *f) {
        crowd(f, 500, 0, 1);
        f->scopes[0].nodes = fixture_list("0-1,3");
        fixture_second(f, 500, 500);
}

/* Together they wait for a CPU but for a thousandth of it; and for all of it. */
static void wait_a_little_differently(struct fixture *f, uint64_t more_ns) {
        crowd(f, 500, 0, 1);
        for (unsigned i = 0; i < 2; i++) {
                f->tasks[1].wait_ns += more_ns;
                fixture_second(f, 501, 499);
        }
}

static void one_thousandth_less(struct fixture *f) {
        wait_a_little_differently(f, 1000000);
}

static void just_enough(struct fixture *f) {
        wait_a_little_differently(f, 2000000);
}

/* Node 0 has nothing to do, and those on node 3 wait. */
static void the_first_node_idles(struct fixture *f) {
        start(f, 2);
        for (size_t i = 0; i < 2; i++)
                cast(f, i, 3, 3);
        f->others[0] = f->others[1] = f->others[2] = 2000;
        for (unsigned i = 0; i < 6; i++)
                fixture_second(f, 1000, 0);
        for (size_t i = 0; i < 2; i++)
                hold(f, i, 3, 3);
        f->others[3] = 1000;
        f->others[0] = 0;
        two_seconds(f);
        for (unsigned i = 0; i < 2; i++)
                fixture_second(f, 500, 500);
}

/* A node of memory alone has nothing to do either, but also nothing to do it with. */
static void a_node_without_cpus_idles_too(struct fixture *f) {
        crowd(f, 500, 0, 1);
        f->topo.nodes[1].n_cores = 0;
        f->topo.nodes[1].cpus = f->topo.nodes[1].usable = HN_MASK_NULL;
        f->others[1] = 0;
        for (unsigned i = 0; i < 3; i++)
                fixture_second(f, 500, 500);
}

static void the_idle_node_has_one_core(struct fixture *f) {
        crowd(f, 500, 0, 1);
        f->topo.nodes[2].n_cores = 1;
        fixture_second(f, 500, 500);
}

/* A sleeper wants a CPU no more: what it wanted once is not waiting. */
static void they_sleep(struct fixture *f) {
        crowd(f, 500, 0, 1);
        fixture_second(f, 0, 0);
        fixture_second(f, 0, 0);
}

/* The idle node is that of a task which is about to go there. */
static void somebody_is_on_the_way(struct fixture *f) {
        start(f, 3);
        for (size_t i = 0; i < 3; i++)
                cast(f, i, i == 2, 0);
        f->others[1] = f->others[3] = 2000;
        for (unsigned i = 0; i < 6; i++)
                fixture_second(f, 1000, 0);
        for (size_t i = 0; i < 2; i++)
                hold(f, i, 0, 0);
        f->others[0] = 1000;
        fixture_memory(f, 2, 2, 1000);
        f->others[1] = 1000;
        fixture_second(f, 500, 500);
        fixture_second(f, 500, 500);
}

static void relief(void **state) {
        static const struct scene_row rows[] = {
                { two_wait_and_a_node_idles, 0, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { two_wait_and_a_node_idles, 1, HN_ACT_RELEASE, HN_REASON_NODE_IDLE, 0, 0, NULL },
                { not_for_long_enough, 1, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { hardly_anybody_waits, 1, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { no_node_is_idle, 1, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { we_are_all_that_runs_there, 1, HN_ACT_RELEASE, HN_REASON_NODE_IDLE, 0, 0, NULL },
                { it_is_closed_to_them, 1, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { one_thousandth_less, 1, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { just_enough, 1, HN_ACT_RELEASE, HN_REASON_NODE_IDLE, 0, 0, NULL },
                { the_first_node_idles, 0, HN_ACT_RELEASE, HN_REASON_NODE_IDLE, 3, 3, NULL },
                { a_node_without_cpus_idles_too, 1, HN_ACT_RELEASE, HN_REASON_NODE_IDLE, 0, 0, NULL },
                { the_idle_node_has_one_core, 1, HN_ACT_RELEASE, HN_REASON_NODE_IDLE, 0, 0, NULL },
                { they_sleep, 1, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { somebody_is_on_the_way, 0, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { somebody_is_on_the_way, 2, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 1, 2, "4-5" },
        };
        bool met[_HN_REASON_MAX] = {};

        (void) state;
        check_scenes(rows, HN_ELEMENTS(rows), met);
}

/* Since when a node has been idle, as seen at the looks. */
static void idle_since(void **state) {
        static const struct {
                uint32_t busy;
                unsigned since; /* look, counted from the first; 99: it is not */
        } rows[] = {
                { 0, 0 }, { 0, 0 }, { 49, 0 },  { 50, 99 }, { 2000, 99 },
                { 0, 5 }, { 0, 5 }, { 60, 99 }, { 10, 8 },
        };
        struct fixture f;

        (void) state;
        fixture_init(&f, 2, 2, 0);
        fixture_second(&f, 0, 0);
        assert_int_equal(hn_model_idle_since(f.model, 1), HN_USEC_INFINITY); /* nothing is measured yet */
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                f.others[1] = rows[i].busy;
                fixture_second(&f, 0, 0);
                ROW_EQUAL(i, hn_model_idle_since(f.model, 1),
                          rows[i].since == 99 ? HN_USEC_INFINITY : (1001 + rows[i].since) * HN_USEC_PER_SEC);
                ROW_EQUAL(i, hn_model_idle_since(f.model, 0), 1001 * HN_USEC_PER_SEC);
        }
        fixture_deinit(&f);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(relief),
                cmocka_unit_test(idle_since),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
