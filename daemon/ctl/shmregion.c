/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/magic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/parse.h"
#include "sample/sysroot.h"
#include "shmregion.h"

static void closep(int *fd) {
        if (*fd >= 0)
                (void) close(*fd);
}

void hn_shm_region_close(struct hn_shm_region *region) {
        if (region->map && region->map_length > 0)
                (void) munmap(region->map, region->map_length);
        else if (region->map)
                (void) shmdt(region->map);
        *region = HN_SHM_REGION_NULL;
}

/* The size of a huge page, for segments: the default one of /proc/meminfo. */
static size_t huge_page(void) {
        char text[16384];
        ssize_t n = hn_read_at(AT_FDCWD, text, sizeof(text), "/proc/meminfo");
        const char *p = n > 0 ? strstr(text, "Hugepagesize:") : NULL;
        const char *line;
        size_t rest = p ? strlen(p) : 0, length;
        uint64_t kb = 0;

        if (p && hn_next_line(&p, &rest, &line, &length)) {
                line += strlen("Hugepagesize:");
                line += strspn(line, " ");
                (void) hn_parse_u64_prefix(&line, p, &kb);
        }
        return kb > 0 && kb < SIZE_MAX / 1024 ? (size_t) kb * 1024 : (size_t) sysconf(_SC_PAGESIZE);
}

static size_t segment_page(const struct hn_shm_wish *w) {
        return w->huge ? huge_page() : (size_t) sysconf(_SC_PAGESIZE);
}

/* Whether length and offset are there, in whole pages, and do not run over. */
static int check(const struct hn_shm_wish *w, uint64_t length, size_t page, struct hn_why *why) {
        if (length == 0)
                return hn_why(why, -EINVAL, "%s: --length is missing: how much of it is meant", w->name);
        if (length % page != 0 || w->offset % page != 0)
                return hn_why(why, -EINVAL, "%s: --length and --offset are in whole pages of %zu bytes here",
                              w->name, page);
        if (length > (uint64_t) INT64_MAX || w->offset > (uint64_t) INT64_MAX - length)
                return hn_why(why, -EINVAL, "%s: --length and --offset are too large", w->name);
        return 0;
}

/* Segments */

static int find_key(const struct hn_shm_wish *w, FILE *say, key_t *ret, struct hn_why *why) {
        _hn_cleanup_(closep) int fd = -1;

        *ret = ftok(w->name, w->id);
        if (*ret == (key_t) -1 && errno == ENOENT) {
                int r = check(w, w->length, segment_page(w), why);

                /* Without its file there is no segment either, so that the length is needed. */
                if (r < 0)
                        return r;
                fd = open(w->name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, w->mode);
                if (fd < 0)
                        return hn_why_errno(why, -errno, "%s: cannot make the file of the key", w->name);
                fprintf(say, "homenode: made the key file %s, mode %04o\n", w->name, (unsigned) w->mode);
                *ret = ftok(w->name, w->id);
        }
        return *ret == (key_t) -1 ? hn_why_errno(why, -errno, "%s: no key can be made of it", w->name) : 0;
}

/* The segment of this key, a new one if there is none. */
static int find_segment(const struct hn_shm_wish *w, key_t key, FILE *say, int *ret_id, struct hn_why *why) {
        int flags = w->huge ? SHM_HUGETLB : 0, r;

        *ret_id = shmget(key, 0, flags);
        if (*ret_id >= 0)
                return 0;
        if (errno != ENOENT)
                return hn_why_errno(why, -errno, "%s: cannot open its shared memory", w->name);
        r = check(w, w->length, segment_page(w), why);
        if (r < 0)
                return r;
        *ret_id = shmget(key, (size_t) (w->length + w->offset), IPC_CREAT | IPC_EXCL | (int) w->mode | flags);
        if (*ret_id < 0)
                return hn_why_errno(why, -errno, "%s: cannot make %" PRIu64 " bytes of shared memory%s",
                                    w->name, w->length + w->offset,
                                    w->huge ? " in huge pages (vm.nr_hugepages says how many there are)"
                                            : "");
        fprintf(say, "homenode: made shared memory of %" PRIu64 " bytes for %s, id %d, mode %04o\n",
                w->length + w->offset, w->name, w->id, (unsigned) w->mode);
        return 0;
}

