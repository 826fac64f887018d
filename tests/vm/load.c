/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <numaif.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#define PAGE  4096U
#define BATCH 512U

static int file_read(const char *path, char *buf, size_t size) {
        ssize_t n;
        int fd, r;

        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        n = read(fd, buf, size - 1);
        r = n < 0 ? -errno : 0;
        (void) close(fd);
        if (r == 0)
                buf[n] = 0;
        return r;
}

/* The guest's kernel writes these lists: "0-1,4". */
static void cpus_add(struct hn_load_cpus *cpus, const char *list, int16_t node) {
        char *end = NULL;

        for (const char *p = list; *p >= '0' && *p <= '9'; p = *end == ',' ? end + 1 : end) {
                unsigned long first = strtoul(p, &end, 10);
                unsigned long last = *end == '-' ? strtoul(end + 1, &end, 10) : first;

                for (; first <= last && first < HN_LOAD_CPUS_MAX; first++)
                        cpus->node[first] = node;
        }
}

int hn_load_cpus_read(struct hn_load_cpus *ret) {
        struct hn_load_cpus cpus = { 0 };
        char path[64], list[4096];

        memset(cpus.node, 0xff, sizeof(cpus.node));
        for (int16_t node = 0; node < (int16_t) HN_LOAD_NODES_MAX; node++) {
                (void) snprintf(path, sizeof(path), "/sys/devices/system/node/node%d/cpulist", node);
                if (file_read(path, list, sizeof(list)) < 0 || list[0] < '0' || list[0] > '9')
                        continue;
                cpus_add(&cpus, list, node);
                cpus.nodes[cpus.n_nodes++] = node;
        }
        if (cpus.n_nodes == 0) {
                if (file_read("/sys/devices/system/cpu/online", list, sizeof(list)) < 0)
                        return -ENOENT;
                cpus_add(&cpus, list, 0);
                cpus.n_nodes = 1;
        }
        for (unsigned cpu = 0; cpu < HN_LOAD_CPUS_MAX; cpu++)
                cpus.per_node += cpus.node[cpu] == cpus.nodes[0];
        *ret = cpus;
        return 0;
}

int hn_load_table_open(const char *path, const struct hn_load_table **ret) {
        const struct hn_load_table *table;
        struct stat st;
        int fd, r;

        fd = open(path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        if (fstat(fd, &st) < 0) {
                r = -errno;
                (void) close(fd);
                return r;
        }
        if ((size_t) st.st_size < sizeof(*table)) {
                (void) close(fd);
                return -EBADMSG;
        }
        table = mmap(NULL, sizeof(*table), PROT_READ, MAP_SHARED, fd, 0);
        r = table == MAP_FAILED ? -errno : 0;
        (void) close(fd);
        if (r < 0)
                return r;
        if (table->magic != HN_LOAD_MAGIC || table->n_threads > HN_LOAD_THREADS_MAX ||
            atomic_load(&((struct hn_load_table *) (uintptr_t) table)->ready) == 0) {
                (void) munmap((void *) (uintptr_t) table, sizeof(*table));
                return -EBADMSG;
        }
        *ret = table;
        return 0;
}

int hn_load_stat(int pid, int tid, int *ret_cpu, uint64_t *ret_start) {
        char path[64], buf[1024], *p, *save = NULL;
        uint64_t start = 0;
        int r, field;

        (void) snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
        r = file_read(path, buf, sizeof(buf));
        if (r < 0)
                return r == -ENOENT ? -ESRCH : r;
        p = strrchr(buf, ')');
        if (!p)
                return -EBADMSG;
        field = 3;
        for (p = strtok_r(p + 1, " ", &save); p; p = strtok_r(NULL, " ", &save), field++) {
                if (field == 22)
                        start = strtoull(p, NULL, 10);
                if (field == 39) {
                        *ret_cpu = atoi(p);
                        *ret_start = start;
                        return 0;
                }
        }
        return -EBADMSG;
}

/* Asks for the nodes of `n` pages, `step` pages apart, from page `first` on. */
static int pages_query(const struct hn_load_thread *thread, uint64_t first, uint64_t step, size_t n,
                       int *ret) {
        void *addresses[BATCH];

        for (size_t i = 0; i < n; i++)
                addresses[i] = (void *) (uintptr_t) (thread->buffer + (first + i * step) * PAGE);
        return move_pages(thread->pid, n, addresses, NULL, ret, 0) < 0 ? -errno : 0;
}

int hn_load_pages(const struct hn_load_thread *thread, int8_t *ret) {
        int status[BATCH];

        for (uint64_t page = 0; page < thread->pages; page += BATCH) {
                size_t n = thread->pages - page < BATCH ? (size_t) (thread->pages - page) : BATCH;
                int r = pages_query(thread, page, 1, n, status);

                if (r < 0)
                        return r;
                for (size_t i = 0; i < n; i++)
                        ret[page + i] = (int8_t) (status[i] < 0 ? -1 : status[i]);
        }
        return 0;
}

/* The share of a thread's buffer on `node` from its line in numa_maps: dear, since the kernel walks all of
 * the process's pages for it, but there the pages which a NUMA scan has marked count too. NaN when there is
 * no such line. */
static double maps_share(const struct hn_load_thread *thread, int node) {
        char path[64], line[512];
        double local = 0, all = 0;
        FILE *f;

        (void) snprintf(path, sizeof(path), "/proc/%d/numa_maps", thread->pid);
        f = fopen(path, "re");
        if (!f)
                return NAN;
        while (fgets(line, sizeof(line), f)) {
                char *save = NULL, *word = strtok_r(line, " \n", &save);
                unsigned long long pages;
                int on;

                if (!word || strtoull(word, NULL, 16) != thread->buffer)
                        continue;
                while ((word = strtok_r(NULL, " \n", &save)))
                        if (sscanf(word, "N%d=%llu", &on, &pages) == 2) {
                                all += (double) pages;
                                local += on == node ? (double) pages : 0;
                        }
                break;
        }
        (void) fclose(f);
        return all > 0 ? local / all : NAN;
}

static uint64_t sweeps_read(const struct hn_load_thread *thread) {
        uint64_t value = 0;
        struct iovec here = { .iov_base = &value, .iov_len = sizeof(value) };
        struct iovec there = { .iov_base = (void *) (uintptr_t) thread->counter, .iov_len = sizeof(value) };

        /* The counter has a page of its own: reading it from here adds no NUMA fault to the buffer's. */
        return process_vm_readv(thread->pid, &here, 1, &there, 1, 0) == (ssize_t) sizeof(value) ? value : 0;
}

unsigned hn_load_owner(unsigned i, unsigned threads, uint64_t swap, uint64_t elapsed) {
        unsigned turn = swap > 0 ? (unsigned) (elapsed / swap % threads) : 0;

        return i - i % threads + (i % threads + turn) % threads;
}

static uint64_t elapsed(const struct hn_load_table *table) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_MONOTONIC, &ts);
        return (uint64_t) ts.tv_sec * 1000000ULL + (uint64_t) ts.tv_nsec / 1000ULL - table->go;
}

