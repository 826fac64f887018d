/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Answers and the reservations between them: one process after another, and a hundred at once. */
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
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "act/advice.h"
#include "act/reservefile.h"
#include "fakeroot.h"
#include "fixture.h"
#include "policy/reservation.h"
#include "rows.h"

#define NODES 4
#define GIB   (UINT64_C(1) << 30)
#define NOW   (1000 * HN_USEC_PER_SEC)

struct bench {
        struct hn_topology topo;
        struct hn_advise_node nodes[NODES];
        struct hn_advise_view views[NODES];
        struct hn_advice advice;
        enum hn_advice_kept kept;
        struct hn_tree tree, own;
};

static void bench_make(struct bench *b) {
        *b = (struct bench){ .kept = _HN_ADVICE_KEPT_MAX };
        fixture_topology(&b->topo, NODES, 8);
        for (size_t i = 0; i < NODES; i++)
                b->nodes[i] = (struct hn_advise_node){ .allowed = true, .free = GIB };
        hn_tree_make(&b->tree);
        hn_tree_make(&b->own);
}

static void bench_drop(struct bench *b) {
        hn_topology_deinit(&b->topo);
        hn_tree_drop(&b->tree);
        hn_tree_drop(&b->own);
}

static struct hn_advice_request request(const struct bench *b, hn_usec_t now) {
        return (struct hn_advice_request){
                .wish = { 2000, GIB / 64 },
                .near = HN_NODE_NONE,
                .places = { b->tree.path, b->own.path },
                .reserve = true,
                .now = now,
        };
}

/* The first node on the list. */
static unsigned ask(struct bench *b, const struct hn_advice_request *rq) {
        assert_int_equal(hn_advice_give(&b->topo, b->nodes, rq, b->views, &b->advice, &b->kept), 0);
        return hn_mask_next(&b->advice.nodes, 0);
}

static size_t count_lines(const char *folder) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        size_t n = 0;
        int dir = open(folder, O_PATH | O_CLOEXEC);

        if (hn_read_all_at(dir, HN_RESERVEFILE_MAX, &text, HN_RESERVEFILE_NAME) >= 0)
                for (const char *p = text; (p = strchr(p, '\n')); p++)
                        n++;
        (void) close(dir);
        return n;
}

static void each_counts_the_ones_before(void **state) {
        struct hn_advice_request rq;
        struct bench b;

        (void) state;
        bench_make(&b);
        rq = request(&b, NOW);
        for (unsigned i = 0; i < 16; i++) {
                ROW_EQUAL(i, ask(&b, &rq), i % NODES);
                ROW_EQUAL(i, b.advice.shortage, HN_ADVISE_FITS);
                ROW_EQUAL(i, b.kept, HN_ADVICE_KEPT);
        }
        (void) ask(&b, &rq);
        assert_int_equal(b.advice.shortage, HN_ADVISE_OUT_OF_CPUS);
        assert_int_equal(count_lines(b.tree.path), 17);
        assert_int_equal(count_lines(b.own.path), 0);

        /* One who looked at the clock before them, and came to the lock after them. */
        rq.now = NOW - HN_USEC_PER_SEC;
        (void) ask(&b, &rq);
        assert_int_equal(b.advice.shortage, HN_ADVISE_OUT_OF_CPUS);

        /* A minute on, nothing of it is left. */
        rq.now = NOW + HN_RESERVATION_LIFE;
        assert_int_equal(ask(&b, &rq), 0);
        assert_int_equal(b.advice.shortage, HN_ADVISE_FITS);
        assert_int_equal(b.nodes[1].reserved_cpus, 0);

        /* Only asked: nothing is left behind, what is there counts. */
        rq.reserve = false;
        assert_int_equal(ask(&b, &rq), 1);
        assert_int_equal(ask(&b, &rq), 1);
        assert_int_equal(b.kept, HN_ADVICE_NOT_ASKED);
        bench_drop(&b);
}

/* A hundred wait for one line each and no more, however long it goes on. */
static void the_file_stays_small(void **state) {
        struct hn_advice_request rq;
        struct bench b;

        (void) state;
        bench_make(&b);
        for (unsigned i = 0; i < 1000; i++) {
                rq = request(&b, NOW + i * HN_USEC_PER_SEC);
                (void) ask(&b, &rq);
                ROW_EQUAL(i, b.kept, HN_ADVICE_KEPT);
                ROW_EQUAL(i, count_lines(b.tree.path) <= 3 * 60 + 64, true);
        }
        bench_drop(&b);
}

