/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* What a new workload asks for. */
struct hn_wish {
        uint64_t cpus;   /* thousandths of a CPU */
        uint64_t memory; /* bytes */
};

#define HN_WISH_NULL ((struct hn_wish){})

/* Nobody has more: a million CPUs. */
#define HN_WISH_CPUS_MAX (UINT64_C(1000000) * 1000)

/* Reads "CPUS[:MB]": CPUs with up to three decimals; MiB, or a number with K, M, G or T behind it. Returns 0,
 * -EINVAL for other text, -ERANGE for what does not fit. */
int hn_wish_parse(const char *text, size_t n, struct hn_wish *ret);
