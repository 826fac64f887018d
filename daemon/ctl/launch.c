/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "devicenode.h"
#include "launch.h"
#include "nodespec.h"

enum { OPTION_RULE = 256, OPTION_VERSION, OPTION_COMPRESS };

static const struct option options[] = {
        { "all", no_argument, NULL, 'a' },
        { "balancing", no_argument, NULL, 'b' },
        { "cpu-compress", no_argument, NULL, OPTION_COMPRESS },
        { "cpubind", required_argument, NULL, 'c' },
        { "cpunodebind", required_argument, NULL, 'N' },
        { "dump", no_argument, NULL, 'd' },
        { "dump-nodes", no_argument, NULL, 'D' },
        { "file", required_argument, NULL, 'f' },
        { "hardware", no_argument, NULL, 'H' },
        { "help", no_argument, NULL, 'h' },
        { "huge", no_argument, NULL, 'u' },
        { "interleave", required_argument, NULL, 'i' },
        { "length", required_argument, NULL, 'L' },
        { "localalloc", no_argument, NULL, 'l' },
        { "membind", required_argument, NULL, 'm' },
        { "offset", required_argument, NULL, 'o' },
        { "physcpubind", required_argument, NULL, 'C' },
        { "preferred", required_argument, NULL, 'p' },
        { "preferred-many", required_argument, NULL, 'P' },
        { "rule", required_argument, NULL, OPTION_RULE },
        { "shm", required_argument, NULL, 'S' },
        { "shmid", required_argument, NULL, 'I' },
        { "shmmode", required_argument, NULL, 'M' },
        { "show", no_argument, NULL, 's' },
        { "strict", no_argument, NULL, 't' },
        { "touch", no_argument, NULL, 'T' },
        { "verify", no_argument, NULL, 'V' },
        { "version", no_argument, NULL, OPTION_VERSION },
        { "weighted-interleave", required_argument, NULL, 'w' },
        {},
};

/* The leading + ends the options at the command: what follows is the command's. */
#define LETTERS "+abc:C:dDf:hHi:I:lL:m:M:N:o:p:P:sS:tTuVw:"

/* What has been read so far, as far as later arguments depend on it. */
struct reader {
        struct hn_launch *launch;
        const struct hn_sysroot *root;
        const struct hn_allowance *allowance;
        struct hn_why *why;
        bool all, balancing, strict, hardware;
        bool listed;               /* some list has been read */
        bool bound;                /* to CPUs */
        const char *shared_option; /* one that is about shared memory */
        const char *same;          /* the node list read last */
        bool has_policy;
        struct hn_mempolicy policy;
        size_t n_allocated; /* of the launch's steps */
};

void hn_launch_deinit(struct hn_launch *l) {
        free(l->steps);
        *l = HN_LAUNCH_NULL;
}

int hn_launch_parse_size(const char *text, uint64_t *ret) {
        unsigned long long value;
        unsigned shift = 0;
        char *end;

        /* What strtoull(3) lets stand in front, but for a minus: it would make a huge number of it. */
        text += strspn(text, " \t\n\v\f\r");
        text += *text == '+';
        if (*text < '0' || *text > '9')
                return -EINVAL;
        errno = 0;
        value = strtoull(text, &end, 0);
        if (errno != 0)
                return -ERANGE;
        switch (*end) {
        case 'g':
        case 'G': shift = 30; break;
        case 'm':
        case 'M': shift = 20; break;
        case 'k':
        case 'K': shift = 10; break;
        default: break;
        }
        end += shift != 0;
        end += shift != 0 && (*end == 'b' || *end == 'B');
        if (*end != '\0')
                return -EINVAL;
        if (value > UINT64_MAX >> shift)
                return -ERANGE;
        *ret = (uint64_t) value << shift;
        return 0;
}

static int wrong(const struct reader *r, const char *text) {
        return hn_why(r->why, -EUCLEAN, "%s", text);
}

