/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sched.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The affinity masks of all threads of a service at one moment. */

#define MASKS_MAX 256U

struct mask_entry {
        int tid;
        uint64_t start; /* of the thread, so that a reused tid is another thread */
        cpu_set_t mask;
};

struct masks {
        size_t n;
        struct mask_entry entries[MASKS_MAX];
};

/* All threads in /sys/fs/cgroup/system.slice/UNIT. */
int masks_take(const char *unit, struct masks *ret);

/* All threads of the machine but the kernel's own; those beyond MASKS_MAX make it -E2BIG. */
int masks_take_all(struct masks *ret);

/* The thread's entry in `m`, or NULL. */
const struct mask_entry *masks_find(const struct masks *m, int tid, uint64_t start);

/* Threads of `now` that were in `before` with another mask. Threads new in `now` count as changed when their
 * mask is not `inherited`, unless that is NULL. */
size_t masks_changed(const struct masks *before, const struct masks *now, const cpu_set_t *inherited);

/* "0-3,6" into `buf`; returns it. */
const char *mask_print(const cpu_set_t *mask, char *buf, size_t size);
