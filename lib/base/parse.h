/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/usec.h"

/* Parsers over bounded text: nothing here needs a NUL, reads a locale or skips what it does not understand.
 * All return 0, -EINVAL for text that is no such value, -ERANGE for a value that does not fit. */

/* Narrows (text, n) by white space and NUL bytes at both ends. */
void hn_trim(const char **text, size_t *n);

/* Reads decimal digits at *p and moves it behind them; at least one digit is asked for. */
int hn_parse_u64_prefix(const char **p, const char *end, uint64_t *ret);
int hn_parse_unsigned_prefix(const char **p, const char *end, unsigned *ret);

/* Whole texts, white space around them allowed. */
int hn_parse_u64(const char *text, size_t n, uint64_t *ret);
int hn_parse_i64(const char *text, size_t n, int64_t *ret);
int hn_parse_unsigned(const char *text, size_t n, unsigned *ret);

/* yes, true, on, 1 and their opposites. */
int hn_parse_bool(const char *text, size_t n, bool *ret);

/* Bytes: "200M", "4K", "1G", "1T" (powers of 1024), or a bare number. */
int hn_parse_bytes(const char *text, size_t n, uint64_t *ret);

/* "0.5%" or "5" (percent, with or without its sign) in permille: 5 and 50. At most 100 %. */
int hn_parse_permille(const char *text, size_t n, unsigned *ret);

/* Time spans: a bare number counts in `unit`; "20ms", "1.5s", "2min", "1h" name their own. */
int hn_parse_usec(const char *text, size_t n, hn_usec_t unit, hn_usec_t *ret);

/* Takes the next line off (text, n), its newline removed. Returns false at the end. */
bool hn_next_line(const char **text, size_t *n, const char **ret_line, size_t *ret_length);

/* Takes the next word (white space between) off (text, n). Returns false at the end. */
bool hn_next_word(const char **text, size_t *n, const char **ret_word, size_t *ret_length);

/* Whether the text (line, n) starts with `prefix`. */
bool hn_has_prefix(const char *line, size_t n, const char *prefix);
