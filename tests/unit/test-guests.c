/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The sampler over the two captured guests: 4 nodes x 2 CPUs, two processes of three working threads each. */
#include "sampletree.h"

#include <spawn.h>
#include <sys/wait.h>

#include "sample/machine.h"
#include "sample/sampler.h"

#define MACHINES HN_SRCDIR "/../shared/machines/"
#define SCOPE    "/system.slice/lab.service"

extern char **environ;

struct known {
        pid_t tid, tgid;
        uint64_t start, runtime[2]; /* at t0 and t1 */
        uint64_t priv[2][4], shared[2][4];
        int preferred, cpu;
        enum hn_signal signal;
};

static const struct known linux_6_1[] = {
        { 381, 381, 3783, { 169337784, 176378291 }, { { 0 } }, { { 0 } }, -1, 5, HN_SIGNAL_NONE },
        { 384, 384, 3794, { 217280488, 217280488 }, { { 0 } }, { { 0 } }, -1, 6, HN_SIGNAL_NONE },
        { 385, 385, 3794, { 610705146, 610705146 }, { { 0 } }, { { 0 } }, -1, 5, HN_SIGNAL_NONE },
        { 387,
          384,
          3813,
          { 34754891154, 48513243175 },
          { { 11534, 0, 0, 1 }, { 11534, 0, 0, 1 } },
          { { 1848, 2, 1, 52 }, { 1848, 2, 1, 52 } },
          0,
          0,
          HN_SIGNAL_FAULTS },
        { 388,
          384,
          3813,
          { 34149138708, 47877070511 },
          { { 15121, 1, 1, 1 }, { 15121, 1, 1, 1 } },
          { { 5258, 1, 0, 41 }, { 5258, 1, 0, 41 } },
          0,
          1,
          HN_SIGNAL_FAULTS },
        { 390,
          384,
          3816,
          { 34582543003, 48329093384 },
          { { 106, 0, 0, 16093 }, { 106, 0, 0, 16093 } },
          { { 79, 2, 0, 21 }, { 79, 2, 0, 21 } },
          3,
          6,
          HN_SIGNAL_FAULTS },
        { 394,
          385,
          3853,
          { 34109979695, 47533548805 },
          { { 0, 5, 14521, 1 }, { 0, 3, 16193, 1 } },
          { { 1, 26, 1058, 1301 }, { 1, 13, 1144, 673 } },
          2,
          5,
          HN_SIGNAL_FAULTS },
        { 395,
          385,
          3853,
          { 34716863347, 48230763645 },
          { { 1, 146, 15107, 2 }, { 1, 37, 15614, 1 } },
          { { 1, 46, 2137, 657 }, { 1, 12, 4260, 699 } },
          2,
          4,
          HN_SIGNAL_FAULTS },
        { 396,
          385,
          3855,
          { 35840421603, 49334023141 },
          { { 0, 0, 102, 11722 }, { 0, 0, 419, 12339 } },
          { { 1, 18, 420, 363 }, { 1, 5, 1184, 352 } },
          3,
          7,
          HN_SIGNAL_FAULTS },
};

static const struct known linux_6_12[] = {
        { 527, 527, 5918, { 207475715, 210701812 }, { { 0 } }, { { 0 } }, -1, 2, HN_SIGNAL_NONE },
        { 530, 530, 5935, { 335276306, 335276306 }, { { 0 } }, { { 0 } }, -1, 3, HN_SIGNAL_NONE },
        { 531, 531, 5936, { 373005747, 373005747 }, { { 0 } }, { { 0 } }, -1, 1, HN_SIGNAL_NONE },
        { 532,
          530,
          5968,
          { 36172882397, 43892434550 },
          { { 0, 0, 8206, 2 }, { 0, 0, 8206, 2 } },
          { { 0, 0, 1026, 1024 }, { 0, 0, 1026, 1024 } },
          2,
          5,
          HN_SIGNAL_FAULTS },
        { 533,
          530,
          5968,
          { 35979316687, 43998820456 },
          { { 0, 7428, 1, 515 }, { 0, 7428, 1, 515 } },
          { { 0, 512, 0, 512 }, { 0, 512, 0, 512 } },
          1,
          2,
          HN_SIGNAL_FAULTS },
        { 534,
          530,
          5968,
          { 36181424866, 44798381098 },
          { { 0, 0, 0, 15312 }, { 0, 0, 0, 15312 } },
          { { 0, 512, 769, 513 }, { 0, 512, 769, 513 } },
          3,
          6,
          HN_SIGNAL_FAULTS },
        { 535,
          531,
          5971,
          { 35534520947, 44018733522 },
          { { 11911, 0, 0, 0 }, { 11911, 0, 0, 0 } },
          { { 640, 256, 256, 0 }, { 640, 256, 256, 0 } },
          0,
          1,
          HN_SIGNAL_FAULTS },
        { 536,
          531,
          5971,
          { 36505540105, 44974873865 },
          { { 0, 0, 9479, 0 }, { 0, 0, 9479, 0 } },
          { { 0, 0, 1, 0 }, { 0, 0, 1, 0 } },
          2,
          4,
          HN_SIGNAL_FAULTS },
        /* The kernel's preferred node is that of its group; its own faults say node 1. */
        { 537,
          531,
          5974,
          { 36649874240, 45025624656 },
          { { 0, 4486, 2, 1 }, { 0, 4486, 2, 1 } },
          { { 0, 256, 0, 0 }, { 0, 256, 0, 0 } },
          0,
          0,
          HN_SIGNAL_FAULTS },
};

