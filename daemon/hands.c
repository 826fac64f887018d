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
        free(h->guests);
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

/* Who is looked at beside those whom the rules of this cgroup take: `tgid` is 0 for all of it. */
static int add_guest(struct hn_hands *h, uint32_t place, pid_t tgid, uint32_t scope) {
        if (h->n_guests == h->guests_allocated) {
                size_t more = h->guests_allocated ? 2 * h->guests_allocated : 16;
                struct hn_hand_guest *bigger = reallocarray(h->guests, more, sizeof(*bigger));

                if (!bigger)
                        return -ENOMEM;
                h->guests = bigger;
                h->guests_allocated = more;
        }
        h->guests[h->n_guests++] = (struct hn_hand_guest){ .place = place, .tgid = tgid, .scope = scope };
        return 0;
}

static int guest_compare(const void *a, const void *b) {
        const struct hn_hand_guest *x = a, *y = b;
        int r = HN_CMP(x->place, y->place);

        return r != 0 ? r : HN_CMP(x->tgid, y->tgid);
}

/* A scope in a cgroup whose rules go by process: its threads are listed there already, and come to this one
 * by choice. */
static int add_scope_beside(struct hn_scope_list *list, const struct hn_scope *place, uint32_t *ret) {
        static const pid_t none;
        struct hn_scope scope = {
                .path = place->path,
                .mode = HN_MODE_OBSERVE,
                .by_process = true,
                .place = place->place,
                .by_hand = true,
                .tids = &none,
        };

        *ret = (uint32_t) list->n;
        return hn_scope_list_add(list, &scope);
}

/* What overrides need in a cgroup that a rule has made a scope of. `path` is SIZE_MAX for all that is in it,
 * else the targets of that path are meant. */
static int add_to_ruled(struct hn_manager *m, const struct hn_scope *ruled, size_t path) {
        struct hn_hands *h = &m->hands;
        uint32_t scope, place = ruled->place;
        int r;

        if (!ruled->by_process)
                return 0;
        r = add_scope_beside(&m->scopes, ruled, &scope);
        if (r == 0 && path == SIZE_MAX)
                return add_guest(h, place, 0, scope);
        for (size_t i = 0; r == 0 && i < h->n_targets; i++)
                if (h->targets[i].path == path)
                        r = add_guest(h, place, h->targets[i].tgid, scope);
        return r;
}

/* Those of rules look at all that is in their cgroups; the others come behind, as a thread counts for the
 * first scope that names it. */
static int add_scopes(struct hn_manager *m) {
        struct hn_hands *h = &m->hands;
        const struct hn_scope *ruled;
        size_t n = 0;
        int r = 0;

        for (size_t i = 0; r == 0 && i < h->cgroups.n; i++) {
                ruled = hn_scope_list_find(&m->scopes, h->cgroups.items[i].path);
                r = ruled ? add_to_ruled(m, ruled, SIZE_MAX)
                          : add_scope(&m->scopes, h->cgroups.items[i].path, NULL, 0);
        }
        h->tids = calloc(h->n_targets + 1, sizeof(*h->tids));
        if (!h->tids)
                return -ENOMEM;
        for (size_t k = 0; r == 0 && k < h->n_paths; k++) {
                size_t first = n;

                if (find_covered(h, h->paths[k]))
                        continue;
                ruled = hn_scope_list_find(&m->scopes, h->paths[k]);
                if (ruled) {
                        r = add_to_ruled(m, ruled, k);
                        continue;
                }
                for (size_t i = 0; i < h->n_targets; i++)
                        if (h->targets[i].path == k)
                                h->tids[n++] = h->targets[i].tid;
                if (n > first)
                        r = add_scope(&m->scopes, h->paths[k], h->tids + first, n - first);
        }
        if (h->n_guests > 1)
                qsort(h->guests, h->n_guests, sizeof(*h->guests), guest_compare);
        return r;
}

static const struct hn_hand_guest *find_guest(const struct hn_hands *h, uint32_t place, pid_t tgid) {
        const struct hn_hand_guest key = { .place = place, .tgid = tgid };

        return h->n_guests == 0 ? NULL
                                : bsearch(&key, h->guests, h->n_guests, sizeof(*h->guests), guest_compare);
}

/* A rule's word comes first: it goes on with the task when the override is over. */
static uint32_t choose(void *userdata, uint32_t place, const struct hn_proc_id *who) {
        const struct hn_hands *h = userdata;
        uint32_t scope = h->rules.choose(h->rules.userdata, place, who);
        const struct hn_hand_guest *guest;

        if (scope != HN_SCOPE_NONE)
                return scope;
        guest = find_guest(h, place, 0);
        if (!guest)
                guest = find_guest(h, place, who->pid);
        return guest ? guest->scope : HN_SCOPE_NONE;
}

struct hn_chooser hn_hands_chooser(struct hn_manager *m) {
        m->hands.rules = hn_rules_chooser(&m->scopes);
        return (struct hn_chooser){
                .wants = m->hands.rules.wants,
                .choose = choose,
                .userdata = &m->hands,
        };
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
