/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/macro.h"
#include "daemon/log.h"
#include "policy/snapshot.h"

#define SEC HN_USEC_PER_SEC

/* A log that writes into memory. */
struct fixture {
        struct hn_log log;
        char *text;
        size_t n;
};

static int setup(void **state) {
        struct fixture *f = calloc(1, sizeof(*f));
        FILE *stream = f ? open_memstream(&f->text, &f->n) : NULL;

        assert_non_null(stream);
        hn_log_init(&f->log, stream);
        assert_null(f->log.send);
        hn_log_tick(&f->log, 1000 * SEC);
        *state = f;
        return 0;
}

static int teardown(void **state) {
        struct fixture *f = *state;

        hn_log_deinit(&f->log);
        (void) fclose(f->log.stream);
        free(f->text);
        free(f);
        return 0;
}

static size_t lines(const struct fixture *f) {
        size_t n = 0;

        for (size_t i = 0; i < f->n; i++)
                n += f->text[i] == '\n';
        return n;
}

/* What the journal would have got, fields joined by newlines. */
static char journal[16384];
static size_t journal_entries;
static int journal_answer;

static int catch_entry(const struct iovec *iov, int n) {
        size_t used = 0;

        for (int i = 0; i < n; i++)
                used += (size_t) snprintf(journal + used, sizeof(journal) - used, "%.*s\n",
                                          (int) iov[i].iov_len, (const char *) iov[i].iov_base);
        journal_entries++;
        return journal_answer;
}

static void names_cannot_forge_lines(void **state) {
        struct fixture *f = *state;

        hn_log_event(&f->log, HN_EVENT_TASK_PINNED, LOG_INFO, NULL, "task %d (%s) is held", 7,
                     "a)\n<0>root \x1b[2J\xff");
        assert_string_equal(f->text, "task 7 (a)\\x0a<0>root \\x1b[2J\\xff) is held\n");
}

static void plain_lines_have_no_prefix_and_a_level(void **state) {
        struct fixture *f = *state;

        hn_log_say(&f->log, LOG_DEBUG, "hidden");
        hn_log_say(&f->log, LOG_INFO, "one");
        assert_int_equal(hn_log_error_errno(&f->log, -EACCES, "cannot read %s", "x"), -EACCES);
        assert_int_equal(hn_log_warning_errno(&f->log, -ENOENT, "no %s", "y"), -ENOENT);
        assert_string_equal(f->text,
                            "one\ncannot read x: Permission denied\nno y: No such file or directory\n");
}

static void the_journal_gets_fields(void **state) {
        static const struct hn_log_figure figures[] = { { "LOCAL_PERMILLE", 42 },
                                                        { "FAULTS", 1234567890123 },
                                                        { NULL, 0 } };
        struct fixture *f = *state;
        struct hn_log_facts facts = HN_LOG_FACTS_NULL;

        f->log.send = catch_entry;
        facts.tid = 4711;
        facts.tgid = 4700;
        facts.comm = "exactly_16_bytes+"; /* one more than the kernel holds: never looked at */
        facts.from = 0;
        facts.to = 255;
        facts.reason = "remote-faults";
        facts.scope = "/a\nPRIORITY=0";
        facts.rule = "web";
        facts.figures = figures;
        hn_log_event(&f->log, HN_EVENT_TASK_PINNED, LOG_NOTICE, &facts, "held on node %d", 255);
        assert_string_equal(journal,
                            "MESSAGE=held on node 255\nPRIORITY=5\n"
                            "MESSAGE_ID=66b53026651b485190c9e525d8ef2ffa\nHN_EVENT=task-pinned\nHN_TID=4711\n"
                            "HN_TGID=4700\nHN_COMM=exactly_16_bytes\nHN_FROM=0\nHN_TO=255\n"
                            "HN_REASON=remote-faults\nHN_SCOPE=/a\\x0aPRIORITY=0\nHN_RULE=web\n"
                            "HN_LOCAL_PERMILLE=42\nHN_FAULTS=1234567890123\n");

        /* what is not set is not sent */
        facts = HN_LOG_FACTS_NULL;
        hn_log_event(&f->log, HN_EVENT_STOPPING, LOG_INFO, &facts, "bye");
        assert_string_equal(journal, "MESSAGE=bye\nPRIORITY=6\nMESSAGE_ID=5cd9baad2d1149ca8613e4d1d4da72bd\n"
                                     "HN_EVENT=stopping\n");

        hn_log_config_warning(&f->log, "/etc/x.conf", 3, "bad");
        assert_string_equal(journal, "MESSAGE=/etc/x.conf:3: bad\nPRIORITY=4\n"
                                     "MESSAGE_ID=204969c8ffa641d991a2a9621158781c\nHN_EVENT=config-warning\n"
                                     "CONFIG_FILE=/etc/x.conf\nCONFIG_LINE=3\n");
        assert_int_equal(f->n, 0);

        /* a journal that is gone: the line is not lost */
        journal_answer = -ENOENT;
        hn_log_config_warning(&f->log, "/etc/x.conf", 0, "unreadable");
        assert_string_equal(f->text, "/etc/x.conf: unreadable\n");
        journal_answer = 0;
}

