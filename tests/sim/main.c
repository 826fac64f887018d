/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "bars.h"
#include "plot.h"
#include "run.h"

static const char help[] =
        "Usage: homenode-sim SCENARIO --policy P [--seed N] [--seconds S] [--json FILE]\n"
        "       homenode-sim --table [--seeds N] [--seconds S]\n"
        "       homenode-sim --bars[=LIST] [--seeds N] [--seconds S]\n"
        "       homenode-sim --plot jbb|schedbench [--seeds N] [--seconds S]\n"
        "       homenode-sim --list\n"
        "Runs the placement policy and its competitors on simulated machines.\n\n"
        "  --policy P    who places tasks and memory\n"
        "  --seed N      of all chance (1)\n"
        "  --seconds S   simulated (120)\n"
        "  --json FILE   the result goes there and not to the screen\n"
        "  --table       all scenarios with all policies, as Markdown\n"
        "  --bars        what homenode is held against, and whether it gets there; LIST has\n"
        "                names of bars as printed, or their beginnings up to a dot: a,d.forks\n"
        "  --plot NAME   how policies compare along a row of scenarios, as SVG\n"
        "  --seeds N     runs of each scenario for a table (3), for bars and for a plot (20)\n"
        "  --list        scenarios and policies\n"
        "  --help        this text\n";

static int list(void) {
        const struct hn_sim_policy *const *policies;
        const struct hn_sim_scenario *scenarios;
        size_t n = hn_sim_scenarios(&scenarios);

        for (size_t i = 0; i < n; i++)
                printf("scenario %-16s %-10s %s\n", scenarios[i].name, scenarios[i].machine->name,
                       scenarios[i].about);
        n = hn_sim_policies(&policies);
        for (size_t i = 0; i < n; i++)
                printf("policy   %-16s %s\n", policies[i]->name, policies[i]->about);
        return 0;
}

static int run(const char *scenario_name, const char *policy_name, unsigned seed, unsigned seconds,
               const char *path) {
        const struct hn_sim_scenario *scenario = hn_sim_scenario_find(scenario_name);
        const struct hn_sim_policy *policy = policy_name ? hn_sim_policy_find(policy_name) : NULL;
        struct hn_sim_result result;
        FILE *file = stdout;
        int r;

        if (!scenario || !policy) {
                fprintf(stderr, "No such %s: see --list\n", scenario ? "policy" : "scenario");
                return -EINVAL;
        }
        r = hn_sim_run(scenario, policy, seed, seconds, &result);
        if (r < 0)
                return r;
        if (path)
                file = fopen(path, "we");
        if (!file)
                return -errno;
        r = hn_sim_result_print(scenario, policy, seed, seconds, &result, file);
        if (path && fclose(file) != 0 && r == 0)
                r = -errno;
        return r;
}

static bool parse(const char *text, unsigned max, unsigned *ret) {
        unsigned long v;
        char *end;

        errno = 0;
        v = strtoul(text, &end, 10);
        if (errno != 0 || end == text || *end || v < 1 || v > max) {
                fprintf(stderr, "\"%s\" is no number from 1 to %u\n", text, max);
                return false;
        }
        *ret = (unsigned) v;
        return true;
}

int main(int argc, char **argv) {
        static const struct option options[] = {
                { "policy", required_argument, NULL, 'p' },
                { "seed", required_argument, NULL, 's' },
                { "seconds", required_argument, NULL, 'S' },
                { "json", required_argument, NULL, 'j' },
                { "table", no_argument, NULL, 't' },
                { "bars", optional_argument, NULL, 'b' },
                { "plot", required_argument, NULL, 'P' },
                { "seeds", required_argument, NULL, 'n' },
                { "list", no_argument, NULL, 'l' },
                { "help", no_argument, NULL, 'h' },
                { NULL, 0, NULL, 0 },
        };
        unsigned seed = 1, seconds = HN_SIM_SECONDS, n_seeds = 0;
        const char *policy = NULL, *path = NULL, *which = NULL, *plot = NULL;
        bool table = false, bars = false;
        int c, r;

        while ((c = getopt_long(argc, argv, "", options, NULL)) >= 0) {
                bool ok = true;

                switch (c) {
                case 'p': policy = optarg; break;
                case 's': ok = parse(optarg, UINT32_MAX, &seed); break;
                case 'S': ok = parse(optarg, 86400, &seconds); break;
                case 'j': path = optarg; break;
                case 't': table = true; break;
                case 'b':
                        bars = true;
                        which = optarg;
                        break;
                case 'P': plot = optarg; break;
                case 'n': ok = parse(optarg, 1000, &n_seeds); break;
                case 'l': return list();
                case 'h': fputs(help, stdout); return EXIT_SUCCESS;
                default: ok = false;
                }
                if (!ok)
                        return EXIT_FAILURE;
        }
        if (table + bars + !!plot > 1 || optind + (table || bars || plot ? 0 : 1) != argc) {
                fputs(help, stderr);
                return EXIT_FAILURE;
        }
        if (bars)
                r = hn_sim_bars(which, n_seeds ? n_seeds : 20, seconds, stdout);
        else if (plot)
                r = hn_sim_plot(plot, n_seeds ? n_seeds : 20, seconds, stdout);
        else if (table)
                r = hn_sim_table(n_seeds ? n_seeds : 3, seconds, stdout);
        else
                r = run(argv[optind], policy, seed, seconds, path);
        if (r < 0 && r != -EINVAL)
                fprintf(stderr, "homenode-sim: %s\n", strerror(-r));
        return r == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
