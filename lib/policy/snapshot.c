/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <string.h>

#include "base/macro.h"
#include "policy/snapshot.h"

static const char *const signal_names[_HN_SIGNAL_MAX] = {
        [HN_SIGNAL_NONE] = "none",
        [HN_SIGNAL_RESIDENCY] = "residency",
        [HN_SIGNAL_FAULTS] = "faults",
};

static const char *const mode_names[_HN_MODE_MAX] = {
        [HN_MODE_OBSERVE] = "observe",
        [HN_MODE_ADVISE] = "advise",
        [HN_MODE_MANAGE] = "manage",
};

const char *hn_signal_to_string(enum hn_signal s) {
        return (size_t) s < HN_ELEMENTS(signal_names) ? signal_names[s] : NULL;
}

const char *hn_mode_to_string(enum hn_mode m) {
        return m >= 0 && (size_t) m < HN_ELEMENTS(mode_names) ? mode_names[m] : NULL;
}

enum hn_mode hn_mode_from_string(const char *s) {
        for (size_t i = 0; i < HN_ELEMENTS(mode_names); i++)
                if (strcmp(s, mode_names[i]) == 0)
                        return (enum hn_mode) i;
        return _HN_MODE_INVALID;
}
