/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "why.h"

/* Asks the service manager on `bus` for a transient scope with process `pid` in it, and waits until it is
 * there, at most `patience` microseconds. `caption` is its description. The scope is forgotten when its last
 * process has ended, however it ended. Returns 0; -EACCES, -EEXIST (a unit of this name), -ETIMEDOUT,
 * -ECANCELED where the manager gave it up, or another -errno with the sentence. */
int hn_scope_unit_start(sd_bus *bus, const char *unit, const char *slice, const char *caption, pid_t pid,
                        uint64_t patience, struct hn_why *why);
