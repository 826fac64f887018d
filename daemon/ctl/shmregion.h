/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "mempolicy.h"
#include "why.h"

/* A part of a System V shared memory segment, or of a file in tmpfs or hugetlbfs: the memory policy that it
 * gets here stays with it for all who map it. */
struct hn_shm_region {
        char *start; /* mapped; NULL: nothing is */
        uint64_t length, offset;
        size_t page; /* what the policy is in steps of */
        void *map;
        size_t map_length; /* 0: a segment, to be detached */
        bool fleeting;     /* the file system does not keep policies: they last as long as this process */
};

#define HN_SHM_REGION_NULL ((struct hn_shm_region){})

struct hn_shm_wish {
        const char *name;
        uint64_t length, offset; /* length 0: from the offset to the end of what is there */
        mode_t mode;             /* of what has to be made */
        int id;                  /* segment: ftok(3)'s second argument */
        bool huge;               /* segment: of huge pages */
};

/* The segment whose key belongs to file and id; both are made if they are not there, which needs a length.
 * What was made is said on `say`. Returns 0, -EINVAL for a length or offset that is not whole pages or not
 * there, or -errno; the caller closes `*ret`. */
int hn_shm_region_attach(const struct hn_shm_wish *wish, FILE *say, struct hn_shm_region *ret,
                         struct hn_why *why);

/* The file, made or lengthened as needed. As above. A length must be given. */
int hn_shm_region_map(const struct hn_shm_wish *wish, struct hn_shm_region *ret, struct hn_why *why);

void hn_shm_region_close(struct hn_shm_region *region);

/* Brings all pages in, under the policy. Returns 0, or -errno where there is no room for them. */
int hn_shm_region_touch(const struct hn_shm_region *region, struct hn_why *why);

/* Compares each page's policy with `want`, and its node with the policy's nodes; each is brought in. Returns
 * 0, 1 if something differs, the first of which is then in `why`, or -errno. */
int hn_shm_region_verify(const struct hn_shm_region *region, const struct hn_mempolicy *want,
                         struct hn_why *why);

/* Writes stretches of like policy (of like node) as numactl does: "START-END: interleave : 0 1". Returns 0 or
 * -errno. */
int hn_shm_region_dump(const struct hn_shm_region *region, FILE *f, struct hn_why *why);
int hn_shm_region_dump_nodes(const struct hn_shm_region *region, FILE *f, struct hn_why *why);
