/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "sample/sysroot.h"

/* Memory of one node, or of a machine without nodes; in bytes. Where `total` is known (not 0),
 * free + reclaimable <= total. */
struct hn_meminfo {
        uint64_t total;
        uint64_t free;
        uint64_t reclaimable; /* page cache that is neither dirty nor under writeback: may go without I/O */
};

#define HN_MEMINFO_NULL ((struct hn_meminfo){})

/* Reads the lines of nodeN/meminfo ("Node 0 MemFree: 12 kB") or of /proc/meminfo ("MemFree: 12 kB"). Lines
 * that are unknown, damaged or too large for 64 bits are skipped; what no line says is 0. */
void hn_meminfo_parse(const char *text, size_t n, struct hn_meminfo *ret);

/* A node's figures, all 0 where its file is missing. Returns 0, or -ENOMEM. */
int hn_meminfo_read_node(const struct hn_sysroot *root, unsigned id, struct hn_meminfo *ret);

/* The machine's figures, all 0 where /proc/meminfo is missing. Returns 0, or -ENOMEM. */
int hn_meminfo_read(const struct hn_sysroot *root, struct hn_meminfo *ret);
