/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "act/appendfile.h"
#include "act/record.h"
#include "daemon/overridelist.h"

/* RUNDIR/overrides: a line for each override as it is added and as it ends (overridelist.h), written anew
 * without what is past now and then. */
#define HN_OVERRIDE_STORE_NAME "overrides"

struct hn_override_store {
        struct hn_appendfile file;
        char boot_id[HN_BOOT_ID_MAX];
        size_t n_lines;
};

#define HN_OVERRIDE_STORE_NULL ((struct hn_override_store){ .file = HN_APPENDFILE_NULL })

/* Takes `file` over and reads it. What is damaged is counted and left out. Returns 0, -EFBIG for a file that
 * no daemon has written, or -errno. */
int hn_override_store_init(struct hn_override_store *s, struct hn_appendfile *file, const char *boot_id,
                           struct hn_override_list *list, size_t *ret_damaged);
void hn_override_store_deinit(struct hn_override_store *s);

/* One was added, or is over. Return 0 or -errno, and then the file says what it said before. */
int hn_override_store_add(struct hn_override_store *s, const struct hn_override_entry *e);
int hn_override_store_over(struct hn_override_store *s, const struct hn_override_list *list, uint64_t id);