static const struct guest {
        const char *archive;
        size_t n_gone; /* listed threads that the capture has no folder of */
        const struct known *known;
} guests[] = {
        { MACHINES "guest-4n2c-linux-6.1.tar.xz", 3, linux_6_1 },
        { MACHINES "guest-4n2c-linux-6.12.tar.xz", 3, linux_6_12 },
};

#define N_KNOWN HN_ELEMENTS(linux_6_1)

static void unpack(const struct tree *t, const char *archive) {
        const char *const argv[] = { "tar", "-C", t->path, "-xf", archive, NULL };
        int status;
        pid_t pid;

        assert_int_equal(posix_spawnp(&pid, "tar", NULL, NULL, (char **) (uintptr_t) argv, environ), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
}

static void open_below(const struct tree *t, const char *name, struct hn_sysroot *ret) {
        char path[128];

        (void) snprintf(path, sizeof(path), "%s/%s", t->path, name);
        assert_int_equal(hn_sysroot_open(path, ret), 0);
}

static void assert_sweep(const struct guest *g, const struct hn_sampler *s, const struct hn_snapshot *shot,
                         size_t at) {
        const struct hn_scope *scope = &shot->scopes[0];
        const struct hn_mask *mask;

        assert_int_equal(shot->n_nodes, 4);
        assert_int_equal(shot->kernel_balancing, 1);
        assert_int_equal(shot->n_tasks, N_KNOWN);
        assert_int_equal(shot->n_gone, g->n_gone);
        assert_int_equal(shot->n_denied, 0);
        assert_null(shot->why_no_signal); /* who has no faults has not run for a second either */
        assert_int_equal(s->counts.listed, N_KNOWN + g->n_gone);
        assert_int_equal(s->counts.looked, at == 0 ? N_KNOWN : N_KNOWN - 2);
        assert_true(scope->populated);
        assert_int_equal(hn_mask_count(&scope->cpuset), 8);
        assert_int_equal(hn_mask_count(&scope->mems), 4);
        for (size_t i = 0; i < 4; i++) {
                assert_true(shot->nodes[i].free > 0);
                assert_true(at == 0 ? shot->nodes[i].busy == 0 : shot->nodes[i].busy <= 2000);
        }
        for (size_t i = 0; i < N_KNOWN; i++) {
                const struct hn_task_sample *task = &shot->tasks[i];
                const struct known *k = &g->known[i];

                assert_int_equal(task->key.tid, k->tid);
                assert_int_equal(task->key.start, k->start);
                assert_int_equal(task->tgid, k->tgid);
                assert_int_equal(task->runtime_ns, k->runtime[at]);
                assert_int_equal(task->kernel_preferred, k->preferred);
                assert_int_equal(task->cpu, k->cpu);
                assert_int_equal(task->node, k->cpu / 2);
                assert_int_equal(task->signal, k->signal);
                assert_int_equal(task->scope, 0);
                assert_int_equal(task->fresh, k->signal == HN_SIGNAL_FAULTS);
                mask = hn_mask_pool_get(shot->masks, task->mask);
                assert_int_equal(hn_mask_count(mask), 8);
                if (k->signal == HN_SIGNAL_NONE)
                        continue;
                assert_true(task->row < shot->n_rows);
                assert_memory_equal(shot->priv + task->row * 4, k->priv[at], 4 * sizeof(uint64_t));
                assert_memory_equal(shot->shared + task->row * 4, k->shared[at], 4 * sizeof(uint64_t));
        }
}

static void two_sweeps_give_the_known_faults(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(guests); i++) {
                struct hn_scope scopes[] = { { .path = SCOPE } };
                struct hn_topology topo;
                struct hn_sysroot root;
                struct hn_snapshot shot;
                struct hn_sampler s;
                struct tree t;

                tree_make(&t);
                unpack(&t, guests[i].archive);
                open_below(&t, "t0", &root);
                assert_int_equal(hn_machine_read(&root, NULL, &topo), 0);
                assert_int_equal(hn_sampler_init(&s, &root, &topo, NULL), 0);
                assert_int_equal(hn_sampler_sweep(&s, scopes, 1, 1000, &shot), 0);
                assert_sweep(&guests[i], &s, &shot, 0);

                hn_sysroot_close(&root);
                open_below(&t, "t1", &root);
                assert_int_equal(hn_sampler_set_root(&s, &root), 0);
                assert_int_equal(hn_sampler_sweep(&s, scopes, 1, 2000, &shot), 0);
                assert_sweep(&guests[i], &s, &shot, 1);

                /* The same look again: nothing has run, all is carried over. */
                assert_int_equal(hn_sampler_sweep(&s, scopes, 1, 3000, &shot), 0);
                assert_int_equal(shot.n_tasks, N_KNOWN);
                assert_int_equal(s.counts.looked, 0);
                for (size_t j = 0; j < N_KNOWN; j++) {
                        assert_int_equal(shot.tasks[j].signal, guests[i].known[j].signal);
                        assert_false(shot.tasks[j].fresh);
                }
                hn_sampler_deinit(&s);
                hn_topology_deinit(&topo);
                hn_sysroot_close(&root);
                tree_destroy(&t);
        }
}

