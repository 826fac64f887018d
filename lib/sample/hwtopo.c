/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sample/hwtopo.h"

/* What steers hwloc from outside. A machine is what the caller asked for, not what a shell left behind; and a
 * library does not print. */
static const struct {
        const char *name, *value;
} variables[] = {
        { "HWLOC_FSROOT", NULL },
        { "HWLOC_COMPONENTS", NULL },
        { "HWLOC_SYNTHETIC", NULL },
        { "HWLOC_THISSYSTEM", NULL },
        { "HWLOC_XMLFILE", NULL },
        { "HWLOC_HIDE_ERRORS", "2" },                /* all of them */
        { "HWLOC_KEEP_NVIDIA_GPU_NUMA_NODES", "1" }, /* they are nodes to the kernel, so to us */
};

#define VARIABLE_FSROOT 0

struct environment {
        bool changed;
        char *before[HN_ELEMENTS(variables)];
};

static int set_variable(const char *name, const char *value) {
        if (!value)
                return unsetenv(name);
        return setenv(name, value, /* overwrite= */ 1);
}

static void environment_restore(struct environment *e) {
        for (size_t i = 0; i < HN_ELEMENTS(variables); i++) {
                if (e->changed)
                        (void) set_variable(variables[i].name, e->before[i]);
                free(e->before[i]);
        }
}

/* Returns 0 or -ENOMEM; environment_restore() cleans up after both. */
static int environment_set(struct environment *e, const char *fsroot) {
        for (size_t i = 0; i < HN_ELEMENTS(variables); i++) {
                const char *value = getenv(variables[i].name);

                e->before[i] = value ? strdup(value) : NULL;
                if (value && !e->before[i])
                        return -ENOMEM;
        }
        e->changed = true;
        for (size_t i = 0; i < HN_ELEMENTS(variables); i++)
                if (set_variable(variables[i].name, i == VARIABLE_FSROOT ? fsroot : variables[i].value) < 0)
                        return -ENOMEM;
        return 0;
}

static bool is_xml(const char *source) {
        size_t n = strlen(source);

        return strchr(source, '/') || (n > 4 && strcmp(source + n - 4, ".xml") == 0);
}

static int negative_errno(void) {
        return errno > 0 ? -errno : -EINVAL;
}

static int set_source(hwloc_topology_t t, const char *source) {
        errno = 0;
        if (is_xml(source) ? hwloc_topology_set_xml(t, source) < 0
                           : hwloc_topology_set_synthetic(t, source) < 0)
                return negative_errno();
        return 0;
}

static int set_filters(hwloc_topology_t t, bool live) {
        /* "x86" asks each CPU in turn by running there, and "no_os" answers for a root without CPUs with
         * those of the machine we are on. */
        static const char *const unwanted[] = { "x86", "no_os" };
        unsigned long flags = HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;
        unsigned long without = HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST;

        if (live)
                flags |= HWLOC_TOPOLOGY_FLAG_DONT_CHANGE_BINDING;
        errno = 0;
        for (size_t i = 0; i < HN_ELEMENTS(unwanted); i++)
                if (hwloc_topology_set_components(t, without, unwanted[i]) < 0)
                        return negative_errno();
        if (hwloc_topology_set_flags(t, flags) < 0 ||
            hwloc_topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) < 0)
                return negative_errno();
        return 0;
}

int hn_hwtopo_load(const struct hn_sysroot *root, const char *source, hwloc_topology_t *ret) {
        _hn_cleanup_(hn_hwtopo_freep) hwloc_topology_t t = NULL;
        _hn_cleanup_(environment_restore) struct environment environment = {};
        bool captured = !source && !root->live;
        char fsroot[64];
        int r;

        (void) snprintf(fsroot, sizeof(fsroot), "/proc/self/fd/%d", root->fd);
        r = environment_set(&environment, captured ? fsroot : NULL);
        if (r < 0)
                return r;
        if (hwloc_topology_init(&t) < 0) {
                t = NULL;
                return -ENOMEM;
        }
        if (source) {
                r = set_source(t, source);
                if (r < 0)
                        return r;
        }
        r = set_filters(t, !source && root->live);
        if (r < 0)
                return r;
        errno = 0;
        if (hwloc_topology_load(t) < 0)
                return negative_errno();
        *ret = HN_TAKE_PTR(t);
        return 0;
}

