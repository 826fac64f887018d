/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "act/affinity.h"
#include "act/world.h"
#include "base/macro.h"
#include "base/maskpool.h"
#include "pinonce.h"
#include "policy/hand.h"
#include "sample/cgroupglob.h"
#include "sample/cgrouplist.h"
#include "sample/kin.h"
#include "sample/machine.h"
#include "sample/taskref.h"
#include "verb.h"

/* New threads are born while we go through them: after so many rounds they are born faster than we are. */
#define ROUNDS_MAX 100u

struct done {
        struct hn_task_key key;
        hn_mask_id before;
};

struct once {
        const struct hn_pin_target *target;
        const struct hn_mask *nodes, *cpus;
        struct hn_sysroot root;
        struct hn_topology topo;
        struct hn_world world;
        struct hn_mask_pool masks;
        struct done *done; /* in the order in which it was */
        size_t n, allocated;
        pid_t *tids; /* of this round */
        size_t n_tids, tids_allocated;
        struct hn_mask set; /* on which CPUs they are now, all of them */
};

static void once_deinit(struct once *o) {
        hn_world_deinit(&o->world);
        hn_topology_deinit(&o->topo);
        hn_sysroot_close(&o->root);
        hn_mask_pool_deinit(&o->masks);
        free(o->done);
        free(o->tids);
}

static int add_tids(struct once *o, const pid_t *tids, size_t n) {
        pid_t *bigger = reallocarray(o->tids, o->n_tids + n + 1, sizeof(*bigger));

        if (!bigger)
                return -ENOMEM;
        o->tids = bigger;
        o->tids_allocated = o->n_tids + n + 1;
        for (size_t i = 0; i < n; i++)
                o->tids[o->n_tids++] = tids[i];
        return 0;
}

static int list_cgroup(struct once *o) {
        _hn_cleanup_(hn_cgroup_list_deinit) struct hn_cgroup_list list = HN_CGROUP_LIST_NULL;
        _hn_cleanup_(hn_freep) char *pattern = hn_glob_quote(o->target->name);
        _hn_cleanup_(hn_freep) pid_t *tids = NULL;
        const char *patterns[] = { pattern };
        size_t allocated = 0, n;
        int r = pattern ? hn_cgroups_find(&o->world.cgroups, patterns, 1, &list) : -ENOMEM;

        for (size_t i = 0; r == 0 && i < list.n; i++) {
                r = hn_cgroup_read_threads(&o->world.cgroups, list.items[i].path, SIZE_MAX, &tids, &allocated,
                                           &n);
                if (r == 0)
                        r = add_tids(o, tids, n);
        }
        return r;
}

static int list_tids(struct once *o) {
        o->n_tids = 0;
        if (o->target->pid == 0)
                return list_cgroup(o);
        if (strcmp(o->target->kind, "thread") == 0)
                return add_tids(o, &o->target->pid, 1);
        return hn_kin_threads(o->world.proc_fd, o->target->pid, &o->tids, &o->n_tids, &o->tids_allocated);
}

static bool is_done(const struct once *o, const struct hn_task_key *key) {
        for (size_t i = o->n; i-- > 0;)
                if (o->done[i].key.tid == key->tid && o->done[i].key.start == key->start)
                        return true;
        return false;
}

static int remember(struct once *o, const struct hn_task_key *key, const struct hn_mask *before) {
        if (o->n == o->allocated) {
                size_t more = o->allocated ? 2 * o->allocated : 64;
                struct done *bigger = reallocarray(o->done, more, sizeof(*bigger));

                if (!bigger)
                        return -ENOMEM;
                o->done = bigger;
                o->allocated = more;
        }
        o->done[o->n].key = *key;
        return hn_mask_pool_intern(&o->masks, before, &o->done[o->n++].before);
}

static int complain_empty(const struct once *o, const struct hn_mask *allowed) {
        char list[HN_MASK_LIST_MAX];

        (void) hn_mask_print_list(allowed, list, sizeof(list));
        hn_complain(
                "none of the CPUs asked for is one that %s %s may use (its cpuset allows %s, isolated ones "
                "are never given): choose other nodes",
                o->target->kind, o->target->name, list);
        return EX_DATAERR;
}

/* Sets one mask, and verifies. Returns 0, 1 if the thread is gone or has been done already, an exit code that
 * has been said, negated and less 4096, or -errno. */
enum { SAID = -4096 };

