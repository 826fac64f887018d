/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "fakeroot.h"
#include "launch.h"
#include "rows.h"

/* What is said of each act: P policy, N nodes, C CPUs, S shm, F file, T touch, V verify, D dump, d
 * dump-nodes, s show, H hardware. */
static const char letters[_HN_LAUNCH_MAX] = "PNCSFTVDdsH";

/* Nodes 0-3, of which 1-2 may be used, and CPUs 0-7, of which 2-5. */
static const struct {
        const char *words;
        int r;
        const char *acts; /* "P3:1-2": mode and nodes behind a policy, the set behind N and C, the name behind
                             S and F */
        const char *say;  /* in the sentence or the warnings */
} rows[] = {
        { "", -EUCLEAN, "", "command is missing" },
        { "-m 1", -EUCLEAN, "", "command is missing" },
        { "-m 9 x", -ERANGE, "", "no node 9" },
        { "-m 0 x", -ERANGE, "", "--all" },
        { "-m 1, x", -EINVAL, "", NULL },
        { "-m 1 -i 1 x", -EUCLEAN, "", "only one" },
        { "-l -l x", -EUCLEAN, "", "only one" },
        { "-p 1-2 x", -EUCLEAN, "", "exactly one" },
        { "-m 1 -b x", -EUCLEAN, "", "before the memory policy" },
        { "-m 1 -H", -EUCLEAN, "", "before the memory policy" },
        { "-m 1 --file f", -EUCLEAN, "", "before the memory policy" },
        { "-m 1 --version", -EUCLEAN, "", "before the memory policy" },
        { "-m 1 -a x", -EUCLEAN, "", "--all" },
        { "-C 2 -a x", -EUCLEAN, "", "--all" },
        { "-m same x", -EUCLEAN, "", "none have been named" },
        { "-C 2 -m same x", -EUCLEAN, "", "none have been named" },
        { "-C same x", -EINVAL, "", NULL },
        { "-C 0 x", -ERANGE, "", "CPU 0" },
        { "-C !0-7 x", -ERANGE, "", NULL },
        { "-a -C !0-7 x", -EINVAL, "", "no CPU is left" },
        { "-N file:/nonexistent x", -ENOENT, "", "/nonexistent" },
        { "--length 4k x", -EUCLEAN, "", "--length is about shared memory" },
        { "--huge x", -EUCLEAN, "", "--huge is about shared memory" },
        { "--length 4q --file f", -EUCLEAN, "", "4q" },
        { "--length 99999999999999999999 --file f", -EUCLEAN, "", NULL },
        { "--shmmode 8 --file f", -EUCLEAN, "", "octal" },
        { "--shmmode 10000 --file f", -EUCLEAN, "", "7777" },
        { "--shmid -1 x", -EUCLEAN, "", "2147483647" },
        { "--shmid 2147483648 x", -EUCLEAN, "", NULL },
        { "--shmid -4294967296 x", -EUCLEAN, "", NULL },
        { "--shmmode -1 --file f", -EUCLEAN, "", "7777" },
        { "--file f --length 4k", -EUCLEAN, "", "stands before" },
        { "--file f --shm k", -EUCLEAN, "", "one shared memory" },
        { "--file f x", -EUCLEAN, "", "takes no command" },
        { "--file f -N 1", -EUCLEAN, "", "cannot be bound" },
        { "--length 4k -C 2 x", -EUCLEAN, "", "cannot be bound" },
        { "-N 1 --file f", -EUCLEAN, "", "cannot be bound" },
        { "--file f --rule r", -EUCLEAN, "", "for a command" },
        { "--rule r --file f", -EUCLEAN, "", "for a command" },
        { "-T --file f", -EUCLEAN, "", "--touch stands behind" },
        { "--dump x", -EUCLEAN, "", "--dump stands behind" },
        { "--dump-nodes x", -EUCLEAN, "", "--dump-nodes stands behind" },
        { "--file f --interleave=", -EINVAL, "", "no node is left" },
        { "--file f --membind=", -EINVAL, "", "no node is left" },
        { "--file f --preferred-many=", -EINVAL, "", "no node is left" },
        { "--file f --verify", -EUCLEAN, "", "behind a memory policy" },
        { "--file f -l --verify", -EUCLEAN, "", "with nodes" },
        { "x", 0, "", NULL },
        { "--shmid -0 x", 0, "", NULL },
        { "-- x -m 9", 0, "", NULL },
        { "x -m 9", 0, "", NULL },
        { "-m 1 x", 0, "P2:1", NULL },
        { "-bm 1 x", 0, "P2b:1", NULL },
        { "-b -i 1 x", 0, "P3:1", "--balancing has an effect with --membind only" },
        { "-t x", 0, "", "--strict is about shared memory" },
        { "-b -t x", 0, "", "--strict" },
        { "-w all x", 0, "P6:1-2", NULL },
        { "-a -w all x", 0, "P6:0-3", NULL },
        { "-P 1,2 x", 0, "P5:1-2", NULL },
        { "-p +1 x", 0, "P1:2", NULL },
        { "-l x", 0, "P4:", NULL },
        { "-i= x", -EINVAL, "", NULL },
        { "--interleave= x", 0, "P0:", NULL },
        { "--weighted-interleave= x", 0, "P0:", NULL },
        { "-N 1 -m same x", 0, "N:1 P2:1", NULL },
        { "-N +0 -a -m same x", -EUCLEAN, "", NULL },
        { "-c 2 -C 3-5:2 x", 0, "N:2 C:3,5", NULL },
        { "--rule web -m 1 x", 0, "P2:1", NULL },
        { "-L 0x10k -o 1M -M 640 -I 3 -u -S k -t -m 1 -T -V -d -D", 0, "S:k P2t:1 T V D d", NULL },
        { "--length 4k --file f -i !1 -V", 0, "F:f P3:0,2-3 V", NULL },
        { "-b --length 4k --file f -m 1", 0, "F:f P2:1", NULL },
        { "-s -m 9 --bogus", 0, "s", NULL },
        { "-m 1 -s", 0, "P2:1 s", NULL },
        { "-H x", 0, "H", NULL },
        { "--cpu-compress -H", 0, "H", NULL },
        { "-h -m 9", 0, "", NULL },
        { "--version --bogus", 0, "", NULL },
};

