/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A parent whose children do the work is not held: a child is born with its mask, and most are gone before
 * anybody could give it back. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenes.h"

/* A second in which the children of task 0 used so many thousandths of a CPU. */
static void second(struct fixture *f, uint64_t children) {
        f->tasks[0].child_ns += children * 1000000;
        fixture_second(f, 1000, 0);
}

static void children(struct fixture *f, uint64_t first, uint64_t then) {
        start(f, 1);
        cast(f, 0, 0, 1);
        f->tasks[0].child_ns = UINT64_C(3600000000000); /* what they used before we came is past */
        fixture_second(f, 1000, 0);
        second(f, first);
        second(f, then);
}

static void no_children(struct fixture *f) {
        children(f, 0, 0);
}

static void a_storm(struct fixture *f) {
        children(f, 4000, 4000);
}

/* Averaged: a burst of one second counts by half in the next. */
static void just_enough(struct fixture *f) {
        children(f, 1000, 500);
}

static void not_quite_enough(struct fixture *f) {
        children(f, 1000, 499);
}

static void the_counter_falls(struct fixture *f) {
        children(f, 0, 0);
        f->tasks[0].child_ns = 0;
        fixture_second(f, 1000, 0);
}

static void the_counter_runs_away(struct fixture *f) {
        children(f, 0, 0);
        f->tasks[0].child_ns = UINT64_MAX;
        fixture_second(f, 1000, 0);
}

/* Its mask goes back to it, so that those to come are born with that. */
static void held_when_it_begins(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 1, 1);
        two_seconds(f);
        hold(f, 0, 1, 1);
        second(f, 2000);
}

static void held_and_few_children(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 1, 1);
        two_seconds(f);
        hold(f, 0, 1, 1);
        second(f, 999);
}

static void forks(void **state) {
        static const struct scene_row rows[] = {
                { no_children, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 0, 1, "2-3" },
                { a_storm, 0, HN_ACT_NONE, HN_REASON_FORKS, 0, 0, NULL },
                { just_enough, 0, HN_ACT_NONE, HN_REASON_FORKS, 0, 0, NULL },
                { not_quite_enough, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 0, 1, "2-3" },
                { the_counter_falls, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 0, 1, "2-3" },
                { the_counter_runs_away, 0, HN_ACT_NONE, HN_REASON_FORKS, 0, 0, NULL },
                { held_when_it_begins, 0, HN_ACT_RELEASE, HN_REASON_FORKS, 1, 1, NULL },
                { held_and_few_children, 0, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
        };
        bool met[_HN_REASON_MAX] = {};

        (void) state;
        check_scenes(rows, HN_ELEMENTS(rows), met);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(forks),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
