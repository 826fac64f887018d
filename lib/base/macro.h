/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Runs `f(&variable)` when the variable leaves its scope. */
#define _hn_cleanup_(f) __attribute__((__cleanup__(f)))

/* Has the compiler compare a format with its arguments. */
#define _hn_printf_(fmt, first) __attribute__((__format__(__printf__, fmt, first)))

/* Marks what libhomenode shows to the outside; everything else is hidden. */
#define _hn_public_ __attribute__((__visibility__("default")))

/* Number of elements of a true array. */
#define HN_ELEMENTS(a) (sizeof(a) / sizeof((a)[0]))

/* -1, 0 or 1, without the overflow of a subtraction. */
#define HN_CMP(a, b) (((a) > (b)) - ((a) < (b)))

#define HN_MIN(a, b) ((a) < (b) ? (a) : (b))
#define HN_MAX(a, b) ((a) > (b) ? (a) : (b))

/* For how many elements to make room when that for `allocated` is used up. */
static inline size_t hn_more(size_t allocated) {
        return HN_MAX(2 * allocated, (size_t) 32);
}

/* Hands a pointer on and leaves NULL behind, so that a cleanup finds nothing to free. */
#define HN_TAKE_PTR(p)                       \
        ({                                   \
                __typeof__(p) *_pp = &(p);   \
                __typeof__(p) _taken = *_pp; \
                *_pp = NULL;                 \
                _taken;                      \
        })

/* For `_hn_cleanup_(hn_freep) char *s = NULL`. */
static inline void hn_freep(void *p) {
        free(*(void **) p);
}

/* Declares `f##p`, the cleanup form of a destructor that forgives NULL and returns NULL. */
#define HN_DEFINE_CLEANUP(type, f)         \
        static inline void f##p(type *p) { \
                if (*p)                    \
                        *p = f(*p);        \
        }                                  \
        struct hn_swallow_the_semicolon
