/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "base/usec.h"

/* Whether memory is worth moving to a task that cannot come to it: what the move costs, against the time that
 * the task loses until then by looking for its memory far away. Homenode's own; the figures are measured ones
 * (move_pages(2) of 4 KiB pages on a machine of two sockets at 3.7 GB/s, lore.kernel.org
 * 20250923174752.35701-1-shivankg@amd.com; 60 ns more for a remote access on most of them). The rate of the
 * accesses decides: size alone says nothing. */

/* Bytes a second that one CPU moves, and what a remote access takes longer, in nanoseconds. */
#define HN_PAYBACK_BYTES_PER_SEC UINT64_C(3700000000)
#define HN_PAYBACK_EXTRA_NS      60u

/* Accesses that miss all caches, a second and core, of a program that is worth placing, where nobody counts
 * them. */
#define HN_PAYBACK_MISSES UINT64_C(1000000)

/* After which time a move of so many bytes has paid, if `accesses` a second are remote until then, each by
 * `extra_ns` slower. HN_USEC_INFINITY for never. */
hn_usec_t hn_payback(uint64_t bytes, uint64_t bytes_per_sec, uint64_t accesses, uint32_t extra_ns);
