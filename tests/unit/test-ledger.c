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
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "act/appendfile.h"
#include "act/ledger.h"
#include "base/macro.h"

#define BOOT       "11111111-2222-3333-4444-555555555555"
#define OTHER_BOOT "11111111-2222-3333-4444-555555555556"

static struct hn_mask list(const char *text) {
        struct hn_mask m;

        assert_int_equal(hn_mask_parse_list(text, strlen(text), &m), 0);
        return m;
}

static struct hn_record pin_of(pid_t tid, uint64_t start, const char *old, const char *before,
                               const char *want) {
        struct hn_record rec = {
                .kind = HN_RECORD_PIN,
                .key = { .tid = tid, .start = start },
                .tgid = tid,
                .unrestricted = !old,
                .before = list(before),
                .want = list(want),
                .boot_usec = start * 10000 + 2000000,
                .real_usec = 1700000000000000,
                .reason = "remote-faults",
                .cgroup = "/system.slice/web-1.service",
        };

        if (old)
                rec.old = list(old);
        return rec;
}

static void assert_mask(const struct hn_ledger *l, hn_mask_id id, const char *want) {
        char text[HN_MASK_LIST_MAX];

        assert_true(hn_mask_print_list(hn_ledger_mask(l, id), text, sizeof(text)) >= 0);
        assert_string_equal(text, want);
}

/* records */

static void lines_read_as_documented(void **state) {
        struct hn_record rec = pin_of(4711, 12345, NULL, "0-7", "2-3");
        char line[HN_RECORD_LINE_MAX];

        (void) state;
        assert_true(hn_record_print(&rec, BOOT, line, sizeof(line)) > 0);
        assert_memory_equal(
                line,
                "pin 4711 12345 4711 unrestricted 0-7 2-3 125450000 1700000000000000 remote-faults "
                "/system.slice/web-1.service ",
                110);
        rec = (struct hn_record){ .kind = HN_RECORD_DONE, .key = { .tid = 7, .start = 8 } };
        assert_true(hn_record_print(&rec, BOOT, line, sizeof(line)) > 0);
        assert_memory_equal(line, "done 7 8 ", 9);
}

/* The first rows are the liars: names that would like to be a line of their own, or a field. */
static const char *const cgroups[] = {
        "/a\npin 1 1 1 unrestricted 0 0 0 0 x /b 00000000",
        "/system.slice/x 1 2 3",
        "/tab\there\r",
        "/back\\slash\\x41",
        "/\x01\x7f\x80\xff",
        "/g\xc3\xbcnther",
        "-",
        "unrestricted",
        "/",
        "",
};

static void texts_come_back_as_they_were(void **state) {
        char line[HN_RECORD_LINE_MAX];

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(cgroups); i++) {
                struct hn_record rec = pin_of(1, 2, "0-3", "0-3", "1"), back;
                int n;

                (void) snprintf(rec.cgroup, sizeof(rec.cgroup), "%s", cgroups[i]);
                (void) snprintf(rec.reason, sizeof(rec.reason), "%s", cgroups[i]);
                n = hn_record_print(&rec, BOOT, line, sizeof(line));
                assert_true(n > 0);
                assert_ptr_equal(strchr(line, '\n'), line + n - 1);
                assert_int_equal(hn_record_parse(line, (size_t) n - 1, BOOT, &back), 0);
                assert_string_equal(back.cgroup, rec.cgroup);
                assert_string_equal(back.reason, rec.reason);
                assert_true(hn_mask_equal(&back.old, &rec.old));
                assert_int_equal(back.boot_usec, rec.boot_usec);
        }
}

static void the_longest_line_fits(void **state) {
        struct hn_record rec = pin_of(INT32_MAX, UINT64_MAX, "0", "0", "0"), back;
        char line[HN_RECORD_LINE_MAX];
        int n;

        (void) state;
        for (unsigned cpu = 0; cpu < HN_MASK_BITS; cpu += 2) {
                hn_mask_add(&rec.old, cpu);
                hn_mask_add(&rec.before, cpu);
                hn_mask_add(&rec.want, cpu);
        }
        rec.boot_usec = rec.real_usec = UINT64_MAX;
        memset(rec.cgroup, '\n', sizeof(rec.cgroup) - 1);
        memset(rec.reason, '\n', sizeof(rec.reason) - 1);
        n = hn_record_print(&rec, BOOT, line, sizeof(line));
        assert_true(n > 0);
        assert_int_equal(hn_record_parse(line, (size_t) n - 1, BOOT, &back), 0);
        assert_true(hn_mask_equal(&back.want, &rec.want));
        assert_int_equal(hn_record_print(&rec, BOOT, line, (size_t) n), -ENOBUFS);
}

