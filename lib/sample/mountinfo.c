/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <limits.h>

#include "base/parse.h"
#include "sample/mountinfo.h"

/* 32 24 0:27 / /sys/fs/cgroup rw,nosuid shared:8 - cgroup2 cgroup2 rw,nsdelegate */
int hn_mount_parse(const char *line, size_t n, struct hn_mount *ret) {
        struct hn_text word;
        struct hn_mount m;

        for (unsigned field = 1; field <= 6; field++) {
                if (!hn_next_word(&line, &n, &word.p, &word.n))
                        return -EBADMSG;
                if (field == 4)
                        m.root = word;
                else if (field == 5)
                        m.point = word;
        }
        do
                if (!hn_next_word(&line, &n, &word.p, &word.n))
                        return -EBADMSG;
        while (word.n != 1 || *word.p != '-');
        if (!hn_next_word(&line, &n, &m.type.p, &m.type.n) || !hn_next_word(&line, &n, &word.p, &word.n) ||
            !hn_next_word(&line, &n, &m.options.p, &m.options.n))
                return -EBADMSG;
        *ret = m;
        return 0;
}

static int octal(const char *p, size_t n) {
        if (n < 4 || p[0] != '\\' || p[1] < '0' || p[1] > '3' || p[2] < '0' || p[2] > '7' || p[3] < '0' ||
            p[3] > '7')
                return -1;
        return (p[1] - '0') * 64 + (p[2] - '0') * 8 + (p[3] - '0');
}

int hn_mount_unescape(struct hn_text text, char *buf, size_t size) {
        size_t length = 0;

        for (size_t i = 0; i < text.n;) {
                int c = octal(text.p + i, text.n - i);

                if (length + 1 >= size)
                        return -ENAMETOOLONG;
                /* A backslash is always written as \134; one that is not stays, and so does a NUL. */
                if (c > 0) {
                        buf[length++] = (char) c;
                        i += 4;
                } else
                        buf[length++] = text.p[i++];
        }
        if (size == 0 || length > INT_MAX)
                return -ENAMETOOLONG;
        buf[length] = '\0';
        return (int) length;
}
