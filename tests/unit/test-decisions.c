/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "policy/plan.h"
#include "rows.h"

#define NO HN_NODE_NONE

/* Each scene sets up a machine of 4 nodes x 2 CPUs with its tasks and lets some seconds pass. The row says
 * what is decided about one of the tasks then. */

static void start(struct fixture *f, size_t n_tasks) {
        fixture_init(f, 4, 2, n_tasks);
}

/* Task i ran on `node` and has its memory on `memory`. */
static void cast(struct fixture *f, size_t i, hn_node_index node, hn_node_index memory) {
        fixture_put(f, i, node);
        fixture_memory(f, i, memory, 1000);
}

static void two_seconds(struct fixture *f) {
        fixture_second(f, 1000, 0);
        fixture_second(f, 1000, 0);
}

static hn_mask_id node_mask(struct fixture *f, hn_node_index node) {
        return fixture_intern(f, &f->topo.nodes[node].usable);
}

/* As if it had been pinned to `node` long ago, and its memory were on `memory`. */
static void hold(struct fixture *f, size_t i, hn_node_index node, hn_node_index memory) {
        cast(f, i, node, memory);
        fixture_pin(f, i, node, node, node_mask(f, node));
}

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
        two_seconds(f);
}

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
}

/* Four threads of one process on nodes 0, 1, 1 and 2, of which no faults are known yet; all of its memory is
 * on node 0, or spread over the first `n_nodes`. */
static void family(struct fixture *f, uint32_t used, size_t n_nodes) {
        static const hn_node_index nodes[] = { 0, 1, 1, 2 };

        start(f, 4);
        for (size_t i = 0; i < 4; i++) {
                cast(f, i, nodes[i], 0);
                f->tasks[i].tgid = FIXTURE_FIRST_TID;
                f->tasks[i].signal = HN_SIGNAL_NONE;
                f->tasks[i].pages_known = true;
                f->tasks[i].pages_row = 0;
        }
        for (size_t i = 0; i < n_nodes; i++)
                f->priv[i] = 100;
        for (unsigned i = 0; i < 2; i++)
                fixture_second(f, used, 0);
}

static void more_work_than_cores_at_the_memory(struct fixture *f) {
        family(f, 1000, 1);
}

/* Two nodes have four cores. */
static void cores_enough_at_the_memory(struct fixture *f) {
        family(f, 1000, 2);
}

/* Where nobody brings the memory there is no use in waiting for it. */
static void outgrown_and_nobody_balances(struct fixture *f) {
        family(f, 1000, 1);
        f->s.kernel_balancing = 0;
}

static void a_small_family(struct fixture *f) {
        family(f, 500, 1);
}

static void pages_not_known(struct fixture *f) {
        family(f, 1000, 1);
        f->tasks[1].pages_known = false;
}

/* The node is full of those who have come first. */
static void outgrown_in_a_crowd(struct fixture *f) {
        start(f, 6);
        for (size_t i = 0; i < 6; i++) {
                cast(f, i, 1, i < 2 ? 1 : 0);
                if (i < 2)
                        continue;
                f->tasks[i].tgid = FIXTURE_FIRST_TID + 2;
                f->tasks[i].signal = HN_SIGNAL_NONE;
                f->tasks[i].pages_known = true;
                f->tasks[i].pages_row = 2;
        }
        two_seconds(f);
}

/* Its first faults are on node 0 as well, which is held by two of which nothing is known. */
static void first_faults(struct fixture *f, unsigned seconds) {
        start(f, 3);
        for (size_t i = 0; i < 3; i++) {
                cast(f, i, i == 2, 0);
                f->tasks[i].tgid = FIXTURE_FIRST_TID;
                f->tasks[i].signal = HN_SIGNAL_NONE;
                f->tasks[i].pages_known = true;
                f->tasks[i].pages_row = 0;
        }
        two_seconds(f);
        for (size_t i = 0; i < 3; i++)
                fixture_pin(f, i, i == 2, i == 2, fixture_mask(f, i == 2 ? "2-3" : "0-1"));
        f->tasks[2].signal = HN_SIGNAL_FAULTS;
        for (unsigned i = 0; i < seconds; i++)
                fixture_second(f, 1000, 0);
}

static void first_faults_turn_nobody_out(struct fixture *f) {
        first_faults(f, 5);
}

static void in_the_long_run_knowledge_counts(struct fixture *f) {
        first_faults(f, 31);
}

/* A thread that nothing is known of happens to run where two have their memory, and are held. */
static void a_stranger_passes_by(struct fixture *f) {
        start(f, 3);
        for (size_t i = 0; i < 3; i++)
                cast(f, i, i < 2 ? 0 : 1, 0);
        f->tasks[2].signal = HN_SIGNAL_NONE;
        two_seconds(f);
        for (size_t i = 0; i < 2; i++)
                hold(f, i, 0, 0);
        fixture_put(f, 2, 0);
        for (unsigned i = 0; i < 20; i++)
                fixture_second(f, 667, 333);
}

/* One after it could have changed places: what nothing is known of makes room by itself. */
static void a_stranger_in_its_place(struct fixture *f) {
        start(f, 8);
        for (size_t i = 0; i < 8; i++)
                cast(f, i, (hn_node_index) (i / 2), (hn_node_index) (i / 2));
        cast(f, 3, 3, 1);
        cast(f, 6, 1, 3);
        f->tasks[6].signal = HN_SIGNAL_NONE;
        two_seconds(f);
        for (size_t i = 0; i < 8; i++)
                if (i != 3 && i != 6)
                        hold(f, i, (hn_node_index) (i / 2), (hn_node_index) (i / 2));
        two_seconds(f);
}

