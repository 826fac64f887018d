/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is decided about tasks that a hand has put somewhere. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenes.h"

static void remote(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 0, 1);
        two_seconds(f);
}

static void at_home(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 2, 2);
        two_seconds(f);
}

/* Moved by us to where it has less of its memory than before. */
static void moved_in_vain(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 0, 0);
        two_seconds(f);
        fixture_put(f, 0, 1);
        fixture_pin(f, 0, 0, 1, node_mask(f, 1));
        hn_model_note_promise(f->model, 0, 300, f->s.now);
        for (size_t i = 0; i < 4; i++)
                f->priv[i] = 250;
        for (unsigned i = 0; i < 15; i++)
                fixture_second(f, 1000, 0);
}

/* From now on task i stands under override `id`. */
static void order(struct fixture *f, size_t i, uint64_t id, const char *nodes, const char *cpus) {
        static struct hn_hand hand;

        hand = (struct hn_hand){ .id = id, .nodes = fixture_list(nodes), .cpus = fixture_list(cpus) };
        f->s.hands = &hand;
        f->s.n_hands = 1;
        f->tasks[i].hand = 1;
        fixture_second(f, 1000, 0);
}

static void ordered(struct fixture *f) {
        remote(f);
        order(f, 0, 7, "3", "");
}

static void ordered_to_some_nodes(struct fixture *f) {
        remote(f);
        order(f, 0, 7, "0,2-3", "");
}

static void ordered_to_one_cpu(struct fixture *f) {
        remote(f);
        order(f, 0, 7, "2-3", "5,7");
        f->scopes[0].cpuset = fixture_list("0-5");
}

static void ordered_in_an_observed_scope(struct fixture *f) {
        ordered(f);
        f->scopes[0].mode = HN_MODE_OBSERVE;
}

static void ordered_beyond_a_users_mask(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 0, 1);
        f->tasks[0].mask = fixture_mask(f, "0-4");
        two_seconds(f);
        order(f, 0, 7, "3", "");
}

static void ordered_while_young_and_idle(struct fixture *f) {
        start(f, 1);
        f->tasks[0].runtime_ns = 0;
        f->tasks[0].signal = HN_SIGNAL_NONE;
        f->tasks[0].sched_class = 1;
        fixture_put(f, 0, 1);
        order(f, 0, 7, "3", "");
}

static void ordered_away_from_its_place(struct fixture *f) {
        at_home(f);
        hold(f, 0, 2, 2);
        order(f, 0, 7, "0", "");
}

/* All of its memory is on node 1, where a rule would take it. */
static void held_by_order(struct fixture *f) {
        ordered(f);
        fixture_put(f, 0, 3);
        fixture_pin(f, 0, 0, 3, fixture_mask(f, "6-7"));
        for (unsigned i = 0; i < 40; i++)
                fixture_second(f, 1000, 0);
}

static void held_by_order_and_in_vain(struct fixture *f) {
        moved_in_vain(f);
        order(f, 0, 7, "1", "");
}

static void held_by_another_order(struct fixture *f) {
        held_by_order(f);
        order(f, 0, 8, "3", "");
}

static void ordered_where_the_cpuset_grew(struct fixture *f) {
        held_by_order(f);
        order(f, 0, 7, "2-3", "");
}

static void ordered_out_of_the_cpuset(struct fixture *f) {
        ordered(f);
        f->scopes[0].cpuset = fixture_list("0-5");
}

static void ordered_and_mask_not_known(struct fixture *f) {
        ordered(f);
        f->tasks[0].mask = HN_MASK_ID_NONE;
}

static void changed_under_the_order(struct fixture *f) {
        held_by_order(f);
        f->tasks[0].mask = fixture_mask(f, "0-3");
        fixture_second(f, 1000, 0);
}

static void changed_and_left_alone(struct fixture *f) {
        changed_under_the_order(f);
        hn_model_note_recorded(f->model, 0);
        fixture_second(f, 1000, 0);
}

static void changed_and_ordered_again(struct fixture *f) {
        changed_and_left_alone(f);
        order(f, 0, 8, "3", "");
}

