/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-daemon.h>
#include <unistd.h>

#include "act/appendfile.h"
#include "daemon/apply.h"
#include "daemon/manager.h"
#include "daemon/report.h"
#include "daemon/undo.h"
#include "sample/clock.h"
#include "sample/devnode.h"
#include "sample/machine.h"
#include "sample/procfs.h"

#define TOPOLOGY_PERIOD   (10 * HN_USEC_PER_SEC)
#define ONE_NODE_INTERVAL (60 * HN_USEC_PER_SEC)

enum hn_mode hn_manager_mode(const struct hn_manager *m) {
        return m->config.mode;
}

/* The config as the command line and SetMode() of the bus leave it: --all and --mode are for somebody who has
 * written none. */
static void cap_config(struct hn_manager *m) {
        if (m->options.all && m->options.mode != _HN_MODE_INVALID)
                m->config.mode = m->options.mode;
        else if (m->options.mode != _HN_MODE_INVALID)
                m->config.mode = HN_MIN(m->options.mode, m->config.mode);
        m->allowed = m->config.mode;
        if (m->asked != _HN_MODE_INVALID)
                m->config.mode = HN_MIN(m->asked, m->allowed);
}

int hn_manager_set_mode(struct hn_manager *m, enum hn_mode mode) {
        if (mode > m->allowed)
                return -EPERM;
        m->asked = mode == m->allowed ? _HN_MODE_INVALID : mode;
        m->config.mode = mode;
        /* What was held under the old mode may not be held any more: the next tick gives it back. */
        m->reloaded = true;
        if (mode < HN_MODE_MANAGE)
                hn_pager_stop(&m->pager);
        return hn_manager_hurry(m);
}

int hn_manager_hurry(struct hn_manager *m) {
        int r;

        if (!m->timer)
                return 0;
        m->look_again = true;
        r = sd_event_source_set_time(m->timer, HN_MAX(hn_clock(CLOCK_MONOTONIC),
                                                      hn_usec_add(m->last_tick, m->config.interval / 4)));
        return r < 0 ? r : sd_event_source_set_enabled(m->timer, SD_EVENT_ONESHOT);
}

static int load_config(struct hn_manager *m) {
        size_t warnings;
        int r;

        r = hn_config_load("", m->options.config, hn_log_config_warning, &m->log, &m->config, &warnings);
        if (r < 0)
                return hn_log_error_errno(&m->log, r, "Cannot read %s",
                                          m->options.config ? m->options.config : "the configuration");
        cap_config(m);
        return 0;
}

/* All that hangs on the topology, from which node indices come. */
static int build_model(struct hn_manager *m) {
        int r;

        m->numa = hn_topology_is_numa(&m->topo);
        m->model = hn_model_free(m->model);
        m->plan = hn_plan_free(m->plan);
        r = hn_model_new(&m->topo, &m->model);
        return r < 0 ? r : hn_plan_new(&m->topo, &m->plan);
}

/* A ledger that cannot be kept means that nothing is done, not that it is done without one. */
static void open_ledger(struct hn_manager *m) {
        char boot_id[HN_BOOT_ID_MAX];
        int r;

        if (!m->root.live)
                return;
        if (mkdir(m->options.run_dir, 0755) < 0 && errno != EEXIST)
                hn_log_warning_errno(&m->log, -errno, "Cannot make %s", m->options.run_dir);
        r = hn_ledger_boot_id(m->world.proc_fd, boot_id);
        if (r >= 0)
                r = hn_ledger_open(m->options.run_dir, boot_id, /* create= */ true, &m->ledger);
        if (r < 0) {
                hn_log_say(&m->log, LOG_ERR, "Cannot open the ledger in %s, so nothing will be changed: %s",
                           m->options.run_dir,
                           hn_appendfile_error(r) ? hn_appendfile_error(r) : strerror(-r));
                return;
        }
        if (hn_ledger_n_damaged(m->ledger) > 0)
                hn_log_say(&m->log, LOG_WARNING, "%zu damaged lines in %s/" HN_LEDGER_NAME " were left out",
                           hn_ledger_n_damaged(m->ledger), m->options.run_dir);
}

