/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Overrides from their order to their end: what becomes of the masks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "daemon/undo.h"
#include "overridestage.h"
#include "rows.h"
#include "sample/clock.h"
#include "sample/taskref.h"

static void names_of_kinds(void **state) {
        static const char *const wrong[] = { "", "Process", "process ", "tasks", "unit" };

        (void) state;
        for (int k = 0; k < _HN_OVERRIDE_KIND_MAX; k++)
                ROW_EQUAL(k,
                          hn_override_kind_from_string(hn_override_kind_to_string((enum hn_override_kind) k)),
                          k);
        for (size_t i = 0; i < HN_ELEMENTS(wrong); i++)
                ROW_EQUAL(i, hn_override_kind_from_string(wrong[i]), _HN_OVERRIDE_KIND_INVALID);
        assert_null(hn_override_kind_to_string(_HN_OVERRIDE_KIND_MAX));
        assert_null(hn_override_kind_to_string(_HN_OVERRIDE_KIND_INVALID));
}

/* Start times are as fine as that. */
static void next_tick_of_the_clock(void) {
        uint64_t now = hn_clock(CLOCK_BOOTTIME) / HN_USEC_PER_TICK;

        while (hn_clock(CLOCK_BOOTTIME) / HN_USEC_PER_TICK == now)
                ;
}

/* With two threads from before and two from after, and a child from before and two from after. */
static void a_process_with_all_that_comes_of_it(void **state) {
        struct stage *s = *state;
        pid_t thread = puppet_do(&s->puppet, 't'), child = puppet_do(&s->puppet, 'c'), late_thread,
              late_child, last_child;
        struct hn_override wish = wish_of(s, "0");
        uint64_t id;

        wish.why = (char *) "for a test";
        stage_tick(s);
        assert_wears(s->puppet.pid, &all);
        next_tick_of_the_clock();
        id = add(s, &wish);
        assert_wears(s->puppet.pid, &all); /* carried out at the tick */
        stage_tick(s);
        assert_wears(s->puppet.pid, &first);
        assert_wears(thread, &first);
        assert_wears(child, &all); /* it was there before */

        late_thread = puppet_do(&s->puppet, 't');
        late_child = puppet_do(&s->puppet, 'c');
        stage_tick(s);
        stage_tick(s);
        assert_wears(late_thread, &first);
        assert_wears(late_child, &first);
        /* Each of them has its record, also of what its creator had before. */
        assert_int_equal(hn_ledger_size(s->m->ledger), 4);

        last_child = puppet_do(&s->puppet, 'c'); /* not met before the end */
        assert_int_equal(hn_override_remove(s->m, id, "user 0"), 0);
        assert_int_equal(hn_override_count(s->m), 0);
        assert_wears(s->puppet.pid, &first);
        stage_tick(s);
        assert_wears(s->puppet.pid, &all);
        assert_wears(thread, &all);
        assert_wears(child, &all);
        assert_wears(late_thread, &all);
        assert_wears(late_child, &all);
        assert_wears(last_child, &all);
        assert_int_equal(hn_ledger_size(s->m->ledger), 0);
        assert_int_equal(hn_ledger_marks(s->m->ledger)->n, 0);
        assert_int_equal(stage_times_said(s, ": added (for a test)"), 1);
        assert_int_equal(stage_times_said(s, ": taken back by user 0 (for a test)"), 1);
        assert_int_equal(hn_override_remove(s->m, id, "user 0"), -ENOENT);
}

/* A hand may go beyond what somebody had set, and that comes back. */
static void a_mask_of_the_user(void **state) {
        struct stage *s = *state;
        pid_t thread = puppet_do(&s->puppet, 't'), late;
        struct hn_override wish = wish_of(s, "0");
        uint64_t id;

        assert_int_equal(hn_affinity_set(thread, &rest), 0);
        id = add(s, &wish);
        stage_tick(s);
        assert_wears(s->puppet.pid, &first);
        assert_wears(thread, &first);
        late = puppet_do(&s->puppet, 't'); /* of the first one */
        stage_tick(s);
        assert_int_equal(hn_override_remove(s->m, id, "user 0"), 0);
        stage_tick(s);
        assert_wears(s->puppet.pid, &all);
        assert_wears(thread, &rest);
        assert_wears(late, &all);
}

static void a_thread_alone(void **state) {
        struct stage *s = *state;
        pid_t thread = puppet_do(&s->puppet, 't'), other = puppet_do(&s->puppet, 't');
        struct hn_override wish = wish_of(s, "1");
        uint64_t id;

        wish.kind = HN_OVERRIDE_THREAD;
        wish.pid = thread;
        id = add(s, &wish);
        stage_tick(s);
        assert_wears(thread, &rest);
        assert_wears(other, &all);
        assert_wears(s->puppet.pid, &all);
        assert_int_equal(hn_ledger_size(s->m->ledger), 1);
        assert_int_equal(hn_override_find(s->m, id)->start_time > 0, true);
        s->m->overrides.list.entries[0].o.expires = 1;
        stage_tick(s);
        assert_wears(thread, &all);
        assert_int_equal(hn_override_count(s->m), 0);
        assert_int_equal(stage_times_said(s, "its time is over"), 1);
        assert_int_equal(hn_ledger_size(s->m->ledger), 0);
}

