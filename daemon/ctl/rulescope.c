/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/macro.h"
#include "rulescope.h"
#include "sample/cgroupglob.h"

/* Longest name of a unit, in systemd. */
#define UNIT_NAME_MAX 255

static bool ends_in(const char *s, size_t n, const char *suffix) {
        size_t k = strlen(suffix);

        return n > k && memcmp(s + n - k, suffix, k) == 0;
}

static bool is_glob(const char *s, size_t n) {
        return memchr(s, '*', n) || memchr(s, '?', n) || memchr(s, '[', n);
}

/* Characters that systemd allows in a unit's name. */
static bool is_unit_name(const char *s) {
        for (const char *p = s; *p; p++)
                if (!isalnum((unsigned char) *p) && !strchr(":-_.\\@", *p))
                        return false;
        return *s != '\0' && strlen(s) <= UNIT_NAME_MAX;
}

/* The next component: its length; *p is moved to it. */
static size_t component(const char **p) {
        while (**p == '/')
                (*p)++;
        return strcspn(*p, "/");
}

/* Whether `name` (n bytes) is where systemd puts a slice below `parent` ("" for the root):
 * "a.slice/a-b.slice". */
static bool is_child_slice(const char *name, size_t n, const char *parent) {
        size_t k = strlen(parent);
        const char *own = name;

        if (!ends_in(name, n, ".slice"))
                return false;
        if (k > 0) {
                k -= strlen(".slice");
                if (n <= k + 1 || memcmp(name, parent, k) != 0 || name[k] != '-')
                        return false;
                own = name + k + 1;
        }
        n -= (size_t) (own - name) + strlen(".slice");
        return n > 0 && !memchr(own, '-', n);
}

/* A character that a bracket at p takes; its length goes to *ret_length, 0 if it is none. */
static char from_bracket(const char *p, size_t n, size_t *ret_length) {
        static const char choice[] = "homenodabcfgijklpqrstuvwxyz0123456789-_ABCDEFGHIJKLMNOPQRSTUVWXYZ:.@";
        const char *close = n > 2 ? memchr(p + 2, ']', n - 2) : NULL;

        *ret_length = close ? (size_t) (close - p) + 1 : 0;
        for (const char *c = choice; *ret_length > 0 && *c; c++)
                if (hn_glob_match(p, *ret_length, c, 1))
                        return *c;
        *ret_length = 0;
        return '\0';
}

/* A name that the glob takes: the first star becomes homenode-TOKEN, the others nothing. */
static bool fill_in(const char *glob, size_t n, const char *token, char *buf, size_t size) {
        bool starred = false;
        size_t used = 0;

        for (size_t i = 0, length = 1; i < n; i += length) {
                char one[2] = { glob[i], '\0' };
                int k = 0;

                length = 1;
                if (glob[i] == '*') {
                        k = snprintf(buf + used, size - used, "%s%s", starred ? "" : "homenode-",
                                     starred ? "" : token);
                        starred = true;
                } else {
                        if (glob[i] == '?')
                                one[0] = 'x';
                        else if (glob[i] == '[')
                                one[0] = from_bracket(glob + i, n - i, &length);
                        if (one[0] == '\0')
                                return false;
                        k = snprintf(buf + used, size - used, "%s", one);
                }
                if (k < 0 || (size_t) k >= size - used)
                        return false;
                used += (size_t) k;
        }
        return hn_glob_match(glob, n, buf, used);
}