static int open_machine(struct hn_manager *m) {
        struct hn_privilege privilege;
        int r;

        r = hn_sysroot_open(m->options.sysroot, &m->root);
        if (r < 0)
                return hn_log_error_errno(&m->log, r, "Cannot open %s",
                                          m->options.sysroot ? m->options.sysroot : "/");
        r = hn_machine_read(&m->root, NULL, &m->topo);
        if (r < 0)
                return hn_log_error_errno(&m->log, r, "Cannot read the NUMA topology");
        r = m->root.live ? hn_world_init(&m->world, &m->root) : 0;
        if (r < 0)
                return hn_log_error_errno(&m->log, r, "Cannot look at /proc");
        r = hn_cgroupfs_open(&m->root, &m->cgroups);
        if (r < 0)
                return hn_log_error_errno(&m->log, r, "Cannot find the cgroups");
        privilege = hn_caps_privilege(&m->caps);
        r = hn_sampler_init(&m->sampler, &m->root, &m->topo, &privilege);
        if (r < 0)
                return hn_log_error_errno(&m->log, r, "Cannot look at tasks");
        return build_model(m);
}

int hn_manager_new(const struct hn_options *options, struct hn_manager **ret) {
        struct hn_manager *m = calloc(1, sizeof(*m));
        int r;

        if (!m)
                return -ENOMEM;
        m->options = *options;
        m->root = HN_SYSROOT_NULL;
        m->world.proc_fd = -1;
        m->cgroups = HN_CGROUPFS_NULL;
        m->config = HN_CONFIG_NULL;
        m->asked = _HN_MODE_INVALID;
        m->limits = HN_LIMITS_DEFAULT;
        m->overrides.list = HN_OVERRIDE_LIST_NULL;
        m->overrides.store = HN_OVERRIDE_STORE_NULL;
        m->state.pid = getpid();
        m->signal = HN_SIGNAL_NONE;
        hn_log_init(&m->log, stderr);
        hn_log_tick(&m->log, hn_clock(CLOCK_MONOTONIC));

        r = load_config(m);
        if (r >= 0)
                r = open_machine(m);
        if (r >= 0) {
                /* Root may open what belongs to the daemon's user; root without capabilities may not. */
                open_ledger(m);
                hn_override_load(m);
                r = hn_caps_settle(&m->have_caps);
        }
        if (r < 0) {
                /* What went wrong has been said; there is nothing yet to give back. */
                hn_manager_free(m);
                return r;
        }
        hn_undo_all(m, "that an earlier run had left behind");
        *ret = m;
        return 0;
}

struct hn_manager *hn_manager_free(struct hn_manager *m) {
        if (!m)
                return NULL;
        if (m->ledger)
                hn_undo_all(m, "at the end");
        hn_pager_stop(&m->pager);
        hn_bus_stop(&m->bus);
        hn_advisor_deinit(&m->advisor);
        m->timer = sd_event_source_disable_unref(m->timer);
        m->page_timer = sd_event_source_disable_unref(m->page_timer);
        m->end_timer = sd_event_source_disable_unref(m->end_timer);
        m->event = sd_event_unref(m->event);
        m->plan = hn_plan_free(m->plan);
        m->model = hn_model_free(m->model);
        hn_hands_deinit(&m->hands);
        hn_override_list_deinit(&m->overrides.list);
        hn_override_store_deinit(&m->overrides.store);
        m->ledger = hn_ledger_free(m->ledger);
        hn_sampler_deinit(&m->sampler);
        hn_scope_list_deinit(&m->scopes);
        hn_cgroupfs_close(&m->cgroups);
        if (m->world.proc_fd >= 0)
                hn_world_deinit(&m->world);
        hn_topology_deinit(&m->topo);
        hn_sysroot_close(&m->root);
        hn_config_deinit(&m->config);
        hn_log_deinit(&m->log);
        free(m->state_scopes);
        free(m->state_load);
        free(m);
        return NULL;
}

