/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-event.h>

#include "base/usec.h"
#include "daemon/bus-access.h"
#include "daemon/bus-caller.h"
#include "daemon/bus-news.h"
#include "daemon/state.h"

struct hn_manager;

/* org.homenode1(5): connection and name. What is said on it is in the files beside this one: bus-manager.c
 * and bus-scope.c (what can be read and asked for), bus-advise.c and bus-pin.c (the larger ones of these),
 * bus-access.c (who may), bus-caller.c (who calls), bus-news.c (what is told unasked).
 *
 * Nothing in here waits: connecting, the name, credentials and polkit all answer by callbacks. A machine
 * without a bus is an ordinary machine. */

#define HN_BUS_NAME           "org.homenode1"
#define HN_BUS_PATH           "/org/homenode1"
#define HN_BUS_MANAGER        "org.homenode1.Manager"
#define HN_BUS_SCOPE          "org.homenode1.Scope"
#define HN_BUS_SCOPE_PATH     "/org/homenode1/scope"
#define HN_BUS_ERROR(name)    "org.homenode1.Error." name
#define HN_BUS_NO_SUCH_TASK   HN_BUS_ERROR("NoSuchTask")
#define HN_BUS_NO_SUCH_NODE   HN_BUS_ERROR("NoSuchNode")
#define HN_BUS_NO_SUCH_CGROUP HN_BUS_ERROR("NoSuchCgroup")
#define HN_BUS_NO_SUCH_DEVICE HN_BUS_ERROR("NoSuchDevice")
#define HN_BUS_NO_SUCH_PIN    HN_BUS_ERROR("NoSuchPin")
#define HN_BUS_NOTHING_LEFT   HN_BUS_ERROR("NothingLeft")
#define HN_BUS_CONFLICT       HN_BUS_ERROR("Conflict")
#define HN_BUS_FULL           HN_BUS_ERROR("Full")
#define HN_BUS_CANNOT_KEEP    HN_BUS_ERROR("CannotKeep")
#define HN_BUS_BEYOND_CONFIG  HN_BUS_ERROR("BeyondConfiguration")
#define HN_BUS_BAD_CONFIG     HN_BUS_ERROR("BadConfiguration")

/* --bus-address=none: there is to be no bus. */
#define HN_BUS_ADDRESS_NONE "none"

/* Between two attempts to connect: twice as long each time. */
#define HN_BUS_PAUSE_MIN (250 * HN_USEC_PER_MSEC)
#define HN_BUS_PAUSE_MAX (60 * HN_USEC_PER_SEC)

struct hn_bus {
        struct hn_manager *manager;
        sd_bus *bus; /* NULL: not connected */
        bool lost;   /* connected once, and no longer */
        sd_event_source *retry;
        hn_usec_t pause;
        struct hn_access access;
        struct hn_callers callers;
        struct hn_news news;
        int dump; /* sealed memfd with the state of `dump_tick`; -1 */
        uint64_t dump_tick;
};

/* Begins to connect, if there is to be a bus; goes on trying if there is none yet. Returns 0 or -errno of the
 * event loop. */
int hn_bus_start(struct hn_bus *b, struct hn_manager *m);

/* Tries at once where it is not connected: somebody has reloaded us and may have mended the bus. */
void hn_bus_retry(struct hn_bus *b);

/* Leaves the bus; whoever waits for an answer gets none. Forgives a struct of zeroes. */
void hn_bus_stop(struct hn_bus *b);

/* The manager's and the scopes' part of the tree. */
int hn_bus_add_manager(struct hn_bus *b);
int hn_bus_add_scopes(struct hn_bus *b);

/* Appends a string, escaped (base/escape.h): the bus closes the connection of whoever sends invalid UTF-8.
 * NULL is the empty string. */
int hn_bus_append_text(sd_bus_message *m, const char *text);

/* The object of a scope: what sd_bus_path_encode(3) makes of its cgroup, and where a rule has only a part of
 * the cgroup, what it makes of that `part` (else "") below it. The caller frees `*ret`. */
int hn_bus_scope_path(const char *cgroup, const char *part, char **ret);

/* Of a scope's accesses (or pages), thousandths that are local; -1 where nothing is known. */
int hn_bus_local_share(const struct hn_state_scope *scope);
