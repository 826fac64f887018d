/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

#include "daemon/override.h"

struct hn_manager;

/* Whether an override can be, on the machine of this moment: fills in `start_time` where that is 0. Returns 0
 * or what hn_override_add() returns, with the sentence in `buf`. */
int hn_override_check(const struct hn_manager *m, struct hn_override *wish, char *buf, size_t size);
