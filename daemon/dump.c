/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "act/writeall.h"
#include "base/macro.h"
#include "daemon/bus.h"
#include "daemon/dump.h"
#include "daemon/manager.h"

static int make(const struct hn_state *s) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        size_t n;
        int fd, r;

        r = hn_state_format(s, &text, &n);
        if (r < 0)
                return r;
        fd = memfd_create("homenode-state", MFD_CLOEXEC | MFD_ALLOW_SEALING);
        if (fd < 0)
                return -errno;
        r = hn_write_all(fd, text, n);
        if (r >= 0 && fcntl(fd, F_ADD_SEALS, F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE) < 0)
                r = -errno;
        if (r >= 0)
                return fd;
        (void) close(fd);
        return r;
}

int hn_dump_open(struct hn_bus *b) {
        char path[64];
        int fd;

        if (b->dump < 0 || b->dump_tick != b->manager->state.tick) {
                fd = make(&b->manager->state);
                if (fd < 0)
                        return fd;
                if (b->dump >= 0)
                        (void) close(b->dump);
                b->dump = fd;
                b->dump_tick = b->manager->state.tick;
        }
        /* Opened anew and not duplicated: a duplicate would share its position with all others. */
        (void) snprintf(path, sizeof(path), "/proc/self/fd/%d", b->dump);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}
