/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/macro.h"
#include "daemon/advisor.h"
#include "daemon/bus-advise.h"
#include "daemon/bus.h"
#include "daemon/manager.h"
#include "sample/devnode.h"

#define DEVICE_MAX 256u
#define KEY_MAX    64u
#define WHY_MAX    1024u

/* What the options say; texts are the message's. */
struct options {
        const char *nodes, *near; /* NULL or empty: not given */
        int reserve, json;
        uint32_t thousandths;
};

static int bad_nodes(sd_bus_error *e) {
        return sd_bus_error_set(e, SD_BUS_ERROR_INVALID_ARGS,
                                "Option nodes is no list of nodes: write one such as 0 or 0-3,8");
}

/* One entry of the options, the value included. */
static int read_option(sd_bus_message *call, struct options *o, sd_bus_error *e) {
        const struct {
                const char *key;
                char type;
                void *value;
        } known[] = {
                { "nodes", 's', &o->nodes },
                { "near", 's', &o->near },
                { "reserve", 'b', &o->reserve },
                { "json", 'b', &o->json },
                { "thousandths", 'u', &o->thousandths },
        };
        char text[HN_ESCAPE_SIZE(KEY_MAX)], type, signature[2] = "";
        const char *key, *contents;
        int r;

        r = sd_bus_message_read_basic(call, 's', &key);
        if (r < 0)
                return r;
        (void) hn_escape_text(key, strnlen(key, KEY_MAX), text, sizeof(text));
        for (size_t i = 0; i < HN_ELEMENTS(known); i++) {
                if (strcmp(key, known[i].key) != 0)
                        continue;
                r = sd_bus_message_peek_type(call, &type, &contents);
                if (r < 0)
                        return r;
                signature[0] = known[i].type;
                if (strcmp(contents, signature) != 0)
                        return sd_bus_error_setf(e, SD_BUS_ERROR_INVALID_ARGS,
                                                 "Option %s is of another type: give it as \"%c\"", text,
                                                 known[i].type);
                r = sd_bus_message_enter_container(call, 'v', signature);
                if (r >= 0)
                        r = sd_bus_message_read_basic(call, known[i].type, known[i].value);
                return r < 0 ? r : sd_bus_message_exit_container(call);
        }
        return sd_bus_error_setf(e, SD_BUS_ERROR_INVALID_ARGS,
                                 "There is no option \"%s\": those of org.homenode1(5) are nodes, near, "
                                 "reserve, json and thousandths",
                                 text);
}

static int read_options(sd_bus_message *call, struct options *o, sd_bus_error *e) {
        int r = sd_bus_message_enter_container(call, 'a', "{sv}");

        while (r >= 0) {
                r = sd_bus_message_enter_container(call, 'e', "sv");
                if (r <= 0)
                        break;
                r = read_option(call, o, e);
                if (r >= 0)
                        r = sd_bus_message_exit_container(call);
        }
        return r < 0 ? r : sd_bus_message_exit_container(call);
}

static int parse_nodes(const struct hn_topology *topo, const char *text, struct hn_mask *ret,
                       sd_bus_error *e) {
        size_t n = strnlen(text, HN_MASK_LIST_MAX);

        if (n == HN_MASK_LIST_MAX || hn_mask_parse_list(text, n, ret) < 0 || hn_mask_empty(ret))
                return bad_nodes(e);
        for (unsigned id = hn_mask_next(ret, 0); id != HN_MASK_NONE; id = hn_mask_next(ret, id + 1))
                if (hn_topology_index(topo, id) == HN_NODE_NONE)
                        return sd_bus_error_setf(
                                e, HN_BUS_NO_SUCH_NODE,
                                "There is no node %u: \"homenode nodes\" shows those there are", id);
        return 0;
}

