/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>

/* Room that any escaped text of `n` bytes fits into, its NUL included. */
#define HN_ESCAPE_SIZE(n) (4 * (n) + 1)

/* Makes bytes of somebody else's choosing fit for a log line, a terminal and JSON: what is printable and
 * valid UTF-8 stays, every other byte becomes \xNN. Not printable are control bytes (newline and tab
 * included), the C1 controls U+0080..U+009F, and the marks that reorder or hide the text around them
 * (U+200B..U+200F, U+2028..U+202E, U+2060..U+206F, U+FEFF). A backslash stays, so that escaping twice gives
 * the same as once.
 *
 * Reads at most `n` bytes and stops at a NUL. Writes at most `size` bytes, NUL included; what does not fit is
 * left off between two characters, never inside of one. Returns the length written. `size` is at least 1. */
size_t hn_escape_text(const char *text, size_t n, char *buf, size_t size);
