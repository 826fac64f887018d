/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* org.homenode1.Manager: what can be read of the daemon and asked of it. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/bus-advise.h"
#include "daemon/bus-pin.h"
#include "daemon/bus.h"
#include "daemon/dump.h"
#include "daemon/explain.h"
#include "daemon/manager.h"

/* Properties */

static int get_text(sd_bus *bus, const char *path, const char *interface, const char *property,
                    sd_bus_message *reply, void *userdata, sd_bus_error *e) {
        const struct hn_bus *b = userdata;
        const struct hn_manager *m = b->manager;
        const char *text;

        (void) bus;
        (void) path;
        (void) interface;
        (void) e;
        if (strcmp(property, "Version") == 0)
                text = HN_VERSION;
        else if (strcmp(property, "Mode") == 0)
                text = hn_mode_to_string(hn_manager_mode(m));
        else if (strcmp(property, "AllowedMode") == 0)
                text = hn_mode_to_string(m->allowed);
        else if (strcmp(property, "LogLevel") == 0)
                text = hn_log_level_to_string(m->log.level);
        else if (strcmp(property, "Signal") == 0)
                text = hn_signal_to_string(m->state.signal);
        else
                text = m->snapshot.why_no_signal;
        return hn_bus_append_text(reply, text);
}

static int get_figure(sd_bus *bus, const char *path, const char *interface, const char *property,
                      sd_bus_message *reply, void *userdata, sd_bus_error *e) {
        const struct hn_bus *b = userdata;
        const struct hn_manager *m = b->manager;
        const struct {
                const char *name;
                uint64_t value;
        } figures[] = {
                { "Tasks", m->snapshot.n_tasks },
                { "Scopes", m->state.n_scopes },
                { "Held", hn_news_count_held(m) },
                { "Moves", m->state.moves },
                { "MovesHelped", m->state.helped },
                { "MovesInVain", m->state.in_vain },
                { "PagesMoved", m->state.pages_moved },
                { "Restored", m->state.restored },
                { "Tick", m->state.tick },
                { "IntervalUSec", m->state.interval },
                { "SweepUSec", m->state.sweep_us },
                { "PageRate", m->config.page_rate },
                { "Pins", hn_override_count(m) },
                { "SignalsLeftOut", b->news.left_out },
        };

        (void) bus;
        (void) path;
        (void) interface;
        (void) e;
        for (size_t i = 0; i < HN_ELEMENTS(figures); i++)
                if (strcmp(figures[i].name, property) == 0)
                        return sd_bus_message_append(reply, "t", figures[i].value);
        return -ENOENT;
}

static int get_small_figure(sd_bus *bus, const char *path, const char *interface, const char *property,
                            sd_bus_message *reply, void *userdata, sd_bus_error *e) {
        const struct hn_bus *b = userdata;
        const struct hn_manager *m = b->manager;
        uint32_t v = strcmp(property, "CpuPermille") == 0         ? m->state.cpu_permille
                     : strcmp(property, "CpuBudgetPermille") == 0 ? m->config.cpu_budget_permille
                                                                  : m->state.kernel_balancing;

        (void) bus;
        (void) path;
        (void) interface;
        (void) e;
        return sd_bus_message_append(reply, "u", v);
}

