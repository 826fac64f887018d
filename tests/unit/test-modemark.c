/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "sampletree.h"

#include <errno.h>
#include <sys/xattr.h>

#include "rows.h"
#include "sample/modemark.h"

#define OFF HN_MODE_LEVEL_OFF

static void values(void **state) {
        static const struct {
                const char *text;
                size_t n; /* 0: all of it */
                int r, level;
        } rows[] = {
                { "", 0, -EINVAL, 9 },
                { " \n", 0, -EINVAL, 9 },
                { "Manage", 0, -EINVAL, 9 },
                { "manage!", 0, -EINVAL, 9 },
                { "man\0age", 7, -EINVAL, 9 },
                { "manage", 5, -EINVAL, 9 },
                { "managemanagemanage", 0, -EINVAL, 9 },
                { "2", 0, -EINVAL, 9 },
                { "off", 0, 0, OFF },
                { "observe\n", 0, 0, HN_MODE_OBSERVE },
                { " advise ", 0, 0, HN_MODE_ADVISE },
                { "manage\0", 7, 0, HN_MODE_MANAGE },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                int level = 9;

                ROW_EQUAL(i,
                          hn_mark_parse(rows[i].text, rows[i].n ? rows[i].n : strlen(rows[i].text), &level),
                          rows[i].r);
                ROW_EQUAL(i, level, rows[i].level);
        }
}

static void names_of_trust(void **state) {
        static const char *const bad[] = { "", "No", "own", "rooot" };

        (void) state;
        for (enum hn_mark_trust t = 0; t < _HN_MARKS_MAX; t++)
                assert_int_equal(hn_mark_trust_from_string(hn_mark_trust_to_string(t)), t);
        for (size_t i = 0; i < HN_ELEMENTS(bad); i++)
                ROW_EQUAL(i, hn_mark_trust_from_string(bad[i]), _HN_MARKS_INVALID);
        assert_null(hn_mark_trust_to_string(_HN_MARKS_INVALID));
        assert_null(hn_mark_trust_to_string(_HN_MARKS_MAX));
}

/* What a row of marks, from the root down, makes of each mode of a rule. */
static void marks_add_up(void **state) {
        static const struct {
                struct {
                        int level;
                        bool trusted;
                } marks[3];
                size_t n;
                int want[_HN_MODE_MAX];
        } rows[] = {
                { {}, 0, { HN_MODE_OBSERVE, HN_MODE_ADVISE, HN_MODE_MANAGE } },
                /* nobody raises who is not trusted */
                { { { HN_MODE_MANAGE, false } }, 1, { HN_MODE_OBSERVE, HN_MODE_ADVISE, HN_MODE_MANAGE } },
                { { { OFF, false }, { HN_MODE_MANAGE, false } }, 2, { OFF, OFF, OFF } },
                { { { HN_MODE_ADVISE, false } }, 1, { HN_MODE_OBSERVE, HN_MODE_ADVISE, HN_MODE_ADVISE } },
                { { { OFF, false } }, 1, { OFF, OFF, OFF } },
                /* the closest word of those who are counts */
                { { { HN_MODE_MANAGE, true } }, 1, { HN_MODE_MANAGE, HN_MODE_MANAGE, HN_MODE_MANAGE } },
                { { { OFF, false }, { HN_MODE_ADVISE, true } },
                  2,
                  { HN_MODE_ADVISE, HN_MODE_ADVISE, HN_MODE_ADVISE } },
                { { { HN_MODE_MANAGE, true }, { HN_MODE_OBSERVE, false } },
                  2,
                  { HN_MODE_OBSERVE, HN_MODE_OBSERVE, HN_MODE_OBSERVE } },
                { { { HN_MODE_MANAGE, true }, { OFF, true }, { HN_MODE_MANAGE, false } },
                  3,
                  { OFF, OFF, OFF } },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_mark_bounds b = HN_MARK_BOUNDS_NULL;

                for (size_t k = 0; k < rows[i].n; k++)
                        b = hn_mark_bounds_add(b, rows[i].marks[k].level, rows[i].marks[k].trusted);
                for (enum hn_mode m = 0; m < _HN_MODE_MAX; m++)
                        ROW_EQUAL(i, hn_mark_bounds_apply(b, m), rows[i].want[m]);
        }
}

