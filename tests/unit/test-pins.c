/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "rows.h"

#define SEC HN_USEC_PER_SEC

static hn_mask_id node_mask(struct fixture *f, hn_node_index node) {
        return fixture_intern(f, &f->topo.nodes[node].usable);
}

/* What the model remembers of our own acts: pins, their loss and inheritance, moves and the pauses after
 * them. */

static void a_pin_is_kept_while_the_mask_stands(void **state) {
        struct fixture f;
        const struct hn_task_state *st;

        (void) state;
        fixture_init(&f, 4, 2, 1);
        fixture_second(&f, 1000, 0);
        fixture_pin(&f, 0, 0, 2, node_mask(&f, 2));
        for (unsigned i = 0; i < 5; i++) {
                fixture_second(&f, 1000, 0);
                st = hn_model_state(f.model, 0);
                ROW_EQUAL(i, st->pinned, 2);
                ROW_EQUAL(i, st->ours, node_mask(&f, 2));
                ROW_EQUAL(i, st->before, f.all);
                ROW_EQUAL(i, st->unrestricted, true);
                ROW_EQUAL(i, st->lost || st->changed_by_other || st->inherited, false);
        }

        /* For once the mask could not be read: no news is no objection. */
        f.tasks[0].mask = HN_MASK_ID_NONE;
        fixture_second(&f, 1000, 0);
        assert_int_equal(hn_model_state(f.model, 0)->pinned, 2);

        hn_model_note_release(f.model, 0, f.s.now);
        st = hn_model_state(f.model, 0);
        assert_int_equal(st->pinned, HN_NODE_NONE);
        assert_int_equal(st->ours, HN_MASK_ID_NONE);
        assert_int_equal(st->before, HN_MASK_ID_NONE);
        assert_false(st->changed_by_other);
        assert_true(hn_model_cooldown_left(f.model, 0, f.s.now) > 0);
        fixture_deinit(&f);
}

/* Task 0 is held on node 2, CPUs 4-5 of 0-7; then its cpuset and mask are found to be something else. */
static void who_changed_the_mask(void **state) {
        static const struct {
                const char *cpuset, *mask;
                bool lost, changed_by_other;
        } rows[] = {
                { "0-7", "0-1", true, true }, /* taskset */
                { "0-7", "4", true, true },   /* inside of ours is not ours */
                { "0-7", "0-7", true, true }, /* undone by hand */
                { "0-7", "4-5", false, false },
                { "2-7", "2-7", true, false }, /* a cpuset that is written resets the masks of all in it */
                { "0-3", "0-3", true, false },
                { "2-7", "4-5", false, false },
                { "5-7", "5", false, false }, /* ours, as far as the cpuset lets it through */
                { "0-3", "1", true,
                  false }, /* both at once: it will be seen as narrow before it is touched */
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct fixture f;
                const struct hn_task_state *st;

                fixture_init(&f, 4, 2, 1);
                fixture_second(&f, 1000, 0);
                fixture_pin(&f, 0, 0, 2, node_mask(&f, 2));
                fixture_second(&f, 1000, 0);

                f.scopes[0].cpuset = fixture_list(rows[i].cpuset);
                f.tasks[0].mask = fixture_mask(&f, rows[i].mask);
                fixture_second(&f, 1000, 0);
                st = hn_model_state(f.model, 0);
                ROW_EQUAL(i, st->lost, rows[i].lost);
                ROW_EQUAL(i, st->changed_by_other, rows[i].changed_by_other);
                ROW_EQUAL(i, st->pinned, rows[i].lost ? HN_NODE_NONE : 2);

                /* It stays so until the ledger has heard of it, and the verdict stays for good. */
                fixture_second(&f, 1000, 0);
                ROW_EQUAL(i, hn_model_state(f.model, 0)->lost, rows[i].lost);
                hn_model_note_recorded(f.model, 0);
                fixture_second(&f, 1000, 0);
                st = hn_model_state(f.model, 0);
                ROW_EQUAL(i, st->lost, false);
                ROW_EQUAL(i, st->changed_by_other, rows[i].changed_by_other);
                fixture_deinit(&f);
        }
}

