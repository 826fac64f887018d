/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What a decision costs: the model's feed and the plan for many tasks on many nodes, made up in memory,
 * beside one qsort() of as many records of the size of a decision. Times are wall-clock medians on one CPU.
 */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <jansson.h>

#include "base/macro.h"
#include "policy/model.h"
#include "policy/plan.h"

#define ROUNDS 21u

static const char help[] = "bench-plan [--tasks N] [--nodes N] [--threads N] [--json]\n"
                           "  --tasks N    tasks in all (10000)\n"
                           "  --nodes N    nodes, with as many cores that half of the tasks fill them (16)\n"
                           "  --threads N  tasks of each process (8)\n";

struct stage {
        struct hn_topology topo;
        struct hn_mask_pool masks;
        struct hn_scope scope;
        struct hn_snapshot s;
        struct hn_model *model;
        struct hn_plan *plan;
        uint64_t seed;
};

static const struct hn_limits limits = HN_LIMITS_DEFAULT;

/* An xorshift generator: the same stage in every run. */
static uint64_t draw(struct stage *g, uint64_t n) {
        g->seed ^= g->seed << 13;
        g->seed ^= g->seed >> 7;
        g->seed ^= g->seed << 17;
        return g->seed % n;
}

static double now_ms(void) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return (double) ts.tv_sec * 1e3 + (double) ts.tv_nsec / 1e6;
}

static int build_topology(struct hn_topology *topo, size_t n_nodes, unsigned per_node) {
        int r = hn_topology_init(topo, n_nodes, n_nodes * per_node);

        if (r < 0)
                return r;
        for (unsigned i = 0; i < n_nodes; i++) {
                struct hn_node *node = &topo->nodes[i];

                *node = (struct hn_node){ .id = i,
                                          .n_cores = per_node,
                                          .n_cpus = per_node,
                                          .n_llcs = 1,
                                          .memory = UINT64_C(1) << 38 };
                for (unsigned c = i * per_node; c < (i + 1) * per_node; c++) {
                        (void) hn_mask_add(&node->cpus, c);
                        topo->cpu_node[c] = (hn_node_index) i;
                }
                node->usable = node->cpus;
                topo->online = hn_mask_or(&topo->online, &node->cpus);
        }
        topo->possible = topo->online;
        return 0;
}

/* Half of the tasks use a tenth of a CPU, the others nothing to speak of; each process's memory is on one
 * node, most of it, and its tasks anywhere; every fourth process shares it. */
static int set_stage(struct stage *g, size_t n_tasks, size_t n_nodes, size_t n_threads) {
        unsigned per_node = (unsigned) HN_MIN(HN_MAX(n_tasks / 20 / n_nodes, (size_t) 1), (size_t) 64);
        struct hn_snapshot *s = &g->s;
        hn_mask_id all;
        int r;

        r = build_topology(&g->topo, n_nodes, per_node);
        if (r < 0)
                return r;
        g->scope = (struct hn_scope){ .path = "/bench",
                                      .rule = "bench",
                                      .mode = HN_MODE_MANAGE,
                                      .pages = true,
                                      .cpuset = g->topo.online };
        for (unsigned i = 0; i < n_nodes; i++)
                (void) hn_mask_add(&g->scope.mems, i);
        r = hn_mask_pool_intern(&g->masks, &g->topo.online, &all);
        if (r < 0)
                return r;
        *s = (struct hn_snapshot){
                .now = 1000 * HN_USEC_PER_SEC,
                .n_nodes = n_nodes,
                .nodes = calloc(n_nodes, sizeof(*s->nodes)),
                .n_scopes = 1,
                .scopes = &g->scope,
                .n_tasks = n_tasks,
                .tasks = calloc(n_tasks, sizeof(*s->tasks)),
                .n_rows = n_tasks,
                .priv = calloc(n_tasks * n_nodes, sizeof(*s->priv)),
                .shared = calloc(n_tasks * n_nodes, sizeof(*s->shared)),
                .masks = &g->masks,
                .kernel_balancing = 1,
        };
        if (!s->nodes || !s->tasks || !s->priv || !s->shared)
                return -ENOMEM;
        for (size_t i = 0; i < n_tasks; i++) {
                size_t process = i / n_threads;
                uint64_t *row = process % 4 == 0 ? s->shared : s->priv;

                s->tasks[i] = (struct hn_task_sample){
                        .key = { .tid = 1000 + (pid_t) i, .start = 5000 + i },
                        .tgid = 1000 + (pid_t) (process * n_threads),
                        .comm = "bench",
                        .state = 'R',
                        .node = (hn_node_index) draw(g, n_nodes),
                        .mask = all,
                        .runtime_ns = UINT64_C(2000000000),
                        .signal = HN_SIGNAL_FAULTS,
                        .kernel_preferred = -1,
                        .row = i,
                };
                row[i * n_nodes + process % n_nodes] = 1000;
                row[i * n_nodes + draw(g, n_nodes)] += 300;
        }
        r = hn_model_new(&g->topo, &g->model);
        return r < 0 ? r : hn_plan_new(&g->topo, &g->plan);
}

