/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Scenarios that are a load and the bounds it is judged by: a table. */

#include "guest.h"
#include "judge.h"
#include "scenario.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

/* What is judged when homenode places the load. */
#define SETTLED (1U << 0) /* the share from the moment on that it settled, against hand placement's */
#define AFTER   (1U << 1) /* the share in the window, against hand placement's */
#define EVEN    (1U << 2) /* as many threads on each node */
#define MOVES   (1U << 3) /* two for each thread at most */
#define SPREAD  (1U << 4) /* the nodes' use of CPUs, against what it is without anybody */
#define RISING  (1U << 5) /* the share in the window, against that before the opt-in */
#define NO_IDLE (1U << 6) /* no node at rest while others are busy */
#define PHASES  (1U << 7) /* the share in the end of each phase */

static const struct bounds {
        const char *scenario;
        enum load load;
        unsigned judged;
        double of_hand; /* part of hand placement's share */
} table[] = {
        { "numa01", LOAD_NUMA01, EVEN | MOVES, 0 },
        { "numa01-private", LOAD_NUMA01_PRIVATE, SETTLED | EVEN | MOVES, 0.99 },
        { "numa03", LOAD_NUMA03, EVEN | MOVES, 0 },
        { "numa04", LOAD_NUMA04, AFTER | EVEN | MOVES, 0.90 },
        { "numa05", LOAD_NUMA05, AFTER | EVEN | MOVES, 0.90 },
        { "schedbench-4", LOAD_SCHEDBENCH_4, SETTLED | EVEN | MOVES, 0.99 },
        { "schedbench-8", LOAD_SCHEDBENCH_8, SETTLED | EVEN | MOVES, 0.99 },
        { "schedbench-16", LOAD_SCHEDBENCH_16, SETTLED | EVEN | MOVES, 0.98 },
        { "stacked", LOAD_STACKED, RISING | EVEN | MOVES, 0 },
        { "ramp", LOAD_RAMP, SPREAD, 0 },
        { "half-idle", LOAD_HALF_IDLE, NO_IDLE, 0 },
        /* Who forks is placed as anybody; what it forks must not be crowded on its node. */
        { "forks", LOAD_FORKS, AFTER | MOVES | SPREAD, 0.90 },
        { "phase", LOAD_PHASE, PHASES | EVEN, 0 },
};

/* Seconds in the end of a phase over which its share is taken, and what it has to be. */
#define PHASE_END   5.0
#define PHASE_SHARE 0.90

/* CPUs by which a spread may be above another by chance: it is a mean of some forty samples of one second. */
#define SPREAD_NOISE 0.1

/* What the idlest node has to do of what the busiest does. */
#define IDLEST_PART 0.5

/* Mean of the series over [from, to); NaN without samples. */
static double series_between(const json_t *series, double from, double to) {
        double sum = 0, n = 0;
        size_t i;
        json_t *pair;

        json_array_foreach (series, i, pair) {
                double at = json_number_value(json_array_get(pair, 0));

                if (at < from || at >= to)
                        continue;
                sum += json_number_value(json_array_get(pair, 1));
                n++;
        }
        return n > 0 ? sum / n : NAN;
}

static json_t *rounded(double value) {
        return isnan(value) ? json_null() : json_real(round(value * 1000) / 1000);
}

static void judge_after(struct trial *t, double least) {
        json_t *after = json_object_get(t->json, "share_after");
        char want[64];

        (void) snprintf(want, sizeof(want), ">= %.3f", least);
        trial_check(t, "share_after", json_is_number(after) && json_number_value(after) >= least,
                    json_incref(after), want);
}

static void judge_rising(struct trial *t) {
        double before = series_between(t->series, -1e9, 0);
        double after = json_number_value(json_object_get(t->json, "share_after"));
        char want[64];

        (void) snprintf(want, sizeof(want), "> %.3f, as before", before);
        trial_check(t, "share_rises", after > before, rounded(after), want);
}

