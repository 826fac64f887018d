/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Faults that tell of a time before the last act, and what is believed instead of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/evidence.h"
#include "scenes.h"

#define LOOKS 4

static void what_the_looks_after_an_act_tell(void **state) {
        static const struct {
                uint64_t at; /* the sequence of the act */
                struct {
                        uint64_t seq, faults;
                        bool holds;
                } looks[LOOKS];
        } rows[] = {
                /* whatever a kernel says that does not tell its sequence */
                { 0, { { 0, 5, true }, { 0, 0, true }, { 7, 5, true }, { 8, 1, true } } },
                /* the scan under way, the one that still counts what was met in it, and then half and half */
                { 7, { { 7, 1000, false }, { 8, 1000, false }, { 9, 1000, true }, { 10, 1000, true } } },
                /* a kernel that goes on counting its scans, but finds nothing in them */
                { 7, { { 8, 1000, false }, { 9, 500, false }, { 10, 250, false }, { 11, 125, false } } },
                /* until there is something: a half of what may be old is enough */
                { 7, { { 8, 1000, false }, { 9, 749, false }, { 9, 750, true }, { 10, 374, false } } },
                { 7, { { 8, 1000, false }, { 10, 374, false }, { 10, 375, true }, { 10, 249, false } } },
                { 7, { { 8, 1000, false }, { 72, 0, true }, { 73, 0, true }, { 74, 0, true } } },
                { 7, { { 8, 1000, false }, { 71, 0, true }, { 71, 0, true }, { 71, 0, true } } },
                /* a process with a new memory begins to count again */
                { 7, { { 8, 1000, false }, { 1, 5, true }, { 1, 5, true }, { 2, 5, true } } },
                /* nothing old was left */
                { 7, { { 7, 0, false }, { 8, 0, true }, { 8, 1, true }, { 9, 1000, true } } },
                { UINT64_MAX, { { UINT64_MAX, 9, false }, { 0, 9, false }, { 1, 9, true }, { 2, 9, true } } },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_evidence e = hn_evidence_after_act(rows[i].at);

                for (size_t k = 0; k < LOOKS; k++) {
                        e = hn_evidence_look(e, rows[i].looks[k].faults, rows[i].looks[k].seq);
                        if (hn_evidence_holds(e, rows[i].looks[k].faults) != rows[i].looks[k].holds)
                                fail_msg("row %zu, look %zu", i, k);
                }
        }
        assert_true(hn_evidence_holds(hn_evidence_look(HN_EVIDENCE_NULL, 5, 9), 0));
}

/* Alone in its process on node 1, where all of its pages are; its faults say node 3. */
static void beside_its_pages(struct fixture *f, uint64_t faults) {
        start(f, 2);
        f->s.n_tasks = 1;
        cast(f, 0, 1, 3);
        fixture_memory(f, 0, 3, faults);
        f->priv[4 + 1] = 64;
        f->tasks[0].alone = f->tasks[0].pages_known = true;
        f->tasks[0].pages_row = 1;
        f->tasks[0].pages_at = f->s.now;
        f->tasks[0].scan_seq = 7;
        two_seconds(f);
}

static void look_up(struct fixture *f, uint64_t seq, uint64_t faults) {
        f->tasks[0].pages_at = f->s.now;
        f->tasks[0].scan_seq = seq;
        fixture_memory(f, 0, 3, faults);
        fixture_second(f, 1000, 0);
}

static void with_faults_elsewhere(struct fixture *f) {
        beside_its_pages(f, 256);
}

static void with_faults_on_the_first_node(struct fixture *f) {
        beside_its_pages(f, 256);
        fixture_memory(f, 0, 0, 256);
        fixture_second(f, 1000, 0);
}

static void with_few_faults_elsewhere(struct fixture *f) {
        beside_its_pages(f, 255);
}

static void with_few_faults_and_pages_unknown(struct fixture *f) {
        beside_its_pages(f, 255);
        f->tasks[0].pages_known = false;
        fixture_second(f, 1000, 0);
}

/* Moved there ten seconds ago, in scan 7. */
static void moved(struct fixture *f, uint64_t from) {
        beside_its_pages(f, from);
        fixture_pin(f, 0, 3, 1, node_mask(f, 1));
        for (unsigned i = 0; i < 10; i++)
                fixture_second(f, 1000, 0);
        look_up(f, 7, from);
}

