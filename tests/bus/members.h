/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <systemd/sd-bus.h>

/* The members of one of our interfaces, as the daemon itself tells them, a line each:
 * "method Explain u tid out s json", "property Mode s", "property Version s constant", "property Tick t
 * silent", "signal ScopeAdded s cgroup o path". Sorted. A property that can be written would have its access
 * as a further word. The caller frees. */
struct members {
        size_t n;
        char line[96][256];
};

/* NULL: it is not told of, or more than fits. */
struct members *members_introspect(sd_bus *bus, const char *path, const char *interface);

/* The same of a text of sd-bus, which writes one tag a line. */
struct members *members_parse(const char *xml, const char *interface);

struct members *members_new(void);
bool members_add(struct members *m, const char *line);
void members_sort(struct members *m);

/* The word behind the kind: "Explain". */
const char *members_name(const char *line, char *buf, size_t size);
