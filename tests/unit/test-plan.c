/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "policy/plan.h"
#include "rows.h"

static const struct hn_limits limits = HN_LIMITS_DEFAULT;

static void cast(struct fixture *f, size_t i, hn_node_index node, hn_node_index memory) {
        fixture_put(f, i, node);
        fixture_memory(f, i, memory, 1000);
}

static void hold(struct fixture *f, size_t i, hn_node_index node, hn_node_index memory) {
        cast(f, i, node, memory);
        fixture_pin(f, i, node, node, fixture_intern(f, &f->topo.nodes[node].usable));
}

static void two_seconds(struct fixture *f) {
        fixture_second(f, 1000, 0);
        fixture_second(f, 1000, 0);
}

/* Long enough for what others use to count as lasting. */
static void a_while(struct fixture *f) {
        for (unsigned i = 0; i <= HN_LASTING; i++)
                fixture_second(f, 1000, 0);
}

static struct hn_plan *decide(struct fixture *f) {
        struct hn_plan *plan;

        assert_int_equal(hn_plan_new(&f->topo, &plan), 0);
        assert_int_equal(hn_plan_build(plan, f->model, &f->s, &limits), 0);
        return plan;
}

static void names_of_acts(void **state) {
        (void) state;
        for (int i = 0; i < _HN_ACT_MAX; i++)
                for (int k = 0; k < i; k++)
                        assert_string_not_equal(hn_act_to_string((enum hn_act) i),
                                                hn_act_to_string((enum hn_act) k));
        assert_string_equal(hn_act_to_string(HN_ACT_NONE), "none");
        assert_string_equal(hn_act_to_string(HN_ACT_PIN), "pin");
        assert_string_equal(hn_act_to_string(HN_ACT_FORGET), "forget");
        assert_null(hn_act_to_string(_HN_ACT_MAX));
}

/* A decision names the figures it was made from. */
static void numbers_of_a_decision(void **state) {
        _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
        const struct hn_decision *d;
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 2);
        cast(&f, 0, 0, 1);
        f.priv[0] = 200;
        f.priv[1] = 500;
        f.shared[1] = 300;
        cast(&f, 1, 1, 1);
        f.others[1] = 300;
        for (unsigned i = 0; i <= HN_LASTING; i++)
                fixture_second(&f, 600, 200);
        plan = decide(&f);
        d = hn_plan_decision(plan, 0);
        assert_int_equal(d->act, HN_ACT_PIN);
        assert_int_equal(d->reason, HN_REASON_LOAD_IMBALANCE);
        assert_int_equal(d->to, 0);
        assert_int_equal(d->used, 800);

        /* The other one has moved away with its memory, and there is room. */
        cast(&f, 1, 0, 0);
        fixture_second(&f, 600, 200);
        hn_plan_free(plan);
        plan = decide(&f);
        d = hn_plan_decision(plan, 0);
        assert_int_equal(d->act, HN_ACT_PIN);
        assert_int_equal(d->home, 1);
        assert_int_equal(d->signal, HN_SIGNAL_FAULTS);
        assert_int_equal(d->demand, 800);
        assert_int_equal(d->share_from, 200);
        assert_int_equal(d->share_to, 800);
        assert_int_equal(d->benefit, 600 * 800);
        assert_int_equal(d->capacity, 1700);
        assert_int_equal(d->used, 800);
        fixture_deinit(&f);
}

/* Faults tell how many pages a thread has on a node, not which: they are its own if no sibling is at home
 * there. */
static void whose_pages_they_are(void **state) {
        static const struct {
                hn_node_index runs_on, home; /* of the sibling */
                enum hn_act act;
        } rows[] = {
                { 2, 2, HN_ACT_PAGES },
                { 2, 0, HN_ACT_NONE }, /* its pages are there too */
                { 0, 2, HN_ACT_NONE }, /* it runs there, and may touch any page */
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
                struct fixture f;

                fixture_init(&f, 4, 2, 2);
                f.s.kernel_balancing = 1;
                f.tasks[1].tgid = f.tasks[0].tgid;
                f.others[0] = 2000;
                cast(&f, 0, 1, 0);
                cast(&f, 1, rows[i].runs_on, rows[i].home);
                a_while(&f);
                hold(&f, 0, 1, 0);
                fixture_second(&f, 1000, 0);
                plan = decide(&f);
                ROW_EQUAL(i, hn_plan_decision(plan, 0)->act, rows[i].act);
                if (rows[i].act == HN_ACT_PAGES)
                        ROW_EQUAL(i, hn_plan_decision(plan, 0)->source, 0);
                fixture_deinit(&f);
        }
}

