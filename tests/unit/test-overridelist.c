/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/overridelist.h"
#include "rows.h"

#define BOOT  "11111111-2222-3333-4444-555555555555"
#define OTHER "11111111-2222-3333-4444-555555555556"

/* A whole line, and what may be different in it. */
#define REST                                                                                           \
        "\"nodes\":\"0-1\",\"cpus\":\"\",\"pages\":false,\"owner\":1000,\"since\":5,\"expires\":null," \
        "\"why\":\"\",\"born\":7,\"boot\":\"" BOOT "\"}"
#define PROCESS      "{\"id\":3,\"kind\":\"process\",\"pid\":4711,\"start\":99," REST
#define CGROUP(path) "{\"id\":3,\"kind\":\"cgroup\",\"cgroup\":\"" path "\"," REST

static void lines(void **state) {
        static const struct {
                const char *text;
                size_t n, damaged, past;
        } rows[] = {
                { "", 0, 0, 0 },
                { "\n\n", 0, 0, 0 },
                { "x", 0, 1, 0 },
                { "{", 0, 1, 0 },
                { "[]", 0, 1, 0 },
                { "{}", 0, 1, 0 },
                { "null\n17\n\"a\"\n", 0, 3, 0 },
                { "{\"boot\":\"" BOOT "\"}", 0, 1, 0 },
                { "{\"boot\":\"" OTHER "\"}", 0, 0, 1 },
                { "{\"boot\":17,\"id\":3}", 0, 1, 0 },
                { "\xff\xfe\x80", 0, 1, 0 },
                { "{\"why\":\"\xff\"}", 0, 1, 0 },
                { PROCESS, 1, 0, 0 },
                { PROCESS " x", 0, 1, 0 },
                { PROCESS "\n" PROCESS, 1, 0, 0 }, /* the later one counts */
                { "junk\n" PROCESS "\n{\"id\":\n", 1, 2, 0 },
                { "{\"id\":0,\"kind\":\"process\",\"pid\":1,\"start\":9," REST, 0, 1, 0 },
                { "{\"id\":-3,\"kind\":\"process\",\"pid\":1,\"start\":9," REST, 0, 1, 0 },
                { "{\"id\":\"3\",\"kind\":\"process\",\"pid\":1,\"start\":9," REST, 0, 1, 0 },
                { "{\"id\":3.5,\"kind\":\"process\",\"pid\":1,\"start\":9," REST, 0, 1, 0 },
                { "{\"id\":9223372036854775807,\"kind\":\"process\",\"pid\":1,\"start\":9," REST, 0, 1, 0 },
                { "{\"id\":3,\"id\":4,\"kind\":\"process\",\"pid\":1,\"start\":9," REST, 0, 1, 0 },
                { "{\"id\":3,\"kind\":\"unit\",\"pid\":1,\"start\":9," REST, 0, 1, 0 },
                { "{\"id\":3,\"kind\":7,\"pid\":1,\"start\":9," REST, 0, 1, 0 },
                { "{\"id\":3,\"pid\":1,\"start\":9," REST, 0, 1, 0 },
                { "{\"id\":3,\"kind\":\"thread\",\"pid\":0,\"start\":9," REST, 0, 1, 0 },
                { "{\"id\":3,\"kind\":\"thread\",\"pid\":-1,\"start\":9," REST, 0, 1, 0 },
                { "{\"id\":3,\"kind\":\"thread\",\"pid\":4294967297,\"start\":9," REST, 0, 1, 0 },
                { "{\"id\":3,\"kind\":\"thread\",\"pid\":1,\"start\":-9," REST, 0, 1, 0 },
                { "{\"id\":3,\"kind\":\"thread\",\"pid\":1," REST, 0, 1, 0 },
                { "{\"id\":3,\"kind\":\"cgroup\",\"pid\":1,\"start\":9," REST, 0, 1, 0 },
                { CGROUP("a.slice/b.service"), 1, 0, 0 },
                { CGROUP(""), 0, 1, 0 },
                { CGROUP("/a"), 0, 1, 0 },
                { CGROUP("../../etc"), 0, 1, 0 },
                { CGROUP("a\\u0000b"), 0, 1, 0 },
                { "{\"next\":9,\"boot\":\"" BOOT "\"}", 0, 0, 0 },
                { "{\"next\":0,\"boot\":\"" BOOT "\"}", 0, 1, 0 },
                { PROCESS "\n{\"over\":3,\"boot\":\"" BOOT "\"}", 0, 0, 1 },
                { PROCESS "\n{\"over\":4,\"boot\":\"" BOOT "\"}", 1, 0, 1 },
                { PROCESS "\n{\"over\":3,\"boot\":\"" OTHER "\"}", 1, 0, 1 },
                { PROCESS "\n{\"over\":3}", 1, 1, 0 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_override_list l = HN_OVERRIDE_LIST_NULL;
                size_t damaged, past;

                ROW_EQUAL(i,
                          hn_override_list_replay(&l, rows[i].text, strlen(rows[i].text), BOOT, &damaged,
                                                  &past),
                          0);
                ROW_EQUAL(i, l.n, rows[i].n);
                ROW_EQUAL(i, damaged, rows[i].damaged);
                ROW_EQUAL(i, past, rows[i].past);
                hn_override_list_deinit(&l);
        }
}

/* One member of a good line at a time. */
static void members(void **state) {
        static const struct {
                const char *member, *value;
        } rows[] = {
                { "nodes", "\"\"" },        { "nodes", "\"x\"" },
                { "nodes", "\"3-1\"" },     { "nodes", "\"99999\"" },
                { "nodes", "[0]" },         { "nodes", "null" },
                { "cpus", "null" },         { "cpus", "\"0--1\"" },
                { "pages", "0" },           { "pages", "\"yes\"" },
                { "owner", "-1" },          { "owner", "4294967295" },
                { "owner", "\"root\"" },    { "since", "-1" },
                { "since", "null" },        { "expires", "-1" },
                { "expires", "\"never\"" }, { "expires", "1e30" },
                { "why", "null" },          { "why", "7" },
                { "born", "-1" },           { "born", "true" },
                { "boot", "null" },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_override_list l = HN_OVERRIDE_LIST_NULL;
                json_t *good = json_loads(PROCESS, 0, NULL),
                       *value = json_loads(rows[i].value, JSON_DECODE_ANY, NULL);
                size_t damaged, past;
                char *text;

                assert_true(good && value);
                ROW_EQUAL(i, json_object_get(good, rows[i].member) != NULL, true);
                assert_int_equal(json_object_set_new(good, rows[i].member, value), 0);
                text = json_dumps(good, JSON_COMPACT);
                assert_int_equal(hn_override_list_replay(&l, text, strlen(text), BOOT, &damaged, &past), 0);
                ROW_EQUAL(i, l.n, 0);
                ROW_EQUAL(i, damaged, 1);
                free(text);
                json_decref(good);
                hn_override_list_deinit(&l);
        }
}

static void what_was_printed_is_read(void **state) {
        static const struct hn_override overrides[] = {
                { .id = 1, .kind = HN_OVERRIDE_PROCESS, .pid = 1, .expires = UINT64_MAX, .why = (char *) "" },
                { .id = 2,
                  .kind = HN_OVERRIDE_THREAD,
                  .pid = INT32_MAX,
                  .start_time = INT64_MAX,
                  .pages = true,
                  .owner = UINT32_MAX - 1,
                  .since = INT64_MAX,
                  .expires = INT64_MAX,
                  .why = (char *) "a \"b\"\n\\\x01" },
                { .id = INT64_MAX - 1,
                  .kind = HN_OVERRIDE_CGROUP,
                  .cgroup = (char *) "a/b\\x2d*?[",
                  .expires = 1,
                  .why = (char *) "\xc3\xa9" },
        };
        struct hn_override_list l = HN_OVERRIDE_LIST_NULL, again = HN_OVERRIDE_LIST_NULL;

        (void) state;
        for (size_t i = HN_ELEMENTS(overrides); i-- > 0;) {
                struct hn_override o = overrides[i];

                hn_mask_add_range(&o.nodes, 0, 1);
                hn_mask_add(&o.nodes, 8191);
                hn_mask_add(&o.cpus, (unsigned) i);
                assert_int_equal(hn_override_list_put(&l, &o, 1000 + i), 0);
        }
        for (size_t i = 0; i < l.n; i++) {
                size_t damaged, past;
                char *line;

                ROW_EQUAL(i, l.entries[i].o.id, overrides[i].id);
                assert_int_equal(hn_override_line(&l.entries[i], BOOT, &line), 0);
                assert_null(strchr(line, '\n'));
                assert_int_equal(hn_override_list_replay(&again, line, strlen(line), BOOT, &damaged, &past),
                                 0);
                ROW_EQUAL(i, damaged + past, 0);
                free(line);
        }
        assert_int_equal(again.n, HN_ELEMENTS(overrides));
        assert_int_equal(again.next_id, INT64_MAX);
        for (size_t i = 0; i < again.n; i++) {
                const struct hn_override *a = &l.entries[i].o, *b = &again.entries[i].o;

                ROW_EQUAL(i, a->id, b->id);
                ROW_EQUAL(i, a->kind, b->kind);
                ROW_EQUAL(i, a->pid, b->pid);
                ROW_EQUAL(i, a->start_time, b->start_time);
                ROW_EQUAL(i, a->pages, b->pages);
                ROW_EQUAL(i, a->owner, b->owner);
                ROW_EQUAL(i, a->since, b->since);
                ROW_EQUAL(i, a->expires == b->expires, true);
                ROW_EQUAL(i, hn_mask_equal(&a->nodes, &b->nodes) && hn_mask_equal(&a->cpus, &b->cpus), true);
                assert_string_equal(a->why, b->why);
                assert_string_equal(a->cgroup ? a->cgroup : "", b->cgroup ? b->cgroup : "");
                ROW_EQUAL(i, again.entries[i].born, 1000 + i);
                ROW_EQUAL(i, again.entries[i].kin.n, a->kind == HN_OVERRIDE_PROCESS);
        }
        hn_override_list_deinit(&l);
        hn_override_list_deinit(&again);
}

static void no_more_than_a_person_can_read(void **state) {
        struct hn_override_list l = HN_OVERRIDE_LIST_NULL;
        struct hn_override o = { .kind = HN_OVERRIDE_THREAD, .pid = 7, .why = (char *) "" };

        (void) state;
        for (unsigned i = 0; i < HN_OVERRIDES_MAX; i++) {
                o.id = HN_OVERRIDES_MAX - i;
                assert_int_equal(hn_override_list_put(&l, &o, 0), 0);
        }
        o.id = HN_OVERRIDES_MAX + 1;
        assert_int_equal(hn_override_list_put(&l, &o, 0), -ENOSPC);
        o.id = 5; /* it takes the place of the one that is there */
        o.pid = 8;
        assert_int_equal(hn_override_list_put(&l, &o, 0), 0);
        assert_int_equal(l.n, HN_OVERRIDES_MAX);
        assert_int_equal(l.entries[hn_override_list_find(&l, 5)].o.pid, 8);
        hn_override_list_drop(&l, 0);
        assert_int_equal(l.entries[0].o.id, 2);
        assert_true(hn_override_list_find(&l, 1) == SIZE_MAX);
        hn_override_list_deinit(&l);
}

static void paths(void **state) {
        static const struct {
                const char *path;
                bool sound;
        } rows[] = {
                { "", false },      { "/", false },     { "/a", false },    { "a/", false },
                { "a//b", false },  { ".", false },     { "..", false },    { "a/..", false },
                { "a/./b", false }, { "../a", false },  { "a", true },      { "a/b", true },
                { "...", true },    { ".a/..b", true }, { "a b/\n", true }, { "\xff", true },
        };
        char longest[PATH_MAX + 1];

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_override_is_path(rows[i].path), rows[i].sound);
        memset(longest, 'a', sizeof(longest));
        longest[PATH_MAX - 1] = '\0';
        assert_true(hn_override_is_path(longest));
        longest[PATH_MAX - 1] = 'a';
        longest[PATH_MAX] = '\0';
        assert_false(hn_override_is_path(longest));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(lines),
                cmocka_unit_test(members),
                cmocka_unit_test(what_was_printed_is_read),
                cmocka_unit_test(no_more_than_a_person_can_read),
                cmocka_unit_test(paths),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