static void thin(struct fixture *f, hn_node_index node, uint64_t there, uint64_t elsewhere) {
        start(f, 1);
        cast(f, 0, node, 1);
        fixture_memory(f, 0, 1, there);
        f->priv[0] = elsewhere;
        two_seconds(f);
}

static void few_faults_all_here(struct fixture *f) {
        thin(f, 1, 3, 2);
        f->tasks[0].kernel_preferred = 1;
}

static void few_faults_here_but_the_kernel_is_silent(struct fixture *f) {
        thin(f, 1, 255, 0);
}

static void few_faults_and_most_elsewhere(struct fixture *f) {
        thin(f, 1, 99, 100);
        f->tasks[0].kernel_preferred = 1;
}

static void few_faults_all_there(struct fixture *f) {
        thin(f, 2, 255, 0);
        f->tasks[0].kernel_preferred = 1;
}

/* A move is more than what so little may decide. */
static void few_faults_and_no_room(struct fixture *f) {
        start(f, 3);
        for (size_t i = 0; i < 3; i++)
                cast(f, i, 1, 1);
        fixture_memory(f, 2, 1, 100);
        f->tasks[2].kernel_preferred = 1;
        two_seconds(f);
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
        static const struct {
                void (*scene)(struct fixture *);
                size_t task;
                enum hn_act act;
                enum hn_reason reason;
                hn_node_index from, to;
                const char *want; /* NULL: no mask to set */
        } rows[] = {
                { remote, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 0, 1, "2-3" },
                { remote_pages, 0, HN_ACT_PIN, HN_REASON_REMOTE_PAGES, 0, 1, "2-3" },
                { remote_and_node_unknown, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, NO, 3, "6-7" },
                { advised, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 0, 1,
                  "2-3" }, /* the actuator asks for the mode */
                { at_home, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 2, 2, "4-5" },
                { home_full, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 0, "0-1" },
                { home_full, 2, HN_ACT_PIN, HN_REASON_NODE_FULL, 1, 1, "2-3" },
                { crowded, 1, HN_ACT_PIN, HN_REASON_AT_HOME, 0, 0, "0-1" },
                { crowded, 2, HN_ACT_PIN, HN_REASON_NODE_FULL, 0, 1, "2-3" },
                { home_full_of_others, 0, HN_ACT_PIN, HN_REASON_NODE_FULL, 1, 1, "2-3" },
                { others_flood_the_machine, 0, HN_ACT_RELEASE, HN_REASON_NODE_OVERLOADED, 0, 0, NULL },
                { more_work_than_cores_at_the_memory, 0, HN_ACT_PIN, HN_REASON_MEMORY_OUTGROWN, 0, 0, "0-1" },
                { more_work_than_cores_at_the_memory, 3, HN_ACT_PIN, HN_REASON_MEMORY_OUTGROWN, 2, 2, "4-5" },
                { cores_enough_at_the_memory, 3, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 2, 2, NULL },
                { outgrown_and_nobody_balances, 3, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 2, 2, NULL },
                { a_small_family, 3, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 2, 2, NULL },
                { pages_not_known, 1, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 1, 1, NULL },
                { outgrown_in_a_crowd, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 1, 1, "2-3" },
                { outgrown_in_a_crowd, 2, HN_ACT_PIN, HN_REASON_MEMORY_OUTGROWN, 1, 0, "0-1" },
                { outgrown_in_a_crowd, 5, HN_ACT_PIN, HN_REASON_MEMORY_OUTGROWN, 1, 3, "6-7" },
                { first_faults_turn_nobody_out, 0, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { first_faults_turn_nobody_out, 2, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
                { in_the_long_run_knowledge_counts, 2, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 1, 0, "0-1" },
                { a_stranger_passes_by, 0, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { a_stranger_passes_by, 1, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { a_stranger_in_its_place, 3, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 3, 1, "2-3" },
                { few_faults_all_here, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 1, 1, "2-3" },
                { few_faults_here_but_the_kernel_is_silent, 0, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 1, 1, NULL },
                { few_faults_and_most_elsewhere, 0, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 1, 1, NULL },
                { few_faults_all_there, 0, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 2, 2, NULL },
                { few_faults_and_no_room, 2, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 1, 1, NULL },
                { others_take_the_node, 0, HN_ACT_PIN, HN_REASON_NODE_FULL, 0, 1, "2-3" },
                { others_need_a_little, 0, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
                { others_need_a_little, 1, HN_ACT_NONE, HN_REASON_SETTLED, 0, 0, NULL },
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
        bool met[_HN_REASON_MAX] = {};
        const struct hn_limits limits = HN_LIMITS_DEFAULT;

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
                const struct hn_decision *d;
                struct fixture f;

                rows[i].scene(&f);
                assert_int_equal(hn_plan_new(&f.topo, &plan), 0);
                assert_int_equal(hn_plan_build(plan, f.model, &f.s, &limits), 0);
                d = hn_plan_decision(plan, rows[i].task);
                met[d->reason] = true;
                if (d->act != rows[i].act || d->reason != rows[i].reason)
                        fail_msg("row %zu: %s because of %s, expected %s because of %s", i,
                                 hn_act_to_string(d->act), hn_reason_to_string(d->reason),
                                 hn_act_to_string(rows[i].act), hn_reason_to_string(rows[i].reason));
                ROW_EQUAL(i, d->task, rows[i].task);
                ROW_EQUAL(i, d->from, rows[i].from);
                ROW_EQUAL(i, d->to, rows[i].to);
                ROW_EQUAL(i, d->want, rows[i].want ? fixture_mask(&f, rows[i].want) : HN_MASK_ID_NONE);
                fixture_deinit(&f);
        }
        for (size_t r = 0; r < _HN_REASON_MAX; r++)
                ROW_EQUAL(r, met[r], true);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(decisions),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
