/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

/* Writes all n bytes, however many calls that takes. Returns 0 or -errno; -ENOSPC for a file that takes no
 * more and does not say why. */
int hn_write_all(int fd, const char *data, size_t n);
