/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "trial.h"

/* A homenoded with sanitizers: their settings, and what they found. */

/* Settings for its unit, as a drop-in. */
int sanitizer_set_up(void);

/* Checks that there is no report in the journal, of the daemon or of its --restore, and that the daemon,
 * which has been stopped, left with 0. Leaks are looked for at its exit. */
void sanitizer_check(struct trial *t, const json_t *journal);

/* Starts and stops the installed service once more, with something in it that leaks: the leak has to be seen,
 * through the sandbox and with the capabilities that the daemon has. `payload` has hn-leak.so in bin. */
void sanitizer_check_leaks_seen(struct trial *t, const char *payload);
