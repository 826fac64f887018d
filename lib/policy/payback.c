/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy/payback.h"

hn_usec_t hn_payback(uint64_t bytes, uint64_t bytes_per_sec, uint64_t accesses, uint32_t extra_ns) {
        /* Seconds of cost over seconds a second: bytes / rate / (accesses * extra_ns / 10^9), in
         * microseconds. */
        unsigned __int128 cost = (unsigned __int128) bytes * 1000000000u * HN_USEC_PER_SEC;
        unsigned __int128 lost = (unsigned __int128) bytes_per_sec * accesses, usec;

        if (bytes == 0)
                return 0;
        if (lost == 0 || extra_ns == 0 || lost > (unsigned __int128) -1 / extra_ns)
                return lost == 0 || extra_ns == 0 ? HN_USEC_INFINITY : 0;
        usec = cost / (lost * extra_ns);
        return usec > HN_USEC_INFINITY ? HN_USEC_INFINITY : (hn_usec_t) usec;
}
