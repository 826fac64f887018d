/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>
#include <stddef.h>

#include "act/advice.h"

/* An advice with all that it goes by, in words and as JSON: the same from the daemon and from the command. */

enum hn_load_source {
        HN_LOAD_UNKNOWN,  /* a captured machine, or no /proc/stat: nodes count as idle */
        HN_LOAD_MEASURED, /* two looks at /proc/stat, HN_ADVICE_PAUSE apart */
        HN_LOAD_DAEMON,   /* the daemon's figures, with what the opted-in tasks want */
        _HN_LOAD_SOURCE_MAX,
};

const char *hn_load_source_to_string(enum hn_load_source s);

struct hn_advice_paper {
        const struct hn_topology *topology;
        const struct hn_advise_node *nodes; /* one a node, as they were asked about */
        const struct hn_advise_view *views; /* the same, as they were answered */
        const struct hn_advice_request *request;
        struct hn_advice advice;
        enum hn_load_source source;
        hn_usec_t age; /* of the daemon's figures */
        enum hn_advice_kept kept;
};

/* The nodes by the kernel's numbers, such as "0-1,8". Returns 0 or -ENOBUFS. */
int hn_advice_print_list(const struct hn_advice_paper *p, char *buf, size_t size);

/* Whether it fits, what the load is, what became of the reservation: one sentence after the other with a
 * blank between them, cut if need be. Returns `buf`. */
char *hn_advice_print_why(const struct hn_advice_paper *p, char *buf, size_t size);

/* All of it: homenode(1). Returns NULL without memory; the caller decrefs. */
json_t *hn_advice_to_json(const struct hn_advice_paper *p);