/* Ids past the end of a mask cannot be used by the kernel either; an infinite set ends there. */
static struct hn_mask mask_of(hwloc_const_bitmap_t bitmap) {
        struct hn_mask m = HN_MASK_NULL;

        if (!bitmap)
                return m;
        for (int id = hwloc_bitmap_first(bitmap); id >= 0 && hn_mask_add(&m, (unsigned) id);)
                id = hwloc_bitmap_next(bitmap, id);
        return m;
}

struct hn_mask hn_hwtopo_online(hwloc_topology_t t) {
        return mask_of(t ? hwloc_topology_get_topology_cpuset(t) : NULL);
}

struct hn_mask hn_hwtopo_possible(hwloc_topology_t t) {
        return mask_of(t ? hwloc_topology_get_complete_cpuset(t) : NULL);
}

static hwloc_obj_t pu_of(hwloc_topology_t t, unsigned cpu) {
        return t ? hwloc_get_pu_obj_by_os_index(t, cpu) : NULL;
}

static hwloc_obj_t node_of(hwloc_topology_t t, unsigned id) {
        return t ? hwloc_get_numanode_obj_by_os_index(t, id) : NULL;
}

static unsigned lowest_cpu(hwloc_obj_t obj, unsigned otherwise) {
        int first = obj && obj->cpuset ? hwloc_bitmap_first(obj->cpuset) : -1;

        return first < 0 ? otherwise : (unsigned) first;
}

unsigned hn_hwtopo_core(hwloc_topology_t t, unsigned cpu) {
        hwloc_obj_t pu = pu_of(t, cpu);

        return lowest_cpu(pu ? hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_CORE, pu) : NULL, cpu);
}

unsigned hn_hwtopo_llc(hwloc_topology_t t, unsigned cpu) {
        hwloc_obj_t pu = pu_of(t, cpu), last = NULL;

        /* The further up, the later the level. */
        for (hwloc_obj_t obj = pu; obj; obj = obj->parent)
                if (hwloc_obj_type_is_dcache(obj->type))
                        last = obj;
        return lowest_cpu(last, cpu);
}

static unsigned package_above(hwloc_topology_t t, hwloc_obj_t obj) {
        hwloc_obj_t package = obj ? hwloc_get_ancestor_obj_by_type(t, HWLOC_OBJ_PACKAGE, obj) : NULL;

        /* hwloc makes up a package around each core where the kernel has no number for it. */
        return package && package->os_index != HWLOC_UNKNOWN_INDEX ? package->logical_index : 0;
}

unsigned hn_hwtopo_package(hwloc_topology_t t, unsigned cpu) {
        return package_above(t, pu_of(t, cpu));
}

struct hn_mask hn_hwtopo_node_ids(hwloc_topology_t t) {
        struct hn_mask m = HN_MASK_NULL;

        for (hwloc_obj_t obj = NULL; t && (obj = hwloc_get_next_obj_by_type(t, HWLOC_OBJ_NUMANODE, obj));)
                (void) hn_mask_add(&m, obj->os_index);
        return m;
}

struct hn_mask hn_hwtopo_node_cpus(hwloc_topology_t t, unsigned id) {
        hwloc_obj_t obj = node_of(t, id);

        return mask_of(obj ? obj->cpuset : NULL);
}

uint64_t hn_hwtopo_node_memory(hwloc_topology_t t, unsigned id) {
        hwloc_obj_t obj = node_of(t, id);

        return obj ? obj->attr->numanode.local_memory : 0;
}

unsigned hn_hwtopo_node_package(hwloc_topology_t t, unsigned id) {
        return package_above(t, node_of(t, id));
}

bool hn_hwtopo_node_is_fast(hwloc_topology_t t, unsigned id) {
        hwloc_obj_t obj = node_of(t, id);

        return obj && obj->subtype &&
               (strcmp(obj->subtype, "HBM") == 0 || strcmp(obj->subtype, "MCDRAM") == 0);
}

