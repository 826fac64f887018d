/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory is brought to a task as far as that pays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenes.h"

#define GIB (UINT64_C(1) << 30)

/* Held on node 1, as others have taken node 0, where all of its memory is: `resident` bytes for the `used`
 * thousandths of a CPU that it works. */
static void far_from_home(struct fixture *f, uint64_t resident, uint32_t used) {
        start(f, 1);
        f->s.kernel_balancing = 0;
        f->tasks[0].signal = HN_SIGNAL_RESIDENCY;
        f->tasks[0].resident = resident;
        cast(f, 0, 1, 0);
        f->others[0] = 2000;
        for (unsigned i = 0; i < 2; i++)
                fixture_second(f, used, 0);
        hold(f, 0, 1, 0);
        fixture_second(f, used, 0);
}

static void size_unknown(struct fixture *f) {
        far_from_home(f, 0, 1000);
}

static void much_for_much_work(struct fixture *f) {
        far_from_home(f, 120 * GIB, 1000);
}

static void too_much(struct fixture *f) {
        far_from_home(f, 130 * GIB, 1000);
}

static void much_for_little_work(struct fixture *f) {
        far_from_home(f, 15 * GIB, 100);
}

static void some_for_little_work(struct fixture *f) {
        far_from_home(f, 12 * GIB, 100);
}

/* A part of it is there already: what is left costs less, and saves less. */
static void half_of_too_much(struct fixture *f) {
        far_from_home(f, 130 * GIB, 1000);
        f->priv[1] = f->priv[0];
        fixture_second(f, 1000, 0);
}

/* It pays after ten minutes to the microsecond; and a microsecond later. */
static void in_just_ten_minutes(struct fixture *f) {
        far_from_home(f, UINT64_C(222) * 600000000, 1000);
}

static void in_a_little_more(struct fixture *f) {
        far_from_home(f, UINT64_C(222) * 600000001, 1000);
}

/* A machine that has just been started, on which nobody can have asked for anything. */
static void soon_after_the_start(struct fixture *f) {
        start(f, 1);
        f->s.now = 0;
        f->s.kernel_balancing = 0;
        f->tasks[0].signal = HN_SIGNAL_RESIDENCY;
        cast(f, 0, 1, 0);
        f->others[0] = 2000;
        two_seconds(f);
        hold(f, 0, 1, 0);
        fixture_second(f, 1000, 0);
}

/* The same by its faults, of which it has met so many on each node. */
static void faulter(struct fixture *f, size_t n_tasks, const uint64_t faults[4], uint32_t others) {
        start(f, n_tasks);
        for (size_t i = 0; i < n_tasks; i++)
                cast(f, i, 1, 0);
        f->others[0] = others;
        for (unsigned i = 0; i <= HN_LASTING; i++)
                fixture_second(f, 1000, 0);
        hold(f, 0, 1, 0);
        memcpy(f->priv, faults, 4 * sizeof(*faults));
        fixture_second(f, 1000, 0);
}

static void half_of_its_faults(struct fixture *f) {
        faulter(f, 1, (uint64_t[]){ 500, 250, 250, 0 }, 2000);
}

static void less_than_half(struct fixture *f) {
        faulter(f, 1, (uint64_t[]){ 499, 251, 250, 0 }, 2000);
}

/* There is a core left for it at home, to a quarter, and it stays for a little memory here. */
static void room_at_home(struct fixture *f) {
        faulter(f, 1, (uint64_t[]){ 540, 460, 0, 0 }, 1250);
}

static void hardly_room_at_home(struct fixture *f) {
        faulter(f, 1, (uint64_t[]){ 540, 460, 0, 0 }, 1251);
}

/* Most of it is here already, on a node that is too small for it. */
static void at_home_in_a_crowd(struct fixture *f) {
        faulter(f, 1, (uint64_t[]){ 400, 600, 0, 0 }, 0);
        fixture_memory(f, 0, 1, 600);
        f->priv[0] = 400;
        f->others[1] = 900;
        for (unsigned i = 0; i <= HN_LASTING; i++)
                fixture_second(f, 1000, 0);
}

/* Nothing is known of its memory, and so it has no home. */
static void held_without_a_home(struct fixture *f) {
        start(f, 1);
        fixture_put(f, 0, 1);
        two_seconds(f);
        fixture_pin(f, 0, 1, 1, node_mask(f, 1));
        two_seconds(f);
}

/* Task 1 is held on node 1, and most of its memory is on node 0. So is that of task 0, which works on node 2
 * for `used` thousandths; they are of one process, or of two. */
static void two_from_one_node(struct fixture *f, bool siblings, uint32_t used) {
        start(f, 2);
        cast(f, 0, 2, 0);
        cast(f, 1, 1, 0);
        f->tasks[1].tgid = f->tasks[siblings ? 0 : 1].tgid;
        f->others[0] = 2000;
        for (unsigned i = 0; i < 20; i++) {
                if (i == 6)
                        hold(f, 1, 1, 0);
                f->tasks[1].runtime_ns += UINT64_C(1000000) * (1000 - used);
                f->others[1] = 1000 - used;
                fixture_second(f, used, 0);
        }
}

static void a_sibling_is_at_home_there(struct fixture *f) {
        two_from_one_node(f, true, 50);
}

static void an_idle_sibling_is(struct fixture *f) {
        two_from_one_node(f, true, 49);
}

static void a_stranger_is(struct fixture *f) {
        two_from_one_node(f, false, 500);
}

/* The kernel balances, but hardly gives this thread any faults, so that its pages are looked at; it is held
 * on node 1, and so many of them are on node 0. */
