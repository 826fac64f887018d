/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/bus-newscope.h"
#include "daemon/bus.h"
#include "daemon/manager.h"
#include "daemon/texthash.h"

/* A share that wobbles is not told each second. */
#define LOCAL_STEP 10

static struct hn_news_scope look(const struct hn_state_scope *sc) {
        const struct hn_scope *scope = sc->settings;
        struct hn_news_scope s = {
                .rule = hn_text_hash_string(sc->rule),
                .note = hn_text_hash_string(sc->note),
                .tasks = sc->tasks,
                .held = sc->managed,
                .mode = sc->mode,
                .signal = sc->signal,
                .local = hn_bus_local_share(sc),
        };

        s.settings = hn_text_hash(HN_TEXT_HASH_BEGIN, &scope->nodes, sizeof(scope->nodes));
        s.settings = hn_text_hash(s.settings, &scope->cpuset, sizeof(scope->cpuset));
        s.settings = hn_text_hash(s.settings, &scope->pages, sizeof(scope->pages));
        return s;
}

static size_t name_differences(const struct hn_news_scope *a, const struct hn_news_scope *b, char **names) {
        size_t n = 0;

        if (a->rule != b->rule)
                names[n++] = (char *) "Rule";
        if (a->note != b->note)
                names[n++] = (char *) "Note";
        if (a->tasks != b->tasks)
                names[n++] = (char *) "Tasks";
        if (a->held != b->held)
                names[n++] = (char *) "Held";
        if (a->mode != b->mode)
                names[n++] = (char *) "Mode";
        if (a->signal != b->signal)
                names[n++] = (char *) "Signal";
        if ((a->local < 0) != (b->local < 0) || abs(a->local - b->local) >= LOCAL_STEP)
                names[n++] = (char *) "LocalShare";
        if (a->settings != b->settings) {
                names[n++] = (char *) "Nodes";
                names[n++] = (char *) "Cpuset";
                names[n++] = (char *) "Pages";
        }
        names[n] = NULL;
        return n;
}

static void tell(struct hn_bus *b, const char *member, const char *cgroup, const char *path) {
        _hn_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        int r = sd_bus_message_new_signal(b->bus, &m, HN_BUS_PATH, HN_BUS_MANAGER, member);

        if (r >= 0)
                r = hn_bus_append_text(m, cgroup);
        if (r >= 0)
                r = sd_bus_message_append(m, "o", path);
        if (r >= 0)
                (void) sd_bus_send(b->bus, m, NULL);
}

static void forget(struct hn_news_scope *s) {
        free(s->path);
        free(s->part);
        s->path = s->part = NULL;
}

static void tell_removed(struct hn_bus *b, const struct hn_news_scope *s) {
        _hn_cleanup_(hn_freep) char *path = NULL;

        if (hn_bus_scope_path(s->path, s->part, &path) < 0)
                return;
        (void) sd_bus_emit_interfaces_removed(b->bus, path, HN_BUS_SCOPE, NULL);
        tell(b, "ScopeRemoved", s->path, path);
}

/* Returns whether it was told: with what was told unknown it is tried again the next time. */
static bool tell_added(struct hn_bus *b, const struct hn_state_scope *sc, struct hn_news_scope *ret) {
        _hn_cleanup_(hn_freep) char *path = NULL, *cgroup = strdup(sc->path);
        _hn_cleanup_(hn_freep) char *part = strdup(hn_state_scope_part(sc));

        if (!cgroup || !part || hn_bus_scope_path(sc->path, part, &path) < 0)
                return false;
        (void) sd_bus_emit_interfaces_added(b->bus, path, HN_BUS_SCOPE, NULL);
        tell(b, "ScopeAdded", sc->path, path);
        *ret = look(sc);
        ret->path = HN_TAKE_PTR(cgroup);
        ret->part = HN_TAKE_PTR(part);
        return true;
}

/* Returns the signals sent. */
static size_t tell_changed(struct hn_bus *b, const struct hn_state_scope *sc, struct hn_news_scope *seen) {
        struct hn_news_scope now = look(sc);
        _hn_cleanup_(hn_freep) char *path = NULL;
        char *names[16];

        if (name_differences(seen, &now, names) == 0)
                return 0;
        if (hn_bus_scope_path(sc->path, hn_state_scope_part(sc), &path) < 0 ||
            sd_bus_emit_properties_changed_strv(b->bus, path, HN_BUS_SCOPE, names) < 0)
                return 1;
        now.path = seen->path;
        now.part = seen->part;
        /* A drift of small steps adds up: the old value stays until it has been told. */
        if ((seen->local < 0) == (now.local < 0) && abs(seen->local - now.local) < LOCAL_STEP)
                now.local = seen->local;
        *seen = now;
        return 1;
}

static int compare(const struct hn_news_scope *seen, const struct hn_state_scope *sc) {
        int r = strcmp(seen->path, sc->path);

        return r != 0 ? r : strcmp(seen->part, hn_state_scope_part(sc));
}

/* Both lists ascend by path and part: one walk over the two. */
void hn_news_scopes(struct hn_bus *b) {
        const struct hn_state *st = &b->manager->state;
        struct hn_news *news = &b->news;
        size_t old = 0, new = 0, n = 0, sent = 0;
        struct hn_news_scope *list;

        list = calloc(news->n_scopes + st->n_scopes + 1, sizeof(*list));
        if (!list)
                return;
        while (old < news->n_scopes || new < st->n_scopes) {
                int order = old == news->n_scopes ? 1
                            : new == st->n_scopes ? -1
                                                  : compare(&news->scopes[old], &st->scopes[new]);

                if (order < 0 && sent < HN_NEWS_SCOPES) {
                        tell_removed(b, &news->scopes[old]);
                        forget(&news->scopes[old++]);
                        sent++;
                } else if (order < 0)
                        list[n++] = news->scopes[old++];
                else if (order > 0) {
                        if (sent++ < HN_NEWS_SCOPES && tell_added(b, &st->scopes[new], &list[n]))
                                n++;
                        new ++;
                } else {
                        if (sent < HN_NEWS_SCOPES)
                                sent += tell_changed(b, &st->scopes[new], &news->scopes[old]);
                        list[n++] = news->scopes[old++];
                        new ++;
                }
        }
        free(news->scopes);
        news->scopes = list;
        news->n_scopes = n;
}

void hn_news_scopes_deinit(struct hn_news *n) {
        for (size_t i = 0; i < n->n_scopes; i++)
                forget(&n->scopes[i]);
        free(n->scopes);
        n->scopes = NULL;
        n->n_scopes = 0;
}
