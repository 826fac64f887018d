/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ipc.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <unistd.h>

#include "mempolicy.h"
#include "rows.h"
#include "shmregion.h"

/* Policies of this machine's own nodes: one is enough. */
static struct hn_mempolicy bound(void) {
        struct hn_mempolicy p = { .mode = HN_MPOL_BIND };

        for (unsigned id = 0; id < 64; id++) {
                p.nodes = HN_MASK_NULL;
                (void) hn_mask_add(&p.nodes, id);
                if (hn_mempolicy_set(&p) == 0)
                        break;
        }
        assert_int_equal(hn_mempolicy_set(&HN_MEMPOLICY_NULL), 0);
        return p;
}

static bool no_policies(void) {
        struct hn_mempolicy p;
        int r = hn_mempolicy_get(&p);

        return r == -ENOSYS || r == -EPERM;
}

static void policies_are_set_and_read(void **state) {
        const struct hn_mempolicy none = HN_MEMPOLICY_NULL;
        struct hn_mempolicy p = { .mode = HN_MPOL_BIND }, q;
        unsigned next;

        (void) state;
        if (no_policies())
                skip();
        assert_int_equal(hn_mempolicy_set(&p), -EINVAL);
        p.mode = HN_MPOL_PREFERRED_MANY;
        assert_int_equal(hn_mempolicy_set(&p), -EINVAL);
        (void) hn_mask_add(&p.nodes, 1000);
        assert_int_equal(hn_mempolicy_set(&p), -EINVAL);
        (void) hn_mask_add(&p.nodes, HN_MASK_BITS - 1);
        assert_int_equal(hn_mempolicy_set(&p), -EINVAL);
        /* What no kernel knows yet is told apart from bad nodes, and leaves what was set. */
        q = bound();
        assert_int_equal(hn_mempolicy_set(&q), 0);
        p = q;
        p.flags = HN_MPOL_F_NUMA_BALANCING;
        p.mode = 0xff;
        assert_int_equal(hn_mempolicy_set(&p), -EOPNOTSUPP);
        assert_int_equal(hn_mempolicy_get(&p), 0);
        assert_memory_equal(&p, &q, sizeof(p));
        assert_int_equal(hn_mempolicy_next(&next), -EINVAL);
        p.flags = HN_MPOL_F_NUMA_BALANCING;
        assert_int_equal(hn_mempolicy_set(&p), 0);
        assert_int_equal(hn_mempolicy_get(&q), 0);
        assert_memory_equal(&p, &q, sizeof(p));
        p.flags = 0;
        p.mode = HN_MPOL_INTERLEAVE;
        assert_int_equal(hn_mempolicy_set(&p), 0);
        assert_int_equal(hn_mempolicy_next(&next), 0);
        assert_true(hn_mask_has(&p.nodes, next));
        assert_int_equal(hn_mempolicy_set(&none), 0);
        assert_int_equal(hn_mempolicy_get(&q), 0);
        assert_memory_equal(&none, &q, sizeof(q));
        assert_int_equal(hn_mempolicy_get_at((void *) 4096, &q), -EFAULT);
}

static void modes_have_names(void **state) {
        (void) state;
        for (int mode = 0; mode < _HN_MPOL_MAX; mode++)
                assert_non_null(hn_mempolicy_name(mode));
        assert_null(hn_mempolicy_name(-1));
        assert_null(hn_mempolicy_name(_HN_MPOL_MAX));
        assert_null(hn_mempolicy_since(HN_MPOL_BIND, 0));
        assert_string_equal(hn_mempolicy_since(HN_MPOL_BIND, HN_MPOL_F_NUMA_BALANCING), "5.12");
        assert_string_equal(hn_mempolicy_since(HN_MPOL_PREFERRED_MANY, 0), "5.15");
        assert_string_equal(hn_mempolicy_since(HN_MPOL_WEIGHTED_INTERLEAVE, 0), "6.9");
}

/* A folder in tmpfs, and names in it. */
struct place {
        char folder[64], file[80], key[80];
};