static void mark(const struct tree *t, const char *folder, const char *value) {
        char path[256];

        (void) snprintf(path, sizeof(path), "%s%s", t->path, folder);
        if (setxattr(path, HN_MARK_XATTR, value, strlen(value), 0) < 0) {
                if (errno == EOPNOTSUPP) {
                        fprintf(stderr, "no extended attributes of users below /tmp\n");
                        exit(77);
                }
                fail_msg("cannot mark %s", path);
        }
}

static void marks_of_folders(void **state) {
        static const char *const paths[] = { "/",       "/a", "/a-b", "/a/b",  "/a/b/c",
                                             "/a/gone", "/d", "/d/e", "/a/b/c" };
        static const struct {
                enum hn_mark_trust trust;
                int want[HN_ELEMENTS(paths)]; /* for a rule that says advise */
        } rows[] = {
                { HN_MARKS_NO, { 1, 1, 1, 1, 1, 1, 1, 1, 1 } },
                { HN_MARKS_LOWER, { 1, 0, 1, 0, OFF, 0, 1, 1, OFF } },
                { HN_MARKS_ALL, { 1, 0, 1, 2, OFF, 0, 1, 2, OFF } },
        };
        struct hn_cgroupfs fs = HN_CGROUPFS_NULL;
        struct hn_mark_bounds nothing;
        struct tree t;

        (void) state;
        tree_make(&t);
        tree_write(&t, "a/b/c/", "");
        tree_write(&t, "a-b/", "");
        tree_write(&t, "d/e/", "");
        mark(&t, "/a", "observe");
        mark(&t, "/a/b", "manage");
        mark(&t, "/a/b/c", "off");
        mark(&t, "/d", "nonsense");
        mark(&t, "/d/e", "manage\n");
        fs.fd = t.root.fd;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_mark_walk walk = HN_MARK_WALK_NULL;

                for (size_t k = 0; k < HN_ELEMENTS(paths); k++) {
                        struct hn_mark_bounds once = hn_mark_read(&fs, paths[k], rows[i].trust, NULL);
                        struct hn_mark_bounds again = hn_mark_read(&fs, paths[k], rows[i].trust, &walk);

                        ROW_EQUAL(i * 100 + k, hn_mark_bounds_apply(once, HN_MODE_ADVISE), rows[i].want[k]);
                        ROW_EQUAL(i * 100 + k, again.low, once.low);
                        ROW_EQUAL(i * 100 + k, again.high, once.high);
                }
        }
        /* nowhere to look, and no path */
        nothing = hn_mark_read(&(struct hn_cgroupfs){ .fd = -1 }, "/a", HN_MARKS_ALL, NULL);
        assert_int_equal(nothing.high, HN_MODE_MANAGE);
        nothing = hn_mark_read(&fs, "", HN_MARKS_ALL, NULL);
        assert_int_equal(nothing.high, HN_MODE_MANAGE);
        tree_destroy(&t);
}

/* Who may write to a folder speaks for it. */
static void roots_own_folders(void **state) {
        static const struct {
                mode_t mode;
                uid_t owner;
                int want; /* for a rule that says observe */
        } rows[] = {
                { 0775, 0, HN_MODE_OBSERVE },
                { 0757, 0, HN_MODE_OBSERVE },
                { 0755, 1000, HN_MODE_OBSERVE },
                { 0755, 0, HN_MODE_MANAGE },
        };
        struct hn_cgroupfs fs = HN_CGROUPFS_NULL;
        struct tree t;
        char path[128];

        (void) state;
        if (geteuid() != 0)
                skip(); /* folders of two owners take root to make */
        tree_make(&t);
        tree_write(&t, "a/", "");
        mark(&t, "/a", "manage");
        fs.fd = t.root.fd;
        (void) snprintf(path, sizeof(path), "%s/a", t.path);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_mark_bounds b;

                assert_int_equal(chmod(path, rows[i].mode), 0);
                assert_int_equal(chown(path, rows[i].owner, 0), 0);
                b = hn_mark_read(&fs, "/a", HN_MARKS_ROOT, NULL);
                ROW_EQUAL(i, hn_mark_bounds_apply(b, HN_MODE_OBSERVE), rows[i].want);
        }
        tree_destroy(&t);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(values),
                cmocka_unit_test(names_of_trust),
                cmocka_unit_test(marks_add_up),
                cmocka_unit_test(marks_of_folders),
                cmocka_unit_test(roots_own_folders),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