static int take_over_config(struct hn_manager *m) {
        struct hn_config config = HN_CONFIG_NULL;
        size_t warnings;
        int r;

        r = hn_config_load("", m->options.config, hn_log_config_warning, &m->log, &config, &warnings);
        if (r < 0 || warnings > 0) {
                hn_log_event(
                        &m->log, HN_EVENT_RELOAD_REFUSED, LOG_WARNING, NULL,
                        "The configuration is not taken over (%s); the settings stay as they were. Mend it and "
                        "reload again",
                        r < 0 ? strerror(-r) : "see the warnings above");
                hn_config_deinit(&config);
                return r < 0 ? r : -EBADMSG;
        }
        hn_config_deinit(&m->config);
        m->config = config;
        cap_config(m);
        m->reloaded = true;
        m->devices_found = false;
        hn_log_event(&m->log, HN_EVENT_RELOADED, LOG_NOTICE, NULL,
                     "Configuration reloaded: mode %s, %zu rules", hn_mode_to_string(hn_manager_mode(m)),
                     m->config.n_rules);
        return 0;
}

int hn_manager_reload(struct hn_manager *m) {
        int r, k;

        (void) sd_notify(0, "RELOADING=1");
        r = take_over_config(m);
        (void) sd_notify(0, "READY=1");
        hn_bus_retry(&m->bus);
        /* Who is opted out need not wait for the next tick. */
        k = hn_manager_hurry(m);
        return HN_MIN(r, k);
}

/* CPUs and nodes come and go. Indices of nodes change their meaning then, so all is given back and begun
 * anew. */
static int check_topology(struct hn_manager *m, hn_usec_t now) {
        struct hn_topology topo;
        int r;

        if (!m->root.live || now < hn_usec_add(m->topo_checked, TOPOLOGY_PERIOD))
                return 0;
        m->topo_checked = now;
        if (!hn_machine_changed(&m->root, &m->topo))
                return 0;

        hn_log_say(&m->log, LOG_NOTICE, "The machine has changed (CPUs or nodes): starting over");
        hn_pager_stop(&m->pager);
        hn_undo_all(m, "as the machine has changed");
        (void) hn_world_refresh(&m->world, &m->root);
        r = hn_machine_read(&m->root, NULL, &topo);
        if (r < 0) {
                hn_log_warning_errno(&m->log, r, "Cannot read the new topology; going on with the old one");
                return 0;
        }
        m->snapshot = (struct hn_snapshot){ .n_tasks = 0 };
        m->plan = hn_plan_free(m->plan);
        m->model = hn_model_free(m->model);
        hn_topology_deinit(&m->topo);
        m->topo = topo;
        r = hn_sampler_set_topology(&m->sampler, &m->topo);
        return r < 0 ? r : build_model(m);
}

/* Devices are plugged and pulled, and a new configuration names others. */
static void check_devices(struct hn_manager *m, hn_usec_t now) {
        struct hn_sysroot host = HN_SYSROOT_NULL;

        if (m->devices_found && now < hn_usec_add(m->devices_checked, TOPOLOGY_PERIOD))
                return;
        m->devices_found = true;
        m->devices_checked = now;
        /* The unit has a network of its own and no devices: what it cannot see is seen from outside of it. */
        if (m->root.live && hn_device_open_host(&m->sampler.privilege, &host) == 0)
                hn_config_find_devices(&m->config, &host);
        else
                hn_config_find_devices(&m->config, &m->root);
        hn_sysroot_close(&host);
}

