/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <systemd/sd-bus.h>

#include "base/usec.h"

/* The daemon's name, object and interface. */
#define HN_BUS_NAME      "org.homenode1"
#define HN_BUS_PATH      "/org/homenode1"
#define HN_BUS_INTERFACE "org.homenode1.Manager"

/* Calls to homenoded (org.homenode1(5)). What goes wrong is said on standard error with the next step, and
 * becomes an exit code. */

#define HN_BUSCLIENT_CONNECT (5 * HN_USEC_PER_SEC)
#define HN_BUSCLIENT_LOOK    (25 * HN_USEC_PER_SEC)  /* for an answer that needs nobody's leave */
#define HN_BUSCLIENT_CHANGE  (310 * HN_USEC_PER_SEC) /* where polkit may have to ask for a password */

/* Connects: to the system bus, or to `address` if that is not NULL. Returns 0 or -errno. The caller unrefs
 * `*ret`. */
int hn_busclient_open(const char *address, sd_bus **ret);

/* The same within a bound of the caller's choice. */
int hn_busclient_open_within(const char *address, hn_usec_t bound, sd_bus **ret);

/* Says that there is no way to that bus, and returns the exit code: EX_UNAVAILABLE. */
int hn_busclient_complain_open(int r, const char *address);

/* Calls a method of the manager with arguments as for sd_bus_message_append(3), and waits at most `bound`.
 * The daemon is not started for it. On a terminal polkit may ask for a password. Returns 0 or -errno; an
 * answer and an error are the caller's to free, either may be NULL where it is of no interest. */
int hn_busclient_call(sd_bus *bus, hn_usec_t bound, sd_bus_error *error, sd_bus_message **ret,
                      const char *member, const char *types, ...);

/* Whether a call, or the connection, failed with `r` since no daemon is there to answer. */
bool hn_busclient_is_absent(int r, const sd_bus_error *error);

/* Says why a call failed, in the daemon's words where it answered, behind `what` if that is not NULL. Returns
 * the exit code that fits: EX_UNAVAILABLE (no daemon), EX_NOPERM (not allowed, or somebody else's),
 * EX_NOINPUT (no such task, node, ...), EX_TEMPFAIL (no answer, or too many), EX_DATAERR (what was asked for
 * cannot be), EX_SOFTWARE. */
int hn_busclient_complain(int r, const sd_bus_error *error, const char *what);