static void place_make(struct place *p) {
        (void) strcpy(p->folder, "/dev/shm/test-shmregion-XXXXXX");
        assert_non_null(mkdtemp(p->folder));
        (void) snprintf(p->file, sizeof(p->file), "%s/f", p->folder);
        (void) snprintf(p->key, sizeof(p->key), "%s/k", p->folder);
}

static void place_drop(const struct place *p) {
        (void) unlink(p->file);
        (void) unlink(p->key);
        assert_int_equal(rmdir(p->folder), 0);
}

static const struct {
        uint64_t length, offset;
        int r;
        const char *say;
} rows[] = {
        { 0, 0, -EINVAL, "--length is missing" },
        { 100, 0, -EINVAL, "whole pages" },
        { 65536, 100, -EINVAL, "whole pages" },
        { UINT64_C(1) << 63, 0, -EINVAL, "too large" },
        { UINT64_C(0xfffffffffffff000), 0x1000, -EINVAL, "too large" },
        { 65536, INT64_MAX & ~UINT64_C(0xffff), -EINVAL, "too large" },
        { 65536, 0, 0, NULL },
        { 65536, 65536, 0, NULL },
};

static void sizes_are_checked(void **state) {
        struct place p;

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                for (int shm = 0; shm < 2; shm++) {
                        struct hn_shm_region region = HN_SHM_REGION_NULL;
                        struct hn_why why = HN_WHY_NULL;
                        struct hn_shm_wish w = { .length = rows[i].length,
                                                 .offset = rows[i].offset,
                                                 .mode = 0600 };
                        FILE *say = fopen("/dev/null", "we");
                        int id;

                        assert_non_null(say);
                        place_make(&p);
                        w.name = shm ? p.key : p.file;
                        ROW_EQUAL(i,
                                  shm ? hn_shm_region_attach(&w, say, &region, &why)
                                      : hn_shm_region_map(&w, &region, &why),
                                  rows[i].r);
                        assert_true(rows[i].say ? strstr(why.text, rows[i].say) != NULL
                                                : why.text[0] == '\0');
                        assert_int_equal(region.start != NULL, rows[i].r == 0);
                        hn_shm_region_close(&region);
                        /* What is refused leaves nothing behind. */
                        ROW_EQUAL(i, access(w.name, F_OK) == 0, rows[i].r == 0);
                        id = shm && rows[i].r == 0 ? shmget(ftok(p.key, 0), 0, 0) : -1;
                        if (id >= 0)
                                assert_int_equal(shmctl(id, IPC_RMID, NULL), 0);
                        assert_int_equal(fclose(say), 0);
                        place_drop(&p);
                }
}

static void what_is_no_file_is_refused(void **state) {
        struct hn_shm_region region;
        struct hn_shm_wish w = { .length = 4096, .mode = 0600 };
        struct hn_why why = HN_WHY_NULL;
        struct place p;

        (void) state;
        place_make(&p);
        w.name = p.folder;
        assert_int_equal(hn_shm_region_map(&w, &region, &why), -EISDIR);
        w.name = "/dev/null";
        assert_int_equal(hn_shm_region_map(&w, &region, &why), -EINVAL);
        assert_int_equal(mkfifo(p.file, 0600), 0);
        w.name = p.file;
        assert_int_equal(hn_shm_region_map(&w, &region, &why), -EINVAL);
        w.name = "";
        assert_int_equal(hn_shm_region_map(&w, &region, &why), -ENOENT);
        assert_int_equal(hn_shm_region_attach(&w, stderr, &region, &why), -ENOENT);
        w.name = "/nonexistent/k";
        assert_int_equal(hn_shm_region_attach(&w, stderr, &region, &why), -ENOENT);
        place_drop(&p);
}