static void changed_when_it_was_to_be_set(struct fixture *f) {
        ordered(f);
        hn_model_note_changed(f->model, 0);
        fixture_second(f, 1000, 0);
}

static void wiped_under_the_order(struct fixture *f) {
        held_by_order(f);
        f->scopes[0].cpuset = f->topo.online;
        hn_mask_remove(&f->scopes[0].cpuset, 0);
        f->tasks[0].mask = fixture_mask(f, "1-7");
        fixture_second(f, 1000, 0);
}

static void wiped_and_ordered_still(struct fixture *f) {
        wiped_under_the_order(f);
        hn_model_note_recorded(f->model, 0);
        fixture_second(f, 1000, 0);
}

static void ordered_and_refused(struct fixture *f) {
        ordered(f);
        hn_model_note_refused(f->model, 0);
        fixture_second(f, 1000, 0);
}

/* What the kernel does not do for a hand it may do for us. */
static void refused_and_no_longer_ordered(struct fixture *f) {
        ordered_and_refused(f);
        f->tasks[0].hand = 0;
        fixture_second(f, 1000, 0);
}

static void kernel_thread_ordered(struct fixture *f) {
        ordered(f);
        f->tasks[0].flags = HN_PF_KTHREAD;
}

static void order_over(struct fixture *f) {
        held_by_order(f);
        f->tasks[0].hand = 0;
        f->scopes[0].mode = HN_MODE_OBSERVE;
        fixture_second(f, 1000, 0);
}

/* Back where it was, and the rules have a say again. */
static void order_over_and_let_go(struct fixture *f) {
        order_over(f);
        f->scopes[0].mode = HN_MODE_MANAGE;
        hn_model_note_release(f->model, 0, f->s.now);
        f->tasks[0].mask = f->all;
        for (unsigned i = 0; i < 3; i++)
                fixture_second(f, 1000, 0);
}

/* Task 1 comes into being with the mask of task 0. */
static void born_of_an_ordered_one(struct fixture *f, uint32_t hand) {
        start(f, 2);
        cast(f, 0, 0, 1);
        cast(f, 1, 3, 1);
        f->s.n_tasks = 1;
        two_seconds(f);
        order(f, 0, 7, "3", "");
        fixture_pin(f, 0, 0, 3, fixture_mask(f, "6-7"));
        fixture_second(f, 1000, 0);
        f->tasks[1].mask = fixture_mask(f, "6-7");
        f->tasks[1].hand = hand;
        f->s.n_tasks = 2;
        fixture_second(f, 1000, 0);
}

static void born_under_the_order(struct fixture *f) {
        born_of_an_ordered_one(f, 1);
}

static void born_beside_the_order(struct fixture *f) {
        born_of_an_ordered_one(f, 0);
}

static void born_beside_the_order_and_recorded(struct fixture *f) {
        born_beside_the_order(f);
        hn_model_note_recorded(f->model, 1);
        fixture_second(f, 1000, 0);
}

/* Its memory is to come as well: 100 MiB, to where there is room beside the twentieth that stays free. */
static void ordered_with_pages(struct fixture *f, uint64_t free2, uint64_t free3) {
        static struct hn_hand hand;

        remote(f);
        hand = (struct hn_hand){ .id = 7, .nodes = fixture_list("2-3"), .pages = true };
        f->s.hands = &hand;
        f->s.n_hands = 1;
        f->tasks[0].hand = 1;
        f->tasks[0].resident = UINT64_C(100) << 20;
        f->nodes[0].free = f->nodes[1].free = UINT64_C(1) << 30;
        f->nodes[2].free = free2 << 20;
        f->nodes[3].reclaimable = free3 << 20;
        fixture_second(f, 1000, 0);
        fixture_put(f, 0, 2);
        fixture_pin(f, 0, 0, 2, fixture_mask(f, "4-7"));
        fixture_second(f, 1000, 0);
}

static void pages_to_the_first_node(struct fixture *f) {
        ordered_with_pages(f, 160, 1000);
}

static void pages_to_where_there_is_room(struct fixture *f) {
        ordered_with_pages(f, 140, 1000);
}

