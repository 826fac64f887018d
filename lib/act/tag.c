/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "act/tag.h"
#include "base/parse.h"

#define PREFIX "override:"

void hn_tag_print(uint64_t id, char buf[static HN_TAG_MAX]) {
        (void) snprintf(buf, HN_TAG_MAX, PREFIX "%" PRIu64, id);
}

bool hn_tag_parse(const char *cgroup, uint64_t *ret_id) {
        size_t n = strlen(cgroup), prefix = sizeof(PREFIX) - 1;
        const char *p = cgroup + prefix, *end = cgroup + n;
        uint64_t id;

        /* Not hn_parse_u64(), which forgives blanks. */
        if (!hn_has_prefix(cgroup, n, PREFIX) || hn_parse_u64_prefix(&p, end, &id) < 0 || p != end || id == 0)
                return false;
        if (ret_id)
                *ret_id = id;
        return true;
}
