/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "invoke.h"
#include "machine.h"

/* Whether a row is for this machine. */
bool judge_runs(const struct machine *m, const struct row *row);

/* Whether a row says more on this machine than on one of one node. */
bool judge_tells(const struct machine *m, const struct row *row);

/* NULL if what came of a row is what had to come of it, else what is wrong. */
const char *judge(const struct machine *m, const struct row *row, const struct outcome *numactl,
                  const struct outcome *ours);

/* NULL if the tables make sense: each difference has two outcomes and a reason, and rows that are not for all
 * machines leave none without one of their arguments. Else the arguments of a row that does not. */
const char *judge_tables(void);
