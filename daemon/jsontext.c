/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "base/escape.h"
#include "base/macro.h"
#include "daemon/jsontext.h"

/* Longer cgroup paths are cut: the kernel's own limit for a path is 4096. */
#define STRING_MAX 4096u

json_t *hn_json_text_n(const char *text, size_t n) {
        char buf[HN_ESCAPE_SIZE(STRING_MAX)];

        if (!text)
                return json_null();
        (void) hn_escape_text(text, HN_MIN(n, (size_t) STRING_MAX), buf, sizeof(buf));
        return json_string(buf);
}

json_t *hn_json_text(const char *text) {
        return hn_json_text_n(text, text ? strlen(text) : 0);
}

json_t *hn_json_number(uint64_t v) {
        return json_integer((json_int_t) v);
}
