/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is decided about tasks that a hand has put somewhere, at the limits of what they may ask for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/bench.h"
#include "policy/hand.h"
#include "scenes.h"

#define SEC HN_USEC_PER_SEC
#define MIB (UINT64_C(1) << 20)

/* Of a node of 1 GiB a twentieth stays free. */
#define FLOOR ((UINT64_C(1) << 30) / 20)

static struct hn_hand hands[2];

/* From now on task i stands under override 7 + k. */
static void order(struct fixture *f, size_t i, size_t k, const char *nodes, const char *cpus) {
        hands[k] = (struct hn_hand){ .id = 7 + k, .nodes = fixture_list(nodes), .cpus = fixture_list(cpus) };
        f->s.hands = hands;
        f->s.n_hands = HN_ELEMENTS(hands);
        f->tasks[i].hand = (uint32_t) k + 1;
}

static void three(struct fixture *f) {
        start(f, 3);
        for (size_t i = 0; i < 3; i++)
                cast(f, i, 0, 1);
        two_seconds(f);
}

/* One order for tasks of two cgroups, of which the second may not use all of the node. */
static void one_order_in_two_scopes(struct fixture *f) {
        three(f);
        f->scopes[1].cpuset = fixture_list("1-6");
        f->tasks[1].scope = 1;
        for (size_t i = 0; i < 3; i++)
                order(f, i, 0, "3", "");
        fixture_second(f, 1000, 0);
}

static void two_orders_in_one_scope(struct fixture *f) {
        three(f);
        order(f, 0, 0, "3", "");
        order(f, 1, 1, "2", "");
        order(f, 2, 0, "3", "");
        fixture_second(f, 1000, 0);
}

/* The second cgroup has no CPU of that node. */
static void no_cpu_in_one_of_two_scopes(struct fixture *f) {
        one_order_in_two_scopes(f);
        f->scopes[1].cpuset = fixture_list("0-5");
}

static void ordered_to_the_first_cpu_alone(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 1, 1);
        two_seconds(f);
        order(f, 0, 0, "0", "0");
        fixture_second(f, 1000, 0);
}

/* It was last seen on a node that is not there. */
static void ordered_from_nowhere(struct fixture *f) {
        start(f, 1);
        fixture_memory(f, 0, 1, 1000);
        f->tasks[0].node = 4;
        two_seconds(f);
        order(f, 0, 0, "2-3", "");
        fixture_second(f, 1000, 0);
}

/* Held on node 2 under an order for nodes 2 and 3, and its memory is to come; all of it is on node 1. */
static void held_with_pages(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 2, 1);
        two_seconds(f);
        order(f, 0, 0, "2-3", "");
        hands[0].pages = true;
        f->tasks[0].resident = 100 * MIB;
        for (size_t i = 0; i < 4; i++)
                f->nodes[i].free = 1000 * MIB;
        fixture_second(f, 1000, 0);
        fixture_pin(f, 0, 2, 2, fixture_mask(f, "4-7"));
        fixture_second(f, 1000, 0);
}

/* A process born of one under the order, within half a minute of the machine's start: time 0 is no time at
 * which its pages were asked for. */
static void born_when_the_machine_was_started(struct fixture *f) {
        start(f, 2);
        f->s.now = 0;
        f->s.n_tasks = 1;
        cast(f, 0, 2, 1);
        cast(f, 1, 2, 1);
        order(f, 0, 0, "2-3", "");
        hands[0].pages = true;
        f->nodes[3].free = 1000 * MIB;
        two_seconds(f);
        fixture_pin(f, 0, 2, 2, fixture_mask(f, "4-7"));
        f->tasks[1].mask = fixture_mask(f, "4-7");
        f->tasks[1].hand = 1;
        f->s.n_tasks = 2;
        fixture_second(f, 1000, 0);
        hn_model_note_recorded(f->model, 1);
        fixture_second(f, 1000, 0);
}

