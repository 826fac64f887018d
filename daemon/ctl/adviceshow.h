/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>
#include <stdbool.h>

/* An advice as advicejson.h has it, on standard output: the list alone, with a table and what it goes by, or
 * as JSON. Says on standard error where it does not fit. Returns the exit code: EX_OK, EX_UNAVAILABLE for
 * what does not fit. */
int hn_advice_show(const json_t *advice, bool explain, bool json);
