/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/macro.h"
#include "daemon/wording.h"
#include "policy/reason.h"

struct text {
        char *buf;
        size_t size, n;
};

static void put(struct text *t, const char *fmt, ...) _hn_printf_(2, 3);

static void put(struct text *t, const char *fmt, ...) {
        va_list ap;
        int n;

        va_start(ap, fmt);
        n = vsnprintf(t->buf + t->n, t->size - t->n, fmt, ap);
        va_end(ap);
        if (n > 0)
                t->n = HN_MIN(t->n + (size_t) n, t->size - 1);
}

static void put_node(struct text *t, const struct hn_topology *topo, hn_node_index node) {
        if (node < topo->n_nodes)
                put(t, "node %u", topo->nodes[node].id);
        else
                put(t, "an unknown node");
}

/* "... by hand (override 17, nodes 0-1)" */
static void put_hand(struct text *t, const struct hn_hand *hand) {
        static char list[HN_MASK_LIST_MAX];

        if (hn_mask_print_list(&hand->nodes, list, sizeof(list)) < 0)
                return;
        put(t, " (override %" PRIu64 ", nodes %s)", hand->id, list);
}

static void put_act(struct text *t, const struct hn_decision *d, const struct hn_topology *topo, bool dry) {
        switch (d->act) {
        case HN_ACT_PIN:
                if (d->from == d->to)
                        put(t, "%s on ", dry ? "would be held" : "held");
                else {
                        put(t, "%s from ", dry ? "would go" : "moved");
                        put_node(t, topo, d->from);
                        put(t, " to ");
                }
                put_node(t, topo, d->to);
                break;
        case HN_ACT_RELEASE:
                put(t, "%s from ", dry ? "would be let go" : "let go");
                put_node(t, topo, d->from);
                break;
        case HN_ACT_PAGES:
                put(t, "pages %s to ", dry ? "would be moved" : "are moved");
                put_node(t, topo, d->to);
                break;
        case HN_ACT_ADOPT:
                put(t, "born with our mask of ");
                put_node(t, topo, d->from);
                return;
        case HN_ACT_FORGET: put(t, "no longer has our mask"); break;
        case HN_ACT_NONE:
                put(t, "left on ");
                put_node(t, topo, d->from);
                break;
        case _HN_ACT_MAX: break;
        }
        put(t, ": %s", hn_reason_to_sentence(d->reason));
}

static void put_share(struct text *t, const struct hn_decision *d, const struct hn_topology *topo,
                      hn_node_index node, uint32_t permille) {
        if (d->signal == HN_SIGNAL_NONE || node >= topo->n_nodes)
                return;
        put(t, "; %u %% of its %s on ", (permille + 5) / 10,
            d->signal == HN_SIGNAL_FAULTS ? "faults are" : "process's pages are");
        put_node(t, topo, node);
}

/* Thousandths as "1.8". */
static void put_cores(struct text *t, uint32_t thousandths) {
        put(t, "%u.%u", (thousandths + 50) / 1000, (thousandths + 50) % 1000 / 100);
}

size_t hn_wording_decision(const struct hn_decision *d, const struct hn_topology *topo, bool dry, char *buf,
                           size_t size) {
        struct text t = { .buf = buf, .size = size };

        if (size == 0)
                return 0;
        buf[0] = '\0';
        put_act(&t, d, topo, dry);
        if (d->hand)
                put_hand(&t, d->hand);
        put_share(&t, d, topo, d->from, d->share_from);
        if (d->to != d->from)
                put_share(&t, d, topo, d->to, d->share_to);
        if (d->reason == HN_REASON_NO_GAIN)
                put(&t, "; it had %u %% beside it before", (d->share_before + 5) / 10);
        if (d->demand > 0) {
                put(&t, "; it uses ");
                put_cores(&t, d->demand);
                put(&t, " of a core");
        }
        if (d->act == HN_ACT_PIN && !d->by_hand && d->to < topo->n_nodes) {
                put(&t, ", ");
                put_node(&t, topo, d->to);
                put(&t, " has given away ");
                put_cores(&t, d->used);
                put(&t, " of ");
                put_cores(&t, d->capacity);
        }
        return t.n;
}