static void every_flipped_bit_is_noticed(void **state) {
        struct hn_record rec = pin_of(4711, 12345, NULL, "0-7", "2-3"), back;
        char line[HN_RECORD_LINE_MAX];
        int n = hn_record_print(&rec, BOOT, line, sizeof(line));

        (void) state;
        assert_true(n > 0);
        for (int i = 0; i < n - 1; i++)
                for (unsigned bit = 0; bit < 8; bit++) {
                        line[i] = (char) (line[i] ^ 1 << bit);
                        assert_int_equal(hn_record_parse(line, (size_t) n - 1, BOOT, &back), -EBADMSG);
                        line[i] = (char) (line[i] ^ 1 << bit);
                }
        assert_int_equal(hn_record_parse(line, (size_t) n - 1, BOOT, &back), 0);
        for (int k = 0; k < n - 1; k++)
                assert_int_equal(hn_record_parse(line, (size_t) k, BOOT, &back), -EBADMSG);
        assert_int_equal(hn_record_parse(line, (size_t) n - 1, OTHER_BOOT, &back), -EBADMSG);
}

/* Texts whose checksum is right, as a hostile owner of the file could write them, and which are nonsense. */
static void nonsense_is_refused_though_it_adds_up(void **state) {
        static const char *const lines[] = {
                "",
                "pin",
                "frobnicate 1 2",
                "done 0 5",
                "done 1",
                "done 1 2 3",
                "done -1 2",
                "done 2147483648 2",
                "done 1 18446744073709551616",
                "done 1 2 ",
                "homenode-ledger 2 11111111-2222-3333-4444-555555555555",
                "pin 1 2 3 0-7 0-7 9000 4 5 r /c",
                "pin 1 2 3 0-7 0-7 3-1 4 5 r /c",
                "pin 1 2 3 unrestricted unrestricted 0 4 5 r /c",
                "pin 1 2 3 0-7 0-7 0 4 5 r /c\\x00d",
                "pin 1 2 3 0-7 0-7 0 4 5 r /c\\x4",
                "pin 1 2 3 0-7 0-7 0 4 5 r /c\\y41",
                "pin 1 2 3 0-7 0-7 0 4 5 r /c\\",
                "pin 1 2 3 0-7 0-7 0 4 5 r",
                "pin 1 2 3 0-7 0-7 0 4 5 0123456789012345678901234567890123456789012345678901234567890123 /c",
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(lines); i++) {
                struct hn_record rec;
                char line[512];
                uint32_t crc = UINT32_MAX;

                (void) snprintf(line, sizeof(line), BOOT "%s", lines[i]);
                for (const char *p = line; *p; p++) {
                        crc ^= (unsigned char) *p;
                        for (unsigned bit = 0; bit < 8; bit++)
                                crc = crc >> 1 ^ (crc & 1 ? UINT32_C(0xedb88320) : 0);
                }
                (void) snprintf(line, sizeof(line), "%s %08x", lines[i], (unsigned) ~crc);
                if (strcmp(lines[i], "done 1 2 ") == 0)
                        assert_int_equal(hn_record_parse(line, strlen(line), BOOT, &rec), 0);
                else if (hn_record_parse(line, strlen(line), BOOT, &rec) != -EBADMSG)
                        fail_msg("accepted: %s", lines[i]);
        }
}

/* the table */

static void a_task_goes_through_the_ledger(void **state) {
        struct hn_record rec = pin_of(10, 5, "0-5", "0-5", "0-1");
        const struct hn_ledger_entry *e;
        struct hn_ledger *l;

        (void) state;
        assert_int_equal(hn_ledger_new(BOOT, &l), 0);
        assert_null(hn_ledger_find(l, &rec.key));
        assert_int_equal(hn_ledger_note(l, &rec), 0);
        e = hn_ledger_find(l, &rec.key);
        assert_non_null(e);
        assert_false(e->confirmed || e->over_ours || e->unrestricted);
        assert_int_equal(hn_ledger_confirm(l, &rec.key), 0);
        assert_true(hn_ledger_find(l, &rec.key)->confirmed);

        /* Moved on: the oldest mask stays, whatever the caller thinks. */
        rec = pin_of(10, 5, NULL, "0-1", "2-3");
        assert_int_equal(hn_ledger_note(l, &rec), 0);
        e = hn_ledger_find(l, &rec.key);
        assert_true(e->over_ours && !e->confirmed && !e->unrestricted);
        assert_mask(l, e->old, "0-5");
        assert_mask(l, e->want, "2-3");
        assert_int_equal(hn_ledger_marks(l)->n, 2);

        /* Not done after all: it has the mask of the move before. */
        assert_int_equal(hn_ledger_withdraw(l, &rec.key), 0);
        e = hn_ledger_find(l, &rec.key);
        assert_mask(l, e->want, "0-1");
        assert_true(e->confirmed);
        assert_int_equal(hn_ledger_marks(l)->n, 1);

        /* The same tid with another start is another task. */
        rec.key.start++;
        assert_null(hn_ledger_find(l, &rec.key));
        assert_int_equal(hn_ledger_forget(l, &rec.key), 0);
        assert_int_equal(hn_ledger_size(l), 1);
        rec.key.start--;
        assert_int_equal(hn_ledger_forget(l, &hn_ledger_find(l, &rec.key)->key), 0);
        assert_int_equal(hn_ledger_size(l), 0);
        assert_int_equal(hn_ledger_marks(l)->n, 1);
        hn_ledger_free(l);
}

