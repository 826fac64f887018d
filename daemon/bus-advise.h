/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <systemd/sd-bus.h>

/* Advise of org.homenode1.Manager: the question of `homenode advise`, over advisor.h. Free to all; what it
 * leaves behind is counted by user. */
int hn_bus_method_advise(sd_bus_message *call, void *userdata, sd_bus_error *e);
