/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenes.h"

/* reasons to act */

static void remote(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 0, 1);
        two_seconds(f);
}

static void remote_pages(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 0, 1);
        f->tasks[0].signal = HN_SIGNAL_RESIDENCY;
        two_seconds(f);
}

static void remote_and_node_unknown(struct fixture *f) {
        start(f, 1);
        cast(f, 0, NO, 3);
        two_seconds(f);
}

static void at_home(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 2, 2);
        two_seconds(f);
}

static void advised(struct fixture *f) {
        remote(f);
        f->scopes[0].mode = HN_MODE_ADVISE;
}

/* Two tasks at home fill node 0; the memory of a third is there as well. */
static void shared_with_a_sibling(struct fixture *f) {
        start(f, 2);
        for (size_t i = 0; i < 2; i++) {
                cast(f, i, (hn_node_index) i, 0);
                fixture_memory(f, i, 0, 0);
                f->shared[i * 4 + 3] = 1000;
                f->tasks[i].tgid = FIXTURE_FIRST_TID;
        }
        two_seconds(f);
}

static void home_full(struct fixture *f) {
        start(f, 3);
        for (size_t i = 0; i < 3; i++)
                cast(f, i, i == 2, 0);
        two_seconds(f);
}

/* All three run there, and one must give way. */
static void crowded(struct fixture *f) {
        start(f, 3);
        for (size_t i = 0; i < 3; i++)
                cast(f, i, 0, 0);
        two_seconds(f);
}

static void home_full_of_others(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 1, 0);
        f->others[0] = 2000;
        for (unsigned i = 0; i < 8; i++)
                fixture_second(f, 1000, 0);
}

static void home_busy_just_now(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 1, 0);
        for (unsigned i = 0; i < 8; i++) {
                f->others[0] = i < 6 ? 200 : 2000;
                fixture_second(f, 1000, 0);
        }
}

/* Everybody is as badly off elsewhere. */
static void others_flood_the_machine(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 0, 0);
        two_seconds(f);
        hold(f, 0, 0, 0);
        for (size_t i = 0; i < 4; i++)
                f->others[i] = 2000;
        for (unsigned i = 0; i < 20; i++)
                fixture_second(f, 0, 1000);
}

/* It could be better off, but only where its rule does not let us put it. */
static void others_flood_its_nodes(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 0, 0);
        two_seconds(f);
        hold(f, 0, 0, 0);
        f->scopes[0].nodes = fixture_list("0-1");
        f->others[0] = f->others[1] = 2000;
        for (unsigned i = 0; i < 20; i++)
                fixture_second(f, 0, 1000);
}

static void others_take_the_node(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 0, 0);
        two_seconds(f);
        hold(f, 0, 0, 0);
        f->others[0] = 2000;
        for (unsigned i = 0; i < 20; i++)
                fixture_second(f, 500, 500);
}

static void others_need_a_little(struct fixture *f) {
        start(f, 2);
        cast(f, 0, 0, 0);
        cast(f, 1, 0, 0);
        two_seconds(f);
        hold(f, 0, 0, 0);
        hold(f, 1, 0, 0);
        f->others[0] = 450;
        for (unsigned i = 0; i < 20; i++)
                fixture_second(f, 1000, 0);
}

/* Held beside a node that is full, with its pages still there and nobody to bring them. */
static void an_idle_node(struct fixture *f) {
        start(f, 2);
        cast(f, 0, 0, 0);
        cast(f, 1, 0, 0);
        two_seconds(f);
        hold(f, 0, 0, 0);
        hold(f, 1, 0, 0);
        f->others[0] = 1000;
        fixture_second(f, 500, 500);
}

/* It was moved to node 1, away from three tenths of its memory, to find as much beside it as `here` says. */
static void moved(struct fixture *f, uint64_t here, unsigned seconds) {
        start(f, 1);
        cast(f, 0, 0, 0);
        two_seconds(f);
        fixture_put(f, 0, 1);
        fixture_pin(f, 0, 0, 1, node_mask(f, 1));
        hn_model_note_promise(f->model, 0, 300, f->s.now);
        for (size_t i = 0; i < 4; i++)
                f->priv[i] = i == 1 ? here : (1000 - here) / 3;
        for (unsigned i = 0; i < seconds; i++)
                fixture_second(f, 1000, 0);
}

static void moved_in_vain(struct fixture *f) {
        moved(f, 250, 15);
}

static void moved_and_still_on_trial(struct fixture *f) {
        moved(f, 250, 14);
}

static void moved_for_good(struct fixture *f) {
        moved(f, 301, 15);
}

