/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/hands.h"
#include "daemon/manager.h"
#include "sample/cgroupglob.h"
#include "sample/kin.h"

/* Who speaks for a task: the one for the thread, then the one for its process, then one for a process it
 * stems from, of which the latest. Last, those that are only looked at, as they may inherit a mask. */
enum { RANK_THREAD, RANK_PROCESS, RANK_DESCENDANT, RANK_BYSTANDER };

void hn_hands_deinit(struct hn_hands *h) {
        free(h->hands);
        hn_cgroup_list_deinit(&h->cgroups);
        free(h->by_depth);
        free(h->targets);
        for (size_t i = 0; i < h->n_paths; i++)
                free(h->paths[i]);
        free(h->paths);
        free(h->tids);
        *h = HN_HANDS_NULL;
}

/* cgroups */

static int find_cgroups(struct hn_manager *m) {
        const struct hn_override_list *list = &m->overrides.list;
        struct hn_hands *h = &m->hands;
        const char **patterns = calloc(h->n + 1, sizeof(*patterns));
        size_t n = 0;
        int r = 0;

        h->by_depth = calloc(h->n + 1, sizeof(*h->by_depth));
        if (!patterns || !h->by_depth)
                r = -ENOMEM;
        for (size_t i = 0; r == 0 && i < h->n; i++) {
                size_t at = n;

                if (list->entries[i].o.kind != HN_OVERRIDE_CGROUP)
                        continue;
                /* A path that lies below another is longer. */
                while (at > 0 && strlen(list->entries[h->by_depth[at - 1]].o.cgroup) <
                                         strlen(list->entries[i].o.cgroup)) {
                        h->by_depth[at] = h->by_depth[at - 1];
                        at--;
                }
                h->by_depth[at] = (uint32_t) i;
                n++;
        }
        for (size_t i = 0; r == 0 && i < n; i++) {
                patterns[i] = hn_glob_quote(list->entries[h->by_depth[i]].o.cgroup);
                r = patterns[i] ? 0 : -ENOMEM;
        }
        if (r == 0 && n > 0)
                r = hn_cgroups_find(&m->cgroups, patterns, n, &h->cgroups);
        for (size_t i = 0; patterns && i < n; i++)
                free((char *) patterns[i]);
        free(patterns);
        return r;
}

static int path_compare(const void *key, const void *item) {
        return strcmp(key, ((const struct hn_cgroup *) item)->path);
}

static const struct hn_cgroup *find_covered(const struct hn_hands *h, const char *path) {
        return h->cgroups.n == 0 ? NULL
                                 : bsearch(path, h->cgroups.items, h->cgroups.n, sizeof(*h->cgroups.items),
                                           path_compare);
}

/* threads */

static int intern_path(struct hn_hands *h, const char *path, size_t *ret) {
        char **bigger;

        for (size_t i = h->n_paths; i-- > 0;)
                if (strcmp(h->paths[i], path) == 0) {
                        *ret = i;
                        return 0;
                }
        bigger = reallocarray(h->paths, h->n_paths + 1, sizeof(*bigger));
        if (!bigger)
                return -ENOMEM;
        h->paths = bigger;
        h->paths[h->n_paths] = strdup(path);
        if (!h->paths[h->n_paths])
                return -ENOMEM;
        *ret = h->n_paths++;
        return 0;
}

static int add_target(struct hn_hands *h, const struct hn_hand_target *t) {
        if (h->n_targets == h->targets_allocated) {
                size_t more = h->targets_allocated ? 2 * h->targets_allocated : 64;
                struct hn_hand_target *bigger = reallocarray(h->targets, more, sizeof(*bigger));

                if (!bigger)
                        return -ENOMEM;
                h->targets = bigger;
                h->targets_allocated = more;
        }
        h->targets[h->n_targets++] = *t;
        return 0;
}

/* Whether all threads of a process in this cgroup are in it: the kernel promises that of all but threaded
 * ones. */
static bool holds_whole_processes(const struct hn_manager *m, const char *path) {
        char type[32];

        return m->cgroups.layout != HN_CGROUP_V1 &&
               hn_read_at(m->cgroups.fd, type, sizeof(type), "%s/cgroup.type", path) > 0 &&
               strcmp(type, "domain\n") == 0;
}

