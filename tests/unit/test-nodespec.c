/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <string.h>

#include "nodespec.h"
#include "rows.h"

/* Nodes 0, 2, 3, 7 and 40; of them 2, 3 and 7 may be used. */
static int device(void *userdata, const char *text, unsigned *ret_node, struct hn_why *why) {
        (void) userdata;
        if (strncmp(text, "dev:", 4) != 0)
                return -ENODATA;
        if (strcmp(text, "dev:near") == 0)
                *ret_node = 3;
        else if (strcmp(text, "dev:closed") == 0)
                *ret_node = 40;
        else if (strcmp(text, "dev:beyond") == 0)
                *ret_node = UINT32_MAX;
        else
                return hn_why(why, -ENODEV, "no such device");
        return 0;
}

static const struct {
        const char *text;
        int r;
        const char *want;
        bool all;
        const char *say; /* in the sentence */
} rows[] = {
        /* hostile */
        { "\n", -EINVAL, "", false, "\\x0a" },
        { "2\n", -EINVAL, "", false, "left over" },
        { "2\t", -EINVAL, "", false, NULL },
        { "\xff", -EINVAL, "", false, "\\xff" },
        { "-1", -EINVAL, "", false, "missing" },
        { "-", -EINVAL, "", true, "missing" },
        { "- 0", -EINVAL, "", true, "missing" },
        { "+-0x", -EINVAL, "", false, "left over" },
        { "-18446744073709551616", -EINVAL, "", false, "missing" },
        { "2--3", -EINVAL, "", false, NULL },
        { "2-", -EINVAL, "", false, NULL },
        { "2-3-7", -EINVAL, "", false, NULL },
        { ",", -EINVAL, "", false, NULL },
        { "2,", -EINVAL, "", false, NULL },
        { "2,,3", -EINVAL, "", false, NULL },
        { "!", -EINVAL, "", false, NULL },
        { "+", -EINVAL, "", false, NULL },
        { "!!2", -EINVAL, "", false, NULL },
        { "+!2", -EINVAL, "", false, NULL },
        { "0x", -EINVAL, "", true, NULL },
        { "08", -EINVAL, "", true, NULL },
        { "0x2g", -EINVAL, "", false, NULL },
        { "all,2", -EINVAL, "", false, NULL },
        { "All", -EINVAL, "", false, NULL },
        { "4294967298", -ERANGE, "", false, "no node 4294967298, only 2-3,7" },
        { "18446744073709551616", -ERANGE, "", false, NULL },
        { "99999999999999999999999999999999999", -ERANGE, "", false, NULL },
        { "8192", -ERANGE, "", false, NULL },
        { "+99999999999999999999999", -ERANGE, "", false, "past the end" },
        { "+3", -ERANGE, "", false, "past the end" },
        { "+0-3", -ERANGE, "", false, NULL },
        { "0", -ERANGE, "", false, "--all" },
        { "2-40", -ERANGE, "", false, "--all" },
        { "1", -ERANGE, "", true, "no node 1, only 0,2-3,7,40" },
        { "3-2", -EINVAL, "", false, "backwards" },
        { "+2-0", -EINVAL, "", false, "backwards" },
        { "2:2", -EINVAL, "", false, "left over" },
        { "2-3:", -EINVAL, "", false, NULL },
        { "2-3:0", -EINVAL, "", false, "stride" },
        { "2-3:0/2", -EINVAL, "", false, "stride" },
        { "2-3:3/2", -EINVAL, "", false, "stride" },
        { "2-3:2/", -EINVAL, "", false, NULL },
        { "2-3:2/0", -EINVAL, "", false, "stride" },
        { "2-7:99999999999999999999", 0, "2", false, NULL },
        /* good */
        { "", 0, "", false, NULL },
        { "2", 0, "2", false, NULL },
        { " 2,\t+3", 0, "2-3", false, NULL },
        { "0x2,003,07", 0, "2-3,7", false, NULL },
        { "-0,-0-2", 0, "0,2", true, NULL },
        { "+-0", 0, "2", false, NULL },
        { "050", 0, "40", true, NULL },
        { "2-7", 0, "2-3,7", false, NULL },
        { "0-40", 0, "0,2-3,7,40", true, NULL },
        { "2-7:5", 0, "2,7", false, NULL },
        { "2-7:2/5", 0, "2-3,7", false, NULL },
        { "0-40:2", 0, "0,2,40", true, NULL },
        { "+0,2", 0, "2,7", false, NULL },
        { "+0-2:2", 0, "2,7", false, NULL },
        { "+1-2:2/3", 0, "3,7", false, NULL },
        { "all", 0, "2-3,7", false, NULL },
        { "all", 0, "0,2-3,7,40", true, NULL },
        { "+all", 0, "2-3,7", false, NULL },
        { "2,all", 0, "2-3,7", false, NULL },
        { "!2", 0, "0,3,7,40", false, NULL },
        { "!+0-1", 0, "0,7,40", false, NULL },
        { "!all", 0, "0,40", false, NULL },
        { "!all", 0, "", true, NULL },
        /* devices */
        { "dev:near", 0, "3", false, NULL },
        { "2,dev:near", 0, "2-3", false, NULL },
        { "!dev:near", 0, "0,2,7,40", false, NULL },
        { "dev:near,2", -ENODEV, "", false, "no such device" },
        { "dev:closed", -ERANGE, "", false, "its node 40" },
        { "dev:closed", 0, "40", true, NULL },
        { "dev:beyond", -ERANGE, "", true, NULL },
        { "dev:", -ENODEV, "", false, NULL },
        { "other:near", -EINVAL, "", false, NULL },
};

