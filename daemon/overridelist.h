/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/usec.h"
#include "daemon/override.h"
#include "sample/kin.h"

/* The table of overrides, and its form as text: a JSON object a line. */

struct hn_override_entry {
        struct hn_override o; /* owns its strings */
        hn_usec_t born;       /* CLOCK_BOOTTIME: with what start times are compared */
        struct hn_kin kin;    /* the processes it covers; of a thread, those that it forked */
};

struct hn_override_list {
        struct hn_override_entry *entries; /* ascending id */
        size_t n, allocated;
        uint64_t next_id;
};

#define HN_OVERRIDE_LIST_NULL ((struct hn_override_list){ .next_id = 1 })

void hn_override_list_deinit(struct hn_override_list *l);

/* Copies `o`, whose id decides about its place; one that has this id is replaced. Returns 0, -ENOMEM, or
 * -ENOSPC for more than HN_OVERRIDES_MAX. */
int hn_override_list_put(struct hn_override_list *l, const struct hn_override *o, hn_usec_t born);
void hn_override_list_drop(struct hn_override_list *l, size_t i);

/* The index of an id, SIZE_MAX for none. */
size_t hn_override_list_find(const struct hn_override_list *l, uint64_t id);

/* Whether a path is one of a cgroup: no empty component, none that is "." or "..", no slash at either end, at
 * most PATH_MAX. */
bool hn_override_is_path(const char *path);

/* The members as state.json has them too. NULL without memory, or where a string is no UTF-8. */
json_t *hn_override_to_json(const struct hn_override *o);

/* A line (without its newline) that adds, removes, or only says which id is the next, of this boot. The
 * caller frees
 * `*ret`. Returns 0 or -ENOMEM. */
int hn_override_line(const struct hn_override_entry *e, const char *boot_id, char **ret);
int hn_override_line_over(uint64_t id, const char *boot_id, char **ret);
int hn_override_line_next(uint64_t next_id, const char *boot_id, char **ret);

/* Takes over what the lines say. Those that make no sense are counted and left out, those of another boot are
 * void. Returns 0 or -ENOMEM. */
int hn_override_list_replay(struct hn_override_list *l, const char *text, size_t n, const char *boot_id,
                            size_t *ret_damaged, size_t *ret_past);