/* All threads of one process: `t` says what is the same for all of them, and `only` that the hand is for one.
 */
static int add_process(struct hn_manager *m, struct hn_hand_target t, pid_t only) {
        _hn_cleanup_(hn_freep) pid_t *tids = NULL;
        struct hn_hands *h = &m->hands;
        size_t n = 0, allocated = 0;
        char path[PATH_MAX] = "/";
        bool whole = false;
        int r = hn_kin_threads(m->world.proc_fd, t.tgid, &tids, &n, &allocated);

        for (size_t i = 0; r == 0 && i < n; i++) {
                struct hn_hand_target one = t;

                if (i == 0 || !whole) {
                        /* It has none, and then only the root says anything about it; or it is gone, which
                         * the sampler will see. */
                        if (hn_world_cgroup(&m->world, tids[i], path, sizeof(path)) < 0)
                                (void) strcpy(path, "/");
                        whole = holds_whole_processes(m, path);
                        r = intern_path(h, path, &t.path);
                        if (r < 0)
                                return r;
                        one.path = t.path;
                }
                one.tid = tids[i];
                if (only > 0 && only != one.tid) {
                        one.hand = 0;
                        one.rank = RANK_BYSTANDER;
                }
                r = add_target(h, &one);
        }
        return r;
}

/* What one override of a process or thread covers. */
static int add_entry(struct hn_manager *m, const struct hn_override_entry *e, uint32_t hand) {
        struct hn_hand_target t = { .start = e->o.start_time };
        int r = 0;

        if (e->o.kind == HN_OVERRIDE_THREAD) {
                t.hand = hand;
                t.rank = RANK_THREAD;
                /* The threads that it makes are none of the override's: they are found among its siblings. */
                t.tgid = hn_world_process(&m->world, e->o.pid);
                t.start = 0;
                r = add_process(m, t, e->o.pid);
        }
        for (size_t i = 0; r == 0 && i < e->kin.n; i++) {
                bool itself = e->o.kind == HN_OVERRIDE_PROCESS && e->kin.processes[i].tid == e->o.pid;

                t = (struct hn_hand_target){
                        .tgid = e->kin.processes[i].tid,
                        .start = e->kin.processes[i].start,
                        .hand = e->o.kind == HN_OVERRIDE_PROCESS ? hand : 0,
                        .rank = e->o.kind != HN_OVERRIDE_PROCESS ? RANK_BYSTANDER
                                : itself                         ? RANK_PROCESS
                                                                 : RANK_DESCENDANT,
                };
                r = add_process(m, t, 0);
        }
        return r;
}

static int target_compare(const void *a, const void *b) {
        const struct hn_hand_target *x = a, *y = b;
        int r = HN_CMP(x->tid, y->tid);

        if (r == 0)
                r = HN_CMP(x->rank, y->rank);
        return r != 0 ? r : HN_CMP(y->hand, x->hand);
}

/* By thread, each once: with who speaks for it. */
static void sort_targets(struct hn_hands *h) {
        size_t kept = 0;

        if (h->n_targets > 1)
                qsort(h->targets, h->n_targets, sizeof(*h->targets), target_compare);
        for (size_t i = 0; i < h->n_targets; i++)
                if (kept == 0 || h->targets[kept - 1].tid != h->targets[i].tid)
                        h->targets[kept++] = h->targets[i];
        h->n_targets = kept;
}

/* scopes */

static int add_scope(struct hn_scope_list *list, const char *path, const pid_t *tids, size_t n) {
        struct hn_scope scope = {
                .path = path,
                .mode = HN_MODE_OBSERVE,
                .by_hand = true,
                .tids = tids,
                .n_tids = n,
        };

        return hn_scope_list_add(list, &scope);
}

/* Those of rules look at all that is in their cgroups; the others come behind, as a thread counts for the
 * first scope that names it. */
