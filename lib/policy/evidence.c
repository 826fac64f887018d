/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/macro.h"
#include "policy/evidence.h"
#include "policy/family.h"
#include "policy/faults.h"
#include "policy/model.h"

struct hn_evidence hn_evidence_after_act(uint64_t seq) {
        return (struct hn_evidence){ .under_way = seq != 0, .seq = seq };
}

struct hn_evidence hn_evidence_look(struct hn_evidence e, uint64_t faults, uint64_t seq) {
        uint64_t scans = seq - e.seq;

        if (scans == 0)
                return e;
        if (e.under_way)
                e.past = faults;
        else
                /* A sequence that went back is that of another memory, by exec: nothing is left of the old.
                 */
                e.past = scans < 64 ? e.past >> scans : 0;
        e.under_way = false;
        e.seq = seq;
        return e;
}

bool hn_evidence_holds(struct hn_evidence e, uint64_t faults) {
        return !e.under_way && faults >= e.past && faults - e.past >= e.past / 2;
}

void hn_evidence_choose(const struct hn_snapshot *s, const struct hn_task_sample *t,
                        struct hn_task_state *st) {
        uint64_t priv = 0, shared = 0;

        st->signal = t->signal;
        st->row = t->row;
        if (t->signal != HN_SIGNAL_FAULTS)
                return;
        for (size_t i = 0; i < s->n_nodes; i++) {
                priv += s->priv[t->row * s->n_nodes + i];
                shared += s->shared[t->row * s->n_nodes + i];
        }
        st->evidence = hn_evidence_look(st->evidence, priv + shared, t->scan_seq);
        if (!t->alone || !t->pages_known || t->pages_at <= HN_MAX(st->last_move, st->last_pages) ||
            !hn_mostly_private(priv, shared))
                return;
        if (priv + shared < HN_FAULTS_MIN || !hn_evidence_holds(st->evidence, priv + shared)) {
                st->signal = HN_SIGNAL_RESIDENCY;
                st->row = t->pages_row;
        }
}