static void a_pin_that_was_not_done_leaves_nothing(void **state) {
        struct hn_record rec = pin_of(10, 5, NULL, "0-5", "0-1");
        struct hn_ledger *l;

        (void) state;
        assert_int_equal(hn_ledger_new(BOOT, &l), 0);
        assert_int_equal(hn_ledger_note(l, &rec), 0);
        assert_int_equal(hn_ledger_withdraw(l, &rec.key), 0);
        assert_int_equal(hn_ledger_size(l), 0);
        assert_int_equal(hn_ledger_marks(l)->n, 0);
        hn_ledger_free(l);
}

static void many_tasks_are_found_and_sorted(void **state) {
        struct hn_task_key *keys;
        struct hn_ledger *l;
        size_t n;

        (void) state;
        assert_int_equal(hn_ledger_new(BOOT, &l), 0);
        for (pid_t tid = 3000; tid > 0; tid--) {
                struct hn_record rec = pin_of(tid, (uint64_t) tid % 7, NULL, "0-7", tid % 2 ? "0-3" : "4-7");

                rec.tgid = 1;
                assert_int_equal(hn_ledger_note(l, &rec), 0);
        }
        assert_int_equal(hn_ledger_size(l), 3000);
        assert_int_equal(hn_ledger_marks(l)->n, 2);
        assert_int_equal(hn_ledger_keys(l, &keys, &n), 0);
        assert_int_equal(n, 3000);
        for (size_t i = 0; i < n; i++) {
                assert_int_equal(keys[i].tid, i + 1);
                assert_non_null(hn_ledger_find(l, &keys[i]));
        }
        for (size_t i = 0; i < n; i += 2)
                assert_int_equal(hn_ledger_forget(l, &keys[i]), 0);
        for (size_t i = 0; i < n; i++)
                assert_int_equal(!hn_ledger_find(l, &keys[i]), i % 2 == 0);
        free(keys);
        hn_ledger_free(l);
}

/* heirs */

static const struct {
        const char *what;
        pid_t kin[4];
        uint64_t start;
        const char *cgroup, *mask, *allowed;
        const char *old; /* "*" unrestricted, NULL: no heir */
} heirs[] = {
        /* Process 10 of web-1 was pinned to 0-1 at tick 205 (unrestricted before), 20 of db to 2-3 (0-5
           before). */
        { "a thread born later", { 10 }, 300, "/system.slice/web-1.service", "0-1", "0-7", "*" },
        { "born in the same tick", { 10 }, 205, NULL, "0-1", "0-7", "*" },
        { "a thread born before", { 10 }, 204, "/system.slice/web-1.service", "0-1", "0-7", NULL },
        { "another mask", { 10 }, 300, "/system.slice/web-1.service", "0", "0-7", NULL },
        { "the other's mask", { 10 }, 300, "/system.slice/web-1.service", "2-3", "0-7", NULL },
        { "a child elsewhere", { 77, 10, 1 }, 300, "/user.slice", "0-1", "0-7", "*" },
        { "a grandchild elsewhere", { 78, 77, 10, 1 }, 300, NULL, "0-1", "0-7", "*" },
        { "an orphan in the cgroup", { 78, 1 }, 300, "/system.slice/web-1.service", "0-1", "0-7", "*" },
        { "an orphan below it", { 78, 1 }, 300, "/system.slice/web-1.service/x", "0-1", "0-7", "*" },
        { "a namesake", { 78, 1 }, 300, "/system.slice/web-1.service-x", "0-1", "0-7", NULL },
        { "a stranger", { 78, 1 }, 300, "/user.slice", "0-1", "0-7", NULL },
        { "of a process with its number", { 910 }, 300, "/user.slice", "0-1", "0-7", NULL },
        { "restricted before", { 20 }, 300, "/db", "2-3", "0-7", "0-5" },
        { "the cpuset took a part", { 10 }, 300, NULL, "1", "1-7", "*" },
        { "the cpuset took a part, restricted", { 20 }, 300, "/db", "3", "3-7", "0-5" },
        { "all that is allowed", { 20 }, 300, "/db", "3", "3", NULL },
        { "all that is allowed, unrestricted", { 10 }, 300, NULL, "1", "1", "*" },
        { "nothing left of ours", { 10 }, 300, NULL, "4-7", "4-7", NULL },
};

