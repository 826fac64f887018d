/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "rows.h"

/* One of the two programs. */
struct side {
        const char *name;
        const char *words[2]; /* what stands before the arguments: "numactl", or "homenode" and "run" */
};

#define INVOCATIONS_MAX 8

/* What came of it: exit codes one after the other, standard output and the state left behind, in lines whose
 * blanks are made alike. */
struct outcome {
        bool started;              /* false: this machine cannot give it the affinity that the row asks for */
        bool good;                 /* all invocations ended with 0 */
        int code[INVOCATIONS_MAX]; /* exit status of each, 128 + signal */
        unsigned n_codes;
        char text[16384];
        char errors[4096]; /* standard error, for people */
};

/* Runs a row; `self` is the path of this program, whose --probe is the command. `folder` exists and is on
 * tmpfs; all that is in it is removed afterwards. Returns 0 or -errno. */
int invoke(const struct side *side, const struct row *row, const char *self, const char *folder,
           struct outcome *ret);
