/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "load.h"
#include "loads.h"
#include "masks.h"

/* One scenario under one policy: what it is made of. The scenarios themselves are in scenario.c. */

#define LOAD_UNIT   "hn-load.service"
#define DAEMON_UNIT "homenoded.service"
#define RULE_FILE   "/etc/homenode/homenode.conf.d/50-guest.conf"
#define STATE_FILE  "/run/homenode/state.json"

enum policy {
        POLICY_NONE,
        POLICY_KERNEL,
        POLICY_NUMAD,
        POLICY_HOMENODE,
        POLICY_HARDBIND,
        POLICY_MAX,
        POLICY_INVALID = -1
};

/* A line of the plan: "SCENARIO POLICY [seconds=N] [before=N] [kills=N] [seed=N] [pin=1] [trace=1]". */
struct plan_line {
        char scenario[32];
        enum policy policy;
        unsigned seconds; /* measured after the opt-in; 0: what the scenario wants */
        unsigned before;  /* measured before it */
        unsigned kills;
        unsigned seed;
        bool pin;   /* the load's threads stay on the node they start on */
        bool trace; /* per-thread rows, fault statistics too, for each second */
        bool demo;  /* for a reader, not for a log */
};

struct trial {
        const struct plan_line *line;
        const struct hn_load_cpus *cpus;
        const struct hn_load_table *table;
        bool asan;           /* a homenoded with sanitizers */
        bool doubt_leaks;    /* when all is over, have them see a leak */
        struct masks before; /* of the load, before the policy came */
        bool balancing;      /* kernel.numa_balancing from the opt-in on; before it is 0 */
        uint64_t opt_in;     /* time of the opt-in, for the series */
        uint64_t home_since; /* when the share last rose to HOME_SHARE, 0: it is below */
        pid_t daemon;        /* where it runs before the opt-in, else 0 */
        bool until_home;     /* measure no longer than until the load is home for 5 s */
        bool pinned;         /* every thread of the load has another mask than before: seen once */
        json_t *json, *series, *checks, *trace;
        double on_node[HN_LOAD_NODES_MAX]; /* sums over `on_node_n` samples of the window */
        unsigned on_node_n;
        unsigned last_on_node[HN_LOAD_NODES_MAX];
        double busy[HN_LOAD_NODES_MAX]; /* by index of node: sums, over `busy_n` samples since the opt-in, of
                                           CPUs */
        double busy_spread;             /* sum of: on the busiest less on the idlest */
        unsigned busy_n;
        unsigned samples;
        uint64_t sweeps;       /* work done by the load so far, in sweeps over a thread's buffer */
        uint64_t kernel_pages; /* numa_pages_migrated at the opt-in */
};

/* A share from which on the load counts as home. */
#define HOME_SHARE 0.95

/* The window over which a policy is judged: from 20 s after the opt-in on. */
#define WINDOW_FROM 20.0

const char *policy_name(enum policy policy);
enum policy policy_from_name(const char *name);

/* Starts the load and waits until its memory is in place; takes the masks. `extra` is appended to its
 * arguments. */
int trial_load_start(struct trial *t, enum load load, const char *extra);
void trial_load_stop(struct trial *t);

/* Switches kernel.numa_balancing. */
int trial_balancing(bool on);

/* Writes the rule file for the unit of that name, in mode manage. */
int trial_rule_write(const char *unit, const char *extra);

/* Starts the daemon before the load, with nothing opted in: the policy then starts with a rule and a reload,
 * and what is measured is the way home and not how long an emulated machine takes to set up a sandbox under
 * full load. */
int trial_daemon_prepare(struct trial *t);

/* Brings the policy in and marks the opt-in; takes it out again. The first does not wait until its service is
 * up. */
int trial_policy_start(struct trial *t);
int trial_policy_stop(struct trial *t);

/* Takes a sample each second until `seconds` after the opt-in. With `until` it ends earlier, as soon as that
 * says so. */
int trial_measure(struct trial *t, unsigned seconds, bool (*until)(struct trial *t));

/* Conditions for it. */
bool trial_all_pinned(struct trial *t);
bool trial_is_home(struct trial *t);
bool trial_daemon_up(struct trial *t);

/* Waits, without samples, until the condition holds; at most `seconds`. */
bool trial_wait(struct trial *t, unsigned seconds, bool (*until)(struct trial *t));

/* Whether homenoded's unit is active: started, ready and not failed. */
bool trial_service_active(void);

/* Threads of the load whose mask is not what it was before. */
size_t trial_masks_changed(struct trial *t);

/* A named check with what was seen and what was wanted. */
void trial_check(struct trial *t, const char *name, bool ok, json_t *got, const char *want);

/* The daemon's state, or NULL. */
json_t *trial_state(void);

/* First second after the opt-in from which a series stays at HOME_SHARE or above; JSON's null if it does not.
 * A new reference. */
json_t *series_settled(const json_t *series);

/* Fills the fields that every scenario has. */
void trial_figures(struct trial *t);

/* The daemon's journal since then ("@SECONDS" of the real-time clock) as a string; a new reference. */
json_t *trial_journal(const char *since);
