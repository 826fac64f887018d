/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stddef.h>

#include "base/macro.h"
#include "policy/remedy.h"

#define MORE_ROOM "cores that become free on the node of its memory"

static const char *const remedies[_HN_REASON_MAX] = {
        [HN_REASON_REMOTE_FAULTS] =
                "memory that it touches on the node it came from, an eighth more than here",
        [HN_REASON_REMOTE_PAGES] = "pages on the node it came from, an eighth more than here",
        [HN_REASON_AT_HOME] = "an eighth more of its faults on another node than on this one",
        [HN_REASON_SHARED_MEMORY] = "a node with room for all who share the memory, if its memory is there",
        [HN_REASON_NEAR_DEVICE] =
                "an eighth more of its memory on another node, or a rule without PreferDevice=",
        [HN_REASON_NODE_FULL] = MORE_ROOM,
        [HN_REASON_MEMORY_OUTGROWN] = "fewer busy threads than the node of its memory has cores",
        [HN_REASON_NODE_OVERLOADED] = "less work on that node than it has cores",
        [HN_REASON_NODE_IDLE] = "work for the node that idles",
        [HN_REASON_NO_GAIN] = "another placement of its memory: what was in vain is not tried again soon",
        [HN_REASON_MEMORY_TO_TASK] = MORE_ROOM,
        [HN_REASON_SETTLED] = "an eighth more of its memory on another node, or more work here than cores",
        [HN_REASON_NO_SIGNAL] =
                "hinting faults (kernel.numa_balancing=1), or pages that may be looked at (CAP_SYS_PTRACE)",
        [HN_REASON_TOO_YOUNG] = "a second of CPU time and two seconds of life",
        [HN_REASON_IDLE] = "a twentieth of a CPU in use",
        [HN_REASON_FORKS] =
                "children that use less than half a CPU, or live long enough to be placed themselves",
        [HN_REASON_COOLDOWN] = "time: it rests after a move, and longer after each return",
        [HN_REASON_PASSING_LOAD] =
                "the end of the other work there, or its memory following it if that stays",
        [HN_REASON_SMALL_GAIN] = "a larger part of its memory on one other node, or less where it runs",
        [HN_REASON_LOAD_IMBALANCE] = "less work on the node of its memory, or somebody to change places with",
        [HN_REASON_NO_ROOM] =
                "cores that become free on an allowed node, or more nodes in its rule or cpuset",
        [HN_REASON_OUTGROWS_NODE] = "kernel.numa_balancing=1, by which its threads can be told apart",
        [HN_REASON_NO_PAYBACK] = "less memory, or more work done on it",
        [HN_REASON_OVERRIDE] = "homenode unpin, or the end of its time",
        [HN_REASON_OVERRIDE_OVER] = "nothing: its mask is its own again",
        [HN_REASON_OBSERVE_ONLY] = "Mode=advise or Mode=manage in its rule",
        [HN_REASON_ONE_NODE] = "more nodes in its rule (Nodes=) or its cpuset",
        [HN_REASON_USER_MASK] =
                "UserMask=within in its rule, or the mask widened again by whoever narrowed it",
        [HN_REASON_CHANGED_BY_OTHER] = "nothing for as long as it runs: its mask is somebody else's now",
        [HN_REASON_NO_ALLOWED_CPU] = "a wider cpuset, mask or Nodes=",
        [HN_REASON_KERNEL_THREAD] = "nothing: kernel threads are never touched",
        [HN_REASON_REALTIME] = "another scheduling policy: chrt(1)",
        [HN_REASON_REFUSED_BY_KERNEL] = "nothing for as long as it runs",
};

const char *hn_reason_to_remedy(enum hn_reason r) {
        return (size_t) r < HN_ELEMENTS(remedies) ? remedies[r] : NULL;
}