static void places_and_troubles(void **state) {
        struct hn_advice_request rq;
        struct hn_reservefile f;
        struct bench b;

        (void) state;
        bench_make(&b);
        rq = request(&b, NOW);

        /* nowhere to go */
        rq.places[0] = rq.places[1] = NULL;
        assert_int_equal(ask(&b, &rq), 0);
        assert_int_equal(b.kept, HN_ADVICE_NO_PLACE);
        rq.places[0] = "/no/such/folder";
        assert_int_equal(ask(&b, &rq), 0);
        assert_int_equal(b.kept, HN_ADVICE_NO_PLACE);

        /* the second one, where the first is not */
        rq.places[1] = b.own.path;
        assert_int_equal(ask(&b, &rq), 0);
        assert_int_equal(b.kept, HN_ADVICE_KEPT);
        assert_int_equal(ask(&b, &rq), 1);
        assert_int_equal(count_lines(b.own.path), 2);

        /* a lock that somebody does not let go: what is there counts, and so does what is left now */
        rq = request(&b, NOW);
        assert_int_equal(ask(&b, &rq), 0);
        assert_int_equal(hn_reservefile_open(b.tree.path, 0, &f), 0);
        assert_int_equal(ask(&b, &rq), 1);
        assert_int_equal(b.kept, HN_ADVICE_BUSY);
        assert_int_equal(hn_reservefile_append(&f, "half a li", 9), 0);
        assert_int_equal(ask(&b, &rq), 2);
        assert_int_equal(b.kept, HN_ADVICE_BUSY);
        assert_int_equal(count_lines(b.tree.path), 4);
        hn_reservefile_close(&f);
        assert_int_equal(ask(&b, &rq), 3);
        assert_int_equal(b.kept, HN_ADVICE_KEPT);
        assert_int_equal(count_lines(b.own.path), 2);

        /* rubbish is read over, and swept out with what nobody ended */
        hn_tree_write(&b.tree, HN_RESERVEFILE_NAME, "x\ny\n1000000000 0 2000 0 0 1073741824\n999", 0);
        assert_int_equal(ask(&b, &rq), 1);
        assert_int_equal(b.kept, HN_ADVICE_KEPT);
        assert_int_equal(count_lines(b.tree.path), 2);
        bench_drop(&b);
}

/* Nothing to choose from is an answer too, and leaves nothing. */
static void no_answer_leaves_no_reservation(void **state) {
        struct hn_advice_request rq;
        struct bench b;

        (void) state;
        bench_make(&b);
        rq = request(&b, NOW);
        for (size_t i = 0; i < NODES; i++)
                b.nodes[i].allowed = false;
        assert_int_equal(hn_advice_give(&b.topo, b.nodes, &rq, b.views, &b.advice, &b.kept), -ENODEV);
        assert_int_equal(count_lines(b.tree.path), 0);
        bench_drop(&b);
}

/* A hundred processes at once give what a hundred one after the other give: 25 on each node. */
static void a_hundred_at_once(void **state) {
        enum { CALLS = 100 };
        unsigned given[NODES] = {};
        struct hn_advice_request rq;
        int go[2], answers[2];
        pid_t pids[CALLS];
        struct bench b;

        (void) state;
        bench_make(&b);
        rq = request(&b, NOW);
        rq.wait = 60 * HN_USEC_PER_SEC; /* here nobody may be left out, however slow the machine */
        assert_int_equal(pipe2(go, O_CLOEXEC), 0);
        assert_int_equal(pipe2(answers, O_CLOEXEC), 0);
        for (size_t i = 0; i < CALLS; i++) {
                pids[i] = fork();
                assert_true(pids[i] >= 0);
                if (pids[i] == 0) {
                        unsigned char node = 255;
                        char c;

                        (void) close(go[1]);
                        if (read(go[0], &c, 1) == 0 &&
                            hn_advice_give(&b.topo, b.nodes, &rq, b.views, &b.advice, &b.kept) == 0 &&
                            b.kept == HN_ADVICE_KEPT && hn_mask_count(&b.advice.nodes) == 1)
                                node = (unsigned char) hn_mask_next(&b.advice.nodes, 0);
                        _exit(write(answers[1], &node, 1) == 1 ? 0 : 1);
                }
        }
        (void) close(go[0]);
        (void) close(go[1]); /* the start for all of them */
        for (size_t i = 0; i < CALLS; i++) {
                unsigned char node;
                int status;

                assert_int_equal(read(answers[0], &node, 1), 1);
                assert_in_range(node, 0, NODES - 1);
                given[node]++;
                assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
                assert_int_equal(status, 0);
        }
        for (size_t i = 0; i < NODES; i++)
                ROW_EQUAL(i, given[i], CALLS / NODES);
        assert_int_equal(count_lines(b.tree.path), CALLS);
        (void) close(answers[0]);
        (void) close(answers[1]);
        bench_drop(&b);
}

