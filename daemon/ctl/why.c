/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/escape.h"
#include "why.h"

static int set(struct hn_why *why, int r, const char *behind, const char *fmt, va_list ap) _hn_printf_(4, 0);

static int set(struct hn_why *why, int r, const char *behind, const char *fmt, va_list ap) {
        char text[HN_WHY_MAX], whole[HN_WHY_MAX + 128];

        if (!why)
                return r;
        (void) vsnprintf(text, sizeof(text), fmt, ap);
        (void) snprintf(whole, sizeof(whole), "%s%s%s", text, behind ? ": " : "", behind ? behind : "");
        (void) hn_escape_text(whole, sizeof(whole), why->text, sizeof(why->text));
        return r;
}

int hn_why(struct hn_why *why, int r, const char *fmt, ...) {
        va_list ap;

        va_start(ap, fmt);
        r = set(why, r, NULL, fmt, ap);
        va_end(ap);
        return r;
}

int hn_why_errno(struct hn_why *why, int r, const char *fmt, ...) {
        va_list ap;

        va_start(ap, fmt);
        r = set(why, r, strerror(-r), fmt, ap);
        va_end(ap);
        return r;
}
