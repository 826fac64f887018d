/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "trial.h"

/* The exact side of a trial: what the counter outside of the guest saw of the load's accesses, beside what a
 * sample of its pages says. Nothing of this does anything in a guest without the counter. */

/* Finds the counter; `latency` is "LOCAL,REMOTE" or a matrix, row by row, in ns. */
int exact_open(const char *latency, const struct hn_load_cpus *cpus);

/* The load runs from here on, until the end of it. At first use it also measures how much the counting slows
 * the load: seconds of it without and with, in turn. */
int exact_begin(struct trial *t);
void exact_end(struct trial *t);

/* Takes what was counted since the last sample, for the time `at` after the opt-in. */
int exact_sample(struct trial *t, double at);

/* exact_local_share, exact_series and so on; null without the counter. */
void exact_figures(struct trial *t);