/* The ledger first, releases before pins, most gain first, page moves last. */
static void order_of_acts(void **state) {
        static const struct {
                enum hn_act act;
                size_t task;
        } order[] = {
                { HN_ACT_FORGET, 3 }, { HN_ACT_ADOPT, 6 }, { HN_ACT_RELEASE, 5 },
                { HN_ACT_PIN, 2 },    { HN_ACT_PIN, 1 },   { HN_ACT_PAGES, 0 },
        };
        _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
        hn_mask_id on_1;
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 8, 7);
        on_1 = fixture_intern(&f, &f.topo.nodes[1].usable);
        f.s.kernel_balancing = 0;
        f.s.n_tasks = 6;
        for (size_t i = 0; i < 6; i++)
                cast(&f, i, 0, 0);
        two_seconds(&f);
        /* Its pages are found elsewhere by and by. */
        hold(&f, 0, 3, 3);
        f.tasks[0].signal = HN_SIGNAL_RESIDENCY;
        f.priv[3] = 520;
        f.priv[0] = 480;
        /* A little to gain, and much, on a node that is to be crowded. */
        cast(&f, 1, 2, 1);
        f.priv[1 * 4 + 2] = 400;
        f.priv[1 * 4 + 1] = 600;
        cast(&f, 2, 2, 1);
        /* Will be changed by somebody; is in its place and has a child; will have no core left on its two
         * nodes. */
        hold(&f, 3, 1, 1);
        hold(&f, 4, 1, 1);
        hold(&f, 5, 2, 2);
        fixture_second(&f, 1000, 0);
        f.tasks[3].mask = fixture_mask(&f, "0-3");
        f.tasks[6].mask = on_1;
        cast(&f, 6, 1, 1);
        f.s.n_tasks = 7;
        f.tasks[5].scope = 1;
        f.scopes[1].nodes = fixture_list("2,3");
        f.others[2] = 8000;
        f.others[3] = 7000;
        for (unsigned i = 0; i < 20; i++)
                fixture_second(&f, 1000, 0);
        plan = decide(&f);

        ROW_EQUAL(0, hn_plan_n_acts(plan), HN_ELEMENTS(order));
        for (size_t i = 0; i < HN_ELEMENTS(order); i++) {
                ROW_EQUAL(i, hn_plan_act(plan, i)->act, order[i].act);
                ROW_EQUAL(i, hn_plan_act(plan, i)->task, order[i].task);
                ROW_EQUAL(i, hn_plan_act(plan, i) == hn_plan_decision(plan, order[i].task), true);
        }
        fixture_deinit(&f);
}