static void heirs_are_told_from_strangers(void **state) {
        struct hn_record web = pin_of(10, 5, NULL, "0-7", "0-1"), db = pin_of(20, 6, "0-5", "0-5", "2-3");
        struct hn_ledger *l;

        (void) state;
        assert_int_equal(hn_ledger_new(BOOT, &l), 0);
        strcpy(db.cgroup, "/db");
        assert_int_equal(hn_ledger_note(l, &web), 0);
        assert_int_equal(hn_ledger_note(l, &db), 0);
        for (size_t i = 0; i < HN_ELEMENTS(heirs); i++) {
                struct hn_task_key kin[4];
                struct hn_heir heir = {
                        .start = heirs[i].start,
                        .cgroup = heirs[i].cgroup,
                        .mask = list(heirs[i].mask),
                        .allowed = list(heirs[i].allowed),
                        .kin = kin,
                };
                const struct hn_mark *mark;

                for (size_t k = 0; k < 4 && heirs[i].kin[k] > 0; k++) {
                        /* 910: number 10 again, but of a process that began after the act. */
                        bool reused = heirs[i].kin[k] > 900;

                        kin[heir.n_kin++] = (struct hn_task_key){
                                .tid = reused ? heirs[i].kin[k] - 900 : heirs[i].kin[k],
                                .start = reused ? 290 : 5,
                        };
                }
                mark = hn_ledger_heir(l, &heir);
                if (!mark != !heirs[i].old)
                        fail_msg("%s: %s", heirs[i].what, mark ? "an heir" : "no heir");
                if (!mark)
                        continue;
                assert_int_equal(mark->unrestricted, heirs[i].old[0] == '*');
                assert_mask(l, mark->old, mark->unrestricted ? "" : heirs[i].old);
        }
        hn_ledger_free(l);
}

static void the_root_cgroup_does_not_cover_everybody(void **state) {
        (void) state;
        assert_true(hn_cgroup_covers("/", "/"));
        assert_false(hn_cgroup_covers("/", "/user.slice"));
        assert_true(hn_cgroup_covers("/a", "/a/b"));
        assert_false(hn_cgroup_covers("/a/b", "/a"));
}

/* A task pinned to A and then to B: its children of the first time still wear A. */
static void each_move_leaves_its_mark(void **state) {
        struct hn_record first = pin_of(10, 5, NULL, "0-7", "0-1"),
                         second = pin_of(10, 5, NULL, "0-1", "2-3");
        const struct hn_task_key kin = { .tid = 10, .start = 5 };
        struct hn_heir heir = {
                .start = 1000, .mask = list("0-1"), .allowed = list("0-7"), .kin = &kin, .n_kin = 1
        };
        struct hn_ledger *l;

        (void) state;
        assert_int_equal(hn_ledger_new(BOOT, &l), 0);
        assert_int_equal(hn_ledger_note(l, &first), 0);
        second.boot_usec += 5000000;
        assert_int_equal(hn_ledger_note(l, &second), 0);
        assert_non_null(hn_ledger_heir(l, &heir));
        heir.mask = list("2-3");
        assert_non_null(hn_ledger_heir(l, &heir));
        heir.start = 300; /* before the second move */
        assert_null(hn_ledger_heir(l, &heir));
        hn_ledger_free(l);
}

static void marks_are_bounded(void **state) {
        const struct hn_mark one = { .tgid = 1, .unrestricted = true, .since = 5 };
        struct hn_marks m = HN_MARKS_NULL;
        struct hn_mark mark = one;
        char cgroup[32];

        (void) state;
        /* Of one cgroup: they become one that stands for all. */
        for (pid_t tgid = 1; tgid <= (pid_t) HN_MARKS_MAX; tgid++) {
                mark.tgid = tgid;
                assert_int_equal(hn_marks_add(&m, &mark, "/a"), 1);
        }
        mark.tgid = 99999;
        mark.since = 3;
        assert_int_equal(hn_marks_add(&m, &mark, "/a"), 0);
        assert_int_equal(m.n, HN_MARKS_MAX);
        assert_true(hn_marks_find(&m, &mark, "/a") != SIZE_MAX);
        assert_int_equal(m.marks[hn_marks_find(&m, &mark, "/a")].since, 3);

        /* Of many: the oldest goes. */
        for (unsigned i = 0; i < 3 * HN_MARKS_MAX; i++) {
                (void) snprintf(cgroup, sizeof(cgroup), "/b%u", i);
                mark = one;
                mark.since = 10 + i;
                assert_int_equal(hn_marks_add(&m, &mark, cgroup), 1);
        }
        assert_int_equal(m.n, HN_MARKS_MAX);
        mark.since = 0;
        assert_true(hn_marks_find(&m, &mark, "/b0") == SIZE_MAX);
        assert_true(hn_marks_find(&m, &mark, cgroup) != SIZE_MAX);
        hn_marks_deinit(&m);
}

