/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* A place for a command by a pattern of cgroups: whatever the pattern, the place is covered by it, and its
 * names are such as systemd takes. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "rulescope.h"
#include "sample/cgroupglob.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void require(bool what) {
        if (!what)
                abort();
}

static void check_name(const char *name, const char *suffix) {
        size_t n = strlen(name), k = strlen(suffix);

        require(n > k && n < 256 && strcmp(name + n - k, suffix) == 0);
        for (const char *p = name; *p; p++)
                require(*p > ' ' && *p < 0x7f && *p != '/' && *p != '*');
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        static const char *const managers[] = { "", "user.slice/user-1000.slice/user@1000.service" };
        char *pattern = malloc(n + 1);

        require(pattern != NULL);
        memcpy(pattern, data, n);
        pattern[n] = '\0';
        for (size_t i = 0; i < 2; i++) {
                const char *one[] = { pattern };
                struct hn_rule_scope s;
                struct hn_why why = HN_WHY_NULL;
                int r = hn_rule_scope_derive(pattern, managers[i], "app.slice", "7x1", &s, &why);

                require(r == 0 || r == -ENXIO);
                require((r < 0) == (why.text[0] != '\0'));
                if (r < 0)
                        continue;
                check_name(s.slice, ".slice");
                check_name(s.unit, ".scope");
                require(hn_glob_first(one, 1, s.path) == 0);
                require(strncmp(s.path, managers[i], strlen(managers[i])) == 0);
        }
        free(pattern);
        return 0;
}
