/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/bus-access.h"
#include "daemon/manager.h"

#define BUS_DRIVER "org.freedesktop.DBus", "/org/freedesktop/DBus", "org.freedesktop.DBus"
#define POLKIT                                                                 \
        "org.freedesktop.PolicyKit1", "/org/freedesktop/PolicyKit1/Authority", \
                "org.freedesktop.PolicyKit1.Authority"
#define TOO_MANY        "Too many calls wait for leave: call again when the first are answered"
#define MAY_ASK_A_HUMAN 1u /* polkit's AllowUserInteraction */

static const char *const actions[_HN_ACTION_MAX] = {
        [HN_ACTION_PIN] = "org.homenode1.pin",
        [HN_ACTION_MOVE_PAGES] = "org.homenode1.move-pages",
        [HN_ACTION_RELOAD] = "org.homenode1.reload",
        [HN_ACTION_SET_MODE] = "org.homenode1.set-mode",
};

const char *hn_action_to_string(enum hn_action a) {
        return (size_t) a < HN_ELEMENTS(actions) ? actions[a] : NULL;
}

/* A call whose caller is being looked at. */
struct hn_pending {
        struct hn_access *access;
        struct hn_pending *next;
        sd_bus_message *call;
        sd_bus_slot *asked; /* the question under way */
        sd_bus_slot *gone;  /* the caller leaves the bus */
        struct hn_request request;
        uid_t uid;
        bool at_polkit;
        char cookie[32]; /* by which polkit knows the question */
};

static void pending_free(struct hn_pending *p) {
        struct hn_access *a = p->access;

        for (struct hn_pending **at = &a->pending; *at; at = &(*at)->next)
                if (*at == p) {
                        *at = p->next;
                        a->n_pending--;
                        break;
                }
        sd_bus_slot_unref(p->asked);
        sd_bus_slot_unref(p->gone);
        sd_bus_message_unref(p->call);
        if (p->request.forget)
                p->request.forget(p->request.wish);
        free(p);
}

int hn_access_start(struct hn_access *a, struct hn_manager *m, sd_bus *bus) {
        *a = (struct hn_access){ .manager = m, .bus = bus, .patience = HN_ACCESS_PATIENCE };
        return 0;
}

void hn_access_stop(struct hn_access *a) {
        while (a->pending)
                pending_free(a->pending);
}

/* The answer to the caller, if he did not get one from carry_out(), and the end of it. A caller who cannot be
 * reached any more is no error of ours. */
static int finish(struct hn_pending *p, int r, sd_bus_error *e) {
        if (r < 0)
                (void) sd_bus_reply_method_errno(p->call, r, e);
        sd_bus_error_free(e);
        pending_free(p);
        return 0;
}

static int refuse(struct hn_pending *p, const char *why) {
        sd_bus_error e = SD_BUS_ERROR_NULL;
        int r = sd_bus_error_setf(
                &e, SD_BUS_ERROR_ACCESS_DENIED,
                "Not allowed: this needs the action %s. %s Be root, or have an administrator "
                "allow it by a rule of polkit(8); for tasks that are all your own nothing is "
                "needed",
                hn_action_to_string(p->request.action), why);

        return finish(p, r, &e);
}

static int carry_out(struct hn_pending *p) {
        sd_bus_error e = SD_BUS_ERROR_NULL;
        int r = p->request.carry_out(p->access->manager, p->call, p->request.wish, p->uid, &e);

        return finish(p, r, &e);
}

/* So that no dialogue is left open for a question that nobody waits for. */
static void cancel_at_polkit(struct hn_pending *p) {
        if (p->at_polkit)
                (void) sd_bus_call_method_async(p->access->bus, NULL, POLKIT, "CancelCheckAuthorization",
                                                NULL, NULL, "s", p->cookie);
        p->at_polkit = false;
}

