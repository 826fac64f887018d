/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenoded(8) says the same words as the journal: every reason with its sentence, every event with its id.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/log.h"
#include "policy/reason.h"

static char page[65536];

static int read_page(void **state) {
        FILE *f = fopen(HN_SRCDIR "/man/homenoded.8", "re");
        size_t n;

        (void) state;
        if (!f)
                return -1;
        n = fread(page, 1, sizeof(page) - 1, f);
        (void) fclose(f);
        page[n] = '\0';
        return n > 0 && n < sizeof(page) - 1 ? 0 : -1;
}

static size_t count(const char *text) {
        size_t n = 0;

        for (const char *p = page; (p = strstr(p, text)); p++)
                n++;
        return n;
}

static void every_reason_stands_there_with_its_sentence(void **state) {
        char want[512];

        (void) state;
        for (enum hn_reason r = 0; r < _HN_REASON_MAX; r++) {
                const char *sentence = hn_reason_to_sentence(r);

                (void) snprintf(want, sizeof(want), "\n.It Em %s\n%c%s.\n", hn_reason_to_string(r),
                                toupper((unsigned char) sentence[0]), sentence + 1);
                if (count(want) != 1)
                        fail_msg("not once in homenoded(8):%s", want);
        }
}

static void every_event_stands_there_with_its_id(void **state) {
        char want[512];

        (void) state;
        for (enum hn_event e = 0; e < _HN_EVENT_MAX; e++) {
                (void) snprintf(want, sizeof(want), "\n.It Em %s\n", hn_event_to_string(e));
                if (count(want) != 1)
                        fail_msg("not once in homenoded(8):%s", want);
                (void) snprintf(want, sizeof(want), "\n.Pq Li %s\n", hn_event_to_message_id(e));
                if (count(want) != 1)
                        fail_msg("not once in homenoded(8):%s", want);
        }
}

/* Neither more than there are: what was taken away must go from the page, too. */
static void nothing_else_stands_there(void **state) {
        const char *reasons = strstr(page, "\n.Sh REASONS\n");
        const char *journal = strstr(page, "\n.Sh JOURNAL\n"), *end;
        const size_t step = strlen("\n.It Em ");
        size_t in_reasons = 0, in_journal = 0;

        (void) state;
        assert_non_null(reasons);
        assert_non_null(journal);
        assert_true(reasons < journal);
        end = strstr(journal + 1, "\n.Sh ");
        assert_non_null(end);

        for (const char *p = reasons; (p = strstr(p, "\n.It Em ")) && p < end; p += step)
                *(p < journal ? &in_reasons : &in_journal) += 1;
        assert_int_equal(in_reasons, _HN_REASON_MAX);
        assert_int_equal(in_journal, _HN_EVENT_MAX);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(every_reason_stands_there_with_its_sentence),
                cmocka_unit_test(every_event_stands_there_with_its_id),
                cmocka_unit_test(nothing_else_stands_there),
        };

        return cmocka_run_group_tests(tests, read_page, NULL);
}
