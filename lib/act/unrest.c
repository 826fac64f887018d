/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>

#include "act/unrest.h"
#include "base/macro.h"
#include "sample/procfs.h"
#include "sample/taskref.h"

/* A fork of a small process takes a fraction of this, that of a huge one longer; there is a bound to the wait
 * anyway. Nanoseconds of CPU time. */
#define FORK_NS UINT64_C(20000000)

struct hn_restless {
        struct hn_task_key key;
        uint64_t run_ns; /* when it was added; 0 if that cannot be told */
};

void hn_unrest_deinit(struct hn_unrest *u) {
        free(u->tasks);
        *u = HN_UNREST_NULL;
}

static uint64_t run_ns(const struct hn_world *w, pid_t tid) {
        struct hn_proc_schedstat s;
        char text[128];
        ssize_t n = hn_read_at(w->proc_fd, text, sizeof(text), "%d/schedstat", tid);

        return n < 0 || hn_proc_schedstat_parse(text, (size_t) n, &s) < 0 ? 0 : s.run_ns;
}

int hn_unrest_add(struct hn_unrest *u, const struct hn_world *w, const struct hn_task_key *key) {
        if (u->n == u->allocated) {
                size_t more = u->allocated ? 2 * u->allocated : 64;
                struct hn_restless *bigger = reallocarray(u->tasks, more, sizeof(*bigger));

                if (!bigger)
                        return -ENOMEM;
                u->tasks = bigger;
                u->allocated = more;
        }
        u->tasks[u->n++] = (struct hn_restless){ .key = *key, .run_ns = run_ns(w, key->tid) };
        return 0;
}

static bool may_be_forking(const struct hn_world *w, const struct hn_restless *t) {
        struct hn_proc_stat stat;
        char text[1024];
        ssize_t n = hn_read_at(w->proc_fd, text, sizeof(text), "%d/stat", t->key.tid);

        if (n < 0 || hn_proc_stat_parse(text, (size_t) n, &stat) < 0 || stat.start != t->key.start)
                return false;
        if (stat.state != 'R' && stat.state != 'D')
                return false;
        return t->run_ns == 0 || run_ns(w, t->key.tid) < t->run_ns + FORK_NS;
}

bool hn_unrest_remains(struct hn_unrest *u, const struct hn_world *w) {
        size_t n = 0;

        for (size_t i = 0; i < u->n; i++)
                if (may_be_forking(w, &u->tasks[i]))
                        u->tasks[n++] = u->tasks[i];
        u->n = n;
        return n > 0;
}