/* The narrower order counts, whichever came first. */
static void a_thread_of_a_process(void **state) {
        struct stage *s = *state;
        pid_t thread = puppet_do(&s->puppet, 't');
        struct hn_override one = wish_of(s, "1"), whole = wish_of(s, "0");
        uint64_t id;

        one.kind = HN_OVERRIDE_THREAD;
        one.pid = thread;
        id = add(s, &one);
        add(s, &whole);
        stage_tick(s);
        assert_wears(thread, &rest);
        assert_wears(s->puppet.pid, &first);
        assert_int_equal(hn_override_remove(s->m, id, "user 0"), 0);
        stage_tick(s);
        stage_tick(s);
        assert_wears(thread, &first);
}

/* Nodes, then some CPUs of both. */
static void another_order_for_the_same(void **state) {
        struct stage *s = *state;
        struct hn_override wish = wish_of(s, "0");
        uint64_t id = add(s, &wish), next;

        stage_tick(s);
        wish.nodes = list("0-1");
        wish.cpus = rest;
        next = add(s, &wish);
        assert_true(next > id);
        assert_int_equal(hn_override_count(s->m), 1);
        assert_null(hn_override_find(s->m, id));
        stage_tick(s);
        stage_tick(s);
        assert_wears(s->puppet.pid, &rest);
        assert_int_equal(hn_override_remove(s->m, next, "user 0"), 0);
        stage_tick(s);
        assert_wears(s->puppet.pid, &all);
        assert_int_equal(stage_times_said(s, "another order takes its place"), 1);
}

static void kept_across_a_restart(void **state) {
        struct stage *s = *state;
        struct hn_override wish = wish_of(s, "0");
        const struct hn_override *kept;
        uint64_t id;

        wish.why = (char *) "quoted \"\\ and\nbroken";
        wish.owner = 1000;
        wish.expires = UINT64_C(4000000000000000);
        id = add(s, &wish);
        stage_tick(s);
        assert_wears(s->puppet.pid, &first);
        stage_end(s);
        assert_wears(s->puppet.pid, &all);

        stage_begin(s);
        kept = hn_override_get(s->m, 0);
        assert_int_equal(hn_override_count(s->m), 1);
        assert_int_equal(kept->id, id);
        assert_int_equal(kept->owner, 1000);
        assert_int_equal(kept->expires, wish.expires);
        assert_string_equal(kept->why, wish.why);
        assert_true(hn_mask_equal(&kept->nodes, &wish.nodes));
        stage_tick(s);
        assert_wears(s->puppet.pid, &first);
        assert_int_equal(hn_override_remove(s->m, id, "user 1000"), 0);
        stage_end(s);
        assert_wears(s->puppet.pid, &all);

        stage_begin(s);
        assert_int_equal(hn_override_count(s->m), 0);
        assert_true(add(s, &wish) > id); /* no id twice in a boot */
}

/* Killed: all is given back at the next start, and then carried out again. */
static void kept_across_a_crash(void **state) {
        struct stage *s = *state;
        struct hn_override wish = wish_of(s, "0");
        struct hn_ledger *ledger;
        pid_t child;

        add(s, &wish);
        stage_tick(s);
        child = puppet_do(&s->puppet, 'c');
        stage_tick(s);
        /* As if nothing had been given back. */
        ledger = s->m->ledger;
        s->m->ledger = NULL;
        stage_end(s);
        hn_ledger_free(ledger);
        assert_wears(s->puppet.pid, &first);
        stage_begin(s);
        assert_wears(s->puppet.pid, &all);
        assert_wears(child, &all);
        stage_tick(s);
        assert_wears(s->puppet.pid, &first);
        assert_wears(child, &first);
}

/* Killed, and nobody starts it again. */
static void given_back_without_a_daemon(void **state) {
        struct stage *s = *state;
        struct hn_override wish = wish_of(s, "0");
        struct hn_options options = HN_OPTIONS_NULL;
        struct hn_ledger *ledger;
        pid_t child;

        options.run_dir = s->dir;
        add(s, &wish);
        stage_tick(s);
        child = puppet_do(&s->puppet, 'c'); /* in no record */
        ledger = s->m->ledger;
        s->m->ledger = NULL;
        stage_end(s);
        hn_ledger_free(ledger);
        assert_wears(child, &first);
        assert_int_equal(hn_undo_main(&options), 0);
        assert_wears(s->puppet.pid, &all);
        assert_wears(child, &all);
}

