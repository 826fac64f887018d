/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <systemd/sd-event.h>

#include "act/caps.h"
#include "act/ledger.h"
#include "act/world.h"
#include "base/macro.h"
#include "base/usec.h"
#include "daemon/advisor.h"
#include "daemon/bus.h"
#include "daemon/config.h"
#include "daemon/hands.h"
#include "daemon/log.h"
#include "daemon/options.h"
#include "daemon/override.h"
#include "daemon/overridestore.h"
#include "daemon/pager.h"
#include "daemon/rules.h"
#include "daemon/state.h"
#include "policy/cost.h"
#include "policy/model.h"
#include "policy/plan.h"
#include "sample/cgroupfs.h"
#include "sample/sampler.h"
#include "sample/sysroot.h"

#define HN_OVERRIDE_REFUSAL_MAX 512

/* Everything homenoded has, in one struct: what it looks at, what it remembers, what it decides, what it did.
 * The order of a tick is in hn_manager_step(); the files beside this one each carry out one part of it. */
struct hn_manager {
        struct hn_log log;
        struct hn_options options;
        struct hn_config config; /* its mode is the one in force */
        enum hn_mode allowed;    /* what file and command line allow */
        enum hn_mode asked;      /* by SetMode() on the bus; _HN_MODE_INVALID: nobody did */
        struct hn_caps caps;     /* storage of the sampler's hook */
        unsigned have_caps;      /* HN_CAPS_* */

        /* the machine */
        struct hn_sysroot root;
        struct hn_topology topo;
        struct hn_cgroupfs cgroups;
        bool numa; /* there are two nodes to choose from */
        hn_usec_t topo_checked;
        bool devices_found; /* for PreferDevice= */
        hn_usec_t devices_checked;

        /* sample, model, decide */
        struct hn_scope_list scopes;
        struct hn_sampler sampler;
        struct hn_snapshot snapshot; /* of the sampler; valid until the next sweep */
        struct hn_model *model;
        struct hn_plan *plan;
        struct hn_limits limits;

        /* act */
        struct hn_world world;    /* on a live machine */
        struct hn_ledger *ledger; /* NULL: cannot act, only advise */
        bool reloaded;            /* what a rule or an override held may not be held any more */
        bool look_again;          /* the next tick comes sooner */
        bool strangers; /* of late somebody came who is not opted in, and may have been born with a mask of
                           ours */
        hn_usec_t strays_checked, ledger_pruned;
        struct hn_pager pager;

        /* by hand */
        struct {
                struct hn_override_list list;
                struct hn_override_store store;
                char refusal[HN_OVERRIDE_REFUSAL_MAX]; /* of the last one */
        } overrides;
        struct hn_hands hands;

        /* tell */
        struct hn_bus bus;
        struct hn_advisor advisor;
        struct hn_state state;
        struct hn_state_scope *state_scopes;
        size_t n_state_scopes;
        struct hn_state_node *state_load; /* of as many nodes as the topology had at the last report */
        enum hn_signal signal;            /* best one in use at the last tick */
        bool signal_known;

        /* keep to the budget */
        uint64_t cost; /* of a tick on average, microseconds of CPU */
        hn_usec_t last_tick;
        uint64_t cpu_spent; /* of this process at the last tick, microseconds */

        sd_event *event;
        sd_event_source *timer, *page_timer, *end_timer;
};

/* Reads config and machine, opens the ledger, and restores whatever an earlier run left behind.
 * Returns 0 or -errno, having said what went wrong. The caller frees `*ret`. */
int hn_manager_new(const struct hn_options *options, struct hn_manager **ret);

/* Gives back all that is still ours and says so. */
struct hn_manager *hn_manager_free(struct hn_manager *m);
HN_DEFINE_CLEANUP(struct hn_manager *, hn_manager_free);

/* Serves until a signal, or the time that was asked for, ends it. Returns an exit status or -errno. */
int hn_manager_run(struct hn_manager *m);

/* One tick: sample, feed, decide, act, tell. `now` is CLOCK_MONOTONIC. An error here is one of memory; what
 * the machine answers never is. */
int hn_manager_step(struct hn_manager *m, hn_usec_t now);

/* Reads the config again, tells systemd meanwhile, and has a tick come. With any warning the settings stay as
 * they are. Returns 0, or -errno for settings that were not taken over. */
int hn_manager_reload(struct hn_manager *m);

/* The mode nothing goes beyond. */
enum hn_mode hn_manager_mode(const struct hn_manager *m);

/* Goes down to a mode, or up again as far as file and command line allow; lasts until the daemon ends.
 * Returns 0, -EPERM for a mode beyond that, or -errno. */
int hn_manager_set_mode(struct hn_manager *m, enum hn_mode mode);

/* The next tick comes now, or a quarter of an interval after the last: callers of the bus must not make the
 * daemon look all the time. Returns 0 or -errno. */
int hn_manager_hurry(struct hn_manager *m);
