/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "sample/procfs.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

/* A path is a part of its line and absolute; which line is the question's choice. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        static const char *const controllers[] = { NULL, "cpuset", "name=systemd" };
        const char *text = (const char *) data, *path;
        size_t length;

        for (size_t i = 0; i < 3; i++) {
                if (hn_proc_cgroup_parse(text, n, controllers[i], &path, &length) < 0)
                        continue;
                assert(length > 0 && path > text && path + length <= text + n);
                assert(*path == '/' && path[-1] == ':' && !memchr(path, '\n', length));
                assert(path + length == text + n || path[length] == '\n');
        }
        return 0;
}
