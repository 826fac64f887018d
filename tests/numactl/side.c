/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* numactl and "homenode run" side by side: each row of a table of arguments is run by both around a command
 * that says under which policy, on which CPUs and with which arguments it was started; success, output and
 * what is left behind are compared.
 *
 *   hn-numactl-side [--homenode PATH] [--numactl PATH] [--rows FROM-TO] [--alike] [--verbose]
 *
 * --alike: in a cpuset, say, where nothing is known beforehand; only that both do the same is asked for.
 * Exit status: 0 as expected, 1 not, 77 numactl is not installed. */

#include <errno.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "invoke.h"
#include "probe.h"
#include "rows.h"

#define SKIP 77

struct arguments {
        struct side numactl, homenode;
        size_t from, to; /* rows */
        bool alike, verbose;
        bool four;     /* 4 nodes with 2 CPUs each */
        bool later;    /* a numactl after 2.0.16 */
        bool weighted; /* the kernel interleaves by weight */
        char self[PATH_MAX];
        char folder[64];
};

struct counts {
        unsigned rows, good, bad, different, skipped, wrong;
};

/* What is to come of a row here and now. */
static enum want wanted(const struct arguments *a, const struct row *row) {
        enum want want = a->later && row->want_later ? row->want_later : row->want;

        if (row->needs == NEEDS_WEIGHTED && !a->weighted)
                return WANT_BAD;
        if (a->alike)
                return WANT_ALIKE;
        if (row->needs == NEEDS_FOUR && !a->four)
                return WANT_ALIKE;
        if (want == WANT_GOOD4)
                return a->four ? WANT_GOOD : WANT_ALIKE;
        if (want == WANT_BAD4)
                return a->four ? WANT_BAD : WANT_ALIKE;
        return want;
}

/* NULL if it is as expected, else what is not. */
static const char *judge(enum want want, const struct outcome *theirs, const struct outcome *ours) {
        bool alike = theirs->good == ours->good && (!ours->good || strcmp(theirs->text, ours->text) == 0);

        switch (want) {
        case WANT_GOOD:
                if (!theirs->good || !ours->good)
                        return "both should succeed";
                return alike ? NULL : "both succeed, with another effect or output";
        case WANT_BAD: return theirs->good || ours->good ? "both should fail" : NULL;
        case WANT_OURS: return ours->good && !theirs->good ? NULL : "homenode alone should succeed";
        case WANT_THEIRS: return theirs->good && !ours->good ? NULL : "numactl alone should succeed";
        case WANT_OTHERWISE:
                return theirs->good && ours->good && !alike ? NULL : "both should succeed, each in its way";
        case WANT_SAME_AS_BEFORE:
        case WANT_ALIKE:
        case WANT_GOOD4:
        case WANT_BAD4: break;
        }
        return alike ? NULL : "they should do the same";
}

static void print_outcome(const struct side *side, const struct outcome *o) {
        printf("  %s: exit status %s\n%s%s", side->name, o->codes, o->text, o->errors);
}

static int compare(const struct arguments *a, size_t i, struct counts *c) {
        static struct outcome theirs, ours;
        const struct row *row = &rows[i];
        enum want want = wanted(a, row);
        const char *wrong;
        int r;

        /* Differences are known for a machine without restrictions. */
        if (a->alike && row->why) {
                c->rows++;
                c->skipped++;
                return 0;
        }
        r = invoke(&a->numactl, row, a->self, a->folder, &theirs);
        if (r == 0)
                r = invoke(&a->homenode, row, a->self, a->folder, &ours);
        if (r < 0) {
                printf("row %zu: %s: cannot be run: %s\n", i, row->args, strerror(-r));
                return r;
        }
        c->rows++;
        if (!theirs.started || !ours.started) {
                c->skipped++;
                return 0;
        }
        wrong = judge(want, &theirs, &ours);
        if (!wrong && ours.good && row->effect && a->four && !a->alike && !strstr(ours.text, row->effect))
                wrong = "not the effect that the row asks for";
        /* A refusal says why; numactl, and getopt, do so too. */
        if (!wrong && !ours.good && ours.errors[0] == '\0' && !strstr(row->args, "false"))
                wrong = "homenode fails without a word";
        c->good += theirs.good && ours.good;
        c->bad += !theirs.good && !ours.good;
        c->different += want >= WANT_OURS;
        c->wrong += wrong != NULL;
        if (wrong || a->verbose) {
                printf("%s row %zu: %s%s%s: %s\n", wrong ? "WRONG" : "ok", i, row->cpus ? row->cpus : "",
                       row->cpus ? ": " : "", row->args,
                       wrong      ? wrong
                       : row->why ? row->why
                                  : "as expected");
                print_outcome(&a->numactl, &theirs);
                print_outcome(&a->homenode, &ours);
        }
        return 0;
}