static void unset_stage(struct stage *g) {
        g->plan = hn_plan_free(g->plan);
        g->model = hn_model_free(g->model);
        free(g->s.nodes);
        free(g->s.tasks);
        free(g->s.priv);
        free(g->s.shared);
        hn_mask_pool_deinit(&g->masks);
        hn_topology_deinit(&g->topo);
}

/* A second passes, and what was planned last is done. */
static int pass_a_second(struct stage *g) {
        struct hn_snapshot *s = &g->s;
        hn_mask_id cpuset;
        int r = hn_mask_pool_intern(&g->masks, &g->scope.cpuset, &cpuset);

        if (r < 0)
                return r;
        for (size_t k = 0; k < hn_plan_n_acts(g->plan); k++) {
                const struct hn_decision *d = hn_plan_act(g->plan, k);
                struct hn_task_sample *t = &s->tasks[d->task];

                if (d->act == HN_ACT_PIN) {
                        hn_model_note_pin(g->model, d->task, d->from, d->to, d->want, t->mask, cpuset, true,
                                          s->now);
                        t->mask = d->want;
                        t->node = d->to;
                } else if (d->act == HN_ACT_RELEASE) {
                        t->mask = hn_model_state(g->model, d->task)->before;
                        hn_model_note_release(g->model, d->task, s->now);
                }
        }
        s->now += HN_USEC_PER_SEC;
        for (size_t i = 0; i < s->n_tasks; i++)
                s->tasks[i].runtime_ns += i % 2 ? UINT64_C(100000000) : 1000000;
        for (size_t i = 0; i < s->n_nodes; i++)
                s->nodes[i].busy = 0;
        return 0;
}

static int compare_double(const void *a, const void *b) {
        return HN_CMP(*(const double *) a, *(const double *) b);
}

static double median(double *v, size_t n) {
        qsort(v, n, sizeof(*v), compare_double);
        return v[n / 2];
}

static int compare_record(const void *a, const void *b) {
        const struct hn_decision *x = a, *y = b;

        return HN_CMP(x->benefit, y->benefit);
}

/* The yardstick. */
static double sort_ms(struct stage *g, size_t n) {
        struct hn_decision *records = calloc(n, sizeof(*records));
        double from;

        if (!records)
                return -1;
        for (size_t i = 0; i < n; i++)
                records[i].benefit = draw(g, UINT64_C(1) << 40);
        from = now_ms();
        qsort(records, n, sizeof(*records), compare_record);
        from = now_ms() - from;
        free(records);
        return from;
}

