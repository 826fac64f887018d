/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Memory is brought to a task as far as that pays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "scenes.h"

#define GIB (UINT64_C(1) << 30)

/* Held on node 1, as others have taken node 0, where all of its memory is: `resident` bytes for the `used`
 * thousandths of a CPU that it works. */
static void far_from_home(struct fixture *f, uint64_t resident, uint32_t used) {
        start(f, 1);
        f->s.kernel_balancing = 0;
        f->tasks[0].signal = HN_SIGNAL_RESIDENCY;
        f->tasks[0].resident = resident;
        cast(f, 0, 1, 0);
        f->others[0] = 2000;
        for (unsigned i = 0; i < 2; i++)
                fixture_second(f, used, 0);
        hold(f, 0, 1, 0);
        fixture_second(f, used, 0);
}

static void size_unknown(struct fixture *f) {
        far_from_home(f, 0, 1000);
}

static void much_for_much_work(struct fixture *f) {
        far_from_home(f, 120 * GIB, 1000);
}

static void too_much(struct fixture *f) {
        far_from_home(f, 130 * GIB, 1000);
}

static void much_for_little_work(struct fixture *f) {
        far_from_home(f, 15 * GIB, 100);
}

static void some_for_little_work(struct fixture *f) {
        far_from_home(f, 12 * GIB, 100);
}

/* A part of it is there already: what is left costs less, and saves less. */
static void half_of_too_much(struct fixture *f) {
        far_from_home(f, 130 * GIB, 1000);
        f->priv[1] = f->priv[0];
        fixture_second(f, 1000, 0);
}

static void bring(void **state) {
        static const struct scene_row rows[] = {
                { size_unknown, 0, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK, 1, 1, NULL },
                { much_for_much_work, 0, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK, 1, 1, NULL },
                { too_much, 0, HN_ACT_NONE, HN_REASON_NO_PAYBACK, 1, 1, NULL },
                { half_of_too_much, 0, HN_ACT_NONE, HN_REASON_NO_PAYBACK, 1, 1, NULL },
                { some_for_little_work, 0, HN_ACT_PAGES, HN_REASON_MEMORY_TO_TASK, 1, 1, NULL },
                { much_for_little_work, 0, HN_ACT_NONE, HN_REASON_NO_PAYBACK, 1, 1, NULL },
        };
        bool met[_HN_REASON_MAX] = {};

        (void) state;
        check_scenes(rows, HN_ELEMENTS(rows), met);
        assert_true(met[HN_REASON_NO_PAYBACK]);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(bring),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