/* Held on node 1, which has room, while all pages are on node 0, which is full. */
static void when_pages_are_brought(void **state) {
        static const struct {
                enum hn_signal signal;
                unsigned kernel_balancing;
                bool wanted, allowed; /* by the rule; by cpuset.mems */
                unsigned asked_ago;   /* seconds, 0 for never */
                uint64_t there;       /* of 1000 pages */
                enum hn_act act;
                enum hn_reason reason;
        } rows[] = {
                { HN_SIGNAL_RESIDENCY, 0, true, true, 0, 0, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK },
                { HN_SIGNAL_RESIDENCY, 2, true, true, 0, 0, HN_ACT_PAGES,
                  HN_REASON_MEMORY_TO_TASK }, /* tiering only */
                { HN_SIGNAL_RESIDENCY, 1, true, true, 0, 0, HN_ACT_NONE, HN_REASON_SETTLED },
                { HN_SIGNAL_RESIDENCY, 3, true, true, 0, 0, HN_ACT_NONE, HN_REASON_SETTLED },
                { HN_SIGNAL_FAULTS, 0, true, true, 0, 0, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK },
                { HN_SIGNAL_FAULTS, 1, true, true, 0, 0, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK },
                { HN_SIGNAL_FAULTS, 1, false, true, 0, 0, HN_ACT_NONE, HN_REASON_SETTLED },
                { HN_SIGNAL_FAULTS, 1, true, true, 0, 501, HN_ACT_NONE, HN_REASON_SETTLED },
                { HN_SIGNAL_RESIDENCY, 0, false, true, 0, 0, HN_ACT_NONE, HN_REASON_NO_ROOM },
                { HN_SIGNAL_RESIDENCY, 0, true, false, 0, 0, HN_ACT_NONE, HN_REASON_SETTLED },
                { HN_SIGNAL_RESIDENCY, 0, true, true, 1, 0, HN_ACT_NONE, HN_REASON_SETTLED },
                { HN_SIGNAL_RESIDENCY, 0, true, true, 29, 0, HN_ACT_NONE, HN_REASON_SETTLED },
                { HN_SIGNAL_RESIDENCY, 0, true, true, 30, 0, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK },
                { HN_SIGNAL_RESIDENCY, 0, true, true, 0, 899, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK },
                { HN_SIGNAL_RESIDENCY, 0, true, true, 0, 900, HN_ACT_NONE, HN_REASON_SETTLED },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
                const struct hn_decision *d;
                struct fixture f;

                fixture_init(&f, 4, 2, 1);
                f.s.kernel_balancing = rows[i].kernel_balancing;
                f.tasks[0].signal = rows[i].signal;
                f.scopes[0].pages = rows[i].wanted;
                if (!rows[i].allowed)
                        hn_mask_remove(&f.scopes[0].mems, 1);
                f.others[0] = 2000;
                cast(&f, 0, 1, 0);
                a_while(&f);
                hold(&f, 0, 1, 0);
                f.priv[0] = 1000 - rows[i].there;
                f.priv[1] = rows[i].there;
                if (rows[i].asked_ago > 0)
                        hn_model_note_pages(f.model, 0, f.s.now);
                for (unsigned k = 0; k < HN_MAX(rows[i].asked_ago, 1u); k++)
                        fixture_second(&f, 1000, 0);
                plan = decide(&f);
                d = hn_plan_decision(plan, 0);
                ROW_EQUAL(i, d->act, rows[i].act);
                ROW_EQUAL(i, d->reason, rows[i].reason);
                ROW_EQUAL(i, d->to, 1);
                fixture_deinit(&f);
        }
}

/* Two wish to go where by counts there is place for one: who gains most goes, however they are numbered. */
static void most_gain_goes_first(void **state) {
        (void) state;
        for (size_t best = 0; best < 2; best++) {
                _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
                struct fixture f;

                fixture_init(&f, 4, 2, 2);
                for (size_t i = 0; i < 2; i++) {
                        cast(&f, i, 0, 1);
                        f.priv[i * 4] = i == best ? 0 : 300;
                }
                two_seconds(&f);
                plan = decide(&f);
                ROW_EQUAL(best, hn_plan_decision(plan, best)->reason, HN_REASON_REMOTE_FAULTS);
                ROW_EQUAL(best, hn_plan_decision(plan, 1 - best)->reason, HN_REASON_LOAD_IMBALANCE);
                fixture_deinit(&f);
        }
}

/* How the nodes stand once the plan is carried out. */
static void nodes_of_a_plan(void **state) {
        static const struct {
                enum hn_node_class class;
                uint32_t busy, others, capacity, nr;
        } want[] = {
                { HN_CLASS_FULLY_BUSY, 2000, 0, 2000, 2 },
                { HN_CLASS_HAS_SPARE, 1600, 600, 1400, 2 },
                { HN_CLASS_OVERLOADED, 3000, 3000, 0, 3 },
                { HN_CLASS_HAS_SPARE, 0, 0, 2000, 0 },
        };
        _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 4);
        for (size_t i = 0; i < 3; i++)
                cast(&f, i, 0, i == 2);
        cast(&f, 3, 2, 2); /* left alone, and so like any other work */
        f.tasks[3].sched_class = 2;
        f.others[1] = 600;
        f.others[2] = 2000;
        two_seconds(&f);
        plan = decide(&f);
        for (hn_node_index i = 0; i < 4; i++) {
                const struct hn_plan_node *n = hn_plan_node(plan, i);

                ROW_EQUAL(i, n->class, want[i].class);
                ROW_EQUAL(i, n->busy, want[i].busy);
                ROW_EQUAL(i, n->others, want[i].others);
                ROW_EQUAL(i, n->capacity, want[i].capacity);
                ROW_EQUAL(i, n->nr, want[i].nr);
        }
        assert_int_equal(hn_plan_decision(plan, 2)->to_class, HN_CLASS_HAS_SPARE);
        assert_int_equal(hn_plan_decision(plan, 0)->to_class, HN_CLASS_FULLY_BUSY);
        fixture_deinit(&f);
}

