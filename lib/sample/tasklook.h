/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

struct hn_sampler;
struct hn_task_slot;

/* Brings one slot of the sampler's table up to date: `schedstat` first and, where that moved, all the rest.
 * Whatever the task does meanwhile ends up in the slot's kind; what may not be read, in its `denied`. A slot
 * whose task turns out to be dead, though its tid is listed, becomes NEW: look again, for there may be a new
 * owner. Returns 0 or -ENOMEM. */
int hn_task_look(struct hn_sampler *s, struct hn_task_slot *slot);