static int get_nodes(sd_bus *bus, const char *path, const char *interface, const char *property,
                     sd_bus_message *reply, void *userdata, sd_bus_error *e) {
        const struct hn_bus *b = userdata;
        const struct hn_topology *topo = &b->manager->topo;
        int r = sd_bus_message_open_container(reply, 'a', "u");

        (void) bus;
        (void) path;
        (void) interface;
        (void) property;
        (void) e;
        for (size_t i = 0; r >= 0 && i < topo->n_nodes; i++)
                r = sd_bus_message_append(reply, "u", (uint32_t) topo->nodes[i].id);
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int get_signals(sd_bus *bus, const char *path, const char *interface, const char *property,
                       sd_bus_message *reply, void *userdata, sd_bus_error *e) {
        const struct hn_bus *b = userdata;
        int r = sd_bus_message_open_container(reply, 'a', "s");

        (void) bus;
        (void) path;
        (void) interface;
        (void) property;
        (void) e;
        for (int s = _HN_SIGNAL_MAX - 1; r >= 0 && s >= 0; s--)
                if (b->news.signals & (1u << s))
                        r = hn_bus_append_text(reply, hn_signal_to_string((enum hn_signal) s));
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

static int get_conflicts(sd_bus *bus, const char *path, const char *interface, const char *property,
                         sd_bus_message *reply, void *userdata, sd_bus_error *e) {
        const struct hn_bus *b = userdata;
        const struct hn_conflicts *c = &b->news.conflicts;
        int r = sd_bus_message_open_container(reply, 'a', "(ss)");

        (void) bus;
        (void) path;
        (void) interface;
        (void) property;
        (void) e;
        for (size_t i = 0; r >= 0 && i < c->n; i++) {
                r = sd_bus_message_open_container(reply, 'r', "ss");
                if (r >= 0)
                        r = hn_bus_append_text(reply, c->items[i].kind);
                if (r >= 0)
                        r = hn_bus_append_text(reply, c->items[i].text);
                if (r >= 0)
                        r = sd_bus_message_close_container(reply);
        }
        return r < 0 ? r : sd_bus_message_close_container(reply);
}

/* Methods that look */

static int method_explain(sd_bus_message *call, void *userdata, sd_bus_error *e) {
        struct hn_bus *b = userdata;
        _hn_cleanup_(hn_freep) char *text = NULL;
        json_t *o = NULL;
        uint32_t tid;
        int r;

        r = sd_bus_message_read(call, "u", &tid);
        if (r < 0)
                return r;
        if (tid == 0 || tid > INT32_MAX)
                return sd_bus_error_setf(e, SD_BUS_ERROR_INVALID_ARGS,
                                         "%" PRIu32 " is no number of a task: give a PID or TID", tid);
        r = hn_explain(b->manager, (pid_t) tid, &o);
        if (r == -ESRCH)
                return sd_bus_error_setf(e, HN_BUS_NO_SUCH_TASK,
                                         "There is no task %" PRIu32 ": look for it with \"homenode ps -T\"",
                                         tid);
        if (r < 0)
                return sd_bus_error_set_errnof(e, r, "Task %" PRIu32 " cannot be looked at: %s", tid,
                                               strerror(-r));
        text = json_dumps(o, JSON_COMPACT);
        json_decref(o);
        return text ? sd_bus_reply_method_return(call, "s", text) : -ENOMEM;
}

static int method_dump(sd_bus_message *call, void *userdata, sd_bus_error *e) {
        struct hn_bus *b = userdata;
        int fd = hn_dump_open(b), r;

        if (fd < 0)
                return sd_bus_error_set_errnof(e, fd, "The state cannot be written down: %s", strerror(-fd));
        r = sd_bus_reply_method_return(call, "h", fd);
        (void) close(fd);
        return r;
}

/* Methods that change something */

static int carry_out_reload(struct hn_manager *m, sd_bus_message *call, void *wish, uid_t uid,
                            sd_bus_error *e) {
        (void) wish;
        hn_log_say(&m->log, LOG_NOTICE, "User %u asks to reload", uid);
        if (hn_manager_reload(m) < 0)
                return sd_bus_error_set(
                        e, HN_BUS_BAD_CONFIG,
                        "The configuration has mistakes, so the settings stay as they were: see "
                        "\"journalctl -u homenoded\" for file and line, mend it, reload again");
        return sd_bus_reply_method_return(call, NULL);
}

static int method_reload(sd_bus_message *call, void *userdata, sd_bus_error *e) {
        struct hn_bus *b = userdata;
        const struct hn_request request = { .action = HN_ACTION_RELOAD, .carry_out = carry_out_reload };

        return hn_access_ask(&b->access, call, &request, e);
}

/* Mode or level: a small number, which needs no memory of its own. */
static void *wish_of(int v) {
        return (void *) (intptr_t) v;
}

static int carry_out_mode(struct hn_manager *m, sd_bus_message *call, void *wish, uid_t uid,
                          sd_bus_error *e) {
        enum hn_mode mode = (enum hn_mode)(intptr_t) wish;
        int r = hn_manager_set_mode(m, mode);

        if (r == -EPERM)
                return sd_bus_error_setf(
                        e, HN_BUS_BEYOND_CONFIG,
                        "Mode %s goes beyond the %s that configuration and command line allow: "
                        "set Mode= in [Daemon], see homenode.conf(5), and reload",
                        hn_mode_to_string(mode), hn_mode_to_string(m->allowed));
        if (r < 0)
                return sd_bus_error_set_errno(e, r);
        hn_log_say(&m->log, LOG_NOTICE, "Mode %s, set by user %u", hn_mode_to_string(mode), uid);
        hn_news_properties(&m->bus);
        return sd_bus_reply_method_return(call, NULL);
}

static int method_set_mode(sd_bus_message *call, void *userdata, sd_bus_error *e) {
        struct hn_bus *b = userdata;
        struct hn_request request = { .action = HN_ACTION_SET_MODE, .carry_out = carry_out_mode };
        const char *name;
        enum hn_mode mode;
        int r;

        r = sd_bus_message_read(call, "s", &name);
        if (r < 0)
                return r;
        mode = hn_mode_from_string(name);
        if (mode == _HN_MODE_INVALID)
                return sd_bus_error_set(e, SD_BUS_ERROR_INVALID_ARGS,
                                        "That is no mode: say observe, advise or manage");
        request.wish = wish_of(mode);
        return hn_access_ask(&b->access, call, &request, e);
}

static int carry_out_level(struct hn_manager *m, sd_bus_message *call, void *wish, uid_t uid,
                           sd_bus_error *e) {
        int level = (int) (intptr_t) wish;

        (void) e;
        m->log.level = HN_MAX(level, LOG_NOTICE);
        hn_log_say(&m->log, LOG_NOTICE, "Log level %s, set by user %u", hn_log_level_to_string(level), uid);
        m->log.level = level;
        hn_news_properties(&m->bus);
        return sd_bus_reply_method_return(call, NULL);
}

static int method_set_log_level(sd_bus_message *call, void *userdata, sd_bus_error *e) {
        struct hn_bus *b = userdata;
        struct hn_request request = { .action = HN_ACTION_SET_MODE, .carry_out = carry_out_level };
        const char *name;
        int level, r;

        r = sd_bus_message_read(call, "s", &name);
        if (r < 0)
                return r;
        level = hn_log_level_from_string(name);
        if (level < 0)
                return sd_bus_error_set(
                        e, SD_BUS_ERROR_INVALID_ARGS,
                        "That is no log level: say emerg, alert, crit, err, warning, notice, info "
                        "or debug");
        request.wish = wish_of(level);
        return hn_access_ask(&b->access, call, &request, e);
}

/* Every method is open to all here: who may change something is asked by hn_access_ask(). */
#define OPEN      SD_BUS_VTABLE_UNPRIVILEGED
#define CHANGES   SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE
#define EACH_TICK 0

static const sd_bus_vtable manager_vtable[] = {
        SD_BUS_VTABLE_START(0),

        SD_BUS_PROPERTY("Version", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Mode", "s", get_text, 0, CHANGES),
        SD_BUS_PROPERTY("AllowedMode", "s", get_text, 0, CHANGES),
        SD_BUS_PROPERTY("LogLevel", "s", get_text, 0, CHANGES),
        SD_BUS_PROPERTY("Nodes", "au", get_nodes, 0, CHANGES),
        SD_BUS_PROPERTY("KernelBalancing", "u", get_small_figure, 0, CHANGES),
        SD_BUS_PROPERTY("Signal", "s", get_text, 0, CHANGES),
        SD_BUS_PROPERTY("SignalsInUse", "as", get_signals, 0, CHANGES),
        SD_BUS_PROPERTY("WhyNoSignal", "s", get_text, 0, CHANGES),
        SD_BUS_PROPERTY("Conflicts", "a(ss)", get_conflicts, 0, CHANGES),
        SD_BUS_PROPERTY("Tasks", "t", get_figure, 0, CHANGES),
        SD_BUS_PROPERTY("Scopes", "t", get_figure, 0, CHANGES),
        SD_BUS_PROPERTY("Held", "t", get_figure, 0, CHANGES),
        SD_BUS_PROPERTY("Moves", "t", get_figure, 0, CHANGES),
        SD_BUS_PROPERTY("MovesHelped", "t", get_figure, 0, CHANGES),
        SD_BUS_PROPERTY("MovesInVain", "t", get_figure, 0, CHANGES),
        SD_BUS_PROPERTY("PagesMoved", "t", get_figure, 0, CHANGES),
        SD_BUS_PROPERTY("Restored", "t", get_figure, 0, CHANGES),
        SD_BUS_PROPERTY("IntervalUSec", "t", get_figure, 0, CHANGES),
        SD_BUS_PROPERTY("CpuPermille", "u", get_small_figure, 0, CHANGES),
        SD_BUS_PROPERTY("CpuBudgetPermille", "u", get_small_figure, 0, CHANGES),
        SD_BUS_PROPERTY("PageRate", "t", get_figure, 0, CHANGES),
        SD_BUS_PROPERTY("Pins", "t", get_figure, 0, CHANGES),
        SD_BUS_PROPERTY("SignalsLeftOut", "t", get_figure, 0, CHANGES),
        SD_BUS_PROPERTY("Tick", "t", get_figure, 0, EACH_TICK),
        SD_BUS_PROPERTY("SweepUSec", "t", get_figure, 0, EACH_TICK),

        SD_BUS_METHOD_WITH_ARGS("Pin",
                                SD_BUS_ARGS("s", kind, "s", target, "s", nodes, "s", cpus, "b", pages, "t",
                                            seconds, "s", why),
                                SD_BUS_RESULT("t", id), hn_bus_method_pin, OPEN),
        SD_BUS_METHOD_WITH_ARGS("Unpin", SD_BUS_ARGS("t", id), SD_BUS_NO_RESULT, hn_bus_method_unpin, OPEN),
        SD_BUS_METHOD_WITH_ARGS("ListPins", SD_BUS_NO_ARGS, SD_BUS_RESULT("a(tsssssbuttsas)", pins),
                                hn_bus_method_list_pins, OPEN),
        SD_BUS_METHOD_WITH_ARGS("Advise", SD_BUS_ARGS("u", cpus, "t", mbytes, "a{sv}", options),
                                SD_BUS_RESULT("s", nodes, "s", why), hn_bus_method_advise, OPEN),
        SD_BUS_METHOD_WITH_ARGS("Explain", SD_BUS_ARGS("u", tid), SD_BUS_RESULT("s", json), method_explain,
                                OPEN),
        SD_BUS_METHOD_WITH_ARGS("Dump", SD_BUS_NO_ARGS, SD_BUS_RESULT("h", json), method_dump, OPEN),
        SD_BUS_METHOD_WITH_ARGS("Reload", SD_BUS_NO_ARGS, SD_BUS_NO_RESULT, method_reload, OPEN),
        SD_BUS_METHOD_WITH_ARGS("SetMode", SD_BUS_ARGS("s", mode), SD_BUS_NO_RESULT, method_set_mode, OPEN),
        SD_BUS_METHOD_WITH_ARGS("SetLogLevel", SD_BUS_ARGS("s", level), SD_BUS_NO_RESULT,
                                method_set_log_level, OPEN),

        SD_BUS_SIGNAL_WITH_ARGS(
                "TaskMoved",
                SD_BUS_ARGS("u", tid, "s", comm, "s", act, "i", from, "i", to, "s", reason, "s", text), 0),
        SD_BUS_SIGNAL_WITH_ARGS("MoveRefused",
                                SD_BUS_ARGS("u", tid, "s", comm, "i", from, "i", to, "s", reason, "s", text),
                                0),
        SD_BUS_SIGNAL_WITH_ARGS("PinAdded", SD_BUS_ARGS("t", id, "u", owner), 0),
        SD_BUS_SIGNAL_WITH_ARGS("PinRemoved", SD_BUS_ARGS("t", id), 0),
        SD_BUS_SIGNAL_WITH_ARGS("ScopeAdded", SD_BUS_ARGS("s", cgroup, "o", path), 0),
        SD_BUS_SIGNAL_WITH_ARGS("ScopeRemoved", SD_BUS_ARGS("s", cgroup, "o", path), 0),
        SD_BUS_VTABLE_END,
};

int hn_bus_add_manager(struct hn_bus *b) {
        int r = sd_bus_add_object_vtable(b->bus, NULL, HN_BUS_PATH, HN_BUS_MANAGER, manager_vtable, b);

        return r < 0 ? r : sd_bus_add_object_manager(b->bus, NULL, HN_BUS_PATH);
}
