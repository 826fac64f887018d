/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "sample/kin.h"
#include "sample/sysroot.h"
#include "sample/taskref.h"

/* Ten thousand children of one thread, ten times over. */
#define CHILDREN_MAX (1u << 20)

void hn_kin_deinit(struct hn_kin *k) {
        free(k->processes);
        *k = HN_KIN_NULL;
}

int hn_kin_add(struct hn_kin *k, const struct hn_task_key *key) {
        if (k->n >= HN_KIN_MAX)
                return -ENOSPC;
        if (k->n == k->allocated) {
                size_t more = k->allocated ? 2 * k->allocated : 8;
                struct hn_task_key *bigger = reallocarray(k->processes, more, sizeof(*bigger));

                if (!bigger)
                        return -ENOMEM;
                k->processes = bigger;
                k->allocated = more;
        }
        k->processes[k->n++] = *key;
        return 0;
}

static bool is_known(const struct hn_kin *k, pid_t pid) {
        for (size_t i = 0; i < k->n; i++)
                if (k->processes[i].tid == pid)
                        return true;
        return false;
}

static void forget_the_dead(struct hn_kin *k, int proc_fd) {
        size_t kept = 0;

        for (size_t i = 0; i < k->n; i++)
                if (hn_task_verify(proc_fd, &k->processes[i]) != HN_TASK_GONE)
                        k->processes[kept++] = k->processes[i];
        k->n = kept;
}

/* The children of one thread. Returns 0 or -ENOMEM. */
static int meet_children(struct hn_kin *k, int proc_fd, pid_t tid, uint64_t since) {
        _hn_cleanup_(hn_freep) char *buf = NULL;
        const char *text, *word;
        size_t left, length;
        ssize_t n = hn_read_all_at(proc_fd, CHILDREN_MAX, &buf, "%d/task/%d/children", tid, tid);

        if (n == -ENOMEM)
                return -ENOMEM;
        text = buf;
        left = n > 0 ? (size_t) n : 0;
        while (hn_next_word(&text, &left, &word, &length)) {
                struct hn_task_key key;
                unsigned pid;
                int r;

                if (hn_parse_unsigned(word, length, &pid) < 0 || pid == 0 || pid > INT32_MAX ||
                    is_known(k, (pid_t) pid) || hn_task_key_read(proc_fd, (pid_t) pid, &key) != 0 ||
                    key.start < since)
                        continue;
                r = hn_kin_add(k, &key);
                if (r == -ENOSPC)
                        return 0;
                if (r < 0)
                        return r;
        }
        return 0;
}

int hn_kin_threads(int proc_fd, pid_t tgid, pid_t **list, size_t *n, size_t *allocated) {
        const struct dirent *de;
        DIR *dir;
        int r = 0;

        if (hn_opendir_at(proc_fd, &dir, "%d/task", tgid) < 0)
                return 0;
        while (r == 0 && (de = readdir(dir))) {
                unsigned tid;

                if (hn_parse_unsigned(de->d_name, strlen(de->d_name), &tid) < 0 || tid == 0 ||
                    tid > INT32_MAX)
                        continue;
                if (*n == *allocated) {
                        size_t more = *allocated ? 2 * *allocated : 64;
                        pid_t *bigger = reallocarray(*list, more, sizeof(*bigger));

                        if (!bigger) {
                                r = -ENOMEM;
                                break;
                        }
                        *list = bigger;
                        *allocated = more;
                }
                (*list)[(*n)++] = (pid_t) tid;
        }
        closedir(dir);
        return r;
}

/* One after the other gets its turn where there are many: who is met late has its creator's mask meanwhile.
 */
int hn_kin_update(struct hn_kin *k, int proc_fd, uint64_t since, pid_t only) {
        _hn_cleanup_(hn_freep) pid_t *tids = NULL;
        size_t allocated = 0, first;
        int r = 0;

        forget_the_dead(k, proc_fd);
        if (only > 0)
                r = meet_children(k, proc_fd, only, since);
        first = k->n > HN_KIN_ASK_MAX ? k->turn : 0;
        /* The list grows while we go through it: children have children. */
        for (size_t i = 0; r == 0 && i < HN_MIN(k->n, (size_t) HN_KIN_ASK_MAX); i++) {
                pid_t pid = k->processes[(first + i) % k->n].tid;
                size_t n = 0;

                r = hn_kin_threads(proc_fd, pid, &tids, &n, &allocated);
                for (size_t j = 0; r == 0 && j < HN_MIN(n, (size_t) HN_KIN_ASK_MAX); j++)
                        r = meet_children(k, proc_fd, tids[(k->turn + j) % n], since);
        }
        k->turn += HN_KIN_ASK_MAX;
        return r;
}