static struct hn_mask list(const char *text) {
        struct hn_mask m;

        assert_int_equal(hn_mask_parse_list(text, strlen(text), &m), 0);
        return m;
}

static void lists_are_numactls_and_the_kernels(void **state) {
        char got[HN_MASK_LIST_MAX];

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                const struct hn_nodespec_terms terms = {
                        .noun = "node",
                        .allowed = list(rows[i].all ? "0,2-3,7,40" : "2-3,7"),
                        .present = list("0,2-3,7,40"),
                        .all = rows[i].all,
                        .device = device,
                };
                struct hn_mask m = HN_MASK_NULL;
                struct hn_why why = HN_WHY_NULL;

                ROW_EQUAL(i, hn_nodespec_parse(rows[i].text, &terms, &m, &why), rows[i].r);
                assert_true(hn_mask_print_list(&m, got, sizeof(got)) >= 0);
                if (strcmp(got, rows[i].want) != 0)
                        fail_msg("row %zu: %s, expected %s", i, got, rows[i].want);
                if ((rows[i].r < 0) != (why.text[0] != '\0') ||
                    (rows[i].say && !strstr(why.text, rows[i].say)))
                        fail_msg("row %zu: it says \"%s\"", i, why.text);
        }
}

static void cpus_have_no_devices(void **state) {
        const struct hn_nodespec_terms terms = { .noun = "CPU",
                                                 .allowed = list("0-7"),
                                                 .present = list("0-7") };
        struct hn_mask m = HN_MASK_NULL;
        struct hn_why why = HN_WHY_NULL;

        (void) state;
        assert_int_equal(hn_nodespec_parse("dev:near", &terms, &m, &why), -EINVAL);
        assert_non_null(strstr(why.text, "CPU number"));
        assert_int_equal(hn_nodespec_parse("!0-7:2", &terms, &m, NULL), 0);
        assert_true(hn_mask_equal(&m, &(struct hn_mask){ .word = { 0xaa } }));
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(lists_are_numactls_and_the_kernels),
                cmocka_unit_test(cpus_have_no_devices),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
