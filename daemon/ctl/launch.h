/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "allowance.h"
#include "base/mask.h"
#include "mempolicy.h"
#include "why.h"

/* The arguments of "homenode run", understood: what is to be done, in order. Nothing is done here. */
enum hn_launch_act {
        HN_LAUNCH_POLICY, /* of the process, or of the shared memory if some was named before */
        HN_LAUNCH_NODES,  /* run on the CPUs of these nodes */
        HN_LAUNCH_CPUS,
        HN_LAUNCH_SHM, /* from here on it is about this shared memory */
        HN_LAUNCH_FILE,
        HN_LAUNCH_TOUCH,
        HN_LAUNCH_VERIFY,
        HN_LAUNCH_DUMP,
        HN_LAUNCH_DUMP_NODES,
        HN_LAUNCH_SHOW,     /* the last step */
        HN_LAUNCH_HARDWARE, /* likewise */
        _HN_LAUNCH_MAX,
};

struct hn_launch_step {
        enum hn_launch_act act;
        struct hn_mempolicy
                policy;   /* POLICY; VERIFY: what is expected; NODES and CPUS: its nodes are the set */
        const char *name; /* SHM: its key's file; FILE; borrowed from the arguments */
        bool strict;      /* POLICY of shared memory: pages that lie elsewhere are an error */
};

struct hn_launch {
        struct hn_launch_step *steps;
        size_t n_steps;
        bool shared;  /* about shared memory, not about a command */
        bool help;    /* show the help, do nothing else */
        bool version; /* likewise the version */
        bool ranges;  /* HARDWARE: CPUs as ranges */
        /* for the shared memory */
        uint64_t length, offset;
        mode_t mode;
        int id;
        bool huge;
        const char *rule;     /* start in the care of this rule, NULL for none */
        char **command;       /* NULL-terminated rest of the arguments */
        char warnings[2][96]; /* what has no effect; "" for nothing */
};

#define HN_LAUNCH_NULL ((struct hn_launch){ .mode = 0600 })

void hn_launch_deinit(struct hn_launch *l);

/* Reads the arguments in numactl's order and with its rules of what must stand before what. `argv` is the
 * verb and its arguments, getopt(3) reset. Devices are looked up below `root`. Returns 0; -EUCLEAN for wrong
 * usage, with the sentence unless getopt_long(3) has said it; -EINVAL or -ERANGE for a list, or what looking
 * up a device answered, with the sentence; -ENOMEM. The caller deinits `*ret`. */
int hn_launch_parse(int argc, char **argv, const struct hn_sysroot *root,
                    const struct hn_allowance *allowance, struct hn_launch *ret, struct hn_why *why);

/* "4096", "64k", "0x10m", "1g": bytes, in units of 1024. Returns 0, -EINVAL or -ERANGE. */
int hn_launch_parse_size(const char *text, uint64_t *ret);
