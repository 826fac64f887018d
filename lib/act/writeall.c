/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <unistd.h>

#include "act/writeall.h"

int hn_write_all(int fd, const char *data, size_t n) {
        while (n > 0) {
                ssize_t k = write(fd, data, n);

                if (k < 0 && errno == EINTR)
                        continue;
                if (k <= 0)
                        return k < 0 ? -errno : -ENOSPC;
                data += k;
                n -= (size_t) k;
        }
        return 0;
}
