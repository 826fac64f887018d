/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

#include "act/tag.h"
#include "base/macro.h"
#include "owner.h"

/* Far more than a ledger of 100,000 tasks has. */
#define LEDGER_MAX ((size_t) 256 << 20)

/* The daemon opens its ledger to write, and trusts only its own; we take any that we may read, since all we
 * do is show what it says. */
static int read_ledger(const struct hn_sysroot *root, const char *run_dir, struct hn_ledger **ret) {
        _hn_cleanup_(hn_ledger_freep) struct hn_ledger *ledger = NULL;
        _hn_cleanup_(hn_freep) char *text = NULL;
        char boot_id[HN_BOOT_ID_MAX];
        int dir, proc, r;
        ssize_t n;

        dir = open(run_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
                return -errno;
        n = hn_read_all_at(dir, LEDGER_MAX, &text, HN_LEDGER_NAME);
        (void) close(dir);
        if (n < 0)
                return (int) n;
        proc = openat(root->fd, "proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (proc < 0)
                return -errno;
        r = hn_ledger_boot_id(proc, boot_id);
        (void) close(proc);
        if (r == 0)
                r = hn_ledger_new(boot_id, &ledger);
        if (r == 0)
                r = hn_ledger_replay(ledger, text, (size_t) n);
        if (r < 0)
                return r;
        *ret = HN_TAKE_PTR(ledger);
        return 0;
}

int hn_owners_init(struct hn_owners *o, const struct hn_sysroot *root, const struct hn_topology *topo,
                   const struct hn_mask_pool *masks, const char *run_dir) {
        int r;

        *o = (struct hn_owners){ .topo = topo, .masks = masks, .cgroups = HN_CGROUPFS_NULL };
        r = hn_cgroupfs_open(root, &o->cgroups);
        if (r < 0)
                return r;
        if (!root->live)
                return 0;
        r = read_ledger(root, run_dir, &o->ledger);
        if (r == -ENOMEM)
                return r;
        o->ledger_error = hn_is_gone(r) ? 0 : r;
        return 0;
}

void hn_owners_deinit(struct hn_owners *o) {
        o->ledger = hn_ledger_free(o->ledger);
        hn_cgroupfs_close(&o->cgroups);
}

struct hn_mask hn_owners_allowed(const struct hn_owners *o, const struct hn_proc_view *v) {
        struct hn_mask cpus;

        return hn_cgroup_read_cpus(&o->cgroups, v->cgroup, v->pid, &cpus) == 0 ? cpus : o->topo->online;
}

/* The mask of a creator that homenode had pinned, inherited before the daemon noticed. */
static const struct hn_mark *find_heir(const struct hn_owners *o, const struct hn_proc_view *v,
                                       const struct hn_thread_view *t, const struct hn_mask *allowed) {
        const struct hn_task_key kin = { .tid = v->pid, .start = v->threads[0].key.start };
        struct hn_heir heir = {
                .start = t->key.start,
                .cgroup = v->cgroup,
                .mask = *hn_mask_pool_get(o->masks, t->mask),
                .allowed = *allowed,
                .kin = &kin,
                .n_kin = v->threads[0].key.tid == v->pid,
        };

        return hn_ledger_heir(o->ledger, &heir);
}

bool hn_owners_by_hand(const struct hn_owners *o, const struct hn_proc_view *v,
                       const struct hn_thread_view *t, const struct hn_mask *allowed) {
        const struct hn_ledger_entry *entry = o->ledger ? hn_ledger_find(o->ledger, &t->key) : NULL;
        const struct hn_mark *mark = o->ledger && !entry ? find_heir(o, v, t, allowed) : NULL;

        return (entry && hn_tag_parse(entry->cgroup, NULL)) || (mark && hn_tag_parse(mark->cgroup, NULL));
}

enum hn_owner hn_owners_of(const struct hn_owners *o, const struct hn_proc_view *v,
                           const struct hn_thread_view *t, const struct hn_mask *allowed) {
        const struct hn_ledger_entry *entry = o->ledger ? hn_ledger_find(o->ledger, &t->key) : NULL;
        enum hn_owner owner;

        owner = hn_mask_owner(hn_mask_pool_get(o->masks, t->mask),
                              entry ? hn_ledger_mask(o->ledger, entry->want) : NULL, allowed,
                              &o->topo->isolated);
        if (owner == HN_OWNER_OTHER && !entry && o->ledger && find_heir(o, v, t, allowed))
                return HN_OWNER_US;
        return owner;
}