/* With the switch off, the processes are told apart by their pages: 6.12's 531 has most on node 0, its
 * threads alike. */
static void residency_stands_in_for_faults(void **state) {
        static const uint64_t pages[4] = { 13848, 2054, 6662,
                                           0 }; /* added up from numa_maps, without files */
        struct hn_scope scopes[] = { { .path = SCOPE } };
        struct hn_topology topo;
        struct hn_sysroot root;
        struct hn_snapshot shot;
        struct hn_sampler s;
        struct tree t;
        size_t n = 0;

        (void) state;
        tree_make(&t);
        unpack(&t, guests[1].archive);
        tree_write(&t, "t0/proc/sys/kernel/numa_balancing", "0\n");
        open_below(&t, "t0", &root);
        assert_int_equal(hn_machine_read(&root, NULL, &topo), 0);
        assert_int_equal(hn_sampler_init(&s, &root, &topo, NULL), 0);
        assert_int_equal(hn_sampler_sweep(&s, scopes, 1, 1000, &shot), 0);
        assert_non_null(shot.why_no_signal);
        assert_int_equal(s.counts.asked, 2);
        for (size_t i = 0; i < shot.n_tasks; i++) {
                const struct hn_task_sample *task = &shot.tasks[i];

                /* 527 has not used a second of CPU time */
                assert_int_equal(task->signal, task->tgid == 527 ? HN_SIGNAL_NONE : HN_SIGNAL_RESIDENCY);
                if (task->tgid != 531)
                        continue;
                assert_memory_equal(shot.priv + task->row * 4, pages, sizeof(pages));
                n++;
        }
        assert_int_equal(n, 4);
        hn_sampler_deinit(&s);
        hn_topology_deinit(&topo);
        hn_sysroot_close(&root);
        tree_destroy(&t);
}

static struct hn_topology whole;
static const struct tree *current;
static size_t n_files;

/* One file of t0 away, one sweep, the file back. */
static int without(const char *path, const struct stat *st, int kind, struct FTW *ftw) {
        const char *name = path + strlen(current->path) + strlen("/t0/");
        struct hn_scope scopes[] = { { .path = SCOPE } };
        struct hn_sysroot root;
        struct hn_snapshot shot;
        struct hn_sampler s;
        char away[256];
        size_t least;

        (void) st;
        (void) ftw;
        if (kind != FTW_F)
                return 0;
        (void) snprintf(away, sizeof(away), "%s/away", current->path);
        assert_int_equal(rename(path, away), 0);
        open_below(current, "t0", &root);
        assert_int_equal(hn_sampler_init(&s, &root, &whole, NULL), 0);
        assert_int_equal(hn_sampler_sweep(&s, scopes, 1, 1000, &shot), 0);
        assert_int_equal(hn_sampler_sweep(&s, scopes, 1, 2000, &shot), 0);

        /* Nobody else suffers, unless it is the list of them all that is missing. */
        least = strcmp(name, "proc/self/mountinfo") == 0 || strstr(name, "cgroup.threads") ? 0 : N_KNOWN - 1;
        assert_in_range(shot.n_tasks, least, least == 0 ? 0 : N_KNOWN);
        hn_sampler_deinit(&s);
        hn_sysroot_close(&root);
        assert_int_equal(rename(away, path), 0);
        n_files++;
        return 0;
}

static void any_file_may_be_missing(void **state) {
        struct hn_sysroot root;
        char path[128];
        struct tree t;

        (void) state;
        tree_make(&t);
        unpack(&t, guests[1].archive);
        open_below(&t, "t0", &root);
        assert_int_equal(hn_machine_read(&root, NULL, &whole), 0);
        hn_sysroot_close(&root);
        current = &t;
        (void) snprintf(path, sizeof(path), "%s/t0", t.path);
        assert_int_equal(nftw(path, without, 16, FTW_PHYS), 0);
        assert_true(n_files > 100);
        hn_topology_deinit(&whole);
        tree_destroy(&t);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(two_sweeps_give_the_known_faults),
                cmocka_unit_test(residency_stands_in_for_faults),
                cmocka_unit_test(any_file_may_be_missing),
        };

        for (size_t i = 0; i < HN_ELEMENTS(guests); i++)
                if (access(guests[i].archive, R_OK) < 0) {
                        fprintf(stderr, "%s is not here: no captured guests to test with\n",
                                guests[i].archive);
                        return 77;
                }
        return cmocka_run_group_tests(tests, NULL, NULL);
}