static void judge_spread(struct trial *t, double reference) {
        double spread = t->busy_n > 0 ? t->busy_spread / t->busy_n : NAN;
        char want[64];

        json_object_set_new(t->json, "busy_spread_none", rounded(reference));
        (void) snprintf(want, sizeof(want), "<= %.2f", reference + SPREAD_NOISE);
        trial_check(t, "busy_spread", spread <= reference + SPREAD_NOISE, rounded(spread), want);
}

static void judge_no_idle(struct trial *t) {
        json_t *busy = json_object_get(t->json, "busy_per_node_mean"), *node;
        double most = 0, least = INFINITY;
        size_t i;

        json_array_foreach (busy, i, node) {
                most = fmax(most, json_number_value(node));
                least = fmin(least, json_number_value(node));
        }
        trial_check(t, "no_node_idle", least >= IDLEST_PART * most, json_incref(busy),
                    "half of the busiest's use of CPUs on each");
}

/* The share in the end of each phase that began after the opt-in and was seen to its end. */
static void phases_figure(struct trial *t) {
        double began = ((double) t->table->go - (double) t->opt_in) / 1e6,
               each = (double) t->table->swap / 1e6;
        json_t *shares = json_array();

        for (double from = began; from + each <= t->line->seconds; from += each)
                if (from >= 0)
                        json_array_append_new(
                                shares,
                                rounded(series_between(t->series, from + each - PHASE_END, from + each)));
        json_object_set_new(t->json, "phase_shares", shares);
}

static void judge_phases(struct trial *t) {
        json_t *shares = json_object_get(t->json, "phase_shares"), *share;
        bool ok = json_array_size(shares) > 0;
        size_t i;

        json_array_foreach (shares, i, share)
                ok = ok && json_is_number(share) && json_number_value(share) >= PHASE_SHARE;
        trial_check(t, "phase_shares", ok, json_incref(shares), ">= 0.90 in the last seconds of each phase");
}

static const struct bounds *bounds_find(const char *scenario) {
        for (size_t i = 0; i < sizeof(table) / sizeof(table[0]); i++)
                if (strcmp(table[i].scenario, scenario) == 0)
                        return &table[i];
        return NULL;
}

static void judge(struct trial *t, const struct bounds *b, double share, double spread) {
        if (b->of_hand > 0)
                json_object_set_new(t->json, "share_hardbind", rounded(share));
        if (b->judged & SETTLED)
                judge_settled(t, b->of_hand * share);
        if (b->judged & AFTER)
                judge_after(t, b->of_hand * share);
        if (b->judged & EVEN)
                judge_even(t);
        if (b->judged & MOVES)
                judge_moves(t);
        if (b->judged & SPREAD)
                judge_spread(t, spread);
        if (b->judged & RISING)
                judge_rising(t);
        if (b->judged & NO_IDLE)
                judge_no_idle(t);
        if (b->judged & PHASES)
                judge_phases(t);
}

int scenario_loaded(struct trial *t) {
        const struct bounds *b = bounds_find(t->line->scenario);
        double share = 0, spread = 0;
        int r = 0;

        if (!b)
                return -ENOENT;
        if (judge_homenode(t)) {
                if (b->of_hand > 0)
                        r = scenario_reference(t, b->load, &share);
                if (r >= 0 && (b->judged & SPREAD))
                        r = scenario_reference_spread(t, b->load, t->line->seconds, &spread);
                if (r >= 0)
                        r = trial_daemon_prepare(t);
                if (r < 0)
                        return r;
        }
        r = trial_load_start(t, b->load, "");
        if (r >= 0)
                r = scenario_measured(t);
        if (r < 0)
                return r;
        trial_figures(t);
        if (t->table->swap > 0)
                phases_figure(t);
        if (judge_homenode(t))
                judge(t, b, share, spread);
        judge_stop(t, false);
        return 0;
}