static int pin_one(struct once *o, pid_t tid) {
        struct hn_mask before, allowed, want, after;
        struct hn_task_key key;
        int r = hn_task_key_read(o->world.proc_fd, tid, &key);

        if (r != 0 || is_done(o, &key))
                return r < 0 && !hn_is_gone(r) ? r : 1;
        hn_world_allowed(&o->world, tid, &allowed);
        want = hn_hand_mask(&o->topo, o->nodes, o->cpus, &allowed);
        if (hn_mask_empty(&want))
                return SAID - complain_empty(o, &allowed);
        r = hn_affinity_get(tid, &before);
        if (r < 0)
                return hn_is_gone(r) ? 1 : r;
        r = hn_affinity_set(tid, &want);
        if (r < 0)
                return hn_is_gone(r) ? 1 : r;
        r = hn_affinity_get(tid, &after);
        if (r == 0 && !hn_mask_subset(&after, &want))
                r = -EBUSY;
        if (r < 0)
                return hn_is_gone(r) ? 1 : r;
        o->set = hn_mask_or(&o->set, &after);
        return remember(o, &key, &before);
}

/* Round after round, until one finds nobody new. */
static int pin_all(struct once *o) {
        for (unsigned round = 0; round < ROUNDS_MAX; round++) {
                bool found = false;
                int r = list_tids(o);

                for (size_t i = 0; r >= 0 && i < o->n_tids; i++) {
                        r = pin_one(o, o->tids[i]);
                        found = found || r == 0;
                }
                if (r < 0)
                        return r;
                if (!found)
                        return 0;
        }
        return -EBUSY;
}

/* What somebody has to type to have the old masks again: one line where all of a process had the same. */
static void tell_way_back(const struct once *o, FILE *f) {
        char list[HN_MASK_LIST_MAX];
        bool same = strcmp(o->target->kind, "process") == 0;

        for (size_t i = 1; i < o->n; i++)
                same = same && o->done[i].before == o->done[0].before;
        fprintf(f, "The way back:\n");
        for (size_t i = 0; i < (same ? 1 : o->n); i++) {
                if (hn_mask_print_list(hn_mask_pool_get(&o->masks, o->done[i].before), list, sizeof(list)) <
                    0)
                        continue;
                if (same)
                        fprintf(f, "  taskset -a -p -c %s %s\n", list, o->target->name);
                else
                        fprintf(f, "  taskset -p -c %s %d\n", list, o->done[i].key.tid);
        }
}

static void tell(const struct once *o, FILE *f) {
        char list[HN_MASK_LIST_MAX];

        (void) hn_mask_print_list(&o->set, list, sizeof(list));
        fprintf(f,
                "No homenoded answers, so this was done once and is not kept: %zu %s of %s %s %s on CPUs %s.\n",
                o->n, o->n == 1 ? "thread" : "threads", o->target->kind, o->target->name,
                o->n == 1 ? "is" : "are", list);
        fprintf(f,
                "It has no end, no owner and no record; what is born later has the mask of whoever made it.\n");
        tell_way_back(o, f);
}

static int look(struct once *o) {
        int r = hn_sysroot_open(NULL, &o->root);

        if (r == 0)
                r = hn_machine_read(&o->root, NULL, &o->topo);
        return r == 0 ? hn_world_init(&o->world, &o->root) : r;
}

/* The nodes have to be there, whatever CPUs they have. Returns 0 or an exit code, which has been said. */
static int check_nodes(const struct once *o) {
        char list[HN_MASK_LIST_MAX];
        struct hn_mask unknown = *o->nodes;

        for (size_t i = 0; i < o->topo.n_nodes; i++) {
                const struct hn_node *node = &o->topo.nodes[i];

                hn_mask_remove(&unknown, node->id);
                if (hn_mask_has(o->nodes, node->id) && hn_mask_empty(&node->usable)) {
                        hn_complain("node %u has no CPU that a task could be given: leave it out", node->id);
                        return EX_DATAERR;
                }
        }
        if (hn_mask_empty(&unknown))
                return 0;
        (void) hn_mask_print_list(&unknown, list, sizeof(list));
        hn_complain("there is no node %s: see \"homenode nodes\"", list);
        return EX_NOINPUT;
}

int hn_pin_once(const struct hn_pin_target *target, const struct hn_mask *nodes, const struct hn_mask *cpus,
                FILE *f) {
        _hn_cleanup_(once_deinit) struct once o = {
                .target = target,
                .nodes = nodes,
                .cpus = cpus,
                .root = HN_SYSROOT_NULL,
                .world = { .proc_fd = -1, .cgroups = HN_CGROUPFS_NULL },
        };
        int r = look(&o);

        if (r < 0)
                return hn_complain_errno(r, "cannot read the machine");
        r = check_nodes(&o);
        if (r != 0)
                return r;
        r = pin_all(&o);
        if (o.n > 0)
                tell(&o, f);
        if (r <= SAID)
                return SAID - r;
        if (r == -EPERM || r == -EACCES) {
                hn_complain(
                        "the masks of %s %s are not yours to set: be their user, or root, or ask the daemon",
                        target->kind, target->name);
                return EX_NOPERM;
        }
        if (r < 0)
                return hn_complain_errno(r, "cannot set all masks of %s %s", target->kind, target->name);
        if (o.n == 0) {
                hn_complain("nothing runs in %s %s", target->kind, target->name);
                return EX_NOINPUT;
        }
        return EX_OK;
}
