/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The whole initrd of the guest: load the modules that the root disk needs, mount it, hand over. Debian's own
 * initrd does the same with a shell, udev and 15 MB to unpack, which costs ten seconds of every emulated
 * boot. */

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The disk driver probes in the background once its module is in: up to 10 s, looked at every 10 ms. */
#define DISK_TRIES 1000U

static int fail(const char *what, const char *name) {
        fprintf(stderr, "init: %s %s: %s\n", what, name, strerror(errno));
        return 1;
}

static int module_load(const char *path) {
        int fd, r;

        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        r = syscall(SYS_finit_module, fd, "", 0) < 0 && errno != EEXIST ? -errno : 0;
        (void) close(fd);
        return r;
}

/* "modules.order" lists the modules by path, each after those it depends on. */
static int modules_load(const char *list) {
        char line[256];
        FILE *f;

        f = fopen(list, "re");
        if (!f)
                return fail("cannot open", list);
        while (fgets(line, sizeof(line), f)) {
                line[strcspn(line, "\n")] = 0;
                if (line[0] != 0 && module_load(line) < 0)
                        fail("cannot load", line);
        }
        return fclose(f) != 0;
}

int main(void) {
        static char *const argv[] = { (char *) "/sbin/init", NULL };
        unsigned i;

        (void) mkdir("/dev", 0755);
        (void) mkdir("/root", 0755);
        if (mount("devtmpfs", "/dev", "devtmpfs", 0, NULL) < 0)
                return fail("cannot mount", "/dev");
        if (modules_load("/modules.order") != 0)
                return 1;
        for (i = 0; i < DISK_TRIES && access("/dev/vda", F_OK) < 0; i++)
                (void) usleep(10000);
        if (mount("/dev/vda", "/root", "ext4", MS_NOATIME, NULL) < 0)
                return fail("cannot mount", "/dev/vda");
        if (mount("/dev", "/root/dev", NULL, MS_MOVE, NULL) < 0)
                return fail("cannot move", "/dev");
        if (chdir("/root") < 0 || mount(".", "/", NULL, MS_MOVE, NULL) < 0 || chroot(".") < 0 ||
            chdir("/") < 0)
                return fail("cannot enter", "/root");
        (void) execv(argv[0], argv);
        return fail("cannot start", argv[0]);
}