int hn_manager_step(struct hn_manager *m, hn_usec_t now) {
        uint64_t before = hn_clock(CLOCK_PROCESS_CPUTIME_ID), acts;
        int r;

        hn_log_tick(&m->log, now);
        hn_advisor_end_round(&m->advisor);
        r = check_topology(m, now);
        if (r < 0)
                return r;
        hn_override_settle(m);
        if (!m->numa) {
                m->snapshot.kernel_balancing = hn_proc_read_balancing(&m->root);
                hn_report(m, now);
                hn_news_tick(&m->bus, now);
                return 0;
        }

        check_devices(m, now);
        hn_scope_list_deinit(&m->scopes);
        r = hn_rules_scopes(&m->config, &m->cgroups, m->options.all, &m->scopes);
        if (r == -ENOMEM)
                return r;
        if (r < 0)
                hn_log_event_once(&m->log, "cgroups", r, HN_EVENT_DENIED, LOG_WARNING, NULL,
                                  "Cannot go through the cgroups: %s", strerror(-r));

        r = hn_hands_join(m);
        if (r < 0)
                return r;
        m->sampler.chooser = hn_hands_chooser(m);
        r = hn_sampler_sweep(&m->sampler, m->scopes.scopes, m->scopes.n, now, &m->snapshot);
        if (r < 0)
                return r;
        hn_hands_mark(m);
        r = hn_model_feed(m->model, &m->snapshot);
        if (r < 0)
                return r;
        hn_undo_strays(m, now);
        r = hn_plan_build(m->plan, m->model, &m->snapshot, &m->limits);
        if (r < 0)
                return r;
        acts = hn_clock(CLOCK_PROCESS_CPUTIME_ID);
        r = hn_apply_plan(m);
        if (r < 0)
                return r;
        acts = hn_clock(CLOCK_PROCESS_CPUTIME_ID) - acts;
        hn_report(m, now);
        hn_news_tick(&m->bus, now);

        /* Acts are not what the next looks will cost, and it is after them that much is to be seen. */
        m->cost = hn_average(m->cost, hn_clock(CLOCK_PROCESS_CPUTIME_ID) - before - acts, HN_USEC_INFINITY);
        return 0;
}

static hn_usec_t next_interval(const struct hn_manager *m) {
        return m->numa ? hn_cost_interval(m->cost, m->config.cpu_budget_permille, m->config.interval)
                       : ONE_NODE_INTERVAL;
}

static int on_tick(sd_event_source *s, uint64_t usec, void *userdata) {
        struct hn_manager *m = userdata;
        hn_usec_t now, wait;
        int r;

        r = sd_event_now(m->event, CLOCK_MONOTONIC, &now);
        if (r < 0)
                return r;
        r = hn_manager_step(m, now);
        if (r < 0)
                return hn_log_error_errno(&m->log, r, "A tick failed");
        m->state.interval = next_interval(m);
        /* Who has just been opted in is known after two looks, and is best held before the kernel's first
         * passes over its memory. */
        wait = m->look_again ? m->state.interval / 4 : m->state.interval;
        /* An override ends when it was said to. */
        wait = HN_MIN(wait, HN_MAX(hn_override_wait(m), HN_USEC_PER_MSEC));
        r = sd_event_source_set_time(s, hn_next_due(usec, wait, hn_clock(CLOCK_MONOTONIC)));
        m->look_again = false;
        if (r < 0)
                return r;
        return sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
}

static int on_pages(sd_event_source *s, uint64_t usec, void *userdata) {
        struct hn_manager *m = userdata;
        hn_usec_t pause = hn_pager_step(&m->pager, m, usec);
        int r;

        if (pause == HN_USEC_INFINITY)
                return 0; /* done; the next job arms it again */
        r = sd_event_source_set_time_relative(s, pause);
        return r < 0 ? r : sd_event_source_set_enabled(s, SD_EVENT_ONESHOT);
}

static int on_hangup(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata) {
        struct hn_manager *m = userdata;

        (void) s;
        (void) si;
        /* What is wrong has been said, and is no reason to end. */
        (void) hn_manager_reload(m);
        return 0;
}

static int on_over(sd_event_source *s, uint64_t usec, void *userdata) {
        (void) usec;
        (void) userdata;
        return sd_event_exit(sd_event_source_get_event(s), 0);
}

