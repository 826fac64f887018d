/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <systemd/sd-bus.h>
#include <systemd/sd-daemon.h>
#include <time.h>
#include <unistd.h>

#include "base/usec.h"
#include "care.h"
#include "careenter.h"
#include "sample/procfs.h"
#include "scopeunit.h"
#include "statefile.h"
#include "verb.h"

/* How long systemd may take: it answers at once, or something is wrong with it. */
#define PATIENCE (30 * HN_USEC_PER_SEC)

/* The caller's cgroup in the hierarchy that the daemon goes by. */
static int own_cgroup(const struct hn_sysroot *root, char *buf, size_t size) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        ssize_t n = hn_read_all_at(root->fd, 1u << 20, &text, "proc/self/cgroup");
        const char *path;
        size_t length;

        if (n < 0)
                return (int) n;
        /* On hybrid machines v2 holds nothing and systemd's own hierarchy all. */
        if ((hn_proc_cgroup_parse(text, (size_t) n, NULL, &path, &length) < 0 || length <= 1) &&
            hn_proc_cgroup_parse(text, (size_t) n, "name=systemd", &path, &length) < 0 &&
            hn_proc_cgroup_parse(text, (size_t) n, NULL, &path, &length) < 0)
                return -ENOENT;
        while (length > 0 && *path == '/') {
                path++;
                length--;
        }
        if (length >= size)
                return -ENAMETOOLONG;
        memcpy(buf, path, length);
        buf[length] = '\0';
        return 0;
}

static sd_bus *bus_free(sd_bus *bus) {
        return sd_bus_flush_close_unref(bus);
}
HN_DEFINE_CLEANUP(sd_bus *, bus_free);

static int start(const struct hn_care *care, const char *command, struct hn_why *why) {
        _hn_cleanup_(bus_freep) sd_bus *bus = NULL;
        char caption[256];
        int r;

        if (sd_booted() <= 0)
                return hn_why(
                        why, -EHOSTDOWN,
                        "--rule needs systemd, which makes the cgroup, and this machine was not booted with it");
        r = care->user ? sd_bus_open_user(&bus) : sd_bus_open_system(&bus);
        if (r < 0)
                return hn_why(why, -EHOSTDOWN, "cannot reach systemd over the %s bus: %s",
                              care->user ? "user's" : "system", strerror(-r));
        (void) snprintf(caption, sizeof(caption), "%.120s (homenode run, rule %.80s)", command,
                        care->rule->name);
        for (char *p = caption; *p; p++)
                if ((unsigned char) *p < ' ' || (unsigned char) *p > '~')
                        *p = '?';
        return hn_scope_unit_start(bus, care->scope.unit, care->scope.slice, caption, getpid(), PATIENCE,
                                   why);
}

static void heard(void *userdata, const char *file, unsigned line, const char *text) {
        (void) userdata;
        hn_complain("%s:%u: %s", file, line, text);
}

/* What the user should know of a rule that will do nothing. */
static void notes(const struct hn_sysroot *root, const struct hn_config *config, const struct hn_rule *rule) {
        json_t *state = NULL;
        struct timespec now;
        enum hn_daemon_state daemon;

        (void) hn_statefile_read("/run/homenode", &state);
        (void) clock_gettime(CLOCK_REALTIME, &now);
        daemon = hn_statefile_judge(state, (uint64_t) now.tv_sec * HN_USEC_PER_SEC,
                                    hn_statefile_is_daemon(root, hn_state_number(state, "pid")));
        json_decref(state);
        if (daemon != HN_DAEMON_RUNNING && daemon != HN_DAEMON_STALE)
                hn_complain("note: homenoded does not run; until it does, nobody places this command");
        else if (HN_MIN(rule->mode, config->mode) != HN_MODE_MANAGE)
                hn_complain(
                        "note: rule %s does not manage, as Mode= of the rule or of [Daemon] is lower: this command "
                        "is looked at only",
                        rule->name);
}

int hn_care_enter(const struct hn_sysroot *root, const char *name, bool bound, const char *command,
                  struct hn_why *why) {
        _hn_cleanup_(hn_config_deinit) struct hn_config config = HN_CONFIG_NULL;
        char cgroup[4096], token[48];
        struct hn_care care;
        struct timespec now;
        size_t warnings;
        int r;

        r = hn_config_load("", NULL, heard, NULL, &config, &warnings);
        if (r < 0)
                return hn_why_errno(why, r, "cannot read the configuration");
        r = own_cgroup(root, cgroup, sizeof(cgroup));
        if (r < 0)
                return hn_why_errno(why, r, "cannot tell which cgroup this is");
        /* A process is given its number again some day, while a scope's last member may live on. */
        (void) clock_gettime(CLOCK_REALTIME, &now);
        (void) snprintf(token, sizeof(token), "%dx%" PRIx64, (int) getpid(), (uint64_t) now.tv_sec);
        r = hn_care_choose(&config, name, cgroup, geteuid(), bound, token, &care, why);
        if (r == 0 && !care.already) {
                r = start(&care, command, why);
                if (r == 0)
                        r = own_cgroup(root, cgroup, sizeof(cgroup));
                if (r == 0 && hn_care_rule_of(&config, cgroup) != care.rule)
                        r = hn_why(why, -ENXIO,
                                   "systemd put the command into %s, which rule %s does not cover", cgroup,
                                   name);
        }
        if (r < 0)
                return r;
        notes(root, &config, care.rule);
        return 0;
}
