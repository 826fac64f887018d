/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* One key of homenode.conf(5). */
struct hn_conf_item {
        const char *key;
        /* Reads (value, n), NUL-terminated, into `target`, which a bad value leaves as it was.
         * Returns 0, -EINVAL for no such value, -ERANGE outside of min..max, -ENOMEM. */
        int (*parse)(const struct hn_conf_item *item, const char *value, size_t n, void *target);
        size_t offset; /* of the target in struct hn_config, or in struct hn_rule */
        uint64_t min, max;
        const char *expect; /* completes the sentence "expected ..." */
};

/* [Daemon] and [Rule NAME] */
extern const struct hn_conf_item hn_conf_daemon[], hn_conf_rule[];
extern const size_t hn_conf_daemon_n, hn_conf_rule_n;

/* "Mode, IntervalSec, ...", cut at `size`. */
void hn_conf_list_keys(const struct hn_conf_item *items, size_t n, char *buf, size_t size);