static int on_terminate(sd_event_source *s, const struct signalfd_siginfo *si, void *userdata) {
        (void) si;
        (void) userdata;
        return sd_event_exit(sd_event_source_get_event(s), 0);
}

/* A timer that fails would be switched off quietly; ours ends the daemon instead, and systemd starts it
 * again. */
static int add_timer(struct hn_manager *m, sd_event_source **source, hn_usec_t at,
                     sd_event_time_handler_t handler) {
        int r = sd_event_add_time(m->event, source, CLOCK_MONOTONIC, at, 0, handler, m);

        return r < 0 ? r : sd_event_source_set_exit_on_failure(*source, true);
}

static int arm(struct hn_manager *m) {
        hn_usec_t now = hn_clock(CLOCK_MONOTONIC);
        sigset_t set;
        int r;

        sigemptyset(&set);
        sigaddset(&set, SIGTERM);
        sigaddset(&set, SIGINT);
        sigaddset(&set, SIGHUP);
        if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
                return -errno;

        r = sd_event_new(&m->event);
        if (r >= 0)
                r = sd_event_add_signal(m->event, NULL, SIGTERM, on_terminate, m);
        if (r >= 0)
                r = sd_event_add_signal(m->event, NULL, SIGINT, on_terminate, m);
        if (r >= 0)
                r = sd_event_add_signal(m->event, NULL, SIGHUP, on_hangup, m);
        if (r >= 0)
                r = add_timer(m, &m->timer, now, on_tick);
        if (r >= 0)
                r = add_timer(m, &m->page_timer, 0, on_pages);
        if (r >= 0)
                r = sd_event_source_set_enabled(m->page_timer, SD_EVENT_OFF);
        if (r >= 0 && m->options.run_for != HN_USEC_INFINITY)
                r = add_timer(m, &m->end_timer, hn_usec_add(now, m->options.run_for), on_over);
        if (r >= 0)
                r = sd_event_set_watchdog(m->event, true);
        return HN_MIN(r, 0);
}

static void say_hello(struct hn_manager *m) {
        hn_log_event(&m->log, HN_EVENT_STARTED, LOG_INFO, NULL,
                     "homenoded " HN_VERSION ": mode %s, %zu rules, %zu nodes, kernel balancing %s",
                     hn_mode_to_string(hn_manager_mode(m)), m->config.n_rules, m->topo.n_nodes,
                     hn_proc_read_balancing(&m->root) & 1 ? "on" : "off");
        if (!m->numa)
                hn_log_event(&m->log, HN_EVENT_NOTHING_TO_DO, LOG_NOTICE, NULL,
                             "This machine has one node with CPUs: there is nothing to do");
        if (m->root.live && !(m->have_caps & HN_CAPS_NICE))
                hn_log_event(&m->log, HN_EVENT_DENIED, LOG_WARNING, NULL,
                             "Without CAP_SYS_NICE only the tasks of this user can be pinned");
        if (m->root.live && !(m->have_caps & HN_CAPS_PTRACE))
                hn_log_event(&m->log, HN_EVENT_DENIED, LOG_WARNING, NULL,
                             "Without CAP_SYS_PTRACE the pages of other users' processes cannot be seen");
}

int hn_manager_run(struct hn_manager *m) {
        int r;

        r = arm(m);
        if (r < 0)
                return hn_log_error_errno(&m->log, r, "Cannot set up the event loop");
        say_hello(m);
        r = hn_advisor_start(m);
        if (r >= 0)
                r = hn_bus_start(&m->bus, m);
        if (r < 0)
                return hn_log_error_errno(&m->log, r, "Cannot set up the bus");
        (void) sd_notify(0, "READY=1");
        r = sd_event_loop(m->event);
        (void) sd_notify(0, "STOPPING=1\nSTATUS=Giving back what was changed.");
        hn_log_event(&m->log, HN_EVENT_STOPPING, LOG_INFO, NULL, "Stopping");
        hn_bus_stop(&m->bus);
        hn_undo_all(m, "at the end");
        hn_report_stopped(m);
        return r;
}
