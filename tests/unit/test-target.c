/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "base/macro.h"
#include "policy/target.h"
#include "rows.h"

static struct hn_mask list(const char *text) {
        struct hn_mask m;

        assert_int_equal(hn_mask_parse_list(text, strlen(text), &m), 0);
        return m;
}

static void target_mask(void **state) {
        static const struct {
                const char *node, *cpuset, *user, *target;
        } rows[] = {
                { "", "0-7", "0-7", "" }, /* memory only */
                { "4-7", "0-7", "", "" },       { "8000-8191", "0-8191", "8191", "8191" },
                { "4-7", "0-7", "0-7", "4-7" }, /* 0xf0 0xff 0xff -> 0xf0 */
                { "4-7", "0-3", "0-7", "" },    /* 0xf0 0x0f 0xff -> 0 */
                { "4-7", "0-5", "2-5", "4-5" }, /* 0xf0 0x3f 0x3c -> 0x30 */
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_mask node = list(rows[i].node), cpuset = list(rows[i].cpuset),
                               user = list(rows[i].user);
                struct hn_mask got = hn_target_mask(&node, &cpuset, &user), want = list(rows[i].target);

                ROW_EQUAL(i, hn_mask_equal(&got, &want), true);
        }
}

static void mask_owner(void **state) {
        static const struct {
                const char *now, *ours, *cpuset, *isolated; /* ours: NULL for never */
                enum hn_owner owner;
        } rows[] = {
                { "0-7", NULL, "0-7", "", HN_OWNER_NOBODY },
                { "0-15", NULL, "0-7", "", HN_OWNER_NOBODY },   /* asked for more than the cpuset has */
                { "0-5", NULL, "0-7", "6-7", HN_OWNER_NOBODY }, /* what init hands out beside isolcpus= */
                { "0-7", NULL, "0-7", "6-7", HN_OWNER_NOBODY },
                { "6-7", NULL, "0-7", "6-7", HN_OWNER_OTHER }, /* sent to isolated CPUs on purpose */
                { "0-6", NULL, "0-7", "", HN_OWNER_OTHER },
                { "0-4", NULL, "0-7", "6-7", HN_OWNER_OTHER },
                { "", NULL, "0-7", "", HN_OWNER_OTHER },
                { "6-7", NULL, "6-7", "6-7", HN_OWNER_NOBODY }, /* a cpuset of nothing else */
                { "6", NULL, "6-7", "6-7", HN_OWNER_OTHER },
                { "2-3", "2-3", "0-7", "", HN_OWNER_US },
                { "2-3", "2-3", "2-3", "", HN_OWNER_US }, /* the cpuset shrank to our node */
                { "3", "2-3", "3-7", "", HN_OWNER_US },   /* the kernel cuts what we set by the new cpuset */
                { "4-7", "2-3", "4-7", "",
                  HN_OWNER_NOBODY }, /* nothing of it was left, so the kernel wiped it */
                { "0-7", "2-3", "0-7", "", HN_OWNER_NOBODY }, /* reset */
                { "2", "2-3", "0-7", "", HN_OWNER_OTHER },
                { "2-4", "2-3", "0-7", "", HN_OWNER_OTHER },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_mask now = list(rows[i].now), cpuset = list(rows[i].cpuset);
                struct hn_mask isolated = list(rows[i].isolated),
                               ours = list(rows[i].ours ? rows[i].ours : "");

                ROW_EQUAL(i, hn_mask_owner(&now, rows[i].ours ? &ours : NULL, &cpuset, &isolated),
                          rows[i].owner);
        }
}

static void cooldown(void **state) {
        static const struct {
                uint32_t reversals, base, max, ms;
        } rows[] = {
                { UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX },
                { UINT32_MAX, 2000, 60000, 60000 },
                { 0, 2000, 60000, 2000 },
                { 1, 2000, 60000, 4000 },
                { 3, 2000, 60000, 16000 },
                { 4, 2000, 60000, 32000 },
                { 5, 2000, 60000, 60000 },
                { 6, 2000, 60000, 60000 },
                { 16, 1, UINT32_MAX, 65536 },
                { 17, 1, UINT32_MAX, 65536 },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                ROW_EQUAL(i, hn_cooldown(rows[i].reversals, rows[i].base, rows[i].max), rows[i].ms);
        assert_int_equal(HN_COOLDOWN_BASE_MS, 2000);
        assert_int_equal(HN_COOLDOWN_MAX_MS, 60000);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(target_mask),
                cmocka_unit_test(mask_owner),
                cmocka_unit_test(cooldown),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
