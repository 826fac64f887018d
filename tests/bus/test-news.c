/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is told of moves and refusals, and how much of it at once; by the daemon's own objects in this
 * process. */
#include "stage.h"

#include <stdlib.h>

#include "daemon/bus.h"
#include "daemon/manager.h"

static struct stage stage;
static struct hn_manager *manager;

static int make(void **state) {
        (void) state;
        stage_need();
        stage_make(&stage);
        stage_start_bus(&stage);
        manager = calloc(1, sizeof(*manager));
        assert_non_null(manager);
        manager->bus = (struct hn_bus){ .manager = manager, .bus = stage_connect(&stage), .dump = -1 };
        /* By an answer it is connected. */
        assert_true(sd_bus_call_method(manager->bus.bus, "org.freedesktop.DBus", "/",
                                       "org.freedesktop.DBus.Peer", "Ping", NULL, NULL, "") >= 0);
        return 0;
}

static int destroy(void **state) {
        (void) state;
        hn_bus_stop(&manager->bus);
        free(manager);
        stage_destroy(&stage);
        return 0;
}

static struct hn_state_event event(enum hn_state_act act, pid_t tid) {
        return (struct hn_state_event){
                .act = act,
                .tid = tid,
                .comm = "\xff\n345678901234x", /* no NUL behind it */
                .from = 0,
                .to = -1,
                .reason = "at-home",
                .text = "held on node 0",
        };
}

static size_t count(const char *what) {
        size_t n = 0;

        for (const char *p = stage.heard; (p = strstr(p, what)); p++)
                n++;
        return n;
}

static void each_act_is_told_as_what_it_is(void **state) {
        static const struct {
                enum hn_state_act act;
                const char *line;
        } rows[] = {
                { HN_STATE_WOULD_PIN, NULL },
                { HN_STATE_PIN,
                  "TaskMoved /org/homenode1 7 \\xff\\x0a345678901234x pin 0 -1 at-home held on" },
                { HN_STATE_RELEASE,
                  "TaskMoved /org/homenode1 7 \\xff\\x0a345678901234x release 0 -1 at-home held" },
                { HN_STATE_PAGES,
                  "TaskMoved /org/homenode1 7 \\xff\\x0a345678901234x pages 0 -1 at-home held on" },
                { HN_STATE_REFUSE,
                  "MoveRefused /org/homenode1 7 \\xff\\x0a345678901234x 0 -1 at-home held on" },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_state_event e = event(rows[i].act, 7);

                hn_news_event(&manager->bus, &e);
                if (rows[i].line)
                        stage_hear(&stage, rows[i].line, NULL);
        }
        assert_int_equal(count("org.homenode1.Manager."), 4);
        assert_int_equal(manager->bus.news.left_out, 0);
}

static void a_storm_is_cut_and_counted(void **state) {
        struct hn_state_event last = event(HN_STATE_RELEASE, 999999);

        (void) state;
        stage_forget(&stage);
        manager->bus.news.moves = manager->bus.news.refusals = 0;
        for (pid_t i = 1; i <= (pid_t) HN_NEWS_REFUSALS + 5; i++) {
                struct hn_state_event e = event(HN_STATE_REFUSE, i);

                hn_news_event(&manager->bus, &e);
        }
        assert_int_equal(manager->bus.news.left_out, 5);
        /* Refusals take no room from moves. */
        hn_news_event(&manager->bus, &last);
        stage_hear(&stage, "TaskMoved", "999999");
        assert_int_equal(count("MoveRefused"), HN_NEWS_REFUSALS);
        for (pid_t i = 1; i <= (pid_t) HN_NEWS_MOVES + 5; i++) {
                struct hn_state_event e = event(HN_STATE_PIN, i);

                hn_news_event(&manager->bus, &e);
        }
        assert_int_equal(manager->bus.news.left_out, 5 + 6);
        stage_hear(&stage, "TaskMoved", " 999 ");
        assert_int_equal(count("TaskMoved"), HN_NEWS_MOVES);
}

static void without_a_bus_nothing_is_told_nor_counted(void **state) {
        struct hn_manager other = { .bus = { .manager = &other } };
        struct hn_state_event e = event(HN_STATE_PIN, 1);

        (void) state;
        hn_news_event(&other.bus, &e);
        hn_news_tick(&other.bus, 1);
        hn_news_properties(&other.bus);
        assert_int_equal(other.bus.news.left_out, 0);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(each_act_is_told_as_what_it_is),
                cmocka_unit_test(a_storm_is_cut_and_counted),
                cmocka_unit_test(without_a_bus_nothing_is_told_nor_counted),
        };

        return cmocka_run_group_tests(tests, make, destroy);
}
