/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* org.homenode1.Scope: an object for each opted-in cgroup that has tasks, or for each rule that has a part of
 * one. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/bus.h"
#include "daemon/manager.h"

int hn_bus_scope_path(const char *cgroup, const char *part, char **ret) {
        return *part ? sd_bus_path_encode_many(ret, HN_BUS_SCOPE_PATH "/%/%", cgroup, part)
                     : sd_bus_path_encode(HN_BUS_SCOPE_PATH, cgroup, ret);
}

int hn_bus_local_share(const struct hn_state_scope *scope) {
        if (scope->known == 0)
                return -1;
        /* In doubles: counters of a large host times a thousand may be more than 64 bits hold. */
        return (int) ((double) scope->local / (double) scope->known * 1000);
}

static int get_text(sd_bus *bus, const char *path, const char *interface, const char *property,
                    sd_bus_message *reply, void *userdata, sd_bus_error *e) {
        const struct hn_state_scope *sc = userdata;
        const char *text = strcmp(property, "Cgroup") == 0   ? sc->path
                           : strcmp(property, "Rule") == 0   ? sc->rule
                           : strcmp(property, "Mode") == 0   ? hn_mode_to_string(sc->mode)
                           : strcmp(property, "Signal") == 0 ? hn_signal_to_string(sc->signal)
                                                             : sc->note;

        (void) bus;
        (void) path;
        (void) interface;
        (void) e;
        return hn_bus_append_text(reply, text);
}

static int get_count(sd_bus *bus, const char *path, const char *interface, const char *property,
                     sd_bus_message *reply, void *userdata, sd_bus_error *e) {
        const struct hn_state_scope *sc = userdata;

        (void) bus;
        (void) path;
        (void) interface;
        (void) e;
        return sd_bus_message_append(reply, "t",
                                     (uint64_t) (strcmp(property, "Tasks") == 0 ? sc->tasks : sc->managed));
}

static int get_local(sd_bus *bus, const char *path, const char *interface, const char *property,
                     sd_bus_message *reply, void *userdata, sd_bus_error *e) {
        (void) bus;
        (void) path;
        (void) interface;
        (void) property;
        (void) e;
        return sd_bus_message_append(reply, "i", hn_bus_local_share(userdata));
}

static int get_settings(sd_bus *bus, const char *path, const char *interface, const char *property,
                        sd_bus_message *reply, void *userdata, sd_bus_error *e) {
        const struct hn_scope *scope = ((const struct hn_state_scope *) userdata)->settings;
        char list[HN_MASK_LIST_MAX];

        (void) bus;
        (void) path;
        (void) interface;
        (void) e;
        if (strcmp(property, "Pages") == 0)
                return sd_bus_message_append(reply, "b", (int) scope->pages);
        if (hn_mask_print_list(strcmp(property, "Nodes") == 0 ? &scope->nodes : &scope->cpuset, list,
                               sizeof(list)) < 0)
                list[0] = '\0';
        return sd_bus_message_append(reply, "s", list);
}

static const sd_bus_vtable scope_vtable[] = {
        SD_BUS_VTABLE_START(0),
        SD_BUS_PROPERTY("Cgroup", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_CONST),
        SD_BUS_PROPERTY("Rule", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Mode", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Tasks", "t", get_count, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Held", "t", get_count, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Signal", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("LocalShare", "i", get_local, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Note", "s", get_text, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Nodes", "s", get_settings, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Cpuset", "s", get_settings, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_PROPERTY("Pages", "b", get_settings, 0, SD_BUS_VTABLE_PROPERTY_EMITS_CHANGE),
        SD_BUS_VTABLE_END,
};

/* What an object's path says: the caller frees both. */
struct name {
        char *cgroup, *part;
};

static void name_deinit(struct name *n) {
        free(n->cgroup);
        free(n->part);
}

static int by_name(const void *a, const void *b) {
        const struct name *n = a;
        const struct hn_state_scope *sc = b;
        int r = strcmp(n->cgroup, sc->path);

        return r != 0 ? r : strcmp(n->part ? n->part : "", hn_state_scope_part(sc));
}

/* The path is the caller's: only what stands in our list is found. */
static int find(sd_bus *bus, const char *path, const char *interface, void *userdata, void **ret_found,
                sd_bus_error *e) {
        struct hn_bus *b = userdata;
        const struct hn_state *s = &b->manager->state;
        _hn_cleanup_(name_deinit) struct name name = { .cgroup = NULL };
        int r = sd_bus_path_decode_many(path, HN_BUS_SCOPE_PATH "/%/%", &name.cgroup, &name.part);

        if (r == 0)
                r = sd_bus_path_decode_many(path, HN_BUS_SCOPE_PATH "/%", &name.cgroup);
        else if (r > 0 && name.part[0] == '\0')
                r = 0; /* another spelling of the whole cgroup */

        (void) bus;
        (void) interface;
        (void) e;
        if (r <= 0 || s->n_scopes == 0)
                return HN_MIN(r, 0);
        *ret_found = bsearch(&name, s->scopes, s->n_scopes, sizeof(*s->scopes), by_name);
        return *ret_found != NULL;
}

static int enumerate(sd_bus *bus, const char *prefix, void *userdata, char ***ret_nodes, sd_bus_error *e) {
        struct hn_bus *b = userdata;
        const struct hn_state *s = &b->manager->state;
        char **nodes = calloc(s->n_scopes + 1, sizeof(*nodes));
        int r = nodes ? 0 : -ENOMEM;

        (void) bus;
        (void) prefix;
        (void) e;
        for (size_t i = 0; r >= 0 && i < s->n_scopes; i++)
                r = hn_bus_scope_path(s->scopes[i].path, hn_state_scope_part(&s->scopes[i]), &nodes[i]);
        if (r < 0) {
                for (size_t i = 0; nodes && nodes[i]; i++)
                        free(nodes[i]);
                free(nodes);
                return r;
        }
        *ret_nodes = nodes;
        return 0;
}

int hn_bus_add_scopes(struct hn_bus *b) {
        int r = sd_bus_add_fallback_vtable(b->bus, NULL, HN_BUS_SCOPE_PATH, HN_BUS_SCOPE, scope_vtable, find,
                                           b);

        return r < 0 ? r : sd_bus_add_node_enumerator(b->bus, NULL, HN_BUS_SCOPE_PATH, enumerate, b);
}
