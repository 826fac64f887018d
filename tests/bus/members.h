/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "stage.h"

/* The members of one of our interfaces, as the daemon itself tells them, a line each:
 * "method Explain u tid out s json", "property Mode s", "property Version s constant", "property Tick t
 * silent", "signal ScopeAdded s cgroup o path". Sorted. The caller frees. */
struct members {
        size_t n;
        char line[96][256];
};

struct members *members_introspect(struct stage *s, const char *path, const char *interface);
struct members *members_new(void);
void members_add(struct members *m, const char *line);
void members_sort(struct members *m);
