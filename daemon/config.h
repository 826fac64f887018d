/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/macro.h"
#include "base/mask.h"
#include "base/usec.h"
#include "daemon/words.h"
#include "policy/snapshot.h"
#include "sample/modemark.h"
#include "sample/sysroot.h"

/* What a rule may ask of a cgroup, and of a process. */
enum hn_matcher {
        HN_MATCH_CGROUP, /* globs below the cgroup root, no slash at either end */
        HN_MATCH_UNIT,   /* globs on names of units */
        HN_MATCH_COMM,   /* globs on the name of the process */
        HN_MATCH_EXE,    /* globs on the path of its program */
        HN_MATCH_USER,   /* names or numbers of its owner */
        _HN_MATCH_MAX,
};

/* "Cgroup": the key. */
const char *hn_matcher_to_string(enum hn_matcher m);

/* [Rule NAME]: what is opted in, and to what. All it points at is its own. */
struct hn_rule {
        char *name;
        struct hn_words match[_HN_MATCH_MAX]; /* by key: one word of each that is there has to fit */
        uid_t *uids; /* of the words of User=, (uid_t) -1 for nobody; NULL before hn_config_find_users() */
        enum hn_mode mode; /* as written; rules.h caps it by the daemon's */
        bool pages;
        bool within_user_mask;   /* UserMask=within */
        struct hn_mask nodes;    /* node ids; empty = all */
        struct hn_words devices; /* PreferDevice= */
        struct hn_mask prefer;   /* node ids near them; empty before hn_config_find_devices(), or for none */
        char *file;              /* where it first appeared */
        unsigned line;
};

/* homenode.conf(5) as a value. */
struct hn_config {
        enum hn_mode mode; /* [Daemon] Mode=: the ceiling of all rules */
        hn_usec_t interval;
        unsigned cpu_budget_permille; /* of one CPU */
        uint64_t page_rate;           /* bytes a second */
        hn_usec_t page_slice;
        enum hn_mark_trust marks;
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
                .marks = HN_MARKS_LOWER,             \
        })

/* Frees what the config owns and makes it HN_CONFIG_NULL again. */
void hn_config_deinit(struct hn_config *c);

/* Told once per thing that is wrong: what, and what to do. `line` is 0 where the file as a whole is meant;
 * `text` is escaped and has no newline. */
typedef void (*hn_config_warn_fn)(void *userdata, const char *file, unsigned line, const char *text);

/* Limits, so that a file of somebody's mistake (a disk image, a log) costs one warning and not the memory. */
#define HN_CONFIG_FILE_MAX    (1u << 20) /* bytes a file */
#define HN_CONFIG_RULES_MAX   1024u
#define HN_CONFIG_WORDS_MAX   1024u /* a key of a rule */
#define HN_CONFIG_DEVICES_MAX 16u   /* a rule */

/* Feeds one file's text into `c`, line by line: a line that is wrong is warned about and changes nothing.
 * Returns 0 or -ENOMEM; counts warnings up in `*warnings`. */
int hn_config_feed(struct hn_config *c, const char *text, size_t n, const char *file, hn_config_warn_fn warn,
                   void *userdata, size_t *warnings);

/* Warns about rules that ask for nothing, or not for all that was written, and removes them. To be called
 * after the last hn_config_feed(). */
void hn_config_settle(struct hn_config *c, hn_config_warn_fn warn, void *userdata, size_t *warnings);

/* Looks up the users that rules name. One that is not there has a warning, and never fits. Returns 0 or
 * -ENOMEM. */
int hn_config_find_users(struct hn_config *c, hn_config_warn_fn warn, void *userdata, size_t *warnings);

/* Finds the nodes near the devices that rules prefer; devices may come and go, so this may be called again.
 */
void hn_config_find_devices(struct hn_config *c, const struct hn_sysroot *root);

/* Reads homenode/homenode.conf and homenode/homenode.conf.d/ as homenode.conf(5) says, or `only_file` alone
 * if that is not NULL, and looks up users. `root` is put before all paths searched: "" for the machine, a
 * folder in tests.
 *
 * Files that are not there are no error, except `only_file`. Returns 0 with the good rest of whatever had
 * warnings, -ENOMEM, or what opening `only_file` answered. The caller frees `*ret`. */
int hn_config_load(const char *root, const char *only_file, hn_config_warn_fn warn, void *userdata,
                   struct hn_config *ret, size_t *ret_warnings);