/* No paths: one of the caller's file systems could keep the daemon waiting for ever. */
static int find_device(struct hn_manager *m, const char *name, hn_node_index *ret, sd_bus_error *e) {
        struct hn_sysroot host = HN_SYSROOT_NULL;
        size_t n = strnlen(name, DEVICE_MAX);
        unsigned id;
        int r;

        if (n == DEVICE_MAX || name[0] == '/' || !hn_device_is_name(name, n))
                return sd_bus_error_set(e, SD_BUS_ERROR_INVALID_ARGS,
                                        "Option near is no device: write pci:ADDRESS, netdev:NAME or "
                                        "block:NAME; \"homenode advise\" takes a path too");
        /* The unit has a network of its own and no devices. */
        if (m->root.live && hn_device_open_host(&m->sampler.privilege, &host) == 0)
                r = hn_device_find_node(&host, name, &id);
        else
                r = hn_device_find_node(&m->root, name, &id);
        hn_sysroot_close(&host);
        if (r < 0) {
                char text[HN_ESCAPE_SIZE(DEVICE_MAX)];

                (void) hn_escape_text(name, n, text, sizeof(text));
                return sd_bus_error_setf(e, HN_BUS_NO_SUCH_DEVICE,
                                         "The device %s cannot be found: look for its name below /sys/class "
                                         "or with lspci(8)",
                                         text);
        }
        /* Where the machine does not say, it plays no part. */
        if (r == 0)
                *ret = hn_topology_index(&m->topo, id);
        return 0;
}

static int reply(sd_bus_message *call, const struct hn_advice_paper *paper, bool json) {
        char list[HN_MASK_LIST_MAX], why[WHY_MAX];
        _hn_cleanup_(hn_freep) char *text = NULL;
        json_t *o;
        int r = hn_advice_print_list(paper, list, sizeof(list));

        if (r < 0)
                return r;
        if (!json)
                return sd_bus_reply_method_return(call, "ss", list,
                                                  hn_advice_print_why(paper, why, sizeof(why)));
        o = hn_advice_to_json(paper);
        text = o ? json_dumps(o, JSON_COMPACT) : NULL;
        json_decref(o);
        return text ? sd_bus_reply_method_return(call, "ss", list, text) : -ENOMEM;
}

static int read_wish(sd_bus_message *call, struct hn_wish *w, struct options *o, sd_bus_error *e) {
        uint32_t cpus;
        uint64_t mbytes;
        int r;

        r = sd_bus_message_read(call, "ut", &cpus, &mbytes);
        if (r >= 0)
                r = read_options(call, o, e);
        if (r < 0)
                return r;
        if (o->thousandths > 999)
                return sd_bus_error_set(e, SD_BUS_ERROR_INVALID_ARGS,
                                        "Option thousandths is a part of one CPU: at most 999");
        w->cpus = UINT64_C(1000) * cpus + o->thousandths;
        if (w->cpus > HN_WISH_CPUS_MAX || mbytes > UINT64_MAX >> 20)
                return sd_bus_error_set(
                        e, SD_BUS_ERROR_INVALID_ARGS,
                        "That is more than any machine has: cpus are whole CPUs, mbytes MiB of memory");
        w->memory = mbytes << 20;
        return 0;
}

static int advise(struct hn_bus *b, sd_bus_message *call, uid_t uid, sd_bus_error *e) {
        _hn_cleanup_(hn_advisor_answer_deinit) struct hn_advisor_answer answer = { .nodes = NULL };
        struct hn_advisor_question q = { .uid = uid, .near = HN_NODE_NONE };
        struct hn_manager *m = b->manager;
        struct options o = { .reserve = true };
        struct hn_mask only;
        int r;

        r = read_wish(call, &q.wish, &o, e);
        if (r >= 0 && o.nodes && o.nodes[0]) {
                r = parse_nodes(&m->topo, o.nodes, &only, e);
                q.only = &only;
        }
        if (r >= 0 && o.near && o.near[0])
                r = find_device(m, o.near, &q.near, e);
        if (r < 0)
                return r;
        q.reserve = o.reserve;
        r = hn_advisor_ask(m, &q, &answer);
        if (r == -ENODEV)
                return sd_bus_error_set(e, HN_BUS_NOTHING_LEFT,
                                        "None of these nodes has CPUs, and a workload needs some: name one "
                                        "with CPUs beside them");
        return r < 0 ? r : reply(call, &answer.paper, o.json);
}

int hn_bus_method_advise(sd_bus_message *call, void *userdata, sd_bus_error *e) {
        struct hn_bus *b = userdata;

        return hn_callers_ask(&b->callers, call, advise, e);
}