/* Several in one round get what as many one by one get; who comes in between finds the lock held. */
static void a_round_is_as_many_answers(void **state) {
        struct hn_advice_round round;
        struct hn_advice_request rq;
        struct bench b, between;

        (void) state;
        bench_make(&b);
        bench_make(&between);
        rq = request(&b, NOW);
        hn_advice_round_begin(rq.places, NOW, 0, &round);
        for (unsigned i = 0; i < 16; i++) {
                ROW_EQUAL(i,
                          hn_advice_round_answer(&round, &b.topo, b.nodes, &rq, b.views, &b.advice, &b.kept),
                          0);
                ROW_EQUAL(i, hn_mask_next(&b.advice.nodes, 0), i % NODES);
                ROW_EQUAL(i, b.kept, HN_ADVICE_KEPT);
                ROW_EQUAL(i, count_lines(b.tree.path), i + 1);
        }
        (void) ask(&between, &rq);
        assert_int_equal(between.advice.shortage, HN_ADVISE_OUT_OF_CPUS);
        assert_int_equal(between.kept, HN_ADVICE_BUSY);
        hn_advice_round_end(&round);
        hn_advice_round_end(&round);
        (void) ask(&between, &rq);
        assert_int_equal(between.kept, HN_ADVICE_KEPT);
        assert_int_equal(count_lines(b.tree.path), 18);
        bench_drop(&between);
        bench_drop(&b);
}

/* What is over is swept out before the first answer, and no answer after it. */
static void a_round_begins_with_a_clean_file(void **state) {
        struct hn_advice_round round;
        struct hn_advice_request rq;
        struct bench b;

        (void) state;
        bench_make(&b);
        for (unsigned i = 0; i < 65; i++) {
                rq = request(&b, NOW);
                (void) ask(&b, &rq);
        }
        rq = request(&b, NOW + 2 * HN_RESERVATION_LIFE);
        for (unsigned turn = 1; turn <= 2; turn++) {
                hn_advice_round_begin(rq.places, rq.now, 0, &round);
                for (unsigned i = 0; i < 3; i++)
                        ROW_EQUAL(i,
                                  hn_advice_round_answer(&round, &b.topo, b.nodes, &rq, b.views, &b.advice,
                                                         &b.kept),
                                  0);
                hn_advice_round_end(&round);
                assert_int_equal(count_lines(b.tree.path), 3 * turn);
        }
        bench_drop(&b);
}

/* What is counted beside the files, and left in none. */
static void more_is_counted(void **state) {
        struct hn_reservation taken[] = { { .made = NOW, .id = 0, .cpus = 8000 },
                                          { .made = NOW, .id = 2, .cpus = 4000 } };
        struct hn_reservations more = { .n = HN_ELEMENTS(taken), .list = taken };
        struct hn_advice_request rq;
        struct bench b;

        (void) state;
        bench_make(&b);
        rq = request(&b, NOW);
        rq.more = &more;
        assert_int_equal(ask(&b, &rq), 1);
        assert_int_equal(ask(&b, &rq), 3);
        assert_int_equal(count_lines(b.tree.path), 2);
        rq.more = NULL;
        assert_int_equal(ask(&b, &rq), 0);
        bench_drop(&b);
}

static void words(void **state) {
        (void) state;
        for (int k = 0; k < _HN_ADVICE_KEPT_MAX; k++) {
                assert_non_null(hn_advice_kept_to_string((enum hn_advice_kept) k));
                assert_non_null(hn_advice_kept_to_sentence((enum hn_advice_kept) k));
        }
        assert_null(hn_advice_kept_to_string(_HN_ADVICE_KEPT_MAX));
        assert_null(hn_advice_kept_to_sentence(_HN_ADVICE_KEPT_MAX));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_counts_the_ones_before),
                cmocka_unit_test(the_file_stays_small),
                cmocka_unit_test(places_and_troubles),
                cmocka_unit_test(no_answer_leaves_no_reservation),
                cmocka_unit_test(a_hundred_at_once),
                cmocka_unit_test(a_round_is_as_many_answers),
                cmocka_unit_test(a_round_begins_with_a_clean_file),
                cmocka_unit_test(more_is_counted),
                cmocka_unit_test(words),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