static void a_policy_stays_with_a_file(void **state) {
        struct hn_mempolicy p, other;
        struct hn_shm_region region;
        struct hn_why why = HN_WHY_NULL;
        struct hn_shm_wish w = { .length = 65536, .mode = 0600 };
        struct place place;
        char *text = NULL;
        size_t n = 0;
        FILE *f;

        (void) state;
        if (no_policies())
                skip();
        p = bound();
        other = p;
        other.mode = HN_MPOL_INTERLEAVE;
        place_make(&place);
        w.name = place.file;
        assert_int_equal(hn_shm_region_map(&w, &region, &why), 0);
        assert_false(region.fleeting);
        assert_int_equal(hn_shm_region_verify(&region, &p, &why), 1);
        assert_non_null(strstr(why.text, "has the policy default, not bind"));
        assert_int_equal(hn_mempolicy_set_range(region.start, region.length / 2, &p, false), 0);
        assert_int_equal(hn_shm_region_touch(&region, &why), 0);
        assert_int_equal(hn_shm_region_verify(&region, &other, &why), 1);
        hn_shm_region_close(&region);

        assert_int_equal(hn_shm_region_map(&w, &region, &why), 0);
        assert_int_equal(hn_shm_region_verify(&region, &p, &why), 1);
        assert_non_null(strstr(why.text, "the page at 8000 "));
        f = open_memstream(&text, &n);
        assert_non_null(f);
        assert_int_equal(hn_shm_region_dump(&region, f, &why), 0);
        assert_int_equal(fclose(f), 0);
        assert_ptr_equal(text, strstr(text, "0000000000000000-0000000000008000: bind : "));
        assert_ptr_equal(strchr(text, '\n') + 1, text + n);
        free(text);
        f = open_memstream(&text, &n);
        assert_non_null(f);
        assert_int_equal(hn_shm_region_dump_nodes(&region, f, &why), 0);
        assert_int_equal(fclose(f), 0);
        assert_ptr_equal(text, strstr(text, "0000000000000000-00000000000"));
        free(text);

        /* Cut short by somebody else: an answer and no SIGBUS. */
        assert_int_equal(truncate(place.file, 4096), 0);
        assert_true(hn_shm_region_touch(&region, &why) < 0);
        assert_true(hn_shm_region_verify(&region, &p, &why) != 0);
        f = fopen("/dev/null", "we");
        assert_non_null(f);
        assert_true(hn_shm_region_dump_nodes(&region, f, &why) < 0);
        assert_int_equal(fclose(f), 0);
        hn_shm_region_close(&region);
        place_drop(&place);
}

static void a_segment_is_found_again(void **state) {
        struct hn_shm_wish w = { .length = 32768, .offset = 4096, .mode = 0600, .id = 200 };
        FILE *say = fopen("/dev/null", "we");
        struct hn_shm_region region;
        struct hn_why why = HN_WHY_NULL;
        struct shmid_ds info;
        struct place p;
        int id;

        (void) state;
        assert_non_null(say);
        place_make(&p);
        w.name = p.key;
        assert_int_equal(hn_shm_region_attach(&w, say, &region, &why), 0);
        hn_shm_region_close(&region);
        id = shmget(ftok(p.key, 200), 0, 0);
        assert_true(id >= 0);
        assert_int_equal(shmctl(id, IPC_STAT, &info), 0);
        assert_int_equal(info.shm_segsz, 36864);
        assert_int_equal(info.shm_nattch, 0);
        w.length = 0;
        assert_int_equal(hn_shm_region_attach(&w, say, &region, &why), 0);
        assert_int_equal(region.length, 32768);
        assert_int_equal(hn_shm_region_touch(&region, &why), 0);
        hn_shm_region_close(&region);
        w.offset = 36864;
        assert_int_equal(hn_shm_region_attach(&w, say, &region, &why), -EINVAL);
        assert_non_null(strstr(why.text, "ends after 36864 bytes"));
        w.length = 4096;
        assert_int_equal(hn_shm_region_attach(&w, say, &region, &why), -EINVAL);
        assert_non_null(strstr(why.text, "ends after 36864 bytes"));
        assert_int_equal(shmctl(id, IPC_RMID, NULL), 0);
        assert_int_equal(fclose(say), 0);
        place_drop(&p);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(policies_are_set_and_read),  cmocka_unit_test(modes_have_names),
                cmocka_unit_test(sizes_are_checked),          cmocka_unit_test(what_is_no_file_is_refused),
                cmocka_unit_test(a_policy_stays_with_a_file), cmocka_unit_test(a_segment_is_found_again),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
