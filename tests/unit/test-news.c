/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* One move for one scan of the kernel's (S3), and what counts as a new one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenes.h"

static void set_seq(struct fixture *f, uint64_t seq) {
        for (size_t i = 0; i < f->s.n_tasks; i++)
                f->tasks[i].scan_seq = seq;
}

/* Moved to node 1 ten seconds ago in scan 7; what is known of its memory says node 3 by now, in scan `seq`.
 */
static void moved(struct fixture *f, uint64_t before, uint64_t seq) {
        start(f, 2);
        cast(f, 0, 0, 1);
        set_seq(f, before);
        two_seconds(f);
        fixture_put(f, 0, 1);
        fixture_pin(f, 0, 0, 1, node_mask(f, 1));
        f->s.n_tasks = 1;
        fixture_memory(f, 0, 3, 1000);
        set_seq(f, seq);
        for (unsigned i = 0; i < 10; i++)
                fixture_second(f, 1000, 0);
}

static void moved_in_this_scan(struct fixture *f) {
        moved(f, 7, 7);
}

static void moved_in_an_earlier_scan(struct fixture *f) {
        moved(f, 7, 8);
}

/* The process has a new memory, by exec: another sequence is news, whichever way it counts. */
static void moved_in_a_scan_of_another_life(struct fixture *f) {
        moved(f, 7, 1);
}

static void moved_where_scans_are_not_told(struct fixture *f) {
        moved(f, 0, 0);
}

/* Others take its node for good: then it goes, news or not. */
static void moved_and_crowded(struct fixture *f) {
        moved_in_this_scan(f);
        f->others[1] = 2000;
        for (unsigned i = 0; i < 8; i++)
                fixture_second(f, 300, 700);
}

/* Held where it ran, which was no move. */
static void held_in_this_scan(struct fixture *f) {
        start(f, 1);
        cast(f, 0, 1, 1);
        set_seq(f, 7);
        two_seconds(f);
        fixture_pin(f, 0, 1, 1, node_mask(f, 1));
        fixture_memory(f, 0, 3, 1000);
        fixture_second(f, 1000, 0);
}

/* Pages are asked for when we like, whatever the kernel scans. */
static void moved_for_its_pages(struct fixture *f) {
        moved_in_this_scan(f);
        f->tasks[0].signal = HN_SIGNAL_RESIDENCY;
        fixture_second(f, 1000, 0);
}

static void news(void **state) {
        static const struct scene_row rows[] = {
                { moved_in_this_scan, 0, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
                { moved_in_an_earlier_scan, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 1, 3, "6-7" },
                { moved_in_a_scan_of_another_life, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 1, 3, "6-7" },
                { moved_where_scans_are_not_told, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 1, 3, "6-7" },
                { moved_and_crowded, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 1, 3, "6-7" },
                { held_in_this_scan, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 1, 3, "6-7" },
                { moved_for_its_pages, 0, HN_ACT_PIN, HN_REASON_REMOTE_PAGES, 1, 3, "6-7" },
        };
        bool met[_HN_REASON_MAX] = {};

        (void) state;
        check_scenes(rows, HN_ELEMENTS(rows), met);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(news),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
