/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <systemd/sd-bus.h>

#include "base/macro.h"
#include "base/parse.h"
#include "busclient.h"
#include "pintarget.h"
#include "sample/cgrouplist.h"
#include "sample/procfs.h"
#include "sample/sysroot.h"
#include "verb.h"

#define CGROUP_ROOT "/sys/fs/cgroup/"

void hn_pin_target_deinit(struct hn_pin_target *t) {
        free(t->name);
        *t = HN_PIN_TARGET_NULL;
}

char *hn_pin_cgroup_path(const char *path) {
        size_t n;

        if (hn_has_prefix(path, strlen(path), CGROUP_ROOT))
                path += sizeof(CGROUP_ROOT) - 1;
        while (*path == '/')
                path++;
        n = strlen(path);
        while (n > 0 && path[n - 1] == '/')
                n--;
        return strndup(path, n);
}

/* units */

/* "org.freedesktop.systemd1.Service" for "web.service": the cgroup is a property of the kind. */
static bool unit_interface(const char *unit, char *buf, size_t size) {
        const char *dot = strrchr(unit, '.');
        int n;

        if (!dot || dot[1] == '\0')
                return false;
        n = snprintf(buf, size, "org.freedesktop.systemd1.%c%s", toupper((unsigned char) dot[1]), dot + 2);
        return n > 0 && (size_t) n < size && sd_bus_interface_name_is_valid(buf) > 0;
}

/* Returns 0; 1 where systemd knows of no such unit or it has no cgroup now; or -errno. */
static int ask_systemd(const char *unit, char **ret) {
        _hn_cleanup_(hn_freep) char *path = NULL, *group = NULL;
        sd_bus_error error = SD_BUS_ERROR_NULL;
        sd_bus_message *reply = NULL;
        sd_bus *bus = NULL;
        char interface[256];
        const char *object;
        int r;

        if (!unit_interface(unit, interface, sizeof(interface)))
                return 1;
        r = hn_busclient_open(NULL, &bus);
        if (r >= 0)
                r = sd_bus_call_method(bus, "org.freedesktop.systemd1", "/org/freedesktop/systemd1",
                                       "org.freedesktop.systemd1.Manager", "GetUnit", &error, &reply, "s",
                                       unit);
        if (r >= 0)
                r = sd_bus_message_read(reply, "o", &object);
        if (r >= 0)
                r = sd_bus_get_property_string(bus, "org.freedesktop.systemd1", object, interface,
                                               "ControlGroup", &error, &group);
        if (sd_bus_error_has_name(&error, "org.freedesktop.systemd1.NoSuchUnit") ||
            sd_bus_error_has_name(&error, SD_BUS_ERROR_UNKNOWN_PROPERTY) ||
            sd_bus_error_has_name(&error, SD_BUS_ERROR_UNKNOWN_INTERFACE))
                r = 1;
        sd_bus_error_free(&error);
        sd_bus_message_unref(reply);
        sd_bus_flush_close_unref(bus);
        if (r != 0 && !group)
                return r < 0 ? r : 1;
        path = hn_pin_cgroup_path(group);
        if (!path)
                return -ENOMEM;
        if (path[0] == '\0')
                return 1;
        *ret = HN_TAKE_PTR(path);
        return 0;
}

/* The cgroup whose last component is called so. Returns 0, 1 for none, 2 for several, or -errno. */
static int search_tree(const char *unit, char **ret) {
        static const char *const everything[] = { "*" };
        _hn_cleanup_(hn_cgroup_list_deinit) struct hn_cgroup_list list = HN_CGROUP_LIST_NULL;
        _hn_cleanup_(hn_sysroot_close) struct hn_sysroot root = HN_SYSROOT_NULL;
        struct hn_cgroupfs fs = HN_CGROUPFS_NULL;
        const char *found = NULL;
        size_t n = 0;
        int r;

        r = hn_sysroot_open(NULL, &root);
        if (r == 0)
                r = hn_cgroupfs_open(&root, &fs);
        if (r == 0)
                r = hn_cgroups_find(&fs, everything, 1, &list);
        hn_cgroupfs_close(&fs);
        if (r < 0)
                return r;
        for (size_t i = 0; i < list.n; i++) {
                const char *slash = strrchr(list.items[i].path, '/');

                if (slash && strcmp(slash + 1, unit) == 0) {
                        found = list.items[i].path;
                        n++;
                }
        }
        if (n != 1)
                return n == 0 ? 1 : 2;
        *ret = hn_pin_cgroup_path(found);
        return *ret ? 0 : -ENOMEM;
}

int hn_pin_unit_cgroup(const char *unit, char **ret) {
        _hn_cleanup_(hn_freep) char *full = NULL;
        int r;

        if (unit[0] == '\0' || strchr(unit, '/')) {
                hn_complain("\"%s\" is no name of a unit: write it as in \"web.service\"", unit);
                return EX_USAGE;
        }
        if (asprintf(&full, "%s%s", unit, strchr(unit, '.') ? "" : ".service") < 0) {
                full = NULL;
                return hn_complain_errno(-ENOMEM, "cannot look for unit %s", unit);
        }
        r = ask_systemd(full, ret);
        if (r < 0)
                r = search_tree(full, ret);
        if (r < 0)
                return hn_complain_errno(r, "cannot look for unit %s", full);
        if (r == 1)
                hn_complain("unit %s has no cgroup, so nothing of it runs: see \"systemctl status %s\"", full,
                            full);
        else if (r == 2)
                hn_complain("there are several cgroups called %s: name one by --cgroup", full);
        return r == 0 ? 0 : EX_NOINPUT;
}

/* numbers */

static int find_task(const char *number, struct hn_pin_target *ret) {
        _hn_cleanup_(hn_sysroot_close) struct hn_sysroot root = HN_SYSROOT_NULL;
        struct hn_proc_status status;
        char buf[16384];
        unsigned pid;
        ssize_t n;
        int r;

        if (hn_parse_unsigned(number, strlen(number), &pid) < 0 || pid == 0 || pid > INT32_MAX) {
                hn_complain("%s is no process id", number);
                return EX_USAGE;
        }
        r = hn_sysroot_open(NULL, &root);
        if (r < 0)
                return hn_complain_errno(r, "cannot open /");
        n = hn_read_at(root.fd, buf, sizeof(buf), "proc/%u/status", pid);
        if (n < 0 || hn_proc_status_parse(buf, (size_t) n, &status) < 0) {
                hn_complain("there is no process or thread %u: look for it with \"homenode ps\"", pid);
                return EX_NOINPUT;
        }
        ret->kind = status.tgid == (pid_t) pid ? "process" : "thread";
        ret->pid = (pid_t) pid;
        if (asprintf(&ret->name, "%u", pid) < 0) {
                ret->name = NULL;
                return hn_complain_errno(-ENOMEM, "cannot look for %u", pid);
        }
        return 0;
}

int hn_pin_target_find(const char *number, const char *cgroup, const char *unit, struct hn_pin_target *ret) {
        *ret = HN_PIN_TARGET_NULL;
        if (number)
                return find_task(number, ret);
        ret->kind = "cgroup";
        if (unit)
                return hn_pin_unit_cgroup(unit, &ret->name);
        ret->name = hn_pin_cgroup_path(cgroup);
        if (!ret->name)
                return hn_complain_errno(-ENOMEM, "cannot look for %s", cgroup);
        if (ret->name[0] == '\0') {
                hn_complain("\"%s\" is the root of all cgroups: name one below it", cgroup);
                return EX_USAGE;
        }
        return 0;
}
