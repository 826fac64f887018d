/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* Arguments made at random, of options and lists that make sense as often as not, for both to do the same
 * with: what is known to be different is not among them. The same number gives the same arguments. */
void random_arguments(uint64_t number, char *buf, size_t size);
