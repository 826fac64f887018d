/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* The look-alike of numad, run as libvirt runs it. What libvirt does with the answer is documented in its
 * sources (virNumaGetAutoPlacementAdvice() in src/util/virnuma.c, virBitmapParse() in src/util/virbitmap.c):
 * it calls "numad -w VCPUS:MIB", wants exit status 0, and reads all of standard output as a list of numbers
 * and ranges. Then it takes the CPUs of those nodes, and those of the nodes that have memory; a guest cannot
 * start on none. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "advisetree.h"
#include "base/mask.h"
#include "rows.h"

/* libvirt's VIR_DOMAIN_CPUMASK_LEN. */
#define BITS_MAX 16384L

static void skip_blanks(const char **p) {
        *p += strspn(*p, " \t\n\v\f\r");
}

/* A decimal number that fits an int; the digits come at once. */
static bool take_number(const char **p, long *ret) {
        char *end;

        if (**p < '0' || **p > '9')
                return false;
        errno = 0;
        *ret = strtol(*p, &end, 10);
        *p = end;
        return errno == 0 && *ret <= INT32_MAX;
}

/* The grammar, in words of our own: fields N, N-M or ^N, with commas between them and blanks around, and
 * nothing else up to the end. Not nothing at all. */
static bool take_list(const char *p, struct hn_mask *ret) {
        *ret = HN_MASK_NULL;
        skip_blanks(&p);
        if (!*p)
                return false;
        while (*p) {
                bool not_this = *p == '^';
                long first, last;

                p += not_this;
                if (!take_number(&p, &first) || first >= BITS_MAX)
                        return false;
                last = first;
                skip_blanks(&p);
                if (*p == '-') {
                        if (not_this)
                                return false;
                        p++;
                        skip_blanks(&p);
                        if (!take_number(&p, &last) || last < first || last >= BITS_MAX)
                                return false;
                        skip_blanks(&p);
                }
                for (long i = first; i <= last; i++) {
                        if (not_this)
                                hn_mask_remove(ret, (unsigned) i);
                        else if (!hn_mask_add(ret, (unsigned) i))
                                return false;
                }
                if (!*p)
                        break;
                if (*p++ != ',')
                        return false;
                skip_blanks(&p);
        }
        return true;
}

/* The reader would notice. */
static void the_reader_reads(void **state) {
        static const struct {
                const char *text;
                bool ok;
                unsigned n;
        } rows[] = {
                { "", false, 0 },
                { "\n", false, 0 },
                { "0", true, 1 },
                { "0\n", true, 1 },
                { "0-1\n", true, 2 },
                { "0-1,4\n", true, 3 },
                { " 0 - 1 , 4 \n", true, 3 },
                { "1-0", false, 0 },
                { "0,,1", false, 0 },
                { "-1", false, 0 },
                { "a", false, 0 },
                { "0 1", false, 0 },
                { "0-3,^2", true, 3 },
                { "^0-1", false, 0 },
                { "0x1", false, 0 },
                { "99999999999", false, 0 },
                { "16384", false, 0 },
                { "0;1", false, 0 },
        };
        struct hn_mask m;

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                ROW_EQUAL(i, take_list(rows[i].text, &m), rows[i].ok);
                if (rows[i].ok)
                        ROW_EQUAL(i, hn_mask_count(&m), rows[i].n);
        }
}

/* Runs it with these arguments. Returns its exit status; `out` is cut at `size`. */
static int run(char *const argv[], char *out, size_t size, char *complaint, size_t complaint_size) {
        int to_us[2], errors[2], status;
        size_t used;
        ssize_t n;
        pid_t pid;

        assert_int_equal(pipe2(to_us, O_CLOEXEC), 0);
        assert_int_equal(pipe2(errors, O_CLOEXEC), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                if (dup2(to_us[1], 1) < 0 || dup2(errors[1], 2) < 0)
                        _exit(126);
                (void) execv(HN_NUMAD, argv);
                _exit(127);
        }
        (void) close(to_us[1]);
        (void) close(errors[1]);
        for (used = 0; used + 1 < size && (n = read(to_us[0], out + used, size - 1 - used)) > 0;)
                used += (size_t) n;
        out[used] = '\0';
        n = read(errors[0], complaint, complaint_size - 1);
        complaint[n > 0 ? n : 0] = '\0';
        (void) close(to_us[0]);
        (void) close(errors[0]);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static const struct hn_advise_machine machines[] = {
        { .n_nodes = 1, .stride = 1, .cpus = 2, .memory_mib = 4096 },
        { .n_nodes = 1, .stride = 1, .cpus = 2, .memory_mib = 4096, .no_folders = true },
        { .n_nodes = 2, .stride = 1, .cpus = 16, .memory_mib = 65536 },
        { .n_nodes = 4, .stride = 1, .cpus = 2, .memory_mib = 1024 },
        { .n_nodes = 8, .stride = 3, .cpus = 8, .memory_mib = 16384 },
        { .n_nodes = 3, .stride = 250, .cpus = 4, .memory_mib = 8192, .bare = 1 },
        { .n_nodes = 4, .stride = 1, .cpus = 4, .memory_mib = 8192, .empty = 2 },
        { .n_nodes = 5, .stride = 2, .cpus = 4, .memory_mib = 8192, .bare = 1, .empty = 3 },
        { .n_nodes = 64, .stride = 4, .cpus = 4, .memory_mib = 2048 },
};

static const char *const wishes[] = {
        "1:1",    "1:512",  "2:1024", "4:2048",  "4:4096",   "8:2048",    "8:65536",       "12:1",
        "16:512", "32:100", "64:1",   "128:512", "255:1024", "65535:100", "1:18446744073", "512:99999999",
};

static void libvirt_reads_every_answer(void **state) {
        size_t n = 0;

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(machines); i++) {
                const struct hn_advise_machine *m = &machines[i];
                unsigned with_cpus = m->n_nodes - m->bare;
                struct hn_tree tree;

                hn_tree_make(&tree);
                hn_advise_tree(&tree, m);
                /* Twice over: what was advised before counts the second time. */
                for (size_t k = 0; k < 2 * HN_ELEMENTS(wishes); k++) {
                        const char *wish = wishes[k % HN_ELEMENTS(wishes)];
                        char *const argv[] = { (char *) "numad",
                                               (char *) "--sysroot",
                                               tree.path,
                                               (char *) "--run-dir",
                                               tree.path,
                                               (char *) "-w",
                                               (char *) (uintptr_t) wish,
                                               NULL };
                        char out[4096], complaint[1024];
                        bool cpus = false, memory = false;
                        struct hn_mask nodes;

                        ROW_EQUAL(i * 100 + k, run(argv, out, sizeof(out), complaint, sizeof(complaint)), 0);
                        if (!take_list(out, &nodes))
                                fail_msg("machine %zu, -w %s: \"%s\"", i, wish, out);
                        /* As numad prints it: one line, no blank in it. */
                        ROW_EQUAL(i * 100 + k, strcspn(out, "\n") == strlen(out) - 1, true);
                        ROW_EQUAL(i * 100 + k, strspn(out, "0123456789,-\n") == strlen(out), true);
                        for (unsigned id = hn_mask_next(&nodes, 0); id != HN_MASK_NONE;
                             id = hn_mask_next(&nodes, id + 1)) {
                                unsigned node = id / m->stride;

                                ROW_EQUAL(i * 100 + k, id % m->stride == 0 && node < m->n_nodes, true);
                                cpus = cpus || node < with_cpus;
                                memory = memory || node < with_cpus - m->empty || node >= with_cpus;
                        }
                        ROW_EQUAL(i * 100 + k, cpus && memory, true);
                        n++;
                }
                hn_tree_drop(&tree);
        }
        assert_int_equal(n, 2 * HN_ELEMENTS(machines) * HN_ELEMENTS(wishes));
}

