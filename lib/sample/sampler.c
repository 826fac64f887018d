/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "sample/clock.h"
#include "sample/procfs.h"
#include "sample/sampler.h"
#include "sample/signal.h"
#include "sample/tasklook.h"

/* How many processes are asked about their pages in one sweep, and how soon again. */
#define ASK_MAX        32u
#define ASK_AGAIN_USEC (3 * HN_USEC_PER_SEC)

static int set_root(struct hn_sampler *s, const struct hn_sysroot *root) {
        struct hn_task_reader reader;
        struct hn_cgroupfs cgroups;
        int r;

        r = hn_task_reader_init(&reader, root);
        if (r < 0)
                return r;
        r = hn_cgroupfs_open(root, &cgroups);
        if (r < 0) {
                hn_task_reader_deinit(&reader);
                return r;
        }
        for (size_t i = 0; i < s->table.n_slots; i++)
                hn_task_files_close(&s->reader, &s->table.slots[i].files);
        hn_task_reader_deinit(&s->reader);
        hn_cgroupfs_close(&s->cgroups);
        s->reader = reader;
        s->cgroups = cgroups;
        s->root = root;
        s->residency.root = root;
        return 0;
}

int hn_sampler_init(struct hn_sampler *s, const struct hn_sysroot *root, const struct hn_topology *topo,
                    const struct hn_privilege *privilege) {
        int r;

        *s = (struct hn_sampler){
                .privilege = privilege ? *privilege : HN_PRIVILEGE_NULL,
                .residency = { .privilege = &s->privilege, .query = hn_query_pages_live },
                .cgroups = HN_CGROUPFS_NULL,
                .reader = HN_TASK_READER_NULL,
        };
        hn_task_table_init(&s->table, &s->rows, &s->reader);
        r = set_root(s, root);
        if (r == 0)
                r = hn_sampler_set_topology(s, topo);
        if (r < 0)
                hn_sampler_deinit(s);
        return r;
}

void hn_sampler_deinit(struct hn_sampler *s) {
        if (!s->root)
                return;
        hn_task_table_deinit(&s->table);
        hn_row_pool_deinit(&s->rows);
        hn_task_reader_deinit(&s->reader);
        hn_cgroupfs_close(&s->cgroups);
        hn_mask_pool_deinit(&s->masks);
        hn_machine_busy_deinit(&s->busy);
        free(s->tasks);
        free(s->nodes);
        free(s->listed);
        free(s->list);
        free(s->n_mems);
        free(s->due);
        *s = (struct hn_sampler){ .root = NULL };
}

int hn_sampler_set_root(struct hn_sampler *s, const struct hn_sysroot *root) {
        return set_root(s, root);
}

static uint32_t fewest_cores(const struct hn_topology *topo) {
        uint32_t fewest = UINT32_MAX;

        for (size_t i = 0; i < topo->n_nodes; i++)
                if (topo->nodes[i].n_cores > 0)
                        fewest = HN_MIN(fewest, topo->nodes[i].n_cores);
        return fewest;
}

int hn_sampler_set_topology(struct hn_sampler *s, const struct hn_topology *topo) {
        struct hn_node_load *nodes = calloc(topo->n_nodes + 1, sizeof(*nodes));

        if (!nodes)
                return -ENOMEM;
        free(s->nodes);
        s->nodes = nodes;
        hn_task_table_deinit(&s->table);
        hn_row_pool_deinit(&s->rows);
        hn_row_pool_init(&s->rows, topo->n_nodes);
        hn_task_table_init(&s->table, &s->rows, &s->reader);
        s->topo = topo;
        s->fewest_cores = fewest_cores(topo);
        return 0;
}

/* Appends `n` threads of the scope. Returns 0 or -ENOMEM. */
static int append(struct hn_sampler *s, uint32_t scope, const pid_t *tids, size_t n) {
        if (s->n_listed + n > s->listed_allocated) {
                size_t more = 2 * (s->n_listed + n) + 64;
                struct hn_listed *bigger = reallocarray(s->listed, more, sizeof(*bigger));

                if (!bigger)
                        return -ENOMEM;
                s->listed = bigger;
                s->listed_allocated = more;
        }
        for (size_t i = 0; i < n; i++)
                s->listed[s->n_listed++] = (struct hn_listed){ .tid = tids[i], .scope = scope };
        return 0;
}

