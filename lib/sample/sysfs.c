/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/parse.h"
#include "sample/sysfs.h"

#define NODE_FOLDER "sys/devices/system/node"

/* A list of HN_MASK_LIST_MAX with room to spare; a row of 1,024 distances needs 4 KiB. */
#define TEXT_SIZE (HN_MASK_LIST_MAX + 8192u)

static int hex_digit(char c) {
        if (c >= '0' && c <= '9')
                return c - '0';
        if (c >= 'a' && c <= 'f')
                return c - 'a' + 10;
        if (c >= 'A' && c <= 'F')
                return c - 'A' + 10;
        return -1;
}

int hn_cpumap_parse(const char *text, size_t n, struct hn_mask *ret) {
        struct hn_mask m = HN_MASK_NULL;
        size_t word = 0, digits = 0;

        hn_trim(&text, &n);
        /* From the right, where CPU 0 is. */
        for (size_t i = n; i-- > 0;) {
                size_t bit;
                int digit;

                if (text[i] == ',') {
                        if (digits == 0 || i == 0)
                                return -EINVAL; /* a word without digits */
                        word++;
                        digits = 0;
                        continue;
                }
                digit = hex_digit(text[i]);
                if (digit < 0 || digits == 8)
                        return -EINVAL;
                bit = 32 * word + 4 * digits++;
                if (digit == 0)
                        continue;
                if (bit >= HN_MASK_BITS)
                        return -ERANGE;
                m.word[bit / 64] |= (uint64_t) digit << (bit % 64);
        }
        *ret = m;
        return 0;
}

int hn_distances_parse(const char *text, size_t n, unsigned *row, size_t size, size_t *ret_n) {
        size_t columns = 0, length;
        const char *word;

        hn_trim(&text, &n);
        while (hn_next_word(&text, &n, &word, &length)) {
                int r;

                if (columns == size)
                        return -ERANGE;
                r = hn_parse_unsigned(word, length, &row[columns++]);
                if (r < 0)
                        return r;
        }
        *ret_n = columns;
        return 0;
}

int hn_numbered_name_parse(const char *name, const char *prefix, unsigned *ret) {
        const char *p, *end = name + strlen(name);
        unsigned v;

        if (!hn_has_prefix(name, (size_t) (end - name), prefix))
                return -EINVAL;
        p = name + strlen(prefix);
        if (hn_parse_unsigned_prefix(&p, end, &v) < 0 || p != end)
                return -EINVAL;
        *ret = v;
        return 0;
}

/* 0 or HN_SYSFS_ABSENT from what a reader or a parser answered. */
static int absent_unless_ok(ssize_t r) {
        return r == -ENOMEM ? -ENOMEM : r < 0 ? HN_SYSFS_ABSENT : _HN_SYSFS_OK;
}

int hn_sysfs_read_list(const struct hn_sysroot *root, const char *path, struct hn_mask *ret) {
        char text[TEXT_SIZE];
        ssize_t n = hn_read_at(root->fd, text, sizeof(text), "%s", path);

        return absent_unless_ok(n < 0 ? n : hn_mask_parse_list(text, (size_t) n, ret));
}

/* The folders, for kernels and captures without the file `online`. */
static int list_node_folders(const struct hn_sysroot *root, struct hn_mask *ret) {
        struct hn_mask m = HN_MASK_NULL;
        DIR *dir;
        int r;

        r = hn_opendir_at(root->fd, &dir, NODE_FOLDER);
        if (r < 0)
                return absent_unless_ok(r);
        for (const struct dirent *de; (de = readdir(dir));) {
                unsigned id;

                if (hn_numbered_name_parse(de->d_name, "node", &id) == 0 && id < HN_SYSFS_NODES_MAX)
                        (void) hn_mask_add(&m, id);
        }
        (void) closedir(dir);
        if (hn_mask_empty(&m))
                return HN_SYSFS_ABSENT;
        *ret = m;
        return 0;
}

int hn_sysfs_read_node_ids(const struct hn_sysroot *root, struct hn_mask *ret) {
        struct hn_mask m;
        int r;

        r = hn_sysfs_read_list(root, NODE_FOLDER "/online", &m);
        if (r < 0)
                return r;
        if (r == HN_SYSFS_ABSENT || hn_mask_empty(&m) || hn_mask_last(&m) >= HN_SYSFS_NODES_MAX)
                return list_node_folders(root, ret);
        *ret = m;
        return 0;
}

int hn_sysfs_read_node_cpus(const struct hn_sysroot *root, unsigned id, struct hn_mask *ret) {
        char text[TEXT_SIZE];
        ssize_t n;

        n = hn_read_at(root->fd, text, sizeof(text), NODE_FOLDER "/node%u/cpulist", id);
        if (n >= 0 && hn_mask_parse_list(text, (size_t) n, ret) == 0)
                return 0;
        n = hn_read_at(root->fd, text, sizeof(text), NODE_FOLDER "/node%u/cpumap", id);
        return absent_unless_ok(n < 0 ? n : hn_cpumap_parse(text, (size_t) n, ret));
}

int hn_sysfs_read_node_distances(const struct hn_sysroot *root, unsigned id, unsigned *row, size_t size,
                                 size_t *ret_n) {
        char text[TEXT_SIZE];
        ssize_t n = hn_read_at(root->fd, text, sizeof(text), NODE_FOLDER "/node%u/distance", id);

        return absent_unless_ok(n < 0 ? n : hn_distances_parse(text, (size_t) n, row, size, ret_n));
}
