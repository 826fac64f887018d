/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/escape.h"
#include "verb.h"

#define TEXT_MAX 1024u

static void say(const char *fmt, va_list ap, const char *what, const char *next) _hn_printf_(1, 0);

static void say(const char *fmt, va_list ap, const char *what, const char *next) {
        char raw[TEXT_MAX], text[HN_ESCAPE_SIZE(TEXT_MAX)];

        (void) vsnprintf(raw, sizeof(raw), fmt, ap);
        (void) hn_escape_text(raw, sizeof(raw), text, sizeof(text));
        fprintf(stderr, "homenode: %s%s%s%s\n", text, what ? ": " : "", what ? what : "", next);
}

void hn_complain(const char *fmt, ...) {
        va_list ap;

        va_start(ap, fmt);
        say(fmt, ap, NULL, "");
        va_end(ap);
}

/* Root that is refused cannot be told to be root. */
static const char *next_step(int r) {
        if ((r == -EACCES || r == -EPERM) && geteuid() != 0)
                return "; run it as root, or ask the daemon by \"homenode status\"";
        if (r == -ENOMEM)
                return "; memory is short, so try again later";
        return "";
}

int hn_complain_errno(int r, const char *fmt, ...) {
        va_list ap;

        va_start(ap, fmt);
        say(fmt, ap, strerror(-r), next_step(r));
        va_end(ap);
        switch (-r) {
        case EACCES:
        case EPERM: return EX_NOPERM;
        case ENOENT:
        case ENOTDIR:
        case ENODEV: return EX_NOINPUT;
        case EINVAL: return EX_DATAERR;
        default: return EX_OSERR;
        }
}

int hn_complain_usage(const char *verb) {
        fprintf(stderr, "Try \"homenode%s%s --help\".\n", verb ? " " : "", verb ? verb : "");
        return EX_USAGE;
}

int hn_flush_output(void) {
        if (fflush(stdout) == 0 && !ferror(stdout))
                return EX_OK;
        hn_complain("cannot write the output");
        return EX_IOERR;
}