static int measure(struct stage *g, json_t **ret) {
        double feed[ROUNDS], plan[ROUNDS], sort[ROUNDS], first = 0;
        size_t last_acts = 0;

        for (unsigned i = 0; i < ROUNDS + 4; i++) {
                double from, between, to;
                int r = i > 0 ? pass_a_second(g) : 0;

                from = now_ms();
                if (r == 0)
                        r = hn_model_feed(g->model, &g->s);
                between = now_ms();
                if (r == 0)
                        r = hn_plan_build(g->plan, g->model, &g->s, &limits);
                to = now_ms();
                if (r < 0)
                        return r;
                if (hn_plan_n_acts(g->plan) > 0 && first <= 0)
                        first = to - between;
                if (i < 4)
                        continue;
                feed[i - 4] = between - from;
                plan[i - 4] = to - between;
                sort[i - 4] = sort_ms(g, g->s.n_tasks);
                last_acts = hn_plan_n_acts(g->plan);
        }
        *ret = json_pack("{s:I, s:I, s:f, s:f, s:f, s:f, s:I}", "tasks", (json_int_t) g->s.n_tasks, "nodes",
                         (json_int_t) g->s.n_nodes, "feed_ms", median(feed, ROUNDS), "plan_ms",
                         median(plan, ROUNDS), "first_plan_ms", first, "sort_ms", median(sort, ROUNDS),
                         "last_acts", (json_int_t) last_acts);
        return *ret ? 0 : -ENOMEM;
}

static bool parse(const char *text, size_t min, size_t max, size_t *ret) {
        char *end = NULL;
        unsigned long v;

        errno = 0;
        v = strtoul(text, &end, 10);
        if (errno != 0 || end == text || *end != '\0' || v < min || v > max) {
                fprintf(stderr, "\"%s\" is no number from %zu to %zu\n", text, min, max);
                return false;
        }
        *ret = v;
        return true;
}

static void print(const json_t *o) {
        double feed = json_number_value(json_object_get(o, "feed_ms")),
               plan = json_number_value(json_object_get(o, "plan_ms")),
               sort = json_number_value(json_object_get(o, "sort_ms"));

        printf("%" JSON_INTEGER_FORMAT " tasks on %" JSON_INTEGER_FORMAT " nodes, medians of %u rounds\n"
               "  feed              %7.2f ms\n"
               "  plan              %7.2f ms   with everybody in his place (%" JSON_INTEGER_FORMAT
               " acts in the last round)\n"
               "  plan              %7.2f ms   the first that acts\n"
               "  sorting as many   %7.2f ms   feed and plan take %.1f times as long\n",
               json_integer_value(json_object_get(o, "tasks")),
               json_integer_value(json_object_get(o, "nodes")), ROUNDS, feed, plan,
               json_integer_value(json_object_get(o, "last_acts")),
               json_number_value(json_object_get(o, "first_plan_ms")), sort, (feed + plan) / sort);
}

int main(int argc, char **argv) {
        static const struct option options[] = {
                { "tasks", required_argument, NULL, 't' },   { "nodes", required_argument, NULL, 'n' },
                { "threads", required_argument, NULL, 'T' }, { "json", no_argument, NULL, 'j' },
                { "help", no_argument, NULL, 'h' },          { NULL, 0, NULL, 0 },
        };
        size_t n_tasks = 10000, n_nodes = 16, n_threads = 8;
        struct stage g = { .masks = HN_MASK_POOL_NULL, .seed = 88172645463325252u };
        bool json = false;
        json_t *o = NULL;
        int c, r;

        while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
                bool ok = true;

                switch (c) {
                case 't': ok = parse(optarg, 1, 1000000, &n_tasks); break;
                case 'n': ok = parse(optarg, 1, 64, &n_nodes); break;
                case 'T': ok = parse(optarg, 1, 1000, &n_threads); break;
                case 'j': json = true; break;
                case 'h': fputs(help, stdout); return EXIT_SUCCESS;
                default: ok = false; break;
                }
                if (!ok)
                        return 64;
        }
        r = set_stage(&g, n_tasks, n_nodes, n_threads);
        if (r == 0)
                r = measure(&g, &o);
        if (r < 0)
                fprintf(stderr, "%s\n", strerror(-r));
        else if (json)
                (void) (json_dumpf(o, stdout, JSON_INDENT(2)) == 0 && putchar('\n'));
        else
                print(o);
        json_decref(o);
        unset_stage(&g);
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
