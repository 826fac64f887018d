/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* org.homenode1(5) and the daemon tell of the same members, with the same types and names. */
#include "members.h"
#include "stage.h"

#include <stdlib.h>

#include "daemon/bus.h"

static struct stage stage;
static char page[65536];

static int make(void **state) {
        FILE *f = fopen(HN_SRCDIR "/man/org.homenode1.5", "re");

        (void) state;
        stage_need();
        assert_non_null(f);
        assert_in_range(fread(page, 1, sizeof(page) - 1, f), 1, sizeof(page) - 2);
        (void) fclose(f);
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

/* The items of section ".Ss WHAT of INTERFACE": `.It Fn Name "u tid" "out s json"`, `.It Va Name Li s Em
 * silent`. Macros and quotes left out they are the lines of members.h. */
static void read_section(struct members *m, const char *kind, const char *heading) {
        const char *at = strstr(page, heading), *end;

        if (!at)
                return;
        end = strstr(at + 1, "\n.S");
        assert_non_null(end);
        while ((at = strstr(at, "\n.It ")) && at < end) {
                char line[256], item[256], *word, *rest = item;

                (void) snprintf(item, sizeof(item), "%.*s", (int) strcspn(at + 5, "\n"), at + 5);
                (void) snprintf(line, sizeof(line), "%s", kind);
                while ((word = strsep(&rest, " \""))) {
                        size_t n = strlen(line);

                        if (*word && strcmp(word, "Fn") != 0 && strcmp(word, "Va") != 0 &&
                            strcmp(word, "Li") != 0 && strcmp(word, "Em") != 0)
                                (void) snprintf(line + n, sizeof(line) - n, " %s", word);
                }
                assert_true(members_add(m, line));
                at++;
        }
}

static struct members *read_page(const char *interface) {
        struct members *m = members_new();
        char heading[128];

        assert_non_null(m);
        (void) snprintf(heading, sizeof(heading), "\n.Ss Methods of %s\n", interface);
        read_section(m, "method", heading);
        (void) snprintf(heading, sizeof(heading), "\n.Ss Properties of %s\n", interface);
        read_section(m, "property", heading);
        (void) snprintf(heading, sizeof(heading), "\n.Ss Signals of %s\n", interface);
        read_section(m, "signal", heading);
        members_sort(m);
        return m;
}

static bool has(const struct members *m, const char *line) {
        return bsearch(line, m->line, m->n, sizeof(m->line[0]),
                       (int (*)(const void *, const void *)) strcmp) != NULL;
}

static void compare(const char *path, const char *interface) {
        struct members *told = members_introspect(stage.ear, path, interface),
                       *written = read_page(interface);
        size_t bad = 0;

        assert_non_null(told);
        assert_true(told->n > 5);
        for (size_t i = 0; i < told->n; i++)
                if (!has(written, told->line[i])) {
                        print_error("not in org.homenode1(5): %s %s\n", interface, told->line[i]);
                        bad++;
                }
        for (size_t i = 0; i < written->n; i++)
                if (!has(told, written->line[i])) {
                        print_error("in org.homenode1(5) alone: %s %s\n", interface, written->line[i]);
                        bad++;
                }
        assert_int_equal(bad, 0);
        assert_int_equal(told->n, written->n);
        free(told);
        free(written);
}

static void the_manager_is_as_written(void **state) {
        (void) state;
        compare(HN_BUS_PATH, HN_BUS_MANAGER);
}

/* Each option of the page is taken, and each that the daemon's own list has is on the page. */
static void options_of_advise_are_as_written(void **state) {
        const char *at = strstr(page, "\n.Ss Options of Advise\n"), *end;
        struct answer a = { .ok = false }, list = { .ok = false };
        char name[32], type[2];
        size_t n = 0;

        (void) state;
        assert_non_null(at);
        end = strstr(at + 1, "\n.S");
        assert_non_null(end);
        stage_call(&stage, NOBODY, &list, "Advise", "uta{sv}", 1, UINT64_C(0), 1, "no such", "b", 1);
        while ((at = strstr(at, "\n.It ")) && at < end) {
                assert_int_equal(sscanf(at, "\n.It Cm %31s Pq Li %1s", name, type), 2);
                if (type[0] == 's')
                        stage_call(&stage, NOBODY, &a, "Advise", "uta{sv}", 1, UINT64_C(0), 1, name, type,
                                   "");
                else
                        stage_call(&stage, NOBODY, &a, "Advise", "uta{sv}", 1, UINT64_C(0), 1, name, type, 1);
                if (!a.ok || !strstr(list.message, name))
                        fail_msg("%s: %s; of %s", name, a.message, list.message);
                n++;
                at++;
        }
        /* "are nodes, near, reserve, json and thousandths" */
        for (const char *p = list.message; (p = strchr(p, ',')); p++)
                n--;
        assert_int_equal(n, 2);
}

static void scopes_are_as_written(void **state) {
        _hn_cleanup_(hn_freep) char *path = NULL;

        (void) state;
        stage_hear(&stage, "ScopeAdded", CGROUP_WORKER);
        assert_true(hn_bus_scope_path(CGROUP_WORKER, "", &path) >= 0);
        compare(path, HN_BUS_SCOPE);
}

/* Every error and action of the code stands in the page. */
static void errors_and_actions_are_written(void **state) {
        static const char *const words[] = { HN_BUS_NO_SUCH_TASK,
                                             HN_BUS_NO_SUCH_NODE,
                                             HN_BUS_NO_SUCH_CGROUP,
                                             HN_BUS_NO_SUCH_PIN,
                                             HN_BUS_NOTHING_LEFT,
                                             HN_BUS_CONFLICT,
                                             HN_BUS_FULL,
                                             HN_BUS_CANNOT_KEEP,
                                             HN_BUS_BEYOND_CONFIG,
                                             HN_BUS_BAD_CONFIG,
                                             SD_BUS_ERROR_ACCESS_DENIED,
                                             SD_BUS_ERROR_LIMITS_EXCEEDED,
                                             SD_BUS_ERROR_INVALID_ARGS };
        char item[128];

        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(words) + _HN_ACTION_MAX; i++) {
                (void) snprintf(item, sizeof(item), "\n.It Li %s\n",
                                i < HN_ELEMENTS(words)
                                        ? words[i]
                                        : hn_action_to_string((enum hn_action)(i - HN_ELEMENTS(words))));
                if (!strstr(page, item))
                        fail_msg("not in org.homenode1(5): %s", item);
        }
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(the_manager_is_as_written),
                cmocka_unit_test(options_of_advise_are_as_written),
                cmocka_unit_test(scopes_are_as_written),
                cmocka_unit_test(errors_and_actions_are_written),
        };

        return cmocka_run_group_tests(tests, make, destroy);
}
