/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy/effect.h"

struct hn_effect hn_effect_begin(uint32_t before, hn_usec_t now) {
        return (struct hn_effect){ .verdict = HN_VERDICT_ON_TRIAL, .before = before, .since = now };
}

struct hn_effect hn_effect_look(struct hn_effect e, uint32_t share, hn_usec_t now) {
        if (e.verdict != HN_VERDICT_ON_TRIAL || now < hn_usec_add(e.since, HN_EFFECT_WINDOW))
                return e;
        e.verdict = share > e.before ? HN_VERDICT_HELPED : HN_VERDICT_IN_VAIN;
        e.after = share;
        e.judged = now;
        return e;
}
