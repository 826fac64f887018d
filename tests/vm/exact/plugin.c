/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Counts, from outside of the guest, every load and store of the load's buffers: by buffer, by the virtual
 * CPU that made it and by where in the machine's memory it went. Loaded by QEMU:
 *
 *   qemu-system-x86_64 -plugin /ABSOLUTE/hn-exact.so,out=FIFO ...
 *
 * The guest's agent switches it on, asks for a look now and then and reads the answer at the other end of the
 * FIFO, which is one of its serial ports. These are architectural accesses: there are no caches in an
 * emulated machine, and nothing takes longer for being remote. */

#include <fcntl.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "qemu-plugin-api.h"
#include "wire.h"

/* Room for the longest line there is in practice: 64 buffers, each used from two CPUs and in two places. What
 * does not fit waits for the next look. It must fit a pipe, since the CPU that asks waits until it is
 * written. */
#define LINE_MAX_BYTES  16384U
#define CELL_BYTES      64U
#define CONTROL_OFFSETS 0xfffULL

struct counts {
        uint64_t n[HN_EXACT_ARENAS][HN_EXACT_BUCKETS][2]; /* loads, stores */
};

HN_PLUGIN_EXPORT int qemu_plugin_version = 1;

/* Each written by its CPU's thread alone, read by whichever is asked to look. */
static struct counts counted[HN_EXACT_VCPUS], told[HN_EXACT_VCPUS];
static _Atomic bool counting;
static int out = -1;

static void count(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address) {
        const struct qemu_plugin_hwaddr *where = qemu_plugin_get_hwaddr(info, address);
        uint64_t bucket;

        if (!where || qemu_plugin_hwaddr_is_io(where) || vcpu >= HN_EXACT_VCPUS)
                return;
        bucket = qemu_plugin_hwaddr_phys_addr(where) >> HN_EXACT_BUCKET_SHIFT;
        if (bucket >= HN_EXACT_BUCKETS)
                bucket = HN_EXACT_BUCKETS - 1;
        counted[vcpu].n[(address - HN_EXACT_ARENAS_AT) / HN_EXACT_ARENA_SIZE][bucket]
                       [qemu_plugin_mem_is_store(info)]++;
}

/* Appends a cell to `line` unless it is empty or does not fit. */
static size_t cell_print(char *line, size_t used, unsigned arena, unsigned vcpu, unsigned bucket) {
        uint64_t *was = told[vcpu].n[arena][bucket], n[2];

        for (unsigned rw = 0; rw < 2; rw++)
                n[rw] = counted[vcpu].n[arena][bucket][rw] - was[rw];
        if ((n[0] == 0 && n[1] == 0) || used + CELL_BYTES > LINE_MAX_BYTES)
                return used;
        for (unsigned rw = 0; rw < 2; rw++)
                was[rw] += n[rw];
        return used + (size_t) sprintf(line + used, " %u:%u:%u:%llu:%llu", arena, vcpu, bucket,
                                       (unsigned long long) n[0], (unsigned long long) n[1]);
}

static void look(void) {
        static char line[LINE_MAX_BYTES + 2];
        size_t used = (size_t) sprintf(line, "counts");

        for (unsigned arena = 0; arena < HN_EXACT_ARENAS; arena++)
                for (unsigned vcpu = 0; vcpu < HN_EXACT_VCPUS; vcpu++)
                        for (unsigned bucket = 0; bucket < HN_EXACT_BUCKETS; bucket++)
                                used = cell_print(line, used, arena, vcpu, bucket);
        line[used++] = '\n';
        if (write(out, line, used) != (ssize_t) used)
                fprintf(stderr, "hn-exact: a line of %zu bytes was not taken\n", used);
}

static void command(uint64_t n) {
        switch (n) {
        case HN_EXACT_ON: atomic_store(&counting, true); break;
        case HN_EXACT_OFF: atomic_store(&counting, false); break;
        case HN_EXACT_LOOK: look(); break;
        default: break;
        }
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t address, void *unused) {
        (void) unused;
        if (address - HN_EXACT_ARENAS_AT < HN_EXACT_ARENAS * HN_EXACT_ARENA_SIZE) {
                if (atomic_load_explicit(&counting, memory_order_relaxed))
                        count(vcpu, info, address);
        } else if ((address & ~CONTROL_OFFSETS) == HN_EXACT_CONTROL_AT && qemu_plugin_mem_is_store(info))
                command((address & CONTROL_OFFSETS) / sizeof(uint64_t));
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb) {
        (void) id;
        for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
                struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);

                /* The kernel's own code, in the upper half, is not the load's: it runs at full speed. */
                if (qemu_plugin_insn_vaddr(insn) >> 63 == 0)
                        qemu_plugin_register_vcpu_mem_cb(insn, on_access, QEMU_PLUGIN_CB_NO_REGS,
                                                         QEMU_PLUGIN_MEM_RW, NULL);
        }
}

int qemu_plugin_install(qemu_plugin_id_t id, const struct qemu_info_t *info, int argc, char **argv) {
        if (!info->system_emulation || argc != 1 || strncmp(argv[0], "out=", 4) != 0) {
                fprintf(stderr, "hn-exact: for a whole machine, with out=FIFO\n");
                return -1;
        }
        /* For reading too, so that neither this nor QEMU's end waits for the other to come. */
        out = open(argv[0] + 4, O_RDWR | O_CLOEXEC);
        if (out < 0) {
                perror("hn-exact: out");
                return -1;
        }
        qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
        return 0;
}
