/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What the model remembers, where two things meet or a counter runs away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "rows.h"

/* Tasks 0 and 1 are held on node 2 with the same mask, each under an override or none, and had different
 * masks before. Whose child a newborn with that mask is cannot be seen; one of the same override is the
 * likelier. */
static void newborns_inherit_under_their_own_order(void **state) {
        static const struct hn_hand hands[] = { { .id = 7 }, { .id = 8 }, { .id = 9 } };
        static const struct {
                uint32_t hands[2], newborn; /* counted from 1, 0 for none */
                uint64_t hand;
                const char *before;
        } rows[] = {
                { { 1, 2 }, 1, 7, "0-7" },
                { { 1, 2 }, 2, 8, "0-6" },
                { { 2, 1 }, 1, 7, "0-6" },
                { { 0, 1 }, 1, 7, "0-6" },
                { { 1, 0 }, 0, 0, "0-6" },
                { { 0, 1 }, 0, 0, "0-7" },
                { { 1, 1 }, 1, 7, "0-7" },
                /* Then it is any child of theirs. */
                { { 1, 2 }, 0, 7, "0-7" },
                { { 1, 2 }, 3, 7, "0-7" },
                { { 0, 0 }, 1, 0, "0-7" },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                const struct hn_task_state *st;
                struct fixture f;
                hn_mask_id ours;

                fixture_init(&f, 4, 2, 3);
                ours = fixture_mask(&f, "4-5");
                f.s.hands = hands;
                f.s.n_hands = HN_ELEMENTS(hands);
                f.s.n_tasks = 2;
                f.tasks[1].mask = fixture_mask(&f, "0-6");
                for (size_t k = 0; k < 2; k++)
                        f.tasks[k].hand = rows[i].hands[k];
                fixture_second(&f, 1000, 0);
                for (size_t k = 0; k < 2; k++)
                        fixture_pin(&f, k, 0, 2, ours);
                f.tasks[2].mask = ours;
                f.tasks[2].hand = rows[i].newborn;
                f.s.n_tasks = 3;
                fixture_second(&f, 1000, 0);
                st = hn_model_state(f.model, 2);
                ROW_EQUAL(i, st->inherited, true);
                ROW_EQUAL(i, st->pinned, 2);
                ROW_EQUAL(i, st->hand, rows[i].hand);
                ROW_EQUAL(i, st->before, fixture_mask(&f, rows[i].before));
                fixture_deinit(&f);
        }
}

/* Three are held, and two of them are let go. Who then comes with a mask they had has set that for itself. */
static void who_was_let_go_has_no_heirs(void **state) {
        static const char *const masks[] = { "0-1", "2-3", "4-5" };

        (void) state;
        for (size_t stays = 0; stays < 3; stays++)
                for (size_t mask = 0; mask < 3; mask++) {
                        struct fixture f;

                        fixture_init(&f, 4, 2, 4);
                        f.s.n_tasks = 3;
                        fixture_second(&f, 1000, 0);
                        for (hn_node_index i = 0; i < 3; i++)
                                fixture_pin(&f, i, 3, i, fixture_mask(&f, masks[i]));
                        fixture_second(&f, 1000, 0);
                        for (size_t i = 0; i < 3; i++)
                                if (i != stays) {
                                        hn_model_note_release(f.model, i, f.s.now);
                                        f.tasks[i].mask = f.all;
                                }
                        f.tasks[3].mask = fixture_mask(&f, masks[mask]);
                        f.s.n_tasks = 4;
                        fixture_second(&f, 1000, 0);
                        ROW_EQUAL(mask, hn_model_state(f.model, 3)->inherited, mask == stays);
                        ROW_EQUAL(mask, hn_model_state(f.model, 3)->pinned,
                                  mask == stays ? (hn_node_index) stays : HN_NODE_NONE);
                        fixture_deinit(&f);
                }
}

/* Somebody else changes the mask of a task that is held under an override, the first of all to be made or a
 * later one, or under none: that override has lost its hold on it, and no other. */
static void whose_mask_was_changed(void **state) {
        static const struct {
                uint64_t hand, hands_off;
        } rows[] = { { 0, 5 }, { 1, 1 }, { 2, 2 }, { UINT64_MAX, UINT64_MAX } };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                const struct hn_hand hands[] = { { .id = 5 }, { .id = rows[i].hand } };
                const struct hn_task_state *st;
                struct fixture f;

                fixture_init(&f, 4, 2, 1);
                f.s.hands = hands;
                f.s.n_hands = HN_ELEMENTS(hands);
                f.tasks[0].hand = 1;
                fixture_second(&f, 1000, 0);
                hn_model_note_refused(f.model, 0);
                f.tasks[0].hand = rows[i].hand != 0 ? 2 : 0;
                fixture_second(&f, 1000, 0);
                fixture_pin(&f, 0, 0, 2, fixture_mask(&f, "4-5"));
                f.tasks[0].mask = f.all;
                fixture_second(&f, 1000, 0);
                st = hn_model_state(f.model, 0);
                ROW_EQUAL(i, st->lost && st->changed_by_other, true);
                ROW_EQUAL(i, st->hands_off, rows[i].hands_off);
                ROW_EQUAL(i, st->order_refused, rows[i].hand == 0);
                fixture_deinit(&f);
        }
}

/* A counter that ran away counts for a thousand CPUs and no more, so that it is forgotten in some seconds. */
static void children_are_counted_up_to_a_bound(void **state) {
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 1);
        fixture_second(&f, 1000, 0);
        for (unsigned i = 0; i < 30; i++) {
                f.tasks[0].child_ns += UINT64_C(1) << 58;
                fixture_second(&f, 1000, 0);
                ROW_EQUAL(i, hn_model_state(f.model, 0)->children < 1000000, true);
        }
        assert_true(hn_model_state(f.model, 0)->children > 999000);
        for (unsigned i = 0; i < 11; i++)
                fixture_second(&f, 1000, 0);
        assert_true(hn_model_state(f.model, 0)->children < 500);
        fixture_deinit(&f);
}

/* What is judged is the memory of the task on trial alone; where others ran is not part of it. */
static void the_share_after_a_move_is_of_its_own_memory(void **state) {
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 2);
        fixture_memory(&f, 0, 2, 1000);
        fixture_memory(&f, 1, 0, 1000);
        fixture_second(&f, 1000, 0);
        fixture_pin(&f, 0, 0, 2, fixture_mask(&f, "4-5"));
        hn_model_note_promise(f.model, 0, 900, f.s.now);
        for (unsigned i = 0; i < 15; i++)
                fixture_second(&f, 1000, 0);
        assert_int_equal(hn_model_state(f.model, 0)->effect.verdict, HN_VERDICT_HELPED);
        assert_int_equal(hn_model_state(f.model, 0)->effect.after, 1000);
        fixture_deinit(&f);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(newborns_inherit_under_their_own_order),
                cmocka_unit_test(who_was_let_go_has_no_heirs),
                cmocka_unit_test(whose_mask_was_changed),
                cmocka_unit_test(children_are_counted_up_to_a_bound),
                cmocka_unit_test(the_share_after_a_move_is_of_its_own_memory),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