static int by_tid(const void *a, const void *b) {
        const struct hn_listed *x = a, *y = b;
        int r = HN_CMP(x->tid, y->tid);

        return r != 0 ? r : HN_CMP(x->scope, y->scope);
}

/* The kernel lists threads by age, which is nearly the order of their ids. */
static void sort_listed(struct hn_sampler *s) {
        size_t kept = 0;
        bool sorted = true;

        for (size_t i = 1; i < s->n_listed && sorted; i++)
                sorted = by_tid(&s->listed[i - 1], &s->listed[i]) <= 0;
        if (!sorted)
                qsort(s->listed, s->n_listed, sizeof(*s->listed), by_tid);
        for (size_t i = 0; i < s->n_listed; i++) {
                if (kept > 0 && s->listed[kept - 1].tid == s->listed[i].tid)
                        s->counts.twice++;
                else
                        s->listed[kept++] = s->listed[i];
        }
        s->n_listed = kept;
        s->counts.listed = kept;
}

/* All nodes with memory: what the threads of a cgroup may use that does not say anything. */
static struct hn_mask all_mems(const struct hn_topology *topo) {
        struct hn_mask m = HN_MASK_NULL;

        for (size_t i = 0; i < topo->n_nodes; i++)
                (void) hn_mask_add(&m, topo->nodes[i].id);
        return m;
}

/* Puts the threads of one scope at the end of the list. Returns 0 or -ENOMEM. */
static int list_scope(struct hn_sampler *s, struct hn_scope *scope, uint32_t i, pid_t *ret_first) {
        size_t room = HN_SAMPLER_TASKS_MAX - s->n_listed, n = scope->n_tids;
        const pid_t *tids = scope->tids;
        int r;

        if (!tids) {
                /* One more than there is room for tells that some were left out. */
                r = hn_cgroup_read_threads(&s->cgroups, scope->path, room + 1, &s->list, &s->list_allocated,
                                           &n);
                if (r == -ENOMEM)
                        return r;
                tids = s->list;
        }
        if (n > room) {
                n = room;
                s->counts.cut++;
        }
        scope->populated = n > 0;
        *ret_first = n > 0 ? tids[0] : 0;
        return append(s, i, tids, n);
}

static int list_threads(struct hn_sampler *s, struct hn_scope *scopes, size_t n_scopes) {
        unsigned *n_mems = reallocarray(s->n_mems, n_scopes + 1, sizeof(*n_mems));

        if (!n_mems)
                return -ENOMEM;
        s->n_mems = n_mems;
        s->n_listed = 0;
        for (size_t i = 0; i < n_scopes; i++) {
                pid_t tid;
                int r = list_scope(s, &scopes[i], (uint32_t) i, &tid);

                if (r < 0)
                        return r;
                if (hn_scope_place(scopes, (uint32_t) i) < i) {
                        const struct hn_scope *place = &scopes[scopes[i].place];

                        scopes[i].cpuset = place->cpuset;
                        scopes[i].mems = place->mems;
                        n_mems[i] = n_mems[scopes[i].place];
                        continue;
                }
                if (hn_cgroup_read_cpus(&s->cgroups, scopes[i].path, tid, &scopes[i].cpuset) != 0)
                        scopes[i].cpuset = s->topo->online;
                if (hn_cgroup_read_mems(&s->cgroups, scopes[i].path, tid, &scopes[i].mems) != 0)
                        scopes[i].mems = all_mems(s->topo);
                n_mems[i] = hn_mask_count(&scopes[i].mems);
        }
        sort_listed(s);
        return 0;
}

static struct hn_signal_inputs signal_inputs(const struct hn_sampler *s, const struct hn_task_slot *slot) {
        const struct hn_process *p = slot->process;

        return (struct hn_signal_inputs){
                .kernel_balancing = s->balancing,
                .has_fault_lines = slot->has_fault_lines,
                .has_faults = slot->has_faults,
                .n_mems = s->n_mems[slot->place],
                .n_threads = p->n_threads,
                .process_cpu_ns = p->cpu_ns,
                .resident = p->resident,
                .fewest_cores = s->fewest_cores,
        };
}

