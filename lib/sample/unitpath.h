/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>

/* Which units of systemd a cgroup belongs to: its slices, and the first service, scope or the like below
 * them. Names further down are chosen by that unit itself, and may say anything: they do not count, and so
 * neither do the units of a user's own manager.
 *
 *      /system.slice/system-db.slice/db@1.service/x.service    system.slice, system-db.slice, db@1.service */

/* Takes the next unit off `*path`, its name as systemd writes it (without the "_" that keeps names of cgroups
 * apart from files of the kernel). Returns false at the end. */
bool hn_unitpath_next(const char **path, const char **ret, size_t *ret_length);

/* Whether one of the units of `path` is what `pattern` (as in cgroupglob.h, one component) asks for. */
bool hn_unitpath_match(const char *path, const char *pattern);

/* Whether a unit that has a cgroup may be called so: "a.service", with a glob in it perhaps, or at its end.
 */
bool hn_unitpath_is_pattern(const char *pattern, size_t n);
