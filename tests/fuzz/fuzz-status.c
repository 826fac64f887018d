/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "sample/procfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        static char list[HN_MASK_LIST_MAX];
        struct hn_proc_status s;
        struct hn_mask again;
        int k;

        if (hn_proc_status_parse((const char *) data, n, &s) < 0)
                return 0;
        assert(s.tgid > 0 && s.pinned % 1024 == 0 && s.locked % 1024 == 0);
        assert(s.has_cpus || hn_mask_empty(&s.cpus));
        assert(s.has_mems || hn_mask_empty(&s.mems));
        k = hn_mask_print_list(&s.cpus, list, sizeof(list));
        assert(k < 0 ||
               (hn_mask_parse_list(list, (size_t) k, &again) == 0 && hn_mask_equal(&s.cpus, &again)));
        return 0;
}