int hn_shm_region_attach(const struct hn_shm_wish *w, FILE *say, struct hn_shm_region *ret,
                         struct hn_why *why) {
        struct hn_shm_region region = HN_SHM_REGION_NULL;
        struct shmid_ds info;
        key_t key;
        int id = -1, r;

        r = find_key(w, say, &key, why);
        if (r == 0)
                r = find_segment(w, key, say, &id, why);
        if (r < 0)
                return r;
        if (shmctl(id, IPC_STAT, &info) < 0)
                return hn_why_errno(why, -errno, "%s: cannot ask for its shared memory's size", w->name);
        region.page = segment_page(w);
        region.offset = w->offset;
        region.length = w->length > 0                ? w->length
                        : w->offset < info.shm_segsz ? info.shm_segsz - w->offset
                                                     : 0;
        if (w->offset > 0 && region.length == 0)
                return hn_why(why, -EINVAL, "%s: its shared memory ends after %zu bytes, before the --offset",
                              w->name, info.shm_segsz);
        r = check(w, region.length, region.page, why);
        if (r < 0)
                return r;
        if (region.offset + region.length > (info.shm_segsz + region.page - 1) / region.page * region.page)
                return hn_why(why, -EINVAL, "%s: its shared memory ends after %zu bytes", w->name,
                              info.shm_segsz);
        region.map = shmat(id, NULL, 0);
        if (region.map == (void *) -1)
                return hn_why_errno(why, -errno, "%s: cannot attach its shared memory", w->name);
        region.start = (char *) region.map + region.offset;
        *ret = region;
        return 0;
}

/* Files */

int hn_shm_region_map(const struct hn_shm_wish *w, struct hn_shm_region *ret, struct hn_why *why) {
        struct hn_shm_region region = { .length = w->length, .offset = w->offset };
        _hn_cleanup_(closep) int fd = -1;
        struct statfs fs;
        struct stat st;
        int r;

        fd = open(w->name, O_RDWR | O_CLOEXEC | O_NONBLOCK);
        if (fd < 0 && errno == ENOENT) {
                r = check(w, w->length, (size_t) sysconf(_SC_PAGESIZE), why);
                if (r < 0)
                        return r;
                fd = open(w->name, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, w->mode);
        }
        if (fd < 0 || fstat(fd, &st) < 0 || fstatfs(fd, &fs) < 0)
                return hn_why_errno(why, -errno, "%s: cannot open it", w->name);
        if (!S_ISREG(st.st_mode))
                return hn_why(why, -EINVAL, "%s: is no file", w->name);
        region.page = HN_MAX((size_t) st.st_blksize, (size_t) sysconf(_SC_PAGESIZE));
        region.fleeting = fs.f_type != TMPFS_MAGIC && fs.f_type != HUGETLBFS_MAGIC;
        r = check(w, w->length, region.page, why);
        if (r < 0)
                return r;
        if (w->offset + w->length > (uint64_t) st.st_size &&
            ftruncate(fd, (off_t) (w->offset + w->length)) < 0)
                return hn_why_errno(why, -errno, "%s: cannot be lengthened to %" PRIu64 " bytes", w->name,
                                    w->offset + w->length);
        region.map = mmap(NULL, (size_t) w->length, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
                          (off_t) w->offset);
        if (region.map == MAP_FAILED)
                return hn_why_errno(why, -errno, "%s: cannot be mapped", w->name);
        region.map_length = (size_t) w->length;
        region.start = region.map;
        *ret = region;
        return 0;
}

/* What is done with either */

int hn_shm_region_touch(const struct hn_shm_region *region, struct hn_why *why) {
        /* The kernel does it, and answers where a write of ours would end in SIGBUS: a file cut short, no
         * room. */
        if (madvise(region->start, (size_t) region->length, MADV_POPULATE_WRITE) < 0)
                return hn_why_errno(why, errno == EFAULT ? -ENOSPC : -errno, "cannot bring in all pages");
        return 0;
}

