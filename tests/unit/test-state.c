/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/state.h"

static json_t *parse(const struct hn_state *s) {
        json_error_t error;
        json_t *o;
        char *text;
        size_t n;

        assert_int_equal(hn_state_format(s, &text, &n), 0);
        assert_int_equal(text[n - 1], '\n');
        assert_null(memchr(text, '\n', n - 1));
        o = json_loadb(text, n, JSON_REJECT_DUPLICATES, &error);
        assert_non_null(o);
        free(text);
        return o;
}

static void an_empty_state_is_whole(void **state) {
        static const char *const keys[] = {
                "version",       "pid",         "running",   "mode",          "nodes",  "kernel_balancing",
                "tick",          "signal",      "time_usec", "interval_usec", "moves",  "moves_helped",
                "moves_in_vain", "pages_moved", "restored",  "refusals",      "scopes", "last",
                "notes",         "budget",      "overrides", "load",
        };
        struct hn_state s = HN_STATE_NULL;
        json_t *o = parse(&s);

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(keys); i++)
                assert_non_null(json_object_get(o, keys[i]));
        assert_int_equal(json_object_size(o), HN_ELEMENTS(keys));
        assert_string_equal(json_string_value(json_object_get(o, "mode")), "observe");
        assert_string_equal(json_string_value(json_object_get(o, "signal")), "none");
        json_decref(o);
}

static void figures_come_out_as_numbers(void **state) {
        static const struct hn_state_scope scopes[] = {
                { "/system.slice/web-1.service", "web", NULL, HN_MODE_MANAGE, 8, 6, HN_SIGNAL_FAULTS, NULL, 0,
                  0 },
                { "/a\nb\xff\"\\", "*", NULL, HN_MODE_ADVISE, 1, 0, HN_SIGNAL_RESIDENCY,
                  "threads cannot be told apart", 0, 0 },
        };
        static const struct hn_state_node load[] = { { 0, 1500, 200, 1300 }, { 8, UINT32_MAX, 0, 4000 } };
        struct hn_state s = {
                .pid = 77,
                .running = true,
                .mode = HN_MODE_MANAGE,
                .n_nodes = 4,
                .kernel_balancing = 3,
                .tick = 9,
                .signal = HN_SIGNAL_FAULTS,
                .time_usec = UINT64_C(1796000000123456),
                .interval = 1000000,
                .moves = 5,
                .helped = 3,
                .in_vain = 1,
                .pages_moved = 6,
                .restored = 7,
                .sweep_us = 812,
                .cpu_permille = 3,
                .scopes = scopes,
                .n_scopes = 2,
                .load = load,
                .n_load = 2,
        };
        json_t *o, *e;

        (void) state;
        hn_state_refusal_add(&s, "user-mask");
        hn_state_refusal_add(&s, "no-room");
        hn_state_refusal_add(&s, "user-mask");
        hn_state_note_add(&s, "one");
        hn_state_note_add(&s, "two\n");
        hn_state_note_add(&s, "one");
        o = parse(&s);
        assert_int_equal(json_integer_value(json_object_get(o, "version")), 1);
        assert_int_equal(json_integer_value(json_object_get(o, "pid")), 77);
        assert_true(json_is_true(json_object_get(o, "running")));
        assert_int_equal(json_integer_value(json_object_get(o, "nodes")), 4);
        assert_int_equal(json_integer_value(json_object_get(o, "kernel_balancing")), 3);
        assert_int_equal(json_integer_value(json_object_get(o, "time_usec")), INT64_C(1796000000123456));
        assert_int_equal(json_integer_value(json_object_get(o, "moves")), 5);
        assert_int_equal(json_integer_value(json_object_get(o, "moves_helped")), 3);
        assert_int_equal(json_integer_value(json_object_get(o, "moves_in_vain")), 1);
        assert_int_equal(json_integer_value(json_object_get(o, "pages_moved")), 6);
        assert_int_equal(json_integer_value(json_object_get(o, "restored")), 7);
        e = json_object_get(o, "refusals");
        assert_int_equal(json_integer_value(json_object_get(e, "user-mask")), 2);
        assert_int_equal(json_integer_value(json_object_get(e, "no-room")), 1);
        e = json_object_get(o, "budget");
        assert_int_equal(json_integer_value(json_object_get(e, "sweep_us")), 812);
        assert_int_equal(json_integer_value(json_object_get(e, "cpu_permille")), 3);
        e = json_object_get(o, "notes");
        assert_int_equal(json_array_size(e), 2);
        assert_string_equal(json_string_value(json_array_get(e, 1)), "two\\x0a");
        assert_int_equal(json_array_size(json_object_get(o, "load")), 2);
        e = json_array_get(json_object_get(o, "load"), 0);
        assert_int_equal(json_integer_value(json_object_get(e, "others")), 200);
        assert_int_equal(json_integer_value(json_object_get(e, "opted_in")), 1300);
        e = json_array_get(json_object_get(o, "load"), 1);
        assert_int_equal(json_integer_value(json_object_get(e, "node")), 8);
        assert_int_equal(json_integer_value(json_object_get(e, "busy")), UINT32_MAX);
        e = json_array_get(json_object_get(o, "scopes"), 0);
        assert_string_equal(json_string_value(json_object_get(e, "path")), "/system.slice/web-1.service");
        assert_string_equal(json_string_value(json_object_get(e, "rule")), "web");
        assert_string_equal(json_string_value(json_object_get(e, "mode")), "manage");
        assert_int_equal(json_integer_value(json_object_get(e, "tasks")), 8);
        assert_int_equal(json_integer_value(json_object_get(e, "managed")), 6);
        assert_string_equal(json_string_value(json_object_get(e, "signal")), "faults");
        assert_string_equal(json_string_value(json_object_get(e, "note")), "");
        e = json_array_get(json_object_get(o, "scopes"), 1);
        assert_string_equal(json_string_value(json_object_get(e, "path")), "/a\\x0ab\\xff\"\\");
        assert_string_equal(json_string_value(json_object_get(e, "note")), "threads cannot be told apart");
        json_decref(o);
}

