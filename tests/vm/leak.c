/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Preloaded into a homenoded with sanitizers it leaks, so that the silence of one without it says something.
 */

#include <stdlib.h>

#define BLOCKS 3

static void *volatile kept;

__attribute__((constructor)) static void leak(void) {
        for (int i = 0; i < BLOCKS; i++)
                kept = malloc(4711);
        kept = NULL;
}
