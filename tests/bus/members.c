/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "members.h"

#include <stdlib.h>

struct members *members_new(void) {
        struct members *m = calloc(1, sizeof(*m));

        assert_non_null(m);
        return m;
}

void members_add(struct members *m, const char *line) {
        assert_true(m->n < HN_ELEMENTS(m->line));
        assert_true(snprintf(m->line[m->n++], sizeof(m->line[0]), "%s", line) < (int) sizeof(m->line[0]));
}

static int compare(const void *a, const void *b) {
        return strcmp(a, b);
}

void members_sort(struct members *m) {
        qsort(m->line, m->n, sizeof(m->line[0]), compare);
}

/* The value of an attribute within one tag, "" where it has none. */
static const char *attribute(const char *tag, const char *name, char *buf, size_t size) {
        const char *end = strchr(tag, '>'), *at;
        char key[32];

        (void) snprintf(key, sizeof(key), " %s=\"", name);
        at = strstr(tag, key);
        buf[0] = '\0';
        if (at && end && at < end) {
                at += strlen(key);
                (void) snprintf(buf, size, "%.*s", (int) strcspn(at, "\""), at);
        }
        return buf;
}

static void append(char *line, const char *text) {
        size_t n = strlen(line);

        assert_true(n + strlen(text) + 2 < sizeof(((struct members *) NULL)->line[0]));
        (void) snprintf(line + n, sizeof(((struct members *) NULL)->line[0]) - n, " %s", text);
}

/* sd-bus writes one tag a line. */
struct members *members_introspect(struct stage *s, const char *path, const char *interface) {
        sd_bus_message *reply = NULL;
        struct members *m = members_new();
        char line[256] = "", a[64], b[64], start[128];
        const char *xml;

        assert_true(sd_bus_call_method(s->ear, "org.homenode1", path, "org.freedesktop.DBus.Introspectable",
                                       "Introspect", NULL, &reply, "") >= 0);
        assert_true(sd_bus_message_read(reply, "s", &xml) >= 0);
        (void) snprintf(start, sizeof(start), "<interface name=\"%s\">", interface);
        xml = strstr(xml, start);
        assert_non_null(xml);
        for (; *xml; xml += strcspn(xml, "\n"), xml += *xml == '\n') {
                const char *tag = xml + strspn(xml, " \n");

                if (strncmp(tag, "</interface>", 12) == 0)
                        break;
                if (strncmp(tag, "<method ", 8) == 0 || strncmp(tag, "<signal ", 8) == 0) {
                        (void) snprintf(line, sizeof(line), "%.6s %s", tag + 1,
                                        attribute(tag, "name", a, sizeof(a)));
                        if (tag[strcspn(tag, "\n") - 2] == '/')
                                members_add(m, line);
                } else if (strncmp(tag, "<property ", 10) == 0) {
                        (void) snprintf(line, sizeof(line), "property %s",
                                        attribute(tag, "name", a, sizeof(a)));
                        append(line, attribute(tag, "type", a, sizeof(a)));
                        assert_string_equal(attribute(tag, "access", a, sizeof(a)), "read");
                        if (tag[strcspn(tag, "\n") - 2] == '/')
                                members_add(m, line);
                } else if (strncmp(tag, "<arg ", 5) == 0) {
                        if (strcmp(attribute(tag, "direction", a, sizeof(a)), "out") == 0)
                                append(line, "out");
                        append(line, attribute(tag, "type", a, sizeof(a)));
                        append(line, attribute(tag, "name", a, sizeof(a)));
                } else if (strncmp(tag, "<annotation ", 12) == 0 &&
                           strstr(attribute(tag, "name", a, sizeof(a)), "EmitsChangedSignal")) {
                        (void) attribute(tag, "value", b, sizeof(b));
                        if (strcmp(b, "const") == 0)
                                append(line, "constant");
                        else if (strcmp(b, "false") == 0)
                                append(line, "silent");
                } else if (tag[0] == '<' && tag[1] == '/')
                        members_add(m, line);
        }
        sd_bus_message_unref(reply);
        members_sort(m);
        return m;
}
