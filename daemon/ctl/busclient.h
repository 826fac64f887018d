/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <systemd/sd-bus.h>

/* The daemon's name, object and interface; org.homenode1(5). */
#define HN_BUS_NAME      "org.homenode1"
#define HN_BUS_PATH      "/org/homenode1"
#define HN_BUS_INTERFACE "org.homenode1.Manager"

/* Connects to the system bus, or to the one at `address` if that is not NULL. Returns 0 or -errno. */
int hn_busclient_open(const char *address, sd_bus **ret);

/* Calls a method of the daemon, which is not started for it. Returns as sd_bus_call_method(3). */
int hn_busclient_call(sd_bus *bus, const char *method, sd_bus_error *error, sd_bus_message **ret,
                      const char *types, ...);

/* Whether a call failed since no daemon is there to answer. `r` is what the call, or the connection,
 * returned. */
bool hn_busclient_is_absent(int r, const sd_bus_error *error);

/* Says what the daemon answered to a call, and returns the exit code that fits. */
int hn_busclient_complain(int r, const sd_bus_error *error, const char *what);