static void what_was_wiped_may_be_pinned_again(void **state) {
        struct fixture f;
        const struct hn_task_state *st;

        (void) state;
        fixture_init(&f, 4, 2, 1);
        fixture_second(&f, 1000, 0);
        fixture_pin(&f, 0, 0, 2, node_mask(&f, 2));
        fixture_second(&f, 1000, 0);
        f.scopes[0].cpuset = fixture_list("2-7");
        f.tasks[0].mask = fixture_mask(&f, "2-7");
        fixture_second(&f, 1000, 0);
        hn_model_note_recorded(f.model, 0);
        fixture_pin(&f, 0, 2, 2, node_mask(&f, 2));
        fixture_second(&f, 1000, 0);
        st = hn_model_state(f.model, 0);
        assert_int_equal(st->pinned, 2);
        assert_int_equal(st->before, fixture_mask(&f, "2-7"));
        assert_true(st->unrestricted);
        assert_false(st->lost || st->changed_by_other);
        fixture_deinit(&f);
}

static void an_actuator_that_found_another_mask_ends_it(void **state) {
        struct fixture f;
        const struct hn_task_state *st;

        (void) state;
        fixture_init(&f, 4, 2, 1);
        fixture_second(&f, 1000, 0);
        fixture_pin(&f, 0, 0, 2, node_mask(&f, 2));
        hn_model_note_changed(f.model, 0);
        for (unsigned i = 0; i < 3; i++) {
                fixture_second(&f, 1000, 0);
                st = hn_model_state(f.model, 0);
                ROW_EQUAL(i, st->changed_by_other, true);
                ROW_EQUAL(i, st->pinned, HN_NODE_NONE);
        }
        fixture_deinit(&f);
}

static void newborns_inherit(void **state) {
        static const struct {
                uint32_t scope;
                const char *mask;
                hn_node_index pinned;
        } rows[] = {
                { 0, "0-7", HN_NODE_NONE },
                { 0, "4", HN_NODE_NONE },   /* narrower than ours: it set that itself */
                { 1, "4-5", HN_NODE_NONE }, /* nothing of ours in that scope */
                { 0, "4-5", 2 },            /* a thread, or a child */
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct fixture f;
                const struct hn_task_state *st;

                fixture_init(&f, 4, 2, 2);
                f.s.n_tasks = 1;
                fixture_second(&f, 1000, 0);
                fixture_pin(&f, 0, 0, 2, node_mask(&f, 2));
                f.tasks[1].scope = rows[i].scope;
                f.tasks[1].mask = fixture_mask(&f, rows[i].mask);
                f.s.n_tasks = 2;
                fixture_second(&f, 1000, 0);
                st = hn_model_state(f.model, 1);
                ROW_EQUAL(i, st->pinned, rows[i].pinned);
                ROW_EQUAL(i, st->inherited, rows[i].pinned != HN_NODE_NONE);
                if (rows[i].pinned != HN_NODE_NONE) {
                        ROW_EQUAL(i, st->ours, node_mask(&f, 2));
                        ROW_EQUAL(i, st->before, f.all);
                        ROW_EQUAL(i, st->unrestricted, true);
                }

                fixture_second(&f, 1000, 0);
                ROW_EQUAL(i, hn_model_state(f.model, 1)->inherited, rows[i].pinned != HN_NODE_NONE);
                hn_model_note_recorded(f.model, 1);
                fixture_second(&f, 1000, 0);
                ROW_EQUAL(i, hn_model_state(f.model, 1)->inherited, false);
                ROW_EQUAL(i, hn_model_state(f.model, 1)->pinned, rows[i].pinned);
                fixture_deinit(&f);
        }
}

/* One cgroup, of which rules take single processes: the child of one that a rule holds may be nobody's but a
 * hand's, and the other way about. */
static void newborns_inherit_across_the_scopes_of_a_cgroup(void **state) {
        (void) state;
        for (uint32_t i = 0; i < 2; i++) {
                struct fixture f;

                fixture_init(&f, 4, 2, 2);
                f.scopes[0].by_process = f.scopes[1].by_process = true;
                f.scopes[1].by_hand = true;
                f.tasks[0].scope = i;
                f.tasks[1].scope = 1 - i;
                f.s.n_tasks = 1;
                fixture_second(&f, 1000, 0);
                fixture_pin(&f, 0, 0, 2, node_mask(&f, 2));
                f.tasks[1].mask = node_mask(&f, 2);
                f.s.n_tasks = 2;
                fixture_second(&f, 1000, 0);
                ROW_EQUAL(i, hn_model_state(f.model, 1)->pinned, 2);
                ROW_EQUAL(i, hn_model_state(f.model, 1)->inherited, true);
                ROW_EQUAL(i, hn_model_state(f.model, 1)->before, f.all);
                fixture_deinit(&f);
        }
}

