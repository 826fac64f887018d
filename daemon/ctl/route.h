/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <net/if.h>
#include <stddef.h>

#include "why.h"

/* The network interface over which this machine reaches `host`, a name or an address: the first of its
 * addresses and the first way to it. Returns 0 and its name; -ENOENT for a host that nobody knows,
 * -ENETUNREACH without a way to it, or another -errno, with the sentence. Asks the resolver, hence perhaps
 * the network. */
int hn_route_interface(const char *host, char ret_name[IF_NAMESIZE], struct hn_why *why);

/* The kernel's answer to RTM_GETROUTE: the index of the outgoing interface. Returns 0, what the kernel
 * answered instead, or -EBADMSG for something else than an answer, or one without an interface. */
int hn_route_parse(const void *answer, size_t n, unsigned *ret_index);