static void moved_in_vain_and_let_go(struct fixture *f) {
        moved(f, 250, 15);
        f->tasks[0].mask = f->all;
        hn_model_note_release(f->model, 0, f->s.now);
        fixture_second(f, 1000, 0);
}

static void pages_left_behind(struct fixture *f) {
        start(f, 1);
        f->s.kernel_balancing = 0;
        f->tasks[0].signal = HN_SIGNAL_RESIDENCY;
        cast(f, 0, 1, 0);
        f->others[0] = 2000;
        two_seconds(f);
        hold(f, 0, 1, 0);
        fixture_second(f, 1000, 0);
}

/* reasons to wait */

static void settled(struct fixture *f) {
        at_home(f);
        hold(f, 0, 2, 2);
        fixture_second(f, 1000, 0);
}

static void a_better_node_but_not_by_much(struct fixture *f) {
        at_home(f);
        hold(f, 0, 2, 2);
        f->priv[2] = 440;
        f->priv[3] = 560;
        fixture_second(f, 1000, 0);
}

static void no_signal(struct fixture *f) {
        remote(f);
        f->tasks[0].signal = HN_SIGNAL_NONE;
        fixture_second(f, 1000, 0);
}

static void family_at_work(struct fixture *f) {
        family(f, 1000, 1);
}

static void few_faults(struct fixture *f) {
        remote(f);
        fixture_memory(f, 0, 1, 255);
}

static void one_look_only(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 0, 1);
        fixture_second(f, 1000, 0);
}

static void too_young(struct fixture *f) {
        start(f, 1);
        f->tasks[0].runtime_ns = 0;
        cast(f, 0, 0, 1);
        fixture_second(f, 450, 0);
        fixture_second(f, 450, 0);
}

static void idle(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 0, 1);
        fixture_second(f, 10, 0);
        fixture_second(f, 10, 0);
}

static void held_and_idle(struct fixture *f) {
        settled(f);
        for (unsigned i = 0; i < 10; i++)
                fixture_second(f, 1, 0);
}

static void just_moved(struct fixture *f) {
        remote(f);
        fixture_pin(f, 0, 0, 1, node_mask(f, 1));
        cast(f, 0, 1, 3);
        fixture_second(f, 1000, 0);
}

static void moved_a_while_ago(struct fixture *f) {
        just_moved(f);
        fixture_second(f, 1000, 0);
}

static void just_let_go(struct fixture *f) {
        settled(f);
        hn_model_note_release(f->model, 0, f->s.now);
        f->tasks[0].mask = f->all;
        fixture_second(f, 1000, 0);
}

/* 200 of 1000 more, but next door: 12 where the farthest is 32. */
static void sibling_node(struct fixture *f) {
        start(f, 1);
        f->topo.distances[1] = 12;
        f->topo.distances[2] = f->topo.distances[3] = 32;
        fixture_put(f, 0, 0);
        f->priv[0] = 400;
        f->priv[1] = 600;
        two_seconds(f);
}

/* And more of them are worth the way. */
static void sibling_node_with_all_memory(struct fixture *f) {
        sibling_node(f);
        f->priv[0] = 0;
}

/* A pair that works on two nodes: on one of them it would be stacked, and the nodes less balanced. */
static void a_pair(struct fixture *f) {
        start(f, 2);
        cast(f, 0, 0, 0);
        cast(f, 1, 1, 0);
        two_seconds(f);
}

/* If its memory does not come to it, there is no use in holding it. */
static void a_pair_and_pages_stay(struct fixture *f) {
        a_pair(f);
        f->s.kernel_balancing = 0;
        f->scopes[0].pages = false;
}

static void no_room_and_pages_stay(struct fixture *f) {
        home_full(f);
        f->s.kernel_balancing = 0;
        f->scopes[0].pages = false;
}

static void no_room_anywhere(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 1, 0);
        for (size_t i = 0; i < 4; i++)
                f->others[i] = 2000;
        two_seconds(f);
}

/* Three busy threads that cannot be told apart, on nodes of two CPUs. */
static void outgrown(struct fixture *f) {
        start(f, 3);
        for (size_t i = 0; i < 3; i++) {
                f->tasks[i].tgid = FIXTURE_FIRST_TID;
                f->tasks[i].signal = HN_SIGNAL_RESIDENCY;
                cast(f, i, 0, 1);
        }
        two_seconds(f);
}

static void outgrown_while_held(struct fixture *f) {
        outgrown(f);
        hold(f, 1, 0, 1);
        fixture_second(f, 1000, 0);
}

