/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A set of CPU ids, or of node ids: a plain value that can be copied, embedded and compared.
 *
 * It holds every id that Linux can hand out (CONFIG_NR_CPUS ends at 8192), so no code here asks whether a set
 * is large enough. One is 1 KiB: keep one per node or scope, not one per task (tasks hold an id of a mask
 * pool). Bits lie as the kernel lays them out for sched_setaffinity(2) on a little-endian or 64-bit machine.
 */
#define HN_MASK_BITS  8192u
#define HN_MASK_WORDS (HN_MASK_BITS / 64)

struct hn_mask {
        uint64_t word[HN_MASK_WORDS];
};

#define HN_MASK_NULL ((struct hn_mask){})

/* Returned by the searches below where there is no such id. */
#define HN_MASK_NONE UINT32_MAX

/* Ids past HN_MASK_BITS are never in a set; adding one is refused with false. */
bool hn_mask_add(struct hn_mask *m, unsigned id);
void hn_mask_remove(struct hn_mask *m, unsigned id);
bool hn_mask_has(const struct hn_mask *m, unsigned id);

/* Adds first..last, both included. */
void hn_mask_add_range(struct hn_mask *m, unsigned first, unsigned last);

/* algebra: results come back as values, the operands stay as they are */
struct hn_mask hn_mask_and(const struct hn_mask *a, const struct hn_mask *b);
struct hn_mask hn_mask_or(const struct hn_mask *a, const struct hn_mask *b);
struct hn_mask hn_mask_andnot(const struct hn_mask *a, const struct hn_mask *b);

/* questions */
bool hn_mask_empty(const struct hn_mask *m);
bool hn_mask_equal(const struct hn_mask *a, const struct hn_mask *b);
bool hn_mask_subset(const struct hn_mask *inner, const struct hn_mask *outer);
bool hn_mask_intersects(const struct hn_mask *a, const struct hn_mask *b);
unsigned hn_mask_count(const struct hn_mask *m);

/* The lowest id that is at least `from`, or HN_MASK_NONE.
 * for (unsigned c = hn_mask_next(&m, 0); c != HN_MASK_NONE; c = hn_mask_next(&m, c + 1)) */
unsigned hn_mask_next(const struct hn_mask *m, unsigned from);

/* The highest id, or HN_MASK_NONE in an empty set. */
unsigned hn_mask_last(const struct hn_mask *m);

/* Reads the kernel's list form: "0-3,8,16-31:2/4" (cpulist with strides), empty and white space being the
 * empty set. Trailing newlines and NUL bytes are accepted, as captures of /sys hold them. `n` bounds the
 * text. Returns 0, -EINVAL for bad syntax (a reversed range included), -ERANGE for an id past HN_MASK_BITS.
 */
int hn_mask_parse_list(const char *text, size_t n, struct hn_mask *ret);

/* Prints the list form, NUL-terminated. Returns its length, or -ENOBUFS, in which case `buf` is the empty
 * text. Parsing what was printed gives the same set. */
int hn_mask_print_list(const struct hn_mask *m, char *buf, size_t size);

/* Enough for any set in practice and all in tests: 4,096 single ids of up to 5 characters. */
#define HN_MASK_LIST_MAX 24576u