int hn_load_sample(const struct hn_load_table *table, const struct hn_load_cpus *cpus, unsigned seed,
                   struct hn_load_sample *ret) {
        struct hn_load_sample sample = { .n_threads = table->n_threads };
        uint64_t now = elapsed(table);
        double sum = 0;

        for (unsigned i = 0; i < table->n_threads; i++) {
                const struct hn_load_thread *thread = &table->threads[i];
                const struct hn_load_thread
                        *owner = &table->threads[hn_load_owner(i, table->threads_each, table->swap, now)];
                uint64_t step = owner->pages / HN_LOAD_ADDRESSES, start;
                int status[HN_LOAD_ADDRESSES], node, r;
                unsigned local = 0, present = 0;

                sample.cpu[i] = -1;
                sample.thread_share[i] = NAN;
                if (now < thread->delay) {
                        sample.n_waiting++;
                        continue;
                }
                r = hn_load_stat(thread->pid, thread->tid, &sample.cpu[i], &start);
                if (r >= 0)
                        r = pages_query(owner, seed % step, step, HN_LOAD_ADDRESSES, status);
                if (r == -ESRCH) {
                        sample.n_gone++;
                        continue;
                }
                if (r < 0)
                        return r;
                node = sample.cpu[i] < (int) HN_LOAD_CPUS_MAX ? cpus->node[sample.cpu[i]] : -1;
                for (unsigned k = 0; k < HN_LOAD_ADDRESSES; k++) {
                        present += status[k] >= 0;
                        local += status[k] >= 0 && status[k] == node;
                }
                if (node >= 0)
                        sample.on_node[node]++;
                /* Linux 6.1 to 6.5 call a page absent while the NUMA scan has it marked, and a scan marks a
                 * whole buffer at once: that is no answer, and not the answer "remote". */
                sample.thread_share[i] = present >= HN_LOAD_ADDRESSES / 2 ? local / (double) present
                                                                          : maps_share(owner, node);
                if (!isnan(sample.thread_share[i])) {
                        sum += sample.thread_share[i];
                        sample.n_answered++;
                }
                sample.sweeps += sweeps_read(thread);
        }
        sample.share = sample.n_answered > 0 ? sum / sample.n_answered : NAN;
        *ret = sample;
        return 0;
}
