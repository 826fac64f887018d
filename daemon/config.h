/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/macro.h"
#include "base/mask.h"
#include "base/usec.h"
#include "policy/snapshot.h"

/* [Rule NAME]: which cgroups are opted in, and to what. All it points at is its own. */
struct hn_rule {
        char *name;
        char **cgroups; /* globs below the cgroup root, no slash at either end */
        size_t n_cgroups;
        enum hn_mode mode; /* as written; rules.h caps it by the daemon's */
        bool pages;
        bool within_user_mask; /* UserMask=within */
        struct hn_mask nodes;  /* node ids; empty = all */
        char *file;            /* where it first appeared */
        unsigned line;
        bool cgroup_refused; /* a Cgroup= of it was bad, and has had its warning */
};

/* homenode.conf(5) as a value. */
struct hn_config {
        enum hn_mode mode; /* [Daemon] Mode=: the ceiling of all rules */
        hn_usec_t interval;
        unsigned cpu_budget_permille; /* of one CPU */
        uint64_t page_rate;           /* bytes a second */
        hn_usec_t page_slice;
        size_t n_rules;
        struct hn_rule *rules; /* in order of first appearance: the first that matches counts */
};

/* What an empty file means. */
#define HN_CONFIG_NULL                               \
        ((struct hn_config){                         \
                .mode = HN_MODE_OBSERVE,             \
                .interval = HN_USEC_PER_SEC,         \
                .cpu_budget_permille = 5,            \
                .page_rate = UINT64_C(200) << 20,    \
                .page_slice = 20 * HN_USEC_PER_MSEC, \
        })

/* Frees what the config owns and makes it HN_CONFIG_NULL again. */
void hn_config_deinit(struct hn_config *c);

/* Told once per thing that is wrong: what, and what to do. `line` is 0 where the file as a whole is meant;
 * `text` is escaped and has no newline. */
typedef void (*hn_config_warn_fn)(void *userdata, const char *file, unsigned line, const char *text);

/* Limits, so that a file of somebody's mistake (a disk image, a log) costs one warning and not the memory. */
#define HN_CONFIG_FILE_MAX    (1u << 20) /* bytes a file */
#define HN_CONFIG_RULES_MAX   1024u
#define HN_CONFIG_CGROUPS_MAX 1024u /* patterns a rule */

/* Feeds one file's text into `c`, line by line: a line that is wrong is warned about and changes nothing.
 * Returns 0 or -ENOMEM; counts warnings up in `*warnings`. */
int hn_config_feed(struct hn_config *c, const char *text, size_t n, const char *file, hn_config_warn_fn warn,
                   void *userdata, size_t *warnings);

/* Warns about rules that name no cgroup, and removes them. To be called after the last hn_config_feed(). */
void hn_config_settle(struct hn_config *c, hn_config_warn_fn warn, void *userdata, size_t *warnings);

/* Reads homenode/homenode.conf and homenode/homenode.conf.d/ as homenode.conf(5) says, or `only_file` alone
 * if that is not NULL. `root` is put before all paths searched: "" for the machine, a folder in tests.
 *
 * Files that are not there are no error, except `only_file`. Returns 0 with the good rest of whatever had
 * warnings, -ENOMEM, or what opening `only_file` answered. The caller frees `*ret`. */
int hn_config_load(const char *root, const char *only_file, hn_config_warn_fn warn, void *userdata,
                   struct hn_config *ret, size_t *ret_warnings);
