/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenode pin without a daemon: what it does to a puppet of our own, on this machine's own nodes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "act/affinity.h"
#include "base/macro.h"
#include "pinonce.h"
#include "puppet.h"
#include "sample/machine.h"
#include "verb.h"

static char complaint[1024];
static struct hn_mask all, first, rest, node, none;

/* What homenode.c has of its own. */

void hn_complain(const char *fmt, ...) {
        va_list ap;

        va_start(ap, fmt);
        (void) vsnprintf(complaint, sizeof(complaint), fmt, ap);
        va_end(ap);
}

int hn_complain_errno(int r, const char *fmt, ...) {
        (void) r;
        (void) snprintf(complaint, sizeof(complaint), "%s", fmt);
        return EX_OSERR;
}

static void assert_wears(pid_t tid, const struct hn_mask *want) {
        struct hn_mask now;

        assert_int_equal(hn_affinity_get(tid, &now), 0);
        assert_true(hn_mask_equal(&now, want));
}

static int pin(const char *kind, pid_t pid, const struct hn_mask *nodes, const struct hn_mask *cpus,
               char **ret_output) {
        struct hn_pin_target target = { .kind = kind, .pid = pid };
        char name[32];
        size_t size;
        FILE *f = open_memstream(ret_output, &size);
        int r;

        assert_non_null(f);
        (void) snprintf(name, sizeof(name), "%d", pid);
        target.name = pid > 0 ? name : (char *) "no-such.slice/homenode-test";
        complaint[0] = '\0';
        r = hn_pin_once(&target, nodes, cpus, f);
        (void) fclose(f);
        return r;
}

static void a_process(void **state) {
        char want[128], list[HN_MASK_LIST_MAX], *output;
        struct puppet p;
        pid_t thread, child;

        (void) state;
        puppet_start(&p);
        thread = puppet_do(&p, 't');
        child = puppet_do(&p, 'c');
        assert_int_equal(pin("process", p.pid, &node, &first, &output), EX_OK);
        assert_wears(p.pid, &first);
        assert_wears(thread, &first);
        assert_wears(child, &all);
        assert_non_null(strstr(output, "is not kept: 2 threads of process"));
        assert_true(hn_mask_print_list(&all, list, sizeof(list)) >= 0);
        (void) snprintf(want, sizeof(want), "  taskset -a -p -c %.64s %d\n", list, p.pid);
        assert_non_null(strstr(output, want));
        free(output);

        /* Masks that differ have a way back each. */
        assert_int_equal(hn_affinity_set(thread, &rest), 0);
        assert_int_equal(pin("process", p.pid, &node, &none, &output), EX_OK);
        assert_wears(p.pid, &all);
        assert_wears(thread, &all);
        assert_true(hn_mask_print_list(&rest, list, sizeof(list)) >= 0);
        (void) snprintf(want, sizeof(want), "  taskset -p -c %.64s %d\n", list, thread);
        assert_non_null(strstr(output, want));
        assert_null(strstr(output, "taskset -a"));
        free(output);

        assert_int_equal(pin("thread", thread, &node, &first, &output), EX_OK);
        assert_wears(p.pid, &all);
        assert_wears(thread, &first);
        assert_non_null(strstr(output, "1 thread of thread"));
        free(output);
        puppet_stop(&p);
}

static void what_cannot_be(void **state) {
        struct hn_mask unknown = HN_MASK_NULL, beyond = HN_MASK_NULL;
        struct puppet p;
        char *output;

        (void) state;
        hn_mask_add(&unknown, 8191);
        hn_mask_add(&beyond, 8190);
        puppet_start(&p);
        assert_int_equal(pin("process", p.pid, &unknown, &none, &output), EX_NOINPUT);
        assert_non_null(strstr(complaint, "there is no node 8191"));
        assert_string_equal(output, "");
        free(output);
        assert_int_equal(pin("process", p.pid, &node, &beyond, &output), EX_DATAERR);
        assert_non_null(strstr(complaint, "none of the CPUs asked for"));
        assert_string_equal(output, "");
        free(output);
        assert_wears(p.pid, &all);
        puppet_stop(&p);

        /* It has ended meanwhile. */
        assert_int_equal(pin("process", p.pid, &node, &none, &output), EX_NOINPUT);
        assert_non_null(strstr(complaint, "nothing runs in process"));
        free(output);
        assert_int_equal(pin("cgroup", 0, &node, &none, &output), EX_NOINPUT);
        assert_non_null(strstr(complaint, "nothing runs in cgroup no-such.slice"));
        free(output);
}

/* All CPUs have to be of one node, which is then the one that is asked for. */
static int look(void) {
        struct hn_sysroot root = HN_SYSROOT_NULL;
        struct hn_topology topo;
        int r = 77;

        if (hn_affinity_get(0, &all) < 0 || hn_sysroot_open(NULL, &root) < 0 ||
            hn_machine_read(&root, NULL, &topo) < 0)
                return 1;
        for (size_t i = 0; i < topo.n_nodes; i++)
                if (hn_mask_equal(&topo.nodes[i].usable, &all) && hn_mask_count(&all) > 1) {
                        hn_mask_add(&node, topo.nodes[i].id);
                        r = 0;
                }
        hn_topology_deinit(&topo);
        hn_sysroot_close(&root);
        hn_mask_add(&first, hn_mask_next(&all, 0));
        rest = hn_mask_andnot(&all, &first);
        if (r == 77)
                fprintf(stderr, "Needs one node with all CPUs, two at least\n");
        return r;
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_process),
                cmocka_unit_test(what_cannot_be),
        };
        int r = look();

        return r != 0 ? r : cmocka_run_group_tests(tests, NULL, NULL);
}