bool hn_hwtopo_distances(hwloc_topology_t t, const struct hn_topology *topo, unsigned *matrix) {
        struct hwloc_distances_s *d;
        unsigned n_matrices = 1;
        bool whole = true;

        if (!t ||
            hwloc_distances_get_by_type(t, HWLOC_OBJ_NUMANODE, &n_matrices, &d,
                                        HWLOC_DISTANCES_KIND_MEANS_LATENCY,
                                        /* flags= */ 0) < 0 ||
            n_matrices == 0)
                return false;

        for (hn_node_index from = 0; whole && from < topo->n_nodes; from++)
                for (hn_node_index to = 0; whole && to < topo->n_nodes; to++) {
                        hwloc_obj_t a = node_of(t, topo->nodes[from].id);
                        hwloc_obj_t b = node_of(t, topo->nodes[to].id);
                        hwloc_uint64_t there, back;

                        whole = a && b && hwloc_distances_obj_pair_values(d, a, b, &there, &back) == 0 &&
                                there <= UINT32_MAX;
                        if (whole)
                                matrix[from * topo->n_nodes + to] = (unsigned) there;
                }
        hwloc_distances_release(t, d);
        return whole;
}

static const char *osdev_kind(hwloc_obj_osdev_type_t type) {
        switch (type) {
        case HWLOC_OBJ_OSDEV_BLOCK: return "block";
        case HWLOC_OBJ_OSDEV_GPU: return "gpu";
        case HWLOC_OBJ_OSDEV_NETWORK: return "net";
        case HWLOC_OBJ_OSDEV_OPENFABRICS: return "infiniband";
        case HWLOC_OBJ_OSDEV_DMA: return "dma";
        case HWLOC_OBJ_OSDEV_COPROC: return "coprocessor";
        }
        return "device";
}

/* Base classes of PCI that are kept as important. */
static const char *pci_kind(unsigned short class_id) {
        switch (class_id >> 8) {
        case 0x01: return "storage";
        case 0x02: return "net";
        case 0x03: return "gpu";
        case 0x0b: return "coprocessor";
        case 0x12: return "accelerator";
        default: return "pci";
        }
}

/* The one node all CPUs near the device belong to. */
static hn_node_index node_near(hwloc_topology_t t, const struct hn_topology *topo, hwloc_obj_t device) {
        hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(t, device);
        hn_node_index node = HN_NODE_NONE;

        if (!place || !place->cpuset)
                return HN_NODE_NONE;
        for (int cpu = hwloc_bitmap_first(place->cpuset); cpu >= 0;
             cpu = hwloc_bitmap_next(place->cpuset, cpu)) {
                hn_node_index n = hn_topology_node_of_cpu(topo, cpu);

                if (n == HN_NODE_NONE || (node != HN_NODE_NONE && n != node))
                        return HN_NODE_NONE;
                node = n;
        }
        return node;
}

static void describe_pci(hwloc_obj_t obj, struct hn_device *d) {
        const struct hwloc_pcidev_attr_s *a = &obj->attr->pcidev;

        (void) snprintf(d->name, sizeof(d->name), "%04x:%02x:%02x.%01x", (unsigned) a->domain, a->bus, a->dev,
                        a->func);
        (void) snprintf(d->kind, sizeof(d->kind), "%s", pci_kind(a->class_id));
}

static void describe_os(hwloc_obj_t obj, struct hn_device *d) {
        (void) snprintf(d->name, sizeof(d->name), "%s", obj->name ? obj->name : "?");
        (void) snprintf(d->kind, sizeof(d->kind), "%s", osdev_kind(obj->attr->osdev.type));
}

int hn_hwtopo_devices(hwloc_topology_t t, const struct hn_topology *topo, struct hn_device **ret,
                      size_t *ret_n) {
        int n_os = t ? hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_OS_DEVICE) : 0;
        int n_pci = t ? hwloc_get_nbobjs_by_type(t, HWLOC_OBJ_PCI_DEVICE) : 0;
        struct hn_device *devices;
        size_t n = 0;

        devices = calloc((size_t) HN_MAX(n_os, 0) + (size_t) HN_MAX(n_pci, 0) + 1, sizeof(*devices));
        if (!devices)
                return -ENOMEM;
        for (hwloc_obj_t obj = NULL; t && (obj = hwloc_get_next_osdev(t, obj)); n++) {
                describe_os(obj, &devices[n]);
                devices[n].node = node_near(t, topo, obj);
        }
        for (hwloc_obj_t obj = NULL; t && (obj = hwloc_get_next_pcidev(t, obj));) {
                if (obj->io_first_child)
                        continue; /* known by the name above */
                describe_pci(obj, &devices[n]);
                devices[n++].node = node_near(t, topo, obj);
        }
        *ret = devices;
        *ret_n = n;
        return 0;
}
