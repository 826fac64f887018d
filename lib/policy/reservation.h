/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "base/usec.h"
#include "policy/advise.h"

/* What was advised a moment ago and has not started yet, so that those who ask at the same time are not all
 * sent to the same node. Each line is one node's share of one advice:
 *
 *      MADE NODE CPUS MEMORY USED AVAILABLE
 *
 * microseconds since boot, the kernel's number, thousandths of a CPU, bytes; and what was in use and
 * available there at that time. */

/* Whatever was advised longer ago has started or never will. */
#define HN_RESERVATION_LIFE (60 * HN_USEC_PER_SEC)

/* Whoever looked at the clock after us may have been given the lock before us. */
#define HN_RESERVATION_SLACK (5 * HN_USEC_PER_SEC)

/* No more lines than these count; of more, at least half as many, the latest. */
#define HN_RESERVATIONS_MAX 2048u

struct hn_reservation {
        hn_usec_t made;
        unsigned id; /* the kernel's number of the node */
        uint64_t cpus, memory, used, available;
};

struct hn_reservations {
        size_t n, allocated;
        struct hn_reservation *list; /* in the order they were read in */
};

#define HN_RESERVATIONS_NULL ((struct hn_reservations){})

void hn_reservations_deinit(struct hn_reservations *rs);

/* Adds one behind the others; where there are too many, the first half leaves. Returns 0 or -ENOMEM. */
int hn_reservations_add(struct hn_reservations *rs, const struct hn_reservation *r);

/* Adds what a text holds that is still alive at `now`. Lines that are damaged, over or of the future are
 * passed over, and so is a last one without a newline, which is being written. Returns the number of lines in
 * the text, or -ENOMEM. */
long hn_reservations_read(struct hn_reservations *rs, const char *text, size_t n, hn_usec_t now);

/* Prints a line. Returns its length, newline included. */
#define HN_RESERVATION_LINE_MAX 128u
size_t hn_reservation_print(const struct hn_reservation *r, char *buf, size_t size);

/* Fills reserved_cpus and reserved_memory of each node by all lists. Whether a workload has started cannot be
 * seen as such; what can be seen is how far use has grown on its node since the oldest of the reservations
 * there was made. So much of them counts as started. */
void hn_reservations_apply(const struct hn_reservations *lists, size_t n_lists,
                           const struct hn_topology *topo, struct hn_advise_node *nodes);
