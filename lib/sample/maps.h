/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "policy/topology.h"

/* Lines of /proc/PID/maps and /proc/PID/numa_maps, proc(5) and numa(7). One line a call, without its newline,
 * of any length. File names in them are of the observed user's choosing. Return 0 or -EBADMSG. */

enum hn_map_kind {
        HN_MAP_ANON, /* no file and no name, or a name given by prctl(PR_SET_VMA_ANON_NAME) */
        HN_MAP_HEAP,
        HN_MAP_STACK,
        HN_MAP_FILE,    /* has a file, be it memfd, SysV segment or huge page */
        HN_MAP_SPECIAL, /* [vdso], [vvar], [vsyscall], [anon_shmem:..] and whatever comes later */
};

struct hn_map {
        uint64_t start, end; /* bytes, end excluded; start <= end */
        enum hn_map_kind kind;
        bool readable, writable, executable, shared;
};

int hn_map_parse(const char *line, size_t n, struct hn_map *ret);

/* Whether its pages are a process's own working memory: private, writable, of no file. */
bool hn_map_is_private_memory(const struct hn_map *m);

enum hn_mempolicy {
        HN_MEMPOLICY_DEFAULT, /* and local: the kernel's own choice, which may be improved */
        HN_MEMPOLICY_PREFER,  /* prefer, prefer (many) */
        HN_MEMPOLICY_BIND,
        HN_MEMPOLICY_INTERLEAVE, /* interleave, weighted interleave */
        HN_MEMPOLICY_OTHER,      /* a name of a later kernel: somebody's explicit wish */
        _HN_MEMPOLICY_MAX,
};

struct hn_numa_map {
        uint64_t start;
        enum hn_mempolicy policy;
        bool file, heap, stack, huge;
        uint64_t anon;    /* pages of the mapping's own size that belong to no file */
        uint64_t mapmax;  /* processes that share the most shared page, 1 for none */
        uint32_t page_kb; /* kernelpagesize_kB, 0 where the line does not say */
};

/* The pages by node (of the mapping's own page size) are *added* to `pages`, topo->n_nodes of them; nodes the
 * topology does not know are left out. Only whole words of the form N<id>=<count> count. */
int hn_numa_map_parse(const char *line, size_t n, const struct hn_topology *topo, uint64_t *pages,
                      struct hn_numa_map *ret);