static void decisions(void **state) {
        static const struct scene_row rows[] = {
                { one_order_in_two_scopes, 0, HN_ACT_PIN, HN_REASON_OVERRIDE, 0, 3, "6-7" },
                { one_order_in_two_scopes, 1, HN_ACT_PIN, HN_REASON_OVERRIDE, 0, 3, "6" },
                { one_order_in_two_scopes, 2, HN_ACT_PIN, HN_REASON_OVERRIDE, 0, 3, "6-7" },
                { two_orders_in_one_scope, 0, HN_ACT_PIN, HN_REASON_OVERRIDE, 0, 3, "6-7" },
                { two_orders_in_one_scope, 1, HN_ACT_PIN, HN_REASON_OVERRIDE, 0, 2, "4-5" },
                { two_orders_in_one_scope, 2, HN_ACT_PIN, HN_REASON_OVERRIDE, 0, 3, "6-7" },
                { no_cpu_in_one_of_two_scopes, 0, HN_ACT_PIN, HN_REASON_OVERRIDE, 0, 3, "6-7" },
                { no_cpu_in_one_of_two_scopes, 1, HN_ACT_NONE, HN_REASON_NO_ALLOWED_CPU, 0, 0, NULL },
                { no_cpu_in_one_of_two_scopes, 2, HN_ACT_PIN, HN_REASON_OVERRIDE, 0, 3, "6-7" },
                { ordered_to_the_first_cpu_alone, 0, HN_ACT_PIN, HN_REASON_OVERRIDE, 1, 0, "0" },
                { ordered_from_nowhere, 0, HN_ACT_PIN, HN_REASON_OVERRIDE, 4, 2, "4-7" },
                { held_with_pages, 0, HN_ACT_PAGES, HN_REASON_OVERRIDE, 2, 2, NULL },
                { born_when_the_machine_was_started, 1, HN_ACT_PAGES, HN_REASON_OVERRIDE, 2, 3, NULL },
        };
        bool met[_HN_REASON_MAX] = {};

        (void) state;
        check_scenes(rows, HN_ELEMENTS(rows), met);
}

/* The decision about task i. The fixture goes with it. */
static struct hn_decision decide(struct fixture *f, size_t i) {
        const struct hn_limits limits = HN_LIMITS_DEFAULT;
        _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
        struct hn_decision d;

        assert_int_equal(hn_plan_new(&f->topo, &plan), 0);
        assert_int_equal(hn_plan_build(plan, f->model, &f->s, &limits), 0);
        d = *hn_plan_decision(plan, i);
        /* Asked once more for the same it says the same. */
        if (d.by_hand) {
                assert_int_equal(hn_plan_obey(plan, f->model, &f->s, i, &limits), 0);
                assert_int_equal(hn_plan_decision(plan, i)->act, d.act);
        }
        fixture_deinit(f);
        return d;
}

static void where_the_memory_comes_to(void **state) {
#define FULL  FLOOR
#define EMPTY (1000 * MIB)
        static const struct {
                const char *nodes;
                uint64_t resident, free[4];
                hn_node_index to; /* NO: it is not asked to move */
        } rows[] = {
                /* less than must stay free, and just that */
                { "2-3", 100 * MIB, { EMPTY, EMPTY, 0, 0 }, NO },
                { "2-3", 100 * MIB, { EMPTY, EMPTY, FULL - 1, FULL - 4096 }, NO },
                { "2-3", 100 * MIB, { EMPTY, EMPTY, FULL, FULL }, NO },
                { "2-3", 100 * MIB, { EMPTY, EMPTY, FULL, FULL + 1 }, 3 },
                { "2-3", 100 * MIB, { EMPTY, EMPTY, FULL + 1, FULL }, 2 },
                /* as much as it has, and not quite */
                { "2-3", 100 * MIB, { EMPTY, EMPTY, FULL + 100 * MIB, EMPTY }, 2 },
                { "2-3", 100 * MIB, { EMPTY, EMPTY, FULL + 100 * MIB - 1, EMPTY }, 3 },
                { "2-3", 100 * MIB, { EMPTY, EMPTY, FULL + 50 * MIB, FULL + 50 * MIB }, 2 },
                { "2-3", 100 * MIB, { EMPTY, EMPTY, FULL + 50 * MIB, FULL + 51 * MIB }, 3 },
                /* how much it has is not known */
                { "2-3", 0, { EMPTY, EMPTY, FULL, FULL }, NO },
                { "2-3", 0, { EMPTY, EMPTY, FULL, EMPTY }, 3 },
                { "2-3", 0, { EMPTY, EMPTY, FULL + 1, EMPTY }, 2 },
                /* whatever the order names, but all nodes: then its memory is where it is to be */
                { "0,2-3", 100 * MIB, { EMPTY, EMPTY, EMPTY, EMPTY }, 0 },
                { "1-3", 100 * MIB, { EMPTY, EMPTY, EMPTY, EMPTY }, 1 },
                { "0-2", 100 * MIB, { FULL, FULL, EMPTY, EMPTY }, 2 },
                { "0-3", 100 * MIB, { EMPTY, EMPTY, EMPTY, EMPTY }, NO },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_decision d;
                struct hn_mask want;
                struct fixture f;

                start(&f, 1);
                cast(&f, 0, 2, 1);
                two_seconds(&f);
                order(&f, 0, 0, rows[i].nodes, "");
                hands[0].pages = true;
                f.tasks[0].resident = rows[i].resident;
                for (size_t k = 0; k < 4; k++)
                        f.nodes[k].free = rows[i].free[k];
                fixture_second(&f, 1000, 0);
                want = hn_hand_mask(&f.topo, &hands[0].nodes, &hands[0].cpus, &f.scopes[0].cpuset);
                fixture_pin(&f, 0, 2, 2, fixture_intern(&f, &want));
                fixture_second(&f, 1000, 0);
                d = decide(&f, 0);
                ROW_EQUAL(i, d.reason, HN_REASON_OVERRIDE);
                ROW_EQUAL(i, d.act, rows[i].to == NO ? HN_ACT_NONE : HN_ACT_PAGES);
                ROW_EQUAL(i, d.to, rows[i].to == NO ? 2 : rows[i].to);
        }
}

