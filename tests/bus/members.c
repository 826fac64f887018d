/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "members.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LINE_MAX_BYTES sizeof(((struct members *) NULL)->line[0])
#define LINES_MAX      (sizeof(((struct members *) NULL)->line) / LINE_MAX_BYTES)

struct members *members_new(void) {
        return calloc(1, sizeof(struct members));
}

bool members_add(struct members *m, const char *line) {
        if (m->n == LINES_MAX || strlen(line) + 1 >= LINE_MAX_BYTES)
                return false;
        (void) snprintf(m->line[m->n++], LINE_MAX_BYTES, "%s", line);
        return true;
}

static int compare(const void *a, const void *b) {
        return strcmp(a, b);
}

void members_sort(struct members *m) {
        qsort(m->line, m->n, LINE_MAX_BYTES, compare);
}

const char *members_name(const char *line, char *buf, size_t size) {
        const char *p = line + strcspn(line, " ");

        p += strspn(p, " ");
        (void) snprintf(buf, size, "%.*s", (int) strcspn(p, " "), p);
        return buf;
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

/* A line that is cut is one byte short of its end, and members_add() takes none such. */
static void append(char *line, const char *text) {
        size_t n = strlen(line);

        (void) snprintf(line + n, LINE_MAX_BYTES - n, " %s", text);
}

static bool begins(const char *tag, const char *with) {
        return strncmp(tag, with, strlen(with)) == 0;
}

/* One tag; `line` is what is known of the member that it belongs to. */
static bool take_tag(struct members *m, const char *tag, char *line) {
        bool alone = strcspn(tag, "\n") > 2 && tag[strcspn(tag, "\n") - 2] == '/';
        char a[64];

        if (begins(tag, "<method ") || begins(tag, "<signal ")) {
                (void) snprintf(line, LINE_MAX_BYTES, "%.6s", tag + 1);
                append(line, attribute(tag, "name", a, sizeof(a)));
                return !alone || members_add(m, line);
        }
        if (begins(tag, "<property ")) {
                (void) snprintf(line, LINE_MAX_BYTES, "property");
                append(line, attribute(tag, "name", a, sizeof(a)));
                append(line, attribute(tag, "type", a, sizeof(a)));
                if (strcmp(attribute(tag, "access", a, sizeof(a)), "read") != 0)
                        append(line, a);
                return !alone || members_add(m, line);
        }
        if (begins(tag, "<arg ")) {
                if (strcmp(attribute(tag, "direction", a, sizeof(a)), "out") == 0)
                        append(line, "out");
                append(line, attribute(tag, "type", a, sizeof(a)));
                append(line, attribute(tag, "name", a, sizeof(a)));
                return true;
        }
        if (begins(tag, "<annotation ")) {
                if (!strstr(attribute(tag, "name", a, sizeof(a)), "EmitsChangedSignal"))
                        return true;
                (void) attribute(tag, "value", a, sizeof(a));
                if (strcmp(a, "const") == 0)
                        append(line, "constant");
                else if (strcmp(a, "false") == 0)
                        append(line, "silent");
                return true;
        }
        return !begins(tag, "</") || members_add(m, line);
}

struct members *members_parse(const char *xml, const char *interface) {
        struct members *m = members_new();
        char line[LINE_MAX_BYTES] = "", start[128];

        (void) snprintf(start, sizeof(start), "<interface name=\"%s\">", interface);
        xml = strstr(xml, start);
        if (xml)
                xml += strcspn(xml, "\n");
        while (m && xml && *xml) {
                const char *tag = xml + strspn(xml, " \n");

                if (begins(tag, "</interface>")) {
                        members_sort(m);
                        return m;
                }
                if (!take_tag(m, tag, line))
                        break;
                xml = tag + strcspn(tag, "\n");
        }
        free(m);
        return NULL;
}

struct members *members_introspect(sd_bus *bus, const char *path, const char *interface) {
        sd_bus_message *reply = NULL;
        struct members *m = NULL;
        const char *xml;

        if (sd_bus_call_method(bus, "org.homenode1", path, "org.freedesktop.DBus.Introspectable",
                               "Introspect", NULL, &reply, "") >= 0 &&
            sd_bus_message_read(reply, "s", &xml) >= 0)
                m = members_parse(xml, interface);
        sd_bus_message_unref(reply);
        return m;
}
