/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* numactl and "homenode run" side by side: each row of a table of arguments is run by both around a command
 * that says under which policy, on which CPUs and with which arguments it was started; success, output and
 * what is left behind are compared.
 *
 *   hn-numactl-side [--homenode PATH] [--numactl PATH] [--rows FROM-TO] [--random FROM-TO] [--jobs N]
 *                   [--section] [--try ARGUMENTS] [--verbose]
 *
 * --random: instead of the table's rows, arguments made of these numbers. --try: these. --section: of the
 * table, rows that say more on this machine than on one of one node, and some of the others.
 * Exit status: 0 as expected, 1 not, 77 numactl is not installed. */

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "invoke.h"
#include "judge.h"
#include "machine.h"
#include "probe.h"
#include "random.h"
#include "rows.h"

#define SKIP     77
#define JOBS_MAX 16u

/* Of a section: of the rows that say nothing more here, this part. */
#define OTHERS 8u

struct arguments {
        struct side numactl, homenode;
        size_t from, to; /* rows */
        const char *trial;
        unsigned jobs;
        bool random, section, verbose;
        struct machine machine;
        char self[PATH_MAX];
        char folder[64];
};

struct counts {
        unsigned rows, good, bad, different, elsewhere, skipped, wrong;
        int r; /* what ended it early, else 0 */
};

static void print_outcome(FILE *f, const struct side *side, const struct outcome *o) {
        fprintf(f, "  %s: exit status", side->name);
        for (unsigned i = 0; i < o->n_codes; i++)
                fprintf(f, " %d", o->code[i]);
        fprintf(f, "\n%s%s", o->text, o->errors);
}

static int compare(const struct arguments *a, const struct row *row, size_t i, const char *folder, FILE *f,
                   struct counts *c) {
        static struct outcome theirs, ours;
        const char *wrong;
        int r;

        c->rows++;
        if (!judge_runs(&a->machine, row)) {
                c->elsewhere++;
                return 0;
        }
        r = invoke(&a->numactl, row, a->self, folder, &theirs);
        if (r == 0)
                r = invoke(&a->homenode, row, a->self, folder, &ours);
        if (r < 0) {
                fprintf(f, "row %zu: %s: cannot be run: %s\n", i, row->args, strerror(-r));
                return r;
        }
        if (!theirs.started || !ours.started) {
                c->skipped++;
                return 0;
        }
        wrong = judge(&a->machine, row, &theirs, &ours);
        c->good += theirs.good && ours.good;
        c->bad += !theirs.good && !ours.good;
        c->different += row->why != NULL;
        c->wrong += wrong != NULL;
        if (wrong || a->verbose) {
                fprintf(f, "%s row %zu: %s%s%s: %s\n", wrong ? "WRONG" : "ok", i, row->cpus ? row->cpus : "",
                        row->cpus ? ": " : "", row->args,
                        wrong      ? wrong
                        : row->why ? row->why
                                   : "as expected");
                print_outcome(f, &a->numactl, &theirs);
                print_outcome(f, &a->homenode, &ours);
        }
        return 0;
}

static bool wanted(const struct arguments *a, size_t i) {
        return !a->section || a->random || a->trial || i % OTHERS == 0 ||
               judge_tells(&a->machine, rows_at(i));
}

/* One row in so many as there are jobs; each job has a folder of its own, by which key files are told apart.
 */
static int work(const struct arguments *a, unsigned job, FILE *f, struct counts *c) {
        char folder[80], made[512];
        size_t n = 0;
        int r = 0;

        (void) snprintf(folder, sizeof(folder), "%s/%u", a->folder, job);
        if (mkdir(folder, 0700) < 0)
                return -errno;
        for (size_t i = a->from; r >= 0 && i <= a->to && (a->random || i < rows_count()); i++) {
                struct row row = { .args = made };

                if (!wanted(a, i) || n++ % a->jobs != job)
                        continue;
                if (a->trial)
                        row.args = a->trial;
                else if (a->random)
                        random_arguments(i, made, sizeof(made));
                else
                        row = *rows_at(i);
                r = compare(a, &row, i, folder, f, c);
        }
        (void) rmdir(folder);
        return r;
}

static void add(struct counts *sum, const struct counts *c) {
        sum->rows += c->rows;
        sum->good += c->good;
        sum->bad += c->bad;
        sum->different += c->different;
        sum->elsewhere += c->elsewhere;
        sum->skipped += c->skipped;
        sum->wrong += c->wrong;
        sum->r = sum->r ? sum->r : c->r;
}

