/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/parse.h"
#include "sample/maps.h"
#include "sample/movepages.h"
#include "sample/residency.h"

/* The second round, and how few resident pages call for it. */
#define MORE_PAGES   1024u
#define RESIDENT_MIN 8u

/* 65,530 mappings (the kernel's default limit) with short names; numa_maps has longer lines. */
#define MAPS_MAX      (8u << 20)
#define NUMA_MAPS_MAX (64u << 20)

enum hn_page_status hn_page_status_of(int status) {
        if (status >= 0)
                return HN_PAGE_ON_NODE;
        switch (-status) {
        case ENOENT: return HN_PAGE_ABSENT;
        case EFAULT: return HN_PAGE_UNMAPPED;
        case EACCES: return HN_PAGE_SHARED;
        case EBUSY:
        case EAGAIN: return HN_PAGE_BUSY;
        default: return HN_PAGE_FAILED;
        }
}

/* A well mixed number from a counter (splitmix64, Steele, Lea and Flood 2014). */
static uint64_t mix(uint64_t x) {
        x += UINT64_C(0x9e3779b97f4a7c15);
        x = (x ^ (x >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
        x = (x ^ (x >> 27)) * UINT64_C(0x94d049bb133111eb);
        return x ^ (x >> 31);
}

/* The next mapping that counts, in whole pages. Returns false at the end of the text. */
static bool next_range(const char **maps, size_t *n, size_t page_size, uint64_t *ret_start,
                       uint64_t *ret_pages) {
        const char *line;
        size_t length;

        while (hn_next_line(maps, n, &line, &length)) {
                struct hn_map m;

                if (hn_map_parse(line, length, &m) < 0 || !hn_map_is_private_memory(&m) ||
                    m.end - m.start < page_size)
                        continue;
                *ret_start = m.start;
                *ret_pages = (m.end - m.start) / page_size;
                return true;
        }
        return false;
}

size_t hn_residency_choose(const char *maps, size_t n, uint64_t seed, size_t page_size, uint64_t cap,
                           size_t k, uint64_t *ret_addresses) {
        uint64_t total = 0, start, pages, before = 0;
        const char *text = maps;
        size_t left = n, chosen = 0;

        while (next_range(&text, &left, page_size, &start, &pages))
                if (__builtin_add_overflow(total, HN_MIN(pages, cap), &total))
                        return 0; /* more than an address space can hold: no such file */
        k = (size_t) HN_MIN((uint64_t) k, total);

        /* The pages in a row are cut into k equal parts and one page is drawn from each: sorted by itself,
         * and a mapping gets as many as its size deserves, give or take one. */
        text = maps;
        left = n;
        while (chosen < k && next_range(&text, &left, page_size, &start, &pages)) {
                uint64_t counted = HN_MIN(pages, cap);

                while (chosen < k) {
                        uint64_t from = (uint64_t) ((__uint128_t) total * chosen / k);
                        uint64_t to = (uint64_t) ((__uint128_t) total * (chosen + 1) / k);
                        uint64_t page = from + mix(seed + chosen) % (to - from);

                        if (page >= before + counted)
                                break;
                        page = (uint64_t) ((__uint128_t) (page - before) * pages / counted);
                        ret_addresses[chosen++] = start + page * page_size;
                }
                before += counted;
        }
        return chosen;
}

void hn_residency_tally(const int *status, size_t n, const struct hn_topology *topo, uint64_t *pages,
                        struct hn_residency *r) {
        r->asked += n;
        for (size_t i = 0; i < n; i++) {
                enum hn_page_status s = hn_page_status_of(status[i]);
                hn_node_index node;

                r->by_status[s]++;
                if (s != HN_PAGE_ON_NODE)
                        continue;
                node = hn_topology_index(topo, (unsigned) status[i]);
                if (node == HN_NODE_NONE)
                        r->elsewhere++;
                else
                        pages[node]++;
        }
}

int hn_query_pages_live(void *userdata, pid_t pid, size_t n, void *const *addresses, int *status) {
        (void) userdata;
        return (int) HN_MIN(hn_move_pages(pid, n, addresses, NULL, status, 0), 0L);
}

static int ask(const struct hn_residency_reader *reader, pid_t pid, uint64_t seed, const char *maps, size_t n,
               uint64_t cap, size_t k, const struct hn_topology *topo, uint64_t *pages,
               struct hn_residency *ret) {
        uint64_t chosen[MORE_PAGES];
        void *addresses[MORE_PAGES];
        int status[MORE_PAGES];
        int r;

        k = hn_residency_choose(maps, n, seed, (size_t) sysconf(_SC_PAGESIZE), cap, k, chosen);
        if (k == 0)
                return 0;
        for (size_t i = 0; i < k; i++) {
                addresses[i] = (void *) (uintptr_t) chosen[i];
                status[i] = -EAGAIN; /* should the kernel leave one out */
        }
        r = hn_privilege_raise(reader->privilege);
        if (r < 0)
                return r;
        r = reader->query(reader->userdata, pid, k, addresses, status);
        hn_privilege_lower(reader->privilege);
        if (r < 0)
                return r;
        hn_residency_tally(status, k, topo, pages, ret);
        return 0;
}

void hn_residency_from_numa_maps(const char *text, size_t n, const struct hn_topology *topo, uint64_t *pages,
                                 uint64_t *scratch, struct hn_residency *ret) {
        struct hn_residency found = { .asked = 0 };
        uint32_t unit = UINT32_MAX;

        /* Twice over the text: the unit is known only at its end. */
        for (unsigned pass = 0; pass < 2; pass++) {
                const char *p = text, *line;
                size_t left = n, length;

                while (hn_next_line(&p, &left, &line, &length)) {
                        struct hn_numa_map m;

                        memset(scratch, 0, topo->n_nodes * sizeof(*scratch));
                        if (hn_numa_map_parse(line, length, topo, scratch, &m) < 0 || m.file || m.huge ||
                            m.anon == 0)
                                continue;
                        if (pass == 0) {
                                if (m.page_kb > 0)
                                        unit = HN_MIN(unit, m.page_kb);
                                continue;
                        }
                        for (size_t i = 0; i < topo->n_nodes; i++) {
                                uint64_t v = m.page_kb > 0 && unit != UINT32_MAX ? m.page_kb / unit : 1;

                                if (__builtin_mul_overflow(v, scratch[i], &v) ||
                                    __builtin_add_overflow(pages[i], v, &pages[i]))
                                        pages[i] = UINT32_MAX;
                        }
                }
        }
        for (size_t i = 0; i < topo->n_nodes; i++)
                found.by_status[HN_PAGE_ON_NODE] += (size_t) pages[i];
        found.asked = found.by_status[HN_PAGE_ON_NODE];
        *ret = found;
}

static int read_captured(const struct hn_residency_reader *reader, pid_t pid, const struct hn_topology *topo,
                         uint64_t *pages, struct hn_residency *ret) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        _hn_cleanup_(hn_freep) uint64_t *scratch = NULL;
        ssize_t n;

        scratch = calloc(topo->n_nodes + 1, sizeof(*scratch));
        if (!scratch)
                return -ENOMEM;
        n = hn_read_all_at(reader->root->fd, NUMA_MAPS_MAX, &text, "proc/%d/numa_maps", pid);
        if (n < 0)
                return (int) n;
        hn_residency_from_numa_maps(text, (size_t) n, topo, pages, scratch, ret);
        return 0;
}

/* The second number of /proc/PID/statm: resident pages of all kinds. Without it, no limit. */
static uint64_t resident_pages(const struct hn_residency_reader *reader, pid_t pid) {
        const char *p, *word;
        size_t length, left;
        char buf[256];
        uint64_t v;
        ssize_t n = hn_read_at(reader->root->fd, buf, sizeof(buf), "proc/%d/statm", pid);

        if (n < 0)
                return UINT64_MAX;
        p = buf;
        left = (size_t) n;
        if (!hn_next_word(&p, &left, &word, &length) || !hn_next_word(&p, &left, &word, &length) ||
            hn_parse_u64(word, length, &v) < 0 || v == 0)
                return UINT64_MAX;
        return v;
}

int hn_residency_read(const struct hn_residency_reader *reader, pid_t pid, uint64_t seed,
                      const struct hn_topology *topo, uint64_t *pages, struct hn_residency *ret) {
        _hn_cleanup_(hn_freep) char *maps = NULL;
        struct hn_residency found = { .asked = 0 };
        ssize_t n;
        int r;

        memset(pages, 0, topo->n_nodes * sizeof(*pages));
        if (!reader->root->live)
                return read_captured(reader, pid, topo, pages, ret);

        r = hn_privilege_raise(reader->privilege);
        if (r < 0)
                return r;
        n = hn_read_all_at(reader->root->fd, MAPS_MAX, &maps, "proc/%d/maps", pid);
        hn_privilege_lower(reader->privilege);
        if (n < 0)
                return (int) n;
        r = ask(reader, pid, seed, maps, (size_t) n, UINT64_MAX, HN_RESIDENCY_PAGES, topo, pages, &found);
        if (r == 0 && found.asked == HN_RESIDENCY_PAGES && found.by_status[HN_PAGE_ON_NODE] < RESIDENT_MIN)
                r = ask(reader, pid, ~seed, maps, (size_t) n, resident_pages(reader, pid), MORE_PAGES, topo,
                        pages, &found);
        if (r < 0)
                return r;
        *ret = found;
        return 0;
}
