/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "base/usec.h"

struct hn_manager;

/* Who may do what by the bus. Looking is free. A change is for root, for the owner of what is changed, and
 * for whoever polkit lets; each intent is an action of conf/org.homenode1.policy. All answers come by
 * callbacks, nothing here waits. */
enum hn_action {
        HN_ACTION_PIN,
        HN_ACTION_MOVE_PAGES,
        HN_ACTION_RELOAD,
        HN_ACTION_SET_MODE,
        _HN_ACTION_MAX,
};

const char *hn_action_to_string(enum hn_action a); /* "org.homenode1.pin" */

/* What a caller wishes for. `wish` is the request's own from hn_access_ask() on. */
struct hn_request {
        enum hn_action action;
        void *wish;
        void (*forget)(void *wish); /* NULL where there is nothing to free */

        /* Whether this user may do it without further ado, as it is about what is his; asked last of all
         * before polkit is. NULL: nobody but root. */
        bool (*is_own)(struct hn_manager *m, const void *wish, uid_t uid);

        /* Does it, once that is allowed, and answers `call`. Or returns -errno with `e` set. */
        int (*carry_out)(struct hn_manager *m, sd_bus_message *call, void *wish, uid_t uid, sd_bus_error *e);
};

/* Callers that wait: bounded, as each holds memory here. The first bound is on those of whom the bus has yet
 * to tell who they are, which takes no time; the others on those that polkit has to judge, so that no user
 * can keep root or other users from being heard. */
#define HN_ACCESS_MAX            512u
#define HN_ACCESS_MAX_AT_POLKIT  64u
#define HN_ACCESS_MAX_OF_USER    8u
#define HN_ACCESS_PATIENCE       (10 * HN_USEC_PER_SEC) /* for a polkit that asks nobody: less than a caller's */
#define HN_ACCESS_PATIENCE_HUMAN (300 * HN_USEC_PER_SEC) /* for one who types a password */

struct hn_pending;

struct hn_access {
        struct hn_manager *manager;
        sd_bus *bus;
        struct hn_pending *pending; /* a list */
        unsigned n_pending;
        uint64_t n_asked; /* ever, for names of questions */
        hn_usec_t patience;
};

int hn_access_start(struct hn_access *a, struct hn_manager *m, sd_bus *bus);

/* Drops all that waits, undone. Forgives a struct of zeroes. */
void hn_access_stop(struct hn_access *a);

/* To be returned by the handler of a method: finds out who calls and whether he may, then carries the request
 * out or refuses it with an error that names the action. Takes `request->wish` over in any case. Returns 1
 * (the answer comes later), or -errno with `e` set. */
int hn_access_ask(struct hn_access *a, sd_bus_message *call, const struct hn_request *request,
                  sd_bus_error *e);