static int add(struct reader *r, enum hn_launch_act act, const struct hn_mempolicy *policy,
               const char *name) {
        struct hn_launch *l = r->launch;

        if (l->n_steps == r->n_allocated) {
                size_t more = r->n_allocated ? 2 * r->n_allocated : 8;
                struct hn_launch_step *grown = reallocarray(l->steps, more, sizeof(*grown));

                if (!grown)
                        return hn_why_errno(r->why, -ENOMEM, "cannot keep the arguments");
                l->steps = grown;
                r->n_allocated = more;
        }
        l->steps[l->n_steps++] = (struct hn_launch_step){
                .act = act,
                .policy = policy ? *policy : HN_MEMPOLICY_NULL,
                .name = name,
                .strict = r->strict,
        };
        return 0;
}

static void warn(struct reader *r, const char *text) {
        for (size_t i = 0; i < HN_ELEMENTS(r->launch->warnings); i++)
                if (r->launch->warnings[i][0] == '\0') {
                        (void) snprintf(r->launch->warnings[i], sizeof(r->launch->warnings[i]), "%s", text);
                        return;
                }
}

/* Lists */

static int find_device(void *userdata, const char *text, unsigned *ret_node, struct hn_why *why) {
        return hn_devicenode_find(userdata, text, ret_node, why);
}

static int read_list(struct reader *r, const char *text, const struct hn_nodespec_terms *terms,
                     struct hn_mask *ret) {
        int k = hn_nodespec_parse(text, terms, ret, r->why);

        if (k == 0)
                r->listed = true;
        return k;
}

static int read_nodes(struct reader *r, const char *text, struct hn_mask *ret) {
        const struct hn_nodespec_terms terms = {
                .noun = "node",
                .allowed = r->all ? r->allowance->nodes : r->allowance->mems,
                .present = r->allowance->nodes,
                .all = r->all,
                .device = find_device,
                .userdata = (void *) (uintptr_t) r->root,
        };

        if (strcmp(text, "same") == 0) {
                if (!r->same)
                        return wrong(r, "\"same\" means the nodes named last, and none have been named");
                text = r->same;
        }
        r->same = text;
        return read_list(r, text, &terms, ret);
}

static int read_cpus(struct reader *r, const char *text, struct hn_mask *ret) {
        const struct hn_nodespec_terms terms = {
                .noun = "CPU",
                .allowed = r->all ? r->allowance->cpus : r->allowance->mine,
                .present = r->allowance->cpus,
                .all = r->all,
        };

        return read_list(r, text, &terms, ret);
}

/* Options of one kind each; all return 0 or a negative errno that has its sentence. */

static int take_policy(struct reader *r, int mode, const char *list) {
        struct hn_mempolicy policy = { .mode = mode };
        int k;

        if (list) {
                k = read_nodes(r, list, &policy.nodes);
                if (k < 0)
                        return k;
        }
        if (r->has_policy)
                return wrong(r, "two memory policies: only one can be set");
        if (mode == HN_MPOL_PREFERRED && hn_mask_count(&policy.nodes) != 1)
                return wrong(r, "--preferred takes exactly one node; --preferred-many takes several");
        if (list && hn_mask_empty(&policy.nodes) && r->launch->shared)
                return hn_why(r->why, -EINVAL, "\"%s\": no node is left for shared memory", list);
        /* To interleave over nothing is to have no policy, in numactl too. */
        if ((mode == HN_MPOL_INTERLEAVE || mode == HN_MPOL_WEIGHTED_INTERLEAVE) &&
            hn_mask_empty(&policy.nodes) && !r->launch->shared)
                policy.mode = HN_MPOL_DEFAULT;
        if (r->balancing && mode == HN_MPOL_BIND && !r->launch->shared)
                policy.flags = HN_MPOL_F_NUMA_BALANCING;
        r->policy = policy;
        r->has_policy = true;
        return add(r, HN_LAUNCH_POLICY, &policy, NULL);
}