static void a_huge_field_leaves_the_rest_whole(void **state) {
        struct fixture *f = *state;
        struct hn_log_facts facts = HN_LOG_FACTS_NULL;
        char scope[8192];

        f->log.send = catch_entry;
        memset(scope, '\n', sizeof(scope) - 1);
        scope[sizeof(scope) - 1] = '\0';
        facts.tid = 1;
        facts.scope = scope;
        facts.rule = "after";
        hn_log_event(&f->log, HN_EVENT_TASK_REFUSED, LOG_INFO, &facts, "m");
        assert_non_null(strstr(journal, "HN_TID=1\nHN_SCOPE=\\x0a\\x0a"));
        assert_non_null(strstr(journal, "\nHN_RULE=after\n"));
}

static void one_refusing_task_is_one_line(void **state) {
        struct fixture *f = *state;

        /* a tick a second, for 10,000 seconds: the first line, and one summary for each of two full hours */
        for (unsigned i = 0; i < 10000; i++) {
                hn_log_tick(&f->log, (1000 + i) * SEC);
                assert_int_equal(hn_log_event_once(&f->log, "task 7", EPERM, HN_EVENT_TASK_REFUSED, LOG_INFO,
                                                   NULL, "task 7 was refused"),
                                 i == 0);
        }
        assert_string_equal(f->text, "task 7 was refused\n"
                                     "task 7 was refused (3599 more times in the last hour)\n"
                                     "task 7 was refused (3600 more times in the last hour)\n");

        /* over: said once, and forgotten */
        assert_true(hn_log_recovered(&f->log, "task 7", EPERM, "task 7 was taken"));
        assert_false(hn_log_recovered(&f->log, "task 7", EPERM, "task 7 was taken"));
        assert_non_null(strstr(f->text, "task 7 was taken (after 10000 failures)\n"));
        assert_int_equal(lines(f), 4);
        assert_int_equal(f->log.n_once, 0);
}

static void code_and_object_both_count(void **state) {
        struct fixture *f = *state;

        assert_true(hn_log_event_once(&f->log, "a", 1, HN_EVENT_DENIED, LOG_INFO, NULL, "a1"));
        assert_true(hn_log_event_once(&f->log, "a", 2, HN_EVENT_DENIED, LOG_INFO, NULL, "a2"));
        assert_true(hn_log_event_once(&f->log, "b", 1, HN_EVENT_DENIED, LOG_INFO, NULL, "b1"));
        assert_false(hn_log_event_once(&f->log, "a", 2, HN_EVENT_DENIED, LOG_INFO, NULL, "a2"));
        hn_log_forget(&f->log, "a");
        assert_int_equal(f->log.n_once, 1);
        assert_true(hn_log_event_once(&f->log, "a", 2, HN_EVENT_DENIED, LOG_INFO, NULL, "a2"));
        assert_false(hn_log_event_once(&f->log, "b", 1, HN_EVENT_DENIED, LOG_INFO, NULL, "b1"));
}

static void the_table_is_bounded_and_keeps_the_loud(void **state) {
        struct fixture *f = *state;
        char object[32];

        assert_true(hn_log_event_once(&f->log, "loud", 1, HN_EVENT_DENIED, LOG_INFO, NULL, "x"));
        for (unsigned i = 0; i < 3 * HN_LOG_ONCE_MAX; i++) {
                hn_log_tick(&f->log, 1000 * SEC + i * 1000);
                (void) snprintf(object, sizeof(object), "task %u", i);
                assert_true(hn_log_event_once(&f->log, object, 1, HN_EVENT_DENIED, LOG_INFO, NULL, "x"));
                assert_false(hn_log_event_once(&f->log, "loud", 1, HN_EVENT_DENIED, LOG_INFO, NULL, "x"));
        }
        assert_int_equal(f->log.n_once, HN_LOG_ONCE_MAX);
}

