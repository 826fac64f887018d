/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "base/escape.h"

/* Length of the UTF-8 sequence at `s`, 0 if it is none: cut short, overlong, a surrogate, past U+10FFFF. */
static size_t decode(const unsigned char *s, size_t n, uint32_t *ret) {
        static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
        size_t length;
        uint32_t c;

        if (s[0] < 0x80) {
                *ret = s[0];
                return 1;
        }
        if (s[0] >= 0xf8 || s[0] < 0xc0)
                return 0;
        length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
        if (n < length)
                return 0;
        c = s[0] & (0x7fu >> length);
        for (size_t i = 1; i < length; i++) {
                if ((s[i] & 0xc0) != 0x80)
                        return 0;
                c = (c << 6) | (s[i] & 0x3fu);
        }
        if (c < least[length] || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
                return 0;
        *ret = c;
        return length;
}

static bool is_printable(uint32_t c) {
        if (c < 0x20 || (c >= 0x7f && c <= 0x9f))
                return false;
        /* Zero-width, directional and line-breaking: they would let a name rewrite the line it stands in. */
        return !((c >= 0x200b && c <= 0x200f) || (c >= 0x2028 && c <= 0x202e) ||
                 (c >= 0x2060 && c <= 0x206f) || c == 0xfeff);
}

size_t hn_escape_text(const char *text, size_t n, char *buf, size_t size) {
        static const char hex[] = "0123456789abcdef";
        const unsigned char *s = (const unsigned char *) text;
        size_t used = 0;

        assert(size > 0);

        while (n > 0 && *s != '\0') {
                uint32_t c = 0;
                size_t length = decode(s, n, &c);

                if (length > 0 && is_printable(c)) {
                        if (size - used <= length)
                                break;
                        memcpy(buf + used, s, length);
                        used += length;
                } else {
                        size_t bytes = length > 0 ? length : 1;

                        if (size - used <= 4 * bytes)
                                break;
                        for (size_t i = 0; i < bytes; i++) {
                                buf[used++] = '\\';
                                buf[used++] = 'x';
                                buf[used++] = hex[s[i] >> 4];
                                buf[used++] = hex[s[i] & 0xf];
                        }
                        length = bytes;
                }
                s += length;
                n -= length;
        }
        buf[used] = '\0';
        return used;
}