/* The parent has the higher tid (they wrap round), or has moved on since: its own mask is another now. */
static void newborns_inherit_whatever_the_order(void **state) {
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 3);
        f.tasks[0].key.tid = 50; /* born later */
        f.s.tasks = &f.tasks[1];
        f.s.n_tasks = 2;
        fixture_second(&f, 1000, 0);
        f.s.now += SEC;
        f.tasks[2].mask = f.tasks[0].mask = node_mask(&f, 3);
        hn_model_note_pin(f.model, 1, 0, 3, node_mask(&f, 3), f.all, f.all, true, f.s.now);
        f.s.tasks = f.tasks;
        f.s.n_tasks = 3;
        fixture_second(&f, 1000, 0);
        assert_int_equal(hn_model_state(f.model, 0)->pinned, 3);
        assert_true(hn_model_state(f.model, 0)->inherited);
        assert_int_equal(hn_model_state(f.model, 1)->pinned, HN_NODE_NONE);
        fixture_deinit(&f);
}

/* What the user had set stands in the heir's state too. */
static void newborns_inherit_the_users_mask(void **state) {
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 2);
        f.s.n_tasks = 1;
        f.tasks[0].mask = fixture_mask(&f, "3-6");
        fixture_second(&f, 1000, 0);
        fixture_pin(&f, 0, 1, 2, node_mask(&f, 2));
        f.tasks[1].mask = node_mask(&f, 2);
        f.s.n_tasks = 2;
        fixture_second(&f, 1000, 0);
        assert_int_equal(hn_model_state(f.model, 1)->before, fixture_mask(&f, "3-6"));
        assert_false(hn_model_state(f.model, 1)->unrestricted);
        fixture_deinit(&f);
}

/* Two are held: the second on another node, or in another scope. Its heir gets what is its own. */
static void each_newborn_inherits_from_its_own(void **state) {
        static const struct {
                uint32_t scope;
                hn_node_index node;
        } rows[] = { { 0, 3 }, { 1, 2 }, { 1, 3 } };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct fixture f;

                fixture_init(&f, 4, 2, 3);
                f.tasks[1].scope = f.tasks[2].scope = rows[i].scope;
                f.s.n_tasks = 2;
                fixture_second(&f, 1000, 0);
                fixture_pin(&f, 0, 0, 2, node_mask(&f, 2));
                fixture_pin(&f, 1, 0, rows[i].node, node_mask(&f, rows[i].node));
                f.tasks[2].mask = f.tasks[1].mask;
                f.s.n_tasks = 3;
                fixture_second(&f, 1000, 0);
                ROW_EQUAL(i, hn_model_state(f.model, 2)->pinned, rows[i].node);
                ROW_EQUAL(i, hn_model_state(f.model, 2)->inherited, true);
                fixture_deinit(&f);
        }
}

/* Held before a first second has passed, it is no newborn, though nothing is known of its demand yet. */
static void who_is_held_already_inherits_nothing(void **state) {
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 1);
        fixture_second(&f, 1000, 0);
        fixture_pin(&f, 0, 0, 2, node_mask(&f, 2));
        assert_int_equal(hn_model_feed(f.model, &f.s), 0);
        assert_int_equal(hn_model_state(f.model, 0)->samples, 0);
        assert_int_equal(hn_model_state(f.model, 0)->pinned, 2);
        assert_false(hn_model_state(f.model, 0)->inherited);
        fixture_deinit(&f);
}