static void pages_to_the_roomier_node(struct fixture *f) {
        ordered_with_pages(f, 80, 70);
}

static void pages_and_no_room(struct fixture *f) {
        ordered_with_pages(f, 51, 51);
}

static void pages_not_of_that_cpuset(struct fixture *f) {
        pages_to_the_first_node(f);
        f->scopes[0].mems = fixture_list("0-1,3");
}

static void pages_of_an_infant(struct fixture *f) {
        pages_to_the_first_node(f);
        f->tasks[0].age = HN_USEC_PER_SEC;
}

static void pages_of_the_first_thread_alone(struct fixture *f) {
        pages_to_the_first_node(f);
        f->tasks[0].tgid = FIXTURE_FIRST_TID - 1;
}

static void pages_brought(struct fixture *f) {
        pages_to_the_first_node(f);
        hn_model_note_brought(f->model, 0, 7);
}

static void pages_brought_for_another(struct fixture *f) {
        pages_to_the_first_node(f);
        hn_model_note_brought(f->model, 0, 6);
}

static void pages_tried(struct fixture *f, unsigned seconds) {
        pages_to_the_first_node(f);
        hn_model_note_pages(f->model, 0, f->s.now);
        for (unsigned i = 0; i < seconds; i++)
                fixture_second(f, 1000, 0);
}

static void pages_tried_just_now(struct fixture *f) {
        pages_tried(f, 29);
}

static void pages_tried_a_while_ago(struct fixture *f) {
        pages_tried(f, 30);
}

/* On node 1, with its pages on node 0, which others use; beside a sibling that does nothing. */
static void pages_left_behind(struct fixture *f) {
        start(f, 2);
        f->s.kernel_balancing = 0;
        f->tasks[0].signal = HN_SIGNAL_RESIDENCY;
        cast(f, 0, 1, 0);
        f->tasks[1].tgid = FIXTURE_FIRST_TID;
        f->tasks[1].signal = HN_SIGNAL_NONE;
        f->others[0] = 2000;
        two_seconds(f);
        hold(f, 0, 1, 0);
        fixture_second(f, 1000, 0);
}

/* Its memory would be brought to it, but a hand has put a sibling somewhere. */
static void pages_of_a_process_in_somebodys_hand(struct fixture *f) {
        pages_left_behind(f);
        order(f, 1, 7, "3", "");
}

