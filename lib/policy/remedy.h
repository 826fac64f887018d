/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "policy/reason.h"

/* What would change a decision that was made for this reason, as a sentence without its full stop: "a larger
 * part of its memory on one other node, or less on the one it runs on". For `homenode explain`, beside the
 * reason's own sentence. NULL for what is no reason. */
const char *hn_reason_to_remedy(enum hn_reason r);
