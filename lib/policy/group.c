/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "base/macro.h"
#include "policy/group.h"

/* ACTIVE_NODE_FRACTION */
#define ACTIVE_FRACTION 3

typedef unsigned __int128 wide; /* faults times faults */

/* Counts beyond this are all the same to us, and twice their product still fits. */
#define COUNT_MAX (UINT64_C(1) << 62)

struct hn_mask hn_active_nodes(const uint64_t *cpu_faults, size_t n_nodes) {
        struct hn_mask active = HN_MASK_NULL;
        uint64_t most = 0;

        for (size_t i = 0; i < n_nodes; i++)
                most = HN_MAX(most, cpu_faults[i]);
        for (size_t i = 0; i < n_nodes; i++)
                if ((wide) cpu_faults[i] * ACTIVE_FRACTION > most)
                        (void) hn_mask_add(&active, (unsigned) i);
        return active;
}

bool hn_group_join(unsigned mine, unsigned theirs, bool same_memory, bool shared_mapping,
                   bool tie_against_me) {
        if (mine > theirs || (mine == theirs && tie_against_me))
                return false;
        return same_memory || shared_mapping;
}

bool hn_page_move(uint64_t cpu_to, uint64_t cpu_from, uint64_t memory_to, uint64_t memory_from) {
        wide to, from;

        if ((wide) cpu_to > (wide) cpu_from * ACTIVE_FRACTION)
                return true;
        /* Three quarters, so that a page does not go back and forth between two equals. */
        to = (wide) HN_MIN(cpu_to, COUNT_MAX) * HN_MIN(memory_from, COUNT_MAX);
        from = (wide) HN_MIN(cpu_from, COUNT_MAX) * HN_MIN(memory_to, COUNT_MAX);
        return to * 3 > from * 4;
}
