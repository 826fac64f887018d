/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "trial-exact.h"

#include "exact/counts.h"
#include "guest.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* The serial port that the counter answers at. */
#define PORT "/dev/ttyS2"

/* Each of the two kinds of seconds that are compared for the slow-down. */
#define SLOWDOWN_ROUNDS 3U
#define SECOND          1000000ULL

static double latency_ns[COUNTS_NODES][COUNTS_NODES];
static double slowdown = NAN; /* work without counting over work with it */

/* Of the trial that runs. */
static struct counts after, window;
static json_t *series;

static int latency_parse(const char *text, unsigned n_nodes) {
        double values[COUNTS_NODES * COUNTS_NODES];
        unsigned n = 0;
        char *end = NULL;

        for (const char *p = text; n < COUNTS_NODES * COUNTS_NODES; p = end + 1) {
                values[n] = strtod(p, &end);
                if (end == p || values[n++] <= 0)
                        return -EINVAL;
                if (*end != ',')
                        break;
        }
        if (n != 2 && n != n_nodes * n_nodes)
                return -EINVAL;
        for (unsigned i = 0; i < n_nodes; i++)
                for (unsigned k = 0; k < n_nodes; k++)
                        latency_ns[i][k] = n == 2 ? values[i != k] : values[i * n_nodes + k];
        return 0;
}

int exact_open(const char *latency, const struct hn_load_cpus *cpus) {
        int r = latency_parse(latency, cpus->n_nodes);

        return r < 0 ? r : counts_open(PORT, cpus);
}

/* Sweeps of all threads in one second. */
static int work_measure(const struct trial *t, double *ret) {
        struct hn_load_sample sample;
        uint64_t from, sweeps;
        int r;

        r = hn_load_sample(t->table, t->cpus, 0, &sample);
        if (r < 0)
                return r;
        from = guest_now();
        sweeps = sample.sweeps;
        guest_sleep_until(from + SECOND);
        r = hn_load_sample(t->table, t->cpus, 0, &sample);
        if (r < 0)
                return r;
        *ret = (double) (sample.sweeps - sweeps) * 1e6 / (double) (guest_now() - from);
        return 0;
}

static int slowdown_measure(const struct trial *t) {
        double work[2] = { 0, 0 };

        for (unsigned i = 0; i < 2 * SLOWDOWN_ROUNDS; i++) {
                double more = 0;
                int r;

                counts_switch(i % 2 == 1);
                r = work_measure(t, &more);
                if (r < 0)
                        return r;
                work[i % 2] += more;
        }
        slowdown = work[1] > 0 ? work[0] / work[1] : NAN;
        return 0;
}

int exact_begin(struct trial *t) {
        int r;

        if (!counts_are_open())
                return 0;
        if (isnan(slowdown)) {
                r = slowdown_measure(t);
                if (r < 0)
                        return r;
        }
        after = window = (struct counts){ 0 };
        series = json_array();
        counts_switch(true);
        return counts_look(NULL);
}

void exact_end(struct trial *t) {
        (void) t;
        if (!counts_are_open())
                return;
        counts_switch(false);
        json_decref(series);
        series = NULL;
}

int exact_sample(struct trial *t, double at) {
        struct counts counts;
        double share;
        int r;

        (void) t;
        if (!series)
                return 0;
        r = counts_look(&counts);
        if (r < 0)
                return r;
        share = counts_local_share(&counts);
        if (isnan(share))
                return 0;
        json_array_append_new(series, json_pack("[f, f]", at, round(share * 10000) / 10000));
        if (at >= 0)
                counts_add(&after, &counts);
        if (at >= WINDOW_FROM)
                counts_add(&window, &counts);
        return 0;
}

static json_t *real_or_null(double value, double digits) {
        return isnan(value) ? json_null() : json_real(round(value * digits) / digits);
}

/* Seconds that all these accesses would take, one after the other, at the latencies of the model. */
static double modelled(const struct counts *counts) {
        double ns = 0;

        for (unsigned i = 0; i < COUNTS_NODES; i++)
                for (unsigned k = 0; k < COUNTS_NODES; k++)
                        ns += (double) counts->on[i][k] * latency_ns[i][k];
        return ns / 1e9;
}

static json_t *nodes_matrix(const struct counts *counts, unsigned n_nodes) {
        json_t *rows = json_array();

        for (unsigned i = 0; i < n_nodes; i++) {
                json_t *row = json_array();

                for (unsigned k = 0; k < n_nodes; k++)
                        json_array_append_new(row, json_integer((json_int_t) counts->on[i][k]));
                json_array_append_new(rows, row);
        }
        return rows;
}

static json_t *buffer_shares(const struct counts *counts, unsigned n) {
        json_t *shares = json_array();

        for (unsigned i = 0; i < n; i++)
                json_array_append_new(
                        shares,
                        real_or_null(counts->all[i] > 0 ? (double) counts->local[i] / (double) counts->all[i]
                                                        : NAN,
                                     1e4));
        return shares;
}

void exact_figures(struct trial *t) {
        double n = (double) (after.loads + after.stores);

        if (!series) {
                json_object_set_new(t->json, "exact_local_share", json_null());
                return;
        }
        json_object_set_new(t->json, "exact_local_share", real_or_null(counts_local_share(&window), 1e4));
        json_object_set_new(t->json, "exact_series", json_incref(series));
        json_object_set_new(t->json, "exact_settle_s", series_settled(series));
        json_object_set_new(t->json, "exact_accesses",
                            json_integer((json_int_t) (after.loads + after.stores)));
        json_object_set_new(t->json, "exact_modelled_time", real_or_null(modelled(&after), 1e3));
        json_object_set_new(t->json, "exact_ns_per_access",
                            real_or_null(n > 0 ? modelled(&after) * 1e9 / n : NAN, 1e2));
        json_object_set_new(t->json, "exact_nodes", nodes_matrix(&window, t->cpus->n_nodes));
        json_object_set_new(t->json, "exact_buffers", buffer_shares(&window, t->table->n_threads));
        json_object_set_new(t->json, "exact_slowdown", real_or_null(slowdown, 1e2));
}
