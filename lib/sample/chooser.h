/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdint.h>

#include "sample/procid.h"

/* Which rule takes a process: the business of the layer above, which hands the sampler this hook. */
struct hn_chooser {
        unsigned wants; /* HN_PROC_ID_* that its rules ask for */
        /* For a process with threads in the cgroup of scope `place`: the index of a scope of that cgroup
         * behind `place`, with path, `by_process` and `place` set, or HN_SCOPE_NONE. */
        uint32_t (*choose)(void *userdata, uint32_t place, const struct hn_proc_id *who);
        void *userdata;
};

#define HN_SCOPE_NONE UINT32_MAX
