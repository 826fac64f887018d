/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>

#include "act/caps.h"
#include "act/ranges.h"
#include "base/macro.h"
#include "base/parse.h"
#include "sample/maps.h"
#include "sample/sysroot.h"

/* Some 100,000 mappings. */
#define MAPS_LIMIT ((size_t) 16 << 20)

struct ranges {
        struct hn_page_range *ranges;
        size_t n, allocated;
};

static int add(struct ranges *r, uint64_t start, uint64_t end) {
        if (r->n > 0 && r->ranges[r->n - 1].end == start) {
                r->ranges[r->n - 1].end = end;
                return 0;
        }
        if (r->n == r->allocated) {
                size_t more = r->allocated ? 2 * r->allocated : 32;
                struct hn_page_range *ranges = realloc(r->ranges, more * sizeof(*ranges));

                if (!ranges)
                        return -ENOMEM;
                r->ranges = ranges;
                r->allocated = more;
        }
        r->ranges[r->n++] = (struct hn_page_range){ .start = start, .end = end };
        return 0;
}

static bool next_map(const char **text, size_t *n, struct hn_map *ret) {
        const char *line;
        size_t k;

        while (hn_next_line(text, n, &line, &k))
                if (hn_map_parse(line, k, ret) == 0)
                        return true;
        return false;
}

static bool next_numa_map(const char **text, size_t *n, struct hn_numa_map *ret) {
        const struct hn_topology nowhere = HN_TOPOLOGY_NULL; /* the counts by node are not asked for */
        const char *line;
        size_t k;

        while (hn_next_line(text, n, &line, &k))
                if (hn_numa_map_parse(line, k, &nowhere, NULL, ret) == 0)
                        return true;
        return false;
}

static bool is_movable(const struct hn_map *m, const struct hn_numa_map *nm) {
        return hn_map_is_private_memory(m) && m->end > m->start && nm->policy == HN_MEMPOLICY_DEFAULT &&
               !nm->file && !nm->huge && nm->anon > 0;
}

int hn_page_ranges_parse(const char *maps, size_t n_maps, const char *numa_maps, size_t n_numa_maps,
                         struct hn_page_range **ret, size_t *ret_n) {
        struct ranges ranges = {};
        struct hn_map m;
        struct hn_numa_map nm;
        uint64_t end = 0;
        bool more = next_map(&maps, &n_maps, &m) && next_numa_map(&numa_maps, &n_numa_maps, &nm);

        while (more)
                if (m.start < nm.start)
                        more = next_map(&maps, &n_maps, &m);
                else if (nm.start < m.start)
                        more = next_numa_map(&numa_maps, &n_numa_maps, &nm);
                else {
                        /* The kernel sorts them; a text that does not is not the kernel's. */
                        if (m.start >= end && is_movable(&m, &nm) && add(&ranges, m.start, m.end) < 0) {
                                free(ranges.ranges);
                                return -ENOMEM;
                        }
                        end = HN_MAX(end, m.end);
                        more = next_map(&maps, &n_maps, &m) && next_numa_map(&numa_maps, &n_numa_maps, &nm);
                }
        *ret = ranges.ranges;
        *ret_n = ranges.n;
        return 0;
}

int hn_page_ranges_read(int proc_fd, pid_t pid, struct hn_page_range **ret, size_t *ret_n) {
        _hn_cleanup_(hn_freep) char *maps = NULL, *numa_maps = NULL;
        _hn_cleanup_(hn_caps_lowerp) struct hn_caps caps = HN_CAPS_NULL;
        ssize_t n, k;
        int r;

        r = hn_caps_raise(&caps, CAP_SYS_PTRACE);
        if (r < 0)
                return r;
        n = hn_read_all_at(proc_fd, MAPS_LIMIT, &maps, "%d/maps", pid);
        if (n < 0)
                return (int) n;
        k = hn_read_all_at(proc_fd, MAPS_LIMIT, &numa_maps, "%d/numa_maps", pid);
        if (k < 0)
                return (int) k;
        return hn_page_ranges_parse(maps, (size_t) n, numa_maps, (size_t) k, ret, ret_n);
}
