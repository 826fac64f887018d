/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <systemd/sd-bus.h>

#include "table.h"

/* The overrides that the daemon keeps, as it tells them on the bus. */
struct hn_pin {
        uint64_t id;
        char *kind;   /* "process", "thread" or "cgroup" */
        char *target; /* decimal number, or a path */
        char *nodes, *cpus, *comm, *why;
        bool pages;
        uint32_t owner;
        uint64_t since, expires; /* CLOCK_REALTIME, microseconds; expires UINT64_MAX: for good */
};

struct hn_pin_list {
        struct hn_pin *pins;
        size_t n;
};

#define HN_PIN_LIST_NULL ((struct hn_pin_list){})

void hn_pin_list_deinit(struct hn_pin_list *l);

/* Asks the daemon. Returns 0 or -errno, then with `error` as sd_bus_call(3) leaves it. */
int hn_pin_list_read(sd_bus *bus, struct hn_pin_list *ret, sd_bus_error *error);

/* The columns of `homenode pin --list`. */
enum {
        HN_PIN_ID,
        HN_PIN_KIND,
        HN_PIN_TARGET,
        HN_PIN_COMM,
        HN_PIN_NODES,
        HN_PIN_CPUS,
        HN_PIN_PAGES,
        HN_PIN_OWNER,
        HN_PIN_SINCE,
        HN_PIN_EXPIRES,
        HN_PIN_WHY,
        _HN_PIN_COLUMN_MAX,
};

extern const struct hn_column hn_pin_columns[_HN_PIN_COLUMN_MAX];

void hn_pin_add_rows(struct hn_table *t, const struct hn_pin_list *l);

/* Chooses what "homenode unpin N" means: the one for process or thread `number`, else the one with that id.
 * Returns it; NULL where there is none, and also, with `*ret_two` set, where number and id are of two
 * different ones. */
const struct hn_pin *hn_pin_list_choose(const struct hn_pin_list *l, uint64_t number, bool *ret_two);

/* "2026-11-30 21:24:35", local time, or `never` for UINT64_MAX. Returns `buf`, which 32 bytes are enough for.
 */
const char *hn_pin_time(uint64_t usec, const char *never, char *buf, size_t size);
