/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

struct hn_bus;

/* What state.json says, in a memfd that nobody can change any more. Written once a tick, however often it is
 * asked for; each descriptor has a position of its own. Returns a descriptor to be closed, or -errno. */
int hn_dump_open(struct hn_bus *b);
