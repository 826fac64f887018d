/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/maskpool.h"

static struct hn_mask single(unsigned id) {
        struct hn_mask m = HN_MASK_NULL;

        hn_mask_add(&m, id);
        return m;
}

static void equal_masks_share_an_id(void **state) {
        struct hn_mask_pool pool = HN_MASK_POOL_NULL;
        struct hn_mask empty = HN_MASK_NULL, one = single(1);
        hn_mask_id a, b, c;

        (void) state;
        assert_int_equal(hn_mask_pool_intern(&pool, &empty, &a), 0);
        assert_int_equal(hn_mask_pool_intern(&pool, &one, &b), 0);
        assert_int_equal(a, 0);
        assert_int_equal(b, 1);
        hn_mask_remove(&one, 1);
        assert_int_equal(hn_mask_pool_intern(&pool, &one, &c), 0);
        assert_int_equal(c, a);
        assert_true(hn_mask_has(hn_mask_pool_get(&pool, b), 1));
        assert_int_equal(pool.n, 2);
        hn_mask_pool_deinit(&pool);
        assert_int_equal(pool.n, 0);
}

static void ids_stay_while_the_pool_grows(void **state) {
        struct hn_mask_pool pool = HN_MASK_POOL_NULL;
        const unsigned n = 300;
        hn_mask_id id;

        (void) state;
        for (unsigned i = 0; i < n; i++) {
                struct hn_mask m = single(i);

                assert_int_equal(hn_mask_pool_intern(&pool, &m, &id), 0);
                assert_int_equal(id, i);
        }
        for (unsigned i = 0; i < n; i++) {
                struct hn_mask m = single(i);

                assert_true(hn_mask_equal(hn_mask_pool_get(&pool, i), &m));
                assert_int_equal(hn_mask_pool_intern(&pool, &m, &id), 0);
                assert_int_equal(id, i);
        }
        assert_int_equal(pool.n, n);
        hn_mask_pool_deinit(&pool);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(equal_masks_share_an_id),
                cmocka_unit_test(ids_stay_while_the_pool_grows),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
