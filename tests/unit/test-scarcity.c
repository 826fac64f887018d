/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The policy when there is no memory to be had: each allocation in turn fails once, the caller is told so,
 * and nothing has come of it. Allocations are met on their way out of the code under test, in this program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <errno.h>

#include "fixture.h"
#include "policy/account.h"
#include "policy/advise.h"
#include "policy/plan.h"
#include "rows.h"

static unsigned until_failure; /* the one that is to fail, counted from 1; 0 for none */

static bool fails(void) {
        if (until_failure == 0 || --until_failure > 0)
                return false;
        errno = ENOMEM;
        return true;
}

void *calloc(size_t n, size_t size) {
        static void *(*next)(size_t, size_t);

        if (!next)
                next = (__typeof__(next)) dlsym(RTLD_NEXT, "calloc");
        return fails() ? NULL : next(n, size);
}

void *realloc(void *old, size_t size) {
        static void *(*next)(void *, size_t);

        if (!next)
                next = (__typeof__(next)) dlsym(RTLD_NEXT, "realloc");
        return fails() ? NULL : next(old, size);
}

static struct hn_topology made;
static struct hn_model *model;
static struct hn_plan *plan;

static int make_topology(struct fixture *f) {
        (void) f;
        return hn_topology_init(&made, 4, 8);
}

static int make_model(struct fixture *f) {
        return hn_model_new(&f->topo, &model);
}

static int make_plan(struct fixture *f) {
        return hn_plan_new(&f->topo, &plan);
}

static int feed_more_than_ever(struct fixture *f) {
        return hn_model_feed(f->model, &f->s);
}

static int plan_for_more_than_ever(struct fixture *f) {
        const struct hn_limits limits = HN_LIMITS_DEFAULT;

        return hn_plan_build(plan, f->model, &f->s, &limits);
}

static int find_a_mask(struct fixture *f) {
        const struct hn_mask mask = fixture_list("3-4");
        hn_mask_id id = HN_MASK_ID_NONE;
        int r = hn_mask_pool_intern(&f->masks, &mask, &id);

        assert_true((id != HN_MASK_ID_NONE) == (r == 0));
        return r;
}

static int advise(struct fixture *f) {
        const struct hn_wish wish = { 1000, 0 };
        struct hn_advise_view views[4];
        struct hn_advise_node nodes[4];
        struct hn_advice advice;

        for (size_t i = 0; i < 4; i++)
                nodes[i] = (struct hn_advise_node){ .allowed = true };
        return hn_advise(&f->topo, nodes, &wish, HN_NODE_NONE, views, &advice);
}

static int read_reservations(struct fixture *f) {
        static const char text[] = "5 0 1000 0 0 0\n";
        struct hn_reservations rs = HN_RESERVATIONS_NULL;
        long lines = hn_reservations_read(&rs, text, sizeof(text) - 1, 5);

        (void) f;
        assert_int_equal(rs.n, lines == 1);
        hn_reservations_deinit(&rs);
        return lines < 0 ? (int) lines : 0;
}

static int reserve(struct fixture *f) {
        const struct hn_reservation what = { .made = 5, .cpus = 1000 };
        struct hn_reservations rs = HN_RESERVATIONS_NULL;
        struct hn_account account = HN_ACCOUNT_NULL;
        int r = hn_account_add(&account, 1000, /* shared= */ false, &what);

        (void) f;
        assert_int_equal(account.n, r == 0);
        if (r == 0) {
                r = hn_account_private(&account, 1000, &rs);
                assert_int_equal(rs.n, r == 0);
        }
        hn_reservations_deinit(&rs);
        hn_account_deinit(&account);
        return r;
}

/* So that the next one which is new needs room. */
static void fill_mask_pool(struct fixture *f) {
        for (unsigned i = 0; f->masks.n < f->masks.allocated; i++) {
                struct hn_mask m = HN_MASK_NULL;

                assert_true(hn_mask_add(&m, 100 + i));
                (void) fixture_intern(f, &m);
        }
}

