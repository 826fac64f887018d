/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "work.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#define PAGE       4096U
#define LINE       64U
#define LINES_PAGE 8U /* cache lines touched on each page of a sweep */

uint64_t work_now(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return (uint64_t) ts.tv_sec * 1000000ULL + (uint64_t) ts.tv_nsec / 1000ULL;
}

void work_rest(uint64_t usec) {
        struct timespec ts = { .tv_sec = (time_t) (usec / 1000000ULL),
                               .tv_nsec = (long) (usec % 1000000ULL) * 1000 };

        (void) nanosleep(&ts, NULL);
}

void work_sweep(volatile char *buffer, size_t size) {
        for (size_t page = 0; page < size; page += PAGE)
                for (unsigned line = 0; line < LINES_PAGE; line++)
                        buffer[page + line * LINE] = (char) (buffer[page + line * LINE] + 1);
}

void work_walk(volatile char *buffer, size_t size, uint64_t *seed) {
        uint64_t x = *seed;

        for (size_t i = 0; i < size / PAGE * LINES_PAGE; i++) {
                size_t at;

                x ^= x << 13;
                x ^= x >> 7;
                x ^= x << 17;
                at = x % (size / LINE) * LINE;
                buffer[at] = (char) (buffer[at] + 1);
        }
        *seed = x;
}

void work_turn(int fd) {
        char c = 0;

        if (write(fd, &c, 1) != 1)
                _exit(EXIT_FAILURE);
        while (read(fd, &c, 1) < 0)
                if (errno != EINTR)
                        _exit(EXIT_FAILURE);
}
