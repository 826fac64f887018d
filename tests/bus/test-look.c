/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Looking is free: what anybody can read on the bus, and what is told unasked. */
#include "stage.h"

#include <fcntl.h>
#include <jansson.h>
#include <unistd.h>

#include "daemon/bus.h"
#include "policy/reason.h"
#include "policy/remedy.h"

static struct stage stage;

static int make(void **state) {
        (void) state;
        stage_need();
        stage_make(&stage);
        stage_start_bus(&stage);
        stage_start_daemon(&stage, NULL);
        stage_wait_name(&stage);
        return 0;
}

static int destroy(void **state) {
        (void) state;
        (void) stage_stop_daemon(&stage);
        stage_destroy(&stage);
        return 0;
}

static const char *property(const char *path, const char *interface, const char *name) {
        static struct answer a;

        stage_get(&stage, &a, path, interface, name);
        if (!a.ok)
                fail_msg("%s of %s: %s: %s", name, path, a.error, a.message);
        return a.text;
}

static void the_manager_tells_how_things_stand(void **state) {
        static const struct {
                const char *name, *want; /* NULL: anything */
        } rows[] = {
                { "Version", HN_VERSION },
                { "Mode", "manage" },
                { "AllowedMode", "manage" },
                { "LogLevel", "info" },
                { "Nodes", "0 8 " },
                { "KernelBalancing", "1" },
                { "Signal", "faults" },
                { "SignalsInUse", "faults " },
                { "WhyNoSignal", "" },
                { "Tasks", "5" },
                { "Scopes", "3" },
                { "Held", "0" },
                { "Moves", "0" },
                { "CpuBudgetPermille", "5" },
                { "PageRate", "209715200" },
                { "CpuPermille", NULL },
                { "Conflicts", "" },
        };

        (void) state;
        /* Two looks, so that the first is over. */
        stage_wait_notify(&stage, "STATUS=");
        stage_wait_notify(&stage, "STATUS=");
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                const char *got = property(HN_BUS_PATH, HN_BUS_MANAGER, rows[i].name);

                if (rows[i].want && strcmp(got, rows[i].want) != 0)
                        fail_msg("%s is \"%s\", expected \"%s\"", rows[i].name, got, rows[i].want);
        }
}

static void a_scope_tells_of_its_cgroup(void **state) {
        _hn_cleanup_(hn_freep) char *path = NULL;
        static const struct {
                const char *name, *want;
        } rows[] = {
                { "Cgroup", CGROUP_WORKER },
                { "Rule", "app" },
                { "Mode", "manage" },
                { "Tasks", "3" },
                { "Held", "0" },
                { "Signal", "faults" },
                { "LocalShare", NULL },
                { "Note", "" },
                { "Nodes", "" },
                { "Cpuset", "0-3" },
                { "Pages", "1" },
        };

        (void) state;
        assert_true(hn_bus_scope_path(CGROUP_WORKER, "", &path) >= 0);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                const char *got = property(path, HN_BUS_SCOPE, rows[i].name);

                if (rows[i].want && strcmp(got, rows[i].want) != 0)
                        fail_msg("%s is \"%s\", expected \"%s\"", rows[i].name, got, rows[i].want);
        }
        /* One of three runs beside 10 permille of its faults, two beside 990. */
        assert_in_range(atoi(property(path, HN_BUS_SCOPE, "LocalShare")), 600, 700);
}

/* A bus throws out whoever sends it what is no UTF-8; the daemon would be gone. */
static void names_that_are_no_text_do_no_harm(void **state) {
        _hn_cleanup_(hn_freep) char *path = NULL;
        struct answer a = { .ok = false };

        (void) state;
        assert_true(hn_bus_scope_path(CGROUP_ODD, "", &path) >= 0);
        assert_string_equal(property(path, HN_BUS_SCOPE, "Cgroup"), "/odd\\xff\\x0a\".slice");
        assert_string_equal(property(path, HN_BUS_SCOPE, "Mode"), "advise");
        stage_call(&stage, NOBODY, &a, "Explain", "u", TASK_ODD);
        assert_true(a.ok);
        assert_non_null(strstr(a.text, "x) Z \\\\xff\\\\x0a("));
        assert_string_equal(property(HN_BUS_PATH, HN_BUS_MANAGER, "Mode"), "manage");
}

static void paths_that_are_no_scope_are_not_there(void **state) {
        static const char *const paths[] = {
                "/org/homenode1/scope",         "/org/homenode1/scope/",     "/org/homenode1/scope/_",
                "/org/homenode1/scope/_2fnone", "/org/homenode1/scope/a/b",  "/org/homenode1/scopes",
                "/org/homenode1/scope/_2",      "/org/homenode1/scope/_00x", "/",
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(paths); i++) {
                struct answer a = { .ok = false };

                if (!sd_bus_object_path_is_valid(paths[i]))
                        continue;
                stage_get(&stage, &a, paths[i], HN_BUS_SCOPE, "Cgroup");
                if (a.ok)
                        fail_msg("%s has a cgroup: %s", paths[i], a.text);
        }
}

