/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "busy.h"

#include "guest.h"

#include <stdio.h>
#include <string.h>

/* Ticks by CPU at the last look. */
static struct ticks { unsigned long long work, all; } last[HN_LOAD_CPUS_MAX];
static bool known;

/* "cpuN user nice system idle iowait irq softirq steal ...": all but the fourth and fifth are work. */
static void line_add(const char *line, const struct hn_load_cpus *cpus, struct busy *busy) {
        unsigned long long v[8];
        struct ticks now, was;
        unsigned cpu;

        if (sscanf(line, "cpu%u %llu %llu %llu %llu %llu %llu %llu %llu", &cpu, &v[0], &v[1], &v[2], &v[3],
                   &v[4], &v[5], &v[6], &v[7]) != 9 ||
            cpu >= HN_LOAD_CPUS_MAX)
                return;
        now.work = v[0] + v[1] + v[2] + v[5] + v[6] + v[7];
        now.all = now.work + v[3] + v[4];
        was = last[cpu];
        last[cpu] = now;
        for (unsigned i = 0; i < cpus->n_nodes; i++)
                if (cpus->nodes[i] == cpus->node[cpu] && now.all > was.all)
                        busy->cpus[i] += (double) (now.work - was.work) / (double) (now.all - was.all);
}

bool busy_look(const struct hn_load_cpus *cpus, struct busy *ret) {
        struct busy busy = { 0 };
        char text[16384], *save = NULL;
        bool first = !known;

        if (guest_file_read("/proc/stat", text, sizeof(text)) < 0)
                return false;
        for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
                if (strncmp(line, "cpu", 3) == 0 && line[3] != ' ')
                        line_add(line, cpus, &busy);
        known = true;
        *ret = busy;
        return !first;
}

void busy_forget(void) {
        known = false;
}
