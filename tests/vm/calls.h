/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One command many times at once, each call with a clock of its own. */

#define CALLS_MAX 128U

struct call {
        pid_t pid;
        int fd;              /* its standard output */
        uint64_t begin, end; /* microseconds; end 0: it did not come to an end in time, and was killed */
        int status;          /* exit status, or 128 + signal */
        char answer[64];
        size_t n;
};

struct calls {
        struct call call[CALLS_MAX];
        unsigned n, hung;
        double slowest_ms, middle_ms; /* of those that came to an end; 0 without any */
};

/* Starts `n` calls, at most `at_once` of them at a time, and waits until all are over or `seconds` have
 * passed; the rest is killed, nobody else. What they complain of goes to CALLS_ERRORS, which is made anew.
 * Returns 0 or -errno. */
int calls_make(char *const argv[], unsigned n, unsigned at_once, unsigned seconds, struct calls *ret);

#define CALLS_ERRORS "/run/hn-calls.errors"
