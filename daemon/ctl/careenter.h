/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "sample/sysroot.h"
#include "why.h"

/* Puts the calling process into the care of rule `name` of the machine's configuration, as above, and makes
 * sure that it is there. What is noteworthy but no error is said on standard error. Returns 0, or -errno with
 * the sentence: also -EHOSTDOWN where there is no systemd to ask. */
int hn_care_enter(const struct hn_sysroot *root, const char *name, bool bound, const char *command,
                  struct hn_why *why);
