/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "counts.h"

#include "guest.h"
#include "wire.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <numaif.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <termios.h>
#include <unistd.h>

#define PAGE         4096U
#define PROBE_PAGES  4U
#define PROBE_LOADS  1000U
#define ANSWER_MSEC  5000
#define ANSWER_BYTES 32768U

static struct {
        int port;
        const struct hn_load_cpus *cpus;
        volatile uint64_t *control;
        int node_of_bucket[HN_EXACT_BUCKETS]; /* index of the node, -1 where no probe went */
} counter = { .port = -1 };

struct cell {
        unsigned arena, vcpu, bucket;
        unsigned long long loads, stores;
};

bool counts_are_open(void) {
        return counter.port >= 0;
}

void counts_switch(bool on) {
        counter.control[on ? HN_EXACT_ON : HN_EXACT_OFF] = 0;
}

static void *fixed_map(uint64_t at, size_t size) {
        void *memory = mmap((void *) (uintptr_t) at, size, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

        return memory == MAP_FAILED ? NULL : memory;
}

/* Asks for a line and reads it: "counts" and cells. */
static int answer_read(char *buf, size_t size) {
        struct pollfd pfd = { .fd = counter.port, .events = POLLIN };
        size_t used = 0;

        counter.control[HN_EXACT_LOOK] = 0;
        while (used + 1 < size && poll(&pfd, 1, ANSWER_MSEC) > 0) {
                ssize_t n = read(counter.port, buf + used, size - 1 - used);

                if (n <= 0)
                        return n < 0 ? -errno : -EPIPE;
                used += (size_t) n;
                buf[used] = 0;
                if (buf[used - 1] == '\n')
                        return strncmp(buf, "counts", 6) == 0 ? 0 : -EBADMSG;
        }
        return used + 1 < size ? -ETIMEDOUT : -E2BIG;
}

/* Calls `each` for the cells of one look. */
static int cells_read(int (*each)(const struct cell *cell, void *data), void *data) {
        static char line[ANSWER_BYTES];
        char *save = NULL;
        int r;

        r = answer_read(line, sizeof(line));
        if (r < 0)
                return r;
        (void) strtok_r(line, " \n", &save);
        for (char *word = strtok_r(NULL, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
                struct cell cell;

                if (sscanf(word, "%u:%u:%u:%llu:%llu", &cell.arena, &cell.vcpu, &cell.bucket, &cell.loads,
                           &cell.stores) != 5 ||
                    cell.bucket >= HN_EXACT_BUCKETS)
                        return -EBADMSG;
                r = each(&cell, data);
                if (r < 0)
                        return r;
        }
        return 0;
}

static unsigned index_of_cpu(unsigned cpu) {
        for (unsigned i = 0; i < counter.cpus->n_nodes; i++)
                if (cpu < HN_LOAD_CPUS_MAX && counter.cpus->nodes[i] == counter.cpus->node[cpu])
                        return i;
        return 0;
}

static int cell_count(const struct cell *cell, void *data) {
        struct counts *counts = data;
        unsigned from = index_of_cpu(cell->vcpu);
        int to = counter.node_of_bucket[cell->bucket];
        uint64_t n = cell->loads + cell->stores;

        if (cell->arena >= HN_LOAD_THREADS_MAX)
                return 0;
        if (to < 0)
                return -EBADMSG;
        counts->loads += cell->loads;
        counts->stores += cell->stores;
        counts->on[from][to] += n;
        counts->all[cell->arena] += n;
        counts->local[cell->arena] += (unsigned) to == from ? n : 0;
        return 0;
}

int counts_look(struct counts *ret) {
        struct counts counts = { 0 };
        int r;

        r = cells_read(cell_count, &counts);
        if (r >= 0 && ret)
                *ret = counts;
        return r;
}

void counts_add(struct counts *sum, const struct counts *more) {
        sum->loads += more->loads;
        sum->stores += more->stores;
        for (unsigned i = 0; i < COUNTS_NODES; i++)
                for (unsigned k = 0; k < COUNTS_NODES; k++)
                        sum->on[i][k] += more->on[i][k];
        for (unsigned i = 0; i < HN_LOAD_THREADS_MAX; i++) {
                sum->all[i] += more->all[i];
                sum->local[i] += more->local[i];
        }
}

double counts_local_share(const struct counts *counts) {
        double local = 0, all = (double) counts->loads + (double) counts->stores;

        for (unsigned i = 0; i < COUNTS_NODES; i++)
                local += (double) counts->on[i][i];
        return all > 0 ? local / all : NAN;
}

struct probe {
        unsigned cpu;
        int node;
        unsigned cells;
};

static int cell_probe(const struct cell *cell, void *data) {
        struct probe *p = data;
        int *node = &counter.node_of_bucket[cell->bucket];

        if (cell->arena != HN_EXACT_ARENA_PROBE || cell->vcpu != p->cpu || cell->loads != PROBE_LOADS ||
            cell->stores != 0 || (*node >= 0 && *node != p->node))
                return -EBADMSG;
        *node = p->node;
        p->cells++;
        return 0;
}

/* Known loads from one CPU of memory on one node. */
static int probe(unsigned cpu, int node, const volatile char *memory) {
        struct probe p = { .cpu = cpu, .node = node };
        cpu_set_t mask;
        int r;

        CPU_ZERO(&mask);
        CPU_SET(cpu, &mask);
        if (sched_setaffinity(0, sizeof(mask), &mask) < 0)
                return -errno;
        counts_switch(true);
        for (unsigned i = 0; i < PROBE_LOADS; i++)
                (void) memory[i % PROBE_PAGES * PAGE + i / PROBE_PAGES];
        counts_switch(false);
        r = cells_read(cell_probe, &p);
        return r < 0 ? r : p.cells == 1 ? 0 : -EBADMSG;
}

static int probe_all(void) {
        const struct hn_load_cpus *cpus = counter.cpus;
        cpu_set_t mask;
        int r = 0;

        if (sched_getaffinity(0, sizeof(mask), &mask) < 0)
                return -errno;
        for (unsigned i = 0; i < cpus->n_nodes && r >= 0; i++) {
                unsigned long nodes = 1UL << cpus->nodes[i];
                char *memory = fixed_map(HN_EXACT_ARENA(HN_EXACT_ARENA_PROBE), PROBE_PAGES * PAGE);

                if (!memory)
                        return -errno;
                if (mbind(memory, PROBE_PAGES * PAGE, MPOL_BIND, &nodes, 8 * sizeof(nodes), 0) < 0 &&
                    errno != ENOSYS)
                        r = -errno;
                for (unsigned page = 0; page < PROBE_PAGES && r >= 0; page++)
                        memory[page * PAGE] = 1;
                for (unsigned cpu = 0; cpu < HN_LOAD_CPUS_MAX && r >= 0; cpu++)
                        if (cpus->node[cpu] >= 0)
                                r = probe(cpu, (int) i, memory);
                (void) munmap(memory, PROBE_PAGES * PAGE);
        }
        (void) sched_setaffinity(0, sizeof(mask), &mask);
        return r;
}

int counts_open(const char *port, const struct hn_load_cpus *cpus) {
        struct termios raw;
        int fd, r;

        if (cpus->n_nodes > COUNTS_NODES)
                return -E2BIG;
        fd = open(port, O_RDWR | O_NOCTTY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        if (tcgetattr(fd, &raw) == 0) {
                cfmakeraw(&raw);
                (void) tcsetattr(fd, TCSANOW, &raw);
        }
        counter.control = fixed_map(HN_EXACT_CONTROL_AT, PAGE);
        if (!counter.control) {
                r = -errno;
                (void) close(fd);
                return r;
        }
        counter.port = fd;
        counter.cpus = cpus;
        memset(counter.node_of_bucket, 0xff, sizeof(counter.node_of_bucket));
        r = probe_all();
        if (r < 0) {
                (void) close(fd);
                counter.port = -1;
        }
        return r;
}