static int take_binding(struct reader *r, enum hn_launch_act act, const char *list) {
        struct hn_mempolicy set = HN_MEMPOLICY_NULL;
        int k;

        if (r->shared_option || r->launch->shared)
                return wrong(
                        r,
                        "shared memory cannot be bound to CPUs: give the command that uses it --cpunodebind "
                        "or --physcpubind");
        k = act == HN_LAUNCH_NODES ? read_nodes(r, list, &set.nodes) : read_cpus(r, list, &set.nodes);
        if (k < 0)
                return k;
        if (act == HN_LAUNCH_CPUS && hn_mask_empty(&set.nodes))
                return hn_why(r->why, -EINVAL, "\"%s\": no CPU is left to run on", list);
        r->bound = true;
        return add(r, act, &set, NULL);
}

/* --balancing, --hardware, --shm and --file want to stand before the policy. */
static int before_policy(const struct reader *r) {
        return r->has_policy
                       ? wrong(r, "--balancing, --hardware, --shm and --file stand before the memory policy")
                       : 0;
}

static int take_shared(struct reader *r, enum hn_launch_act act, const char *name) {
        int k = before_policy(r);

        if (k < 0)
                return k;
        if (r->bound)
                return wrong(
                        r,
                        "shared memory cannot be bound to CPUs: give the command that uses it --cpunodebind "
                        "or --physcpubind");
        if (r->launch->shared)
                return wrong(r, "one shared memory at a time: give --shm or --file once");
        if (r->launch->rule)
                return wrong(r, "--rule is for a command, not for shared memory");
        r->launch->shared = true;
        return add(r, act, NULL, name);
}

/* What only --shm and --file behind it make sense of. */
static int shared_option(struct reader *r, const char *name) {
        if (r->launch->shared)
                return hn_why(r->why, -EUCLEAN, "%s stands before --shm or --file", name);
        r->shared_option = name;
        return 0;
}

static int take_size(struct reader *r, const char *name, const char *text, uint64_t *ret) {
        int k = shared_option(r, name);

        if (k == 0 && hn_launch_parse_size(text, ret) < 0)
                k = hn_why(r->why, -EUCLEAN, "%s %s: not a number of bytes, such as 4096, 64k, 16m or 1g",
                           name, text);
        return k;
}

static int take_number(const struct reader *r, const char *name, const char *text, int base,
                       unsigned long max, unsigned long *ret) {
        char *end;

        errno = 0;
        *ret = strtoul(text, &end, base);
        if (end == text || *end != '\0' || errno != 0 || (strchr(text, '-') && *ret != 0) || *ret > max)
                return hn_why(r->why, -EUCLEAN, "%s %s: not a%s number up to %s", name, text,
                              base == 8 ? "n octal" : "", base == 8 ? "7777" : "2147483647");
        return 0;
}

static int take_mode(struct reader *r, const char *text) {
        unsigned long value = 0;
        int k = shared_option(r, "--shmmode");

        if (k == 0)
                k = take_number(r, "--shmmode", text, 8, 07777, &value);
        r->launch->mode = (mode_t) value;
        return k;
}

static int take_id(struct reader *r, const char *text) {
        unsigned long value = 0;
        int k = take_number(r, "--shmid", text, 0, INT32_MAX, &value);

        r->launch->id = (int) value;
        return k;
}

/* What is to be done with the shared memory named before. */
static int take_deed(struct reader *r, enum hn_launch_act act, const char *name) {
        if (!r->launch->shared)
                return hn_why(r->why, -EUCLEAN, "%s stands behind --shm or --file", name);
        if (act == HN_LAUNCH_VERIFY && (!r->has_policy || hn_mask_empty(&r->policy.nodes)))
                return wrong(r, "--verify stands behind a memory policy with nodes");
        return add(r, act, &r->policy, NULL);
}

static int take_rule(struct reader *r, const char *name) {
        if (r->launch->shared)
                return wrong(r, "--rule is for a command, not for shared memory");
        r->launch->rule = name;
        return 0;
}

