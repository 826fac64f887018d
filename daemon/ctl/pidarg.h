/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <sys/types.h>

#include "sample/sysroot.h"

/* Process ids as arguments. */

/* Reads one. Returns 0, or -EINVAL having said that it is none. */
int hn_pid_parse(const char *text, pid_t *ret);

/* The process of a thread; the number itself if that cannot be read. */
pid_t hn_pid_process(const struct hn_sysroot *root, pid_t tid);

/* Says that a process is not there, and where to find those that are. */
void hn_pid_complain_gone(pid_t pid);
