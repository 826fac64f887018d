/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "guest.h"
#include "scenario.h"

#include <errno.h>
#include <string.h>

/* What a load comes to by another policy, and what is kept of it for the boot. */
static struct reference {
        bool known[POLICY_MAX];
        double share, spread;
} kept[LOAD_MAX];

static int reference_take(const struct trial *t, enum load load, enum policy policy, unsigned before,
                          unsigned seconds) {
        struct plan_line line = *t->line;
        struct trial other = { .line = &line, .cpus = t->cpus };
        struct reference *ref = &kept[load];
        double sum = 0;
        size_t n = 0;
        json_t *pair;
        int r;

        if (ref->known[policy])
                return 0;
        line.policy = policy;
        other.json = json_object();
        other.series = json_array();
        r = trial_load_start(&other, load, "");
        other.opt_in = guest_now() + before * 1000000ULL;
        if (r >= 0)
                r = trial_measure(&other, seconds, NULL);
        trial_load_stop(&other);
        json_array_foreach (other.series, n, pair)
                sum += json_number_value(json_array_get(pair, 1));
        json_decref(other.json);
        json_decref(other.series);
        if (r < 0)
                return r;
        if (n == 0 || other.busy_n == 0)
                return -ENODATA;
        ref->known[policy] = true;
        if (policy == POLICY_HARDBIND)
                ref->share = sum / (double) n;
        else
                ref->spread = other.busy_spread / other.busy_n;
        return 0;
}

int scenario_reference(const struct trial *t, enum load load, double *ret) {
        int r = reference_take(t, load, POLICY_HARDBIND, 0, 6);

        *ret = kept[load].share;
        return r;
}

int scenario_reference_spread(const struct trial *t, enum load load, unsigned seconds, double *ret) {
        int r = reference_take(t, load, POLICY_NONE, t->line->before, seconds);

        *ret = kept[load].spread;
        return r;
}

static const struct scenario scenarios[] = {
        { "threads-apart", true, 80, scenario_threads_apart },
        { "demo", true, 90, scenario_demo },
        { "numa02", true, 80, scenario_numa02 },
        { "numa01", true, 50, scenario_loaded },
        { "numa01-private", true, 50, scenario_loaded },
        { "numa03", true, 50, scenario_loaded },
        { "numa04", true, 50, scenario_loaded },
        { "numa05", true, 50, scenario_loaded },
        { "schedbench-4", true, 50, scenario_loaded },
        { "schedbench-8", true, 50, scenario_loaded },
        { "schedbench-16", true, 60, scenario_loaded },
        { "stacked", true, 50, scenario_loaded },
        { "ramp", true, 45, scenario_loaded },
        { "half-idle", true, 40, scenario_loaded },
        { "forks", true, 40, scenario_loaded },
        { "phase", true, 62, scenario_loaded },
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
        { "override", true, 0, scenario_override },
        { "bus", false, 0, scenario_bus },
        { "advise", true, 10, scenario_advise },
        { "numactl-side-by-side", false, 0, scenario_numactl_side_by_side },
};

const struct scenario *scenario_find(const char *name) {
        for (size_t i = 0; i < sizeof(scenarios) / sizeof(scenarios[0]); i++)
                if (strcmp(scenarios[i].name, name) == 0)
                        return &scenarios[i];
        return NULL;
}
