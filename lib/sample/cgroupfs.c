/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/parse.h"
#include "sample/cgroupfs.h"
#include "sample/mountinfo.h"
#include "sample/procfs.h"

/* Bounds of what we take in; both are far beyond any real machine. */
#define MOUNTINFO_MAX (16u << 20)
#define THREADS_MAX   (16u << 20)

/* The name of the first cgroup namespace, PROC_CGROUP_INIT_INO in the kernel. */
#define INIT_NAMESPACE "cgroup:[4026531835]"

enum hierarchy { V2, SYSTEMD, CPUSET, _HIERARCHY_MAX };

struct found {
        struct hn_text point[_HIERARCHY_MAX]; /* p NULL: not mounted */
        bool whole[_HIERARCHY_MAX];
        bool noprefix;
};

static bool text_is(struct hn_text t, const char *want) {
        return t.n == strlen(want) && memcmp(t.p, want, t.n) == 0;
}

static bool has_option(struct hn_text options, const char *want) {
        size_t length = strlen(want);

        for (const char *p = options.p, *end = p + options.n; p < end;) {
                const char *comma = memchr(p, ',', (size_t) (end - p));
                const char *stop = comma ? comma : end;

                if ((size_t) (stop - p) == length && memcmp(p, want, length) == 0)
                        return true;
                p = stop + 1;
        }
        return false;
}

/* The first mount of a hierarchy counts, unless a later one shows more of it. */
static void note_mount(struct found *f, const struct hn_mount *m) {
        bool whole = text_is(m->root, "/");
        enum hierarchy h;

        if (text_is(m->type, "cgroup2"))
                h = V2;
        else if (text_is(m->type, "cpuset") ||
                 (text_is(m->type, "cgroup") && has_option(m->options, "cpuset")))
                h = CPUSET;
        else if (text_is(m->type, "cgroup") && has_option(m->options, "name=systemd"))
                h = SYSTEMD;
        else
                return;
        if (f->point[h].p && (f->whole[h] || !whole))
                return;
        f->point[h] = m->point;
        f->whole[h] = whole;
        if (h == CPUSET)
                f->noprefix = text_is(m->type, "cpuset") || has_option(m->options, "noprefix");
}

