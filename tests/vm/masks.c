/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "guest.h"
#include "load.h"
#include "masks.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* A thread that ends meanwhile is none. */
static int add(struct masks *ret, int tid) {
        struct mask_entry entry = { .tid = tid };
        int cpu;

        if (ret->n == MASKS_MAX)
                return -E2BIG;
        if (hn_load_stat(tid, tid, &cpu, &entry.start) >= 0 &&
            sched_getaffinity(tid, sizeof(entry.mask), &entry.mask) == 0)
                ret->entries[ret->n++] = entry;
        return 0;
}

int masks_take(const char *unit, struct masks *ret) {
        char path[256], buf[8192], *end;
        int r;

        (void) snprintf(path, sizeof(path), "/sys/fs/cgroup/system.slice/%s/cgroup.threads", unit);
        r = guest_file_read(path, buf, sizeof(buf));
        if (r < 0)
                return r;
        ret->n = 0;
        for (char *p = buf; *p != 0; p = *end == '\n' ? end + 1 : end) {
                int tid = (int) strtol(p, &end, 10);

                if (end == p)
                        return -EBADMSG;
                r = add(ret, tid);
                if (r < 0)
                        return r;
        }
        return 0;
}

/* What is in /proc/PATH by number, each handed to `f`. */
static int each_number(const char *path, struct masks *ret, int (*f)(struct masks *ret, int number)) {
        DIR *dir = opendir(path);
        const struct dirent *d;
        int r = 0;

        if (!dir)
                return 0;
        while (r >= 0 && (d = readdir(dir)))
                if (d->d_name[0] >= '1' && d->d_name[0] <= '9')
                        r = f(ret, (int) strtol(d->d_name, NULL, 10));
        (void) closedir(dir);
        return r;
}

static int add_process(struct masks *ret, int pid) {
        char path[64], command[64];

        /* A thread of the kernel has no command line; its mask is the kernel's to change. */
        (void) snprintf(path, sizeof(path), "/proc/%d/cmdline", pid);
        if (guest_file_read(path, command, sizeof(command)) < 0 || command[0] == '\0')
                return 0;
        (void) snprintf(path, sizeof(path), "/proc/%d/task", pid);
        return each_number(path, ret, add);
}

int masks_take_all(struct masks *ret) {
        ret->n = 0;
        return each_number("/proc", ret, add_process);
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
