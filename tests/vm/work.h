/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What the threads of the load do with memory, and with each other. */

/* Monotonic microseconds; sleeps for so many. */
uint64_t work_now(void);
void work_rest(uint64_t usec);

/* Reads and writes eight lines of each page, page after page. */
void work_sweep(volatile char *buffer, size_t size);

/* As many reads and writes, each at a random line: neither the prefetcher nor the order of pages helps. */
void work_walk(volatile char *buffer, size_t size, uint64_t *seed);

/* The other end takes its turn, then this one: one of two works while the other waits. */
void work_turn(int fd);