/* The answers a caller can count on. */
static void known_answers(void **state) {
        static const struct {
                size_t machine;
                const char *words[6];
                const char *out;
                bool fits;
        } rows[] = {
                { 2, { "-w", "4:2048" }, "0\n", true },
                { 2, { "-w", "20:2048" }, "0-1\n", true },
                { 2, { "-w", "40:2048" }, "0-1\n", false },
                { 2, { "-w", "1:9999999" }, "0-1\n", false },
                { 2, { "-w4:2048", "-v" }, "0\n", true },
                { 2, { "-C", "0", "-w", "4" }, "0\n", true },
                { 2, { "-R", "0-13", "-w", "4:1" }, "1\n", true },
                { 2, { "-d", "-w", "2.5:100" }, "0\n", true },
                { 4, { "-w", "24:100" }, "0,3,6\n", true },
                { 6, { "-w", "8:100" }, "0-1\n", true },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                char *argv[10] = { (char *) "numad", (char *) "--sysroot" };
                char out[256], complaint[1024];
                struct hn_tree tree;

                hn_tree_make(&tree);
                hn_advise_tree(&tree, &machines[rows[i].machine]);
                argv[2] = tree.path;
                for (size_t k = 0; k < HN_ELEMENTS(rows[i].words); k++)
                        argv[3 + k] = (char *) (uintptr_t) rows[i].words[k];
                ROW_EQUAL(i, run(argv, out, sizeof(out), complaint, sizeof(complaint)), 0);
                if (strcmp(out, rows[i].out) != 0)
                        fail_msg("row %zu: %s", i, out);
                ROW_EQUAL(i, strstr(complaint, "does not fit") == NULL, rows[i].fits);
                hn_tree_drop(&tree);
        }
}

/* Whatever else numad does is refused by name, with nothing on standard output. */
static void refusals(void **state) {
        static const struct {
                const char *words[4];
                const char *complaint;
        } rows[] = {
                { { NULL }, "homenoded(8)" },
                { { "-w" }, "homenode" },
                { { "-w", "" }, "cannot make sense" },
                { { "-w", "x" }, "cannot make sense" },
                { { "-w", "4:" }, "cannot make sense" },
                { { "-w", "-4:100" }, "cannot make sense" },
                { { "-w", "4:100", "extra" }, "unexpected argument \"extra\"" },
                { { "-w", "4", "-R", "x" }, "no list of CPUs" },
                { { "-i", "0" }, "homenoded(8)" },
                { { "-i", "15", "-w", "4" }, "homenoded(8)" },
                { { "-p", "1" }, "homenoded(8)" },
                { { "-x", "1" }, "homenoded(8)" },
                { { "-S", "0" }, "homenoded(8)" },
                { { "-u", "100" }, "homenoded(8)" },
                { { "-z" }, "look-alike" },
                { { "-h" }, "look-alike" },
                { { "--sysroot", "/no/such/folder", "-w", "4" }, "/no/such/folder" },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                char *argv[6] = { (char *) "numad" };
                char out[256], complaint[2048];

                for (size_t k = 0; k < HN_ELEMENTS(rows[i].words); k++)
                        argv[1 + k] = (char *) (uintptr_t) rows[i].words[k];
                ROW_EQUAL(i, run(argv, out, sizeof(out), complaint, sizeof(complaint)), 1);
                ROW_EQUAL(i, out[0], '\0');
                if (!strstr(complaint, rows[i].complaint))
                        fail_msg("row %zu: %s", i, complaint);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_reader_reads),
                cmocka_unit_test(libvirt_reads_every_answer),
                cmocka_unit_test(known_answers),
                cmocka_unit_test(refusals),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