static bool never(void *userdata, const struct hn_mark *mark) {
        (void) userdata;
        (void) mark;
        return false;
}

static void pruning_spares_what_an_entry_stands_behind(void **state) {
        struct hn_record a = pin_of(10, 5, NULL, "0-7", "0-1"), b = pin_of(20, 5, NULL, "0-7", "0-1");
        struct hn_ledger *l;

        (void) state;
        assert_int_equal(hn_ledger_new(BOOT, &l), 0);
        assert_int_equal(hn_ledger_note(l, &a), 0);
        assert_int_equal(hn_ledger_note(l, &b), 0);
        assert_int_equal(hn_ledger_forget(l, &a.key), 0);
        assert_int_equal(hn_ledger_marks(l)->n, 2);
        assert_int_equal(hn_ledger_prune(l, never, NULL), 0);
        assert_int_equal(hn_ledger_marks(l)->n, 1);
        assert_int_equal(hn_ledger_marks(l)->marks[0].tgid, 20);
        hn_ledger_free(l);
}

/* the file */

static char dir[64];

static int setup(void **state) {
        (void) state;
        strcpy(dir, "/tmp/hn-ledger-XXXXXX");
        return mkdtemp(dir) ? 0 : -1;
}

static const char *in_dir(const char *name) {
        static char path[128];

        (void) snprintf(path, sizeof(path), "%s/%s", dir, name);
        return path;
}

static int teardown(void **state) {
        (void) state;
        (void) unlink(in_dir("ledger"));
        (void) unlink(in_dir("ledger.new"));
        (void) unlink(in_dir("other"));
        return rmdir(dir);
}

static char *slurp(size_t *ret_n) {
        char *text = calloc(1, 1 << 20);
        int fd = open(in_dir("ledger"), O_RDONLY | O_CLOEXEC);
        ssize_t n = read(fd, text, (1 << 20) - 1);

        assert_true(n >= 0);
        (void) close(fd);
        if (ret_n)
                *ret_n = (size_t) n;
        return text;
}

