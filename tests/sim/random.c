/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <math.h>

#include "random.h"

/* From here on the bell curve will do. */
#define MANY 20.0

uint64_t hn_sim_random_next(struct hn_sim_random *r) {
        uint64_t x = r->state += UINT64_C(0x9e3779b97f4a7c15);

        x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
        return x ^ (x >> 31);
}

double hn_sim_random_unit(struct hn_sim_random *r) {
        return (double) (hn_sim_random_next(r) >> 11) * 0x1p-53;
}

unsigned hn_sim_random_below(struct hn_sim_random *r, unsigned n) {
        assert(n > 0);
        return (unsigned) ((hn_sim_random_next(r) >> 32) * n >> 32);
}

static double bell(struct hn_sim_random *r) {
        double sum = -6;

        for (unsigned i = 0; i < 12; i++)
                sum += hn_sim_random_unit(r);
        return sum;
}

double hn_sim_random_poisson(struct hn_sim_random *r, double mean) {
        double product = 1, limit, n = -1;

        if (mean <= 0)
                return 0;
        if (mean >= MANY)
                return fmax(0, floor(mean + sqrt(mean) * bell(r) + 0.5));
        limit = exp(-mean);
        do {
                product *= hn_sim_random_unit(r);
                n++;
        } while (product > limit);
        return n;
}
