/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/overridestore.h"
#include "rows.h"

#define BOOT  "11111111-2222-3333-4444-555555555555"
#define OTHER "11111111-2222-3333-4444-555555555556"

static char dir[64];

static const char *file(void) {
        static char path[128];

        (void) snprintf(path, sizeof(path), "%s/" HN_OVERRIDE_STORE_NAME, dir);
        return path;
}

static int setup(void **state) {
        (void) state;
        strcpy(dir, "/tmp/hn-store-XXXXXX");
        return mkdtemp(dir) ? 0 : -1;
}

static int teardown(void **state) {
        (void) state;
        (void) unlink(file());
        return rmdir(dir);
}

struct open_store {
        struct hn_override_store store;
        struct hn_override_list list;
        size_t damaged;
};

static void begin(struct open_store *s, const char *boot) {
        struct hn_appendfile f;

        *s = (struct open_store){ .list = HN_OVERRIDE_LIST_NULL };
        assert_int_equal(hn_appendfile_open(dir, HN_OVERRIDE_STORE_NAME, /* create= */ true, &f), 0);
        assert_int_equal(hn_override_store_init(&s->store, &f, boot, &s->list, &s->damaged), 0);
}

static void end(struct open_store *s) {
        hn_override_store_deinit(&s->store);
        hn_override_list_deinit(&s->list);
}

static void add(struct open_store *s) {
        struct hn_override o = { .id = s->list.next_id, .kind = HN_OVERRIDE_THREAD, .pid = 7, .expires = 9 };

        o.why = (char *) "";
        hn_mask_add(&o.nodes, 1);
        assert_int_equal(hn_override_list_put(&s->list, &o, 5), 0);
        assert_int_equal(hn_override_store_add(&s->store, &s->list.entries[s->list.n - 1]), 0);
}

static void drop_first(struct open_store *s) {
        uint64_t id = s->list.entries[0].o.id;

        hn_override_list_drop(&s->list, 0);
        assert_int_equal(hn_override_store_over(&s->store, &s->list, id), 0);
}

static void what_was_written_is_there_again(void **state) {
        struct open_store s;

        (void) state;
        begin(&s, BOOT);
        assert_int_equal(s.list.n, 0);
        for (unsigned i = 0; i < 3; i++)
                add(&s);
        drop_first(&s);
        end(&s);
        for (unsigned i = 0; i < 3; i++) {
                begin(&s, BOOT);
                assert_int_equal(s.damaged, 0);
                assert_int_equal(s.list.n, 2);
                assert_int_equal(s.list.entries[0].o.id, 2);
                assert_int_equal(s.list.next_id, 4);
                end(&s);
        }
}

/* An id that was given once is not given again, also if all that knew of it is past. */
static void an_id_is_given_once(void **state) {
        struct open_store s;

        (void) state;
        begin(&s, BOOT);
        add(&s);
        drop_first(&s);
        end(&s);
        for (unsigned i = 0; i < 3; i++) {
                begin(&s, BOOT);
                assert_int_equal(s.list.n, 0);
                assert_int_equal(s.list.next_id, 2);
                end(&s);
        }
}

static void another_boot_is_void(void **state) {
        struct open_store s;

        (void) state;
        begin(&s, BOOT);
        add(&s);
        end(&s);
        begin(&s, OTHER);
        assert_int_equal(s.list.n, 0);
        assert_int_equal(s.damaged, 0);
        assert_int_equal(s.list.next_id, 1);
        end(&s);
        begin(&s, BOOT); /* written anew by then */
        assert_int_equal(s.list.n, 0);
        end(&s);
}

static void a_torn_line_costs_no_other(void **state) {
        struct open_store s;
        FILE *f;

        (void) state;
        begin(&s, BOOT);
        add(&s);
        end(&s);
        f = fopen(file(), "ae");
        assert_non_null(f);
        (void) fputs("{\"id\":2,\"kind\":\"thr", f);
        assert_int_equal(fclose(f), 0);
        begin(&s, BOOT);
        assert_int_equal(s.damaged, 1);
        assert_int_equal(s.list.n, 1);
        add(&s);
        end(&s);
        begin(&s, BOOT);
        assert_int_equal(s.damaged, 0);
        assert_int_equal(s.list.n, 2);
        end(&s);
}

static void a_long_past_is_forgotten(void **state) {
        struct open_store s;
        struct stat st;

        (void) state;
        begin(&s, BOOT);
        for (unsigned i = 0; i < 2000; i++) {
                add(&s);
                if (s.list.n > 3)
                        drop_first(&s);
                assert_true(s.store.n_lines <= 300);
        }
        assert_int_equal(stat(file(), &st), 0);
        assert_true(st.st_size < 300 * 300);
        assert_int_equal(st.st_mode & 0777, 0600);
        end(&s);
        begin(&s, BOOT);
        assert_int_equal(s.list.n, 3);
        assert_int_equal(s.list.entries[2].o.id, 2000);
        end(&s);
}

static void a_file_that_no_daemon_wrote(void **state) {
        struct hn_override_list list = HN_OVERRIDE_LIST_NULL;
        struct hn_override_store store;
        struct hn_appendfile f;
        size_t damaged;

        (void) state;
        assert_int_equal(hn_appendfile_open(dir, HN_OVERRIDE_STORE_NAME, /* create= */ true, &f), 0);
        assert_int_equal(truncate(file(), (off_t) 1 << 30), 0);
        hn_appendfile_close(&f);
        assert_int_equal(hn_appendfile_open(dir, HN_OVERRIDE_STORE_NAME, /* create= */ true, &f), 0);
        assert_int_equal(hn_override_store_init(&store, &f, BOOT, &list, &damaged), -EFBIG);
        hn_override_list_deinit(&list);
}

#define in_dir(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
        const struct CMUnitTest tests[] = {
                in_dir(what_was_written_is_there_again),
                in_dir(an_id_is_given_once),
                in_dir(another_boot_is_void),
                in_dir(a_torn_line_costs_no_other),
                in_dir(a_long_past_is_forgotten),
                in_dir(a_file_that_no_daemon_wrote),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
