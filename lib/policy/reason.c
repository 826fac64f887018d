/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "base/macro.h"
#include "policy/reason.h"

struct meaning {
        const char *name, *sentence;
        bool refusal;
};

static const struct meaning reasons[_HN_REASON_MAX] = {
        [HN_REASON_REMOTE_FAULTS] = { "remote-faults", "most of its faults are on another node", false },
        [HN_REASON_REMOTE_PAGES] = { "remote-pages", "most of its pages are on another node", false },
        [HN_REASON_AT_HOME] = { "at-home", "it runs beside its memory and is held there", false },
        [HN_REASON_SHARED_MEMORY] = { "shared-memory",
                                      "it shares its memory, so it is held where there is room for all "
                                      "who share it",
                                      false },
        [HN_REASON_NEAR_DEVICE] = { "near-device",
                                    "its rule prefers the node of a device, and its memory speaks no more for "
                                    "another one",
                                    false },
        [HN_REASON_NODE_FULL] = { "node-full",
                                  "the node of its memory has no core left, so it is held where there is one "
                                  "and its memory follows",
                                  false },
        [HN_REASON_MEMORY_OUTGROWN] = { "memory-outgrown",
                                        "its process wants more cores than there are beside its memory, so it is "
                                        "held where it runs and its memory follows",
                                        false },
        [HN_REASON_NODE_OVERLOADED] = { "node-overloaded",
                                        "the node we held it on has more work than cores, so it is let go",
                                        false },
        [HN_REASON_NODE_IDLE] = { "node-idle",
                                  "tasks wait on the node we held it on while another node idles, so it is let "
                                  "go",
                                  false },
        [HN_REASON_NO_GAIN] = { "no-gain", "the move brought it no nearer to its memory, so it is undone",
                                false },
        [HN_REASON_MEMORY_TO_TASK] = { "memory-to-task",
                                       "it cannot go to its memory, so its pages are moved to it", false },
        [HN_REASON_OVERRIDE] = { "override", "it was put there by hand", false },
        [HN_REASON_OVERRIDE_OVER] = { "override-over",
                                      "the override by hand is over for it, so it has its old mask back",
                                      false },

        [HN_REASON_SETTLED] = { "settled", "it is where it was placed", false },
        [HN_REASON_NO_SIGNAL] = { "no-signal", "nothing is known yet about where its memory is", false },
        [HN_REASON_TOO_YOUNG] = { "too-young",
                                  "it has used less than a second of CPU time, or lived less than two",
                                  false },
        [HN_REASON_IDLE] = { "idle", "it uses too little CPU to gain from a move", false },
        [HN_REASON_FORKS] = { "forks",
                              "its short-lived children do much work and would all be born on its node",
                              false },
        [HN_REASON_COOLDOWN] = { "cooldown", "it was moved a short while ago", false },
        [HN_REASON_PASSING_LOAD] = { "passing-load",
                                     "the node of its memory is busy with other work, which may pass",
                                     false },
        [HN_REASON_SMALL_GAIN] = { "small-gain", "the gain would be too small", true },
        [HN_REASON_LOAD_IMBALANCE] = { "load-imbalance",
                                       "going to its memory would leave the nodes less balanced", true },
        [HN_REASON_NO_ROOM] = { "no-room", "no allowed node has a core left for it", true },
        [HN_REASON_OUTGROWS_NODE] = { "outgrows-node",
                                      "its process needs more cores than any node has, and its threads cannot be "
                                      "told apart",
                                      true },
        [HN_REASON_NO_PAYBACK] = { "no-payback",
                                   "its memory is so large for the work it does that bringing it would not pay",
                                   true },

        [HN_REASON_OBSERVE_ONLY] = { "observe-only", "the rule of its cgroup says observe", false },
        [HN_REASON_ONE_NODE] = { "one-node", "only one node is open to it", false },
        [HN_REASON_USER_MASK] = { "user-mask", "somebody else narrowed its affinity mask", true },
        [HN_REASON_CHANGED_BY_OTHER] = { "changed-by-other",
                                         "somebody changed its affinity mask after we had set it", true },
        [HN_REASON_NO_ALLOWED_CPU] = { "no-allowed-cpu",
                                       "no node has a CPU that its cpuset, its rule and its mask all allow",
                                       true },
        [HN_REASON_KERNEL_THREAD] = { "kernel-thread", "it belongs to the kernel", true },
        [HN_REASON_REALTIME] = { "realtime", "it is scheduled by a real-time or deadline policy", true },
        [HN_REASON_REFUSED_BY_KERNEL] = { "refused-by-kernel", "the kernel refused the mask", true },
};

/* NULL for what is no reason. */
static const struct meaning *meaning_of(enum hn_reason r) {
        return r >= 0 && r < _HN_REASON_MAX ? &reasons[r] : NULL;
}

const char *hn_reason_to_string(enum hn_reason r) {
        const struct meaning *m = meaning_of(r);

        return m ? m->name : NULL;
}

const char *hn_reason_to_sentence(enum hn_reason r) {
        const struct meaning *m = meaning_of(r);

        return m ? m->sentence : NULL;
}

bool hn_reason_is_refusal(enum hn_reason r) {
        const struct meaning *m = meaning_of(r);

        return m && m->refusal;
}

enum hn_reason hn_reason_from_string(const char *s) {
        for (size_t i = 0; i < HN_ELEMENTS(reasons); i++)
                if (strcmp(s, reasons[i].name) == 0)
                        return (enum hn_reason) i;
        return _HN_REASON_INVALID;
}