static void hardly_any_faults(struct fixture *f, uint64_t there, uint64_t here, uint32_t others) {
        start(f, 2);
        f->s.n_tasks = 1;
        cast(f, 0, 1, 0);
        fixture_memory(f, 0, 0, 10);
        f->tasks[0].alone = f->tasks[0].pages_known = true;
        f->tasks[0].pages_row = 1;
        f->tasks[0].pages_at = f->s.now;
        f->priv[4] = there;
        f->priv[5] = here;
        f->others[0] = others;
        for (unsigned i = 0; i <= HN_LASTING; i++)
                fixture_second(f, 1000, 0);
        fixture_pin(f, 0, 1, 1, node_mask(f, 1));
        fixture_second(f, 1000, 0);
}

static void the_kernel_will_not_bring_them(struct fixture *f) {
        hardly_any_faults(f, 1000, 0, 2000);
}

static void it_could_go_to_its_pages(struct fixture *f) {
        hardly_any_faults(f, 540, 460, 1250);
}

static void no_pages_were_found(struct fixture *f) {
        hardly_any_faults(f, 0, 0, 2000);
}

/* Threads 0 and 1 are of one process, 2 is a stranger; a hand has ordered something for one of them. */
static void beside_an_order(struct fixture *f, size_t ordered) {
        static struct hn_hand hand;

        start(f, 3);
        cast(f, 0, 2, 2);
        cast(f, 1, 1, 0);
        cast(f, 2, 3, 3);
        f->tasks[1].tgid = FIXTURE_FIRST_TID;
        f->others[0] = 2000;
        for (unsigned i = 0; i <= HN_LASTING; i++)
                fixture_second(f, 1000, 0);
        hold(f, 1, 1, 0);
        hand = (struct hn_hand){ .id = 7, .nodes = fixture_list("2-3") };
        f->s.hands = &hand;
        f->s.n_hands = 1;
        f->tasks[ordered].hand = 1;
        fixture_second(f, 1000, 0);
}

static void a_sibling_is_in_hand(struct fixture *f) {
        beside_an_order(f, 0);
}

static void only_a_stranger_is_in_hand(struct fixture *f) {
        beside_an_order(f, 2);
}

/* Seventeen processes on a large node, all with their memory on another. */
static void so_many(struct fixture *f) {
        fixture_init(f, 4, 20, 17);
        f->others[0] = 20000;
        for (size_t i = 0; i < 17; i++)
                cast(f, i, 1, 0);
        for (unsigned i = 0; i <= HN_LASTING; i++)
                fixture_second(f, 1000, 0);
        for (size_t i = 0; i < 17; i++)
                hold(f, i, 1, 0);
        fixture_second(f, 1000, 0);
}

static void bring(void **state) {
        static const struct scene_row rows[] = {
                { size_unknown, 0, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK, 1, 1, NULL },
                { much_for_much_work, 0, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK, 1, 1, NULL },
                { too_much, 0, HN_ACT_NONE, HN_REASON_NO_PAYBACK, 1, 1, NULL },
                { half_of_too_much, 0, HN_ACT_NONE, HN_REASON_NO_PAYBACK, 1, 1, NULL },
                { some_for_little_work, 0, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK, 1, 1, NULL },
                { much_for_little_work, 0, HN_ACT_NONE, HN_REASON_NO_PAYBACK, 1, 1, NULL },
                { in_just_ten_minutes, 0, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK, 1, 1, NULL },
                { in_a_little_more, 0, HN_ACT_NONE, HN_REASON_NO_PAYBACK, 1, 1, NULL },
                { soon_after_the_start, 0, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK, 1, 1, NULL },
                { half_of_its_faults, 0, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK, 1, 1, NULL },
                { less_than_half, 0, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
                { room_at_home, 0, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
                { hardly_room_at_home, 0, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK, 1, 1, NULL },
                { at_home_in_a_crowd, 0, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
                { held_without_a_home, 0, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 1, 1, NULL },
                { a_sibling_is_at_home_there, 1, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
                { an_idle_sibling_is, 1, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK, 1, 1, NULL },
                { a_stranger_is, 1, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK, 1, 1, NULL },
                { the_kernel_will_not_bring_them, 0, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK, 1, 1, NULL },
                { it_could_go_to_its_pages, 0, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
                { no_pages_were_found, 0, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 1, 1, NULL },
                { a_sibling_is_in_hand, 1, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
                { only_a_stranger_is_in_hand, 1, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK, 1, 1, NULL },
                { so_many, 15, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK, 1, 1, NULL },
                { so_many, 16, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
        };
        bool met[_HN_REASON_MAX] = {};

        (void) state;
        check_scenes(rows, HN_ELEMENTS(rows), met);
        assert_true(met[HN_REASON_NO_PAYBACK]);
}

/* The more of its memory is elsewhere, the more is gained. */
static void gain(void **state) {
        const struct hn_limits limits = HN_LIMITS_DEFAULT;
        _hn_cleanup_(hn_plan_freep) struct hn_plan *plan = NULL;
        struct fixture f;

        (void) state;
        faulter(&f, 1, (uint64_t[]){ 700, 300, 0, 0 }, 2000);
        assert_int_equal(hn_plan_new(&f.topo, &plan), 0);
        assert_int_equal(hn_plan_build(plan, f.model, &f.s, &limits), 0);
        assert_int_equal(hn_plan_decision(plan, 0)->act, HN_ACT_PAGES);
        assert_int_equal(hn_plan_decision(plan, 0)->benefit, 700 * 1000);
        fixture_deinit(&f);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(bring),
                cmocka_unit_test(gain),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