/* A process may be gone in its next second, until it has lived for two. */
static void memory_of_the_young_stays(void **state) {
        static const struct {
                hn_usec_t age;
                enum hn_act act;
        } rows[] = {
                { 1, HN_ACT_NONE },
                { 2 * SEC - 1, HN_ACT_NONE },
                { 2 * SEC, HN_ACT_PAGES },
                { 0, HN_ACT_PAGES }, /* not known */
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct fixture f;

                held_with_pages(&f);
                f.tasks[0].age = rows[i].age;
                ROW_EQUAL(i, decide(&f, 0).act, rows[i].act);
        }
}

/* What was asked for before its order came is not what the order asks for. */
static void memory_is_asked_for_after_a_pause(void **state) {
        static const struct {
                int64_t asked;     /* microseconds after the order was carried out */
                hn_usec_t seconds; /* since then */
                enum hn_act act;
        } rows[] = {
                { -1, 1, HN_ACT_PAGES }, { 0, 1, HN_ACT_NONE },  { 0, 29, HN_ACT_NONE },
                { 0, 30, HN_ACT_PAGES }, { 1, 30, HN_ACT_NONE }, { 1, 31, HN_ACT_PAGES },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct fixture f;

                held_with_pages(&f);
                fixture_pin(&f, 0, 2, 2, fixture_mask(&f, "4-7"));
                hn_model_note_pages(f.model, 0, f.s.now + (hn_usec_t) rows[i].asked);
                f.s.now += rows[i].seconds * SEC;
                ROW_EQUAL(i, decide(&f, 0).act, rows[i].act);
        }
}

/* A decision says which order it is of, also where that is none any more. */
static void decisions_name_their_order(void **state) {
        struct hn_decision d;
        struct fixture f;

        (void) state;
        two_orders_in_one_scope(&f);
        d = decide(&f, 1);
        assert_ptr_equal(d.hand, &hands[1]);
        assert_true(d.by_hand);

        held_with_pages(&f);
        f.tasks[0].hand = 0;
        d = decide(&f, 0);
        assert_int_equal(d.act, HN_ACT_RELEASE);
        assert_null(d.hand);
        assert_true(d.by_hand);

        /* The ledger has yet to hear that its mask is gone. */
        held_with_pages(&f);
        f.tasks[0].mask = f.all;
        fixture_second(&f, 1000, 0);
        d = decide(&f, 0);
        assert_int_equal(d.act, HN_ACT_FORGET);
        assert_ptr_equal(d.hand, &hands[0]);
        assert_true(d.by_hand);

        start(&f, 1);
        cast(&f, 0, 0, 1);
        two_seconds(&f);
        d = decide(&f, 0);
        assert_null(d.hand);
        assert_false(d.by_hand);
}

/* And how much of the memory it will be beside: not what the order is for, but of interest. */
static void decisions_tell_the_shares(void **state) {
        static const struct {
                const char *nodes;
                uint32_t share_to;
        } rows[] = { { "0", 100 }, { "1", 600 }, { "2", 0 }, { "3", 300 } };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_decision d;
                struct fixture f;

                start(&f, 1);
                cast(&f, 0, 1, 1);
                f.priv[0] = 100;
                f.priv[1] = 600;
                f.priv[3] = 300;
                two_seconds(&f);
                order(&f, 0, 0, rows[i].nodes, "");
                fixture_second(&f, 1000, 0);
                d = decide(&f, 0);
                ROW_EQUAL(i, d.share_from, 600);
                ROW_EQUAL(i, d.share_to, rows[i].share_to);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(decisions),
                cmocka_unit_test(where_the_memory_comes_to),
                cmocka_unit_test(memory_of_the_young_stays),
                cmocka_unit_test(memory_is_asked_for_after_a_pause),
                cmocka_unit_test(decisions_name_their_order),
                cmocka_unit_test(decisions_tell_the_shares),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