static void copy(FILE *f) {
        char line[4096];

        rewind(f);
        while (fgets(line, sizeof(line), f))
                fputs(line, stdout);
        (void) fclose(f);
}

/* All jobs at once, and what they say one after the other. */
static int work_all(const struct arguments *a, struct counts *sum) {
        FILE *said[JOBS_MAX] = { NULL };
        struct counts *c = mmap(NULL, JOBS_MAX * sizeof(*c), PROT_READ | PROT_WRITE,
                                MAP_SHARED | MAP_ANONYMOUS, -1, 0);

        if (c == MAP_FAILED)
                return -errno;
        for (unsigned i = 0; i < a->jobs; i++) {
                /* Until it says otherwise, a job has not come to its end. */
                c[i].r = -ECHILD;
                said[i] = tmpfile();
                if (!said[i])
                        return -errno;
                (void) fcntl(fileno(said[i]), F_SETFD, FD_CLOEXEC);
                if (fork() == 0) {
                        int r = work(a, i, said[i], &c[i]);

                        c[i].r = fflush(said[i]) == 0 ? r : -EIO;
                        _exit(EXIT_SUCCESS);
                }
        }
        while (wait(NULL) > 0)
                ;
        for (unsigned i = 0; i < a->jobs; i++) {
                copy(said[i]);
                add(sum, &c[i]);
        }
        (void) munmap(c, JOBS_MAX * sizeof(*c));
        return sum->r;
}

static bool take(struct arguments *a, int c) {
        char end;

        switch (c) {
        case 'h': a->homenode.words[0] = optarg; return true;
        case 'n': a->numactl.words[0] = optarg; return true;
        case 'x': a->random = true; /* fall through */
        case 'r': return sscanf(optarg, "%zu-%zu%c", &a->from, &a->to, &end) == 2;
        case 'j': return sscanf(optarg, "%u%c", &a->jobs, &end) == 1 && a->jobs > 0 && a->jobs <= JOBS_MAX;
        case 't':
                a->trial = optarg;
                a->verbose = true;
                a->from = a->to = 0;
                return true;
        case 's': a->section = true; return true;
        case 'v': a->verbose = true; return true;
        default: return false;
        }
}

static int run(struct arguments *a) {
        ssize_t n = readlink("/proc/self/exe", a->self, sizeof(a->self) - 1);
        struct counts c = { .rows = 0 };
        int r;

        if (n < 0 || !mkdtemp(strcpy(a->folder, "/dev/shm/hn-side.XXXXXX")))
                return -errno;
        r = machine_look(&a->numactl, a->self, a->folder, &a->machine);
        if (r >= 0)
                r = work_all(a, &c);
        (void) rmdir(a->folder);
        if (r == -ENOEXEC && c.rows == 0)
                return r;
        printf("summary: table=%zu rows=%u good=%u bad=%u different=%u elsewhere=%u skipped=%u wrong=%u on=%u "
               "later=%d weighted=%d\n",
               rows_count(), c.rows, c.good, c.bad, c.different, c.elsewhere, c.skipped, c.wrong,
               a->machine.on, a->machine.later, a->machine.weighted);
        return r < 0 || c.wrong > 0 ? -EBADMSG : 0;
}

int main(int argc, char **argv) {
        static const struct option options[] = {
                { "homenode", required_argument, NULL, 'h' },
                { "numactl", required_argument, NULL, 'n' },
                { "rows", required_argument, NULL, 'r' },
                { "random", required_argument, NULL, 'x' },
                { "jobs", required_argument, NULL, 'j' },
                { "try", required_argument, NULL, 't' },
                { "section", no_argument, NULL, 's' },
                { "verbose", no_argument, NULL, 'v' },
                {},
        };
        struct arguments a = {
                .numactl = { "numactl", { "numactl", NULL } },
                .homenode = { "homenode", { "homenode", "run" } },
                .to = SIZE_MAX - 1,
                .jobs = 1,
        };
        const char *wrong;
        int r, o;

        if (argc > 1 && strcmp(argv[1], "--probe") == 0)
                return probe_main(argc - 2, argv + 2);
        while ((o = getopt_long(argc, argv, "", options, NULL)) >= 0)
                if (!take(&a, o))
                        return 64;
        wrong = judge_tables();
        if (wrong) {
                printf("the row \"%s\" makes no sense\n", wrong);
                return EXIT_FAILURE;
        }
        r = run(&a);
        if (r == -ENOEXEC) {
                printf("skipped: numactl is not installed, or does not work here\n");
                return SKIP;
        }
        return r < 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
