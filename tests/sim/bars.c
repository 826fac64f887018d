/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <math.h>
#include <string.h>

#include "bars.h"
#include "base/macro.h"
#include "runs.h"

/* Machines come with the kernel's NUMA balancing, so homenode+kernel is what is judged; homenode alone stands
 * beside it for comparison. That it does no harm is asked of both. */

enum sense { AT_LEAST, AT_MOST, ABOVE, _SENSE_MAX };

struct bar;

/* What was measured, and where it was worst if there is a choice. */
struct gauge {
        double value;
        const char *where;
        unsigned seed;
};

typedef void (*measure_fn)(struct hn_sim_runs *r, const struct bar *bar, const struct hn_sim_scenario *s,
                           const struct hn_sim_policy *policy, struct gauge *ret);

struct bar {
        const char *name, *about;
        const char *const *scenarios; /* a line each, NULL at the end; or one line for those ... */
        const char *prefix;           /* ... whose names begin so */
        measure_fn measure;
        const struct hn_sim_policy *rival;
        enum sense sense;
        double bound;
        int decimals;
        bool both; /* homenode alone is judged as well */
};

static bool is_meant(const struct bar *bar, const struct hn_sim_scenario *s) {
        return strncmp(s->name, bar->prefix, strlen(bar->prefix)) == 0;
}

static void keep_least(struct gauge *g, double value, const char *where, unsigned seed) {
        if (value < g->value)
                *g = (struct gauge){ .value = value, .where = where, .seed = seed };
}

static void least_mean(struct hn_sim_runs *r, const struct bar *bar, const struct hn_sim_scenario *s,
                       const struct hn_sim_policy *policy, struct gauge *ret) {
        size_t n = hn_sim_scenarios(&s);

        ret->value = INFINITY;
        for (size_t i = 0; i < n; i++)
                if (is_meant(bar, &s[i]))
                        keep_least(ret,
                                   hn_sim_runs_rate(r, &s[i], policy) /
                                           hn_sim_runs_rate(r, &s[i], bar->rival),
                                   s[i].name, 0);
}

/* The same seed makes the same load, so runs are compared one by one. */
static void least_run(struct hn_sim_runs *r, const struct bar *bar, const struct hn_sim_scenario *s,
                      const struct hn_sim_policy *policy, struct gauge *ret) {
        size_t n = hn_sim_scenarios(&s);

        ret->value = INFINITY;
        for (size_t i = 0; i < n; i++) {
                const struct hn_sim_result *ours, *its;

                if (!is_meant(bar, &s[i]))
                        continue;
                ours = hn_sim_runs_of(r, &s[i], policy);
                its = hn_sim_runs_of(r, &s[i], bar->rival);
                for (unsigned k = 0; k < r->n_seeds; k++)
                        keep_least(ret, ours[k].rate / its[k].rate, s[i].name, k + 1);
        }
}

static void part(struct hn_sim_runs *r, const struct bar *bar, const struct hn_sim_scenario *s,
                 const struct hn_sim_policy *policy, struct gauge *ret) {
        ret->value = hn_sim_runs_rate(r, s, policy) / hn_sim_runs_rate(r, s, bar->rival);
}

/* The slowest seed. From the start of the run, which is the opt-in. In schedbench nothing ends but the burst
 * of others that comes at 3 s; it holds up everybody, the oracle too (6 s with 4 processes, 9 s with 64), so
 * the figure there is mostly the burst's and never less than it. */
static void settling(struct hn_sim_runs *r, const struct bar *bar, const struct hn_sim_scenario *s,
                     const struct hn_sim_policy *policy, struct gauge *ret) {
        const struct hn_sim_result *x = hn_sim_runs_of(r, s, policy);

        (void) bar;
        for (unsigned i = 0; i < r->n_seeds; i++)
                ret->value = fmax(ret->value, x[i].settle);
}

static void young_moves(struct hn_sim_runs *r, const struct bar *bar, const struct hn_sim_scenario *s,
                        const struct hn_sim_policy *policy, struct gauge *ret) {
        const struct hn_sim_result *x = hn_sim_runs_of(r, s, policy);

        (void) bar;
        for (unsigned i = 0; i < r->n_seeds; i++)
                ret->value += x[i].counts.young_moves;
}

static void repeated_moves(struct hn_sim_runs *r, const struct bar *bar, const struct hn_sim_scenario *s,
                           const struct hn_sim_policy *policy, struct gauge *ret) {
        const struct hn_sim_result *x = hn_sim_runs_of(r, s, policy);

        (void) bar;
        for (unsigned i = 0; i < r->n_seeds; i++)
                ret->value += x[i].counts.repeated_moves;
}