/* Policy or node of the page at `at`. */
static int look(const struct hn_shm_region *region, uint64_t at, struct hn_mempolicy *policy, unsigned *node,
                struct hn_why *why) {
        int r = 0;

        if (policy)
                r = hn_mempolicy_get_at(region->start + at, policy);
        if (r == 0 && node)
                r = hn_mempolicy_node_at(region->start + at, node);
        return r < 0 ? hn_why_errno(why, r, "cannot look at the page at %" PRIx64, region->offset + at) : 0;
}

static const char *name_of(const struct hn_mempolicy *p) {
        const char *name = hn_mempolicy_name(p->mode);

        return name ? name : "a policy unknown here";
}

int hn_shm_region_verify(const struct hn_shm_region *region, const struct hn_mempolicy *want,
                         struct hn_why *why) {
        bool in_turn = want->mode == HN_MPOL_INTERLEAVE;
        unsigned expected = HN_MASK_NONE;

        for (uint64_t at = 0; at < region->length; at += region->page) {
                struct hn_mempolicy is;
                unsigned node = 0;
                int r = look(region, at, &is, &node, why);
                uint64_t where = region->offset + at;

                if (r < 0)
                        return r;
                if (is.mode != want->mode)
                        return hn_why(why, 1, "the page at %" PRIx64 " has the policy %s, not %s", where,
                                      name_of(&is), name_of(want));
                if (!hn_mask_equal(&is.nodes, &want->nodes))
                        return hn_why(why, 1, "the page at %" PRIx64 " has a policy for other nodes", where);
                if (!hn_mask_has(&want->nodes, node))
                        return hn_why(why, 1, "the page at %" PRIx64 " is on node %u", where, node);
                if (in_turn && expected != HN_MASK_NONE && node != expected)
                        return hn_why(why, 1,
                                      "the page at %" PRIx64 " is on node %u, and it is the turn of node %u",
                                      where, node, expected);
                expected = hn_mask_next(&want->nodes, node + 1);
                if (expected == HN_MASK_NONE)
                        expected = hn_mask_next(&want->nodes, 0);
        }
        return 0;
}

static void dump_policy(const struct hn_shm_region *region, FILE *f, uint64_t from, uint64_t to,
                        const struct hn_mempolicy *p) {
        if (p->mode == HN_MPOL_DEFAULT)
                return;
        fprintf(f, "%016" PRIx64 "-%016" PRIx64 ": ", region->offset + from, region->offset + to);
        if (hn_mempolicy_name(p->mode))
                fprintf(f, "%s :", hn_mempolicy_name(p->mode));
        else
                fprintf(f, "[%d] :", p->mode);
        for (unsigned id = hn_mask_next(&p->nodes, 0); id != HN_MASK_NONE;
             id = hn_mask_next(&p->nodes, id + 1))
                fprintf(f, " %u", id);
        fputc('\n', f);
}

int hn_shm_region_dump(const struct hn_shm_region *region, FILE *f, struct hn_why *why) {
        struct hn_mempolicy before = HN_MEMPOLICY_NULL, is;
        uint64_t from = 0, at;

        for (at = 0; at < region->length; at += region->page) {
                int r = look(region, at, &is, NULL, why);

                if (r < 0)
                        return r;
                if (at > 0 && is.mode == before.mode && is.flags == before.flags &&
                    hn_mask_equal(&is.nodes, &before.nodes))
                        continue;
                if (at > 0)
                        dump_policy(region, f, from, at, &before);
                before = is;
                from = at;
        }
        dump_policy(region, f, from, at, &before);
        return 0;
}

int hn_shm_region_dump_nodes(const struct hn_shm_region *region, FILE *f, struct hn_why *why) {
        unsigned before = 0, node = 0;
        uint64_t from = 0, at;

        for (at = 0; at < region->length; at += region->page) {
                int r = look(region, at, NULL, &node, why);

                if (r < 0)
                        return r;
                if (at > 0 && node == before)
                        continue;
                if (at > 0)
                        fprintf(f, "%016" PRIx64 "-%016" PRIx64 ": %u\n", region->offset + from,
                                region->offset + at, before);
                before = node;
                from = at;
        }
        fprintf(f, "%016" PRIx64 "-%016" PRIx64 ": %u\n", region->offset + from, region->offset + at, before);
        return 0;
}