static void decisions(void **state) {
        static const struct scene_row rows[] = {
                { ordered, 0, HN_ACT_PIN, HN_REASON_OVERRIDE, 0, 3, "6-7" },
                { ordered_to_some_nodes, 0, HN_ACT_PIN, HN_REASON_OVERRIDE, 0, 0, "0-1,4-7" },
                { ordered_to_one_cpu, 0, HN_ACT_PIN, HN_REASON_OVERRIDE, 0, 2, "5" },
                { ordered_in_an_observed_scope, 0, HN_ACT_PIN, HN_REASON_OVERRIDE, 0, 3, "6-7" },
                { ordered_beyond_a_users_mask, 0, HN_ACT_PIN, HN_REASON_OVERRIDE, 0, 3, "6-7" },
                { ordered_while_young_and_idle, 0, HN_ACT_PIN, HN_REASON_OVERRIDE, 1, 3, "6-7" },
                { ordered_away_from_its_place, 0, HN_ACT_PIN, HN_REASON_OVERRIDE, 2, 0, "0-1" },
                { held_by_order, 0, HN_ACT_NONE, HN_REASON_OVERRIDE, 3, 3, NULL },
                { held_by_order_and_in_vain, 0, HN_ACT_PIN, HN_REASON_OVERRIDE, 1, 1, "2-3" },
                { held_by_another_order, 0, HN_ACT_PIN, HN_REASON_OVERRIDE, 3, 3, "6-7" },
                { ordered_where_the_cpuset_grew, 0, HN_ACT_PIN, HN_REASON_OVERRIDE, 3, 3, "4-7" },
                { ordered_out_of_the_cpuset, 0, HN_ACT_NONE, HN_REASON_NO_ALLOWED_CPU, 0, 0, NULL },
                { ordered_and_mask_not_known, 0, HN_ACT_NONE, HN_REASON_OVERRIDE, 0, 0, NULL },
                { changed_under_the_order, 0, HN_ACT_FORGET, HN_REASON_CHANGED_BY_OTHER, 3, 3, NULL },
                { changed_and_left_alone, 0, HN_ACT_NONE, HN_REASON_CHANGED_BY_OTHER, 3, 3, NULL },
                { changed_and_ordered_again, 0, HN_ACT_PIN, HN_REASON_OVERRIDE, 3, 3, "6-7" },
                { changed_when_it_was_to_be_set, 0, HN_ACT_NONE, HN_REASON_CHANGED_BY_OTHER, 0, 0, NULL },
                { wiped_under_the_order, 0, HN_ACT_FORGET, HN_REASON_COOLDOWN, 3, 3, NULL },
                { wiped_and_ordered_still, 0, HN_ACT_PIN, HN_REASON_OVERRIDE, 3, 3, "6-7" },
                { ordered_and_refused, 0, HN_ACT_NONE, HN_REASON_REFUSED_BY_KERNEL, 0, 0, NULL },
                { refused_and_no_longer_ordered, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 0, 1, "2-3" },
                { kernel_thread_ordered, 0, HN_ACT_NONE, HN_REASON_KERNEL_THREAD, 0, 0, NULL },
                { order_over, 0, HN_ACT_RELEASE, HN_REASON_OVERRIDE_OVER, 3, 3, NULL },
                { order_over_and_let_go, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 3, 1, "2-3" },
                { born_under_the_order, 1, HN_ACT_ADOPT, HN_REASON_OVERRIDE, 3, 3, NULL },
                { born_beside_the_order, 1, HN_ACT_ADOPT, HN_REASON_OVERRIDE_OVER, 3, 3, NULL },
                { born_beside_the_order_and_recorded, 0, HN_ACT_NONE, HN_REASON_OVERRIDE, 3, 3, NULL },
                { born_beside_the_order_and_recorded, 1, HN_ACT_RELEASE, HN_REASON_OVERRIDE_OVER, 3, 3,
                  NULL },
                { pages_to_the_first_node, 0, HN_ACT_PAGES, HN_REASON_OVERRIDE, 2, 2, NULL },
                { pages_to_where_there_is_room, 0, HN_ACT_PAGES, HN_REASON_OVERRIDE, 2, 3, NULL },
                { pages_to_the_roomier_node, 0, HN_ACT_PAGES, HN_REASON_OVERRIDE, 2, 2, NULL },
                { pages_and_no_room, 0, HN_ACT_NONE, HN_REASON_OVERRIDE, 2, 2, NULL },
                { pages_not_of_that_cpuset, 0, HN_ACT_PAGES, HN_REASON_OVERRIDE, 2, 3, NULL },
                { pages_of_an_infant, 0, HN_ACT_NONE, HN_REASON_OVERRIDE, 2, 2, NULL },
                { pages_of_the_first_thread_alone, 0, HN_ACT_NONE, HN_REASON_OVERRIDE, 2, 2, NULL },
                { pages_brought, 0, HN_ACT_NONE, HN_REASON_OVERRIDE, 2, 2, NULL },
                { pages_brought_for_another, 0, HN_ACT_PAGES, HN_REASON_OVERRIDE, 2, 2, NULL },
                { pages_tried_just_now, 0, HN_ACT_NONE, HN_REASON_OVERRIDE, 2, 2, NULL },
                { pages_tried_a_while_ago, 0, HN_ACT_PAGES, HN_REASON_OVERRIDE, 2, 2, NULL },
                { pages_left_behind, 0, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK, 1, 1, NULL },
                { pages_of_a_process_in_somebodys_hand, 0, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
        };
        bool met[_HN_REASON_MAX] = {};

        (void) state;
        check_scenes(rows, HN_ELEMENTS(rows), met);
        assert_true(met[HN_REASON_OVERRIDE] && met[HN_REASON_OVERRIDE_OVER]);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(decisions),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