static bool is_nobody_there(const sd_bus_error *e) {
        return sd_bus_error_has_name(e, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
               sd_bus_error_has_name(e, SD_BUS_ERROR_NAME_HAS_NO_OWNER) ||
               (e->name && strncmp(e->name, "org.freedesktop.DBus.Error.Spawn.", 33) == 0);
}

static bool may_ask_human(const struct hn_pending *p) {
        return sd_bus_message_get_allow_interactive_authorization(p->call) > 0;
}

static int on_polkit(sd_bus_message *m, void *userdata, sd_bus_error *unused) {
        struct hn_pending *p = userdata;
        int authorized, challenge;

        (void) unused;
        if (sd_bus_message_is_method_error(m, NULL)) {
                const sd_bus_error *e = sd_bus_message_get_error(m);

                if (is_nobody_there(e))
                        return refuse(p, "There is no polkit on this bus.");
                if (sd_bus_error_has_name(e, SD_BUS_ERROR_NO_REPLY) ||
                    sd_bus_error_has_name(e, SD_BUS_ERROR_TIMEOUT)) {
                        cancel_at_polkit(p);
                        return refuse(p, "polkit did not answer in time.");
                }
                return refuse(p, "polkit could not tell.");
        }
        if (sd_bus_message_enter_container(m, 'r', "bba{ss}") < 0 ||
            sd_bus_message_read(m, "bb", &authorized, &challenge) < 0)
                return refuse(p, "polkit gave no answer that can be read.");
        if (authorized)
                return carry_out(p);
        if (!challenge)
                return refuse(p, "polkit says no.");
        return refuse(p, may_ask_human(p)
                                 ? "polkit would ask for a password, but there is nobody it could ask: no "
                                   "agent of a desktop, no pkttyagent(1)."
                                 : "polkit would ask for a password, but this call did not allow that.");
}

static int ask_polkit(struct hn_pending *p) {
        _hn_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        struct hn_access *a = p->access;
        bool human = may_ask_human(p);
        int r;

        (void) snprintf(p->cookie, sizeof(p->cookie), "homenode-%" PRIu64, ++a->n_asked);
        r = sd_bus_message_new_method_call(a->bus, &m, POLKIT, "CheckAuthorization");
        if (r >= 0)
                r = sd_bus_message_append(m, "(sa{sv})sa{ss}us", "system-bus-name", 1, "name", "s",
                                          sd_bus_message_get_sender(p->call),
                                          hn_action_to_string(p->request.action), 0,
                                          human ? MAY_ASK_A_HUMAN : 0, p->cookie);
        p->asked = sd_bus_slot_unref(p->asked);
        if (r >= 0)
                r = sd_bus_call_async(a->bus, &p->asked, m, on_polkit, p,
                                      human ? HN_ACCESS_PATIENCE_HUMAN : a->patience);
        if (r < 0)
                return refuse(p, "polkit cannot be asked.");
        p->at_polkit = true;
        return 0;
}

/* Whether as many as may are waiting for polkit already. */
static bool is_crowded(const struct hn_access *a, uid_t uid) {
        unsigned of_all = 0, of_user = 0;

        for (const struct hn_pending *p = a->pending; p; p = p->next) {
                of_all += p->at_polkit;
                of_user += p->at_polkit && p->uid == uid;
        }
        return of_all >= HN_ACCESS_MAX_AT_POLKIT || of_user >= HN_ACCESS_MAX_OF_USER;
}

static int on_uid(sd_bus_message *m, void *userdata, sd_bus_error *unused) {
        struct hn_pending *p = userdata;
        uint32_t uid;

        (void) unused;
        if (sd_bus_message_is_method_error(m, NULL) || sd_bus_message_read(m, "u", &uid) < 0)
                return refuse(p, "The bus does not tell who you are.");
        p->uid = uid;
        if (uid == 0 || (p->request.is_own && p->request.is_own(p->access->manager, p->request.wish, p->uid)))
                return carry_out(p);
        if (is_crowded(p->access, uid)) {
                sd_bus_error e = SD_BUS_ERROR_NULL;

                return finish(p, sd_bus_error_set(&e, SD_BUS_ERROR_LIMITS_EXCEEDED, TOO_MANY), &e);
        }
        return ask_polkit(p);
}

static int on_gone(sd_bus_message *m, void *userdata, sd_bus_error *unused) {
        struct hn_pending *p = userdata;
        const char *name, *before, *after;

        (void) unused;
        if (sd_bus_message_read(m, "sss", &name, &before, &after) < 0 || after[0] != '\0')
                return 0;
        cancel_at_polkit(p);
        pending_free(p);
        return 0;
}

/* First the watch, then the question: the bus keeps the order, so a caller who left before the watch began is
 * one whom the bus does not know. */
static int look_at_caller(struct hn_pending *p, const char *sender) {
        char match[512];
        int n = snprintf(match, sizeof(match),
                         "type='signal',sender='org.freedesktop.DBus',path='/org/freedesktop/DBus',"
                         "interface='org.freedesktop.DBus',member='NameOwnerChanged',arg0='%s'",
                         sender);
        int r;

        if (n < 0 || (size_t) n >= sizeof(match))
                return -ENAMETOOLONG;
        r = sd_bus_add_match_async(p->access->bus, &p->gone, match, on_gone, NULL, p);
        return r < 0 ? r
                     : sd_bus_call_method_async(p->access->bus, &p->asked, BUS_DRIVER,
                                                "GetConnectionUnixUser", on_uid, p, "s", sender);
}

int hn_access_ask(struct hn_access *a, sd_bus_message *call, const struct hn_request *request,
                  sd_bus_error *e) {
        const char *sender = sd_bus_message_get_sender(call);
        struct hn_pending *p;
        int r;

        p = calloc(1, sizeof(*p));
        if (!p || !sender || a->n_pending >= HN_ACCESS_MAX) {
                free(p);
                if (request->forget)
                        request->forget(request->wish);
                return sd_bus_error_set(e, SD_BUS_ERROR_LIMITS_EXCEEDED, TOO_MANY);
        }
        *p = (struct hn_pending){
                .access = a, .next = a->pending, .call = sd_bus_message_ref(call), .request = *request
        };
        a->pending = p;
        a->n_pending++;
        r = look_at_caller(p, sender);
        if (r >= 0)
                return 1;
        pending_free(p);
        return sd_bus_error_set_errno(e, r);
}