/* reasons to leave alone */

static void observed(struct fixture *f) {
        remote(f);
        f->scopes[0].mode = HN_MODE_OBSERVE;
}

static void one_node_allowed(struct fixture *f) {
        remote(f);
        f->scopes[0].nodes = fixture_list("3");
}

static void masked_by_user(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 0, 1);
        f->tasks[0].mask = fixture_mask(f, "0-4");
        two_seconds(f);
}

static void within_the_users_mask(struct fixture *f) {
        masked_by_user(f);
        f->scopes[0].within_user_mask = true;
}

static void within_a_mask_without_home(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 0, 3);
        f->tasks[0].mask = fixture_mask(f, "0-4");
        f->scopes[0].within_user_mask = true;
        two_seconds(f);
}

static void changed(struct fixture *f) {
        settled(f);
        f->tasks[0].mask = fixture_mask(f, "0-3");
        fixture_second(f, 1000, 0);
}

static void changed_and_recorded(struct fixture *f) {
        changed(f);
        hn_model_note_recorded(f->model, 0);
        f->tasks[0].mask = f->all;
        for (unsigned i = 0; i < 100; i++)
                fixture_second(f, 1000, 0);
}

static void wiped(struct fixture *f) {
        settled(f);
        f->scopes[0].cpuset = fixture_list("2-7");
        f->tasks[0].mask = fixture_mask(f, "2-7");
        fixture_second(f, 1000, 0);
}

static void wiped_and_recorded(struct fixture *f) {
        wiped(f);
        hn_model_note_recorded(f->model, 0);
        fixture_second(f, 1000, 0);
}

static void newborn(struct fixture *f) {
        start(f, 2);
        cast(f, 0, 2, 2);
        cast(f, 1, 2, 2);
        f->s.n_tasks = 1;
        two_seconds(f);
        hold(f, 0, 2, 2);
        f->tasks[1].mask = node_mask(f, 2);
        f->s.n_tasks = 2;
        two_seconds(f);
}

static void no_cpu_allowed(struct fixture *f) {
        remote(f);
        f->scopes[0].nodes = fixture_list("17");
}

static void kernel_thread(struct fixture *f) {
        remote(f);
        f->tasks[0].flags = HN_PF_NO_SETAFFINITY;
}

static void realtime(struct fixture *f) {
        remote(f);
        f->tasks[0].sched_class = 1;
}

static void refused(struct fixture *f) {
        remote(f);
        hn_model_note_refused(f->model, 0);
        fixture_second(f, 1000, 0);
}

