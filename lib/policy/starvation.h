/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mask.h"
#include "base/usec.h"

/* A node that idles while another has waiters must be visited by somebody outside of it: heuristics E3, E4
 * and H5, after "Re: [PATCH] nohz: nohz idle balancing per node" (2021) and the kernel's find_new_ilb()
 * (kernel/sched/fair.c). The kick comes from busy CPUs; a node without any has nobody to kick it, so passes
 * are due by the clock. */

/* The CPU that works for the others of its node: the lowest one that is idle, may do housekeeping and is of
 * that node, or HN_MASK_NONE. */
unsigned hn_ilb_pick(const struct hn_mask *idle, const struct hn_mask *housekeeping,
                     const struct hn_mask *node);

/* Tasks that wait for a CPU, from the number of runnable ones on each. */
uint64_t hn_waiting(const uint32_t *n_running, size_t n_cpus);

/* Whether a node has idled for `patience` although others wait elsewhere. `idle_since` is HN_USEC_INFINITY
 * for a node that is busy. */
bool hn_starved(hn_usec_t idle_since, hn_usec_t now, hn_usec_t patience, uint64_t waiting_elsewhere);