static void the_ring_keeps_the_last(void **state) {
        struct hn_state s = HN_STATE_NULL;
        char text[32];
        json_t *o, *last, *e;

        (void) state;
        for (unsigned i = 0; i < HN_STATE_LAST + 3; i++) {
                (void) snprintf(text, sizeof(text), "event %u", i);
                hn_state_event_add(&s, i, HN_STATE_PIN, (pid_t) i, "x", 0, 1, "remote-faults", text);
        }
        o = parse(&s);
        last = json_object_get(o, "last");
        assert_int_equal(json_array_size(last), HN_STATE_LAST);
        for (unsigned i = 0; i < HN_STATE_LAST; i++) {
                e = json_array_get(last, i);
                (void) snprintf(text, sizeof(text), "event %u", i + 3);
                assert_string_equal(json_string_value(json_object_get(e, "text")), text);
                assert_int_equal(json_integer_value(json_object_get(e, "time_usec")), i + 3);
        }
        json_decref(o);
}

static void names_are_only_names(void **state) {
        static const struct {
                enum hn_state_act act;
                const char *comm, *name, *word;
        } rows[] = {
                { HN_STATE_PIN, "a\",\"tid\":0,\"", "a\",\"tid\":0,\"", "pin" },
                { HN_STATE_RELEASE, "\xff\xfe) S 1\n(b", "\\xff\\xfe) S 1\\x0a(b", "release" },
                { HN_STATE_PAGES, "sixteen bytes\xe2\x82\xac more", "sixteen bytes\xe2\x82\xac", "pages" },
                { HN_STATE_REFUSE, "fifteen bytesX\xe2\x82\xac", "fifteen bytesX\\xe2\\x82", "refuse" },
                { HN_STATE_WOULD_PIN, "", "", "would-pin" },
        };
        struct hn_state s = HN_STATE_NULL;
        json_t *o, *e;

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                hn_state_event_add(&s, 1, rows[i].act, 1, rows[i].comm, -1, 3, NULL, "");
        o = parse(&s);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                e = json_array_get(json_object_get(o, "last"), i);
                assert_string_equal(json_string_value(json_object_get(e, "comm")), rows[i].name);
                assert_string_equal(json_string_value(json_object_get(e, "act")), rows[i].word);
                assert_int_equal(json_integer_value(json_object_get(e, "from")), -1);
                assert_int_equal(json_integer_value(json_object_get(e, "to")), 3);
                assert_true(json_is_null(json_object_get(e, "reason")));
        }
        json_decref(o);
}

