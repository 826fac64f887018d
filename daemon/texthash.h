/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* FNV-1a over bytes: to see whether something changed without keeping it. Not for anything that an enemy may
 * choose and gain from: two texts with one hash mean that a change is not told. */
#define HN_TEXT_HASH_BEGIN UINT64_C(0xcbf29ce484222325)

static inline uint64_t hn_text_hash(uint64_t h, const void *bytes, size_t n) {
        const uint8_t *p = bytes;

        for (size_t i = 0; i < n; i++)
                h = (h ^ p[i]) * UINT64_C(0x100000001b3);
        return h;
}

/* NULL has a hash of its own. */
static inline uint64_t hn_text_hash_string(const char *s) {
        return s ? hn_text_hash(HN_TEXT_HASH_BEGIN, s, strlen(s)) : 0;
}
