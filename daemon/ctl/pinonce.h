/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdio.h>

#include "base/mask.h"
#include "pintarget.h"

/* What `pin` can do where no daemon answers: sets the masks of what runs now, once, and tells the way back.
 */

/* Returns an exit code; what was done, and what is not kept, goes to `f`. */
int hn_pin_once(const struct hn_pin_target *target, const struct hn_mask *nodes, const struct hn_mask *cpus,
                FILE *f);
