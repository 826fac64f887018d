/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "sample/procfs.h"

/* proc_sched_show_task() prints 67 dashes. A task name has at most 15 bytes, so it cannot forge this many. */
#define RULER_MIN 16u

int hn_proc_stat_parse(const char *buf, size_t n, struct hn_proc_stat *ret) {
        const char *open, *close, *p = buf, *word;
        struct hn_proc_stat s = { .cpu = -1 };
        size_t length, left;
        unsigned tid;

        if (n == 0 || hn_parse_unsigned_prefix(&p, buf + n, &tid) < 0 || tid > INT32_MAX)
                return -EBADMSG;
        s.tid = (pid_t) tid;
        open = memchr(buf, '(', n);
        close = memrchr(buf, ')', n); /* the name may hold any of them; what follows holds none */
        if (!open || !close || close < open)
                return -EBADMSG;
        memcpy(s.comm, open + 1, HN_MIN((size_t) (close - open - 1), sizeof(s.comm) - 1));

        p = close + 1;
        left = (size_t) (buf + n - p);
        for (unsigned field = 3; field <= 41; field++) {
                uint64_t v = 0;
                int64_t cpu;

                if (!hn_next_word(&p, &left, &word, &length))
                        return -EBADMSG;
                switch (field) {
                case 3:
                        if (length != 1)
                                return -EBADMSG;
                        s.state = *word;
                        continue;
                case 39:
                        if (hn_parse_i64(word, length, &cpu) < 0)
                                return -EBADMSG;
                        s.cpu = cpu >= 0 && cpu <= INT32_MAX ? (int) cpu : -1;
                        continue;
                case 9:
                case 14:
                case 15:
                case 16:
                case 17:
                case 20:
                case 22:
                case 24:
                case 41:
                        if (hn_parse_u64(word, length, &v) < 0)
                                return -EBADMSG;
                        break;
                default: continue;
                }
                if (field == 24)
                        s.resident = v;
                else if (field == 16 || field == 17)
                        s.child_ticks += v;
                else if (field == 9)
                        s.flags = (uint32_t) v;
                else if (field == 14)
                        s.ticks = v;
                else if (field == 15)
                        s.ticks += v;
                else if (field == 20)
                        s.n_threads = (uint32_t) HN_MIN(v, UINT32_MAX);
                else if (field == 22)
                        s.start = v;
                else
                        s.sched_class = (uint8_t) HN_MIN(v, UINT8_MAX);
        }
        /* Cut in mid-number, the last field would be another one: it counts only with something behind it. */
        if (left == 0)
                return -EBADMSG;
        *ret = s;
        return 0;
}

int hn_proc_schedstat_parse(const char *buf, size_t n, struct hn_proc_schedstat *ret) {
        struct hn_proc_schedstat s;
        const char *p = buf, *word;
        size_t length;

        if (!hn_next_word(&p, &n, &word, &length) || hn_parse_u64(word, length, &s.run_ns) < 0)
                return -EBADMSG;
        if (!hn_next_word(&p, &n, &word, &length) || hn_parse_u64(word, length, &s.wait_ns) < 0 || n == 0)
                return -EBADMSG;
        *ret = s;
        return 0;
}

static bool ends_in(const char *key, size_t n, const char *want) {
        size_t length = strlen(want);

        if (n < length || memcmp(key + n - length, want, length) != 0)
                return false;
        /* "se.statistics.x" is x, "total_x" is not */
        return n == length || key[n - length - 1] == '.' || key[n - length - 1] == '>';
}

/* Finds "name=123" among words that commas or spaces part. */
static bool find_value(const char *line, size_t n, const char *name, uint64_t *ret) {
        const char *end = line + n;
        size_t length = strlen(name);

        for (const char *p = line; p < end;) {
                while (p < end && (*p == ' ' || *p == ','))
                        p++;
                if ((size_t) (end - p) > length + 1 && memcmp(p, name, length) == 0 && p[length] == '=') {
                        const char *value = p + length + 1;

                        if (hn_parse_u64_prefix(&value, end, ret) == 0)
                                return true;
                }
                while (p < end && *p != ' ' && *p != ',')
                        p++;
        }
        return false;
}

static void sched_pair(const char *line, size_t n, struct hn_proc_sched *s) {
        const char *colon = memchr(line, ':', n), *value;
        size_t key_length, length;
        int64_t v;

        if (!colon)
                return;
        key_length = (size_t) (colon - line);
        while (key_length > 0 && line[key_length - 1] == ' ')
                key_length--;
        value = colon + 1;
        length = n - (size_t) (value - line);

        if (ends_in(line, key_length, "runnable_avg")) {
                if (hn_parse_i64(value, length, &v) == 0 && v >= 0)
                        s->runnable_avg = (uint32_t) HN_MIN(v, (int64_t) UINT32_MAX);
        } else if (ends_in(line, key_length, "numa_scan_seq")) {
                if (hn_parse_i64(value, length, &v) == 0 && v >= 0)
                        s->scan_seq = (uint64_t) v;
        } else if (ends_in(line, key_length, "numa_preferred_nid")) {
                if (hn_parse_i64(value, length, &v) == 0 && v >= 0 && v <= INT32_MAX)
                        s->preferred = (int) v;
        }
}

