/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/parse.h"
#include "daemon/config.h"
#include "daemon/confitem.h"
#include "sample/devnode.h"
#include "sample/unitpath.h"

static int parse_mode(const struct hn_conf_item *item, const char *value, size_t n, void *target) {
        enum hn_mode mode = hn_mode_from_string(value);

        (void) item;
        (void) n;
        if (mode < 0)
                return -EINVAL;
        *(enum hn_mode *) target = mode;
        return 0;
}

static int parse_yes_no(const struct hn_conf_item *item, const char *value, size_t n, void *target) {
        (void) item;
        return hn_parse_bool(value, n, target);
}

static int parse_user_mask(const struct hn_conf_item *item, const char *value, size_t n, void *target) {
        (void) item;
        (void) n;
        if (strcmp(value, "leave") != 0 && strcmp(value, "within") != 0)
                return -EINVAL;
        *(bool *) target = strcmp(value, "within") == 0;
        return 0;
}

static int parse_nodes(const struct hn_conf_item *item, const char *value, size_t n, void *target) {
        (void) item;
        return hn_mask_parse_list(value, n, target);
}

static int in_range(const struct hn_conf_item *item, uint64_t v) {
        return v < item->min || v > item->max ? -ERANGE : 0;
}

static int parse_span(const struct hn_conf_item *item, const char *value, size_t n, hn_usec_t unit,
                      hn_usec_t *ret) {
        hn_usec_t v;
        int r = hn_parse_usec(value, n, unit, &v);

        if (r == 0)
                r = in_range(item, v);
        if (r == 0)
                *ret = v;
        return r;
}

static int parse_sec(const struct hn_conf_item *item, const char *value, size_t n, void *target) {
        return parse_span(item, value, n, HN_USEC_PER_SEC, target);
}

static int parse_msec(const struct hn_conf_item *item, const char *value, size_t n, void *target) {
        return parse_span(item, value, n, HN_USEC_PER_MSEC, target);
}

static int parse_share(const struct hn_conf_item *item, const char *value, size_t n, void *target) {
        unsigned v;
        int r = hn_parse_permille(value, n, &v);

        if (r == 0)
                r = in_range(item, v);
        if (r == 0)
                *(unsigned *) target = v;
        return r;
}

static int parse_size(const struct hn_conf_item *item, const char *value, size_t n, void *target) {
        uint64_t v;
        int r = hn_parse_bytes(value, n, &v);

        if (r == 0)
                r = in_range(item, v);
        if (r == 0)
                *(uint64_t *) target = v;
        return r;
}

/* Whether hn_cgroups_find() can make sense of it: components without "." and "..", every "[" closed in its
 * own. */
static bool is_pattern(const char *p, size_t n) {
        for (size_t i = 0; i < n;) {
                const char *slash = memchr(p + i, '/', n - i);
                size_t end = slash ? (size_t) (slash - p) : n;
                const char *open = memchr(p + i, '[', end - i);

                if (end == i || (end - i <= 2 && memcmp(p + i, "..", end - i) == 0))
                        return false;
                if (open && !memchr(open + 1, ']', end - (size_t) (open + 1 - p)))
                        return false;
                i = end + (slash != NULL);
        }
        return n > 0;
}

static bool accept_cgroup(const char **word, size_t *n) {
        for (; *n > 0 && **word == '/'; (*n)--)
                (*word)++;
        while (*n > 0 && (*word)[*n - 1] == '/')
                (*n)--;
        return is_pattern(*word, *n);
}

static bool accept_unit(const char **word, size_t *n) {
        return is_pattern(*word, *n) && hn_unitpath_is_pattern(*word, *n);
}

/* The kernel cuts names, so that a longer one would never fit. */
static bool accept_comm(const char **word, size_t *n) {
        for (size_t i = 0; i < *n; i++)
                if (strchr("*?[", (*word)[i]))
                        return true;
        return *n < HN_TASK_COMM_MAX;
}

static bool accept_exe(const char **word, size_t *n) {
        return **word == '/' && is_pattern(*word + 1, *n - 1);
}

/* As useradd(8) takes them, and more: what is no name is told when it is looked up. */
static bool accept_user(const char **word, size_t *n) {
        for (size_t i = 0; i < *n; i++)
                if ((*word)[i] <= ' ' || (*word)[i] == ':' || (*word)[i] == '/' || (*word)[i] == 0x7f)
                        return false;
        return true;
}

static bool accept_device(const char **word, size_t *n) {
        return hn_device_is_name(*word, *n);
}

static int parse_cgroups(const struct hn_conf_item *item, const char *value, size_t n, void *target) {
        return hn_words_add(target, value, n, item->max, accept_cgroup);
}

