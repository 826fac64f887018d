/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Those who work on the same memory are placed side by side. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenes.h"

/* Task i is a thread of the process of task `of`, runs on `node`, and has met `faults` shared pages on each
 * node. */
static void sharer(struct fixture *f, size_t i, size_t of, hn_node_index node, const uint64_t faults[4]) {
        fixture_put(f, i, node);
        f->tasks[i].tgid = FIXTURE_FIRST_TID + (pid_t) of;
        memcpy(&f->shared[i * 4], faults, 4 * sizeof(*faults));
}

/* One has met most of their memory on node 1, the other on node 2, where more of it is. */
static void a_pair_of_threads(struct fixture *f) {
        start(f, 2);
        sharer(f, 0, 0, 1, (uint64_t[]){ 0, 300, 200, 0 });
        sharer(f, 1, 0, 3, (uint64_t[]){ 0, 100, 400, 0 });
        two_seconds(f);
}

/* The same two, but what they have met is their own. */
static void a_pair_of_loners(struct fixture *f) {
        a_pair_of_threads(f);
        memcpy(f->priv, f->shared, 8 * sizeof(*f->priv));
        memset(f->shared, 0, 8 * sizeof(*f->shared));
        fixture_second(f, 1000, 0);
}

static void a_pair_with_few_faults(struct fixture *f) {
        start(f, 2);
        sharer(f, 0, 0, 1, (uint64_t[]){ 0, 100, 20, 0 });
        sharer(f, 1, 0, 3, (uint64_t[]){ 0, 40, 95, 0 });
        two_seconds(f);
}

/* Two who touch the same pages meet each other's in every second fault. */
static void half_of_it_is_shared(struct fixture *f) {
        start(f, 2);
        sharer(f, 0, 0, 1, (uint64_t[]){ 0, 300, 0, 0 });
        sharer(f, 1, 0, 3, (uint64_t[]){ 0, 300, 200, 0 });
        f->priv[1] = 300;
        f->priv[4 + 3] = 500;
        two_seconds(f);
}

static void little_of_it_is_shared(struct fixture *f) {
        start(f, 2);
        sharer(f, 0, 0, 1, (uint64_t[]){ 0, 300, 0, 0 });
        sharer(f, 1, 0, 3, (uint64_t[]){ 0, 0, 300, 0 });
        f->priv[1] = 700;
        f->priv[4 + 3] = 700;
        two_seconds(f);
}

/* The third of them works on memory of its own. */
static void one_keeps_to_itself(struct fixture *f) {
        start(f, 3);
        sharer(f, 0, 0, 1, (uint64_t[]){ 0, 800, 200, 0 });
        sharer(f, 1, 0, 3, (uint64_t[]){ 0, 900, 400, 0 });
        sharer(f, 2, 0, 0, (uint64_t[]){ 0, 100, 0, 0 });
        f->priv[2 * 4 + 3] = 500;
        two_seconds(f);
}

/* Of the second one nothing is known yet but whose thread it is. */
static void one_is_new(struct fixture *f) {
        start(f, 2);
        sharer(f, 0, 0, 1, (uint64_t[]){ 0, 800, 0, 0 });
        sharer(f, 1, 0, 3, (uint64_t[]){ 0, 0, 0, 0 });
        f->tasks[1].signal = HN_SIGNAL_NONE;
        two_seconds(f);
}

/* And that is too young to be anything. */
static void one_is_too_new(struct fixture *f) {
        one_is_new(f);
        f->tasks[1].runtime_ns = 0;
        fixture_second(f, 500, 0);
}

/* Four processes of two threads each, scattered over a machine that they fill: each has its memory wherever
 * its threads were, a little more of it on one node. */
static void four_families(struct fixture *f) {
        start(f, 8);
        for (size_t i = 0; i < 8; i++) {
                uint64_t faults[4] = { 200, 200, 200, 200 };

                faults[i / 2] = 300;
                sharer(f, i, i & ~(size_t) 1, (hn_node_index) ((i / 2 + 1 + i % 2) % 4), faults);
        }
        two_seconds(f);
}

/* Nodes 0 and 1 are near each other, and so are 2 and 3. */
static void pairs_of_nodes(struct fixture *f) {
        for (size_t i = 0; i < 4; i++)
                f->topo.distances[i * 4 + (i ^ 1)] = 15;
}

/* Three threads are more than a node has cores for: node 2 has most of their memory, and node 3 is near. */
static void larger_than_a_node(struct fixture *f) {
        start(f, 3);
        pairs_of_nodes(f);
        sharer(f, 0, 0, 0, (uint64_t[]){ 200, 100, 300, 100 });
        sharer(f, 1, 0, 2, (uint64_t[]){ 200, 100, 400, 100 });
        sharer(f, 2, 0, 3, (uint64_t[]){ 200, 100, 300, 100 });
        two_seconds(f);
}

/* Seven need all nodes: each is held where it runs, whatever it has met last. */
static void as_large_as_the_machine(struct fixture *f) {
        start(f, 7);
        for (size_t i = 0; i < 7; i++) {
                uint64_t faults[4] = { 100, 100, 100, 100 };

                faults[i / 2] = 300;
                sharer(f, i, 0, (hn_node_index) (3 - (i + 1) / 2 % 4), faults);
        }
        two_seconds(f);
}

