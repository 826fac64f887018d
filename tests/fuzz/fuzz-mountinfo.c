/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>

#include "sample/mountinfo.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check(const char *line, size_t n, struct hn_text t) {
        char buf[4096];
        int k;

        assert(t.n > 0 && t.p >= line && t.p + t.n <= line + n);
        k = hn_mount_unescape(t, buf, sizeof(buf));
        if (k < 0) {
                assert(t.n >= sizeof(buf));
                return;
        }
        assert((size_t) k <= t.n && buf[k] == '\0');
        /* The very room it needs is enough, one less is not. */
        assert(hn_mount_unescape(t, buf, (size_t) k + 1) == k);
        assert(hn_mount_unescape(t, buf, (size_t) k) < 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        const char *line = (const char *) data;
        struct hn_mount m;

        if (hn_mount_parse(line, n, &m) < 0)
                return 0;
        check(line, n, m.root);
        check(line, n, m.point);
        check(line, n, m.type);
        check(line, n, m.options);
        return 0;
}