/* Twenty tasks of which the model knows two, and a plan made for these. */
static void prepare(struct fixture *f, bool fed) {
        const struct hn_limits limits = HN_LIMITS_DEFAULT;

        fixture_init(f, 4, 2, 20);
        for (size_t i = 0; i < 20; i++) {
                fixture_put(f, i, 0);
                fixture_memory(f, i, 1, 1000);
        }
        f->s.n_tasks = 2;
        fixture_second(f, 100, 0);
        fixture_second(f, 100, 0);
        assert_int_equal(hn_plan_new(&f->topo, &plan), 0);
        assert_int_equal(hn_plan_build(plan, f->model, &f->s, &limits), 0);
        f->s.n_tasks = 20;
        if (fed)
                fixture_second(f, 100, 0);
        fill_mask_pool(f);
}

static void drop(struct fixture *f) {
        hn_topology_deinit(&made);
        model = hn_model_free(model);
        plan = hn_plan_free(plan);
        fixture_deinit(f);
}

static const struct {
        int (*act)(struct fixture *);
        bool fed;
        bool makes_plan;
        unsigned at_least; /* allocations in it */
} rows[] = {
        { make_topology, false, false, 3 },
        { make_model, false, false, 5 },
        { make_plan, false, true, 14 },
        { feed_more_than_ever, false, false, 3 },
        { plan_for_more_than_ever, true, false, 10 },
        { find_a_mask, false, false, 1 },
        { advise, false, false, 5 },
        { read_reservations, false, false, 1 },
        { reserve, false, false, 2 },
};

static void who_finds_no_memory_says_so(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                for (unsigned nth = 1;; nth++) {
                        struct fixture f;
                        bool failed;
                        int r;

                        prepare(&f, rows[i].fed);
                        if (rows[i].makes_plan)
                                plan = hn_plan_free(plan);
                        until_failure = nth;
                        r = rows[i].act(&f);
                        failed = until_failure == 0;
                        until_failure = 0;
                        ROW_EQUAL(i, r, failed ? -ENOMEM : 0);
                        if (failed) {
                                /* Nothing has come of it, and it can be had when there is memory again. */
                                ROW_EQUAL(i, made.n_nodes, 0);
                                assert_null(model);
                                ROW_EQUAL(i, hn_model_size(f.model), rows[i].fed ? 20 : 2);
                                ROW_EQUAL(i, hn_model_state(f.model, 1)->samples, rows[i].fed ? 2 : 1);
                                ROW_EQUAL(i, rows[i].act(&f), 0);
                        }
                        drop(&f);
                        if (!failed) {
                                ROW_EQUAL(i, nth > rows[i].at_least, true);
                                break;
                        }
                }
}

/* The order's mask is a new one, for each of two tasks. */
static void an_order_without_memory_for_its_mask(void **state) {
        const struct hn_limits limits = HN_LIMITS_DEFAULT;
        const struct hn_hand hands[] = { { .id = 7, .nodes = fixture_list("2-3") },
                                         { .id = 8, .nodes = fixture_list("3") } };

        (void) state;
        for (size_t i = 0; i < 2; i++) {
                struct fixture f;

                prepare(&f, /* fed= */ false);
                f.s.n_tasks = 2;
                f.s.hands = hands;
                f.s.n_hands = HN_ELEMENTS(hands);
                f.tasks[i].hand = 1;
                f.tasks[1 - i].hand = 2;
                fixture_second(&f, 100, 0);
                if (i == 1) {
                        (void) fixture_mask(&f, "6-7");
                        fill_mask_pool(&f);
                }
                until_failure = 1;
                ROW_EQUAL(i, hn_plan_build(plan, f.model, &f.s, &limits), -ENOMEM);
                until_failure = 0;
                ROW_EQUAL(i, hn_plan_build(plan, f.model, &f.s, &limits), 0);
                ROW_EQUAL(i, hn_plan_decision(plan, i)->want, fixture_mask(&f, "4-7"));
                ROW_EQUAL(i, hn_plan_decision(plan, 1 - i)->want, fixture_mask(&f, "6-7"));
                drop(&f);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(who_finds_no_memory_says_so),
                cmocka_unit_test(an_order_without_memory_for_its_mask),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
