/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "rows.h"
#include "sample/cgroupglob.h"

static const struct {
        const char *pattern, *name;
        bool match;
} globs[] = {
        { "web-*.service", "web-1.service", true },
        { "web-*.service", "web-.service", true },
        { "web-*.service", "web.service", false },
        { "web-*.service", "web-1.servicex", false },
        { "*", "", true },
        { "", "", true },
        { "", "x", false },
        { "?", "", false },
        { "?", "x", true },
        { "a?c", "abc", true },
        { "[a-c]x", "bx", true },
        { "[a-c]x", "dx", false },
        { "[!a-c]x", "dx", true },
        { "[!a-c]x", "bx", false },
        { "[^a]", "b", true },
        { "[]]", "]", true },
        { "[a-]", "-", true },
        { "[a", "[a", true }, /* never closed: itself */
        { "x[", "x[", true },
        { "[", "a", false },
        { "[]", "[]", true },
        { "[\xc0-\xff]*", "\xe2\x82\xac", true },
        { "a\\x2db.service", "a\\x2db.service", true }, /* backslashes are part of unit names */
        { "a\\*", "a\\b", true },
        { "**a**", "bab", true },
        { "*a*b", "aab", true },
        { "*a*b", "aba", false },
        { "user@*.service", "user@1000.service", true },
        { ".*", ".hidden", true },
        { "*", ".hidden", true },
};

static void components_match(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(globs); i++)
                assert_int_equal(hn_glob_match(globs[i].pattern, strlen(globs[i].pattern), globs[i].name,
                                               strlen(globs[i].name)),
                                 globs[i].match);
}

/* The pattern that makes naive matchers take for ever. */
static void no_name_takes_for_ever(void **state) {
        char pattern[201], name[4096];

        (void) state;
        for (size_t i = 0; i < 200; i++)
                pattern[i] = i % 2 ? 'a' : '*';
        pattern[200] = 'b';
        memset(name, 'a', sizeof(name));
        assert_false(hn_glob_match(pattern, sizeof(pattern), name, sizeof(name)));
        assert_true(hn_glob_match(pattern, 200, name, sizeof(name)));
}

static const struct {
        const char *path;
        size_t first;
} paths[] = {
        { "/system.slice/web-1.service", 0 },
        { "/system.slice/web-1.service/worker", 0 }, /* and everything below */
        { "/system.slice/db.service", 1 },
        { "/system.slice/db.service/web-1.service", 1 },
        { "/system.slice", 4 },
        { "/system.slice/other.service", 4 },
        { "/user.slice/user-7.slice/a.scope", 2 },
        { "/user.slice/user-7.slice", 4 },
        { "/x/user.slice/user-7.slice/a.scope", 4 },
        { "/deep/down", 3 },
        { "deep/down/", 3 },
        { "/", 4 },
        { "", 4 },
};

static void the_first_of_the_patterns_that_cover_a_path(void **state) {
        static const char *const patterns[] = { "system.slice/web-*.service", "/system.slice/d*",
                                                "user.slice/*/*", "//deep//down//" };
        static const char *const all[] = { "nothing", "*" }, *const root[] = { "/" }, *const empty[] = { "" };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(paths); i++) {
                assert_int_equal(hn_glob_first(patterns, HN_ELEMENTS(patterns), paths[i].path),
                                 paths[i].first);
                assert_int_equal(hn_glob_first(all, 2, paths[i].path), 1);
                assert_int_equal(hn_glob_first(root, 1, paths[i].path), 0);
                assert_int_equal(hn_glob_first(empty, 1, paths[i].path), 0);
                assert_int_equal(hn_glob_first(NULL, 0, paths[i].path), 0);
        }
}

/* Whatever a cgroup is called, its quoted path covers it and what is below, and nothing beside it. */
static void quoted_paths_are_meant_literally(void **state) {
        static const struct {
                const char *path, *quoted, *beside;
        } rows[] = {
                { "", "", NULL },
                { "a.slice/b-1.service", "a.slice/b-1.service", "/a.slice/b-2.service" },
                { "*", "[*]", "/a" },
                { "a*", "a[*]", "/ab" },
                { "a?/b", "a[?]/b", "/ab/b" },
                { "a[b]", "a[[]b]", "/ab" },
                { "[!a]", "[[]!a]", "/b" },
                { "]", "]", "/[" },
                { "a\\x2db", "a\\x2db", "/a-b" },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                char *quoted = hn_glob_quote(rows[i].path), path[64];
                const char *patterns[] = { quoted };

                assert_string_equal(quoted, rows[i].quoted);
                (void) snprintf(path, sizeof(path), "/%s", rows[i].path);
                ROW_EQUAL(i, hn_glob_first(patterns, 1, path), 0);
                (void) snprintf(path, sizeof(path), "/%s/below", rows[i].path);
                ROW_EQUAL(i, hn_glob_first(patterns, 1, path), 0);
                if (rows[i].beside)
                        ROW_EQUAL(i, hn_glob_first(patterns, 1, rows[i].beside), 1);
                free(quoted);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(components_match),
                cmocka_unit_test(no_name_takes_for_ever),
                cmocka_unit_test(quoted_paths_are_meant_literally),
                cmocka_unit_test(the_first_of_the_patterns_that_cover_a_path),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
