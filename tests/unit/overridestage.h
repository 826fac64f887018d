/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

/* homenoded in this very process, on a machine of two nodes: the first CPU, and all others. Nothing is opted
 * in, and its overrides are for puppets of our own. Include after <cmocka.h>. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "act/affinity.h"
#include "base/macro.h"
#include "daemon/manager.h"
#include "daemon/override.h"
#include "puppet.h"

static struct hn_mask all, first, rest;

struct stage {
        char dir[64], config[96];
        struct puppet puppet;
        struct hn_manager *m;
        hn_usec_t now;
        FILE *log;
        char *said;
        size_t n_said;
};

static inline struct hn_mask list(const char *text) {
        struct hn_mask mask;

        assert_int_equal(hn_mask_parse_list(text, strlen(text), &mask), 0);
        return mask;
}

/* The second node has no memory of its own, which no override asks for. */
static inline void stage_two_nodes(struct hn_manager *m) {
        struct hn_topology topo;
        size_t n_cpus = m->topo.n_cpu_ids;

        assert_int_equal(hn_topology_init(&topo, 2, n_cpus), 0);
        topo.online = m->topo.online;
        topo.possible = m->topo.possible;
        for (unsigned i = 0; i < 2; i++) {
                struct hn_node *node = &topo.nodes[i];

                node->id = i;
                node->cpus = node->usable = i == 0 ? first : rest;
                node->n_cpus = node->n_cores = hn_mask_count(&node->cpus);
                node->n_llcs = 1;
                node->memory = UINT64_C(1) << 30;
                for (unsigned c = 0; c < n_cpus; c++)
                        if (hn_mask_has(&node->cpus, c))
                                topo.cpu_node[c] = (hn_node_index) i;
        }
        hn_topology_deinit(&m->topo);
        m->topo = topo;
        assert_int_equal(hn_sampler_set_topology(&m->sampler, &m->topo), 0);
        m->plan = hn_plan_free(m->plan);
        m->model = hn_model_free(m->model);
        assert_int_equal(hn_model_new(&m->topo, &m->model), 0);
        assert_int_equal(hn_plan_new(&m->topo, &m->plan), 0);
        m->numa = true;
        m->topo_checked = HN_USEC_INFINITY; /* or it would see what machine this is */
}

/* From now on the daemon sees these cgroups, and no others: `root` is a folder that looks like the mount of
 * v2. */
static inline void stage_cgroups(struct stage *s, const char *root) {
        struct hn_cgroupfs *const all_of_them[] = { &s->m->cgroups, &s->m->sampler.cgroups };

        for (size_t i = 0; i < HN_ELEMENTS(all_of_them); i++) {
                struct hn_cgroupfs *fs = all_of_them[i];
                int proc_fd = fs->proc_fd;

                fs->proc_fd = -1;
                hn_cgroupfs_close(fs);
                fs->layout = HN_CGROUP_V2;
                fs->proc_fd = proc_fd;
                fs->fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
                assert_true(fs->fd >= 0);
        }
}

/* What the daemon says from now on. */
static inline const char *stage_said(struct stage *s) {
        assert_int_equal(fflush(s->log), 0);
        return s->said ? s->said : "";
}

static inline size_t stage_times_said(struct stage *s, const char *what) {
        size_t n = 0;

        for (const char *p = stage_said(s); (p = strstr(p, what)); p++)
                n++;
        return n;
}

static inline void stage_begin(struct stage *s) {
        struct hn_options options = HN_OPTIONS_NULL;

        options.run_dir = s->dir;
        options.config = s->config;
        assert_int_equal(hn_manager_new(&options, &s->m), 0);
        s->m->log.stream = s->log;
        s->m->log.send = NULL;
        stage_two_nodes(s->m);
}

static inline void stage_end(struct stage *s) {
        s->m = hn_manager_free(s->m);
}

static inline void stage_tick(struct stage *s) {
        s->now += HN_USEC_PER_SEC;
        assert_int_equal(hn_manager_step(s->m, s->now), 0);
}

static inline void stage_write(const char *path, const char *text) {
        FILE *f = fopen(path, "we");

        assert_non_null(f);
        assert_int_equal(fputs(text, f) >= 0 && fclose(f) == 0, true);
}

static inline void stage_file(const struct stage *s, const char *name, char *buf, size_t size) {
        (void) snprintf(buf, size, "%s/%s", s->dir, name);
}

static inline int setup(void **state) {
        struct stage *s = calloc(1, sizeof(*s));

        if (!s)
                return -1;
        strcpy(s->dir, "/tmp/hn-override-XXXXXX");
        if (!mkdtemp(s->dir))
                return -1;
        stage_file(s, "config", s->config, sizeof(s->config));
        stage_write(s->config, "[Daemon]\nMode=observe\n");
        puppet_start(&s->puppet); /* first, lest it inherit the lock of the ledger's folder */
        s->log = open_memstream(&s->said, &s->n_said);
        s->now = 1000 * HN_USEC_PER_SEC;
        stage_begin(s);
        *state = s;
        return 0;
}

static inline int teardown(void **state) {
        static const char *const names[] = { "config", "ledger", "overrides", "state.json" };
        struct stage *s = *state;
        char path[128];

        if (s->m)
                stage_end(s);
        puppet_stop(&s->puppet);
        (void) fclose(s->log);
        free(s->said);
        for (size_t i = 0; i < HN_ELEMENTS(names); i++) {
                stage_file(s, names[i], path, sizeof(path));
                (void) unlink(path);
        }
        if (rmdir(s->dir) < 0)
                return -1;
        free(s);
        return 0;
}

static inline void assert_wears(pid_t tid, const struct hn_mask *want) {
        struct hn_mask now;

        assert_int_equal(hn_affinity_get(tid, &now), 0);
        assert_true(hn_mask_equal(&now, want));
}

/* What is to be for the whole puppet, for good. */
static inline struct hn_override wish_of(const struct stage *s, const char *nodes) {
        return (struct hn_override){
                .kind = HN_OVERRIDE_PROCESS,
                .pid = s->puppet.pid,
                .nodes = list(nodes),
                .expires = UINT64_MAX,
                .why = (char *) "",
        };
}

static inline uint64_t add(struct stage *s, const struct hn_override *wish) {
        const char *refusal = "";
        uint64_t id = 0;
        int r = hn_override_add(s->m, wish, &id, &refusal);

        if (r < 0)
                fail_msg("refused: %s", refusal);
        assert_true(id > 0);
        return id;
}

/* Looks at this machine, before all tests. Returns what the program is to leave with, 0: go on. */
static inline int stage_open(void) {
        if (hn_affinity_get(0, &all) < 0) {
                fprintf(stderr, "Cannot see this machine\n");
                return 1;
        }
        if (hn_mask_count(&all) < 2) {
                fprintf(stderr, "Needs two CPUs\n");
                return 77;
        }
        hn_mask_add(&first, hn_mask_next(&all, 0));
        rest = hn_mask_andnot(&all, &first);
        return 0;
}

#define staged(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