static void a_move_is_followed_by_a_pause(void **state) {
        struct fixture f;
        hn_usec_t t;

        (void) state;
        fixture_init(&f, 4, 2, 2);
        fixture_second(&f, 1000, 0);
        t = f.s.now;
        fixture_pin(&f, 0, 0, 2, node_mask(&f, 2));
        fixture_pin(&f, 1, 2, 2, node_mask(&f, 2)); /* held where it is */
        assert_int_equal(hn_model_cooldown_left(f.model, 0, t), 2000);
        assert_int_equal(hn_model_cooldown_left(f.model, 0, t + SEC), 1000);
        assert_int_equal(hn_model_cooldown_left(f.model, 0, t + 2 * SEC), 0);
        assert_int_equal(hn_model_cooldown_left(f.model, 0, t + 100 * SEC), 0);
        assert_int_equal(hn_model_cooldown_left(f.model, 0, t - SEC), 3000);
        assert_int_equal(hn_model_cooldown_left(f.model, 1, t), 0);
        assert_int_equal(hn_model_state(f.model, 0)->left[0].node, 0);
        fixture_deinit(&f);
}

/* Moves of one task, a second row's time apart from the first. */
static void coming_back_soon_is_a_reversal(void **state) {
        static const struct {
                hn_usec_t after;
                hn_node_index from, to;
                uint32_t reversals;
                uint64_t cooldown;
        } rows[] = {
                { 0, 0, 1, 0, 2000 },         { 10 * SEC, 1, 0, 1, 4000 }, /* back */
                { 10 * SEC, 0, 1, 2, 8000 },                               /* and forth */
                { 10 * SEC, 1, 2, 2, 8000 },                               /* a new place is no return */
                { 60 * SEC, 2, 1, 3, 16000 },                              /* a minute exactly */
        };
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 1);
        fixture_second(&f, 1000, 0);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                f.s.now += rows[i].after;
                hn_model_note_pin(f.model, 0, rows[i].from, rows[i].to, node_mask(&f, rows[i].to), f.all,
                                  f.all, true, f.s.now);
                ROW_EQUAL(i, hn_model_state(f.model, 0)->reversals, rows[i].reversals);
                ROW_EQUAL(i, hn_model_cooldown_left(f.model, 0, f.s.now), rows[i].cooldown);
        }

        /* After more than a minute it is a move like any other. */
        f.s.now += 61 * SEC;
        hn_model_note_pin(f.model, 0, 1, 2, node_mask(&f, 2), f.all, f.all, true, f.s.now);
        assert_int_equal(hn_model_state(f.model, 0)->reversals, 3);
        fixture_deinit(&f);
}

/* By a detour it is a return all the same. */
static void coming_round_is_a_reversal(void **state) {
        static const struct {
                hn_node_index from, to;
                uint32_t reversals;
        } rows[] = {
                { 0, 1, 0 }, { 1, 2, 0 }, { 2, 3, 0 }, { 3, 0, 1 },
                { 0, 2, 2 }, { 2, 1, 3 }, { 1, 1, 4 }, { 3, 3, 5 },
        };
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 1);
        fixture_second(&f, 1000, 0);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                f.s.now += 5 * SEC;
                hn_model_note_pin(f.model, 0, rows[i].from, rows[i].to, node_mask(&f, rows[i].to), f.all,
                                  f.all, true, f.s.now);
                ROW_EQUAL(i, hn_model_state(f.model, 0)->reversals, rows[i].reversals);
        }
        fixture_deinit(&f);
}

/* Of more departures than there is room for the first is forgotten: who comes back to it comes anew. */
static void a_long_way_round_is_no_reversal(void **state) {
        struct fixture f;

        (void) state;
        fixture_init(&f, 6, 2, 1);
        fixture_second(&f, 1000, 0);
        for (hn_node_index i = 0; i < 6; i++) {
                hn_node_index to = (hn_node_index) ((i + 1) % 6);

                f.s.now += SEC;
                hn_model_note_pin(f.model, 0, i, to, node_mask(&f, to), f.all, f.all, true, f.s.now);
                ROW_EQUAL(i, hn_model_state(f.model, 0)->reversals, 0);
        }
        f.s.now += SEC;
        hn_model_note_pin(f.model, 0, 0, 2, node_mask(&f, 2), f.all, f.all, true, f.s.now);
        assert_int_equal(hn_model_state(f.model, 0)->reversals, 1);
        fixture_deinit(&f);
}

