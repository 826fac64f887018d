/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/bus-caller.h"
#include "daemon/bus.h"

struct waiting {
        struct waiting *next;
        sd_bus_message *call;
        hn_caller_fn f;
};

struct hn_caller {
        struct hn_callers *all;
        char *name;
        bool known;
        uid_t uid;
        unsigned long long last; /* call, by number */
        sd_bus_slot *asked;
        struct waiting *first, **end;
};

static void caller_free(struct hn_caller *c) {
        for (struct waiting *w = c->first, *next; w; w = next) {
                next = w->next;
                sd_bus_message_unref(w->call);
                free(w);
                c->all->n_waiting--;
        }
        sd_bus_slot_unref(c->asked);
        free(c->name);
        free(c);
}

static void drop(struct hn_caller *c) {
        struct hn_callers *cs = c->all;

        for (size_t i = 0; i < cs->n; i++)
                if (cs->list[i] == c) {
                        cs->list[i] = cs->list[--cs->n];
                        break;
                }
        caller_free(c);
}

void hn_callers_start(struct hn_callers *cs, struct hn_bus *b) {
        *cs = (struct hn_callers){ .bus = b };
}

void hn_callers_stop(struct hn_callers *cs) {
        for (size_t i = 0; i < cs->n; i++)
                caller_free(cs->list[i]);
        cs->n = 0;
}

static void carry_out(struct hn_callers *cs, struct hn_caller *c, sd_bus_message *call, hn_caller_fn f) {
        sd_bus_error e = SD_BUS_ERROR_NULL;
        int r = f(cs->bus, call, c->uid, &e);

        if (r < 0)
                (void) sd_bus_reply_method_errno(call, r, &e);
        sd_bus_error_free(&e);
}

static int on_uid(sd_bus_message *m, void *userdata, sd_bus_error *unused) {
        struct hn_caller *c = userdata;
        uint32_t uid;

        (void) unused;
        /* Nobody of that name: he has left, and waits for no answer. */
        if (sd_bus_message_is_method_error(m, NULL) || sd_bus_message_read(m, "u", &uid) < 0) {
                drop(c);
                return 0;
        }
        c->uid = uid;
        c->known = true;
        while (c->first) {
                struct waiting *w = c->first;

                c->first = w->next;
                c->all->n_waiting--;
                carry_out(c->all, c, w->call, w->f);
                sd_bus_message_unref(w->call);
                free(w);
        }
        c->end = &c->first;
        return 0;
}

static struct hn_caller *find(const struct hn_callers *cs, const char *name) {
        for (size_t i = 0; i < cs->n; i++)
                if (strcmp(cs->list[i]->name, name) == 0)
                        return cs->list[i];
        return NULL;
}

/* Returns whether there is room for another. */
static bool make_room(struct hn_callers *cs) {
        struct hn_caller *quiet = NULL;

        if (cs->n < HN_CALLERS_MAX)
                return true;
        for (size_t i = 0; i < cs->n; i++)
                if (cs->list[i]->known && (!quiet || cs->list[i]->last < quiet->last))
                        quiet = cs->list[i];
        if (quiet)
                drop(quiet);
        return quiet;
}

static int add(struct hn_callers *cs, const char *name, struct hn_caller **ret) {
        struct hn_caller *c;
        int r;

        if (!make_room(cs))
                return -ENOBUFS;
        c = calloc(1, sizeof(*c));
        if (!c)
                return -ENOMEM;
        c->all = cs;
        c->end = &c->first;
        c->name = strdup(name);
        r = c->name ? sd_bus_call_method_async(cs->bus->bus, &c->asked, "org.freedesktop.DBus",
                                               "/org/freedesktop/DBus", "org.freedesktop.DBus",
                                               "GetConnectionUnixUser", on_uid, c, "s", name)
                    : -ENOMEM;
        if (r < 0) {
                caller_free(c);
                return r;
        }
        cs->list[cs->n++] = c;
        *ret = c;
        return 0;
}

static int wait_for(struct hn_caller *c, sd_bus_message *call, hn_caller_fn f) {
        struct waiting *w;

        if (c->all->n_waiting >= HN_CALLERS_WAITING_MAX)
                return -ENOBUFS;
        w = calloc(1, sizeof(*w));
        if (!w)
                return -ENOMEM;
        *w = (struct waiting){ .call = sd_bus_message_ref(call), .f = f };
        *c->end = w;
        c->end = &w->next;
        c->all->n_waiting++;
        return 0;
}

int hn_callers_ask(struct hn_callers *cs, sd_bus_message *call, hn_caller_fn f, sd_bus_error *e) {
        const char *sender = sd_bus_message_get_sender(call);
        struct hn_caller *c;
        int r = 0;

        if (!sender)
                return sd_bus_error_set(e, SD_BUS_ERROR_ACCESS_DENIED,
                                        "The bus does not tell who you are: call by a bus, not directly");
        c = find(cs, sender);
        if (!c)
                r = add(cs, sender, &c);
        if (r >= 0) {
                c->last = ++cs->now;
                if (c->known) {
                        r = f(cs->bus, call, c->uid, e);
                        return r < 0 ? r : 1;
                }
                r = wait_for(c, call, f);
        }
        if (r == -ENOBUFS)
                return sd_bus_error_set(e, SD_BUS_ERROR_LIMITS_EXCEEDED,
                                        "Too many are asking at this moment: try again");
        return r < 0 ? sd_bus_error_set_errno(e, r) : 1;
}
