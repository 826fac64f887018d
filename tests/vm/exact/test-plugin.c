/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* The counter, with this program in QEMU's place. */

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "qemu-plugin-api.h"
#include "wire.h"

/* Two instructions: of a program, and of the kernel. */
struct qemu_plugin_insn {
        uint64_t address;
} insns[] = { { 0x401000 }, { 0xffffffff81000000 } };

struct qemu_plugin_hwaddr {
        uint64_t physical;
        bool io;
};

static qemu_plugin_vcpu_tb_trans_cb_t translate;
static qemu_plugin_vcpu_mem_cb_t accessed;
static struct qemu_plugin_hwaddr went;
static unsigned n_instrumented;
static int answers = -1;

void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t id, qemu_plugin_vcpu_tb_trans_cb_t cb) {
        (void) id;
        translate = cb;
}

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *tb) {
        (void) tb;
        return sizeof(insns) / sizeof(insns[0]);
}

struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *tb, size_t i) {
        (void) tb;
        return &insns[i];
}

uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *insn) {
        return insn->address;
}

void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *insn, qemu_plugin_vcpu_mem_cb_t cb,
                                      enum qemu_plugin_cb_flags flags, enum qemu_plugin_mem_rw rw,
                                      void *userdata) {
        (void) insn;
        (void) userdata;
        assert_int_equal(flags, QEMU_PLUGIN_CB_NO_REGS);
        assert_int_equal(rw, QEMU_PLUGIN_MEM_RW);
        accessed = cb;
        n_instrumented++;
}

bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t info) {
        return info != 0;
}

struct qemu_plugin_hwaddr *qemu_plugin_get_hwaddr(qemu_plugin_meminfo_t info, uint64_t vaddr) {
        (void) info;
        (void) vaddr;
        return &went;
}

bool qemu_plugin_hwaddr_is_io(const struct qemu_plugin_hwaddr *where) {
        return where->io;
}

uint64_t qemu_plugin_hwaddr_phys_addr(const struct qemu_plugin_hwaddr *where) {
        return where->physical;
}

enum { LOAD, STORE };

static void access_memory(unsigned vcpu, unsigned rw, uint64_t address, unsigned bucket) {
        went = (struct qemu_plugin_hwaddr){ .physical = ((uint64_t) bucket << HN_EXACT_BUCKET_SHIFT) + 4096 };
        accessed(vcpu, rw, address, NULL);
}

static void command(enum hn_exact_command n) {
        access_memory(0, STORE, HN_EXACT_CONTROL_AT + n * sizeof(uint64_t), 0);
}

static void assert_look(const char *want) {
        char line[32768];
        ssize_t n;

        command(HN_EXACT_LOOK);
        n = read(answers, line, sizeof(line) - 1);
        assert_true(n > 0);
        line[n] = 0;
        assert_string_equal(line, want);
}