/* The sums of each process over its threads. */
static void sum_up(struct hn_sampler *s) {
        for (size_t i = 0; i < s->table.n_slots; i++) {
                const struct hn_task_slot *slot = &s->table.slots[i];
                struct hn_process *p = slot->process;

                if (slot->kind != HN_SLOT_TASK)
                        continue;
                if (p->sweep != s->n_sweeps) {
                        p->sweep = s->n_sweeps;
                        p->cpu_ns = 0;
                        p->wanted = false;
                }
                p->cpu_ns += slot->sample.runtime_ns;
        }
}

/* Who used most CPU time since it was last asked comes first: so all have their turn, the busy ones more
 * often. */
static int by_hunger(const void *a, const void *b) {
        const struct hn_process *x = *(struct hn_process *const *) a, *y = *(struct hn_process *const *) b;
        uint64_t hx = hn_counter_delta(x->asked_cpu_ns, x->cpu_ns),
                 hy = hn_counter_delta(y->asked_cpu_ns, y->cpu_ns);

        return hx != hy ? HN_CMP(hy, hx) : HN_CMP(x->tgid, y->tgid);
}

static int ask(struct hn_sampler *s, struct hn_process *p, hn_usec_t now) {
        struct hn_residency found = { .asked = 0 };
        uint64_t seed;
        int r;

        if (p->row == HN_ROW_NONE) {
                r = hn_row_pool_take(&s->rows, &p->row);
                if (r < 0)
                        return r;
        }
        p->asked = true;
        p->asked_at = now;
        p->asked_cpu_ns = p->cpu_ns;
        seed = (uint64_t) p->tgid << 32 | (p->looks++ & UINT32_MAX);
        s->counts.asked++;
        r = hn_residency_read(&s->residency, p->tgid, seed, s->topo, hn_row_priv(&s->rows, p->row), &found);
        if (r == -ENOMEM)
                return r;
        p->denied = r == -EPERM || r == -EACCES;
        p->resident = r == 0 && found.by_status[HN_PAGE_ON_NODE] > found.elsewhere;
        if (!p->resident)
                hn_row_pool_release(&s->rows, &p->row);
        return 0;
}

static int ask_processes(struct hn_sampler *s, hn_usec_t now) {
        size_t n_due = 0;

        for (size_t i = 0; i < s->table.n_slots; i++) {
                const struct hn_task_slot *slot = &s->table.slots[i];
                struct hn_process *p = slot->process;
                struct hn_signal_inputs in;

                if (slot->kind != HN_SLOT_TASK || !slot->ran || p->wanted)
                        continue;
                in = signal_inputs(s, slot);
                if (!hn_signal_wants_residency(&in))
                        continue;
                p->wanted = true;
                if (p->asked && hn_usec_sub(now, p->asked_at) < ASK_AGAIN_USEC)
                        continue;
                if (n_due == s->due_allocated) {
                        size_t more = n_due > 0 ? 2 * n_due : 64;
                        struct hn_process **bigger = reallocarray(s->due, more, sizeof(*bigger));

                        if (!bigger)
                                return -ENOMEM;
                        s->due = bigger;
                        s->due_allocated = more;
                }
                s->due[n_due++] = p;
        }
        if (n_due > 1)
                qsort(s->due, n_due, sizeof(*s->due), by_hunger);
        for (size_t i = 0; i < HN_MIN(n_due, (size_t) ASK_MAX); i++) {
                int r = ask(s, s->due[i], now);

                if (r < 0)
                        return r;
        }
        return 0;
}