static void describe(const struct hn_launch *l, char *buf, size_t size) {
        char list[256];

        *buf = '\0';
        for (size_t i = 0; i < l->n_steps; i++) {
                const struct hn_launch_step *s = &l->steps[i];
                size_t used = strlen(buf);

                (void) hn_mask_print_list(&s->policy.nodes, list, sizeof(list));
                used += (size_t) snprintf(buf + used, size - used, "%s%c", i > 0 ? " " : "", letters[s->act]);
                if (s->act == HN_LAUNCH_POLICY)
                        (void) snprintf(buf + used, size - used, "%d%s%s:%s", s->policy.mode,
                                        s->policy.flags ? "b" : "", s->strict ? "t" : "", list);
                else if (s->act == HN_LAUNCH_NODES || s->act == HN_LAUNCH_CPUS)
                        (void) snprintf(buf + used, size - used, ":%s", list);
                else if (s->name)
                        (void) snprintf(buf + used, size - used, ":%s", s->name);
        }
}

static int parse(const struct hn_tree *t, char *words, struct hn_launch *ret, struct hn_why *why) {
        const struct hn_allowance allowance = {
                .nodes = { .word = { 0xf } },
                .mems = { .word = { 0x6 } },
                .cpus = { .word = { 0xff } },
                .mine = { .word = { 0x3c } },
        };
        static char name[] = "run", *argv[64];
        int argc = 0;

        argv[argc++] = name;
        for (char *save = NULL, *w = strtok_r(words, " ", &save); w; w = strtok_r(NULL, " ", &save))
                argv[argc++] = w;
        argv[argc] = NULL;
        optind = 0;
        opterr = 0;
        return hn_launch_parse(argc, argv, &t->root, &allowance, ret, why);
}

static void arguments_become_steps(void **state) {
        char words[256], got[512];
        struct hn_tree t;

        (void) state;
        hn_tree_make(&t);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_launch l = HN_LAUNCH_NULL;
                struct hn_why why = HN_WHY_NULL;

                (void) snprintf(words, sizeof(words), "%s", rows[i].words);
                ROW_EQUAL(i, parse(&t, words, &l, &why), rows[i].r);
                describe(&l, got, sizeof(got));
                if (strcmp(got, rows[i].acts) != 0)
                        fail_msg("row %zu: %s, expected %s", i, got, rows[i].acts);
                if (rows[i].say && !strstr(why.text, rows[i].say) && !strstr(l.warnings[0], rows[i].say))
                        fail_msg("row %zu: says \"%s\" and \"%s\"", i, why.text, l.warnings[0]);
                ROW_EQUAL(i, l.warnings[0][0] != '\0', rows[i].r == 0 && rows[i].say);
                hn_launch_deinit(&l);
        }
        hn_tree_drop(&t);
}