static void moved_and_nothing_new_since(struct fixture *f) {
        moved(f, 4000);
        look_up(f, 8, 4000);
        look_up(f, 9, 2000);
        look_up(f, 10, 1000);
}

static void moved_and_met_there_since(struct fixture *f) {
        moved(f, 4000);
        look_up(f, 8, 4000);
        look_up(f, 9, 4000);
}

/* Of several threads nobody knows whose the pages are. */
static void moved_in_company(struct fixture *f) {
        moved_and_nothing_new_since(f);
        f->tasks[0].alone = false;
        fixture_second(f, 1000, 0);
}

static void moved_since_the_pages_were_seen(struct fixture *f) {
        moved_and_nothing_new_since(f);
        f->tasks[0].pages_at = 1;
        fixture_second(f, 1000, 0);
}

/* What was seen at the very time of the move is of before it. */
static void moved_as_the_pages_were_seen(struct fixture *f) {
        moved_and_nothing_new_since(f);
        f->tasks[0].pages_at = hn_model_state(f->model, 0)->last_move;
        fixture_second(f, 1000, 0);
}

static void moved_just_before_the_pages_were_seen(struct fixture *f) {
        moved_as_the_pages_were_seen(f);
        f->tasks[0].pages_at++;
        fixture_second(f, 1000, 0);
}

/* Memory that several processes share is not among its pages. */
static void moved_for_shared_memory(struct fixture *f) {
        moved_and_nothing_new_since(f);
        f->priv[3] = 600;
        f->shared[3] = 400;
        fixture_second(f, 1000, 0);
}

/* Its pages were brought to it, and its faults are of before. */
static void pages_have_been_brought(struct fixture *f) {
        start(f, 2);
        f->s.n_tasks = 1;
        cast(f, 0, 1, 1);
        two_seconds(f);
        fixture_pin(f, 0, 1, 1, node_mask(f, 1));
        f->priv[4 + 1] = 64;
        f->tasks[0].alone = f->tasks[0].pages_known = true;
        f->tasks[0].pages_row = 1;
        look_up(f, 7, 4000);
        hn_model_note_pages(f->model, 0, f->s.now);
        fixture_second(f, 1000, 0);
        f->priv[1] = 0;
        look_up(f, 8, 4000);
        look_up(f, 9, 2000);
}

/* What it was moved for is judged by what is believed, too. */
static void moved_and_judged(struct fixture *f) {
        beside_its_pages(f, 4000);
        fixture_pin(f, 0, 3, 1, node_mask(f, 1));
        hn_model_note_promise(f->model, 0, 0, f->s.now);
        for (unsigned i = 0; i < 16; i++)
                look_up(f, 8, 4000);
        assert_int_equal(hn_model_state(f->model, 0)->effect.verdict, HN_VERDICT_HELPED);
}

static void whom_to_believe(void **state) {
        static const struct scene_row rows[] = {
                { with_faults_elsewhere, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 1, 3, "6-7" },
                { with_faults_on_the_first_node, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 1, 0, "0-1" },
                { with_few_faults_elsewhere, 0, HN_ACT_PIN, HN_REASON_AT_HOME, 1, 1, "2-3" },
                { with_few_faults_and_pages_unknown, 0, HN_ACT_NONE, HN_REASON_NO_SIGNAL, 1, 1, NULL },
                { moved_and_nothing_new_since, 0, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
                { moved_and_met_there_since, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 1, 3, "6-7" },
                { moved_in_company, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 1, 3, "6-7" },
                { moved_since_the_pages_were_seen, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 1, 3, "6-7" },
                { moved_as_the_pages_were_seen, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 1, 3, "6-7" },
                { moved_just_before_the_pages_were_seen, 0, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
                { moved_for_shared_memory, 0, HN_ACT_PIN, HN_REASON_REMOTE_FAULTS, 1, 3, "6-7" },
                { pages_have_been_brought, 0, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
                { moved_and_judged, 0, HN_ACT_NONE, HN_REASON_SETTLED, 1, 1, NULL },
        };
        bool met[_HN_REASON_MAX] = {};

        (void) state;
        check_scenes(rows, HN_ELEMENTS(rows), met);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(what_the_looks_after_an_act_tell),
                cmocka_unit_test(whom_to_believe),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
