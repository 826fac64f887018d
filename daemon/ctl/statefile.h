/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/usec.h"
#include "sample/sysroot.h"

/* The daemon's RUNDIR/state.json, as a reader: whatever is missing or of another type in it has a default,
 * since it may be of another version. */

/* What can be said of the daemon. */
enum hn_daemon_state {
        HN_DAEMON_RUNNING,
        HN_DAEMON_STALE,   /* its process is there, but it has not said anything for too long */
        HN_DAEMON_STOPPED, /* it left in order: everything is restored */
        HN_DAEMON_DIED,    /* it is gone without having said so */
        HN_DAEMON_NEVER,   /* there is no state */
        _HN_DAEMON_STATE_MAX,
};

const char *hn_daemon_state_to_string(enum hn_daemon_state s); /* "running" */

/* A state is too old after three intervals, and never before this time. */
#define HN_STATE_FRESH_MIN (5 * HN_USEC_PER_SEC)

/* Reads the file. Returns 0, -ENOENT where there is none, -EBADMSG for what is no JSON object, or -errno. The
 * caller decrefs `*ret`. */
int hn_statefile_read(const char *run_dir, json_t **ret);

/* Judges a state (NULL for none) at CLOCK_REALTIME `now`. `alive`: a homenoded has this process id. */
enum hn_daemon_state hn_statefile_judge(const json_t *state, uint64_t now, bool alive);

/* Whether process `pid` is there below `root` and called homenoded: ids are reused. */
bool hn_statefile_is_daemon(const struct hn_sysroot *root, int64_t pid);

/* Members by name. Texts are "" and numbers 0 where there is none. */
const char *hn_state_text(const json_t *object, const char *key);
int64_t hn_state_number(const json_t *object, const char *key);