static void what_getopt_says_is_enough(void **state) {
        static const char *const wrong[] = { "--bogus", "-z", "-m", "--membind", "--all=1", "--cpu 0 x" };
        char words[64];
        struct hn_tree t;

        (void) state;
        hn_tree_make(&t);
        for (size_t i = 0; i < HN_ELEMENTS(wrong); i++) {
                struct hn_launch l = HN_LAUNCH_NULL;
                struct hn_why why = HN_WHY_NULL;

                (void) snprintf(words, sizeof(words), "%s", wrong[i]);
                ROW_EQUAL(i, parse(&t, words, &l, &why), -EUCLEAN);
                assert_string_equal(why.text, "");
        }
        hn_tree_drop(&t);
}

static void the_rest_is_kept(void **state) {
        char words[] = "-L 64k -o 4k -M 0640 -I 0x10 -u -S k", other[] = "--rule r -- x -m 9",
             show[] = "--cpu-compress -H", version[] = "--version";
        struct hn_launch l = HN_LAUNCH_NULL;
        struct hn_tree t;

        (void) state;
        hn_tree_make(&t);
        assert_int_equal(parse(&t, words, &l, NULL), 0);
        assert_true(l.shared && l.huge && !l.command);
        assert_int_equal(l.length, 65536);
        assert_int_equal(l.offset, 4096);
        assert_int_equal(l.mode, 0640);
        assert_int_equal(l.id, 16);
        hn_launch_deinit(&l);
        assert_int_equal(parse(&t, other, &l, NULL), 0);
        assert_string_equal(l.rule, "r");
        assert_string_equal(l.command[0], "x");
        assert_string_equal(l.command[2], "9");
        assert_null(l.command[3]);
        hn_launch_deinit(&l);
        assert_int_equal(parse(&t, show, &l, NULL), 0);
        assert_true(l.ranges && !l.command);
        hn_launch_deinit(&l);
        assert_int_equal(parse(&t, version, &l, NULL), 0);
        assert_true(l.version);
        hn_launch_deinit(&l);
        hn_tree_drop(&t);
}

static const struct {
        const char *text;
        int r;
        uint64_t want;
} sizes[] = {
        { "", -EINVAL, 0 },
        { "k", -EINVAL, 0 },
        { "-1", -EINVAL, 0 },
        { "-0", -EINVAL, 0 },
        { "+-1", -EINVAL, 0 },
        { "+ 1", -EINVAL, 0 },
        { " ", -EINVAL, 0 },
        { "1 ", -EINVAL, 0 },
        { "1 k", -EINVAL, 0 },
        { "1kk", -EINVAL, 0 },
        { "1b", -EINVAL, 0 },
        { "1t", -EINVAL, 0 },
        { "1.5k", -EINVAL, 0 },
        { "18446744073709551616", -ERANGE, 0 },
        { "18014398509481984k", -ERANGE, 0 },
        { "17179869184g", -ERANGE, 0 },
        { "18014398509481983k", 0, UINT64_C(18446744073709550592) },
        { "0", 0, 0 },
        { "4096", 0, 4096 },
        { "0x10", 0, 16 },
        { "010", 0, 8 },
        { "4k", 0, 4096 },
        { "4KB", 0, 4096 },
        { "+4k", 0, 4096 },
        { " \t4k", 0, 4096 },
        { "2m", 0, 2097152 },
        { "1G", 0, 1073741824 },
};

static void sizes_have_units(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(sizes); i++) {
                uint64_t got = 0;

                ROW_EQUAL(i, hn_launch_parse_size(sizes[i].text, &got), sizes[i].r);
                ROW_EQUAL(i, got == sizes[i].want, true);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(arguments_become_steps),
                cmocka_unit_test(what_getopt_says_is_enough),
                cmocka_unit_test(the_rest_is_kept),
                cmocka_unit_test(sizes_have_units),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
