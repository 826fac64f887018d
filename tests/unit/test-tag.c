/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "act/heirs.h"
#include "act/tag.h"
#include "base/macro.h"
#include "rows.h"

static void tags(void **state) {
        static const struct {
                const char *text;
                uint64_t id; /* 0: it is none */
        } rows[] = {
                { "", 0 },
                { "override:", 0 },
                { "override:0", 0 },
                { "override: 1", 0 },
                { "override:1 ", 0 },
                { "override:-1", 0 },
                { "override:1/x", 0 },
                { "override:18446744073709551616", 0 },
                { "Override:1", 0 },
                { "/override:1", 0 },
                { "/system.slice/override:1", 0 },
                { "override:1", 1 },
                { "override:4711", 4711 },
                { "override:18446744073709551615", UINT64_MAX },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                char text[HN_TAG_MAX];
                uint64_t id = 0;

                ROW_EQUAL(i, hn_tag_parse(rows[i].text, &id), rows[i].id != 0);
                ROW_EQUAL(i, hn_tag_parse(rows[i].text, NULL), rows[i].id != 0);
                ROW_EQUAL(i, id == rows[i].id, true);
                if (rows[i].id == 0)
                        continue;
                hn_tag_print(rows[i].id, text);
                assert_string_equal(text, rows[i].text);
        }
}

/* Or a stranger of the same cgroup with the same mask would be taken for an heir. */
static void a_tag_is_no_cgroup_of_anybody(void **state) {
        (void) state;
        assert_false(hn_cgroup_covers("override:1", "/"));
        assert_false(hn_cgroup_covers("override:1", "/override:1"));
        assert_false(hn_cgroup_covers("override:1", "/system.slice/a.service"));
        assert_false(hn_cgroup_covers("override:1", "override:17"));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(tags),
                cmocka_unit_test(a_tag_is_no_cgroup_of_anybody),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