static int parse_units(const struct hn_conf_item *item, const char *value, size_t n, void *target) {
        return hn_words_add(target, value, n, item->max, accept_unit);
}

static int parse_comms(const struct hn_conf_item *item, const char *value, size_t n, void *target) {
        return hn_words_add(target, value, n, item->max, accept_comm);
}

static int parse_exes(const struct hn_conf_item *item, const char *value, size_t n, void *target) {
        return hn_words_add(target, value, n, item->max, accept_exe);
}

static int parse_users(const struct hn_conf_item *item, const char *value, size_t n, void *target) {
        return hn_words_add(target, value, n, item->max, accept_user);
}

static int parse_devices(const struct hn_conf_item *item, const char *value, size_t n, void *target) {
        return hn_words_add(target, value, n, item->max, accept_device);
}

static int parse_marks(const struct hn_conf_item *item, const char *value, size_t n, void *target) {
        enum hn_mark_trust trust = hn_mark_trust_from_string(value);

        (void) item;
        (void) n;
        if (trust < 0)
                return -EINVAL;
        *(enum hn_mark_trust *) target = trust;
        return 0;
}

/* The keys of homenode.conf(5) */

#define MODES "observe, advise or manage"

const struct hn_conf_item hn_conf_daemon[] = {
        { "Mode", parse_mode, offsetof(struct hn_config, mode), 0, 0, MODES },
        { "IntervalSec", parse_sec, offsetof(struct hn_config, interval), 100 * HN_USEC_PER_MSEC,
          3600 * HN_USEC_PER_SEC, "a time from 100ms to 1h, in seconds if it has no unit" },
        { "CpuBudget", parse_share, offsetof(struct hn_config, cpu_budget_permille), 1, 1000,
          "a share of one CPU from 0.1% to 100%" },
        { "PageRate", parse_size, offsetof(struct hn_config, page_rate), UINT64_C(1) << 20, UINT64_C(1) << 40,
          "bytes a second from 1M to 1T" },
        { "PageSliceMs", parse_msec, offsetof(struct hn_config, page_slice), HN_USEC_PER_MSEC,
          HN_USEC_PER_SEC, "a time from 1ms to 1s, in milliseconds if it has no unit" },
        { "Marks", parse_marks, offsetof(struct hn_config, marks), 0, 0, "no, lower, root or all" },
};

const struct hn_conf_item hn_conf_rule[] = {
        { "Cgroup", parse_cgroups, offsetof(struct hn_rule, match[HN_MATCH_CGROUP]), 0, HN_CONFIG_WORDS_MAX,
          "cgroup paths below the root, with *, ? and [] inside a component" },
        { "Unit", parse_units, offsetof(struct hn_rule, match[HN_MATCH_UNIT]), 0, HN_CONFIG_WORDS_MAX,
          "names of services, slices or scopes such as web-*.service" },
        { "Comm", parse_comms, offsetof(struct hn_rule, match[HN_MATCH_COMM]), 0, HN_CONFIG_WORDS_MAX,
          "names of processes, which have up to 15 bytes, with *, ? and []" },
        { "Exe", parse_exes, offsetof(struct hn_rule, match[HN_MATCH_EXE]), 0, HN_CONFIG_WORDS_MAX,
          "paths of programs from the root, with *, ? and [] inside a component" },
        { "User", parse_users, offsetof(struct hn_rule, match[HN_MATCH_USER]), 0, HN_CONFIG_WORDS_MAX,
          "names or numbers of users" },
        { "Mode", parse_mode, offsetof(struct hn_rule, mode), 0, 0, MODES },
        { "Pages", parse_yes_no, offsetof(struct hn_rule, pages), 0, 0, "yes or no" },
        { "Nodes", parse_nodes, offsetof(struct hn_rule, nodes), 0, 0,
          "node numbers such as 0-3,6, or nothing for all" },
        { "UserMask", parse_user_mask, offsetof(struct hn_rule, within_user_mask), 0, 0, "leave or within" },
        { "PreferDevice", parse_devices, offsetof(struct hn_rule, devices), 0, HN_CONFIG_DEVICES_MAX,
          "devices such as pci:0000:3b:00.0, netdev:eth0, block:nvme0n1 or a path" },
};

const size_t hn_conf_daemon_n = HN_ELEMENTS(hn_conf_daemon);
const size_t hn_conf_rule_n = HN_ELEMENTS(hn_conf_rule);

void hn_conf_list_keys(const struct hn_conf_item *items, size_t n, char *buf, size_t size) {
        size_t used = 0;

        buf[0] = '\0';
        for (size_t i = 0; i < n && used < size; i++)
                used += (size_t) snprintf(buf + used, size - used, "%s%s", i > 0 ? ", " : "", items[i].key);
}