static int open_folder(int dirfd, const char *path) {
        int fd;

        while (*path == '/')
                path++;
        fd = openat(dirfd, *path ? path : ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
        return fd < 0 ? -errno : fd;
}

/* Returns a descriptor, or -1 where the hierarchy is not mounted or cannot be opened. */
static int open_hierarchy(const struct hn_sysroot *root, const struct found *f, enum hierarchy h) {
        char path[PATH_MAX];
        int fd;

        if (!f->point[h].p || hn_mount_unescape(f->point[h], path, sizeof(path)) < 0)
                return -1;
        fd = open_folder(root->fd, path);
        return fd < 0 ? -1 : fd;
}

/* Whether we see the machine's cgroups from inside of one. A path that begins with ".." is how somebody
 * outside of our namespace looks from here; a namespace that encloses pid 1 as well is told by its number. */
static bool is_confined(const struct hn_sysroot *root, int proc_fd) {
        char buf[4096];
        const char *path;
        size_t length;
        ssize_t n;

        if (root->live) {
                n = readlinkat(proc_fd, "self/ns/cgroup", buf, sizeof(buf) - 1);
                if (n > 0 &&
                    ((size_t) n != strlen(INIT_NAMESPACE) || memcmp(buf, INIT_NAMESPACE, (size_t) n) != 0))
                        return true;
        }
        n = hn_read_at(proc_fd, buf, sizeof(buf), "1/cgroup");
        return n > 0 && hn_proc_cgroup_parse(buf, (size_t) n, NULL, &path, &length) == 0 &&
               hn_has_prefix(path, length, "/..");
}

int hn_cgroupfs_open(const struct hn_sysroot *root, struct hn_cgroupfs *ret) {
        struct hn_cgroupfs fs = HN_CGROUPFS_NULL;
        _hn_cleanup_(hn_freep) char *buf = NULL;
        struct found f = { .noprefix = false };
        const char *text, *line;
        enum hierarchy identity;
        size_t left, length;
        ssize_t n;

        fs.proc_fd = open_folder(root->fd, "proc");
        if (fs.proc_fd < 0)
                fs.proc_fd = -1;
        n = hn_read_all_at(root->fd, MOUNTINFO_MAX, &buf, "proc/self/mountinfo");
        if (n == -ENOMEM) {
                hn_cgroupfs_close(&fs);
                return -ENOMEM;
        }
        text = buf;
        left = n > 0 ? (size_t) n : 0;
        while (hn_next_line(&text, &left, &line, &length)) {
                struct hn_mount m;

                if (hn_mount_parse(line, length, &m) == 0)
                        note_mount(&f, &m);
        }

        identity = V2;
        fs.fd = open_hierarchy(root, &f, V2);
        if (fs.fd >= 0)
                fs.layout = HN_CGROUP_V2;
        else {
                identity = SYSTEMD;
                fs.fd = open_hierarchy(root, &f, SYSTEMD);
        }
        fs.cpuset_fd = open_hierarchy(root, &f, CPUSET);
        if (fs.fd < 0) {
                identity = CPUSET;
                fs.fd = open_hierarchy(root, &f, CPUSET);
        }
        if (f.noprefix)
                fs.prefix = "";
        if (fs.fd >= 0) {
                if (fs.layout == HN_CGROUP_NONE)
                        fs.layout = HN_CGROUP_V1;
                else if (fs.cpuset_fd >= 0)
                        fs.layout = HN_CGROUP_HYBRID;
                fs.confined = !f.whole[identity] || is_confined(root, fs.proc_fd);
        }
        *ret = fs;
        return 0;
}

void hn_cgroupfs_close(struct hn_cgroupfs *fs) {
        if (fs->fd >= 0)
                close(fs->fd);
        if (fs->cpuset_fd >= 0)
                close(fs->cpuset_fd);
        if (fs->proc_fd >= 0)
                close(fs->proc_fd);
        *fs = HN_CGROUPFS_NULL;
}

int hn_cgroup_read_threads(const struct hn_cgroupfs *fs, const char *path, size_t limit, pid_t **list,
                           size_t *allocated, size_t *ret_n) {
        const char *file = fs->layout == HN_CGROUP_V1 ? "tasks" : "cgroup.threads";
        _hn_cleanup_(hn_freep) char *buf = NULL;
        const char *text, *word;
        size_t left, length, n = 0;
        ssize_t k;

        if (fs->fd < 0) {
                *ret_n = 0;
                return 0;
        }
        k = hn_read_all_at(fs->fd, THREADS_MAX, &buf, "%s/%s", path, file);
        /* ENODEV: removed while we held it open. EOPNOTSUPP: a "domain invalid" cgroup, which can have no
         * threads. */
        if (k < 0 && !hn_is_gone((int) k) && k != -ENODEV && k != -EOPNOTSUPP)
                return (int) k;
        text = buf;
        left = k > 0 ? (size_t) k : 0;
        while (n < limit && hn_next_word(&text, &left, &word, &length)) {
                unsigned tid;

                /* 0 is how a thread of another PID namespace looks. */
                if (hn_parse_unsigned(word, length, &tid) < 0 || tid == 0 || tid > INT32_MAX)
                        continue;
                if (n == *allocated) {
                        size_t more = *allocated ? 2 * *allocated : 256;
                        pid_t *bigger = reallocarray(*list, more, sizeof(**list));

                        if (!bigger)
                                return -ENOMEM;
                        *list = bigger;
                        *allocated = more;
                }
                (*list)[n++] = (pid_t) tid;
        }
        *ret_n = n;
        return 0;
}

/* Reads `file` of the cgroup `path` (overwritten) or of the nearest ancestor that has it with something in
 * it. An empty one belongs to a cgroup that cannot run anything by itself, where the kernel looks upwards as
 * well. */
static int read_upwards(int fd, char *path, const char *prefix, const char *file, const char *fallback,
                        struct hn_mask *ret) {
        char buf[HN_MASK_LIST_MAX];
        struct hn_mask m;

        for (;;) {
                ssize_t n = hn_read_at(fd, buf, sizeof(buf), "%s/%s%s", path, prefix, file);
                char *slash;

                if (n < 0 && fallback)
                        n = hn_read_at(fd, buf, sizeof(buf), "%s/%s%s", path, prefix, fallback);
                if (n >= 0 && hn_mask_parse_list(buf, (size_t) n, &m) == 0 && !hn_mask_empty(&m)) {
                        *ret = m;
                        return 0;
                }
                slash = strrchr(path, '/');
                if (!slash)
                        return HN_CGROUP_UNSAID;
                *slash = '\0';
        }
}

/* Where a thread is in v1's cpuset hierarchy, which need not look like the one that tells its identity. */
static bool find_cpuset(const struct hn_cgroupfs *fs, pid_t tid, char *path, size_t size) {
        char buf[8192];
        const char *p;
        size_t length;
        ssize_t n;

        if (tid <= 0 || fs->proc_fd < 0)
                return false;
        n = hn_read_at(fs->proc_fd, buf, sizeof(buf), "%d/cgroup", tid);
        if (n < 0 || hn_proc_cgroup_parse(buf, (size_t) n, "cpuset", &p, &length) < 0 || length >= size)
                return false;
        memcpy(path, p, length);
        path[length] = '\0';
        return true;
}

static int read_limit(const struct hn_cgroupfs *fs, const char *cgroup, pid_t tid, const char *v2,
                      const char *v1, const char *old, struct hn_mask *ret) {
        size_t n = strlen(cgroup);
        char path[PATH_MAX];

        if (fs->fd < 0 || n >= sizeof(path))
                return HN_CGROUP_UNSAID;
        memcpy(path, cgroup, n + 1);
        if (fs->cpuset_fd < 0)
                return read_upwards(fs->fd, path, "", v2, NULL, ret);
        (void) find_cpuset(fs, tid, path, sizeof(path));
        return read_upwards(fs->cpuset_fd, path, fs->prefix, v1, old, ret);
}

int hn_cgroup_read_cpus(const struct hn_cgroupfs *fs, const char *path, pid_t tid, struct hn_mask *ret) {
        return read_limit(fs, path, tid, "cpuset.cpus.effective", "effective_cpus", "cpus", ret);
}

int hn_cgroup_read_mems(const struct hn_cgroupfs *fs, const char *path, pid_t tid, struct hn_mask *ret) {
        return read_limit(fs, path, tid, "cpuset.mems.effective", "effective_mems", "mems", ret);
}
