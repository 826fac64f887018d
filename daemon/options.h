/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

#include "base/usec.h"
#include "policy/snapshot.h"

/* The command line of homenoded. The strings are argv's. */
struct hn_options {
        const char *config;      /* this file alone, no drop-ins; NULL: the usual places */
        const char *sysroot;     /* NULL: the live machine */
        const char *run_dir;     /* ledger and state */
        const char *bus_address; /* as sd_bus_set_address(3), or "none"; NULL: the system bus, on a live
                                    machine */
        enum hn_mode mode;       /* no rule goes beyond it; _HN_MODE_INVALID where the config decides */
        hn_usec_t run_for;       /* leave after; HN_USEC_INFINITY: stay */
        bool all;                /* every cgroup is opted in, to advise */
        bool restore;            /* undo what the ledger says, then leave */
};

#define HN_RUN_DIR "/run/homenode"

#define HN_OPTIONS_NULL \
        ((struct hn_options){ .run_dir = HN_RUN_DIR, .mode = _HN_MODE_INVALID, .run_for = HN_USEC_INFINITY })

/* Positive answer: help or version was asked for and printed. */
enum { _HN_OPTIONS_OK, HN_OPTIONS_DONE };

/* Returns 0, HN_OPTIONS_DONE, or -EINVAL after one line to stderr that says what is wrong. */
int hn_options_parse(int argc, char **argv, struct hn_options *ret);
