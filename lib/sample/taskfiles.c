/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/macro.h"
#include "base/parse.h"
#include "sample/taskfiles.h"

/* `sched` has 100 bytes a node: this holds 600 nodes at once, and the buffer grows. */
#define BUFFER_SIZE (64u << 10)
#define BUFFER_MAX  (4u << 20)

/* Descriptors left to the rest of the program. */
#define OPEN_RESERVE 256u

static int by_tid(const void *a, const void *b) {
        const struct hn_captured_thread *x = a, *y = b;

        return HN_CMP(x->tid, y->tid);
}

static bool parse_id(const char *name, pid_t *ret) {
        unsigned v;

        if (hn_parse_unsigned(name, strlen(name), &v) < 0 || v == 0 || v > INT32_MAX)
                return false;
        *ret = (pid_t) v;
        return true;
}

static int note_threads(struct hn_task_reader *reader, pid_t tgid, size_t *allocated) {
        DIR *dir;
        int r = 0;

        if (hn_opendir_at(reader->proc_fd, &dir, "%d/task", tgid) < 0)
                return 0;
        for (const struct dirent *de; (de = readdir(dir));) {
                pid_t tid;

                if (!parse_id(de->d_name, &tid))
                        continue;
                if (reader->n_threads == *allocated) {
                        size_t more = *allocated ? 2 * *allocated : 64;
                        struct hn_captured_thread *bigger = reallocarray(reader->threads, more,
                                                                         sizeof(*bigger));

                        if (!bigger) {
                                r = -ENOMEM;
                                break;
                        }
                        reader->threads = bigger;
                        *allocated = more;
                }
                reader->threads[reader->n_threads++] = (struct hn_captured_thread){ .tid = tid,
                                                                                    .tgid = tgid };
        }
        closedir(dir);
        return r;
}

/* The kernel finds /proc/TID of any thread; a capture has but the folders that were listed. */
static int load_captured(struct hn_task_reader *reader) {
        size_t allocated = 0;
        DIR *dir;
        int r = 0;

        if (hn_opendir_at(reader->proc_fd, &dir, ".") < 0)
                return 0;
        for (const struct dirent *de; r == 0 && (de = readdir(dir));) {
                pid_t tgid;

                if (parse_id(de->d_name, &tgid))
                        r = note_threads(reader, tgid, &allocated);
        }
        closedir(dir);
        if (reader->n_threads > 1)
                qsort(reader->threads, reader->n_threads, sizeof(*reader->threads), by_tid);
        return r;
}

static size_t open_max(void) {
        struct rlimit limit;
        size_t n;

        if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
                return 0;
        n = limit.rlim_cur == RLIM_INFINITY ? HN_TASK_FILES_OPEN_MAX : (size_t) limit.rlim_cur;
        return HN_MIN(n > OPEN_RESERVE ? n - OPEN_RESERVE : 0, (size_t) HN_TASK_FILES_OPEN_MAX);
}

int hn_task_reader_init(struct hn_task_reader *reader, const struct hn_sysroot *root) {
        struct hn_task_reader n = { .live = root->live, .size = BUFFER_SIZE };
        int fd, r = 0;

        fd = openat(root->fd, "proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (fd < 0 && errno != ENOENT)
                return -errno;
        n.proc_fd = fd;
        n.buf = malloc(n.size);
        if (!n.buf)
                r = -ENOMEM;
        else if (n.live)
                n.open_max = open_max();
        else if (n.proc_fd >= 0)
                r = load_captured(&n);
        if (r < 0) {
                hn_task_reader_deinit(&n);
                return r;
        }
        *reader = n;
        return 0;
}

void hn_task_reader_deinit(struct hn_task_reader *reader) {
        if (reader->proc_fd >= 0)
                close(reader->proc_fd);
        free(reader->buf);
        free(reader->threads);
        *reader = HN_TASK_READER_NULL;
}

static int open_file(const struct hn_task_reader *reader, enum hn_task_file file, pid_t tid) {
        static const char *const names[] = {
                [HN_TASK_FILE_SCHEDSTAT] = "schedstat",
                [HN_TASK_FILE_SCHED] = "sched",
                [HN_TASK_FILE_STAT] = "stat",
                [HN_TASK_FILE_STATUS] = "status",
        };
        char path[64];
        pid_t tgid = tid;
        int fd;

        if (reader->proc_fd < 0)
                return -ENOENT;
        if (!reader->live) {
                const struct hn_captured_thread key = { .tid = tid }, *found;

                found = reader->n_threads == 0
                                ? NULL
                                : bsearch(&key, reader->threads, reader->n_threads, sizeof(key), by_tid);
                if (!found)
                        return -ENOENT;
                tgid = found->tgid;
        }
        /* TID/stat of a live task would first add up the times of its whole process; the others are one and
         * the same file in both places, and the shorter path is the cheaper one. */
        if (reader->live && file != HN_TASK_FILE_STAT)
                (void) snprintf(path, sizeof(path), "%d/%s", tid, names[file]);
        else
                (void) snprintf(path, sizeof(path), "%d/task/%d/%s", tgid, tid, names[file]);
        fd = openat(reader->proc_fd, path, O_RDONLY | O_CLOEXEC);
        if (fd < 0)
                return -errno;
        return fd;
}

/* These files are one record each: a single read which leaves room in the buffer got all of it. */
static ssize_t read_once(struct hn_task_reader *reader, int fd) {
        for (;;) {
                ssize_t n = pread(fd, reader->buf, reader->size - 1, 0);
                char *bigger;

                if (n < 0 && errno == EINTR)
                        continue;
                if (n < 0)
                        return -errno;
                if ((size_t) n < reader->size - 1) {
                        reader->buf[n] = '\0';
                        return n;
                }
                if (reader->size >= BUFFER_MAX)
                        return -ENOBUFS;
                bigger = realloc(reader->buf, 2 * reader->size);
                if (!bigger)
                        return -ENOMEM;
                reader->buf = bigger;
                reader->size *= 2;
        }
}

ssize_t hn_task_file_read(struct hn_task_reader *reader, struct hn_task_files *files, enum hn_task_file file,
                          pid_t tid, const char **ret) {
        bool keep = file < _HN_TASK_FILE_MAX;
        int fd = keep ? files->fd[file] : -1;
        ssize_t n;

        if (fd < 0) {
                fd = open_file(reader, file, tid);
                if (fd < 0)
                        return fd;
                keep = keep && reader->n_open < reader->open_max;
                if (keep) {
                        files->fd[file] = fd;
                        reader->n_open++;
                }
        }
        n = read_once(reader, fd);
        if (!keep)
                close(fd);
        if (n >= 0)
                *ret = reader->buf;
        return n;
}

void hn_task_file_close(struct hn_task_reader *reader, struct hn_task_files *files, enum hn_task_file file) {
        if (files->fd[file] < 0)
                return;
        close(files->fd[file]);
        files->fd[file] = -1;
        reader->n_open--;
}

void hn_task_files_close(struct hn_task_reader *reader, struct hn_task_files *files) {
        for (enum hn_task_file f = 0; f < _HN_TASK_FILE_MAX; f++)
                hn_task_file_close(reader, files, f);
}
