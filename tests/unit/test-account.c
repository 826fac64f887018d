/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdlib.h>

#include "base/macro.h"
#include "policy/account.h"
#include "rows.h"

#define ME    1000u
#define OTHER 1001u

/* 16 CPUs, 16 GiB. */
static const struct hn_wish all = { 16000, UINT64_C(16) << 30 };

static struct hn_reservation of(hn_usec_t made, uint64_t cpus, uint64_t gib) {
        return (struct hn_reservation){ .made = made, .cpus = cpus, .memory = gib << 30 };
}

static void a_user_takes_half_of_the_machine_from_others(void **state) {
        static const struct {
                uid_t uid;
                uint64_t cpus, memory;
                bool may;
        } rows[] = {
                { ME, UINT64_MAX, 0, false },
                { ME, 0, UINT64_MAX, false },
                { OTHER, UINT64_MAX, UINT64_MAX, false },
                { 0, UINT64_MAX, UINT64_MAX, true },
                { (uid_t) -1, 8001, 0, false },
                { OTHER, 8000, UINT64_C(8) << 30, true },
                { OTHER, 8001, 0, false },
                { OTHER, 0, (UINT64_C(8) << 30) + 1, false },
                /* six CPUs and two GiB are shared by now */
                { ME, 0, 0, true },
                { ME, 2000, UINT64_C(6) << 30, true },
                { ME, 2001, 0, false },
                { ME, 0, (UINT64_C(6) << 30) + 1, false },
        };
        struct hn_reservation r = of(10, 6000, 2), mine = of(10, 9000, 9);
        struct hn_account a = HN_ACCOUNT_NULL;

        (void) state;
        assert_int_equal(hn_account_add(&a, ME, true, &r), 0);
        assert_int_equal(hn_account_add(&a, ME, false, &mine), 0);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_wish wish = { rows[i].cpus, rows[i].memory };

                ROW_EQUAL(i, hn_account_may_share(&a, rows[i].uid, &wish, &all), rows[i].may);
        }
        hn_account_deinit(&a);
}

static void a_minute_later_it_is_forgotten(void **state) {
        struct hn_reservation r = of(10, 8000, 1), later = of(20, 0, 1);
        struct hn_wish wish = { 1000, 0 };
        struct hn_account a = HN_ACCOUNT_NULL;

        (void) state;
        assert_int_equal(hn_account_add(&a, ME, true, &r), 0);
        assert_int_equal(hn_account_add(&a, ME, true, &later), 0);
        hn_account_expire(&a, 10 + HN_RESERVATION_LIFE - 1);
        assert_int_equal(a.n, 2);
        assert_false(hn_account_may_share(&a, ME, &wish, &all));
        hn_account_expire(&a, 10 + HN_RESERVATION_LIFE);
        assert_int_equal(a.n, 1);
        assert_true(hn_account_may_share(&a, ME, &wish, &all));
        /* of a clock that went back */
        hn_account_expire(&a, 0);
        assert_int_equal(a.n, 1);
        hn_account_expire(&a, HN_USEC_INFINITY);
        assert_int_equal(a.n, 0);
        hn_account_deinit(&a);
        hn_account_deinit(&a);
}

static void lines_are_bounded_however_small(void **state) {
        struct hn_wish nothing = HN_WISH_NULL;
        struct hn_account a = HN_ACCOUNT_NULL;
        struct hn_reservations own;

        (void) state;
        /* As many as homenode(1) says. */
        for (unsigned i = 0; i < 128; i++) {
                struct hn_reservation r = of(i, 0, 0);

                assert_true(hn_account_may_share(&a, ME, &nothing, &all));
                assert_int_equal(hn_account_add(&a, ME, true, &r), 0);
        }
        assert_false(hn_account_may_share(&a, ME, &nothing, &all));
        assert_true(hn_account_may_share(&a, OTHER, &nothing, &all));

        /* Of his own the oldest leaves, and never what is shared: he could share it again. */
        for (unsigned i = 0; i < 3 * HN_ACCOUNT_PRIVATE; i++) {
                struct hn_reservation r = of(i, i, 0);

                assert_int_equal(hn_account_add(&a, ME, false, &r), 0);
        }
        assert_int_equal(a.n, HN_ACCOUNT_SHARED + HN_ACCOUNT_PRIVATE);
        assert_false(hn_account_may_share(&a, ME, &nothing, &all));
        assert_int_equal(hn_account_private(&a, ME, &own), 0);
        assert_int_equal(own.n, HN_ACCOUNT_PRIVATE);
        assert_int_equal(own.list[0].cpus, 2 * HN_ACCOUNT_PRIVATE);
        assert_int_equal(own.list[own.n - 1].cpus, 3 * HN_ACCOUNT_PRIVATE - 1);
        hn_reservations_deinit(&own);
        assert_int_equal(hn_account_private(&a, OTHER, &own), 0);
        assert_int_equal(own.n, 0);
        hn_reservations_deinit(&own);
        hn_account_deinit(&a);
}