static void all_objects_are_found_from_the_top(void **state) {
        _hn_cleanup_(sd_bus_message_unrefp) sd_bus_message *reply = NULL;
        sd_bus_error e = SD_BUS_ERROR_NULL;
        const char *path;
        size_t n = 0;

        (void) state;
        assert_true(sd_bus_call_method(stage.ear, HN_BUS_NAME, HN_BUS_PATH,
                                       "org.freedesktop.DBus.ObjectManager", "GetManagedObjects", &e, &reply,
                                       "") >= 0);
        assert_true(sd_bus_message_enter_container(reply, 'a', "{oa{sa{sv}}}") >= 0);
        while (sd_bus_message_enter_container(reply, 'e', "oa{sa{sv}}") > 0) {
                assert_true(sd_bus_message_read(reply, "o", &path) >= 0);
                assert_true(sd_bus_message_skip(reply, "a{sa{sv}}") >= 0);
                assert_true(sd_bus_message_exit_container(reply) >= 0);
                n++;
        }
        /* Three scopes; the manager is the top itself. */
        assert_in_range(n, 3, 4);
}

static json_t *explain(pid_t tid) {
        struct answer a = { .ok = false };
        json_t *o;

        stage_call(&stage, NOBODY, &a, "Explain", "u", (uint32_t) tid);
        if (!a.ok)
                fail_msg("Explain(%d): %s: %s", tid, a.error, a.message);
        o = json_loads(a.text, 0, NULL);
        assert_non_null(o);
        return o;
}

static void an_answer_has_reason_numbers_and_what_would_change_it(void **state) {
        json_t *o = explain(TASK_WORKER), *d = json_object_get(o, "decision"),
               *nodes = json_object_get(o, "nodes");
        enum hn_reason reason;

        (void) state;
        assert_true(json_is_true(json_object_get(o, "decided")));
        assert_string_equal(json_string_value(json_object_get(o, "cgroup")), CGROUP_WORKER);
        assert_string_equal(json_string_value(json_object_get(o, "rule")), "app");
        assert_int_equal(json_integer_value(json_object_get(o, "node")), 0);
        reason = hn_reason_from_string(json_string_value(json_object_get(d, "reason")));
        assert_true(reason >= 0);
        assert_string_equal(json_string_value(json_object_get(d, "sentence")), hn_reason_to_sentence(reason));
        assert_non_null(strstr(json_string_value(json_object_get(d, "text")), hn_reason_to_sentence(reason)));
        assert_string_equal(json_string_value(json_object_get(d, "would_change")),
                            hn_reason_to_remedy(reason));
        assert_int_equal(json_integer_value(json_object_get(d, "home")), 8);
        /* A capture is never acted on. */
        assert_true(json_is_true(json_object_get(d, "dry")));
        assert_int_equal(json_array_size(nodes), 2);
        assert_int_equal(json_integer_value(json_object_get(json_array_get(nodes, 1), "node")), 8);
        assert_int_equal(json_integer_value(json_object_get(json_array_get(nodes, 1), "private")), 9000);
        assert_int_equal(json_integer_value(json_object_get(json_array_get(nodes, 1), "share_permille")),
                         989);
        json_decref(o);
}

static void who_was_not_looked_at_is_told_why(void **state) {
        static const struct {
                pid_t tid;
                const char *why, *cgroup;
        } rows[] = {
                { TASK_OUTSIDE, "no rule opts its cgroup in", "/other.slice" },
                { TASK_KERNEL, "it belongs to the kernel", "/" },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                json_t *o = explain(rows[i].tid);

                assert_true(json_is_false(json_object_get(o, "decided")));
                assert_string_equal(json_string_value(json_object_get(o, "why")), rows[i].why);
                assert_string_equal(json_string_value(json_object_get(o, "cgroup")), rows[i].cgroup);
                assert_non_null(json_string_value(json_object_get(o, "would_change")));
                json_decref(o);
        }
}

static void numbers_that_are_no_task_are_refused_with_what_to_do(void **state) {
        static const struct {
                uint32_t tid;
                const char *error;
        } rows[] = {
                { 0, SD_BUS_ERROR_INVALID_ARGS },
                { UINT32_MAX, SD_BUS_ERROR_INVALID_ARGS },
                { 0x80000000u, SD_BUS_ERROR_INVALID_ARGS },
                { INT32_MAX, HN_BUS_NO_SUCH_TASK },
                { 99, HN_BUS_NO_SUCH_TASK },
        };

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct answer a = { .ok = false };

                stage_call(&stage, NOBODY, &a, "Explain", "u", rows[i].tid);
                assert_false(a.ok);
                assert_string_equal(a.error, rows[i].error);
                assert_non_null(strchr(a.message, ':'));
        }
}

