/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "act/record.h"
#include "base/macro.h"
#include "ledgerkit.h"

static void lines_read_as_documented(void **state) {
        struct hn_record rec = pin_of(4711, 12345, NULL, "0-7", "2-3");
        char line[HN_RECORD_LINE_MAX];

        (void) state;
        assert_true(hn_record_print(&rec, BOOT, line, sizeof(line)) > 0);
        assert_memory_equal(
                line,
                "pin 4711 12345 4711 unrestricted 0-7 2-3 125450000 1700000000000000 remote-faults "
                "/system.slice/web-1.service ",
                110);
        rec = (struct hn_record){ .kind = HN_RECORD_DONE, .key = { .tid = 7, .start = 8 } };
        assert_true(hn_record_print(&rec, BOOT, line, sizeof(line)) > 0);
        assert_memory_equal(line, "done 7 8 ", 9);
}

/* The first rows are the liars: names that would like to be a line of their own, or a field. */
static const char *const cgroups[] = {
        "/a\npin 1 1 1 unrestricted 0 0 0 0 x /b 00000000",
        "/system.slice/x 1 2 3",
        "/tab\there\r",
        "/back\\slash\\x41",
        "/\x01\x7f\x80\xff",
        "/g\xc3\xbcnther",
        "-",
        "unrestricted",
        "/",
        "",
};

static void texts_come_back_as_they_were(void **state) {
        char line[HN_RECORD_LINE_MAX];

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(cgroups); i++) {
                struct hn_record rec = pin_of(1, 2, "0-3", "0-3", "1"), back;
                int n;

                (void) snprintf(rec.cgroup, sizeof(rec.cgroup), "%s", cgroups[i]);
                (void) snprintf(rec.reason, sizeof(rec.reason), "%s", cgroups[i]);
                n = hn_record_print(&rec, BOOT, line, sizeof(line));
                assert_true(n > 0);
                assert_ptr_equal(strchr(line, '\n'), line + n - 1);
                assert_int_equal(hn_record_parse(line, (size_t) n - 1, BOOT, &back), 0);
                assert_string_equal(back.cgroup, rec.cgroup);
                assert_string_equal(back.reason, rec.reason);
                assert_true(hn_mask_equal(&back.old, &rec.old));
                assert_int_equal(back.boot_usec, rec.boot_usec);
        }
}

static void the_longest_line_fits(void **state) {
        struct hn_record rec = pin_of(INT32_MAX, UINT64_MAX, "0", "0", "0"), back;
        char line[HN_RECORD_LINE_MAX];
        int n;

        (void) state;
        for (unsigned cpu = 0; cpu < HN_MASK_BITS; cpu += 2) {
                hn_mask_add(&rec.old, cpu);
                hn_mask_add(&rec.before, cpu);
                hn_mask_add(&rec.want, cpu);
        }
        rec.boot_usec = rec.real_usec = UINT64_MAX;
        memset(rec.cgroup, '\n', sizeof(rec.cgroup) - 1);
        memset(rec.reason, '\n', sizeof(rec.reason) - 1);
        n = hn_record_print(&rec, BOOT, line, sizeof(line));
        assert_true(n > 0);
        assert_int_equal(hn_record_parse(line, (size_t) n - 1, BOOT, &back), 0);
        assert_true(hn_mask_equal(&back.want, &rec.want));
        assert_int_equal(hn_record_print(&rec, BOOT, line, (size_t) n), -ENOBUFS);
}

static void every_flipped_bit_is_noticed(void **state) {
        struct hn_record rec = pin_of(4711, 12345, NULL, "0-7", "2-3"), back;
        char line[HN_RECORD_LINE_MAX];
        int n = hn_record_print(&rec, BOOT, line, sizeof(line));

        (void) state;
        assert_true(n > 0);
        for (int i = 0; i < n - 1; i++)
                for (unsigned bit = 0; bit < 8; bit++) {
                        line[i] = (char) (line[i] ^ 1 << bit);
                        assert_int_equal(hn_record_parse(line, (size_t) n - 1, BOOT, &back), -EBADMSG);
                        line[i] = (char) (line[i] ^ 1 << bit);
                }
        assert_int_equal(hn_record_parse(line, (size_t) n - 1, BOOT, &back), 0);
        for (int k = 0; k < n - 1; k++)
                assert_int_equal(hn_record_parse(line, (size_t) k, BOOT, &back), -EBADMSG);
        assert_int_equal(hn_record_parse(line, (size_t) n - 1, OTHER_BOOT, &back), -EBADMSG);
}

/* Texts whose checksum is right, as a hostile owner of the file could write them, and which are nonsense. */
static void nonsense_is_refused_though_it_adds_up(void **state) {
        static const char *const lines[] = {
                "",
                "pin",
                "frobnicate 1 2",
                "done 0 5",
                "done 1",
                "done 1 2 3",
                "done -1 2",
                "done 2147483648 2",
                "done 1 18446744073709551616",
                "done 1 2 ",
                "homenode-ledger 2 11111111-2222-3333-4444-555555555555",
                "pin 1 2 3 0-7 0-7 9000 4 5 r /c",
                "pin 1 2 3 0-7 0-7 3-1 4 5 r /c",
                "pin 1 2 3 unrestricted unrestricted 0 4 5 r /c",
                "pin 1 2 3 0-7 0-7 0 4 5 r /c\\x00d",
                "pin 1 2 3 0-7 0-7 0 4 5 r /c\\x4",
                "pin 1 2 3 0-7 0-7 0 4 5 r /c\\y41",
                "pin 1 2 3 0-7 0-7 0 4 5 r /c\\",
                "pin 1 2 3 0-7 0-7 0 4 5 r",
                "pin 1 2 3 0-7 0-7 0 4 5 0123456789012345678901234567890123456789012345678901234567890123 /c",
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(lines); i++) {
                struct hn_record rec;
                char line[512];
                uint32_t crc = UINT32_MAX;

                (void) snprintf(line, sizeof(line), BOOT "%s", lines[i]);
                for (const char *p = line; *p; p++) {
                        crc ^= (unsigned char) *p;
                        for (unsigned bit = 0; bit < 8; bit++)
                                crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
                }
                (void) snprintf(line, sizeof(line), "%s %08x", lines[i], (unsigned) ~crc);
                if (strcmp(lines[i], "done 1 2 ") == 0)
                        assert_int_equal(hn_record_parse(line, strlen(line), BOOT, &rec), 0);
                else if (hn_record_parse(line, strlen(line), BOOT, &rec) != -EBADMSG)
                        fail_msg("accepted: %s", lines[i]);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(lines_read_as_documented),
                cmocka_unit_test(texts_come_back_as_they_were),
                cmocka_unit_test(the_longest_line_fits),
                cmocka_unit_test(every_flipped_bit_is_noticed),
                cmocka_unit_test(nonsense_is_refused_though_it_adds_up),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