int hn_proc_sched_parse(const char *buf, size_t n, const struct hn_topology *topo, uint64_t *ret_priv,
                        uint64_t *ret_shared, struct hn_proc_sched *ret) {
        struct hn_proc_sched s = { .preferred = -1 };
        const char *line;
        size_t length;
        bool body = false;

        memset(ret_priv, 0, topo->n_nodes * sizeof(*ret_priv));
        memset(ret_shared, 0, topo->n_nodes * sizeof(*ret_shared));

        while (hn_next_line(&buf, &n, &line, &length)) {
                uint64_t id, v;

                if (!body) {
                        size_t dashes = 0;

                        while (dashes < length && line[dashes] == '-')
                                dashes++;
                        body = dashes == length && dashes >= RULER_MIN;
                } else if (hn_has_prefix(line, length, "numa_faults ")) {
                        hn_node_index node;

                        s.has_faults = true;
                        if (!find_value(line, length, "node", &id) || id > UINT32_MAX)
                                continue;
                        node = hn_topology_index(topo, (unsigned) id);
                        if (node == HN_NODE_NONE)
                                continue;
                        if (find_value(line, length, "task_private", &v))
                                ret_priv[node] = v;
                        if (find_value(line, length, "task_shared", &v))
                                ret_shared[node] = v;
                } else if (hn_has_prefix(line, length, "current_node")) {
                        if (find_value(line, length, "numa_group_id", &v) && v <= UINT32_MAX)
                                s.numa_group = (uint32_t) v;
                } else
                        sched_pair(line, length, &s);
        }
        if (!body)
                return -EBADMSG;
        for (size_t i = 0; i < topo->n_nodes; i++)
                s.total += ret_priv[i] + ret_shared[i];
        *ret = s;
        return 0;
}

/* "     123 kB" in bytes, 0 if it is not that. */
static uint64_t kilobytes(const char *text, size_t n) {
        const char *p, *end;
        uint64_t v;

        hn_trim(&text, &n);
        p = text;
        end = text + n;
        if (hn_parse_u64_prefix(&p, end, &v) < 0 || __builtin_mul_overflow(v, UINT64_C(1024), &v))
                return 0;
        return v;
}

static bool parse_list(const char *text, size_t n, struct hn_mask *ret) {
        if (hn_mask_parse_list(text, n, ret) == 0)
                return true;
        *ret = HN_MASK_NULL;
        return false;
}

/* "1000 1000 1000 1000": real, effective, saved and of the file system. */
static bool parse_uid(const char *text, size_t n, uid_t *ret) {
        const char *word;
        size_t length;
        unsigned v;

        if (!hn_next_word(&text, &n, &word, &length) || !hn_next_word(&text, &n, &word, &length) ||
            hn_parse_unsigned(word, length, &v) < 0)
                return false;
        *ret = v;
        return true;
}

int hn_proc_status_parse(const char *buf, size_t n, struct hn_proc_status *ret) {
        struct hn_proc_status s = { .tgid = 0 };
        const char *line;
        size_t length;

        /* The kernel escapes newlines in the Name line, so a name cannot make lines of its own here. */
        while (hn_next_line(&buf, &n, &line, &length)) {
                const char *colon = memchr(line, ':', length), *value;
                size_t rest;
                unsigned v;

                if (!colon)
                        continue;
                value = colon + 1;
                rest = length - (size_t) (value - line);
                if (hn_has_prefix(line, length, "Tgid:")) {
                        if (hn_parse_unsigned(value, rest, &v) < 0 || v > INT32_MAX)
                                return -EBADMSG;
                        s.tgid = (pid_t) v;
                } else if (hn_has_prefix(line, length, "Uid:"))
                        s.has_uid = parse_uid(value, rest, &s.uid);
                else if (hn_has_prefix(line, length, "VmPin:"))
                        s.pinned = kilobytes(value, rest);
                else if (hn_has_prefix(line, length, "VmLck:"))
                        s.locked = kilobytes(value, rest);
                else if (hn_has_prefix(line, length, "Cpus_allowed_list:"))
                        s.has_cpus = parse_list(value, rest, &s.cpus);
                else if (hn_has_prefix(line, length, "Mems_allowed_list:"))
                        s.has_mems = parse_list(value, rest, &s.mems);
        }
        if (s.tgid == 0)
                return -EBADMSG;
        *ret = s;
        return 0;
}

/* Whether `want` is among the words that commas part. */
static bool list_has(const char *list, size_t n, const char *want) {
        size_t length = strlen(want);

        for (const char *p = list, *end = list + n; p <= end;) {
                const char *comma = memchr(p, ',', (size_t) (end - p));
                const char *stop = comma ? comma : end;

                if ((size_t) (stop - p) == length && memcmp(p, want, length) == 0)
                        return true;
                p = stop + 1;
        }
        return false;
}

int hn_proc_cgroup_parse(const char *buf, size_t n, const char *controller, const char **ret,
                         size_t *ret_length) {
        const char *line;
        size_t length;

        while (hn_next_line(&buf, &n, &line, &length)) {
                const char *end = line + length, *list = memchr(line, ':', length), *path;

                if (!list)
                        continue;
                list++;
                path = memchr(list, ':', (size_t) (end - list));
                if (!path || path + 1 == end || path[1] != '/')
                        continue;
                if (controller ? !list_has(list, (size_t) (path - list), controller)
                               : path != list || !hn_has_prefix(line, length, "0:"))
                        continue;
                *ret = path + 1;
                *ret_length = (size_t) (end - path - 1);
                return 0;
        }
        return -ENOENT;
}

unsigned hn_proc_read_balancing(const struct hn_sysroot *root) {
        char buf[32];
        ssize_t n = hn_read_at(root->fd, buf, sizeof(buf), "proc/sys/kernel/numa_balancing");
        unsigned v;

        return n >= 0 && hn_parse_unsigned(buf, (size_t) n, &v) == 0 ? v : 0;
}
