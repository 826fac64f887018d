/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Scenarios about where threads go, and which are left alone. */

#include "guest.h"
#include "judge.h"
#include "scenario.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SECOND 1000000ULL

int scenario_measured(struct trial *t) {
        int r;

        t->opt_in = guest_now() + t->line->before * SECOND;
        if (t->line->before > 0) {
                r = trial_measure(t, 0, NULL);
                if (r < 0)
                        return r;
        }
        r = trial_policy_start(t);
        if (r < 0)
                return r;
        return trial_measure(t, t->line->seconds, t->until_home ? trial_is_home : NULL);
}

static int placed_by_faults(struct trial *t, enum load load) {
        double reference = 0;
        int r;

        if (judge_homenode(t)) {
                r = scenario_reference(t, load, &reference);
                if (r >= 0)
                        r = trial_daemon_prepare(t);
                if (r < 0)
                        return r;
        }
        r = trial_load_start(t, load, t->line->pin ? "--pin all" : "");
        if (r >= 0)
                r = scenario_measured(t);
        if (r < 0)
                return r;
        trial_figures(t);
        if (judge_homenode(t))
                judge_share(t, reference);
        judge_stop(t, false);
        return 0;
}

/* The same, told to a reader: as long as it takes until all are home, and then the way back, thread by
 * thread. */
int scenario_demo(struct trial *t) {
        char since[64];
        bool home;
        int r;

        t->until_home = true;
        (void) judge_since(since, sizeof(since));
        guest_say(
                "%u processes of 2 threads start in hn-load.service. Every thread runs on one node and has its memory on",
                t->cpus->n_nodes * t->cpus->per_node / 2);
        guest_say(
                "another, and not on its sibling's either: no tool that moves whole processes can bring these home.");
        r = trial_rule_write(LOAD_UNIT, "");
        if (r >= 0)
                r = trial_load_start(t, LOAD_APART, "");
        if (r < 0)
                return r;
        guest_say("opting it in, in " RULE_FILE ":");
        guest_say("    [Rule load]");
        guest_say("    Cgroup=system.slice/hn-load.service");
        guest_say("    Mode=manage");
        guest_say("and at 0 s: systemctl start homenoded");
        r = scenario_measured(t);
        if (r < 0)
                return r;
        home = trial_is_home(t);
        trial_check(t, "home", home, json_boolean(home), "a local share that stays at 0.95 or above");
        trial_figures(t);
        judge_journal_tell(since);
        guest_say("systemctl stop homenoded");
        judge_stop(t, false);
        guest_say("%s", json_is_true(json_object_get(t->json, "masks_equal_after"))
                                ? "Every mask is as it was before homenoded came."
                                : "NOT every mask is as it was before homenoded came.");
        return 0;
}

int scenario_threads_apart(struct trial *t) {
        return placed_by_faults(t, LOAD_APART);
}

int scenario_numa02(struct trial *t) {
        int r = placed_by_faults(t, LOAD_NUMA02);

        if (r < 0 || !judge_homenode(t))
                return r;
        judge_counted(t, 0.99 * json_number_value(json_object_get(t->json, "share_hardbind")));
        judge_moves(t);
        return 0;
}

int scenario_not_opted_in(struct trial *t) {
        int8_t *pages;
        json_int_t changed;
        int r;

        r = trial_rule_write("hn-other.service", "");
        if (r >= 0)
                r = trial_load_start(t, LOAD_APART, "");
        if (r < 0)
                return r;
        pages = judge_pages_take(t);
        if (!pages)
                return -ENOMEM;
        r = scenario_measured(t);
        if (r >= 0) {
                judge_ticking(t);
                changed = judge_pages_changed(t, pages, false);
                trial_check(t, "pages_unchanged", changed == 0, json_integer(changed),
                            "0 pages on another node");
                changed = (json_int_t) trial_masks_changed(t);
                trial_check(t, "masks_unchanged", changed == 0, json_integer(changed), "0 masks that differ");
                trial_figures(t);
                judge_stop(t, false);
        }
        free(pages);
        return r;
}