static void starvation(struct hn_sim_runs *r, const struct bar *bar, const struct hn_sim_scenario *s,
                       const struct hn_sim_policy *policy, struct gauge *ret) {
        const struct hn_sim_result *x = hn_sim_runs_of(r, s, policy);

        (void) bar;
        for (unsigned i = 0; i < r->n_seeds; i++)
                ret->value = fmax(ret->value, x[i].counts.starved);
}

/* The geometric mean, in which twice as fast here makes up for half as fast there. */
static void factor(struct hn_sim_runs *r, const struct bar *bar, const struct hn_sim_scenario *s,
                   const struct hn_sim_policy *policy, struct gauge *ret) {
        size_t n = hn_sim_scenarios(&s);
        unsigned rows = 0;
        double sum = 0;

        for (size_t i = 0; i < n; i++)
                if (s[i].row) {
                        sum += log(hn_sim_runs_rate(r, &s[i], policy) /
                                   hn_sim_runs_rate(r, &s[i], bar->rival));
                        rows++;
                }
        ret->value = exp(sum / rows);
}

static const char *const placed[] = {
        "numa01-private", "numa02",        "numa04",        "numa05",        "jbb4x", "schedbench-4",
        "schedbench-8",   "schedbench-16", "schedbench-32", "schedbench-64", NULL,
};
static const char *const passing[] = { "hackbench", "forks", NULL };
static const char *const shared[] = { "numa01", "numa03", NULL };
static const char *const idling[] = { "half-idle", NULL };

static const struct bar bars[] = {
        {
                .name = "a.mean",
                .about = "of \"none\", the worst scenario",
                .prefix = "",
                .measure = least_mean,
                .rival = &hn_sim_policy_none,
                .sense = AT_LEAST,
                .bound = 0.99,
                .decimals = 3,
                .both = true,
        },
        {
                .name = "a.run",
                .about = "of \"none\", the worst seed of all",
                .prefix = "",
                .measure = least_run,
                .rival = &hn_sim_policy_none,
                .sense = AT_LEAST,
                .bound = 0.97,
                .decimals = 3,
                .both = true,
        },
        {
                .name = "b.mean",
                .about = "of \"none\", two JVMs at the worst N",
                .prefix = "jbb2x24-",
                .measure = least_mean,
                .rival = &hn_sim_policy_none,
                .sense = AT_LEAST,
                .bound = 0.99,
                .decimals = 3,
                .both = true,
        },
        {
                .name = "b.run",
                .about = "of \"none\", two JVMs, the worst seed of all",
                .prefix = "jbb2x24-",
                .measure = least_run,
                .rival = &hn_sim_policy_none,
                .sense = AT_LEAST,
                .bound = 0.97,
                .decimals = 3,
                .both = true,
        },
        {
                .name = "c.part",
                .about = "of the oracle",
                .scenarios = placed,
                .measure = part,
                .rival = &hn_sim_policy_oracle,
                .sense = AT_LEAST,
                .bound = 0.95,
                .decimals = 3,
        },
        {
                .name = "c.settled",
                .about = "seconds until settled, the slowest seed",
                .scenarios = placed,
                .measure = settling,
                .sense = AT_MOST,
                .bound = 10,
        },
        {
                .name = "d",
                .about = "moves of tasks younger than 2 s, all seeds",
                .scenarios = passing,
                .measure = young_moves,
                .sense = AT_MOST,
                .bound = 0,
        },
        {
                .name = "e",
                .about = "moves of tasks moved before, all seeds",
                .scenarios = shared,
                .measure = repeated_moves,
                .sense = AT_MOST,
                .bound = 0,
        },
        {
                .name = "f",
                .about = "seconds a node idles while others wait",
                .scenarios = idling,
                .measure = starvation,
                .sense = AT_MOST,
                .bound = 2,
                .decimals = 2,
        },
        {
                .name = "g.kernel",
                .about = "times the kernel's work, geometric mean",
                .measure = factor,
                .rival = &hn_sim_policy_kernel,
                .sense = ABOVE,
                .bound = 1,
                .decimals = 3,
        },
        {
                .name = "g.numad",
                .about = "times numad's work, geometric mean",
                .measure = factor,
                .rival = &hn_sim_policy_numad,
                .sense = ABOVE,
                .bound = 1,
                .decimals = 3,
        },
};

static bool is_met(const struct bar *bar, double value) {
        switch (bar->sense) {
        case AT_LEAST: return value >= bar->bound;
        case AT_MOST: return value <= bar->bound;
        case ABOVE: return value > bar->bound;
        case _SENSE_MAX: break;
        }
        return false;
}

