/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>

#include "base/macro.h"
#include "daemon/advicejson.h"

#define SENTENCES 3
#define SENTENCE  256u

static const char *const sources[_HN_LOAD_SOURCE_MAX] = {
        [HN_LOAD_UNKNOWN] = "unknown",
        [HN_LOAD_MEASURED] = "measured",
        [HN_LOAD_DAEMON] = "daemon",
};

const char *hn_load_source_to_string(enum hn_load_source s) {
        return (size_t) s < HN_ELEMENTS(sources) ? sources[s] : NULL;
}

int hn_advice_print_list(const struct hn_advice_paper *p, char *buf, size_t size) {
        struct hn_mask ids = HN_MASK_NULL;

        for (size_t i = 0; i < p->topology->n_nodes; i++)
                if (hn_mask_has(&p->advice.nodes, (unsigned) i))
                        (void) hn_mask_add(&ids, p->topology->nodes[i].id);
        return hn_mask_print_list(&ids, buf, size) < 0 ? -ENOBUFS : 0;
}

static void print_sentences(const struct hn_advice_paper *p, char text[SENTENCES][SENTENCE]) {
        (void) snprintf(text[0], SENTENCE, "All together: %s.",
                        hn_advise_shortage_to_sentence(p->advice.shortage));
        if (p->source == HN_LOAD_DAEMON)
                (void) snprintf(text[1], SENTENCE, "The load is what homenoded said %.1f s ago.",
                                (double) p->age / (double) HN_USEC_PER_SEC);
        else
                (void) snprintf(text[1], SENTENCE, "%s",
                                p->source == HN_LOAD_MEASURED
                                        ? "The load was measured for 40 ms."
                                        : "The load is not known: nodes count as idle.");
        (void) snprintf(text[2], SENTENCE, "Reservation: %s.", hn_advice_kept_to_sentence(p->kept));
}

char *hn_advice_print_why(const struct hn_advice_paper *p, char *buf, size_t size) {
        char text[SENTENCES][SENTENCE];

        print_sentences(p, text);
        (void) snprintf(buf, size, "%s %s %s", text[0], text[1], text[2]);
        return buf;
}

static json_t *thousandths(uint64_t v) {
        return json_real((double) v / 1000);
}

static json_t *bytes(uint64_t v) {
        return json_integer((json_int_t) HN_MIN(v, (uint64_t) INT64_MAX));
}

static json_t *node_to_json(const struct hn_advice_paper *p, hn_node_index i) {
        const struct hn_advise_node *node = &p->nodes[i];
        const struct hn_advise_view *v = &p->views[i];
        hn_node_index near = p->request->near;
        const struct {
                const char *key;
                json_t *value;
        } members[] = {
                { "node", json_integer(p->topology->nodes[i].id) },
                { "cpus", json_integer((json_int_t) (v->capacity / 1000)) },
                { "used", p->source == HN_LOAD_UNKNOWN ? json_null() : thousandths(v->used) },
                { "promised", thousandths(node->reserved_cpus) },
                { "room", thousandths(v->room_cpus) },
                { "available", bytes(v->available) },
                { "kept", bytes(v->kept) },
                { "memory_promised", bytes(node->reserved_memory) },
                { "memory_room", bytes(v->room_memory) },
                { "distance", near == HN_NODE_NONE
                                      ? json_null()
                                      : json_integer(hn_topology_distance(p->topology, i, near)) },
                { "verdict", json_string(hn_advise_verdict_to_string(v->verdict)) },
                { "why", json_string(hn_advise_verdict_to_sentence(v->verdict)) },
        };
        json_t *o = json_object();
        int r = o ? 0 : -1;

        /* What is not taken over is let go all the same. */
        for (size_t k = 0; k < HN_ELEMENTS(members); k++)
                r |= json_object_set_new(o, members[k].key, members[k].value);
        if (r == 0)
                return o;
        json_decref(o);
        return NULL;
}

json_t *hn_advice_to_json(const struct hn_advice_paper *p) {
        const struct hn_advice_request *rq = p->request;
        const char *shortage = hn_advise_shortage_to_string(p->advice.shortage);
        char list[HN_MASK_LIST_MAX], text[SENTENCES][SENTENCE];
        json_t *o = json_object(), *rows = json_array(), *why = json_array();
        int r = o ? hn_advice_print_list(p, list, sizeof(list)) : -1;

        for (hn_node_index i = 0; i < p->topology->n_nodes; i++)
                r |= json_array_append_new(rows, node_to_json(p, i));
        print_sentences(p, text);
        for (size_t i = 0; i < SENTENCES; i++)
                r |= json_array_append_new(why, json_string(text[i]));
        r |= json_object_set_new(o, "list", r < 0 ? NULL : json_string(list));
        r |= json_object_set_new(o, "cpus", thousandths(rq->wish.cpus));
        r |= json_object_set_new(o, "memory", bytes(rq->wish.memory));
        r |= json_object_set_new(o, "fits", json_boolean(p->advice.shortage == HN_ADVISE_FITS));
        r |= json_object_set_new(o, "short_of", shortage ? json_string(shortage) : json_null());
        r |= json_object_set_new(o, "near",
                                 rq->near == HN_NODE_NONE ? json_null()
                                                          : json_integer(p->topology->nodes[rq->near].id));
        r |= json_object_set_new(o, "load", json_string(hn_load_source_to_string(p->source)));
        r |= json_object_set_new(o, "load_age", json_real((double) p->age / (double) HN_USEC_PER_SEC));
        r |= json_object_set_new(o, "reservation", json_string(hn_advice_kept_to_string(p->kept)));
        r |= json_object_set_new(o, "why", why);
        r |= json_object_set_new(o, "nodes", rows);
        if (r == 0)
                return o;
        json_decref(o);
        return NULL;
}
