/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/macro.h"
#include "policy/payback.h"

hn_usec_t hn_payback(uint64_t bytes, uint64_t bytes_per_sec, uint64_t accesses, uint32_t extra_ns) {
        /* Seconds of cost over seconds a second: bytes / rate / (accesses * extra_ns / 10^9), in
         * microseconds. */
        unsigned __int128 cost = (unsigned __int128) bytes * 1000000000u * HN_USEC_PER_SEC;
        unsigned __int128 lost = (unsigned __int128) bytes_per_sec * accesses;

        if (bytes == 0)
                return 0;
        if (lost == 0 || extra_ns == 0)
                return HN_USEC_INFINITY;
        /* By one after the other, as their product may be too large for any integer. */
        return (hn_usec_t) HN_MIN(cost / lost / extra_ns, (unsigned __int128) HN_USEC_INFINITY);
}
