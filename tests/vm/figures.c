/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* What a trial comes to: the fields that every scenario writes. */

#include "guest.h"
#include "trial-exact.h"
#include "trial.h"

#include <math.h>

/* Mean of the series from `from` on; the value of the first sample there in `ret_first`; NULL without
 * samples. */
static json_t *series_mean(const json_t *series, double from, json_t **ret_first) {
        double sum = 0, n = 0;
        size_t i;
        json_t *pair;

        *ret_first = json_null();
        json_array_foreach (series, i, pair) {
                double at = json_number_value(json_array_get(pair, 0)),
                       share = json_number_value(json_array_get(pair, 1));

                if (at < from)
                        continue;
                if (n == 0)
                        *ret_first = json_real(share);
                sum += share;
                n++;
        }
        return n > 0 ? json_real(round(sum / n * 1000) / 1000) : json_null();
}

json_t *series_settled(const json_t *series) {
        double settled = -1;
        size_t i;
        json_t *pair;

        json_array_foreach (series, i, pair) {
                double at = json_number_value(json_array_get(pair, 0));

                if (json_number_value(json_array_get(pair, 1)) < HOME_SHARE || at < 0)
                        settled = -1;
                else if (settled < 0)
                        settled = at;
        }
        return settled < 0 ? json_null() : json_real(settled);
}

/* Mean share from the moment on that it settled; JSON's null if it did not. */
static json_t *share_settled(const struct trial *t) {
        json_t *settled = json_object_get(t->json, "settle_s"), *first = NULL, *mean;

        if (!json_is_number(settled))
                return json_null();
        mean = series_mean(t->series, json_number_value(settled), &first);
        json_decref(first);
        return mean;
}

static json_t *nodes_array(const struct trial *t, bool mean) {
        json_t *array = json_array();

        for (unsigned i = 0; i < t->cpus->n_nodes; i++) {
                unsigned node = (unsigned) t->cpus->nodes[i];

                if (!mean)
                        json_array_append_new(array, json_integer(t->last_on_node[node]));
                else if (t->on_node_n > 0)
                        json_array_append_new(array,
                                              json_real(round(t->on_node[node] / t->on_node_n * 100) / 100));
        }
        return array;
}

/* Of all samples since the opt-in: CPUs at work on each node, and how far the busiest is above the idlest. */
static void busy_figures(struct trial *t) {
        json_t *array = json_array();

        for (unsigned i = 0; i < t->cpus->n_nodes && t->busy_n > 0; i++)
                json_array_append_new(array, json_real(round(t->busy[i] / t->busy_n * 100) / 100));
        json_object_set_new(t->json, "busy_per_node_mean", array);
        json_object_set_new(t->json, "busy_spread",
                            t->busy_n > 0 ? json_real(round(t->busy_spread / t->busy_n * 1000) / 1000)
                                          : json_null());
}

static json_t *state_field(json_t *state, const char *key, json_t *otherwise) {
        json_t *value = state ? json_object_get(state, key) : NULL;

        if (!value)
                return otherwise;
        json_decref(otherwise);
        return json_incref(value);
}

void trial_figures(struct trial *t) {
        json_t *first = NULL, *state = t->line->policy == POLICY_HOMENODE ? trial_state() : NULL;

        json_object_set_new(t->json, "series", json_incref(t->series));
        json_object_set_new(t->json, "settle_s", series_settled(t->series));
        json_object_set_new(t->json, "share_settled", share_settled(t));
        json_object_set_new(t->json, "share_after", series_mean(t->series, WINDOW_FROM, &first));
        json_object_set_new(t->json, "share_at_20", first);
        json_object_set_new(t->json, "threads_per_node", nodes_array(t, false));
        json_object_set_new(t->json, "threads_per_node_mean", nodes_array(t, true));
        json_object_set_new(t->json, "moves", state_field(state, "moves", json_integer(0)));
        json_object_set_new(t->json, "pages_moved", state_field(state, "pages_moved", json_integer(0)));
        json_object_set_new(t->json, "signal", state_field(state, "signal", json_string("none")));
        json_object_set_new(
                t->json, "kernel_pages_moved",
                json_integer((json_int_t) (guest_vmstat("numa_pages_migrated") - t->kernel_pages)));
        json_object_set_new(t->json, "work", json_integer((json_int_t) t->sweeps));
        busy_figures(t);
        if (t->table)
                json_object_set_new(t->json, "short_tasks",
                                    json_integer((json_int_t) atomic_load(
                                            &((struct hn_load_table *) (uintptr_t) t->table)->short_tasks)));
        exact_figures(t);
        if (t->line->trace)
                json_object_set_new(t->json, "trace", json_incref(t->trace));
        if (state)
                json_object_set_new(t->json, "state", state);
}
