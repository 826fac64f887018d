/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenode run: starts a command under a memory policy and on CPUs of one's choice, as numactl(8) does. */
#include <errno.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "act/affinity.h"
#include "careenter.h"
#include "launch.h"
#include "runshow.h"
#include "shmregion.h"
#include "verb.h"

/* As env(1) and the shells have it. */
#define EXIT_NOT_EXECUTABLE 126
#define EXIT_NOT_FOUND      127

/* Something to do, and what has become of it so far. */
struct run {
        const struct hn_sysroot *root;
        const struct hn_allowance *allowance;
        const struct hn_launch *launch;
        struct hn_shm_region region;
        bool differs; /* --verify found something */
        struct hn_why why;
};

static void run_deinit(struct run *run) {
        hn_shm_region_close(&run->region);
}

static int help(void) {
        printf("Usage: homenode run [POLICY] [PLACE] [--] COMMAND [ARGUMENT...]\n"
               "       homenode run [OPTION...] --shm KEYFILE | --file FILE [POLICY] [DEED...]\n"
               "       homenode run --show | --hardware [--cpu-compress] | --version\n\n"
               "Starts a command as numactl does, with the same options and lists.\n\n"
               "Memory policy, one at most:\n"
               "  -m, --membind NODES    -i, --interleave NODES      -p, --preferred NODE\n"
               "  -l, --localalloc       -w, --weighted-interleave NODES\n"
               "  -b, --balancing        before --membind        -P, --preferred-many NODES\n"
               "Place:\n"
               "  -N, --cpunodebind NODES   on the CPUs of these nodes (-c, --cpubind: the same)\n"
               "  -C, --physcpubind CPUS    on these CPUs\n"
               "  -a, --all                 lists after it may name what is not allowed here\n"
               "      --rule NAME           in the care of this rule of homenode.conf(5)\n"
               "Shared memory; options first:\n"
               "  -L, --length SIZE   -o, --offset SIZE   -M, --shmmode MODE  -I, --shmid ID\n"
               "  -u, --huge          -t, --strict        -S, --shm KEYFILE   -f, --file FILE\n"
               "  -T, --touch         -V, --verify        -d, --dump          -D, --dump-nodes\n"
               "Show:\n"
               "  -s, --show          policy and CPUs     -H, --hardware      nodes, distances\n"
               "      --cpu-compress  CPUs as ranges          --version\n"
               "      --help          this text\n\n"
               "NODES, CPUS: 0,2-3  0-7:2 (every second)  all  +0-1 (of those allowed)  !LIST\n"
               "NODES too: same netdev:DEV block:DEV file:PATH ip:HOST pci:[SEG:]BUS:DEV[.FN]\n");
        return hn_flush_output();
}

static int exit_code(int r) {
        switch (-r) {
        case EUCLEAN:
        case EINVAL: return EX_USAGE;
        case ERANGE:
        case ENOENT:
        case ENOTDIR:
        case ENODEV: return EX_NOINPUT;
        case EPERM:
        case EACCES: return EX_NOPERM;
        case ENXIO: return EX_CONFIG;
        case EOPNOTSUPP:
        case ENOSYS:
        case EHOSTDOWN: return EX_UNAVAILABLE;
        default: return EX_OSERR;
        }
}

static int set_policy(struct run *run, const struct hn_launch_step *step) {
        const struct hn_mempolicy *p = &step->policy;
        const char *name = hn_mempolicy_name(p->mode);
        int r;

        if (run->region.start)
                r = hn_mempolicy_set_range(run->region.start, (size_t) run->region.length, p, step->strict);
        else
                r = hn_mempolicy_set(p);
        if (r == 0)
                return 0;
        if (r == -EOPNOTSUPP)
                return hn_why(&run->why, r, "this kernel has no policy %s%s: it came with Linux %s", name,
                              p->flags & HN_MPOL_F_NUMA_BALANCING ? " with balancing" : "",
                              hn_mempolicy_since(p->mode, p->flags));
        if (r == -ENOSYS)
                return hn_why(&run->why, r, "this kernel has no NUMA memory policies");
        if (r == -EINVAL)
                return hn_why(&run->why, r,
                              "the kernel takes none of these nodes for %s: they have no memory, or the "
                              "cpuset does not allow them, or there are none in the list",
                              name);
        if (r == -EIO)
                return hn_why(&run->why, r,
                              "pages are there already that lie elsewhere, and --strict was given");
        if (r == -EPERM)
                return hn_why(&run->why, r,
                              "the kernel does not let this process set a memory policy: a container's "
                              "seccomp filter forbids set_mempolicy and mbind");
        return hn_why_errno(&run->why, r, "cannot set the memory policy %s", name);
}

static int bind_cpus(struct run *run, const struct hn_launch_step *step) {
        struct hn_mask cpus = step->policy.nodes;
        int r = 0;

        if (step->act == HN_LAUNCH_NODES)
                r = hn_allowance_cpus_of(run->root, &step->policy.nodes, &cpus, &run->why);
        if (r < 0)
                return r;
        r = hn_affinity_set(0, &cpus);
        if (r == -EINVAL)
                return hn_why(&run->why, r, "none of these CPUs is online and in the cpuset of this process");
        return r < 0 ? hn_why_errno(&run->why, r, "cannot bind to these CPUs") : 0;
}