static void spill(const char *text, size_t n) {
        int fd = open(in_dir("ledger"), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

        assert_int_equal(write(fd, text, n), n);
        (void) close(fd);
}

static struct hn_ledger *open_ledger(const char *boot) {
        struct hn_ledger *l;

        assert_int_equal(hn_ledger_open(dir, boot, /* create= */ true, &l), 0);
        return l;
}

static void note(struct hn_ledger *l, struct hn_record rec) {
        assert_int_equal(hn_ledger_note(l, &rec), 0);
}

static void what_was_written_is_there_again(void **state) {
        struct hn_record moved = pin_of(10, 5, NULL, "0-1", "2-3");
        struct hn_ledger *l = open_ledger(BOOT);
        const struct hn_ledger_entry *e;
        struct stat st;

        (void) state;
        assert_int_equal(stat(in_dir("ledger"), &st), 0);
        assert_int_equal(st.st_mode, S_IFREG | 0600);
        note(l, pin_of(10, 5, "0-5", "0-5", "0-1"));
        assert_int_equal(hn_ledger_confirm(l, &moved.key), 0);
        note(l, moved);
        note(l, pin_of(11, 5, NULL, "0-7", "0-1"));
        note(l, pin_of(12, 5, NULL, "0-7", "0-1"));
        note(l, pin_of(13, 5, NULL, "0-7", "0-1"));
        assert_int_equal(hn_ledger_withdraw(l, &(struct hn_task_key){ 12, 5 }), 0);
        assert_int_equal(hn_ledger_forget(l, &(struct hn_task_key){ 13, 5 }), 0);
        assert_int_equal(hn_ledger_sync(l), 0);
        hn_ledger_free(l);

        /* Twice: as it was written line by line, and as it was written anew. */
        for (unsigned i = 0; i < 2; i++) {
                l = open_ledger(BOOT);
                assert_int_equal(hn_ledger_size(l), 2);
                assert_int_equal(hn_ledger_n_damaged(l) + hn_ledger_n_void(l), 0);
                e = hn_ledger_find(l, &moved.key);
                assert_non_null(e);
                assert_true(e->over_ours && !e->confirmed && !e->unrestricted);
                assert_mask(l, e->old, "0-5");
                assert_mask(l, e->before, "0-1");
                assert_mask(l, e->want, "2-3");
                assert_string_equal(e->cgroup, moved.cgroup);
                assert_string_equal(e->reason, "remote-faults");
                assert_int_equal(e->real_usec, moved.real_usec);
                assert_null(hn_ledger_find(l, &(struct hn_task_key){ 12, 5 }));
                /* 10 twice, 11, 13: but not what was not done */
                assert_int_equal(hn_ledger_marks(l)->n, 4);
                assert_int_equal(hn_ledger_compact(l), 0);
                hn_ledger_free(l);
        }
}

static void torn_and_damaged_lines_are_left_out(void **state) {
        struct hn_ledger *l = open_ledger(BOOT);
        _hn_cleanup_(hn_freep) char *text = NULL;
        size_t n;

        (void) state;
        note(l, pin_of(10, 5, NULL, "0-7", "0-1"));
        note(l, pin_of(11, 5, NULL, "0-7", "0-1"));
        note(l, pin_of(12, 5, NULL, "0-7", "0-1"));
        hn_ledger_free(l);
        text = slurp(&n);

        /* Cut anywhere: what is whole counts, never more, and the next line is not spoilt by the torn one. */
        for (size_t cut = 0; cut <= n; cut++) {
                size_t n_lines = 0;

                for (size_t i = 0; i < cut; i++)
                        n_lines += text[i] == '\n';
                /* A line without its end is whole as far as its checksum says. */
                if (cut < n && text[cut] == '\n')
                        n_lines++;
                spill(text, cut);
                l = open_ledger(BOOT);
                assert_int_equal(hn_ledger_size(l), n_lines > 0 ? n_lines - 1 : 0);
                note(l, pin_of(99, 5, NULL, "0-7", "0-1"));
                hn_ledger_free(l);
                l = open_ledger(BOOT);
                assert_non_null(hn_ledger_find(l, &(struct hn_task_key){ 99, 5 }));
                assert_int_equal(hn_ledger_n_damaged(l), 0);
                hn_ledger_free(l);
        }

        /* A flipped bit in the header or in a line costs that line. */
        for (size_t i = 0; i < n; i++) {
                text[i] = (char) (text[i] ^ 4);
                spill(text, n);
                l = open_ledger(BOOT);
                assert_true(hn_ledger_n_damaged(l) >= 1);
                assert_true(hn_ledger_size(l) >= 1);
                hn_ledger_free(l);
                text[i] = (char) (text[i] ^ 4);
        }
}

static void a_file_full_of_noise_is_survived(void **state) {
        char noise[5000];
        struct hn_ledger *l;

        (void) state;
        for (size_t i = 0; i < sizeof(noise); i++)
                noise[i] = (char) (i * 2654435761u >> 13);
        spill(noise, sizeof(noise));
        l = open_ledger(BOOT);
        assert_int_equal(hn_ledger_size(l), 0);
        assert_true(hn_ledger_n_damaged(l) > 0);
        hn_ledger_free(l);
        l = open_ledger(BOOT);
        assert_int_equal(hn_ledger_n_damaged(l), 0);
        hn_ledger_free(l);
}

static void another_boot_is_void(void **state) {
        struct hn_ledger *l = open_ledger(BOOT);

        (void) state;
        note(l, pin_of(10, 5, NULL, "0-7", "0-1"));
        note(l, pin_of(11, 5, NULL, "0-7", "0-1"));
        hn_ledger_free(l);
        l = open_ledger(OTHER_BOOT);
        assert_int_equal(hn_ledger_size(l), 0);
        assert_int_equal(hn_ledger_n_void(l), 2);
        assert_int_equal(hn_ledger_n_damaged(l), 0);
        assert_int_equal(hn_ledger_marks(l)->n, 0);
        hn_ledger_free(l);
        l = open_ledger(OTHER_BOOT);
        assert_int_equal(hn_ledger_n_void(l), 0);
        hn_ledger_free(l);
}

static void the_last_of_duplicate_keys_counts(void **state) {
        struct hn_ledger *l = open_ledger(BOOT);
        _hn_cleanup_(hn_freep) char *text = NULL;
        size_t n, header;

        (void) state;
        note(l, pin_of(10, 5, NULL, "0-7", "0-1"));
        hn_ledger_free(l);
        text = slurp(&n);
        header = (size_t) (strchr(text, '\n') + 1 - text);
        memmove(text + n, text + header, n - header);
        spill(text, 2 * n - header);
        l = open_ledger(BOOT);
        assert_int_equal(hn_ledger_size(l), 1);
        assert_int_equal(hn_ledger_marks(l)->n, 1);
        hn_ledger_free(l);
}

static void a_long_past_is_forgotten(void **state) {
        struct hn_ledger *l = open_ledger(BOOT);
        struct stat st;

        (void) state;
        note(l, pin_of(1, 5, NULL, "0-7", "0-1"));
        for (pid_t tid = 100; tid < 6000; tid++) {
                struct hn_record rec = pin_of(tid, 5, NULL, "0-7", "0-1");

                rec.tgid = 1;
                note(l, rec);
                assert_int_equal(hn_ledger_forget(l, &rec.key), 0);
        }
        hn_ledger_free(l);
        assert_int_equal(stat(in_dir("ledger"), &st), 0);
        assert_true(st.st_size < 1 << 20);
        l = open_ledger(BOOT);
        assert_int_equal(hn_ledger_size(l), 1);
        assert_int_equal(hn_ledger_n_damaged(l), 0);
        hn_ledger_free(l);
}

static void one_process_at_a_time(void **state) {
        struct hn_ledger *l = open_ledger(BOOT), *second;
        int pair[2], status;
        pid_t pid;
        char c;

        (void) state;
        assert_int_equal(hn_ledger_open(dir, BOOT, true, &second), -EBUSY);
        assert_non_null(hn_appendfile_error(-EBUSY));
        hn_ledger_free(l);

        /* The lock dies with its holder, however it dies. */
        assert_int_equal(pipe(pair), 0);
        pid = fork();
        assert_true(pid >= 0);
        if (pid == 0) {
                l = open_ledger(BOOT);
                note(l, pin_of(10, 5, NULL, "0-7", "0-1"));
                (void) !write(pair[1], "x", 1);
                (void) pause();
                _exit(0);
        }
        assert_int_equal(read(pair[0], &c, 1), 1);
        assert_int_equal(hn_ledger_open(dir, BOOT, true, &second), -EBUSY);
        assert_int_equal(kill(pid, SIGKILL), 0);
        assert_int_equal(waitpid(pid, &status, 0), pid);
        l = open_ledger(BOOT);
        assert_int_equal(hn_ledger_size(l), 1);
        hn_ledger_free(l);
        (void) close(pair[0]);
        (void) close(pair[1]);
}

static void files_of_others_are_refused(void **state) {
        struct hn_ledger *l;

        (void) state;
        assert_int_equal(hn_ledger_open(dir, BOOT, /* create= */ false, &l), -ENOENT);
        assert_int_equal(hn_ledger_open("/nonexistent/run", BOOT, true, &l), -ENOENT);

        /* A symbolic link, even to something harmless. */
        assert_int_equal(symlink("/etc/passwd", in_dir("ledger")), 0);
        assert_int_equal(hn_ledger_open(dir, BOOT, true, &l), -ELOOP);
        assert_int_equal(unlink(in_dir("ledger")), 0);
        assert_int_equal(symlink("nowhere", in_dir("ledger")), 0);
        assert_int_equal(hn_ledger_open(dir, BOOT, true, &l), -ELOOP);
        assert_int_equal(unlink(in_dir("ledger")), 0);

        /* A pipe, a folder. */
        assert_int_equal(mkfifo(in_dir("ledger"), 0600), 0);
        assert_int_equal(hn_ledger_open(dir, BOOT, true, &l), -ELOOP);
        assert_int_equal(unlink(in_dir("ledger")), 0);
        assert_int_equal(mkdir(in_dir("ledger"), 0700), 0);
        assert_int_equal(hn_ledger_open(dir, BOOT, true, &l), -ELOOP);
        assert_int_equal(rmdir(in_dir("ledger")), 0);

        /* A second name, and one that others may write to. */
        spill("", 0);
        assert_int_equal(link(in_dir("ledger"), strcat(strcpy((char[128]){ 0 }, dir), "/other")), 0);
        assert_int_equal(hn_ledger_open(dir, BOOT, true, &l), -EMLINK);
        assert_int_equal(unlink(in_dir("other")), 0);
        assert_int_equal(chmod(in_dir("ledger"), 0622), 0);
        assert_int_equal(hn_ledger_open(dir, BOOT, true, &l), -EPERM);
        assert_int_equal(chmod(in_dir("ledger"), 0600), 0);

        if (geteuid() == 0) {
                /* Somebody else's file in our folder; then in his own; then in his own where others may
                 * write. */
                assert_int_equal(chown(in_dir("ledger"), 12345, 12345), 0);
                assert_int_equal(hn_ledger_open(dir, BOOT, true, &l), -EPERM);
                assert_int_equal(chown(dir, 12345, 12345), 0);
                assert_int_equal(hn_ledger_open(dir, BOOT, true, &l), 0);
                assert_int_equal(hn_ledger_compact(l), 0);
                hn_ledger_free(l);
                struct stat st;
                assert_int_equal(stat(in_dir("ledger"), &st), 0);
                assert_int_equal(st.st_uid, 12345);
                assert_int_equal(chmod(dir, 01777), 0);
                assert_int_equal(hn_ledger_open(dir, BOOT, true, &l), -EPERM);
        }
        for (int r = -200; r < 0; r++)
                if (r == -ELOOP || r == -EPERM || r == -EMLINK || r == -EBUSY || r == -EFBIG)
                        assert_non_null(hn_appendfile_error(r));
}

/* A full disk: /dev/full answers every write with ENOSPC. */
static void an_act_without_its_line_is_not_noted(void **state) {
        struct hn_appendfile f = { .dir_fd = -1,
                                   .fd = open("/dev/full", O_RDWR | O_CLOEXEC),
                                   .name = "ledger" };

        (void) state;
        assert_true(f.fd >= 0);
        assert_int_equal(hn_appendfile_append(&f, "x\n", 2), -ENOSPC);
        assert_int_equal(f.size, 0);
        hn_appendfile_close(&f);
}

static void a_line_cut_short_is_taken_back(void **state) {
        struct hn_ledger *l;
        pid_t pid = fork();
        int status;

        (void) state;
        assert_true(pid >= 0);
        if (pid == 0) {
                struct hn_record rec = pin_of(11, 5, NULL, "0-7", "0-1");
                struct rlimit limit = { .rlim_cur = 250, .rlim_max = 250 };

                (void) signal(SIGXFSZ, SIG_IGN);
                l = open_ledger(BOOT);
                note(l, pin_of(10, 5, NULL, "0-7", "0-1"));
                if (setrlimit(RLIMIT_FSIZE, &limit) < 0)
                        _exit(1);
                /* The kernel takes the part of the line that fits. */
                if (hn_ledger_note(l, &rec) != -ENOSPC || hn_ledger_find(l, &rec.key))
                        _exit(2);
                if (hn_ledger_marks(l)->n != 1)
                        _exit(3);
                _exit(0);
        }
        assert_int_equal(waitpid(pid, &status, 0), pid);
        assert_int_equal(status, 0);
        l = open_ledger(BOOT);
        assert_int_equal(hn_ledger_size(l), 1);
        assert_int_equal(hn_ledger_n_damaged(l), 0);
        hn_ledger_free(l);
}

static void the_boot_id_is_read(void **state) {
        char boot[HN_BOOT_ID_MAX] = "";
        int fd = open("/proc", O_PATH | O_CLOEXEC);

        (void) state;
        assert_true(fd >= 0);
        assert_int_equal(hn_ledger_boot_id(fd, boot), 0);
        assert_int_equal(strlen(boot), 36);
        (void) close(fd);
}

#define with_dir(f) cmocka_unit_test_setup_teardown(f, setup, teardown)

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(lines_read_as_documented),
                cmocka_unit_test(texts_come_back_as_they_were),
                cmocka_unit_test(the_longest_line_fits),
                cmocka_unit_test(every_flipped_bit_is_noticed),
                cmocka_unit_test(nonsense_is_refused_though_it_adds_up),
                cmocka_unit_test(a_task_goes_through_the_ledger),
                cmocka_unit_test(a_pin_that_was_not_done_leaves_nothing),
                cmocka_unit_test(many_tasks_are_found_and_sorted),
                cmocka_unit_test(heirs_are_told_from_strangers),
                cmocka_unit_test(the_root_cgroup_does_not_cover_everybody),
                cmocka_unit_test(each_move_leaves_its_mark),
                cmocka_unit_test(marks_are_bounded),
                cmocka_unit_test(pruning_spares_what_an_entry_stands_behind),
                with_dir(what_was_written_is_there_again),
                with_dir(torn_and_damaged_lines_are_left_out),
                with_dir(a_file_full_of_noise_is_survived),
                with_dir(another_boot_is_void),
                with_dir(the_last_of_duplicate_keys_counts),
                with_dir(a_long_past_is_forgotten),
                with_dir(one_process_at_a_time),
                with_dir(files_of_others_are_refused),
                cmocka_unit_test(an_act_without_its_line_is_not_noted),
                with_dir(a_line_cut_short_is_taken_back),
                cmocka_unit_test(the_boot_id_is_read),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
