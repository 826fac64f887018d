/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "random.h"

#include <stdio.h>
#include <string.h>

#define N(array) (sizeof(array) / sizeof((array)[0]))

/* Arguments as far as they are made. */
struct maker {
        uint64_t state;
        char *buf;
        size_t size, used;
};

/* xorshift64* */
static unsigned below(struct maker *m, size_t n) {
        m->state ^= m->state >> 12;
        m->state ^= m->state << 25;
        m->state ^= m->state >> 27;
        return (unsigned) ((m->state * UINT64_C(2685821657736338717) >> 33) % n);
}

static void put(struct maker *m, const char *text) {
        int n = snprintf(m->buf + m->used, m->size - m->used, "%s", text);

        if (n > 0)
                m->used += (size_t) n < m->size - m->used ? (size_t) n : m->size - m->used - 1;
}

static void put_number(struct maker *m, unsigned n) {
        static const char *const signs[] = { "", "", "", "", "", "+", " ", "0", "0x" };
        char text[32];

        (void) snprintf(text, sizeof(text), "%s%u", signs[below(m, N(signs))], n);
        put(m, text);
}

/* Ranges do not run backwards, which numactl takes for their first number. */
static void put_list(struct maker *m, unsigned last) {
        static const char *const odd[] = { "''",  "!",     "+",    "0,",    ",",    "x",     "-1",
                                           "0-",  "all,0", "same", "!same", "+all", "!all",  "0--1",
                                           "0-x", "1 ",    "99",   "0-99",  "++0",  "0-0-0", "1;2" };
        unsigned items = 1 + below(m, 3);

        if (below(m, 10) == 0) {
                const char *text = odd[below(m, N(odd))];

                put(m, *text == '\'' ? "" : "'");
                put(m, text);
                put(m, *text == '\'' ? "" : "'");
                return;
        }
        put(m, "'");
        if (below(m, 5) == 0)
                put(m, "!");
        if (below(m, 3) == 0)
                put(m, "+");
        for (unsigned i = 0; i < items; i++) {
                unsigned from = below(m, last + 1), to = from + below(m, last + 1 - from);

                put(m, i > 0 ? "," : "");
                if (i + 1 == items && below(m, 6) == 0) {
                        put(m, "all");
                        break;
                }
                put_number(m, from);
                if (below(m, 3) == 0) {
                        put(m, "-");
                        put_number(m, to);
                }
        }
        put(m, "'");
}

static void put_policy(struct maker *m) {
        static const char *const names[] = {
                "-m ", "-i ", "--membind=", "--interleave=", "-b -m ", "--preferred=", "-p ", "-m", "-i"
        };
        if (below(m, 8) == 0) {
                put(m, "-l ");
                return;
        }
        put(m, names[below(m, N(names))]);
        if (below(m, 8) == 0)
                put(m, "same");
        else
                put_list(m, 3);
        put(m, " ");
}

static void put_place(struct maker *m) {
        static const char *const names[] = { "-N ", "-c ", "--cpunodebind=", "-N" };

        if (below(m, 2) == 0) {
                put(m, below(m, 2) == 0 ? "-C " : "--physcpubind=");
                put_list(m, 7);
        } else {
                put(m, names[below(m, N(names))]);
                put_list(m, 3);
        }
        put(m, " ");
}

static void put_other(struct maker *m) {
        static const char *const others[] = { "-a ", "-t ", "--all ", "-b ", "--shmid 3 ", "-V ", "-d " };

        put(m, others[below(m, N(others))]);
}

static void put_region(struct maker *m) {
        static const char *const sizes[] = { "4k", "16k", "64K", "0x8000", "12k", "5000" };
        static const char *const deeds[] = { "-T ", "-V ", "-d ", "-t " };

        put(m, "-L ");
        put(m, sizes[below(m, N(sizes))]);
        put(m, below(m, 5) == 0 ? " -o 4k" : "");
        put(m, below(m, 2) == 0 ? " -f @F " : " -S @K ");
        if (below(m, 4) > 0) {
                put(m, below(m, 2) == 0 ? "-m " : "-i ");
                put_list(m, 3);
                put(m, " ");
        }
        /* numactl takes an offset for one inside the length. */
        if (!strstr(m->buf, " -o "))
                for (unsigned i = below(m, 4); i > 0; i--)
                        put(m, deeds[below(m, N(deeds))]);
        put(m, "@0");
}

void random_arguments(uint64_t number, char *buf, size_t size) {
        struct maker m = { .state = (number + 1) * UINT64_C(0x9e3779b97f4a7c15), .buf = buf, .size = size };

        *buf = '\0';
        for (unsigned i = 0; i < 8; i++)
                (void) below(&m, 2);
        if (below(&m, 4) == 0) {
                put_region(&m);
                return;
        }
        for (unsigned i = below(&m, 4); i > 0; i--) {
                unsigned which = below(&m, 10);

                if (which < 4)
                        put_policy(&m);
                else if (which < 8)
                        put_place(&m);
                else
                        put_other(&m);
        }
        /* For local, and with balancing, numactl shows what it cannot name. */
        if (below(&m, 8) == 0 && !strstr(buf, "-l ") && !strstr(buf, "-b "))
                put(&m, "-s @0");
        else if (below(&m, 3) == 0)
                put(&m, "-- @P a '' -m");
}