static int open_region(struct run *run, const struct hn_launch_step *step) {
        const struct hn_launch *l = run->launch;
        const struct hn_shm_wish wish = {
                .name = step->name,
                .length = l->length,
                .offset = l->offset,
                .mode = l->mode,
                .id = l->id,
                .huge = l->huge,
        };
        int r;

        if (step->act == HN_LAUNCH_SHM)
                r = hn_shm_region_attach(&wish, stderr, &run->region, &run->why);
        else
                r = hn_shm_region_map(&wish, &run->region, &run->why);
        if (r == 0 && run->region.fleeting)
                hn_complain("warning: %s is not in tmpfs or hugetlbfs, so no policy stays with it",
                            step->name);
        return r;
}

static int verify(struct run *run, const struct hn_launch_step *step) {
        int r = hn_shm_region_verify(&run->region, &step->policy, &run->why);

        if (r <= 0)
                return r;
        hn_complain("%s", run->why.text);
        run->differs = true;
        return 0;
}

static int perform(struct run *run, const struct hn_launch_step *step) {
        switch (step->act) {
        case HN_LAUNCH_POLICY: return set_policy(run, step);
        case HN_LAUNCH_NODES:
        case HN_LAUNCH_CPUS: return bind_cpus(run, step);
        case HN_LAUNCH_SHM:
        case HN_LAUNCH_FILE: return open_region(run, step);
        case HN_LAUNCH_TOUCH: return hn_shm_region_touch(&run->region, &run->why);
        case HN_LAUNCH_VERIFY: return verify(run, step);
        case HN_LAUNCH_DUMP: return hn_shm_region_dump(&run->region, stdout, &run->why);
        case HN_LAUNCH_DUMP_NODES: return hn_shm_region_dump_nodes(&run->region, stdout, &run->why);
        case HN_LAUNCH_SHOW: return hn_run_show(run->root, run->allowance, stdout, &run->why);
        case HN_LAUNCH_HARDWARE:
                return hn_run_hardware(run->root, run->allowance, run->launch->ranges, stdout, &run->why);
        case _HN_LAUNCH_MAX: break;
        }
        return -EINVAL;
}

/* The verb is replaced by the command. */
static int replace(char **command) {
        int r;

        (void) execvp(command[0], command);
        r = errno;
        hn_complain("%s: %s", command[0], strerror(r));
        return r == ENOENT ? EXIT_NOT_FOUND : EXIT_NOT_EXECUTABLE;
}

static bool is_bound(const struct hn_launch *l) {
        for (size_t i = 0; i < l->n_steps; i++)
                if (l->steps[i].act == HN_LAUNCH_NODES || l->steps[i].act == HN_LAUNCH_CPUS)
                        return true;
        return false;
}

static int go(struct run *run) {
        const struct hn_launch *l = run->launch;
        int r = 0;

        for (size_t i = 0; i < HN_ELEMENTS(l->warnings); i++)
                if (l->warnings[i][0] != '\0')
                        hn_complain("warning: %s", l->warnings[i]);
        if (l->rule && l->command)
                r = hn_care_enter(run->root, l->rule, is_bound(l), l->command[0], &run->why);
        for (size_t i = 0; r == 0 && i < l->n_steps; i++)
                r = perform(run, &l->steps[i]);
        if (r < 0) {
                hn_complain("%s", run->why.text);
                return exit_code(r);
        }
        r = hn_flush_output();
        if (r != EX_OK)
                return r;
        return l->command ? replace(l->command) : run->differs ? EX_DATAERR : EX_OK;
}

int hn_verb_run(int argc, char **argv) {
        _hn_cleanup_(hn_launch_deinit) struct hn_launch launch = HN_LAUNCH_NULL;
        _hn_cleanup_(hn_sysroot_close) struct hn_sysroot root = HN_SYSROOT_NULL;
        struct hn_allowance allowance;
        _hn_cleanup_(run_deinit) struct run run = {
                .root = &root, .allowance = &allowance, .launch = &launch, .region = HN_SHM_REGION_NULL
        };
        int r;

        r = hn_sysroot_open(NULL, &root);
        if (r < 0)
                return hn_complain_errno(r, "cannot open /");
        r = hn_allowance_read(&root, &allowance, &run.why);
        if (r == 0)
                r = hn_launch_parse(argc, argv, &root, &allowance, &launch, &run.why);
        if (r < 0) {
                if (run.why.text[0] != '\0')
                        hn_complain("%s", run.why.text);
                return r == -EUCLEAN || r == -EINVAL ? hn_complain_usage("run") : exit_code(r);
        }
        if (launch.help)
                return help();
        if (launch.version) {
                printf("homenode %s\n", HN_VERSION);
                return hn_flush_output();
        }
        return go(&run);
}
