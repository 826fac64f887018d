/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

/* Why homenode acts, waits or leaves alone. One table feeds journal, state file, command line and manual, so
 * that all of them say the same words. */
enum hn_reason {
        /* reasons to act */
        HN_REASON_REMOTE_FAULTS,
        HN_REASON_REMOTE_PAGES,
        HN_REASON_AT_HOME,
        HN_REASON_SHARED_MEMORY,
        HN_REASON_NEAR_DEVICE,
        HN_REASON_NODE_FULL,
        HN_REASON_MEMORY_OUTGROWN,
        HN_REASON_NODE_OVERLOADED,
        HN_REASON_NODE_IDLE,
        HN_REASON_NO_GAIN,
        HN_REASON_MEMORY_TO_TASK,
        HN_REASON_OVERRIDE,
        HN_REASON_OVERRIDE_OVER,

        /* reasons to wait */
        HN_REASON_SETTLED,
        HN_REASON_NO_SIGNAL,
        HN_REASON_TOO_YOUNG,
        HN_REASON_IDLE,
        HN_REASON_FORKS,
        HN_REASON_COOLDOWN,
        HN_REASON_PASSING_LOAD,
        HN_REASON_SMALL_GAIN,
        HN_REASON_LOAD_IMBALANCE,
        HN_REASON_NO_ROOM,
        HN_REASON_OUTGROWS_NODE,
        HN_REASON_NO_PAYBACK,

        /* reasons to leave alone */
        HN_REASON_OBSERVE_ONLY,
        HN_REASON_ONE_NODE,
        HN_REASON_USER_MASK,
        HN_REASON_CHANGED_BY_OTHER,
        HN_REASON_NO_ALLOWED_CPU,
        HN_REASON_KERNEL_THREAD,
        HN_REASON_REALTIME,
        HN_REASON_REFUSED_BY_KERNEL,

        _HN_REASON_MAX,
        _HN_REASON_INVALID = -22,
};

/* "remote-faults": for fields, JSON and filters. */
const char *hn_reason_to_string(enum hn_reason r);
enum hn_reason hn_reason_from_string(const char *s);

/* "most of its faults are on another node": the part of a sentence that stands after a colon. */
const char *hn_reason_to_sentence(enum hn_reason r);

/* Whether a human should hear of it as a refusal (a gate said no), not as the quiet normal course. */
bool hn_reason_is_refusal(enum hn_reason r);
