/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "base/usec.h"

/* A span of time as people write it, systemd.time(7): numbers with units that add up, "2h", "1h 30min",
 * "1.5d"; a number alone is seconds; "infinity" is HN_USEC_INFINITY. Blanks may stand between all parts.
 * Months are not known, as they have no length.
 *
 * Returns 0; -EINVAL for what is no such text, the empty one included; -ERANGE for more than 64 bits of
 * microseconds. */
int hn_timespan_parse(const char *text, size_t n, hn_usec_t *ret);