/* A process whose threads cannot be told apart goes as one, to a node that takes all of it. */
static void threads_of_a_process_go_together(void **state) {
        static const struct {
                hn_node_index at[4];
                uint32_t other_job; /* thousandths in use on node 1, where the pages are */
                hn_node_index to;
                enum hn_reason reason;
        } rows[] = {
                { { 0, 0, 0, 0 }, 0, 1, HN_REASON_REMOTE_PAGES },
                { { 0, 0, 2, 3 }, 0, 1, HN_REASON_REMOTE_PAGES },
                { { 1, 1, 1, 1 }, 0, 1, HN_REASON_AT_HOME },
                { { 1, 1, 1, 3 }, 0, 1, HN_REASON_AT_HOME },
                { { 0, 0, 0, 0 }, 8000, 0, HN_REASON_NODE_FULL },
                { { 0, 0, 0, 2 }, 8000, 0, HN_REASON_NODE_FULL },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
                struct fixture f;

                fixture_init(&f, 4, 8, 8);
                f.others[1] = rows[i].other_job;
                for (size_t k = 0; k < 8; k++) {
                        cast(&f, k, k < 4 ? rows[i].at[k] : 0, k < 4);
                        /* A second process keeps node 0 as busy as the first can find it. */
                        f.tasks[k].tgid = FIXTURE_FIRST_TID + (k < 4 ? 0 : 4);
                        f.tasks[k].signal = HN_SIGNAL_RESIDENCY;
                }
                a_while(&f);
                plan = decide(&f);
                for (size_t k = 0; k < 4; k++) {
                        const struct hn_decision *d = hn_plan_decision(plan, k);

                        ROW_EQUAL(i, d->act, HN_ACT_PIN);
                        ROW_EQUAL(i, d->from, rows[i].at[k]);
                        ROW_EQUAL(i, d->to, rows[i].to);
                        ROW_EQUAL(i, d->reason, rows[i].reason);
                }
                fixture_deinit(&f);
        }
}

/* Half of the threads were pinned by their user before. */
static void masks_of_users_are_left_alone(void **state) {
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 8);
        for (size_t i = 0; i < 8; i++) {
                cast(&f, i, (hn_node_index) (i / 2), (hn_node_index) ((i / 2 + 1) % 4));
                if (i % 2 == 0)
                        f.tasks[i].mask = fixture_intern(&f, &f.topo.nodes[i / 2].cpus);
        }
        two_seconds(&f);
        for (unsigned t = 0; t < 3; t++) {
                _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = decide(&f);

                for (size_t i = 0; i < 8; i++) {
                        const struct hn_decision *d = hn_plan_decision(plan, i);

                        if (i % 2 == 0) {
                                ROW_EQUAL(i, d->act, HN_ACT_NONE);
                                ROW_EQUAL(i, d->reason, HN_REASON_USER_MASK);
                        } else
                                ROW_EQUAL(i, d->to, (i / 2 + 1) % 4);
                }
                fixture_second(&f, 1000, 0);
        }
        fixture_deinit(&f);
}

/* within: every node that the mask touches, and no CPU outside of it. */
static void choosing_inside_of_a_users_mask(void **state) {
        _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 1);
        f.scopes[0].within_user_mask = true;
        f.tasks[0].mask = fixture_mask(&f, "1-2,6");
        cast(&f, 0, 0, 1);
        two_seconds(&f);
        plan = decide(&f);
        assert_int_equal(hn_plan_decision(plan, 0)->act, HN_ACT_PIN);
        assert_int_equal(hn_plan_decision(plan, 0)->want, fixture_mask(&f, "2"));

        /* And after that not inside of our own, but still inside of the user's. */
        fixture_pin(&f, 0, 0, 1, fixture_mask(&f, "2"));
        cast(&f, 0, 1, 3);
        for (unsigned i = 0; i < 3; i++)
                fixture_second(&f, 1000, 0);
        hn_plan_free(plan);
        plan = decide(&f);
        assert_int_equal(hn_plan_decision(plan, 0)->to, 3);
        assert_int_equal(hn_plan_decision(plan, 0)->want, fixture_mask(&f, "6"));
        fixture_deinit(&f);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names_of_acts),
                cmocka_unit_test(numbers_of_a_decision),
                cmocka_unit_test(order_of_acts),
                cmocka_unit_test(when_pages_are_brought),
                cmocka_unit_test(whose_pages_they_are),
                cmocka_unit_test(most_gain_goes_first),
                cmocka_unit_test(nodes_of_a_plan),
                cmocka_unit_test(threads_of_a_process_go_together),
                cmocka_unit_test(masks_of_users_are_left_alone),
                cmocka_unit_test(choosing_inside_of_a_users_mask),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
