/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>

#include "base/macro.h"
#include "policy/family.h"

/* Group ids are pids too, of whoever founded the group: this tells them from those of processes, which are
 * not negative. */
#define KEY_OF_GROUP ((uint32_t) INT32_MIN)

/* Tenths. */
#define MOSTLY 7u

bool hn_mostly_private(uint64_t priv, uint64_t shared) {
        return (unsigned __int128) priv * 10 >=
               (unsigned __int128) MOSTLY * ((unsigned __int128) priv + shared);
}

static int tgid_compare(const void *a, const void *b) {
        const struct hn_family *x = a, *y = b;

        return HN_CMP(x->tgid, y->tgid);
}

/* Groups of different scopes may be open to different nodes, so they are not taken for one. */
static int group_compare(const void *a, const void *b) {
        const struct hn_family *x = a, *y = b;
        int r = HN_CMP(x->key, y->key);

        if (r == 0)
                r = HN_CMP(x->scope, y->scope);
        return r != 0 ? r : HN_CMP(x->tgid, y->tgid);
}

static struct hn_family family_of(const struct hn_snapshot *s, size_t i, uint32_t demand,
                                  uint32_t min_demand) {
        const struct hn_task_sample *t = &s->tasks[i];
        struct hn_family f = {
                .tgid = t->tgid,
                .scope = t->scope,
                .group = t->numa_group,
                .demand = demand,
                .n_busy = demand >= min_demand,
        };

        for (size_t k = 0; t->signal == HN_SIGNAL_FAULTS && k < s->n_nodes; k++) {
                f.priv += s->priv[t->row * s->n_nodes + k];
                f.shared += s->shared[t->row * s->n_nodes + k];
        }
        return f;
}

static void join(struct hn_family *to, const struct hn_family *f) {
        to->priv += f->priv;
        to->shared += f->shared;
        to->n_busy += f->n_busy;
}

/* Gives all families of a group the sums of all. */
static void pool_groups(struct hn_family *families, size_t n) {
        for (size_t first = 0, end; first != n; first = end) {
                struct hn_family *f = &families[first];

                for (end = first + 1;
                     end < n && families[end].key == f->key && families[end].scope == f->scope; end++)
                        join(f, &families[end]);
                for (size_t i = first + 1; i < end; i++) {
                        families[i].priv = f->priv;
                        families[i].shared = f->shared;
                        families[i].n_busy = f->n_busy;
                }
        }
}

size_t hn_families_meet(struct hn_family *families, const struct hn_model *model, const struct hn_snapshot *s,
                        uint32_t min_demand, uint64_t min_faults) {
        bool grouped = false;
        size_t n = 0;

        for (size_t i = 0; i < s->n_tasks; i++)
                families[i] = family_of(s, i, hn_model_state(model, i)->demand, min_demand);
        qsort(families, s->n_tasks, sizeof(*families), tgid_compare);
        for (size_t i = 0; i < s->n_tasks; i++) {
                struct hn_family *last = n > 0 ? &families[n - 1] : NULL;

                if (!last || last->tgid != families[i].tgid) {
                        families[n++] = families[i];
                        continue;
                }
                last->demand += families[i].demand;
                last->scope = HN_MIN(last->scope, families[i].scope);
                last->group = HN_MAX(last->group, families[i].group);
                join(last, &families[i]);
        }
        for (size_t i = 0; i < n; i++) {
                families[i].key = families[i].group ? families[i].group | KEY_OF_GROUP
                                                    : (uint32_t) families[i].tgid;
                grouped = grouped || families[i].group != 0;
        }
        if (grouped) {
                qsort(families, n, sizeof(*families), group_compare);
                pool_groups(families, n);
                qsort(families, n, sizeof(*families), tgid_compare);
        }
        for (size_t i = 0; i < n; i++) {
                struct hn_family *f = &families[i];

                f->sharing = f->n_busy > 1 && f->shared + f->priv >= min_faults &&
                             !hn_mostly_private(f->priv, f->shared);
        }
        return n;
}

const struct hn_family *hn_families_find(const struct hn_family *families, size_t n, pid_t tgid) {
        const struct hn_family key = { .tgid = tgid };

        return bsearch(&key, families, n, sizeof(key), tgid_compare);
}
