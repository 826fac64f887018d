/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <errno.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "act/affinity.h"
#include "act/caps.h"
#include "sample/taskref.h"

static const char *const apply_names[_HN_APPLY_MAX] = {
        [HN_APPLY_OK] = "ok",           [HN_APPLY_WOULD] = "would",     [HN_APPLY_GONE] = "gone",
        [HN_APPLY_CHANGED] = "changed", [HN_APPLY_REFUSED] = "refused", [HN_APPLY_RETRY] = "retry",
};

const char *hn_apply_to_string(enum hn_apply a) {
        return a >= 0 && a < _HN_APPLY_MAX ? apply_names[a] : NULL;
}

enum hn_apply hn_apply_from_errno(int r) {
        switch (-r) {
        case 0: return HN_APPLY_OK;
        case ESRCH:
        case ENOENT: return HN_APPLY_GONE;
        case EAGAIN:
        case ENOMEM:
        case EINTR: return HN_APPLY_RETRY;
        default: return HN_APPLY_REFUSED;
        }
}

/* Raw calls, as the C library's take a cpu_set_t and hide how many bytes the kernel wrote. */
int hn_affinity_get(pid_t tid, struct hn_mask *ret) {
        struct hn_mask m = HN_MASK_NULL;

        if (syscall(SYS_sched_getaffinity, tid, sizeof(m.word), m.word) < 0)
                return -errno;
        *ret = m;
        return 0;
}

int hn_affinity_set(pid_t tid, const struct hn_mask *mask) {
        _hn_cleanup_(hn_caps_lowerp) struct hn_caps caps = HN_CAPS_NULL;
        int r;

        r = hn_caps_raise(&caps, CAP_SYS_NICE);
        if (r < 0)
                return r;
        return syscall(SYS_sched_setaffinity, tid, sizeof(mask->word), mask->word) < 0 ? -errno : 0;
}

static int live_get(void *userdata, pid_t tid, struct hn_mask *ret) {
        (void) userdata;
        return hn_affinity_get(tid, ret);
}

static int live_set(void *userdata, pid_t tid, const struct hn_mask *mask) {
        (void) userdata;
        return hn_affinity_set(tid, mask);
}

static int live_start(void *userdata, pid_t tid, uint64_t *ret) {
        const int *proc_fd = userdata;
        struct hn_task_key key;
        int r;

        r = hn_task_key_read(*proc_fd, tid, &key);
        if (r != 0)
                return r == HN_TASK_GONE ? -ESRCH : r;
        *ret = key.start;
        return 0;
}

struct hn_affinity_ops hn_affinity_live(const int *proc_fd) {
        return (struct hn_affinity_ops){
                .get = live_get,
                .set = live_set,
                .start = live_start,
                .userdata = (void *) proc_fd,
        };
}

int hn_affinity_verify(const struct hn_affinity_ops *ops, const struct hn_task_key *key) {
        uint64_t start;
        int r;

        r = ops->start(ops->userdata, key->tid, &start);
        if (r < 0)
                return hn_apply_from_errno(r) == HN_APPLY_GONE ? HN_APPLY_GONE : r;
        return start == key->start ? 0 : HN_APPLY_GONE;
}

/* The tid changed hands between the two looks: whoever has it now did not ask for our mask. */
static void undo_for_stranger(const struct hn_affinity_ops *ops, pid_t tid, const struct hn_mask *want,
                              const struct hn_mask *before) {
        struct hn_mask now;

        if (ops->get(ops->userdata, tid, &now) == 0 && hn_mask_subset(&now, want) &&
            !hn_mask_equal(&now, before))
                (void) ops->set(ops->userdata, tid, before);
}

int hn_affinity_pin(const struct hn_affinity_ops *ops, const struct hn_task_key *key,
                    const struct hn_mask *expect, const struct hn_mask *want, struct hn_mask *ret_in_force) {
        struct hn_mask before, after;
        int r;

        assert(!hn_mask_empty(want));

        r = hn_affinity_verify(ops, key);
        if (r != 0)
                return r;
        r = ops->get(ops->userdata, key->tid, &before);
        if (r < 0)
                return hn_apply_from_errno(r);
        if (!hn_mask_equal(&before, expect))
                return HN_APPLY_CHANGED;

        r = ops->set(ops->userdata, key->tid, want);
        if (r < 0)
                return hn_apply_from_errno(r);
        r = ops->get(ops->userdata, key->tid, &after);
        if (r < 0)
                return hn_apply_from_errno(r);

        r = hn_affinity_verify(ops, key);
        if (r == HN_APPLY_GONE)
                undo_for_stranger(ops, key->tid, want, &before);
        if (r != 0)
                return r;

        /* The kernel ANDs with the cpuset; anything beyond that was written by somebody else just now. */
        if (hn_mask_empty(&after) || !hn_mask_subset(&after, want))
                return HN_APPLY_CHANGED;
        if (ret_in_force)
                *ret_in_force = after;
        return HN_APPLY_OK;
}
