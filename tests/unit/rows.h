/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <inttypes.h>
#include <stdint.h>

/* Fails with the number of the table's row, which assert_int_equal() cannot know. Include after <cmocka.h>.
 */
#define ROW_EQUAL(row, got, want)                                                                         \
        do {                                                                                              \
                intmax_t _got = (intmax_t) (got), _want = (intmax_t) (want);                              \
                                                                                                          \
                if (_got != _want)                                                                        \
                        fail_msg("row %zu: %s is %" PRIdMAX ", expected %" PRIdMAX, (size_t) (row), #got, \
                                 _got, _want);                                                            \
        } while (0)