/* Who has shared nothing: the latest 128, as many as are shared at most. */
static void what_a_user_alone_counts(void **state) {
        struct hn_account a = HN_ACCOUNT_NULL;
        struct hn_reservations own;

        (void) state;
        for (unsigned i = 0; i < HN_ACCOUNT_PRIVATE + 5; i++) {
                struct hn_reservation r = of(i, i, 0), other = of(i, 7, 0);
                unsigned n = HN_MIN(i + 1, 128u);

                assert_int_equal(hn_account_add(&a, ME, false, &r), 0);
                if (i == 0)
                        assert_int_equal(hn_account_add(&a, OTHER, false, &other), 0);
                assert_int_equal(a.n, n + 1);
                assert_int_equal(hn_account_private(&a, ME, &own), 0);
                assert_int_equal(own.n, n);
                for (unsigned k = 0; k < n; k++)
                        assert_int_equal(own.list[k].cpus, i + 1 - n + k);
                hn_reservations_deinit(&own);
        }
        assert_int_equal(hn_account_private(&a, OTHER, &own), 0);
        assert_int_equal(own.n, 1);
        assert_int_equal(own.list[0].cpus, 7);
        hn_reservations_deinit(&own);
        hn_account_deinit(&a);
}

/* An account that holds more of a user than he may have, and is full to the brim. */
static void no_more_than_there_is_room_for(void **state) {
        static const size_t rows[] = { 0, 1, HN_ACCOUNT_PRIVATE, HN_ACCOUNT_PRIVATE + 1 };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_account a = { .n = rows[i], .allocated = rows[i] };
                struct hn_reservations own;

                a.list = calloc(rows[i] + (rows[i] == 0), sizeof(*a.list));
                assert_non_null(a.list);
                for (size_t k = 0; k < rows[i]; k++)
                        a.list[k].uid = ME;
                ROW_EQUAL(i, hn_account_private(&a, ME, &own), 0);
                ROW_EQUAL(i, own.n, HN_MIN(rows[i], HN_ACCOUNT_PRIVATE));
                hn_reservations_deinit(&own);
                hn_account_deinit(&a);
        }
}

static void so_are_users(void **state) {
        struct hn_wish nothing = HN_WISH_NULL;
        struct hn_reservation r = of(1, 0, 0);
        struct hn_account a = HN_ACCOUNT_NULL;

        (void) state;
        /* Root's is nobody's account. */
        for (unsigned i = 0; i < 2 * HN_ACCOUNT_MAX; i++)
                assert_int_equal(hn_account_add(&a, 0, true, &r), 0);
        assert_int_equal(a.n, 0);
        for (uid_t uid = 1; uid <= 2 * HN_ACCOUNT_MAX; uid++)
                assert_int_equal(hn_account_add(&a, uid, false, &r), 0);
        assert_int_equal(a.n, HN_ACCOUNT_MAX);
        assert_false(hn_account_may_share(&a, 3 * HN_ACCOUNT_MAX, &nothing, &all));
        assert_true(hn_account_may_share(&a, 0, &nothing, &all));
        hn_account_deinit(&a);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(a_user_takes_half_of_the_machine_from_others),
                cmocka_unit_test(a_minute_later_it_is_forgotten),
                cmocka_unit_test(lines_are_bounded_however_small),
                cmocka_unit_test(what_a_user_alone_counts),
                cmocka_unit_test(no_more_than_there_is_room_for),
                cmocka_unit_test(so_are_users),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
