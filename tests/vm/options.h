/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "load.h"

/* The load's command line. */

enum pin { PIN_NONE, PIN_ODD, PIN_ALL };

struct options {
        const char *table;
        unsigned processes;
        unsigned threads; /* of each process */
        unsigned mib;     /* of each thread, or of each process when shared */
        int run[HN_LOAD_THREADS_MAX];
        int mem[HN_LOAD_THREADS_MAX];
        unsigned n_placed;
        enum pin pin;  /* which threads keep the mask of their first node */
        unsigned duty; /* percent of the time a thread works; it sleeps for the rest, after each sweep */
        bool bind;     /* keep the memory bound */
        bool shared;   /* one buffer for the threads of a process, all of them sweep all of it */
        bool thp;
        bool random;    /* walks instead of sweeps */
        bool turns;     /* the two threads of a process take turns */
        unsigned ramp;  /* seconds between the beginnings of the threads of a process */
        unsigned swap;  /* seconds after which they change buffers */
        unsigned burst; /* seconds until a burst of short tasks, 0: none */
        unsigned storm; /* short tasks at a time */
        bool report;
};

/* Returns false, having said how it is used, when the arguments make no sense. */
bool options_parse(int argc, char *argv[], struct options *ret);
