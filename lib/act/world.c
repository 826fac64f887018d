/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "act/world.h"
#include "base/parse.h"
#include "sample/procfs.h"
#include "sample/sysfs.h"

int hn_world_refresh(struct hn_world *w, const struct hn_sysroot *root) {
        struct hn_mask possible = HN_MASK_NULL, online = HN_MASK_NULL, isolated = HN_MASK_NULL;
        int r;

        r = hn_sysfs_read_list(root, "sys/devices/system/cpu/possible", &possible);
        if (r < 0)
                return r;
        /* Who does not know which CPUs there may be asks for every one; the kernel takes those it has. */
        if (r > 0 || hn_mask_empty(&possible))
                hn_mask_add_range(&possible, 0, HN_MASK_BITS - 1);
        r = hn_sysfs_read_list(root, "sys/devices/system/cpu/online", &online);
        if (r < 0)
                return r;
        if (r > 0 || hn_mask_empty(&online))
                online = possible;
        r = hn_sysfs_read_list(root, "sys/devices/system/cpu/isolated", &isolated);
        if (r < 0)
                return r;
        w->online = online;
        w->isolated = isolated;
        w->unrestricted = hn_mask_andnot(&possible, &isolated);
        return 0;
}

int hn_world_init(struct hn_world *w, const struct hn_sysroot *root) {
        int r;

        *w = (struct hn_world){ .proc_fd = -1, .cgroups = HN_CGROUPFS_NULL };
        if (!root->live)
                return -EROFS;
        r = hn_world_refresh(w, root);
        if (r < 0)
                return r;
        r = hn_cgroupfs_open(root, &w->cgroups);
        if (r < 0)
                return r;
        w->proc_fd = openat(root->fd, "proc", O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (w->proc_fd < 0) {
                r = -errno;
                hn_world_deinit(w);
                return r;
        }
        w->ops = hn_affinity_live(&w->proc_fd);
        return 0;
}

void hn_world_deinit(struct hn_world *w) {
        if (w->proc_fd >= 0)
                (void) close(w->proc_fd);
        hn_cgroupfs_close(&w->cgroups);
        *w = (struct hn_world){ .proc_fd = -1, .cgroups = HN_CGROUPFS_NULL };
}

int hn_world_cgroup(const struct hn_world *w, pid_t tid, char *buf, size_t size) {
        char text[16384]; /* a dozen hierarchies of paths that may be PATH_MAX long, but never are */
        const char *path;
        ssize_t n;
        size_t k;
        int r;

        n = hn_read_at(w->proc_fd, text, sizeof(text), "%d/cgroup", tid);
        if (n < 0)
                return (int) n;
        r = -ENOENT;
        if (w->cgroups.layout != HN_CGROUP_V1)
                r = hn_proc_cgroup_parse(text, (size_t) n, NULL, &path, &k);
        if (r < 0)
                r = hn_proc_cgroup_parse(text, (size_t) n, "name=systemd", &path, &k);
        if (r < 0)
                r = hn_proc_cgroup_parse(text, (size_t) n, "cpuset", &path, &k);
        if (r < 0)
                return r;
        if (k >= size)
                return -ENOBUFS;
        memcpy(buf, path, k);
        buf[k] = '\0';
        return 0;
}

void hn_world_allowed(const struct hn_world *w, pid_t tid, struct hn_mask *ret) {
        char path[4096];
        struct hn_mask m;

        *ret = w->online;
        if (hn_world_cgroup(w, tid, path, sizeof(path)) < 0)
                return;
        if (hn_cgroup_read_cpus(&w->cgroups, path, tid, &m) == 0 && !hn_mask_empty(&m))
                *ret = m;
}

bool hn_world_is_unrestricted(const struct hn_world *w, const struct hn_mask *mask,
                              const struct hn_mask *allowed) {
        struct hn_mask all = hn_mask_andnot(allowed, &w->isolated);

        return !hn_mask_empty(mask) && hn_mask_equal(mask, &all);
}

pid_t hn_world_process(const struct hn_world *w, pid_t tid) {
        struct hn_proc_status status;
        char text[16384];
        ssize_t n = hn_read_at(w->proc_fd, text, sizeof(text), "%d/status", tid);

        return n >= 0 && hn_proc_status_parse(text, (size_t) n, &status) == 0 ? status.tgid : 0;
}

/* Start time and parent of a process, were it a corpse. */
static int read_process(int proc_fd, pid_t pid, struct hn_task_key *ret, pid_t *ret_parent) {
        struct hn_proc_stat st;
        const char *text, *word;
        char buf[2048];
        unsigned parent;
        size_t left, k;
        ssize_t n;
        int r;

        n = hn_read_at(proc_fd, buf, sizeof(buf), "%d/stat", pid);
        if (n < 0)
                return (int) n;
        r = hn_proc_stat_parse(buf, (size_t) n, &st);
        if (r < 0)
                return r;
        /* Field 4, the second one behind the last parenthesis. */
        text = memrchr(buf, ')', (size_t) n);
        if (!text)
                return -EBADMSG;
        text++;
        left = (size_t) (buf + n - text);
        if (!hn_next_word(&text, &left, &word, &k) || !hn_next_word(&text, &left, &word, &k) ||
            hn_parse_unsigned(word, k, &parent) < 0 || parent > INT32_MAX)
                return -EBADMSG;
        *ret = (struct hn_task_key){ .tid = pid, .start = st.start };
        *ret_parent = (pid_t) parent;
        return 0;
}

size_t hn_world_kin(const struct hn_world *w, pid_t tgid, struct hn_task_key *kin, size_t max) {
        size_t n = 0;

        while (n < max && tgid > 0) {
                pid_t parent;

                if (read_process(w->proc_fd, tgid, &kin[n], &parent) < 0)
                        break;
                n++;
                tgid = parent;
        }
        return n;
}

static void closedirp(DIR **dir) {
        if (*dir)
                (void) closedir(*dir);
}

/* The next entry that is a number, or 0 at the end. */
static pid_t next_id(DIR *dir) {
        for (const struct dirent *de; (de = readdir(dir));) {
                unsigned id;

                if (hn_parse_unsigned(de->d_name, strlen(de->d_name), &id) == 0 && id > 0 && id <= INT32_MAX)
                        return (pid_t) id;
        }
        return 0;
}

int hn_world_each(const struct hn_world *w, int (*f)(void *userdata, pid_t tgid, pid_t tid), void *userdata) {
        _hn_cleanup_(closedirp) DIR *processes = NULL;
        int r;

        r = hn_opendir_at(w->proc_fd, &processes, ".");
        if (r < 0)
                return r;
        for (pid_t tgid; (tgid = next_id(processes)) > 0;) {
                _hn_cleanup_(closedirp) DIR *threads = NULL;

                r = hn_opendir_at(w->proc_fd, &threads, "%d/task", tgid);
                if (hn_is_gone(r))
                        continue;
                if (r < 0)
                        return r;
                for (pid_t tid; (tid = next_id(threads)) > 0;) {
                        r = f(userdata, tgid, tid);
                        if (r != 0)
                                return r;
                }
        }
        return 0;
}
