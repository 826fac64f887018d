/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/usec.h"

/* What was said already, by (object, code). A bounded table: when it is full the entry that has been quiet
 * for longest makes room, so that a storm of short-lived objects cannot grow it. */
struct hn_log_once {
        char *object;
        char *text; /* as first said */
        int code;
        int kind, priority; /* enum hn_event, LOG_* */
        uint64_t repeats;   /* since the last summary */
        uint64_t total;     /* ever, the first time included */
        hn_usec_t last;
};

/* The entry of (object, code), or NULL. */
struct hn_log_once *hn_log_once_find(struct hn_log_once *table, size_t n, const char *object, int code);

/* A new entry, in place of the quietest where `max` are there. NULL where memory is short: then nothing is
 * remembered. */
struct hn_log_once *hn_log_once_add(struct hn_log_once **table, size_t *n, size_t max, const char *object,
                                    int code, const char *text);

void hn_log_once_remove(struct hn_log_once *table, size_t *n, struct hn_log_once *entry);
void hn_log_once_clear(struct hn_log_once **table, size_t *n);
