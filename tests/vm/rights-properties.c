/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "rights.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "members.h"

struct look {
        const char *path, *interface;
        unsigned properties, read, kept; /* all; answered; of which setting was refused as it has to be */
        char first[256];                 /* what was the first to be wrong */
};

static int append_empty(sd_bus_message *m, const char *type) {
        static const uint64_t zero;
        int r = sd_bus_message_open_container(m, 'v', type);

        if (r >= 0 && type[0] == 'a') {
                r = sd_bus_message_open_container(m, 'a', type + 1);
                if (r >= 0)
                        r = sd_bus_message_close_container(m);
        } else if (r >= 0)
                r = type[0] == 's' ? sd_bus_message_append_basic(m, 's', "manage")
                                   : sd_bus_message_append_basic(m, type[0], &zero);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static void look_property(sd_bus *bus, struct look *look, const char *name, const char *type) {
        sd_bus_message *m = NULL, *reply = NULL;
        sd_bus_error e = SD_BUS_ERROR_NULL;
        const char *contents;
        char kind;
        int r;

        look->properties++;
        r = sd_bus_call_method(bus, "org.homenode1", look->path, BUS_PROPERTIES, "Get", &e, &reply, "ss",
                               look->interface, name);
        if (r >= 0 && sd_bus_message_peek_type(reply, &kind, &contents) > 0 && kind == 'v' &&
            strcmp(contents, type) == 0)
                look->read++;
        else if (!look->first[0])
                (void) snprintf(look->first, sizeof(look->first), "Get %s: %s", name,
                                e.message ? e.message : "another type");
        sd_bus_error_free(&e);
        r = sd_bus_message_new_method_call(bus, &m, "org.homenode1", look->path, BUS_PROPERTIES, "Set");
        if (r >= 0)
                r = sd_bus_message_append(m, "ss", look->interface, name);
        if (r >= 0)
                r = append_empty(m, type);
        if (r >= 0)
                r = sd_bus_call(bus, m, 0, &e, NULL);
        if (r < 0 && sd_bus_error_has_name(&e, SD_BUS_ERROR_PROPERTY_READ_ONLY))
                look->kept++;
        else if (!look->first[0])
                (void) snprintf(look->first, sizeof(look->first), "Set %s: %s", name,
                                r >= 0   ? "done"
                                : e.name ? e.name
                                         : strerror(-r));
        sd_bus_error_free(&e);
        (void) sd_bus_message_unref(m);
        (void) sd_bus_message_unref(reply);
}

static void look_properties(sd_bus *bus, void *userdata) {
        struct look *look = userdata;
        struct members *m = members_introspect(bus, look->path, look->interface);

        for (size_t i = 0; m && i < m->n; i++) {
                char name[64], type[64];

                if (strncmp(m->line[i], "property ", 9) != 0)
                        continue;
                (void) members_name(m->line[i], name, sizeof(name));
                look_property(bus, look, name, members_name(strstr(m->line[i], name), type, sizeof(type)));
        }
        free(m);
}

void rights_properties(struct trial *t, const struct rights *s, const char *scope) {
        const struct {
                const char *name, *path, *interface;
        } objects[] = {
                { "manager", "/org/homenode1", "org.homenode1.Manager" },
                { "scope", scope, "org.homenode1.Scope" },
        };
        struct look *look = caller_share(sizeof(*look));

        for (size_t i = 0; look && i < sizeof(objects) / sizeof(objects[0]); i++)
                for (int who = 0; who < BY_MAX; who++) {
                        const struct call all = { "org.homenode1", objects[i].path, BUS_PROPERTIES, "GetAll",
                                                  false };
                        const struct answer *a;
                        char name[64], want[64];
                        int r;

                        *look = (struct look){ .path = objects[i].path, .interface = objects[i].interface };
                        r = caller_run(&s->who[who], 60, look_properties, look);
                        (void) snprintf(name, sizeof(name), "properties_of_%s_by_%s", objects[i].name,
                                        rights_by[who]);
                        trial_check(t, name,
                                    r == 0 && look->properties > 5 && look->read == look->properties &&
                                            look->kept == look->properties,
                                    json_sprintf("%u: %u read, %u not to be set %s", look->properties,
                                                 look->read, look->kept, look->first),
                                    "all read, none set: PropertyReadOnly");
                        a = caller_call(&s->who[who], &all, "s", objects[i].interface);
                        (void) snprintf(name, sizeof(name), "GetAll_of_%s_by_%s", objects[i].name,
                                        rights_by[who]);
                        (void) snprintf(want, sizeof(want), "%u", look->properties);
                        trial_check(t, name, a->ok && strcmp(a->text, want) == 0, answer_tell(a), want);
                }
}
