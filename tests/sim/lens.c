/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "lens.h"
#include "policy.h"
#include "sample/residency.h"
#include "sample/signal.h"

/* As in lib/sample: how many processes are asked about their pages in one sweep, and how soon again. */
#define ASK_MAX   32u
#define ASK_AGAIN 3.0

/* The world starts long after the machine was booted. */
#define BOOT_USEC (1000 * HN_USEC_PER_SEC)

int hn_sim_lens_init(struct hn_sim_lens *l, const struct hn_sim_world *w) {
        *l = (struct hn_sim_lens){
                .scope = {
                        .path = "/sim.slice",
                        .rule = "sim",
                        .mode = HN_MODE_MANAGE,
                        .pages = true,
                        .cpuset = w->topo.online,
                        .populated = true,
                },
                .random = { .state = w->random.state ^ UINT64_C(0x5851f42d4c957f2d) },
        };
        for (unsigned k = 0; k < w->n_nodes; k++)
                (void) hn_mask_add(&l->scope.mems, k);
        l->shot.nodes = calloc(HN_SIM_NODES, sizeof(*l->shot.nodes));
        return l->shot.nodes ? 0 : -ENOMEM;
}

void hn_sim_lens_deinit(struct hn_sim_lens *l) {
        free(l->shot.nodes);
        free(l->shot.tasks);
        free(l->shot.priv);
        free(l->shot.shared);
        free(l->index);
        *l = (struct hn_sim_lens){ .allocated = 0 };
}

/* Room for the tasks, and for a row of each task and of each process. */
static int reserve(struct hn_sim_lens *l, const struct hn_sim_world *w) {
        size_t more = 2 * (w->n_tasks + w->n_processes) + 16;
        void *p;

        if (w->n_tasks + w->n_processes <= l->allocated)
                return 0;
        p = reallocarray(l->shot.tasks, more, sizeof(*l->shot.tasks));
        if (!p)
                return -ENOMEM;
        l->shot.tasks = p;
        p = reallocarray(l->shot.priv, more * HN_SIM_NODES, sizeof(*l->shot.priv));
        if (!p)
                return -ENOMEM;
        l->shot.priv = p;
        p = reallocarray(l->shot.shared, more * HN_SIM_NODES, sizeof(*l->shot.shared));
        if (!p)
                return -ENOMEM;
        l->shot.shared = p;
        p = reallocarray(l->index, more, sizeof(*l->index));
        if (!p)
                return -ENOMEM;
        l->index = p;
        l->allocated = more;
        return 0;
}

/* Pages of a process drawn by lot. */
static void draw_pages(struct hn_sim_lens *l, struct hn_sim_world *w, size_t process) {
        struct hn_sim_process *p = &w->processes[process];
        double pages[HN_SIM_NODES], all = hn_sim_set_size(&p->shared);

        memcpy(pages, p->shared.pages, sizeof(pages));
        for (size_t i = 0; i < w->n_tasks; i++)
                for (unsigned k = 0; w->tasks[i].process == process && k < w->n_nodes; k++) {
                        pages[k] += w->tasks[i].own.pages[k];
                        all += w->tasks[i].own.pages[k];
                }
        memset(p->residency, 0, sizeof(p->residency));
        p->resident = all >= 1;
        for (unsigned n = 0; p->resident && n < HN_RESIDENCY_PAGES; n++) {
                double at = hn_sim_random_unit(&l->random) * all;
                unsigned k = 0;

                while (k + 1 < w->n_nodes && at >= pages[k])
                        at -= pages[k++];
                p->residency[k]++;
        }
}

static bool has_faults(const struct hn_sim_task *t) {
        uint64_t sum = 0;

        for (unsigned k = 0; k < HN_SIM_NODES; k++)
                sum += t->faults.priv[k] + t->faults.shared[k];
        return sum > 0;
}

static void sum_up(struct hn_sim_world *w) {
        for (size_t i = 0; i < w->n_processes; i++)
                w->processes[i].cpu_used = 0;
        for (size_t i = 0; i < w->n_tasks; i++)
                w->processes[w->tasks[i].process].cpu_used += w->tasks[i].runtime;
}

static uint64_t nanoseconds(double seconds) {
        return (uint64_t) (seconds * 1e9);
}

static struct hn_signal_inputs inputs(const struct hn_sim_world *w, const struct hn_sim_task *t) {
        const struct hn_sim_process *p = &w->processes[t->process];

        return (struct hn_signal_inputs){
                .kernel_balancing = w->policy->scans,
                .has_fault_lines = true,
                .has_faults = has_faults(t),
                .n_mems = w->n_nodes,
                .n_threads = (uint32_t) p->n_threads,
                .process_cpu_ns = nanoseconds(p->cpu_used),
                .resident = p->resident,
                .fewest_cores = w->machine->n_cores,
        };
}