static int take(struct reader *r, int letter, const char *argument) {
        int k = 0;

        switch (letter) {
        case 'a': r->all = true; return r->listed ? wrong(r, "--all stands before all nodes and CPUs") : 0;
        case 'b': r->balancing = true; return before_policy(r);
        case 'i': return take_policy(r, HN_MPOL_INTERLEAVE, argument);
        case 'w': return take_policy(r, HN_MPOL_WEIGHTED_INTERLEAVE, argument);
        case 'm': return take_policy(r, HN_MPOL_BIND, argument);
        case 'p': return take_policy(r, HN_MPOL_PREFERRED, argument);
        case 'P': return take_policy(r, HN_MPOL_PREFERRED_MANY, argument);
        case 'l': return take_policy(r, HN_MPOL_LOCAL, NULL);
        case 'c':
        case 'N': return take_binding(r, HN_LAUNCH_NODES, argument);
        case 'C': return take_binding(r, HN_LAUNCH_CPUS, argument);
        case 'S': return take_shared(r, HN_LAUNCH_SHM, argument);
        case 'f': return take_shared(r, HN_LAUNCH_FILE, argument);
        case 'L': return take_size(r, "--length", argument, &r->launch->length);
        case 'o': return take_size(r, "--offset", argument, &r->launch->offset);
        case 'M': return take_mode(r, argument);
        case 'I': return take_id(r, argument);
        case 'u': r->launch->huge = true; return shared_option(r, "--huge");
        case 't': r->strict = true; return 0;
        case 'T': return take_deed(r, HN_LAUNCH_TOUCH, "--touch");
        case 'V': return take_deed(r, HN_LAUNCH_VERIFY, "--verify");
        case 'd': return take_deed(r, HN_LAUNCH_DUMP, "--dump");
        case 'D': return take_deed(r, HN_LAUNCH_DUMP_NODES, "--dump-nodes");
        case 'H': r->hardware = true; return before_policy(r);
        case OPTION_COMPRESS: r->launch->ranges = true; return 0;
        case OPTION_RULE: return take_rule(r, argument);
        case OPTION_VERSION:
                k = before_policy(r);
                r->launch->version = k == 0;
                return k;
        default: return -EUCLEAN; /* getopt has said why */
        }
}

/* What can be seen only at the end. */
static int settle(struct reader *r, char **rest) {
        struct hn_launch *l = r->launch;

        if (r->hardware)
                return add(r, HN_LAUNCH_HARDWARE, NULL, NULL);
        if (l->shared)
                return *rest ? hn_why(r->why, -EUCLEAN, "shared memory takes no command, and there is \"%s\"",
                                      *rest)
                             : 0;
        if (r->shared_option)
                return hn_why(r->why, -EUCLEAN,
                              "%s is about shared memory: name it behind that, with --shm or --file",
                              r->shared_option);
        if (!*rest)
                return wrong(r, "the command is missing");
        if (r->strict)
                warn(r, "--strict is about shared memory and has no effect on a command");
        if (r->balancing && r->policy.flags == 0)
                warn(r, "--balancing has an effect with --membind only");
        l->command = rest;
        return 0;
}

int hn_launch_parse(int argc, char **argv, const struct hn_sysroot *root,
                    const struct hn_allowance *allowance, struct hn_launch *ret, struct hn_why *why) {
        _hn_cleanup_(hn_launch_deinit) struct hn_launch launch = HN_LAUNCH_NULL;
        struct reader r = { .launch = &launch, .root = root, .allowance = allowance, .why = why };
        int c, k = 0;

        while (k == 0 && (c = getopt_long(argc, argv, LETTERS, options, NULL)) >= 0) {
                if (c == 'h')
                        launch.help = true;
                else if (c == 's')
                        k = add(&r, HN_LAUNCH_SHOW, NULL, NULL);
                else
                        k = take(&r, c, optarg);
                /* What stands behind these is not looked at. */
                if (k == 0 && (c == 'h' || c == 's' || launch.version))
                        goto done;
        }
        if (k == 0)
                k = settle(&r, argv + optind);
        if (k < 0)
                return k;
done:
        *ret = launch;
        launch = HN_LAUNCH_NULL;
        return 0;
}