static void decisions(void **state) {
        static const struct scene_row rows[] = {
                { remote, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 0, 1, "2-3" },
                { remote_pages, 0, HN_ACT_PIN, HN_REASON_REMOTE_PAGES, 0, 1, "2-3" },
                { remote_and_node_unknown, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, NO, 3, "6-7" },
                { advised, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 0, 1,
                  "2-3" }, /* the actuator asks for the mode */
                { at_home, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 2, 2, "4-5" },
                { shared_with_a_sibling, 0, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 0, 3, "6-7" },
                { home_full, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 0, "0-1" },
                { home_full, 2, HN_ACT_PIN, HN_REASON_NODE_FULL, 1, 1, "2-3" },
                { crowded, 1, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 0, "0-1" },
                { crowded, 2, HN_ACT_PIN, HN_REASON_NODE_FULL, 0, 1, "2-3" },
                { home_full_of_others, 0, HN_ACT_PIN, HN_REASON_NODE_FULL, 1, 1, "2-3" },
                { home_busy_just_now, 0, HN_ACT_NONE, HN_REASON_PASSING_LOAD, 1, 1, NULL },
                { others_flood_the_machine, 0, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { others_flood_its_nodes, 0, HN_ACT_RELEASE, HN_REASON_NODE_OVERLOADED, 0, 0, NULL },
                { family_at_work, 0, HN_ACT_PIN, HN_REASON_MEMORY_OUTGROWN, 0, 0, "0-1" },
                { others_take_the_node, 0, HN_ACT_PIN, HN_REASON_NODE_FULL, 0, 1, "2-3" },
                { others_need_a_little, 0, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { others_need_a_little, 1, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { an_idle_node, 0, HN_ACT_RELEASE, HN_REASON_NODE_IDLE, 0, 0, NULL },
                { moved_in_vain, 0, HN_ACT_RELEASE, HN_REASON_NO_GAIN, 1, 1, NULL },
                { moved_and_still_on_trial, 0, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
                { moved_for_good, 0, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
                { moved_in_vain_and_let_go, 0, HN_ACT_NONE, HN_REASON_COOLDOWN, 1, 1, NULL },
                { pages_left_behind, 0, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK, 1, 1, NULL },
                { settled, 0, HN_ACT_NONE, HN_REASON_SETTLED, 2, 2, NULL },
                { a_better_node_but_not_by_much, 0, HN_ACT_NONE, HN_REASON_SETTLED, 2, 2, NULL },
                { no_signal, 0, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 0, 0, NULL },
                { few_faults, 0, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 0, 0, NULL },
                { one_look_only, 0, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 0, 0, NULL },
                { too_young, 0, HN_ACT_NONE, HN_REASON_TOO_YOUNG, 0, 0, NULL },
                { idle, 0, HN_ACT_NONE, HN_REASON_IDLE, 0, 0, NULL },
                { held_and_idle, 0, HN_ACT_NONE, HN_REASON_IDLE, 2, 2, NULL },
                { just_moved, 0, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
                { moved_a_while_ago, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 1, 3, "6-7" },
                { just_let_go, 0, HN_ACT_NONE, HN_REASON_COOLDOWN, 2, 2, NULL },
                { sibling_node, 0, HN_ACT_NONE, HN_REASON_SMALL_GAIN, 0, 0, NULL },
                { sibling_node_with_all_memory, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 0, 1, "2-3" },
                { a_pair, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 0, "0-1" },
                { a_pair, 1, HN_ACT_PIN, HN_REASON_LOAD_IMBALANCE, 1, 1, "2-3" },
                { a_pair_and_pages_stay, 1, HN_ACT_NONE, HN_REASON_LOAD_IMBALANCE, 1, 1, NULL },
                { no_room_and_pages_stay, 2, HN_ACT_NONE, HN_REASON_NO_ROOM, 1, 1, NULL },
                { no_room_anywhere, 0, HN_ACT_NONE, HN_REASON_NO_ROOM, 1, 1, NULL },
                { outgrown, 0, HN_ACT_NONE, HN_REASON_OUTGROWS_NODE, 0, 0, NULL },
                { outgrown_while_held, 0, HN_ACT_NONE, HN_REASON_OUTGROWS_NODE, 0, 0, NULL },
                { outgrown_while_held, 1, HN_ACT_RELEASE, HN_REASON_OUTGROWS_NODE, 0, 0, NULL },

                { observed, 0, HN_ACT_NONE, HN_REASON_OBSERVE_ONLY, 0, 0, NULL },
                { one_node_allowed, 0, HN_ACT_NONE, HN_REASON_ONE_NODE, 0, 0, NULL },
                { masked_by_user, 0, HN_ACT_NONE, HN_REASON_USER_MASK, 0, 0, NULL },
                { within_the_users_mask, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 0, 1, "2-3" },
                { within_a_mask_without_home, 0, HN_ACT_PIN, HN_REASON_NODE_FULL, 0, 0, "0-1" },
                { changed, 0, HN_ACT_FORGET, HN_REASON_CHANGED_BY_OTHER, 2, 2, NULL },
                { changed_and_recorded, 0, HN_ACT_NONE, HN_REASON_CHANGED_BY_OTHER, 2, 2, NULL },
                { wiped, 0, HN_ACT_FORGET, HN_REASON_COOLDOWN, 2, 2, NULL },
                { wiped_and_recorded, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 2, 2, "4-5" },
                { newborn, 0, HN_ACT_NONE, HN_REASON_SETTLED, 2, 2, NULL },
                { newborn, 1, HN_ACT_ADOPT, HN_REASON_SETTLED, 2, 2, NULL },
                { no_cpu_allowed, 0, HN_ACT_NONE, HN_REASON_NO_ALLOWED_CPU, 0, 0, NULL },
                { kernel_thread, 0, HN_ACT_NONE, HN_REASON_KERNEL_THREAD, 0, 0, NULL },
                { realtime, 0, HN_ACT_NONE, HN_REASON_REALTIME, 0, 0, NULL },
                { refused, 0, HN_ACT_NONE, HN_REASON_REFUSED_BY_KERNEL, 0, 0, NULL },
        };
        bool met[_HN_REASON_MAX] = { [HN_REASON_NEAR_DEVICE] = true }; /* test-prefer.c */

        (void) state;
        check_scenes(rows, HN_ELEMENTS(rows), met);
        for (size_t r = 0; r < _HN_REASON_MAX; r++)
                ROW_EQUAL(r, met[r] || scenes_are_elsewhere((enum hn_reason) r), true);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(decisions),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
