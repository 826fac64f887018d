/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy/evidence.h"

struct hn_evidence hn_evidence_after_act(uint64_t seq) {
        return seq == 0 ? HN_EVIDENCE_NULL : (struct hn_evidence){ .state = HN_EVIDENCE_PAST, .seq = seq };
}

struct hn_evidence hn_evidence_look(struct hn_evidence e, uint64_t faults, uint64_t seq) {
        uint64_t scans = seq - e.seq;

        if (e.state == HN_EVIDENCE_WHOLE || scans == 0)
                return e;
        if (e.state == HN_EVIDENCE_PAST)
                e.past = faults;
        else
                /* A sequence that went back is that of another memory, by exec: nothing is left of the old.
                 */
                e.past = scans < 64 ? e.past >> scans : 0;
        e.state = e.past > 0 ? HN_EVIDENCE_CHANGING : HN_EVIDENCE_WHOLE;
        e.seq = seq;
        return e;
}

bool hn_evidence_holds(struct hn_evidence e, uint64_t faults) {
        return e.state == HN_EVIDENCE_WHOLE ||
               (e.state == HN_EVIDENCE_CHANGING && faults >= e.past && faults - e.past >= e.past / 2);
}
