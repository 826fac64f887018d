/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "sample/maps.h"

static const struct {
        const char *line;
        int r;
        enum hn_map_kind kind;
        bool own; /* private memory */
} maps[] = {
        /* files that lie */
        { "7f00-8f00 rw-p 00000000 fe:00 247498    /tmp/[heap]", 0, HN_MAP_FILE, false },
        { "7f00-8f00 rw-p 00000000 fe:00 247498    [heap]", 0, HN_MAP_FILE, false },
        { "7f00-8f00 rw-p 00000000 fe:00 5 /a b rw-p 00000000 00:00 0 [stack]", 0, HN_MAP_FILE, false },
        { "7f00-8f00 rw-p 00000000 00:01 9 /memfd:x (deleted)", 0, HN_MAP_FILE, false },
        { "7f00-8f00 rw-p 00000000 00:0f 9 /anon_hugepage (deleted)", 0, HN_MAP_FILE, false },
        /* what counts */
        { "5629b09e4000-5629b0a05000 rw-p 00000000 00:00 0                          [heap]", 0, HN_MAP_HEAP,
          true },
        { "7f00-8f00 rw-p 00000000 00:00 0 ", 0, HN_MAP_ANON, true },
        { "7f00-8f00 rwxp 00000000 00:00 0", 0, HN_MAP_ANON, true },
        { "7f00-8f00 rw-p 00000000 00:00 0 [anon:glibc: malloc arena]", 0, HN_MAP_ANON, true },
        { "7f00-8f00 rw-p 00000000 00:00 0 [stack]", 0, HN_MAP_STACK, true },
        { "7f00-8f00 rw-p 00000000 00:00 0 [stack:77]", 0, HN_MAP_STACK, true },
        /* what does not */
        { "7f00-8f00 ---p 00000000 00:00 0", 0, HN_MAP_ANON, false },
        { "7f00-8f00 r--p 00000000 00:00 0 [vvar]", 0, HN_MAP_SPECIAL, false },
        { "7f00-8f00 rw-s 00000000 00:01 1 /dev/zero (deleted)", 0, HN_MAP_FILE, false },
        { "7f00-8f00 rw-s 00000000 00:00 0 [anon_shmem:x]", 0, HN_MAP_SPECIAL, false },
        { "ffffffffff600000-ffffffffff601000 --xp 00000000 00:00 0 [vsyscall]", 0, HN_MAP_SPECIAL, false },
        /* what is no such line */
        { "", -EBADMSG, 0, false },
        { "7f00", -EBADMSG, 0, false },
        { "8f00-7f00 rw-p 00000000 00:00 0", -EBADMSG, 0, false },
        { "7f00-8f00 rw-p 00000000 00:00", -EBADMSG, 0, false },
        { "7f00-8f00 rw 00000000 00:00 0", -EBADMSG, 0, false },
        { "11111111111111111-8f00 rw-p 00000000 00:00 0", -EBADMSG, 0, false },
        { "7f00-8f00 rw-p 00000000 00:00 x", -EBADMSG, 0, false },
};

static void maps_tell_private_memory(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(maps); i++) {
                struct hn_map m;

                assert_int_equal(hn_map_parse(maps[i].line, strlen(maps[i].line), &m), maps[i].r);
                if (maps[i].r < 0)
                        continue;
                assert_int_equal(m.kind, maps[i].kind);
                assert_int_equal(hn_map_is_private_memory(&m), maps[i].own);
                assert_true(m.start < m.end);
        }
}

/* Nodes 0, 1 and 255. */
static int topology(void **state) {
        static struct hn_topology topo;

        if (hn_topology_init(&topo, 3, 0) < 0)
                return -1;
        topo.nodes[1].id = 1;
        topo.nodes[2].id = 255;
        *state = &topo;
        return 0;
}

static int no_topology(void **state) {
        hn_topology_deinit(*state);
        return 0;
}

