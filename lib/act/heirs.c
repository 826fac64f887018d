/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "act/heirs.h"
#include "base/macro.h"

void hn_marks_deinit(struct hn_marks *m) {
        for (size_t i = 0; i < m->n; i++)
                free(m->marks[i].cgroup);
        free(m->marks);
        *m = HN_MARKS_NULL;
}

static bool same_but_process(const struct hn_mark *a, const char *cgroup, const struct hn_mark *b) {
        return a->want == b->want && a->unrestricted == b->unrestricted &&
               (a->unrestricted || a->old == b->old) && strcmp(a->cgroup, cgroup) == 0;
}

size_t hn_marks_find(const struct hn_marks *m, const struct hn_mark *mark, const char *cgroup) {
        for (size_t i = 0; i < m->n; i++)
                if ((m->marks[i].tgid == mark->tgid || m->marks[i].tgid == 0) &&
                    same_but_process(&m->marks[i], cgroup, mark))
                        return i;
        return SIZE_MAX;
}

void hn_marks_remove(struct hn_marks *m, size_t i) {
        free(m->marks[i].cgroup);
        m->marks[i] = m->marks[--m->n];
}

/* Makes room in a full table. Returns true if `mark` found its place in another one. */
static bool merge(struct hn_marks *m, const struct hn_mark *mark, const char *cgroup) {
        size_t oldest = 0;

        for (size_t i = 0; i < m->n; i++) {
                if (same_but_process(&m->marks[i], cgroup, mark)) {
                        m->marks[i].tgid = 0;
                        m->marks[i].since = HN_MIN(m->marks[i].since, mark->since);
                        return true;
                }
                if (m->marks[i].since < m->marks[oldest].since)
                        oldest = i;
        }
        hn_marks_remove(m, oldest);
        return false;
}

int hn_marks_add(struct hn_marks *m, const struct hn_mark *mark, const char *cgroup) {
        size_t i = hn_marks_find(m, mark, cgroup);
        char *copy;

        if (i != SIZE_MAX) {
                m->marks[i].since = HN_MIN(m->marks[i].since, mark->since);
                return 0;
        }
        if (m->n >= HN_MARKS_MAX && merge(m, mark, cgroup))
                return 0;
        if (m->n == m->allocated) {
                size_t more = m->allocated ? 2 * m->allocated : 16;
                struct hn_mark *marks = realloc(m->marks, more * sizeof(*marks));

                if (!marks)
                        return -ENOMEM;
                m->marks = marks;
                m->allocated = more;
        }
        copy = strdup(cgroup);
        if (!copy)
                return -ENOMEM;
        m->marks[m->n] = *mark;
        m->marks[m->n++].cgroup = copy;
        return 1;
}

bool hn_mask_is_ours(const struct hn_mask *mask, const struct hn_mask *ours, const struct hn_mask *allowed) {
        struct hn_mask left;

        if (hn_mask_equal(mask, ours))
                return true;
        left = hn_mask_and(ours, allowed);
        return hn_mask_equal(mask, hn_mask_empty(&left) ? allowed : &left);
}

bool hn_cgroup_covers(const char *cgroup, const char *path) {
        size_t n = strlen(cgroup);

        if (strcmp(cgroup, path) == 0)
                return true;
        return n > 1 && strncmp(cgroup, path, n) == 0 && path[n] == '/';
}

/* Born after the act, or within the same tick: field 22 of stat is rounded down. */
static bool is_younger(const struct hn_mark *mark, uint64_t start) {
        return hn_usec_from_ticks(start == UINT64_MAX ? start : start + 1) > mark->since;
}

bool hn_marks_may_claim(const struct hn_marks *m, const struct hn_mask_pool *masks,
                        const struct hn_mask *mask, uint64_t start) {
        hn_mask_id no = HN_MASK_ID_NONE;

        if (hn_mask_empty(mask))
                return false;
        for (size_t i = 0; i < m->n; i++) {
                if (m->marks[i].want == no || !is_younger(&m->marks[i], start))
                        continue;
                if (hn_mask_subset(mask, hn_mask_pool_get(masks, m->marks[i].want)))
                        return true;
                no = m->marks[i].want;
        }
        return false;
}

/* A process that began after the act only has the number of the one it was done for. */
static bool is_the_process(const struct hn_mark *mark, const struct hn_task_key *process) {
        return mark->tgid > 0 && mark->tgid == process->tid &&
               hn_usec_from_ticks(process->start) <= mark->since;
}

static bool is_kin(const struct hn_mark *mark, const struct hn_heir *heir, unsigned *ret_rank) {
        for (size_t i = 0; i < heir->n_kin; i++)
                if (is_the_process(mark, &heir->kin[i])) {
                        *ret_rank = (unsigned) i;
                        return true;
                }
        if (heir->cgroup && hn_cgroup_covers(mark->cgroup, heir->cgroup)) {
                *ret_rank = UINT32_MAX;
                return true;
        }
        return false;
}

bool hn_mark_claims(const struct hn_mark *mark, const struct hn_mask_pool *masks, const struct hn_heir *heir,
                    unsigned *ret_rank) {
        const struct hn_mask *want = hn_mask_pool_get(masks, mark->want);
        struct hn_mask left;

        if (!is_younger(mark, heir->start) || !is_kin(mark, heir, ret_rank))
                return false;
        if (hn_mask_equal(&heir->mask, want))
                return true;
        /* A cpuset that grew narrow makes our mask look like anybody's: who may use all that is allowed is
         * not narrowed down to an old mask on a guess. */
        left = hn_mask_and(want, &heir->allowed);
        return !hn_mask_empty(&left) && hn_mask_equal(&heir->mask, &left) &&
               (mark->unrestricted || !hn_mask_equal(&left, &heir->allowed));
}

const struct hn_mark *hn_marks_match(const struct hn_marks *m, const struct hn_mask_pool *masks,
                                     const struct hn_heir *heir) {
        const struct hn_mark *best = NULL;
        unsigned best_rank = 0;

        for (size_t i = 0; i < m->n; i++) {
                unsigned rank;

                if (!hn_mark_claims(&m->marks[i], masks, heir, &rank))
                        continue;
                if (!best || rank < best_rank || (rank == best_rank && m->marks[i].since > best->since)) {
                        best = &m->marks[i];
                        best_rank = rank;
                }
        }
        return best;
}
