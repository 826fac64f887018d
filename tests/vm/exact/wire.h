/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* What the counter outside and the programs in the guest agree on. The counter sees virtual addresses and no
 * processes: each buffer of the load therefore lies in an arena of its own, at an address that no other
 * program of the guest has anything at. (Below them is the shadow memory of programs with sanitizers.) */
#define HN_EXACT_ARENAS_AT  0x200000000000ULL
#define HN_EXACT_ARENA_SIZE 0x100000000ULL
#define HN_EXACT_ARENAS     65U

/* The last one is the agent's own: for accesses whose number and place are known beforehand. */
#define HN_EXACT_ARENA_PROBE (HN_EXACT_ARENAS - 1)
#define HN_EXACT_ARENA(i)    (HN_EXACT_ARENAS_AT + (i) *HN_EXACT_ARENA_SIZE)

/* A store to the n-th eight bytes of this page, in whatever process, is command n. This version of the
 * interface shows addresses and no values. */
#define HN_EXACT_CONTROL_AT 0x1e0000000000ULL

enum hn_exact_command {
        HN_EXACT_ON,
        HN_EXACT_OFF,
        HN_EXACT_LOOK, /* a line with what was counted since the last look */
};

/* A line: "counts" and, for each that is not 0, " ARENA:VCPU:BUCKET:LOADS:STORES", all decimal. A bucket is a
 * range of what QEMU calls physical addresses, of this size; which node it is, is seen by a probe. */
#define HN_EXACT_BUCKET_SHIFT 30U
#define HN_EXACT_BUCKETS      32U
#define HN_EXACT_VCPUS        64U
