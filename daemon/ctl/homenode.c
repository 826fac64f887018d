/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenode: looks at the machine, at tasks, at the daemon and its configuration. */
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "verb.h"

static const struct {
        const char *name;
        int (*run)(int argc, char **argv);
        const char *help;
} verbs[] = {
        { "advise", hn_verb_advise, "the nodes a new workload would best go to" },
        { "explain", hn_verb_explain, "a task: why it is where it is, and what would change that" },
        { "nodes", hn_verb_nodes, "the machine: CPUs, memory, load and distances of each node" },
        { "ps", hn_verb_ps, "tasks: where they run, where their memory is" },
        { "run", hn_verb_run, "starts a command with a policy and on nodes, as numactl does" },
        { "status", hn_verb_status, "the daemon: what it watches, what it did and did not, and why" },
        { "pin", hn_verb_pin, "put something that runs on nodes, by hand" },
        { "unpin", hn_verb_unpin, "end that" },
        { "match", hn_verb_match, "processes: which rule matches them, and why" },
        { "check-config", hn_verb_check_config, "the configuration: its mistakes" },
        { "cat-config", hn_verb_cat_config, "the configuration: its files, in their order" },
};

static int help(void) {
        printf("Usage: homenode VERB [OPTION...]\n\n"
               "Looks after programs and their memory on machines with several NUMA nodes.\n\nVerbs:\n");
        for (size_t i = 0; i < HN_ELEMENTS(verbs); i++)
                printf("  %-13s %s\n", verbs[i].name, verbs[i].help);
        printf("\nOptions:\n"
               "  -h, --help     this text; with a verb, the verb's own\n"
               "      --version  the version\n\n"
               "See homenode(1), homenoded(8).\n");
        return hn_flush_output();
}

int main(int argc, char **argv) {
        static const struct option options[] = {
                { "help", no_argument, NULL, 'h' },
                { "version", no_argument, NULL, 'V' },
                {},
        };
        int c;

        /* The leading + ends the options at the verb: what follows is the verb's. */
        while ((c = getopt_long(argc, argv, "+h", options, NULL)) >= 0)
                switch (c) {
                case 'h': return help();
                case 'V': printf("homenode %s\n", HN_VERSION); return hn_flush_output();
                default: return hn_complain_usage(NULL);
                }
        if (optind == argc) {
                hn_complain("a verb is missing");
                return hn_complain_usage(NULL);
        }
        argc -= optind;
        argv += optind;
        optind = 0; /* a new start, of glibc's internal state too */
        for (size_t i = 0; i < HN_ELEMENTS(verbs); i++)
                if (strcmp(argv[0], verbs[i].name) == 0)
                        return verbs[i].run(argc, argv);
        hn_complain("there is no verb \"%s\"", argv[0]);
        return hn_complain_usage(NULL);
}
