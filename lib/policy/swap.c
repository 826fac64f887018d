/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "policy/swap.h"

/* A group is not torn apart for a trifle; who is at home stays there for a trifle; who comes home is worth
 * more. */
#define GROUP_DIVISOR       16
#define HOME_DIVISOR        16
#define COMING_HOME_DIVISOR 8

struct hn_swap_value hn_swap(const struct hn_swap *s) {
        int32_t gain = s->gain_alone + (int32_t) s->other_here - (int32_t) s->other_there;
        bool accept;

        if (s->same_group && s->grouped)
                gain -= gain / GROUP_DIVISOR;
        if (s->other_at_home)
                gain -= gain / HOME_DIVISOR;
        if (s->other_goes_home)
                gain += gain / COMING_HOME_DIVISOR;

        /* Partners that come home by it are compared with each other only. */
        if (s->best > 0 && s->best_goes_home != s->other_goes_home)
                accept = s->other_goes_home && gain > 0;
        else
                accept = gain >= HN_SMALL_GAIN && gain > s->best + HN_SMALL_GAIN / 2;
        return (struct hn_swap_value){ .gain = gain, .accept = accept };
}