static int setup(void **state) {
        const struct qemu_info_t info = { .target_name = "x86_64", .system_emulation = true };
        char folder[] = "/tmp/hn-exact.XXXXXX", fifo[64], argument[80];
        char *argv[] = { argument };

        (void) state;
        if (!mkdtemp(folder))
                return -1;
        (void) snprintf(fifo, sizeof(fifo), "%s/fifo", folder);
        (void) snprintf(argument, sizeof(argument), "out=%s", fifo);
        if (mkfifo(fifo, 0600) < 0 || qemu_plugin_install(1, &info, 1, argv) != 0)
                return -1;
        answers = open(fifo, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
        (void) unlink(fifo);
        (void) rmdir(folder);
        translate(1, NULL);
        return answers < 0 ? -1 : 0;
}

static void only_programs_are_watched(void **state) {
        (void) state;
        assert_int_equal(n_instrumented, 1);
}

static void nothing_counts_before_it_is_on(void **state) {
        (void) state;
        access_memory(0, LOAD, HN_EXACT_ARENA(0), 0);
        assert_look("counts\n");
}

static void counts_by_buffer_cpu_and_place(void **state) {
        (void) state;
        command(HN_EXACT_ON);
        for (unsigned i = 0; i < 3; i++)
                access_memory(7, LOAD, HN_EXACT_ARENA(2) + HN_EXACT_ARENA_SIZE - 1, 6);
        access_memory(7, STORE, HN_EXACT_ARENA(2), 6);
        access_memory(1, STORE, HN_EXACT_ARENA(HN_EXACT_ARENA_PROBE), 0);
        assert_look("counts 2:7:6:3:1 64:1:0:0:1\n");
        /* What was told once is not told again. */
        access_memory(7, LOAD, HN_EXACT_ARENA(2), 6);
        assert_look("counts 2:7:6:1:0\n");
        command(HN_EXACT_OFF);
        access_memory(7, LOAD, HN_EXACT_ARENA(2), 6);
        assert_look("counts\n");
}

static void nothing_else_counts(void **state) {
        (void) state;
        command(HN_EXACT_ON);
        access_memory(0, LOAD, HN_EXACT_ARENA(0) - 1, 0);
        access_memory(0, LOAD, HN_EXACT_ARENA(HN_EXACT_ARENAS), 0);
        access_memory(0, LOAD, 0x7ffe00000000, 0);
        access_memory(HN_EXACT_VCPUS, LOAD, HN_EXACT_ARENA(0), 0);
        /* Reading the page of commands is none. */
        access_memory(0, LOAD, HN_EXACT_CONTROL_AT + HN_EXACT_OFF * sizeof(uint64_t), 0);
        /* A device's registers are on no node. */
        went.io = true;
        accessed(0, LOAD, HN_EXACT_ARENA(0), NULL);
        assert_look("counts\n");
        /* Beyond the last bucket is in the last: whoever looks does not know it, and says so. */
        access_memory(0, LOAD, HN_EXACT_ARENA(0), HN_EXACT_BUCKETS + 3);
        assert_look("counts 0:0:31:1:0\n");
}

/* More than fits a line comes with the next look. */
static void a_full_line_loses_nothing(void **state) {
        unsigned seen = 0, looks = 0, n = 0;
        static char line[32768];
        char *save = NULL;

        (void) state;
        for (unsigned arena = 0; arena < (HN_EXACT_ARENAS - 1); arena++)
                for (unsigned vcpu = 0; vcpu < 8; vcpu++)
                        for (unsigned bucket = 0; bucket < 4; bucket++)
                                access_memory(vcpu, LOAD, HN_EXACT_ARENA(arena), bucket);
        do {
                ssize_t size;

                n = 0;
                command(HN_EXACT_LOOK);
                size = read(answers, line, sizeof(line) - 1);
                assert_true(size > 0 && line[size - 1] == '\n');
                line[size] = 0;
                (void) strtok_r(line, " \n", &save);
                while (strtok_r(NULL, " \n", &save))
                        n++;
                seen += n;
                looks++;
        } while (n > 0);
        assert_int_equal(seen, (HN_EXACT_ARENAS - 1) * 8 * 4);
        assert_true(looks > 2);
}

static void needs_a_machine_and_a_fifo(void **state) {
        const struct qemu_info_t user = { .target_name = "x86_64" }, whole = { .system_emulation = true };
        char out[] = "out=/nonexistent/fifo", other[] = "in=x";
        char *argv[] = { out }, *wrong[] = { other };

        (void) state;
        assert_int_not_equal(qemu_plugin_install(1, &user, 1, argv), 0);
        assert_int_not_equal(qemu_plugin_install(1, &whole, 0, argv), 0);
        assert_int_not_equal(qemu_plugin_install(1, &whole, 1, wrong), 0);
        assert_int_not_equal(qemu_plugin_install(1, &whole, 1, argv), 0);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(only_programs_are_watched),
                cmocka_unit_test(nothing_counts_before_it_is_on),
                cmocka_unit_test(counts_by_buffer_cpu_and_place),
                cmocka_unit_test(nothing_else_counts),
                cmocka_unit_test(a_full_line_loses_nothing),
                cmocka_unit_test(needs_a_machine_and_a_fifo),
        };

        return cmocka_run_group_tests(tests, setup, NULL);
}
