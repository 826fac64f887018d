/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "guest.h"
#include "load.h"
#include "masks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

int masks_take(const char *unit, struct masks *ret) {
        char path[256], buf[8192], *end;
        int r;

        (void) snprintf(path, sizeof(path), "/sys/fs/cgroup/system.slice/%s/cgroup.threads", unit);
        r = guest_file_read(path, buf, sizeof(buf));
        if (r < 0)
                return r;
        ret->n = 0;
        for (char *p = buf; *p != 0; p = *end == '\n' ? end + 1 : end) {
                struct mask_entry entry;
                int cpu;

                entry.tid = (int) strtol(p, &end, 10);
                if (end == p)
                        return -EBADMSG;
                if (ret->n == MASKS_MAX)
                        return -E2BIG;
                if (hn_load_stat(entry.tid, entry.tid, &cpu, &entry.start) < 0 ||
                    sched_getaffinity(entry.tid, sizeof(entry.mask), &entry.mask) < 0)
                        continue;
                ret->entries[ret->n++] = entry;
        }
        return 0;
}

const struct mask_entry *masks_find(const struct masks *m, int tid, uint64_t start) {
        for (size_t i = 0; i < m->n; i++)
                if (m->entries[i].tid == tid && m->entries[i].start == start)
                        return &m->entries[i];
        return NULL;
}

size_t masks_changed(const struct masks *before, const struct masks *now, const cpu_set_t *inherited) {
        size_t changed = 0;

        for (size_t i = 0; i < now->n; i++) {
                const struct mask_entry *was = masks_find(before, now->entries[i].tid, now->entries[i].start);
                const cpu_set_t *want = was ? &was->mask : inherited;

                changed += want && !CPU_EQUAL(want, &now->entries[i].mask);
        }
        return changed;
}

const char *mask_print(const cpu_set_t *mask, char *buf, size_t size) {
        size_t used = 0;

        buf[0] = 0;
        for (unsigned cpu = 0; cpu < CPU_SETSIZE && used < size; cpu++) {
                unsigned last = cpu;

                if (!CPU_ISSET(cpu, mask))
                        continue;
                while (last + 1 < CPU_SETSIZE && CPU_ISSET(last + 1, mask))
                        last++;
                used += (size_t) snprintf(buf + used, size - used, last > cpu ? "%s%u-%u" : "%s%u",
                                          used > 0 ? "," : "", cpu, last);
                cpu = last;
        }
        return buf;
}