static void what_is_too_much_is_bounded(void **state) {
        static char reasons[2 * HN_STATE_REFUSALS][8];
        struct hn_state s = HN_STATE_NULL;
        char text[2 * HN_STATE_TEXT];
        json_t *o;

        (void) state;
        memset(text, '\n', sizeof(text) - 1);
        text[sizeof(text) - 1] = '\0';
        hn_state_event_add(&s, 1, HN_STATE_PIN, 1, "x", 0, 1, "r", text);
        for (unsigned i = 0; i < 2 * HN_STATE_REFUSALS; i++) {
                (void) snprintf(reasons[i], sizeof(reasons[i]), "r%u", i);
                hn_state_refusal_add(&s, reasons[i]);
                (void) snprintf(text, sizeof(text), "note %u", i);
                hn_state_note_add(&s, text);
        }
        o = parse(&s);
        assert_int_equal(json_object_size(json_object_get(o, "refusals")), HN_STATE_REFUSALS);
        assert_int_equal(json_integer_value(json_object_get(json_object_get(o, "refusals"), "other")),
                         HN_STATE_REFUSALS + 1);
        assert_int_equal(json_array_size(json_object_get(o, "notes")), HN_STATE_NOTES);
        json_decref(o);
        hn_state_notes_clear(&s);
        assert_int_equal(s.n_notes, 0);
}

static void a_write_is_whole_or_not_at_all(void **state) {
        struct hn_state s = { .pid = 1 };
        char dir[] = "/tmp/test-state-XXXXXX", path[64];
        json_error_t error;
        struct stat st;
        json_t *o;
        int fd;

        (void) state;
        assert_non_null(mkdtemp(dir));
        (void) snprintf(path, sizeof(path), "%s/state.json", dir);
        (void) umask(077);
        assert_int_equal(hn_state_write(dir, &s), 0);

        /* Who has the old one open goes on to read it whole. */
        fd = open(path, O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        s.pid = 2;
        assert_int_equal(hn_state_write(dir, &s), 0);
        o = json_loadfd(fd, 0, &error);
        assert_int_equal(json_integer_value(json_object_get(o, "pid")), 1);
        json_decref(o);
        (void) close(fd);
        o = json_load_file(path, 0, &error);
        assert_int_equal(json_integer_value(json_object_get(o, "pid")), 2);
        json_decref(o);
        assert_int_equal(stat(path, &st), 0);
        assert_int_equal(st.st_mode & 07777, 0644);

        /* In the way: a folder. Nothing is left behind. */
        assert_int_equal(unlink(path), 0);
        assert_int_equal(mkdir(path, 0755), 0);
        assert_int_equal(hn_state_write(dir, &s), -EISDIR);
        assert_int_equal(rmdir(path), 0);
        assert_int_equal(rmdir(dir), 0);
        assert_int_equal(hn_state_write(dir, &s), -ENOENT);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(an_empty_state_is_whole),
                cmocka_unit_test(figures_come_out_as_numbers),
                cmocka_unit_test(the_ring_keeps_the_last),
                cmocka_unit_test(names_are_only_names),
                cmocka_unit_test(what_is_too_much_is_bounded),
                cmocka_unit_test(a_write_is_whole_or_not_at_all),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