/* The process that is due and has used most CPU time since it was last asked. */
static size_t hungriest(struct hn_sim_world *w) {
        size_t best = SIZE_MAX, last = SIZE_MAX;
        double most = -1;

        for (size_t i = 0; i < w->n_tasks; i++) {
                const struct hn_sim_task *t = &w->tasks[i];
                const struct hn_sim_process *p = &w->processes[t->process];
                struct hn_signal_inputs in;
                double hunger;

                if (p->job->unmanaged || t->process == last || (p->asked && w->now - p->asked_at < ASK_AGAIN))
                        continue;
                in = inputs(w, t);
                if (!hn_signal_wants_residency(&in))
                        continue;
                last = t->process;
                hunger = p->cpu_used - p->asked_cpu;
                if (hunger <= most)
                        continue;
                most = hunger;
                best = last;
        }
        return best;
}

static void ask_processes(struct hn_sim_lens *l, struct hn_sim_world *w) {
        for (unsigned n = 0; n < ASK_MAX; n++) {
                size_t i = hungriest(w);

                if (i == SIZE_MAX)
                        break;
                draw_pages(l, w, i);
                w->processes[i].asked = true;
                w->processes[i].asked_at = w->now;
                w->processes[i].asked_cpu = w->processes[i].cpu_used;
        }
}

static void show_nodes(struct hn_sim_lens *l, const struct hn_sim_world *w) {
        double elapsed = w->now - l->looked_at;

        for (unsigned k = 0; k < w->n_nodes; k++) {
                double busy = elapsed > 0 ? (w->node_busy[k] - l->busy[k]) / elapsed : 0;

                l->shot.nodes[k] = (struct hn_node_load){
                        .busy = (uint32_t) (busy * 1000 + 0.5),
                        .free = (uint64_t) hn_sim_pages_free(w, k) * 4096,
                };
                l->busy[k] = w->node_busy[k];
        }
        l->looked_at = w->now;
}

static void show_task(struct hn_sim_lens *l, struct hn_sim_world *w, size_t i) {
        const struct hn_sim_task *t = &w->tasks[i];
        const struct hn_sim_process *p = &w->processes[t->process];
        struct hn_snapshot *s = &l->shot;
        struct hn_task_sample *sample = &s->tasks[s->n_tasks];
        struct hn_signal_inputs in = inputs(w, t);
        size_t row = w->n_processes + s->n_tasks;

        for (unsigned k = 0; k < w->n_nodes; k++) {
                s->priv[row * w->n_nodes + k] = t->faults.priv[k];
                s->shared[row * w->n_nodes + k] = t->faults.shared[k];
        }
        *sample = (struct hn_task_sample){
                .key = { .tid = t->tid, .start = t->start },
                .tgid = p->tgid,
                .state = 'R',
                .node = (hn_node_index) t->node,
                .cpu = (int) t->cpu,
                .mask = t->mask,
                .runtime_ns = nanoseconds(t->runtime),
                .wait_ns = nanoseconds(t->wait),
                .age = (hn_usec_t) ((w->now - t->born) * 1e6 + 0.5),
                .runnable_avg = (uint32_t) (t->demand * 1024),
                .signal = hn_signal_choose(&in),
                .kernel_preferred = t->preferred == HN_SIM_NO_NODE ? -1 : (int) t->preferred,
                .numa_group = p->job->n_threads > 1 && w->policy->scans ? (uint32_t) p->tgid : 0,
                .scan_seq = p->scan_seq,
                .alone = p->job->n_threads == 1,
                .pages_known = p->resident,
                .pages_row = t->process,
                .pages_at = p->resident ? BOOT_USEC + (hn_usec_t) (p->asked_at * 1e6 + 0.5) : 0,
        };
        (void) strncpy(sample->comm, p->job->comm, sizeof(sample->comm) - 1);
        sample->row = sample->signal == HN_SIGNAL_FAULTS ? row : t->process;
        sample->fresh = sample->signal == HN_SIGNAL_FAULTS || p->asked_at >= w->now;
        l->index[s->n_tasks++] = i;
}

int hn_sim_lens_look(struct hn_sim_lens *l, struct hn_sim_world *w) {
        struct hn_snapshot *s = &l->shot;
        int r;

        r = reserve(l, w);
        if (r < 0)
                return r;
        sum_up(w);
        ask_processes(l, w);
        show_nodes(l, w);
        s->now = BOOT_USEC + (hn_usec_t) (w->now * 1e6 + 0.5);
        s->n_nodes = w->n_nodes;
        s->n_scopes = 1;
        s->scopes = &l->scope;
        s->masks = &w->masks;
        s->kernel_balancing = w->policy->scans;
        s->n_tasks = 0;
        for (size_t i = 0; i < w->n_processes; i++)
                for (unsigned k = 0; k < w->n_nodes; k++) {
                        s->priv[i * w->n_nodes + k] = w->processes[i].residency[k];
                        s->shared[i * w->n_nodes + k] = 0;
                }
        for (size_t i = 0; i < w->n_tasks; i++)
                if (!w->processes[w->tasks[i].process].job->unmanaged)
                        show_task(l, w, i);
        s->n_rows = w->n_processes + s->n_tasks;
        return 0;
}