/* A release is a departure as well: to be caught and let go in turns is to be moved. */
static void being_caught_again_soon_is_a_reversal(void **state) {
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 1);
        fixture_second(&f, 1000, 0);
        for (unsigned i = 0; i < 4; i++) {
                fixture_pin(&f, 0, 0, 0, node_mask(&f, 0));
                ROW_EQUAL(i, hn_model_state(f.model, 0)->reversals, i);
                f.s.now += SEC;
                hn_model_note_release(f.model, 0, f.s.now);
                ROW_EQUAL(i, hn_model_cooldown_left(f.model, 0, f.s.now), 2000u << i);
        }
        fixture_deinit(&f);
}

static void a_quiet_minute_forgives_one_reversal(void **state) {
        struct fixture f;
        unsigned minutes = 0;

        (void) state;
        fixture_init(&f, 4, 2, 1);
        fixture_second(&f, 1000, 0);
        for (unsigned i = 0; i < 6; i++)
                hn_model_note_pin(f.model, 0, (hn_node_index) (i % 2), (hn_node_index) (1 - i % 2),
                                  node_mask(&f, (hn_node_index) (1 - i % 2)), f.all, f.all, true, f.s.now);
        f.tasks[0].mask = node_mask(&f, 0);
        assert_int_equal(hn_model_state(f.model, 0)->reversals, 5);
        assert_int_equal(hn_model_cooldown_left(f.model, 0, f.s.now), 60000);

        for (unsigned second = 1; second <= 400; second++) {
                fixture_second(&f, 1000, 0);
                if (second % 60 == 0 && minutes < 5)
                        minutes++;
                ROW_EQUAL(second, hn_model_state(f.model, 0)->reversals, 5 - minutes);
                /* To be forgiven is not to be punished anew: what had passed of the pause has passed. */
                if (second >= 60)
                        ROW_EQUAL(second, hn_model_cooldown_left(f.model, 0, f.s.now), 0);
        }
        fixture_deinit(&f);
}

/* What takes longer than anybody will wait for is written in. */
static void counters_do_not_start_over(void **state) {
        struct fixture f;
        struct hn_task_state *st;

        (void) state;
        fixture_init(&f, 4, 2, 1);
        fixture_second(&f, 1000, 0);
        fixture_pin(&f, 0, 0, 2, node_mask(&f, 2));
        st = (struct hn_task_state *) hn_model_state(f.model, 0);
        st->samples = st->reversals = UINT32_MAX;
        fixture_second(&f, 1000, 0);
        assert_int_equal(hn_model_state(f.model, 0)->samples, UINT32_MAX);
        fixture_pin(&f, 0, 2, 0, node_mask(&f, 0)); /* back */
        assert_int_equal(hn_model_state(f.model, 0)->reversals, UINT32_MAX);
        fixture_deinit(&f);
}

static void pages_are_remembered_by_time(void **state) {
        struct fixture f;

        (void) state;
        fixture_init(&f, 4, 2, 2);
        fixture_second(&f, 1000, 0);
        hn_model_note_pages(f.model, 1, f.s.now);
        fixture_second(&f, 1000, 0);
        assert_int_equal(hn_model_state(f.model, 0)->last_pages, 0);
        assert_int_equal(hn_model_state(f.model, 1)->last_pages, f.s.now - SEC);
        fixture_deinit(&f);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_pin_is_kept_while_the_mask_stands),
                cmocka_unit_test(who_changed_the_mask),
                cmocka_unit_test(what_was_wiped_may_be_pinned_again),
                cmocka_unit_test(an_actuator_that_found_another_mask_ends_it),
                cmocka_unit_test(newborns_inherit),
                cmocka_unit_test(newborns_inherit_across_the_scopes_of_a_cgroup),
                cmocka_unit_test(newborns_inherit_whatever_the_order),
                cmocka_unit_test(newborns_inherit_the_users_mask),
                cmocka_unit_test(each_newborn_inherits_from_its_own),
                cmocka_unit_test(who_is_held_already_inherits_nothing),
                cmocka_unit_test(a_move_is_followed_by_a_pause),
                cmocka_unit_test(coming_back_soon_is_a_reversal),
                cmocka_unit_test(coming_round_is_a_reversal),
                cmocka_unit_test(a_long_way_round_is_no_reversal),
                cmocka_unit_test(being_caught_again_soon_is_a_reversal),
                cmocka_unit_test(a_quiet_minute_forgives_one_reversal),
                cmocka_unit_test(counters_do_not_start_over),
                cmocka_unit_test(pages_are_remembered_by_time),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
