/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* What stands in the place of the cgroup in records of masks that were set for an override: "override:17". It
 * is no path, so that who inherited such a mask is told by kinship alone: others of the same cgroup have
 * nothing to do with it. */
#define HN_TAG_MAX 32

void hn_tag_print(uint64_t id, char buf[static HN_TAG_MAX]);

/* Whether `cgroup`, as recorded, is such a tag, and of which override. `ret_id` may be NULL. */
bool hn_tag_parse(const char *cgroup, uint64_t *ret_id);