static const struct {
        const char *line;
        int r;
        enum hn_mempolicy policy;
        uint64_t pages[3];
        uint32_t page_kb;
        uint64_t mapmax;
        bool file, huge;
} numa_maps[] = {
        /* names that lie: the kernel writes '=' as \075, and what has a '=' anyhow is not a whole word */
        { "7f00 default file=/tmp/N0\\07599 anon=1 N1=1 kernelpagesize_kB=4",
          0,
          0,
          { 0, 1, 0 },
          4,
          1,
          true,
          false },
        { "7f00 default file=/tmp/x\\040N0\\07599 N1=2", 0, 0, { 0, 2, 0 }, 0, 1, true, false },
        { "7f00 default file=N0=99 N1=2", 0, 0, { 0, 2, 0 }, 0, 1, true, false },
        { "7f00 default file=/a\rN0\\0759\vhuge\fanon\\0757 N1=2", 0, 0, { 0, 2, 0 }, 0, 1, true, false },
        { "7f00 default N0=5x N0= N=5 N0 NN0=5 N0=5=5 n0=5 N-0=5 N0=-5 N1=1",
          0,
          0,
          { 0, 1, 0 },
          0,
          1,
          false,
          false },
        /* the page size is the line's own */
        { "7f00 default file=/anon_hugepage\\040(deleted) huge anon=3 dirty=3 N0=1 N1=2 kernelpagesize_kB=2048",
          0,
          0,
          { 1, 2, 0 },
          2048,
          1,
          true,
          true },
        { "7f00 default anon=1 N0=1 kernelpagesize_kB=1048576", 0, 0, { 1, 0, 0 }, 1048576, 1, false, false },
        { "7f00 default anon=1 N0=1 kernelpagesize_kB=64", 0, 0, { 1, 0, 0 }, 64, 1, false, false },
        /* nodes that are not here, sparse ones that are */
        { "7f00 default anon=7 mapmax=3 N0=1 N2=1 N255=4 N256=1 N99999999999=9 kernelpagesize_kB=4",
          0,
          0,
          { 1, 0, 4 },
          4,
          3,
          false,
          false },
        { "7f00 default", 0, 0, { 0 }, 0, 1, false, false },
        /* policies, some of two words */
        { "7f00 local N0=1", 0, HN_MEMPOLICY_DEFAULT, { 1 }, 0, 1, false, false },
        { "7f00 prefer:1 N0=1", 0, HN_MEMPOLICY_PREFER, { 1 }, 0, 1, false, false },
        { "7f00 prefer (many):0-1 N0=1", 0, HN_MEMPOLICY_PREFER, { 1 }, 0, 1, false, false },
        { "7f00 prefer (many)=static:0-1 N0=1", 0, HN_MEMPOLICY_PREFER, { 1 }, 0, 1, false, false },
        { "7f00 bind=static|balancing:0-1 N0=1", 0, HN_MEMPOLICY_BIND, { 1 }, 0, 1, false, false },
        { "7f00 bind:0 N0=1", 0, HN_MEMPOLICY_BIND, { 1 }, 0, 1, false, false },
        { "7f00 interleave:0-1 N0=1", 0, HN_MEMPOLICY_INTERLEAVE, { 1 }, 0, 1, false, false },
        { "7f00 weighted interleave:0-1 N0=1", 0, HN_MEMPOLICY_INTERLEAVE, { 1 }, 0, 1, false, false },
        { "7f00 defaulted N0=1", 0, HN_MEMPOLICY_OTHER, { 1 }, 0, 1, false, false },
        /* what is no such line */
        { "", -EBADMSG, 0, { 0 }, 0, 0, false, false },
        { "7f00", -EBADMSG, 0, { 0 }, 0, 0, false, false },
        { "7f00 ", -EBADMSG, 0, { 0 }, 0, 0, false, false },
        { "default N0=1", -EBADMSG, 0, { 0 }, 0, 0, false, false },
};

static void numa_maps_count_whole_words(void **state) {
        for (size_t i = 0; i < HN_ELEMENTS(numa_maps); i++) {
                uint64_t pages[3] = { 0 };
                struct hn_numa_map m;
                const char *line = numa_maps[i].line;

                assert_int_equal(hn_numa_map_parse(line, strlen(line), *state, pages, &m), numa_maps[i].r);
                if (numa_maps[i].r < 0)
                        continue;
                assert_int_equal(m.policy, numa_maps[i].policy);
                assert_memory_equal(pages, numa_maps[i].pages, sizeof(pages));
                assert_int_equal(m.page_kb, numa_maps[i].page_kb);
                assert_int_equal(m.mapmax, numa_maps[i].mapmax);
                assert_int_equal(m.file, numa_maps[i].file);
                assert_int_equal(m.huge, numa_maps[i].huge);
        }
}

/* 64 KiB of path, then counts on 64 nodes. */
static void a_line_may_be_long(void **state) {
        const size_t path = 64u << 10;
        char *line = malloc(path + 4096), *p = line;
        uint64_t pages[3] = { 0 };
        struct hn_numa_map m;

        assert_non_null(line);
        p += sprintf(p, "7f00 default file=/");
        memset(p, 'N', path);
        p += path;
        for (unsigned i = 0; i < 64; i++)
                p += sprintf(p, " N%u=%u", i, i + 1);
        p += sprintf(p, " kernelpagesize_kB=4");
        assert_int_equal(hn_numa_map_parse(line, (size_t) (p - line), *state, pages, &m), 0);
        assert_int_equal(pages[0], 1);
        assert_int_equal(pages[1], 2);
        assert_int_equal(pages[2], 0);
        assert_int_equal(m.page_kb, 4);
        free(line);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(maps_tell_private_memory),
                cmocka_unit_test(numa_maps_count_whole_words),
                cmocka_unit_test(a_line_may_be_long),
        };

        return cmocka_run_group_tests(tests, topology, no_topology);
}