static char *read_dump(int fd) {
        char *text = calloc(1, 1 << 20);

        assert_non_null(text);
        assert_true(read(fd, text, (1 << 20) - 1) > 0);
        return text;
}

static void the_state_comes_sealed_and_each_reader_has_his_own(void **state) {
        sd_bus_message *reply[2] = { NULL, NULL };
        char *text[2];
        json_t *o;
        int fd[2];

        (void) state;
        for (size_t i = 0; i < 2; i++) {
                assert_true(sd_bus_call_method(stage.ear, HN_BUS_NAME, HN_BUS_PATH, HN_BUS_MANAGER, "Dump",
                                               NULL, &reply[i], "") >= 0);
                assert_true(sd_bus_message_read(reply[i], "h", &fd[i]) >= 0);
                assert_int_equal(fcntl(fd[i], F_GETFL) & O_ACCMODE, O_RDONLY);
                assert_int_equal(fcntl(fd[i], F_GET_SEALS),
                                 F_SEAL_SEAL | F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE);
        }
        for (size_t i = 0; i < 2; i++) {
                text[i] = read_dump(fd[i]);
                o = json_loads(text[i], 0, NULL);
                assert_non_null(o);
                assert_string_equal(json_string_value(json_object_get(o, "mode")), "manage");
                assert_int_equal(json_array_size(json_object_get(o, "scopes")), 3);
                json_decref(o);
                free(text[i]);
                sd_bus_message_unref(reply[i]);
        }
}

static void scopes_come_and_go_with_a_word(void **state) {
        _hn_cleanup_(hn_freep) char *path = NULL;
        struct answer a = { .ok = false };

        (void) state;
        assert_true(hn_bus_scope_path("/app.slice/new", "", &path) >= 0);
        stage_forget(&stage);
        machine_add_cgroup(&stage.tree, "/app.slice/new", TASK_OUTSIDE);
        stage_hear(&stage, HN_BUS_MANAGER ".ScopeAdded", path);
        stage_hear(&stage, "ObjectManager.InterfacesAdded", path);
        stage_hear(&stage, "PropertiesChanged " HN_BUS_PATH, "Scopes 4");
        assert_string_equal(property(path, HN_BUS_SCOPE, "Tasks"), "1");

        machine_remove_cgroup(&stage.tree, "/app.slice/new");
        stage_hear(&stage, HN_BUS_MANAGER ".ScopeRemoved", path);
        stage_hear(&stage, "ObjectManager.InterfacesRemoved", path);
        stage_get(&stage, &a, path, HN_BUS_SCOPE, "Tasks");
        assert_false(a.ok);
}

static void a_scope_that_changes_says_so(void **state) {
        _hn_cleanup_(hn_freep) char *path = NULL;

        (void) state;
        assert_true(hn_bus_scope_path(CGROUP_WORKER, "", &path) >= 0);
        stage_forget(&stage);
        hn_tree_write(&stage.tree, "cg" CGROUP_WORKER "/cgroup.threads", "100\n300\n", 0);
        stage_hear(&stage, path, "Tasks 2");
        stage_hear(&stage, path, "LocalShare 500");
        hn_tree_write(&stage.tree, "cg" CGROUP_WORKER "/cgroup.threads", "100\n300\n301\n", 0);
        stage_hear(&stage, path, "Tasks 3");
}

static void reload(const char *config) {
        struct answer a = { .ok = false };

        stage_write_config(&stage, config);
        stage_forget(&stage);
        stage_call(&stage, 0, &a, "Reload", "");
        if (!a.ok)
                fail_msg("Reload: %s: %s", a.error, a.message);
}

