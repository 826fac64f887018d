/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>

#include "act/caps.h"

static const struct {
        cap_value_t cap;
        unsigned bit;
} keep[] = {
        { CAP_SYS_NICE, HN_CAPS_NICE },
        { CAP_SYS_PTRACE, HN_CAPS_PTRACE },
};

static void freep_cap(cap_t *c) {
        if (*c)
                (void) cap_free(*c);
}

static bool has(cap_t c, cap_value_t cap, cap_flag_t set) {
        cap_flag_value_t v;

        return cap_get_flag(c, cap, set, &v) == 0 && v == CAP_SET;
}

static bool is_kept(cap_value_t cap) {
        for (size_t i = 0; i < HN_ELEMENTS(keep); i++)
                if (keep[i].cap == cap)
                        return true;
        return false;
}

/* Changes one capability of the effective set. Returns 0 or -errno. */
static int set_effective(cap_t c, cap_value_t cap, cap_flag_value_t value) {
        if (cap_set_flag(c, CAP_EFFECTIVE, 1, &cap, value) < 0 || cap_set_proc(c) < 0)
                return -errno;
        return 0;
}

/* Dropping from the bounding set asks for CAP_SETPCAP, which a service with two ambient capabilities does not
 * have: its unit has bounded it already. */
static void bound(void) {
        for (cap_value_t cap = 0; cap < cap_max_bits(); cap++)
                if (!is_kept(cap) && cap_get_bound(cap) == 1)
                        (void) cap_drop_bound(cap);
}

int hn_caps_settle(unsigned *ret_have) {
        _hn_cleanup_(freep_cap) cap_t now = cap_get_proc(), then = cap_init();
        unsigned have = 0;

        if (!now || !then)
                return -errno;
        if (has(now, CAP_SETPCAP, CAP_PERMITTED)) {
                int r = set_effective(now, CAP_SETPCAP, CAP_SET);

                if (r < 0)
                        return r;
        }
        bound();

        for (size_t i = 0; i < HN_ELEMENTS(keep); i++)
                if (has(now, keep[i].cap, CAP_PERMITTED)) {
                        if (cap_set_flag(then, CAP_PERMITTED, 1, &keep[i].cap, CAP_SET) < 0)
                                return -errno;
                        have |= keep[i].bit;
                }

        /* An ambient capability goes with its inheritable one; asked for by name all the same, for kernels
         * and readers that would not know. ENOSYS and EINVAL are a kernel without ambient capabilities. */
        if (cap_reset_ambient() < 0 && errno != ENOSYS && errno != EINVAL)
                return -errno;
        if (cap_set_proc(then) < 0)
                return -errno;
        *ret_have = have;
        return 0;
}

int hn_caps_raise(struct hn_caps *caps, cap_value_t cap) {
        _hn_cleanup_(freep_cap) cap_t c = cap_get_proc();
        int r;

        if (!c)
                return -errno;
        if (has(c, cap, CAP_EFFECTIVE))
                return 0;
        if (!has(c, cap, CAP_PERMITTED))
                return HN_CAPS_ABSENT;
        r = set_effective(c, cap, CAP_SET);
        if (r < 0)
                return r;
        *caps = (struct hn_caps){ .cap = cap, .raised = true };
        return 0;
}

void hn_caps_lower(struct hn_caps *caps) {
        _hn_cleanup_(freep_cap) cap_t c = NULL;
        int saved = errno; /* this runs as a cleanup, behind the call whose errno counts */

        if (!caps->raised)
                return;
        c = cap_get_proc();
        if (c)
                (void) set_effective(c, caps->cap, CAP_CLEAR);
        *caps = HN_CAPS_NULL;
        errno = saved;
}

static int privilege_raise(void *userdata) {
        int r = hn_caps_raise(userdata, CAP_SYS_PTRACE);

        return r < 0 ? r : 0; /* without it the sampler still reads what it may */
}

static void privilege_lower(void *userdata) {
        hn_caps_lower(userdata);
}

struct hn_privilege hn_caps_privilege(struct hn_caps *storage) {
        return (struct hn_privilege){
                .raise = privilege_raise,
                .lower = privilege_lower,
                .userdata = storage,
        };
}
