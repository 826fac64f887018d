/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenode ps: where tasks run and where their memory is. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "pidarg.h"
#include "pstable.h"
#include "sample/cgroupglob.h"
#include "sample/machine.h"
#include "sample/procfs.h"
#include "sample/procview.h"
#include "sample/sysroot.h"
#include "table.h"
#include "verb.h"

struct arguments {
        struct hn_table_options table;
        const char *sysroot, *cgroup, *run_dir;
        bool threads;
        char **pids;
        size_t n_pids;
};

static void look_deinit(struct hn_ps_look *l) {
        for (size_t i = 0; i < l->n_views; i++)
                hn_proc_view_deinit(&l->views[i]);
        free(l->views);
        hn_owners_deinit(&l->owners);
        hn_mask_pool_deinit(&l->masks);
        hn_topology_deinit(&l->topo);
        hn_sysroot_close(&l->root);
}

static int help(void) {
        printf("Usage: homenode ps [OPTION...] [PID...]\n\n"
               "Shows where processes run and where their memory is, those with most memory\n"
               "elsewhere first.\n\n"
               "Options:\n"
               "  -T, --threads          a line a thread\n"
               "      --cgroup GLOB      processes in these cgroups, and below\n"
               "      --sysroot DIR      read a captured tree of /sys and /proc\n"
               "      --run-dir DIR      where the daemon keeps its ledger (/run/homenode)\n"
               "  -h, --help             this text\n");
        hn_table_help(hn_ps_columns, _HN_PS_COLUMN_MAX, stdout);
        return hn_flush_output();
}

/* Looking */

static int look_at(const struct hn_proc_viewer *viewer, const struct arguments *a, pid_t pid,
                   struct hn_ps_look *l) {
        struct hn_proc_view view;
        int r;

        if (l->n_views == l->n_allocated) {
                size_t more = l->n_allocated ? 2 * l->n_allocated : 64;
                struct hn_proc_view *grown = reallocarray(l->views, more, sizeof(*grown));

                if (!grown)
                        return -ENOMEM;
                l->views = grown;
                l->n_allocated = more;
        }
        r = hn_proc_view_read(viewer, pid, &view);
        if (r != 0)
                return r;
        if (a->cgroup && hn_glob_first(&a->cgroup, 1, view.cgroup) != 0) {
                hn_proc_view_deinit(&view);
                return 0;
        }
        if (view.pages_denied && l->n_denied++ == 0)
                l->first_denied = pid;
        l->views[l->n_views++] = view;
        return 0;
}

static int look_at_all(const struct hn_proc_viewer *viewer, const struct arguments *a, struct hn_ps_look *l) {
        _hn_cleanup_(hn_freep) pid_t *pids = NULL;
        size_t n;
        int r = hn_proc_list(&l->root, &pids, &n);

        if (r < 0)
                return r;
        for (size_t i = 0; i < n; i++) {
                r = look_at(viewer, a, pids[i], l);
                if (r == -ENOMEM)
                        return r;
        }
        return 0;
}

static int look_at_some(const struct hn_proc_viewer *viewer, const struct arguments *a,
                        struct hn_ps_look *l) {
        for (size_t i = 0; i < a->n_pids; i++) {
                pid_t pid;
                int r;

                r = hn_pid_parse(a->pids[i], &pid);
                if (r < 0)
                        return r;
                r = look_at(viewer, a, hn_pid_process(&l->root, pid), l);
                if (r == -ENOMEM)
                        return r;
                if (r == HN_PROC_KERNEL)
                        hn_complain("%d belongs to the kernel, which places it itself", pid);
                else if (r != 0)
                        hn_pid_complain_gone(pid);
                l->missing = l->missing || r != 0;
        }
        return 0;
}

/* Returns 0 or the exit code for what went wrong, which has been said. */
static int look(const struct arguments *a, struct hn_table *table, struct hn_ps_look *l) {
        struct hn_proc_viewer viewer = {
                .root = &l->root,
                .topo = &l->topo,
                .residency = { .root = &l->root, .query = hn_query_pages_live },
                .masks = &l->masks,
                /* Nearly all columns have to do with pages; a script that asks for others is spared the walk.
                 */
                .pages = hn_table_has(table, HN_PS_HOME) || hn_table_has(table, HN_PS_LOCAL) ||
                         hn_table_has(table, HN_PS_SIGNAL) || hn_table_has(table, HN_PS_PAGES) ||
                         hn_table_has(table, HN_PS_REMOTE) || hn_table_has(table, HN_PS_MEMORY),
        };
        int r;

        r = hn_sysroot_open(a->sysroot, &l->root);
        if (r < 0)
                return hn_complain_errno(r, "cannot open %s", a->sysroot ? a->sysroot : "/");
        r = hn_machine_read(&l->root, NULL, &l->topo);
        if (r < 0)
                return hn_complain_errno(r, "cannot read the machine");
        r = hn_owners_init(&l->owners, &l->root, &l->topo, &l->masks, a->run_dir);
        if (r < 0)
                return hn_complain_errno(r, "cannot read cgroups and ledger");
        l->balancing = hn_proc_read_balancing(&l->root);
        r = a->n_pids > 0 ? look_at_some(&viewer, a, l) : look_at_all(&viewer, a, l);
        if (r == -EINVAL)
                return hn_complain_usage("ps");
        return r < 0 ? hn_complain_errno(r, "cannot look at processes") : 0;
}