static int add_scopes(struct hn_manager *m) {
        struct hn_hands *h = &m->hands;
        size_t n = 0;
        int r = 0;

        for (size_t i = 0; r == 0 && i < h->cgroups.n; i++)
                if (!hn_scope_list_find(&m->scopes, h->cgroups.items[i].path))
                        r = add_scope(&m->scopes, h->cgroups.items[i].path, NULL, 0);
        h->tids = calloc(h->n_targets + 1, sizeof(*h->tids));
        if (!h->tids)
                return -ENOMEM;
        for (size_t k = 0; r == 0 && k < h->n_paths; k++) {
                size_t first = n;

                if (hn_scope_list_find(&m->scopes, h->paths[k]) || find_covered(h, h->paths[k]))
                        continue;
                for (size_t i = 0; i < h->n_targets; i++)
                        if (h->targets[i].path == k)
                                h->tids[n++] = h->targets[i].tid;
                if (n > first)
                        r = add_scope(&m->scopes, h->paths[k], h->tids + first, n - first);
        }
        return r;
}

int hn_hands_join(struct hn_manager *m) {
        const struct hn_override_list *list = &m->overrides.list;
        struct hn_hands *h = &m->hands;
        int r;

        hn_hands_deinit(h);
        if (list->n == 0)
                return 0;
        h->hands = calloc(list->n, sizeof(*h->hands));
        if (!h->hands)
                return -ENOMEM;
        h->n = list->n;
        for (size_t i = 0; i < list->n; i++) {
                const struct hn_override *o = &list->entries[i].o;

                h->hands[i] = (struct hn_hand){
                        .id = o->id, .nodes = o->nodes, .cpus = o->cpus, .pages = o->pages
                };
                r = o->kind == HN_OVERRIDE_CGROUP ? 0 : add_entry(m, &list->entries[i], (uint32_t) i + 1);
                if (r < 0)
                        return r;
        }
        r = find_cgroups(m);
        if (r < 0)
                return r;
        sort_targets(h);
        return add_scopes(m);
}

/* the snapshot */

static int tid_compare(const void *key, const void *item) {
        return HN_CMP(*(const pid_t *) key, ((const struct hn_hand_target *) item)->tid);
}

static uint32_t hand_of(const struct hn_hands *h, const struct hn_task_sample *t, const char *path) {
        const struct hn_hand_target *target = h->n_targets == 0
                                                      ? NULL
                                                      : bsearch(&t->key.tid, h->targets, h->n_targets,
                                                                sizeof(*h->targets), tid_compare);
        const struct hn_cgroup *covered;

        /* Ids are used again: it has to be the one that was meant. */
        if (target && target->hand > 0 && target->tgid == t->tgid && t->key.start >= target->start)
                return target->hand;
        covered = find_covered(h, path);
        return covered ? h->by_depth[covered->pattern] + 1 : 0;
}

/* The process whose pages are being moved may be somebody's by now, or not be theirs any more who asked for
 * it. */
static void check_pager(struct hn_manager *m) {
        const struct hn_snapshot *s = &m->snapshot;
        pid_t tgid = 0;

        if (!m->pager.active)
                return;
        if (m->pager.hand != 0 && !hn_override_find(m, m->pager.hand)) {
                hn_pager_stop(&m->pager);
                return;
        }
        for (size_t i = 0; i < s->n_tasks; i++)
                if (s->tasks[i].key.tid == m->pager.job.key.tid)
                        tgid = s->tasks[i].tgid;
        for (size_t i = 0; i < s->n_tasks; i++)
                if (s->tasks[i].tgid == tgid && s->tasks[i].hand > 0 &&
                    m->hands.hands[s->tasks[i].hand - 1].id != m->pager.hand) {
                        hn_pager_stop(&m->pager);
                        return;
                }
}

void hn_hands_mark(struct hn_manager *m) {
        struct hn_snapshot *s = &m->snapshot;

        s->hands = m->hands.hands;
        s->n_hands = m->hands.n;
        for (size_t i = 0; s->n_hands > 0 && i < s->n_tasks; i++)
                s->tasks[i].hand = hand_of(&m->hands, &s->tasks[i], s->scopes[s->tasks[i].scope].path);
        check_pager(m);
}