/* A name for the scope that the last component (n bytes) of a pattern takes. */
static int name_scope(const char *glob, size_t n, const char *token, char *buf, size_t size,
                      const char *pattern, struct hn_why *why) {
        (void) snprintf(buf, size, "homenode-run-%s.scope", token);
        if (hn_glob_match(glob, n, buf, strlen(buf)))
                return 0;
        if (fill_in(glob, n, token, buf, size) && ends_in(buf, strlen(buf), ".scope") && is_unit_name(buf))
                return 0;
        if (ends_in(glob, n, ".service"))
                return hn_why(
                        why, -ENXIO,
                        "Cgroup=%s names services, and a command is started as a scope: add a Cgroup= with a slice "
                        "or with *.scope to the rule",
                        pattern);
        return hn_why(
                why, -ENXIO,
                "Cgroup=%s: no name of a scope can be derived from \"%.*s\": it has to be a slice that is written "
                "out, or to take names that end in .scope",
                pattern, (int) n, glob);
}

/* Takes the manager's own components off the pattern. Returns false if it leads elsewhere; `*rest` is "" if
 * it ends there, and so covers all below. */
static bool enter(const char **rest, const char *manager) {
        const char *m = manager;
        size_t n, k;

        while ((k = component(&m)) > 0) {
                n = component(rest);
                if (n == 0)
                        return true;
                if (!hn_glob_match(*rest, n, m, k))
                        return false;
                *rest += n;
                m += k;
        }
        return true;
}

/* Adds "/NAME" or "NAME". */
static bool append(char *path, size_t size, const char *name, size_t n) {
        size_t used = strlen(path);
        int k = snprintf(path + used, size - used, "%s%.*s", used > 0 ? "/" : "", (int) n, name);

        return k >= 0 && (size_t) k < size - used;
}

/* The path of a slice, by its name. */
static bool append_slice(char *path, size_t size, const char *slice) {
        char part[256];
        size_t stem = strlen(slice) - strlen(".slice");

        if (strcmp(slice, "-.slice") == 0)
                return true;
        for (size_t i = 1; i <= stem; i++)
                if (i == stem || slice[i] == '-') {
                        (void) snprintf(part, sizeof(part), "%.*s.slice", (int) i, slice);
                        if (!append(path, size, part, strlen(part)))
                                return false;
                }
        return true;
}

int hn_rule_scope_derive(const char *pattern, const char *manager, const char *fallback, const char *token,
                         struct hn_rule_scope *ret, struct hn_why *why) {
        struct hn_rule_scope s = { .slice = "" };
        const char *rest = hn_glob_begin(pattern).rest;
        size_t n;
        int r;

        if (!enter(&rest, manager))
                return hn_why(why, -ENXIO,
                              "Cgroup=%s is not below the service manager that could start something there",
                              pattern);
        (void) snprintf(s.unit, sizeof(s.unit), "homenode-run-%s.scope", token);
        n = component(&rest);
        while (n > 0 && !is_glob(rest, n) && n < sizeof(s.slice) && is_child_slice(rest, n, s.slice)) {
                (void) snprintf(s.slice, sizeof(s.slice), "%.*s", (int) n, rest);
                rest += n;
                n = component(&rest);
        }
        if (n > 0) {
                const char *behind = rest + n;

                if (component(&behind) > 0)
                        return hn_why(
                                why, -ENXIO,
                                "Cgroup=%s: \"%.*s\" is no slice that is written out, so nothing can be started "
                                "below it",
                                pattern, (int) n, rest);
                r = name_scope(rest, n, token, s.unit, sizeof(s.unit), pattern, why);
                if (r < 0)
                        return r;
                if (s.slice[0] == '\0')
                        (void) strcpy(s.slice, "-.slice");
        } else if (s.slice[0] == '\0')
                (void) snprintf(s.slice, sizeof(s.slice), "%s", fallback);
        if ((*manager && !append(s.path, sizeof(s.path), manager, strlen(manager))) ||
            !is_unit_name(s.slice) || !is_unit_name(s.unit) ||
            !append_slice(s.path, sizeof(s.path), s.slice) ||
            !append(s.path, sizeof(s.path), s.unit, strlen(s.unit)))
                return hn_why(why, -ENXIO, "Cgroup=%s: the names are too long, or none that systemd takes",
                              pattern);
        *ret = s;
        return 0;
}
