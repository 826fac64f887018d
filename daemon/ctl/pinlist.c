/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/macro.h"
#include "base/parse.h"
#include "base/usec.h"
#include "busclient.h"
#include "pinlist.h"

const struct hn_column hn_pin_columns[_HN_PIN_COLUMN_MAX] = {
        [HN_PIN_ID] = { "ID", "number of the override", true, true },
        [HN_PIN_KIND] = { "KIND", "process, thread or cgroup", false, true },
        [HN_PIN_TARGET] = { "TARGET", "which one", false, true },
        [HN_PIN_COMM] = { "COMM", "its name", false, true },
        [HN_PIN_NODES] = { "NODES", "where it was put", false, true },
        [HN_PIN_CPUS] = { "CPUS", "on these of their CPUs only", false, true },
        [HN_PIN_PAGES] = { "PAGES", "whether its memory is brought too", false, true },
        [HN_PIN_OWNER] = { "OWNER", "who ordered it", false, true },
        [HN_PIN_SINCE] = { "SINCE", "when", false, false },
        [HN_PIN_EXPIRES] = { "EXPIRES", "when it ends", false, true },
        [HN_PIN_WHY] = { "WHY", "what its owner said", false, true },
};

void hn_pin_list_deinit(struct hn_pin_list *l) {
        for (size_t i = 0; i < l->n; i++) {
                struct hn_pin *p = &l->pins[i];
                char *const texts[] = { p->kind, p->target, p->nodes, p->cpus, p->comm, p->why };

                for (size_t k = 0; k < HN_ELEMENTS(texts); k++)
                        free(texts[k]);
        }
        free(l->pins);
        *l = HN_PIN_LIST_NULL;
}

/* One of them, entered already. */
static int read_pin(sd_bus_message *m, struct hn_pin_list *l) {
        const char *kind, *target, *nodes, *cpus, *comm, *why;
        struct hn_pin p = { .id = 0 }, *bigger;
        int r, pages;

        r = sd_bus_message_read(m, "tsssssbutts", &p.id, &kind, &target, &nodes, &cpus, &comm, &pages,
                                &p.owner, &p.since, &p.expires, &why);
        /* What later versions have to say. */
        if (r >= 0)
                r = sd_bus_message_skip(m, "as");
        if (r < 0)
                return r;
        bigger = reallocarray(l->pins, l->n + 1, sizeof(*bigger));
        if (!bigger)
                return -ENOMEM;
        l->pins = bigger;
        p.pages = pages;
        p.kind = strdup(kind);
        p.target = strdup(target);
        p.nodes = strdup(nodes);
        p.cpus = strdup(cpus);
        p.comm = strdup(comm);
        p.why = strdup(why);
        l->pins[l->n++] = p;
        return p.kind && p.target && p.nodes && p.cpus && p.comm && p.why ? 0 : -ENOMEM;
}

static int read_pins(sd_bus_message *m, struct hn_pin_list *l) {
        int r = sd_bus_message_enter_container(m, 'a', "(tsssssbuttsas)");

        while (r >= 0 && (r = sd_bus_message_enter_container(m, 'r', "tsssssbuttsas")) > 0) {
                r = read_pin(m, l);
                if (r >= 0)
                        r = sd_bus_message_exit_container(m);
        }
        return HN_MIN(r, 0);
}

int hn_pin_list_read(sd_bus *bus, struct hn_pin_list *ret, sd_bus_error *error) {
        struct hn_pin_list l = HN_PIN_LIST_NULL;
        sd_bus_message *reply = NULL;
        int r = hn_busclient_call(bus, HN_BUSCLIENT_LOOK, error, &reply, "ListPins", "");

        if (r >= 0)
                r = read_pins(reply, &l);
        sd_bus_message_unref(reply);
        if (r < 0) {
                hn_pin_list_deinit(&l);
                return r;
        }
        *ret = l;
        return 0;
}

const char *hn_pin_time(uint64_t usec, const char *never, char *buf, size_t size) {
        time_t seconds = (time_t) (usec / HN_USEC_PER_SEC);
        struct tm tm;

        if (usec == UINT64_MAX || !localtime_r(&seconds, &tm) ||
            strftime(buf, size, "%Y-%m-%d %H:%M:%S", &tm) == 0)
                (void) snprintf(buf, size, "%s", never);
        return buf;
}

/* JSON has microseconds, null for never. */
static void set_time(struct hn_table *t, size_t column, uint64_t usec) {
        char text[32];

        if (usec != UINT64_MAX)
                hn_table_set(t, column, json_integer((json_int_t) usec), "%s",
                             hn_pin_time(usec, "-", text, sizeof(text)));
}

static void set_some(struct hn_table *t, size_t column, const char *text) {
        if (text[0] != '\0')
                hn_table_set_text(t, column, text);
}

static void set_owner(struct hn_table *t, uint32_t uid) {
        struct passwd user, *found = NULL;
        char buf[4096];

        if (getpwuid_r(uid, &user, buf, sizeof(buf), &found) == 0 && found)
                hn_table_set(t, HN_PIN_OWNER, json_integer(uid), "%s", user.pw_name);
        else
                hn_table_set(t, HN_PIN_OWNER, json_integer(uid), "%" PRIu32, uid);
}

void hn_pin_add_rows(struct hn_table *t, const struct hn_pin_list *l) {
        for (size_t i = 0; i < l->n; i++) {
                const struct hn_pin *p = &l->pins[i];

                hn_table_add_row(t);
                hn_table_set(t, HN_PIN_ID, json_integer((json_int_t) p->id), "%" PRIu64, p->id);
                hn_table_set_text(t, HN_PIN_KIND, p->kind);
                hn_table_set_text(t, HN_PIN_TARGET, p->target);
                set_some(t, HN_PIN_COMM, p->comm);
                hn_table_set_text(t, HN_PIN_NODES, p->nodes);
                set_some(t, HN_PIN_CPUS, p->cpus);
                hn_table_set(t, HN_PIN_PAGES, json_boolean(p->pages), "%s", p->pages ? "yes" : "no");
                set_owner(t, p->owner);
                set_time(t, HN_PIN_SINCE, p->since);
                set_time(t, HN_PIN_EXPIRES, p->expires);
                set_some(t, HN_PIN_WHY, p->why);
        }
}

const struct hn_pin *hn_pin_list_choose(const struct hn_pin_list *l, uint64_t number, bool *ret_two) {
        const struct hn_pin *task = NULL, *id = NULL;

        *ret_two = false;
        for (size_t i = 0; i < l->n; i++) {
                const struct hn_pin *p = &l->pins[i];
                uint64_t n;

                if (p->id == number)
                        id = p;
                if (strcmp(p->kind, "cgroup") != 0 && hn_parse_u64(p->target, strlen(p->target), &n) == 0 &&
                    n == number)
                        task = p;
        }
        if (task && id && task != id) {
                *ret_two = true;
                return NULL;
        }
        return task ? task : id;
}
