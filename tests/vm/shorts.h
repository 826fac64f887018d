/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdatomic.h>
#include <stdint.h>

/* Short-lived tasks beside the load, that a policy should not mind. */

/* Groups of tasks that send each other messages over sockets, some thousands altogether: a burst of a second
 * or so. Returns when all have ended. */
void shorts_burst(_Atomic uint64_t *done);

/* `n` tasks at a time, each for a tenth to three tenths of a second of work in memory of its own, one after
 * the other for ever. */
void shorts_storm(unsigned n, _Atomic uint64_t *done) __attribute__((noreturn));
