/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "machine.h"

#define NODE    "sys/devices/system/node/"
#define CPU     "sys/devices/system/cpu/"
#define NO_CAPS "0000000000000000"
#define CAPS    "0000000000002000"

static const struct hn_tree_file files[] = {
        { NODE "online", "0,8\n", 0 },
        { NODE "node0/cpulist", "0-1\n", 0 },
        { NODE "node0/distance", "10 20\n", 0 },
        { NODE "node0/meminfo", "Node 0 MemTotal: 1048576 kB\nNode 0 MemFree: 524288 kB\n", 0 },
        { NODE "node8/cpulist", "2-3\n", 0 },
        { NODE "node8/distance", "20 10\n", 0 },
        { NODE "node8/meminfo", "Node 8 MemTotal: 1048576 kB\nNode 8 MemFree: 524288 kB\n", 0 },
        { CPU "online", "0-3\n", 0 },
        { CPU "possible", "0-3\n", 0 },
        { "proc/self/mountinfo", "33 22 0:28 / /cg rw - cgroup2 cgroup rw\n", 0 },
        { "proc/sys/kernel/numa_balancing", "1\n", 0 },
        { "proc/stat", "cpu 10 0 10 100 0 0 0 0\ncpu0 10 0 10 100 0 0 0 0\n", 0 },
        { "cg/cpuset.cpus.effective", "0-3\n", 0 },
        { "cg/cpuset.mems.effective", "0,8\n", 0 },
        { NULL, NULL, 0 },
};

struct task {
        pid_t tid;
        const char *name, *cgroup;
        unsigned uid[3], flags;
        const char *caps;
        unsigned cpu, policy;
};

static const struct task tasks[] = {
        { TASK_WORKER, "worker", CGROUP_WORKER, { 1000, 1000, 1000 }, 0, NO_CAPS, 0, 0 },
        { TASK_ROOT, "daemon", CGROUP_ROOT, { 0, 0, 0 }, 0, CAPS, 2, 0 },
        { TASK_SETUID, "sudo", CGROUP_WORKER, { 1000, 0, 0 }, 0, CAPS, 2, 0 },
        { TASK_CAPABLE, "ping", CGROUP_WORKER, { 1000, 1000, 1000 }, 0, CAPS, 2, 0 },
        { TASK_ODD, "x) Z \xff\n(", CGROUP_ODD, { 1000, 1000, 1000 }, 0, NO_CAPS, 1, 0 },
        { TASK_OUTSIDE, "outside", "/other.slice", { 1000, 1000, 1000 }, 0, NO_CAPS, 1, 0 },
        { TASK_REALTIME, "rt", "/app.slice/rt", { 0, 0, 0 }, 0, CAPS, 0, 1 },
        { TASK_KERNEL, "kthreadd", "/", { 0, 0, 0 }, 0x00200000u, NO_CAPS, 0, 0 },
};

/* Both for the number itself and as a thread of its process. */
static void put(const struct hn_tree *t, const struct task *k, const char *file, const char *text) {
        char path[128];

        (void) snprintf(path, sizeof(path), "proc/%d/%s", k->tid, file);
        hn_tree_write(t, path, text, 0);
        (void) snprintf(path, sizeof(path), "proc/%d/task/%d/%s", k->tid, k->tid, file);
        hn_tree_write(t, path, text, 0);
}

static void put_task(const struct hn_tree *t, const struct task *k) {
        char text[1024];

        (void) snprintf(
                text, sizeof(text),
                "%d (%s) R 1 7 7 0 -1 %u 0 0 0 0 2000 0 0 0 20 0 1 0 %d 0 900 0 0 0 0 0 0 0 0 0 0 0 0 0 "
                "0 %u 0 %u 0 0 0 0 0 0 0 0 0 0 0\n",
                k->tid, k->name, k->flags, 1000 + k->tid, k->cpu, k->policy);
        put(t, k, "stat", text);
        put(t, k, "schedstat", "20000000000 1000000 5\n");
        (void) snprintf(text, sizeof(text),
                        "Name:\tx\nTgid:\t%d\nUid:\t%u\t%u\t%u\t%u\nCapPrm:\t%s\nCapEff:\t%s\n"
                        "Cpus_allowed_list:\t0-3\nMems_allowed_list:\t0,8\n",
                        k->tid, k->uid[0], k->uid[1], k->uid[2], k->uid[1], k->caps, k->caps);
        put(t, k, "status", text);
        (void) snprintf(
                text, sizeof(text),
                "%s (%d, #threads: 1)\n-------------------------------------------------------------------\n"
                "se.avg.runnable_avg : 1000\nmm->numa_scan_seq : 9\nnuma_preferred_nid : 8\n"
                "current_node=0, numa_group_id=0\n"
                "numa_faults node=0 task_private=100 task_shared=0 group_private=0 group_shared=0\n"
                "numa_faults node=8 task_private=9000 task_shared=10 group_private=0 group_shared=0\n",
                k->name, k->tid);
        put(t, k, "sched", text);
        (void) snprintf(text, sizeof(text), "0::%s\n", k->cgroup);
        put(t, k, "cgroup", text);
        (void) snprintf(text, sizeof(text), "%s\n", k->name);
        put(t, k, "comm", text);
}

void machine_add_cgroup(const struct hn_tree *t, const char *path, pid_t tid) {
        char name[256], text[32];

        (void) snprintf(name, sizeof(name), "cg%s/cgroup.threads", path);
        (void) snprintf(text, sizeof(text), "%d\n", tid);
        hn_tree_write(t, name, text, 0);
}

void machine_remove_cgroup(const struct hn_tree *t, const char *path) {
        char name[256];

        (void) snprintf(name, sizeof(name), "cg%s/cgroup.threads", path);
        hn_tree_delete(t, name);
        (void) snprintf(name, sizeof(name), "cg%s", path);
        hn_tree_delete(t, name);
}

void machine_make(struct hn_tree *t) {
        hn_tree_make(t);
        hn_tree_write_all(t, files, HN_ELEMENTS(files));
        for (size_t i = 0; i < HN_ELEMENTS(tasks); i++)
                put_task(t, &tasks[i]);
        machine_add_cgroup(t, CGROUP_ROOT, TASK_ROOT);
        machine_add_cgroup(t, CGROUP_ODD, TASK_ODD);
        machine_add_cgroup(t, "/other.slice", TASK_OUTSIDE);
        hn_tree_write(t, "cg" CGROUP_WORKER "/cgroup.threads", "100\n300\n301\n", 0);
}
