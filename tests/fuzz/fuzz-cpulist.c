/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What was read as a list and printed reads as the same set, and prints as the same text. */
#include <stdlib.h>
#include <string.h>

#include "base/mask.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        char text[HN_MASK_LIST_MAX], again[HN_MASK_LIST_MAX];
        struct hn_mask m, same;

        if (hn_mask_parse_list((const char *) data, n, &m) < 0)
                return 0;
        if (hn_mask_print_list(&m, text, sizeof(text)) < 0)
                abort();
        if (hn_mask_parse_list(text, strlen(text), &same) < 0 || !hn_mask_equal(&m, &same))
                abort();
        if (hn_mask_print_list(&same, again, sizeof(again)) < 0 || strcmp(text, again) != 0)
                abort();
        return 0;
}
