/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "run.h"

/* What the tests here compare, as means over some seeds: work a second, and the part of local accesses. */

#define SEEDS 3u

static inline struct hn_sim_result means(const char *scenario, const char *policy) {
        const struct hn_sim_scenario *s = hn_sim_scenario_find(scenario);
        const struct hn_sim_policy *p = hn_sim_policy_find(policy);
        struct hn_sim_result sum = { .rate = 0 };

        assert_true(s && p);
        for (unsigned seed = 1; seed <= SEEDS; seed++) {
                struct hn_sim_result x;

                assert_int_equal(hn_sim_run(s, p, seed, HN_SIM_SECONDS, &x), 0);
                sum.rate += x.rate / SEEDS;
                sum.local += x.local / SEEDS;
        }
        return sum;
}

static inline double rate(const char *scenario, const char *policy) {
        return means(scenario, policy).rate;
}

static inline double locality(const char *scenario, const char *policy) {
        return means(scenario, policy).local;
}

/* Says what it was, as a bare "not true" helps nobody. */
static inline void expect_between(const char *what, double value, double low, double high) {
        if (!(value >= low && value <= high))
                fail_msg("%s is %.3f, not within %.3f to %.3f", what, value, low, high);
}