/* Threads of the table, even or odd ones, whose mask is not what it was. */
static unsigned changed_of(struct trial *t, unsigned odd) {
        static struct masks now;
        unsigned changed = 0;

        if (masks_take(LOAD_UNIT, &now) < 0)
                return 0;
        for (unsigned i = odd; i < t->table->n_threads; i += 2)
                for (size_t k = 0; k < now.n; k++) {
                        const struct mask_entry *is = &now.entries[k];
                        const struct mask_entry *was = masks_find(&t->before, is->tid, is->start);

                        changed += is->tid == t->table->threads[i].tid && was &&
                                   !CPU_EQUAL(&was->mask, &is->mask);
                }
        return changed;
}

static bool even_pinned(struct trial *t) {
        return changed_of(t, 0) >= t->table->n_threads / 2;
}

int scenario_user_mask(struct trial *t) {
        json_int_t pages_moved;
        int8_t *pages;
        unsigned changed;
        bool pinned;
        int r;

        r = trial_rule_write(LOAD_UNIT, "");
        if (r >= 0)
                r = trial_load_start(t, LOAD_SINGLES, "--pin odd");
        if (r < 0)
                return r;
        pages = judge_pages_take(t);
        if (!pages)
                return -ENOMEM;
        r = trial_policy_start(t);
        if (r >= 0)
                r = trial_measure(t, t->line->seconds, even_pinned);
        pinned = even_pinned(t);
        if (r >= 0)
                r = trial_measure(t, (unsigned) ((guest_now() - t->opt_in) / SECOND) + 5, NULL);
        if (r >= 0) {
                trial_check(t, "free_threads_managed", pinned, json_integer(changed_of(t, 0)),
                            "every thread without a mask of its own");
                changed = changed_of(t, 1);
                trial_check(t, "user_masks_unchanged", changed == 0, json_integer(changed),
                            "0 masks that differ");
                pages_moved = judge_pages_changed(t, pages, true);
                trial_check(t, "user_pages_unchanged", pages_moved == 0, json_integer(pages_moved),
                            "0 pages on another node");
                trial_figures(t);
                judge_stop(t, false);
        }
        free(pages);
        return r;
}

int scenario_balancing_off(struct trial *t) {
        json_t *settled;
        int r;

        t->until_home = true;
        /* A daemon with sanitizers takes an emulated machine ten seconds to start beside this load. How soon
         * it acts is not what it is run for, but it has to come to its acts. */
        r = t->asan ? trial_daemon_prepare(t) : trial_rule_write(LOAD_UNIT, "");
        if (r >= 0)
                r = trial_load_start(t, LOAD_SINGLES, "");
        if (r >= 0)
                r = scenario_measured(t);
        if (r < 0)
                return r;
        trial_figures(t);
        settled = json_object_get(t->json, "settle_s");
        trial_check(t, "settle_s", json_is_number(settled) && json_number_value(settled) <= 30,
                    json_incref(settled), "<= 30");
        trial_check(t, "signal", judge_text_has(json_object_get(t->json, "signal"), "residency"),
                    json_incref(json_object_get(t->json, "signal")), "residency");
        judge_stop(t, false);
        return 0;
}

int scenario_balancing_off_threads(struct trial *t) {
        json_t *settled;
        char *state;
        int r;

        t->until_home = true;
        r = trial_rule_write(LOAD_UNIT, "");
        if (r >= 0)
                r = trial_load_start(t, LOAD_THREADS, "");
        if (r >= 0)
                r = scenario_measured(t);
        if (r < 0)
                return r;
        trial_figures(t);
        settled = json_object_get(t->json, "settle_s");
        trial_check(t, "placed_as_a_whole", json_is_number(settled) && json_number_value(settled) <= 30,
                    json_incref(settled), "<= 30");
        state = json_dumps(json_object_get(t->json, "state"), JSON_COMPACT | JSON_ENCODE_ANY);
        trial_check(t, "state_says_so", state && strcasestr(state, "told apart"),
                    json_incref(json_object_get(json_object_get(t->json, "state"), "notes")),
                    "a note that residency cannot tell the threads apart");
        free(state);
        judge_stop(t, false);
        return 0;
}
