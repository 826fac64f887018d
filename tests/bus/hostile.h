/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>
#include <systemd/sd-bus.h>

#include "members.h"

/* Calls that wish the daemon ill: of all methods that it tells of and of some that it does not, of properties
 * and of objects, with arguments of the right type, of none, and such as nearly make sense. A series is the
 * same each time. */
struct hostile {
        uint64_t seed; /* not 0 */
        const struct members *methods;

        /* What there is and belongs to somebody else: targets of Pin that would be taken from him. */
        const char *kinds[4], *targets[4];
        const char *scope; /* path of a scope's object */
        uint64_t pin;      /* what is held by hand; 0: nothing */
};

/* The next call, or NULL where what was drawn makes no message. The caller unrefs. */
sd_bus_message *hostile_next(struct hostile *h, sd_bus *bus);
