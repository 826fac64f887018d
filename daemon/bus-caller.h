/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

struct hn_bus;

/* Who calls: the user behind a name on the bus, for methods that are free but counted. The bus is asked once
 * a connection, as its unique name is never given to another; calls of whom the answer is under way wait for
 * it in their order. */

#define HN_CALLERS_MAX         512u  /* connections that are remembered; who was longest quiet is forgotten */
#define HN_CALLERS_WAITING_MAX 1024u /* calls of all of them */

/* Answers `call`, or returns -errno with `e` set. */
typedef int (*hn_caller_fn)(struct hn_bus *b, sd_bus_message *call, uid_t uid, sd_bus_error *e);

struct hn_caller;

struct hn_callers {
        struct hn_bus *bus;
        struct hn_caller *list[HN_CALLERS_MAX];
        size_t n, n_waiting;
        unsigned long long now; /* counts the calls */
};

void hn_callers_start(struct hn_callers *cs, struct hn_bus *b);

/* Drops all that waits, unanswered. Forgives a struct of zeroes. */
void hn_callers_stop(struct hn_callers *cs);

/* To be returned by the handler of a method: has `f` called with the user who calls, at once where he is
 * known. Returns 1, or -errno with `e` set. */
int hn_callers_ask(struct hn_callers *cs, sd_bus_message *call, hn_caller_fn f, sd_bus_error *e);
