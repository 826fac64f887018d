/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <string.h>

#include "policy/remedy.h"

static void every_reason_has_one(void **state) {
        (void) state;
        assert_null(hn_reason_to_remedy(_HN_REASON_INVALID));
        assert_null(hn_reason_to_remedy(_HN_REASON_MAX));
        for (int r = 0; r < _HN_REASON_MAX; r++) {
                const char *text = hn_reason_to_remedy((enum hn_reason) r);

                if (!text || strlen(text) < 10 || strchr(".\n ", text[strlen(text) - 1]))
                        fail_msg("%s: \"%s\" does not fit into a line",
                                 hn_reason_to_string((enum hn_reason) r), text ? text : "");
        }
}

int main(void) {
        const struct CMUnitTest tests[] = { cmocka_unit_test(every_reason_has_one) };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