/* Rules that take single processes of one cgroup: each has an object, and none of the cgroup's own. */
static void rules_that_share_a_cgroup_have_an_object_each(void **state) {
        static const char *const parts[] = { "sudoers", "work" };
        static const char *const rows[][3] = {
                { "Cgroup", CGROUP_WORKER, CGROUP_WORKER },
                { "Rule", "sudoers", "work" },
                { "Mode", "observe", "advise" },
                { "Tasks", "1", "1" },
                { "Cpuset", "0-3", "0-3" },
        };
        _hn_cleanup_(hn_freep) char *whole = NULL, *none = NULL;
        char *paths[2] = { NULL, NULL }, odd[256];
        struct answer a = { .ok = false };
        json_t *o;

        (void) state;
        assert_true(hn_bus_scope_path(CGROUP_WORKER, "", &whole) >= 0);
        assert_true(hn_bus_scope_path(CGROUP_WORKER, "rest", &none) >= 0);
        for (size_t k = 0; k < 2; k++)
                assert_true(hn_bus_scope_path(CGROUP_WORKER, parts[k], &paths[k]) >= 0);
        reload("[Daemon]\nMode=manage\nIntervalSec=0.2\n[Rule work]\nCgroup=app.slice\nComm=worker\nMode=advise\n"
               "[Rule sudoers]\nCgroup=app.slice\nComm=sudo\n");
        stage_hear(&stage, HN_BUS_MANAGER ".ScopeRemoved", whole);
        for (size_t k = 0; k < 2; k++) {
                stage_hear(&stage, HN_BUS_MANAGER ".ScopeAdded", paths[k]);
                stage_hear(&stage, "ObjectManager.InterfacesAdded", paths[k]);
                for (size_t i = 0; i < HN_ELEMENTS(rows); i++)
                        assert_string_equal(property(paths[k], HN_BUS_SCOPE, rows[i][0]), rows[i][k + 1]);
        }
        (void) snprintf(odd, sizeof(odd), "%s/_", whole);
        for (size_t i = 0; i < 3; i++) {
                const char *const absent[] = { whole, none, odd };

                stage_get(&stage, &a, absent[i], HN_BUS_SCOPE, "Cgroup");
                if (a.ok)
                        fail_msg("%s has a cgroup: %s", absent[i], a.text);
        }
        o = explain(TASK_WORKER);
        assert_string_equal(json_string_value(json_object_get(o, "rule")), "work");
        json_decref(o);
        o = explain(TASK_CAPABLE);
        assert_true(json_is_false(json_object_get(o, "decided")));
        assert_non_null(strstr(json_string_value(json_object_get(o, "why")), "none of them has taken it"));
        assert_non_null(strstr(json_string_value(json_object_get(o, "would_change")), "homenode match"));
        json_decref(o);

        reload(STAGE_CONFIG);
        for (size_t k = 0; k < 2; k++) {
                stage_hear(&stage, HN_BUS_MANAGER ".ScopeRemoved", paths[k]);
                free(paths[k]);
        }
        stage_hear(&stage, HN_BUS_MANAGER ".ScopeAdded", whole);
        assert_string_equal(property(whole, HN_BUS_SCOPE, "Tasks"), "3");
}

static void a_refusal_is_told_with_its_reason(void **state) {
        (void) state;
        stage_forget(&stage);
        machine_add_cgroup(&stage.tree, "/app.slice/rt", TASK_REALTIME);
        stage_hear(&stage, HN_BUS_MANAGER ".MoveRefused " HN_BUS_PATH " 600 rt ",
                   " realtime left on node 0: ");
        stage_hear(&stage, "MoveRefused", hn_reason_to_sentence(HN_REASON_REALTIME));
        machine_remove_cgroup(&stage.tree, "/app.slice/rt");
        stage_hear(&stage, "ScopeRemoved", "/app.slice/rt");
}

static void nothing_can_be_written_as_a_property(void **state) {
        sd_bus_error e = SD_BUS_ERROR_NULL;

        (void) state;
        assert_true(sd_bus_set_property(stage.ear, HN_BUS_NAME, HN_BUS_PATH, HN_BUS_MANAGER, "Mode", &e, "s",
                                        "observe") < 0);
        assert_string_equal(e.name, SD_BUS_ERROR_PROPERTY_READ_ONLY);
        sd_bus_error_free(&e);
        assert_string_equal(property(HN_BUS_PATH, HN_BUS_MANAGER, "Mode"), "manage");
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_manager_tells_how_things_stand),
                cmocka_unit_test(a_scope_tells_of_its_cgroup),
                cmocka_unit_test(names_that_are_no_text_do_no_harm),
                cmocka_unit_test(paths_that_are_no_scope_are_not_there),
                cmocka_unit_test(all_objects_are_found_from_the_top),
                cmocka_unit_test(an_answer_has_reason_numbers_and_what_would_change_it),
                cmocka_unit_test(who_was_not_looked_at_is_told_why),
                cmocka_unit_test(numbers_that_are_no_task_are_refused_with_what_to_do),
                cmocka_unit_test(the_state_comes_sealed_and_each_reader_has_his_own),
                cmocka_unit_test(scopes_come_and_go_with_a_word),
                cmocka_unit_test(a_scope_that_changes_says_so),
                cmocka_unit_test(rules_that_share_a_cgroup_have_an_object_each),
                cmocka_unit_test(a_refusal_is_told_with_its_reason),
                cmocka_unit_test(nothing_can_be_written_as_a_property),
        };

        return cmocka_run_group_tests(tests, make, destroy);
}