/* A pair is settled on node 1. Three others would like to have that node too, as one of theirs. */
static void newcomers_come_round_the_settled(struct fixture *f) {
        start(f, 5);
        for (size_t i = 0; i < 2; i++) {
                sharer(f, i, 0, 1, (uint64_t[]){ 0, 500, 0, 0 });
                f->tasks[i].mask = f->all;
        }
        for (size_t i = 2; i < 5; i++)
                sharer(f, i, 2, (hn_node_index) (i == 4 ? 3 : 0), (uint64_t[]){ 400, 500, 0, 100 });
        two_seconds(f);
        for (size_t i = 0; i < 2; i++)
                fixture_pin(f, i, 1, 1, node_mask(f, 1));
        fixture_second(f, 1000, 0);
}

/* Two processes of one thread that the kernel has found to share memory; and two that it has not. */
static void processes(struct fixture *f, uint32_t group) {
        start(f, 2);
        for (size_t i = 0; i < 2; i++) {
                sharer(f, i, i, (hn_node_index) (i ? 3 : 1), (uint64_t[]){ 0, i ? 100 : 300, 300, 0 });
                f->tasks[i].numa_group = group;
        }
        two_seconds(f);
}

static void processes_of_a_group(struct fixture *f) {
        processes(f, 4711);
}

static void processes_of_none(struct fixture *f) {
        processes(f, 0);
}

static void processes_of_two_scopes(struct fixture *f) {
        processes(f, 4711);
        f->tasks[1].scope = 1;
        fixture_second(f, 1000, 0);
}

/* One of the pair may not go to node 2. */
static void a_node_closed_to_one(struct fixture *f) {
        start(f, 2);
        sharer(f, 0, 0, 1, (uint64_t[]){ 0, 200, 400, 0 });
        sharer(f, 1, 0, 3, (uint64_t[]){ 0, 100, 400, 0 });
        f->scopes[1].nodes = fixture_list("0-1,3");
        f->tasks[1].scope = 1;
        two_seconds(f);
}

/* Others have taken a core of the node: then one of the pair would be without. */
static void no_room_for_both(struct fixture *f) {
        start(f, 2);
        sharer(f, 0, 0, 1, (uint64_t[]){ 0, 200, 400, 0 });
        sharer(f, 1, 0, 3, (uint64_t[]){ 0, 200, 400, 0 });
        f->others[2] = 1000;
        for (unsigned i = 0; i < 6; i++)
                fixture_second(f, 1000, 0);
}

/* Others have taken all cores of all nodes. */
static void no_room_at_all(struct fixture *f) {
        start(f, 2);
        sharer(f, 0, 0, 1, (uint64_t[]){ 0, 200, 400, 0 });
        sharer(f, 1, 0, 3, (uint64_t[]){ 0, 200, 400, 0 });
        for (size_t i = 0; i < 4; i++)
                f->others[i] = 3000;
        for (unsigned i = 0; i < 12; i++)
                fixture_second(f, 500, 500);
}

static void clans(void **state) {
        static const struct scene_row rows[] = {
                { a_pair_of_threads, 0, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 1, 2, "4-5" },
                { a_pair_of_threads, 1, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 3, 2, "4-5" },
                { a_pair_of_loners, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 1, 1, "2-3" },
                { a_pair_of_loners, 1, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 3, 2, "4-5" },
                { a_pair_with_few_faults, 0, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 1, 1, NULL },
                { half_of_it_is_shared, 0, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 1, 1, "2-3" },
                { half_of_it_is_shared, 1, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 3, 1, "2-3" },
                { little_of_it_is_shared, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 1, 1, "2-3" },
                { little_of_it_is_shared, 1, HN_ACT_PIN, HN_REASON_AT_HOME, 3, 3, "6-7" },
                { one_keeps_to_itself, 0, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 1, 1, "2-3" },
                { one_keeps_to_itself, 1, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 3, 1, "2-3" },
                { one_keeps_to_itself, 2, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 0, 3, "6-7" },
                { one_is_new, 0, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 1, 1, "2-3" },
                { one_is_new, 1, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 3, 1, "2-3" },
                { one_is_too_new, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 1, 1, "2-3" },
                { one_is_too_new, 1, HN_ACT_NONE, HN_REASON_TOO_YOUNG, 3, 3, NULL },
                { four_families, 0, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 1, 0, "0-1" },
                { four_families, 1, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 2, 0, "0-1" },
                { four_families, 6, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 0, 3, "6-7" },
                { larger_than_a_node, 0, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 0, 2, "4-5" },
                { larger_than_a_node, 1, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 2, 2, "4-5" },
                { larger_than_a_node, 2, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 3, 3, "6-7" },
                { as_large_as_the_machine, 0, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 3, 3, "6-7" },
                { as_large_as_the_machine, 6, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 0, 0, "0-1" },
                { newcomers_come_round_the_settled, 0, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
                { newcomers_come_round_the_settled, 2, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 0, 0, "0-1" },
                { newcomers_come_round_the_settled, 3, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 0, 0, "0-1" },
                { newcomers_come_round_the_settled, 4, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 3, 3, "6-7" },
                { processes_of_a_group, 0, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 1, 2, "4-5" },
                { processes_of_a_group, 1, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 3, 2, "4-5" },
                { processes_of_none, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 1, 1, "2-3" },
                { processes_of_two_scopes, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 1, 1, "2-3" },
                { a_node_closed_to_one, 0, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 1, 1, "2-3" },
                { a_node_closed_to_one, 1, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 3, 1, "2-3" },
                { no_room_at_all, 0, HN_ACT_NONE, HN_REASON_NO_ROOM, 1, 1, NULL },
                { no_room_for_both, 0, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 1, 1, "2-3" },
                { no_room_for_both, 1, HN_ACT_PIN, HN_REASON_SHARED_MEMORY, 3, 1, "2-3" },
        };
        bool met[_HN_REASON_MAX] = {};

        (void) state;
        check_scenes(rows, HN_ELEMENTS(rows), met);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(clans),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
