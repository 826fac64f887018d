/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "machine.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "probe.h"

static bool read_line(const char *path, const char *label, char *buf, size_t size) {
        FILE *f = fopen(path, "re");
        char line[8192];
        bool found = false;

        while (f && !found && fgets(line, sizeof(line), f)) {
                found = strncmp(line, label, strlen(label)) == 0;
                line[strcspn(line, "\n")] = '\0';
                if (found)
                        (void) snprintf(buf, size, "%s", line + strlen(label));
        }
        if (f)
                (void) fclose(f);
        return found;
}

static bool is_four(void) {
        bool four = sysconf(_SC_NPROCESSORS_CONF) == 8;
        char path[64];

        for (int i = 0; i <= 4; i++) {
                (void) snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpu%d", i, 2 * i + 1);
                four = four && (access(path, F_OK) == 0) == (i < 4);
        }
        return four;
}

static unsigned kind(void) {
        char mems[4096] = "", cpus[4096] = "", nodes[4096] = "0", online[4096] = "";

        (void) read_line("/proc/self/status", "Mems_allowed_list:\t", mems, sizeof(mems));
        (void) read_line("/proc/self/status", "Cpus_allowed_list:\t", cpus, sizeof(cpus));
        (void) read_line("/sys/devices/system/node/online", "", nodes, sizeof(nodes));
        (void) read_line("/sys/devices/system/cpu/online", "", online, sizeof(online));
        if (is_four() && strcmp(mems, "1,3") == 0 && strcmp(cpus, "2-3,6-7") == 0)
                return ON_CPUSET;
        if (strcmp(mems, nodes) != 0 || strcmp(cpus, online) != 0)
                return 0;
        return is_four() ? ON_FOUR : ON_ANY;
}

int machine_look(const struct side *numactl, const char *self, const char *folder, struct machine *ret) {
        const struct row version = { .args = "--version @0" }, usable = { .args = "-l true @0" };
        static struct outcome o;
        int r;

        r = invoke(numactl, &usable, self, folder, &o);
        if (r < 0 || !o.good)
                return r < 0 ? r : -ENOEXEC;
        r = invoke(numactl, &version, self, folder, &o);
        if (r < 0)
                return r;
        *ret = (struct machine){ .on = kind(), .later = o.good, .weighted = probe_has_weighted() };
        return 0;
}