/* Fills the snapshot's tasks from the slots. */
static int show(struct hn_sampler *s, hn_usec_t now, struct hn_snapshot *ret) {
        enum hn_no_faults worst = HN_NO_FAULTS_FINE;
        /* Of a captured machine nobody knows how long it had been up. */
        hn_usec_t up = s->root->live ? hn_clock(CLOCK_BOOTTIME) : 0;

        if (s->table.n_slots > s->tasks_allocated) {
                size_t more = s->table.n_slots + s->table.n_slots / 4 + 64;
                struct hn_task_sample *bigger = reallocarray(s->tasks, more, sizeof(*bigger));

                if (!bigger)
                        return -ENOMEM;
                s->tasks = bigger;
                s->tasks_allocated = more;
        }
        for (size_t i = 0; i < s->table.n_slots; i++) {
                const struct hn_task_slot *slot = &s->table.slots[i];
                const struct hn_process *p = slot->process;
                struct hn_task_sample *t = &s->tasks[ret->n_tasks];
                struct hn_signal_inputs in;
                enum hn_no_faults why;

                ret->n_gone += slot->kind == HN_SLOT_GONE;
                s->counts.kthreads += slot->kind == HN_SLOT_KTHREAD;
                s->counts.zombies += slot->kind == HN_SLOT_CORPSE;
                s->counts.others += slot->kind == HN_SLOT_OTHER;
                ret->n_denied += slot->denied || (slot->kind == HN_SLOT_TASK && p->wanted && p->denied);
                if (slot->kind != HN_SLOT_TASK)
                        continue;
                in = signal_inputs(s, slot);
                why = hn_signal_why(&in);
                /* That a young thread has no faults yet is no news. */
                if (why < worst &&
                    (why != HN_NO_FAULTS_YET || slot->sample.runtime_ns >= HN_SIGNAL_CPU_MIN_NS))
                        worst = why;
                *t = slot->sample;
                t->scope = slot->scope;
                t->age = hn_usec_sub(up, hn_usec_from_ticks(slot->sample.key.start));
                t->signal = hn_signal_choose(&in);
                t->row = t->signal == HN_SIGNAL_FAULTS      ? slot->row
                         : t->signal == HN_SIGNAL_RESIDENCY ? p->row
                                                            : 0;
                t->alone = p->n_threads == 1;
                t->pages_known = p->resident;
                t->pages_at = p->resident ? p->asked_at : 0;
                t->pages_row = p->resident ? p->row : 0;
                t->fresh = slot->ran && (t->signal == HN_SIGNAL_FAULTS ||
                                         (t->signal == HN_SIGNAL_RESIDENCY && p->asked_at == now));
                ret->n_tasks++;
        }
        ret->why_no_signal = hn_no_faults_to_sentence(worst);
        return 0;
}

int hn_sampler_sweep(struct hn_sampler *s, struct hn_scope *scopes, size_t n_scopes, hn_usec_t now,
                     struct hn_snapshot *ret) {
        struct hn_snapshot shot = {
                .now = now, .n_nodes = s->topo->n_nodes, .n_scopes = n_scopes, .scopes = scopes
        };
        hn_usec_t begin = hn_clock(CLOCK_THREAD_CPUTIME_ID);
        int r;

        s->n_sweeps++;
        s->scopes = scopes;
        s->n_scopes = n_scopes;
        s->counts = (struct hn_sweep_counts){ .listed = 0 };
        s->balancing = hn_proc_read_balancing(s->root);
        r = hn_machine_read_memory(s->root, s->topo, s->nodes);
        if (r < 0)
                return r;
        r = hn_machine_read_busy(s->root, s->topo, &s->busy, s->nodes);
        if (r < 0)
                return r;
        shot.busy_known = r != HN_MACHINE_UNKNOWN;
        r = list_threads(s, scopes, n_scopes);
        if (r < 0)
                return r;
        r = hn_task_table_reconcile(&s->table, s->listed, s->n_listed);
        if (r < 0)
                return r;

        /* Those we know first: who died leaves his process, before somebody new can come under the same
         * number. */
        for (unsigned pass = 0; pass < 2; pass++)
                for (size_t i = 0; i < s->table.n_slots; i++) {
                        struct hn_task_slot *slot = &s->table.slots[i];

                        if ((slot->kind == HN_SLOT_NEW) != (pass == 1))
                                continue;
                        r = hn_task_look(s, slot);
                        if (r < 0)
                                return r;
                }
        sum_up(s);
        r = ask_processes(s, now);
        if (r < 0)
                return r;
        r = show(s, now, &shot);
        if (r < 0)
                return r;
        hn_task_table_prune(&s->table);

        shot.n_scopes = s->n_scopes;
        shot.nodes = s->nodes;
        shot.tasks = s->tasks;
        shot.n_rows = s->rows.n_rows;
        shot.priv = s->rows.priv;
        shot.shared = s->rows.shared;
        shot.masks = &s->masks;
        shot.kernel_balancing = s->balancing;
        shot.cost = hn_usec_sub(hn_clock(CLOCK_THREAD_CPUTIME_ID), begin);
        *ret = shot;
        return 0;
}
