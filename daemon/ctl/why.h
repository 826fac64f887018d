/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base/macro.h"

#define HN_WHY_MAX 1024

/* What went wrong, as one sentence for a person: filled in where it is known, printed by the verb. */
struct hn_why {
        char text[HN_WHY_MAX];
};

#define HN_WHY_NULL ((struct hn_why){})

/* Sets the sentence, in which control characters and invalid UTF-8 become \xNN, and returns `r`, so that a
 * failure is one statement. `why` may be NULL. */
int hn_why(struct hn_why *why, int r, const char *fmt, ...) _hn_printf_(3, 4);

/* The same with the words for the negative errno `r` behind it. */
int hn_why_errno(struct hn_why *why, int r, const char *fmt, ...) _hn_printf_(3, 4);
