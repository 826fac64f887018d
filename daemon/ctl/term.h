/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Text for people and their terminals. */

/* How alarming a cell is. Colours only on a terminal. */
enum hn_heat {
        HN_HEAT_NONE,
        HN_HEAT_COOL,  /* green: fine */
        HN_HEAT_WARM,  /* yellow: look */
        HN_HEAT_HOT,   /* red: trouble */
        HN_HEAT_FAINT, /* there, but of no weight */
        _HN_HEAT_MAX,
};

/* Whether `f` is a terminal that may be coloured: NO_COLOR is unset or empty, TERM is not "dumb". */
bool hn_may_colour(FILE *f);

/* "\033[32m" and the like, "" for HN_HEAT_NONE or when `colour` is false; and what ends it. */
const char *hn_heat_on(enum hn_heat heat, bool colour);
const char *hn_heat_off(enum hn_heat heat, bool colour);

/* Bytes for people: "0", "512", "1.5K", "123.8G". Returns `buf`, which 16 bytes are enough for. */
char *hn_format_bytes(uint64_t bytes, char *buf, size_t size);
