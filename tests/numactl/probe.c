/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "probe.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/* By themselves, and not by the functions under test. */
#define F_ADDR         2UL
#define F_MEMS_ALLOWED 4UL
#define F_BALANCING    (1u << 13)
#define WEIGHTED       6
#define BITS           (HN_MASK_BITS + 1UL)
#define PAGES          8u

static const char *const names[] = { "default",        "preferred",          "bind", "interleave", "local",
                                     "preferred-many", "weighted-interleave" };

void probe_print_list(FILE *f, const struct hn_mask *m) {
        char list[HN_MASK_LIST_MAX];

        (void) hn_mask_print_list(m, list, sizeof(list));
        fputs(list, f);
}

static void print_mode(FILE *f, unsigned mode) {
        unsigned flags = mode & ~0xffu;

        mode &= 0xff;
        if (mode < sizeof(names) / sizeof(names[0]))
                fputs(names[mode], f);
        else
                fprintf(f, "[%u]", mode);
        if (flags)
                fprintf(f, flags == F_BALANCING ? "+balancing" : "+%#x", flags);
}

/* The policy column of the mapping that begins at `start`: all before the page counts. */
static void print_maps(const void *start) {
        FILE *f = fopen("/proc/self/numa_maps", "re");
        char line[1024], address[32], *end;

        (void) snprintf(address, sizeof(address), "%lx ", (unsigned long) start);
        while (f && fgets(line, sizeof(line), f)) {
                if (strncmp(line, address, strlen(address)) != 0)
                        continue;
                end = strstr(line, " anon=");
                if (end)
                        *end = '\0';
                printf(" maps=%s", line + strlen(address));
        }
        if (f)
                (void) fclose(f);
}

/* Files besides the three, signals, the mask for new files, and whether the one that was started has become
 * this or has made a child. */
static void print_inherited(void) {
        const char *parent = getenv(PROBE_PARENT);
        mode_t mask = umask(0);
        struct sigaction action;
        sigset_t blocked;

        for (int fd = 3; fd < 64; fd++)
                if (fcntl(fd, F_GETFD) >= 0)
                        printf(" fd=%d", fd);
        (void) sigprocmask(SIG_SETMASK, NULL, &blocked);
        for (int signal = 1; signal < 32; signal++) {
                if (sigismember(&blocked, signal) == 1)
                        printf(" blocked=%d", signal);
                if (sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN)
                        printf(" ignored=%d", signal);
        }
        printf(" umask=%o%s", (unsigned) mask, !parent || atoi(parent) == getppid() ? "" : " child");
}

int probe_main(int argc, char **argv) {
        size_t page = (size_t) sysconf(_SC_PAGESIZE);
        struct hn_mask nodes = HN_MASK_NULL, mems = HN_MASK_NULL, cpus = HN_MASK_NULL;
        int mode = 0;
        char *map;

        if (syscall(SYS_get_mempolicy, &mode, nodes.word, BITS, NULL, 0UL) < 0 ||
            syscall(SYS_get_mempolicy, NULL, mems.word, BITS, NULL, F_MEMS_ALLOWED) < 0 ||
            syscall(SYS_sched_getaffinity, 0, sizeof(cpus.word), cpus.word) < 0)
                return 1;
        fputs("policy=", stdout);
        print_mode(stdout, (unsigned) mode);
        fputs(" nodes=", stdout);
        probe_print_list(stdout, &nodes);
        fputs(" cpus=", stdout);
        probe_print_list(stdout, &cpus);
        fputs(" mems=", stdout);
        probe_print_list(stdout, &mems);
        /* Between two pages that nobody may touch: no neighbour to be merged with. */
        map = mmap(NULL, (PAGES + 2) * page, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (map == MAP_FAILED || mprotect(map + page, PAGES * page, PROT_READ | PROT_WRITE) < 0)
                return 1;
        memset(map + page, 1, PAGES * page);
        print_maps(map + page);
        for (int i = 0; i < argc; i++)
                printf(" [%s]", argv[i]);
        print_inherited();
        putchar('\n');
        return 0;
}

static void print_pages(FILE *f, char *start, size_t length) {
        size_t page = (size_t) sysconf(_SC_PAGESIZE), n = 0;
        struct hn_mask before = HN_MASK_NULL;
        int mode_before = 0;

        for (size_t at = 0; at <= length; at += page) {
                struct hn_mask nodes = HN_MASK_NULL;
                int mode = 0;

                if (at < length &&
                    syscall(SYS_get_mempolicy, &mode, nodes.word, BITS, start + at, F_ADDR) < 0) {
                        fputs("unknown", f);
                        return;
                }
                if (n > 0 && (at >= length || mode != mode_before || !hn_mask_equal(&nodes, &before))) {
                        print_mode(f, (unsigned) mode_before);
                        fputc(':', f);
                        probe_print_list(f, &before);
                        fprintf(f, " x%zu%s", n, at < length ? ", " : "");
                        n = 0;
                }
                before = nodes;
                mode_before = mode;
                n++;
        }
}

void probe_file(FILE *f, const char *path) {
        int fd = open(path, O_RDWR | O_CLOEXEC);
        struct stat st;
        char *map;

        if (fd < 0)
                return;
        if (fstat(fd, &st) == 0) {
                fprintf(f, "size=%lld mode=%o file=", (long long) st.st_size, st.st_mode & 07777);
                map = mmap(NULL, (size_t) st.st_size, PROT_READ, MAP_SHARED, fd, 0);
                if (map != MAP_FAILED)
                        print_pages(f, map, (size_t) st.st_size);
                fputc('\n', f);
        }
        (void) close(fd);
}

void probe_shm(FILE *f, const char *key_path, int id) {
        key_t key = ftok(key_path, id);
        struct shmid_ds info;
        struct stat st;
        char *map;
        int shm;

        if (key == (key_t) -1)
                return;
        if (stat(key_path, &st) == 0)
                fprintf(f, "key mode=%o ", st.st_mode & 07777);
        shm = shmget(key, 0, 0);
        if (shm >= 0 && shmctl(shm, IPC_STAT, &info) == 0) {
                fprintf(f, "size=%zu mode=%o shm=", info.shm_segsz, info.shm_perm.mode & 07777);
                map = shmat(shm, NULL, SHM_RDONLY);
                if (map != (void *) -1)
                        print_pages(f, map, info.shm_segsz);
                /* Else every run would leave one behind. */
                (void) shmctl(shm, IPC_RMID, NULL);
        }
        fputc('\n', f);
}

bool probe_has_weighted(void) {
        pid_t pid = fork();
        int status = 0;

        if (pid == 0) {
                struct hn_mask mems = HN_MASK_NULL;

                (void) syscall(SYS_get_mempolicy, NULL, mems.word, BITS, NULL, F_MEMS_ALLOWED);
                _exit(syscall(SYS_set_mempolicy, WEIGHTED, mems.word, BITS) == 0 ? 0 : 1);
        }
        return pid > 0 && waitpid(pid, &status, 0) == pid && status == 0;
}
