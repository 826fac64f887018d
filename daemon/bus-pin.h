/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

#include "daemon/override.h"

struct hn_bus;
struct hn_manager;

/* Pin, Unpin and ListPins of org.homenode1.Manager: what people order by hand, over override.h. Everything a
 * caller says is looked at here before anybody is asked for leave. */

/* In seconds: nobody means more, and less than for good. */
#define HN_BUS_PIN_SECONDS_MAX UINT64_C(315360000) /* ten years */

int hn_bus_method_pin(sd_bus_message *call, void *userdata, sd_bus_error *e);
int hn_bus_method_unpin(sd_bus_message *call, void *userdata, sd_bus_error *e);
int hn_bus_method_list_pins(sd_bus_message *call, void *userdata, sd_bus_error *e);

/* PinAdded and PinRemoved: once a tick, and after each of these methods. */
void hn_bus_tell_pins(struct hn_bus *b);
