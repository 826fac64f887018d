/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* An end for programs that others wait for, whatever it is that holds them up: a file system that does not
 * answer, a reader who does not read. libvirt starts no guest before numad has answered, and waits for that
 * without a bound. */

/* Several times what the slowest of a hundred at once takes on an emulated machine that hardly runs: 14 s. */
#define HN_DEADLINE_ADVICE 60u /* seconds */

/* Lets SIGALRM end the process in so many seconds, whoever blocked or ignored it before: by its default
 * action, since the kernel wakes a process for that in places where it would not for a handler. */
void hn_deadline_set(unsigned seconds);
