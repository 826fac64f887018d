/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* What is read from any text is alive and within bounds, and reads the same once printed. */
#include <stdlib.h>

#include "base/macro.h"
#include "policy/reservation.h"

#define NOW (1000 * HN_USEC_PER_SEC)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        struct hn_reservations rs = HN_RESERVATIONS_NULL, again = HN_RESERVATIONS_NULL;
        long lines = hn_reservations_read(&rs, (const char *) data, n, NOW);

        if (lines < 0 || rs.n > HN_RESERVATIONS_MAX || rs.n > (size_t) lines)
                abort();
        for (size_t i = 0; i < rs.n; i++) {
                char line[HN_RESERVATION_LINE_MAX];
                size_t length = hn_reservation_print(&rs.list[i], line, sizeof(line));
                const struct hn_reservation *a = &rs.list[i], *b;

                if (a->made > NOW + HN_RESERVATION_SLACK || hn_usec_sub(NOW, a->made) >= HN_RESERVATION_LIFE)
                        abort();
                if (hn_reservations_read(&again, line, length, NOW) != 1 || again.n != 1)
                        abort();
                b = &again.list[0];
                if (a->made != b->made || a->id != b->id || a->cpus != b->cpus || a->memory != b->memory ||
                    a->used != b->used || a->available != b->available)
                        abort();
                hn_reservations_deinit(&again);
        }
        hn_reservations_deinit(&rs);
        return 0;
}