static void a_storm_has_a_ceiling(void **state) {
        struct fixture *f = *state;

        for (unsigned i = 0; i < 5000; i++)
                hn_log_say(&f->log, LOG_INFO, "storm");
        assert_int_equal(lines(f), HN_LOG_BURST - HN_LOG_RESERVE);
        /* what matters still comes through */
        for (unsigned i = 0; i < 5000; i++)
                hn_log_say(&f->log, LOG_WARNING, "warning");
        assert_int_equal(lines(f), HN_LOG_BURST);

        /* no refill without time, and one word about it when it is over */
        hn_log_tick(&f->log, 1000 * SEC);
        hn_log_say(&f->log, LOG_ERR, "error");
        assert_int_equal(lines(f), HN_LOG_BURST);
        for (unsigned i = 1; i <= 60; i++)
                hn_log_tick(&f->log, (1000 + i) * SEC);
        assert_int_equal(lines(f), HN_LOG_BURST + 1);
        assert_non_null(strstr(f->text, "\n9001 messages were left out: more came than 20 a second\n"));
}

static void time_going_back_does_not_open_the_gate(void **state) {
        struct fixture *f = *state;

        for (unsigned i = 0; i < 2 * HN_LOG_BURST; i++)
                hn_log_say(&f->log, LOG_ERR, "x");
        hn_log_tick(&f->log, SEC);
        hn_log_say(&f->log, LOG_ERR, "x");
        assert_int_equal(lines(f), HN_LOG_BURST);
}

static void the_journal_is_known_by_its_inode(void **state) {
        struct hn_log log;
        char name[64];
        struct stat st;
        FILE *stream = tmpfile();

        (void) state;
        assert_non_null(stream);
        assert_int_equal(fstat(fileno(stream), &st), 0);
        (void) snprintf(name, sizeof(name), "%" PRIu64 ":%" PRIu64, (uint64_t) st.st_dev,
                        (uint64_t) st.st_ino);
        assert_int_equal(setenv("JOURNAL_STREAM", name, 1), 0);
        hn_log_init(&log, stream);
        assert_non_null(log.send);

        static const char *const others[] = {
                "", ":", "1", "1:", ":1", "1:1", "x:y", "18446744073709551616:1"
        };
        for (size_t i = 0; i < HN_ELEMENTS(others); i++) {
                assert_int_equal(setenv("JOURNAL_STREAM", others[i], 1), 0);
                hn_log_init(&log, stream);
                assert_null(log.send);
        }
        assert_int_equal(unsetenv("JOURNAL_STREAM"), 0);
        hn_log_init(&log, stream);
        assert_null(log.send);
        (void) fclose(stream);
}

/* journalctl -x finds a text for each kind of event, by its id. */
static void the_catalog_knows_every_event(void **state) {
        char text[16384], want[64];
        FILE *file = fopen(HN_SRCDIR "/conf/homenode.catalog", "re");
        size_t n, entries = 0;

        (void) state;
        assert_non_null(file);
        n = fread(text, 1, sizeof(text) - 1, file);
        (void) fclose(file);
        assert_true(n < sizeof(text) - 1);
        text[n] = '\0';
        for (enum hn_event e = 0; e < _HN_EVENT_MAX; e++) {
                assert_int_equal(strlen(hn_event_to_message_id(e)), 32);
                (void) snprintf(want, sizeof(want), "\n-- %s\nSubject: ", hn_event_to_message_id(e));
                assert_non_null(strstr(text, want));
                for (enum hn_event o = 0; o < e; o++) {
                        assert_string_not_equal(hn_event_to_message_id(e), hn_event_to_message_id(o));
                        assert_string_not_equal(hn_event_to_string(e), hn_event_to_string(o));
                }
        }
        for (const char *p = text; (p = strstr(p, "\n-- ")); p++)
                entries++;
        assert_int_equal(entries, _HN_EVENT_MAX);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test_setup_teardown(names_cannot_forge_lines, setup, teardown),
                cmocka_unit_test_setup_teardown(plain_lines_have_no_prefix_and_a_level, setup, teardown),
                cmocka_unit_test_setup_teardown(the_journal_gets_fields, setup, teardown),
                cmocka_unit_test_setup_teardown(a_huge_field_leaves_the_rest_whole, setup, teardown),
                cmocka_unit_test_setup_teardown(one_refusing_task_is_one_line, setup, teardown),
                cmocka_unit_test_setup_teardown(code_and_object_both_count, setup, teardown),
                cmocka_unit_test_setup_teardown(the_table_is_bounded_and_keeps_the_loud, setup, teardown),
                cmocka_unit_test_setup_teardown(a_storm_has_a_ceiling, setup, teardown),
                cmocka_unit_test_setup_teardown(time_going_back_does_not_open_the_gate, setup, teardown),
                cmocka_unit_test(the_journal_is_known_by_its_inode),
                cmocka_unit_test(the_catalog_knows_every_event),
        };

        /* Where the tests run under systemd themselves. */
        (void) unsetenv("JOURNAL_STREAM");
        return cmocka_run_group_tests(tests, NULL, NULL);
}
