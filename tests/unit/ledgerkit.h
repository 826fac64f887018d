/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* Records as the tests of the ledger want them. Include after <cmocka.h>. */

#include <string.h>
#include <sys/types.h>

#include "act/ledger.h"

#define BOOT       "11111111-2222-3333-4444-555555555555"
#define OTHER_BOOT "11111111-2222-3333-4444-555555555556"

static inline struct hn_mask list(const char *text) {
        struct hn_mask m;

        assert_int_equal(hn_mask_parse_list(text, strlen(text), &m), 0);
        return m;
}

static inline struct hn_record pin_of(pid_t tid, uint64_t start, const char *old, const char *before,
                                      const char *want) {
        struct hn_record rec = {
                .kind = HN_RECORD_PIN,
                .key = { .tid = tid, .start = start },
                .tgid = tid,
                .unrestricted = !old,
                .before = list(before),
                .want = list(want),
                .boot_usec = start * 10000 + 2000000,
                .real_usec = 1700000000000000,
                .reason = "remote-faults",
                .cgroup = "/system.slice/web-1.service",
        };

        if (old)
                rec.old = list(old);
        return rec;
}

static inline void assert_mask(const struct hn_ledger *l, hn_mask_id id, const char *want) {
        char text[HN_MASK_LIST_MAX];

        assert_true(hn_mask_print_list(hn_ledger_mask(l, id), text, sizeof(text)) >= 0);
        assert_string_equal(text, want);
}
