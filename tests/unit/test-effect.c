/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "fixture.h"
#include "policy/effect.h"
#include "rows.h"

#define SEC HN_USEC_PER_SEC

static void verdicts(void **state) {
        static const struct {
                uint32_t before, share;
                hn_usec_t passed;
                enum hn_verdict verdict;
                uint32_t after;
        } rows[] = {
                { 100, 900, 0, HN_VERDICT_ON_TRIAL, 0 },
                { 100, 900, 15 * SEC - 1, HN_VERDICT_ON_TRIAL, 0 },
                { 100, 900, 15 * SEC, HN_VERDICT_HELPED, 900 },
                { 100, 101, 15 * SEC, HN_VERDICT_HELPED, 101 },
                { 100, 100, 15 * SEC, HN_VERDICT_IN_VAIN, 100 },
                { 100, 0, 60 * SEC, HN_VERDICT_IN_VAIN, 0 },
                { 0, 0, 60 * SEC, HN_VERDICT_IN_VAIN, 0 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                hn_usec_t now = 1000 * SEC + rows[i].passed;
                struct hn_effect e = hn_effect_begin(rows[i].before, 1000 * SEC);

                e = hn_effect_look(e, rows[i].share, now);
                ROW_EQUAL(i, e.verdict, rows[i].verdict);
                ROW_EQUAL(i, e.before, rows[i].before);
                ROW_EQUAL(i, e.after, rows[i].after);
                ROW_EQUAL(i, e.judged, rows[i].verdict == HN_VERDICT_ON_TRIAL ? 0 : now);

                /* What is judged stays judged. */
                if (e.verdict == HN_VERDICT_ON_TRIAL)
                        continue;
                e = hn_effect_look(e, 500, now + 30 * SEC);
                ROW_EQUAL(i, e.verdict, rows[i].verdict);
                ROW_EQUAL(i, e.judged, now);
        }
}

static void nothing_is_on_trial_unless_begun(void **state) {
        struct hn_effect e = hn_effect_look(HN_EFFECT_NULL, 900, 1000 * SEC);

        (void) state;
        assert_int_equal(e.verdict, HN_VERDICT_NONE);
        assert_int_equal(e.judged, 0);
}

/* Moved from node 0 to node 1, where it was to find more of its memory; `after` is what it meets there from
 * then on, and elsewhere. */
static struct hn_task_state moved(struct fixture *f, uint64_t here, uint64_t elsewhere, unsigned seconds) {
        fixture_init(f, 4, 2, 1);
        fixture_put(f, 0, 0);
        f->priv[0] = 300;
        f->priv[1] = 700;
        fixture_second(f, 1000, 0);
        fixture_second(f, 1000, 0);
        fixture_pin(f, 0, 0, 1, fixture_intern(f, &f->topo.nodes[1].usable));
        hn_model_note_promise(f->model, 0, 300, f->s.now);
        f->priv[0] = 0;
        f->priv[1] = here;
        f->priv[2] = elsewhere;
        for (unsigned i = 0; i < seconds; i++)
                fixture_second(f, 1000, 0);
        return *hn_model_state(f->model, 0);
}

static void the_model_looks_back(void **state) {
        static const struct {
                uint64_t here, elsewhere;
                unsigned seconds;
                enum hn_verdict verdict;
                uint32_t after;
        } rows[] = {
                { 900, 100, 14, HN_VERDICT_ON_TRIAL, 0 }, { 900, 100, 15, HN_VERDICT_HELPED, 900 },
                { 301, 699, 15, HN_VERDICT_HELPED, 301 }, { 300, 700, 15, HN_VERDICT_IN_VAIN, 300 },
                { 0, 700, 20, HN_VERDICT_IN_VAIN, 0 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct fixture f;
                struct hn_task_state st = moved(&f, rows[i].here, rows[i].elsewhere, rows[i].seconds);

                ROW_EQUAL(i, st.effect.verdict, rows[i].verdict);
                ROW_EQUAL(i, st.effect.before, 300);
                ROW_EQUAL(i, st.effect.after, rows[i].after);
                fixture_deinit(&f);
        }
}

/* A share that nobody knows is not a share of nothing: the trial waits. */
static void without_a_signal_there_is_no_verdict(void **state) {
        struct fixture f;

        (void) state;
        (void) moved(&f, 900, 100, 10);
        f.tasks[0].signal = HN_SIGNAL_NONE;
        for (unsigned i = 0; i < 20; i++)
                fixture_second(&f, 1000, 0);
        assert_int_equal(hn_model_state(f.model, 0)->effect.verdict, HN_VERDICT_ON_TRIAL);
        f.tasks[0].signal = HN_SIGNAL_FAULTS;
        fixture_second(&f, 1000, 0);
        assert_int_equal(hn_model_state(f.model, 0)->effect.verdict, HN_VERDICT_HELPED);
        fixture_deinit(&f);
}

/* What is let go, lost, or moved once more, is on trial no longer. */
static void the_end_of_a_trial(void **state) {
        struct fixture f;

        (void) state;
        (void) moved(&f, 0, 700, 5);
        hn_model_note_release(f.model, 0, f.s.now);
        assert_int_equal(hn_model_state(f.model, 0)->effect.verdict, HN_VERDICT_NONE);
        assert_int_equal(hn_model_state(f.model, 0)->reversals, 0);
        fixture_deinit(&f);

        (void) moved(&f, 0, 700, 5);
        fixture_pin(&f, 0, 1, 2, fixture_intern(&f, &f.topo.nodes[2].usable));
        assert_int_equal(hn_model_state(f.model, 0)->effect.verdict, HN_VERDICT_NONE);
        fixture_deinit(&f);

        (void) moved(&f, 0, 700, 5);
        f.tasks[0].mask = fixture_mask(&f, "5");
        fixture_second(&f, 1000, 0);
        assert_int_equal(hn_model_state(f.model, 0)->effect.verdict, HN_VERDICT_NONE);
        fixture_deinit(&f);
}

static void a_move_in_vain_makes_patient(void **state) {
        struct fixture f;
        const struct hn_task_state *st;

        (void) state;
        (void) moved(&f, 0, 700, 15);
        hn_model_note_release(f.model, 0, f.s.now);
        st = hn_model_state(f.model, 0);
        assert_int_equal(st->reversals, HN_EFFECT_REVERSALS);
        assert_int_equal(st->pinned, HN_NODE_NONE);
        assert_int_equal(st->effect.verdict, HN_VERDICT_NONE);
        assert_int_equal(hn_model_cooldown_left(f.model, 0, f.s.now), 16000);
        fixture_deinit(&f);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(verdicts),
                cmocka_unit_test(nothing_is_on_trial_unless_begun),
                cmocka_unit_test(the_model_looks_back),
                cmocka_unit_test(without_a_signal_there_is_no_verdict),
                cmocka_unit_test(the_end_of_a_trial),
                cmocka_unit_test(a_move_in_vain_makes_patient),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
