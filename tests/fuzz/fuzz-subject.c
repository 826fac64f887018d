/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "sample/subject.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        struct hn_subject s = { .tgid = -1, .privileged = false };

        if (hn_subject_parse_status((const char *) data, n, &s) < 0) {
                assert(s.tgid == -1);
                return 0;
        }
        assert(s.tgid > 0);
        /* Nobody's who runs as two, or who may do more than a user. */
        assert(!hn_subject_is_of(&s, s.real) ||
               (!s.privileged && s.real == s.saved && s.real == s.effective));
        return 0;
}