/* What people should know about the figures above. */
static void print_notes(const struct hn_ps_look *l) {
        if (!hn_topology_is_numa(&l->topo))
                printf("\nFewer than two nodes have usable CPUs: all memory is local here.\n");
        else if (!(l->balancing & 1))
                printf("\nkernel.numa_balancing is off, so there are no faults to judge by: residency "
                       "cannot tell the "
                       "threads\nof a process apart.\n");
}

static void complain_denied(const struct hn_ps_look *l, const char *run_dir) {
        const char *what_to_do = geteuid() == 0
                                         ? ""
                                         : ": run it as root, or ask the daemon by \"homenode status\"";

        if (l->n_denied == 1)
                hn_complain(
                        "permission to read /proc/%d/maps and to ask for its pages needs CAP_SYS_PTRACE%s",
                        l->first_denied, what_to_do);
        else if (l->n_denied > 1)
                hn_complain("permission to read /proc/%d/maps and to ask for its pages, and for those of %zu "
                            "other processes, needs CAP_SYS_PTRACE%s",
                            l->first_denied, l->n_denied - 1, what_to_do);
        if (l->owners.ledger_error < 0)
                hn_complain("the daemon's ledger %s/" HN_LEDGER_NAME
                            " cannot be read (%s), so narrowed masks have no owner here%s",
                            run_dir, strerror(-l->owners.ledger_error), what_to_do);
}

static int show(const struct arguments *a, const struct hn_table *t, const struct hn_ps_look *l) {
        json_t *rows, *object;
        int r;

        if (!a->table.json) {
                r = hn_table_print(t, stdout, &a->table);
                if (r == 0 && !a->table.noheadings && !a->table.raw && !a->table.columns)
                        print_notes(l);
        } else {
                r = hn_table_to_json(t, &rows);
                if (r == 0) {
                        object = json_pack("{s:o, s:i, s:I}", a->threads ? "threads" : "processes", rows,
                                           "kernel_balancing", (int) l->balancing, "denied",
                                           (json_int_t) l->n_denied);
                        r = hn_json_print(object, stdout);
                        json_decref(object);
                }
        }
        if (r < 0)
                return hn_complain_errno(r, "cannot print");
        complain_denied(l, a->run_dir);
        return hn_flush_output();
}

/* Returns -1 to go on, else the exit code. */
static int parse_arguments(int argc, char **argv, struct arguments *a) {
        static const struct option options[] = {
                { "threads", no_argument, NULL, 'T' },
                { "cgroup", required_argument, NULL, 'C' },
                { "sysroot", required_argument, NULL, 'S' },
                { "run-dir", required_argument, NULL, 'D' },
                { "help", no_argument, NULL, 'h' },
                HN_TABLE_LONG_OPTIONS,
                {},
        };
        int c;

        while ((c = getopt_long(argc, argv, "hT" HN_TABLE_OPTSTRING, options, NULL)) >= 0)
                switch (c) {
                case 'T': a->threads = true; break;
                case 'C': a->cgroup = optarg; break;
                case 'S': a->sysroot = optarg; break;
                case 'D': a->run_dir = optarg; break;
                case 'h': return help();
                default:
                        if (!hn_table_option(&a->table, c, optarg))
                                return hn_complain_usage("ps");
                }
        a->pids = argv + optind;
        a->n_pids = (size_t) (argc - optind);
        return -1;
}

int hn_verb_ps(int argc, char **argv) {
        struct arguments a = { .run_dir = "/run/homenode" };
        _hn_cleanup_(look_deinit) struct hn_ps_look l = { .root = HN_SYSROOT_NULL,
                                                          .owners = { .cgroups = HN_CGROUPFS_NULL } };
        _hn_cleanup_(hn_table_freep) struct hn_table *table = NULL;
        struct hn_column columns[_HN_PS_COLUMN_MAX];
        int r;

        r = parse_arguments(argc, argv, &a);
        if (r >= 0)
                return r;
        memcpy(columns, hn_ps_columns, sizeof(columns));
        columns[HN_PS_TID].shown = a.threads;
        table = hn_table_new(columns, HN_ELEMENTS(columns));
        r = hn_table_choose(table, &a.table, "ps");
        if (r != 0)
                return r;
        r = look(&a, table, &l);
        if (r != 0)
                return r;
        r = hn_ps_add_rows(table, &l, a.threads);
        if (r < 0)
                return hn_complain_errno(r, "cannot sort");
        if (a.cgroup && l.n_views == 0)
                hn_complain("no process is in a cgroup that matches %s; \"homenode ps -o PID,CGROUP\" shows "
                            "those there are",
                            a.cgroup);
        r = show(&a, table, &l);
        return r == EX_OK && l.missing ? EX_NOINPUT : r;
}
