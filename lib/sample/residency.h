/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "policy/topology.h"
#include "sample/privilege.h"
#include "sample/sysroot.h"

/* On which nodes a process's own memory lies, by asking move_pages(2) about a few addresses and moving
 * nothing. A sample of 64 pages errs by 6 % (one sigma) and costs some 20 us; numa_maps would walk all page
 * tables. */

/* What a status of move_pages(2) says about one page. */
enum hn_page_status {
        HN_PAGE_ON_NODE,  /* resident, the status is its node id */
        HN_PAGE_ABSENT,   /* -ENOENT: never touched, swapped out, or the memory of a device */
        HN_PAGE_UNMAPPED, /* -EFAULT: nothing mapped there any more, or the shared page of zeroes */
        HN_PAGE_SHARED,   /* -EACCES: mapped by several processes */
        HN_PAGE_BUSY,     /* -EBUSY, -EAGAIN: could not be taken hold of just now */
        HN_PAGE_FAILED,   /* -ENOMEM, -EIO and whatever comes */
        _HN_PAGE_STATUS_MAX,
};

enum hn_page_status hn_page_status_of(int status);

/* Picks up to `k` page addresses out of the text of /proc/PID/maps: private writable memory of no file, each
 * byte of it equally likely, spread evenly and in ascending order. No mapping counts for more than `cap`
 * pages, which are then spread over all of it. The same text and `seed` give the same addresses. Returns how
 * many; fewer than `k` only where there are fewer pages than that. */
size_t hn_residency_choose(const char *maps, size_t n, uint64_t seed, size_t page_size, uint64_t cap,
                           size_t k, uint64_t *ret_addresses);

/* What a look found. */
struct hn_residency {
        size_t asked; /* addresses asked about */
        size_t by_status[_HN_PAGE_STATUS_MAX];
        size_t elsewhere; /* of those on a node, how many were on one that the topology does not know */
};

/* Counts statuses: pages by node index are added to `pages`, topo->n_nodes of them. */
void hn_residency_tally(const int *status, size_t n, const struct hn_topology *topo, uint64_t *pages,
                        struct hn_residency *r);

/* The kernel call: fills `status` for `n` pages of process `pid`. Returns 0 or -errno. */
typedef int (*hn_query_pages_fn)(void *userdata, pid_t pid, size_t n, void *const *addresses, int *status);

int hn_query_pages_live(void *userdata, pid_t pid, size_t n, void *const *addresses, int *status);

struct hn_residency_reader {
        const struct hn_sysroot *root;
        const struct hn_privilege *privilege;
        hn_query_pages_fn query;
        void *userdata;
};

#define HN_RESIDENCY_PAGES 64u

/* Looks at process `pid`: by the query on a live root, by its numa_maps on a captured one. Where fewer than 8
 * of 64 pages were resident (thread stacks and arenas are mostly air) a second, larger round is added, in
 * which no mapping weighs more than all that the process has resident. `pages` (topo->n_nodes) is
 * overwritten. Returns 0 even if nothing was found, -ESRCH or -ENOENT for a process that is gone, -EPERM or
 * -EACCES where it may not be looked at, -ENOBUFS for more mappings than we want to read. */
int hn_residency_read(const struct hn_residency_reader *reader, pid_t pid, uint64_t seed,
                      const struct hn_topology *topo, uint64_t *pages, struct hn_residency *ret);

/* The same from the text of numa_maps, which counts all resident pages: those without a file and not huge, in
 * units of the smallest page size seen. */
void hn_residency_from_numa_maps(const char *text, size_t n, const struct hn_topology *topo, uint64_t *pages,
                                 uint64_t *scratch, struct hn_residency *ret);
