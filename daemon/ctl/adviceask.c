/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "adviceask.h"
#include "base/macro.h"
#include "base/mask.h"
#include "busclient.h"
#include "sample/clock.h"

bool hn_advice_may_ask(const char *run_dir) {
        char path[4096];
        int n = snprintf(path, sizeof(path), "%s/state.json", run_dir);

        return n > 0 && (size_t) n < sizeof(path) && access(path, R_OK) == 0;
}

/* As much of it as is read later has to be there, whoever answered. */
static int parse(const char *nodes, const char *text, json_t **ret) {
        json_t *o = json_loads(text, JSON_REJECT_DUPLICATES, NULL);
        const char *list = json_string_value(json_object_get(o, "list"));
        struct hn_mask ids;

        if (list && strcmp(list, nodes) == 0 && hn_mask_parse_list(list, strlen(list), &ids) == 0 &&
            json_is_boolean(json_object_get(o, "fits")) && json_is_array(json_object_get(o, "nodes")) &&
            json_is_array(json_object_get(o, "why"))) {
                *ret = o;
                return 0;
        }
        json_decref(o);
        return -EBADMSG;
}

static int call(sd_bus *bus, hn_usec_t end, const struct hn_advice_wishes *w, json_t **ret) {
        uint64_t mib = (w->wish.memory >> 20) + ((w->wish.memory & ((1u << 20) - 1)) != 0);
        hn_usec_t left = hn_usec_sub(end, hn_clock(CLOCK_MONOTONIC));
        _hn_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        const char *nodes, *text;
        int r;

        if (left == 0) /* which would be the bus's own, longer one */
                return -ETIMEDOUT;
        r = hn_busclient_call(bus, left, NULL, &reply, "Advise", "uta{sv}", (uint32_t) (w->wish.cpus / 1000),
                              mib, 5, "nodes", "s", w->nodes ? w->nodes : "", "near", "s",
                              w->near ? w->near : "", "reserve", "b", (int) w->reserve, "json", "b", 1,
                              "thousandths", "u", (uint32_t) (w->wish.cpus % 1000));
        if (r >= 0)
                r = sd_bus_message_read(reply, "ss", &nodes, &text);
        return r < 0 ? r : parse(nodes, text, ret);
}

int hn_advice_ask(const char *address, const struct hn_advice_wishes *w, json_t **ret) {
        hn_usec_t end = hn_usec_add(hn_clock(CLOCK_MONOTONIC), HN_ADVICE_PATIENCE);
        _hn_cleanup_(sd_bus_close_unrefp) sd_bus *bus = NULL;
        int r;

        /* An empty one would be taken for none; paths are our own to look at. */
        if ((w->nodes && !w->nodes[0]) || (w->near && (!w->near[0] || w->near[0] == '/')))
                return -EOPNOTSUPP;
        r = hn_busclient_open_within(address, HN_ADVICE_PATIENCE, &bus);
        return r < 0 ? r : call(bus, end, w, ret);
}
