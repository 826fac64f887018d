/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenode match: which rule a process falls under, and why. */
#include <errno.h>
#include <getopt.h>
#include <sysexits.h>

#include "matchview.h"
#include "pidarg.h"
#include "sample/taskref.h"
#include "table.h"
#include "verb.h"

struct match {
        const char *sysroot, *root, *file;
        bool json;
        struct hn_sysroot machine;
        struct hn_cgroupfs cgroups;
        struct hn_config config;
        json_t *views;
        bool missing;
};

static void match_deinit(struct match *m) {
        json_decref(m->views);
        hn_config_deinit(&m->config);
        hn_cgroupfs_close(&m->cgroups);
        hn_sysroot_close(&m->machine);
}

static int help(void) {
        printf("Usage: homenode match [OPTION...] PID...\n\n"
               "Shows which rule of the configuration matches a process, why others do not, and\n"
               "the settings that follow. The daemon needs not run, nor have read the files yet.\n\n"
               "Options:\n"
               "      --config FILE      read this file alone\n"
               "      --root DIR         look for the files below DIR\n"
               "      --sysroot DIR      read a captured tree of /sys and /proc\n"
               "  -J, --json             JSON\n"
               "  -h, --help             this text\n");
        return hn_flush_output();
}

static int load(struct match *m) {
        size_t warnings;
        int r;

        r = hn_sysroot_open(m->sysroot, &m->machine);
        if (r < 0)
                return hn_complain_errno(r, "cannot open %s", m->sysroot ? m->sysroot : "/");
        r = hn_cgroupfs_open(&m->machine, &m->cgroups);
        if (r < 0)
                return hn_complain_errno(r, "cannot find the cgroups");
        r = hn_config_load(m->root, m->file, NULL, NULL, &m->config, &warnings);
        if (r < 0)
                return hn_complain_errno(r, "cannot read %s", m->file ? m->file : "the configuration");
        if (warnings > 0)
                hn_complain("the configuration has %zu %s, which \"homenode check-config\" shows", warnings,
                            warnings == 1 ? "mistake" : "mistakes");
        return 0;
}

static int look(struct match *m, char **pids, size_t n) {
        const struct hn_match_viewer viewer = { .root = &m->machine,
                                                .cgroups = &m->cgroups,
                                                .config = &m->config };

        for (size_t i = 0; i < n; i++) {
                json_t *view;
                pid_t pid;
                int r;

                if (hn_pid_parse(pids[i], &pid) < 0)
                        return hn_complain_usage("match");
                r = hn_match_view(&viewer, pid, &view);
                if (r == HN_TASK_GONE) {
                        hn_pid_complain_gone(pid);
                        m->missing = true;
                        continue;
                }
                if (r == 0)
                        r = json_array_append_new(m->views, view) < 0 ? -ENOMEM : 0;
                if (r < 0)
                        return hn_complain_errno(r, "cannot look at process %d", pid);
        }
        return 0;
}

static int show(const struct match *m) {
        const json_t *view;
        json_t *o;
        size_t i;
        int r;

        if (m->json) {
                o = json_pack("{s:O}", "processes", m->views);
                r = hn_json_print(o, stdout);
                json_decref(o);
                if (r < 0)
                        return hn_complain_errno(r, "cannot print");
                return hn_flush_output();
        }
        json_array_foreach (m->views, i, view) {
                if (i > 0)
                        putchar('\n');
                hn_match_print(view);
        }
        return hn_flush_output();
}

int hn_verb_match(int argc, char **argv) {
        static const struct option options[] = {
                { "config", required_argument, NULL, 'C' },  { "help", no_argument, NULL, 'h' },
                { "json", no_argument, NULL, 'J' },          { "root", required_argument, NULL, 'R' },
                { "sysroot", required_argument, NULL, 'S' }, {},
        };
        _hn_cleanup_(match_deinit) struct match m = {
                .root = "", .machine = HN_SYSROOT_NULL, .cgroups = HN_CGROUPFS_NULL, .config = HN_CONFIG_NULL
        };
        int c, r;

        while ((c = getopt_long(argc, argv, "hJ", options, NULL)) >= 0)
                switch (c) {
                case 'C': m.file = optarg; break;
                case 'h': return help();
                case 'J': m.json = true; break;
                case 'R': m.root = optarg; break;
                case 'S': m.sysroot = optarg; break;
                default: return hn_complain_usage("match");
                }
        if (optind == argc) {
                hn_complain("a process id is missing");
                return hn_complain_usage("match");
        }
        m.views = json_array();
        r = load(&m);
        if (r == 0)
                r = look(&m, argv + optind, (size_t) (argc - optind));
        if (r != 0)
                return r;
        r = show(&m);
        return r == EX_OK && m.missing ? EX_NOINPUT : r;
}