/* The machine as far as rows depend on it. */
static int look(struct arguments *a) {
        static struct outcome o;
        const struct row version = { .args = "--version @0" }, usable = { .args = "-l true @0" };
        ssize_t n = readlink("/proc/self/exe", a->self, sizeof(a->self) - 1);
        char path[64];
        int r;

        if (n < 0 || !mkdtemp(strcpy(a->folder, "/dev/shm/hn-side.XXXXXX")))
                return -errno;
        r = invoke(&a->numactl, &usable, a->self, a->folder, &o);
        if (r < 0 || !o.good)
                return r < 0 ? r : -ENOEXEC;
        r = invoke(&a->numactl, &version, a->self, a->folder, &o);
        a->later = o.good;
        a->weighted = probe_has_weighted();
        a->four = sysconf(_SC_NPROCESSORS_CONF) == 8;
        for (int i = 0; i <= 4; i++) {
                (void) snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpu%d", i, 2 * i + 1);
                a->four = a->four && (access(path, F_OK) == 0) == (i < 4);
        }
        return r;
}

static bool take(struct arguments *a, int c) {
        char end;

        switch (c) {
        case 'h': a->homenode.words[0] = optarg; return true;
        case 'n': a->numactl.words[0] = optarg; return true;
        case 'r': return sscanf(optarg, "%zu-%zu%c", &a->from, &a->to, &end) == 2;
        case 'a': a->alike = true; return true;
        case 'v': a->verbose = true; return true;
        default: return false;
        }
}

int main(int argc, char **argv) {
        static const struct option options[] = {
                { "homenode", required_argument, NULL, 'h' }, { "numactl", required_argument, NULL, 'n' },
                { "rows", required_argument, NULL, 'r' },     { "alike", no_argument, NULL, 'a' },
                { "verbose", no_argument, NULL, 'v' },        {},
        };
        struct arguments a = {
                .numactl = { "numactl", { "numactl", NULL } },
                .homenode = { "homenode", { "homenode", "run" } },
                .to = SIZE_MAX,
        };
        struct counts c = { .rows = 0 };
        int r, o;

        if (argc > 1 && strcmp(argv[1], "--probe") == 0)
                return probe_main(argc - 2, argv + 2);
        while ((o = getopt_long(argc, argv, "", options, NULL)) >= 0)
                if (!take(&a, o))
                        return 64;
        r = look(&a);
        if (r == -ENOEXEC) {
                (void) rmdir(a.folder);
                printf("skipped: numactl is not installed, or does not work here\n");
                return SKIP;
        }
        for (size_t i = a.from; r >= 0 && i < n_rows && i <= a.to; i++)
                r = compare(&a, i, &c);
        (void) rmdir(a.folder);
        printf("summary: table=%zu rows=%u good=%u bad=%u different=%u skipped=%u wrong=%u four=%d later=%d "
               "weighted=%d\n",
               n_rows, c.rows, c.good, c.bad, c.different, c.skipped, c.wrong, a.four, a.later, a.weighted);
        return r < 0 || c.wrong > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