static void hands_off_what_somebody_changed(void **state) {
        struct stage *s = *state;
        struct hn_override wish = wish_of(s, "0");
        uint64_t id;

        add(s, &wish);
        stage_tick(s);
        assert_int_equal(hn_affinity_set(s->puppet.pid, &rest), 0);
        for (unsigned i = 0; i < 4; i++) {
                stage_tick(s);
                assert_wears(s->puppet.pid, &rest);
        }
        assert_int_equal(stage_times_said(s, "so it is left alone from now on"), 1);
        assert_int_equal(hn_ledger_size(s->m->ledger), 0);
        /* A new order is a new word, and what comes back is what was there before that. */
        id = add(s, &wish);
        stage_tick(s);
        assert_wears(s->puppet.pid, &first);
        assert_int_equal(hn_override_remove(s->m, id, "user 0"), 0);
        stage_tick(s);
        assert_wears(s->puppet.pid, &rest);
}

static void over_with_its_target(void **state) {
        struct stage *s = *state;
        struct hn_override wish = wish_of(s, "0");
        struct hn_task_key key;
        pid_t child;

        add(s, &wish);
        stage_tick(s);
        child = puppet_do(&s->puppet, 'c');
        stage_tick(s);
        /* Its child dies with it, and both have left nothing. */
        (void) kill(child, SIGKILL);
        puppet_stop(&s->puppet);
        while (hn_task_key_read(s->m->world.proc_fd, child, &key) == 0)
                ;
        stage_tick(s);
        stage_tick(s);
        assert_int_equal(hn_override_count(s->m), 0);
        assert_int_equal(stage_times_said(s, "its target is gone"), 1);
        puppet_start(&s->puppet);
}

static void told_in_the_state(void **state) {
        struct stage *s = *state;
        struct hn_override wish = wish_of(s, "1");
        char path[128], text[16384];
        ssize_t n;
        int fd;

        wish.why = (char *) "a test";
        add(s, &wish);
        stage_tick(s);
        stage_file(s, "state.json", path, sizeof(path));
        fd = open(path, O_RDONLY | O_CLOEXEC);
        assert_true(fd >= 0);
        n = read(fd, text, sizeof(text) - 1);
        (void) close(fd);
        assert_true(n > 0);
        text[n] = '\0';
        assert_non_null(strstr(text, "\"overrides\":[{\"id\":1,\"kind\":\"process\""));
        assert_non_null(strstr(text, "\"why\":\"a test\""));
        assert_non_null(strstr(text, "\"scopes\":[]")); /* nothing is opted in by that */
}

/* What is there of the file is kept, whatever else stands in it. */
static void a_hostile_file(void **state) {
        struct stage *s = *state;
        struct hn_override wish = wish_of(s, "0");
        char path[128];
        FILE *f;

        add(s, &wish);
        stage_end(s);
        stage_file(s, "overrides", path, sizeof(path));
        f = fopen(path, "ae");
        assert_non_null(f);
        (void) fputs("\n[[[[\n{\"id\":0}\n\xff\xfe\n{\"over\":\"1\"}\n{\"id\":7", f);
        assert_int_equal(fclose(f), 0);
        stage_begin(s);
        assert_int_equal(hn_override_count(s->m), 1);
        stage_tick(s);
        assert_wears(s->puppet.pid, &first);
}

/* Somebody has put something else in its place: there is nothing to keep orders in. */
static void no_file_to_keep_it_in(void **state) {
        struct stage *s = *state;
        struct hn_override wish = wish_of(s, "0");
        const char *refusal;
        char path[128];
        uint64_t id;

        stage_end(s);
        stage_file(s, "overrides", path, sizeof(path));
        (void) unlink(path);
        assert_int_equal(symlink("/dev/null", path), 0);
        stage_begin(s);
        assert_int_equal(hn_override_add(s->m, &wish, &id, &refusal), -EIO);
        assert_non_null(strstr(refusal, "cannot be written"));
        assert_int_equal(hn_override_count(s->m), 0);
        stage_tick(s);
        assert_wears(s->puppet.pid, &all);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(names_of_kinds),
                staged(a_process_with_all_that_comes_of_it),
                staged(a_mask_of_the_user),
                staged(a_thread_alone),
                staged(a_thread_of_a_process),
                staged(another_order_for_the_same),
                staged(kept_across_a_restart),
                staged(kept_across_a_crash),
                staged(given_back_without_a_daemon),
                staged(hands_off_what_somebody_changed),
                staged(over_with_its_target),
                staged(told_in_the_state),
                staged(a_hostile_file),
                staged(no_file_to_keep_it_in),
        };
        int r = stage_open();

        return r != 0 ? r : cmocka_run_group_tests(tests, NULL, NULL);
}
