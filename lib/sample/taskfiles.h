/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "sample/sysroot.h"

/* The files of /proc that are read of one task again and again. On a live machine they stay open: a pread
 * costs a third of open, read and close, and an open file of /proc is bound to that very task, so that it
 * answers -ESRCH once the task is dead, even if its tid has got a new owner. */
enum hn_task_file {
        HN_TASK_FILE_SCHEDSTAT,
        HN_TASK_FILE_SCHED,
        HN_TASK_FILE_STAT,
        _HN_TASK_FILE_MAX,
        HN_TASK_FILE_STATUS = _HN_TASK_FILE_MAX, /* read once, never kept */
};

struct hn_task_files {
        int fd[_HN_TASK_FILE_MAX]; /* -1: not open */
};

#define HN_TASK_FILES_NULL ((struct hn_task_files){ .fd = { -1, -1, -1 } })

struct hn_captured_thread {
        pid_t tid, tgid;
};

/* Reads them below one /proc, within a bound on open files. */
struct hn_task_reader {
        int proc_fd; /* O_PATH, -1 where there is no /proc */
        bool live;
        size_t n_open, open_max;
        char *buf;
        size_t size;
        struct hn_captured_thread
                *threads; /* a captured /proc has threads below their process only; by tid */
        size_t n_threads;
};

#define HN_TASK_READER_NULL ((struct hn_task_reader){ .proc_fd = -1 })

/* At most what RLIMIT_NOFILE leaves over: each open file costs the kernel some 5 KiB, which are charged to
 * us. */
#define HN_TASK_FILES_OPEN_MAX 32768u

/* Returns 0, -ENOMEM or what opening /proc answered (other than -ENOENT). */
int hn_task_reader_init(struct hn_task_reader *reader, const struct hn_sysroot *root);
void hn_task_reader_deinit(struct hn_task_reader *reader);

/* Reads a file whole. `*ret` is NUL-terminated and valid until the next read.
 * Returns the length, -ESRCH or -ENOENT where the task or the file is gone, or -errno. */
ssize_t hn_task_file_read(struct hn_task_reader *reader, struct hn_task_files *files, enum hn_task_file file,
                          pid_t tid, const char **ret);

/* Closes all that is open, or but one file. */
void hn_task_files_close(struct hn_task_reader *reader, struct hn_task_files *files);
void hn_task_file_close(struct hn_task_reader *reader, struct hn_task_files *files, enum hn_task_file file);
