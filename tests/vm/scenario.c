/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "guest.h"
#include "scenario.h"

#include <errno.h>
#include <string.h>

int scenario_reference(const struct trial *t, enum load load, double *ret) {
        static struct {
                bool known;
                double share;
        } kept[LOAD_MAX];
        struct plan_line line = *t->line;
        struct trial hand = { .line = &line, .cpus = t->cpus };
        double sum = 0;
        size_t n = 0;
        json_t *pair;
        int r;

        if (kept[load].known) {
                *ret = kept[load].share;
                return 0;
        }
        line.policy = POLICY_HARDBIND;
        hand.json = json_object();
        hand.series = json_array();
        r = trial_load_start(&hand, load, "");
        hand.opt_in = guest_now();
        if (r >= 0)
                r = trial_measure(&hand, 6, NULL);
        trial_load_stop(&hand);
        json_array_foreach (hand.series, n, pair)
                sum += json_number_value(json_array_get(pair, 1));
        json_decref(hand.json);
        json_decref(hand.series);
        if (r < 0)
                return r;
        if (n == 0)
                return -ENODATA;
        kept[load].known = true;
        kept[load].share = sum / (double) n;
        *ret = kept[load].share;
        return 0;
}

static const struct scenario scenarios[] = {
        { "threads-apart", true, 80, scenario_threads_apart },
        { "demo", true, 90, scenario_demo },
        { "numa02", true, 80, scenario_numa02 },
        { "not-opted-in", false, 12, scenario_not_opted_in },
        { "user-mask", false, 40, scenario_user_mask },
        { "stop", true, 0, scenario_stop },
        { "kill9", true, 0, scenario_kill9 },
        { "reload", true, 0, scenario_reload },
        { "balancing-off", false, 40, scenario_balancing_off },
        { "balancing-off-threads", false, 40, scenario_balancing_off_threads },
        { "one-node", true, 10, scenario_one_node },
        { "bad-config", true, 4, scenario_bad_config },
        { "installed", true, 0, scenario_installed },
};

const struct scenario *scenario_find(const char *name) {
        for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
                if (strcmp(scenarios[i].name, name) == 0)
                        return &scenarios[i];
        return NULL;
}