static const char *sign_of(enum sense sense) {
        static const char *const signs[_SENSE_MAX] = { [AT_LEAST] = ">=", [AT_MOST] = "<=", [ABOVE] = ">" };

        return signs[sense];
}

/* Whether a name, or its beginning up to a dot, is in the list. */
static bool is_wanted(const char *which, const char *name) {
        while (which) {
                size_t n = strcspn(which, ",");

                if (strncmp(which, name, n) == 0 && (name[n] == '\0' || name[n] == '.'))
                        return true;
                which = which[n] ? which + n + 1 : NULL;
        }
        return false;
}

static void print_place(const struct gauge *g, FILE *file) {
        if (g->where)
                fprintf(file, "  %s", g->where);
        if (g->seed > 0)
                fprintf(file, ", seed %u", g->seed);
}

/* Returns 1 if it was missed, 0 if not, or -errno. */
static int judge(struct hn_sim_runs *r, const struct bar *bar, const struct hn_sim_scenario *s,
                 const char *name, bool alone, FILE *file) {
        const struct hn_sim_policy *policy = alone ? &hn_sim_policy_homenode : &hn_sim_policy_homenode_kernel;
        struct gauge g = { .value = 0 }, beside = { .value = 0 };
        char wanted[16];

        bar->measure(r, bar, s, policy, &g);
        if (!bar->both)
                bar->measure(r, bar, s, &hn_sim_policy_homenode, &beside);
        if (r->error < 0)
                return r->error;
        (void) snprintf(wanted, sizeof(wanted), "%s %.*f", sign_of(bar->sense), bar->decimals, bar->bound);
        fprintf(file, "%-25s %-44s %-9s %9.*f  %-6s", name, bar->about, wanted, bar->decimals, g.value,
                is_met(bar, g.value) ? "ok" : "MISSED");
        if (!bar->both)
                fprintf(file, "  (alone) %.*f", bar->decimals, beside.value);
        print_place(&g, file);
        if (fputc('\n', file) == EOF || fflush(file) == EOF)
                return -EIO;
        return !is_met(bar, g.value);
}

/* The next line of a bar: its scenario, which policy, and the name. Returns false if there are no more. */
static bool line(const struct bar *bar, size_t i, const struct hn_sim_scenario **ret_scenario, char *name,
                 size_t size) {
        const char *more = bar->both && i == 1 ? "alone" : NULL;

        *ret_scenario = NULL;
        if (bar->scenarios) {
                more = bar->scenarios[i];
                if (!more)
                        return false;
                *ret_scenario = hn_sim_scenario_find(more);
        } else if (i > (bar->both ? 1 : 0))
                return false;
        (void) snprintf(name, size, "%s%s%s", bar->name, more ? "." : "", more ? more : "");
        return true;
}

/* Whether the first name of the list is that of a bar, or of some. */
static bool is_known(const char *first, size_t n) {
        const struct hn_sim_scenario *s;
        char name[40], only[40];

        (void) snprintf(only, sizeof(only), "%.*s", (int) HN_MIN(n, sizeof(only) - 1), first);
        for (size_t b = 0; b < HN_ELEMENTS(bars); b++)
                for (size_t i = 0; line(&bars[b], i, &s, name, sizeof(name)); i++)
                        if (is_wanted(only, name))
                                return true;
        fprintf(stderr, "No such bar: \"%s\"\n", only);
        return false;
}

int hn_sim_bars(const char *which, unsigned n_seeds, unsigned seconds, FILE *file) {
        const struct hn_sim_scenario *s;
        struct hn_sim_runs runs;
        char name[40];
        int missed = 0, r;

        for (const char *at = which; at; at = strchr(at, ',') ? strchr(at, ',') + 1 : NULL)
                if (!is_known(at, strcspn(at, ",")))
                        return -EINVAL;
        r = hn_sim_runs_init(&runs, n_seeds, seconds);
        if (r < 0)
                return r;
        fprintf(file, "%-25s %-44s %-9s %9s\n", "bar", "homenode+kernel", "wanted", "got");
        for (size_t b = 0; b < HN_ELEMENTS(bars) && r >= 0; b++)
                for (size_t i = 0; r >= 0 && line(&bars[b], i, &s, name, sizeof(name)); i++) {
                        if (which && !is_wanted(which, name))
                                continue;
                        r = judge(&runs, &bars[b], s, name, bars[b].both && i == 1, file);
                        missed += r > 0;
                }
        hn_sim_runs_deinit(&runs);
        return r < 0 ? r : missed;
}
