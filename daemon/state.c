/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "act/writeall.h"
#include "base/escape.h"
#include "base/macro.h"
#include "daemon/jsontext.h"
#include "daemon/overridelist.h"
#include "daemon/state.h"

static const char *const act_names[_HN_STATE_ACT_MAX] = {
        [HN_STATE_PIN] = "pin",       [HN_STATE_RELEASE] = "release",     [HN_STATE_PAGES] = "pages",
        [HN_STATE_REFUSE] = "refuse", [HN_STATE_WOULD_PIN] = "would-pin",
};

const char *hn_state_act_to_string(enum hn_state_act a) {
        return (size_t) a < HN_ELEMENTS(act_names) ? act_names[a] : NULL;
}

const char *hn_state_scope_part(const struct hn_state_scope *scope) {
        return scope->settings && scope->settings->by_process && scope->rule ? scope->rule : "";
}

int hn_state_scope_compare(const void *a, const void *b) {
        const struct hn_state_scope *x = a, *y = b;
        int r = strcmp(x->path, y->path);

        return r != 0 ? r : strcmp(hn_state_scope_part(x), hn_state_scope_part(y));
}

void hn_state_event_add(struct hn_state *s, uint64_t time_usec, enum hn_state_act act, pid_t tid,
                        const char *comm, int from, int to, const char *reason, const char *text) {
        struct hn_state_event *e = &s->last[s->n_events++ % HN_STATE_LAST];

        *e = (struct hn_state_event){
                .time_usec = time_usec,
                .act = act,
                .tid = tid,
                .from = from,
                .to = to,
                .reason = reason,
        };
        memcpy(e->comm, comm, strnlen(comm, sizeof(e->comm)));
        (void) hn_escape_text(text, strlen(text), e->text, sizeof(e->text));
}

const struct hn_state_event *hn_state_last_event(const struct hn_state *s) {
        return &s->last[(s->n_events - 1) % HN_STATE_LAST];
}

void hn_state_refusal_add(struct hn_state *s, const char *reason) {
        for (size_t i = 0; i < s->n_refusals; i++)
                if (strcmp(s->refusals[i].reason, reason) == 0) {
                        s->refusals[i].count++;
                        return;
                }
        if (s->n_refusals == HN_STATE_REFUSALS) {
                /* The last place is for all that found none of its own. */
                s->refusals[HN_STATE_REFUSALS - 1].reason = "other";
                s->refusals[HN_STATE_REFUSALS - 1].count++;
                return;
        }
        s->refusals[s->n_refusals].reason = reason;
        s->refusals[s->n_refusals].count = 1;
        s->n_refusals++;
}

void hn_state_notes_clear(struct hn_state *s) {
        s->n_notes = 0;
}

void hn_state_note_add(struct hn_state *s, const char *text) {
        char *note;

        if (s->n_notes == HN_STATE_NOTES)
                return;
        note = s->notes[s->n_notes];
        (void) hn_escape_text(text, strlen(text), note, HN_STATE_TEXT);
        for (size_t i = 0; i < s->n_notes; i++)
                if (strcmp(s->notes[i], note) == 0)
                        return;
        s->n_notes++;
}

/* json_pack() frees nothing that it did not take over, so the parts are made by calls which do. */
static json_t *format_scope(const struct hn_state_scope *scope) {
        json_t *o = json_object();
        int r = 0;

        r |= json_object_set_new(o, "path", hn_json_text(scope->path));
        r |= json_object_set_new(o, "rule", hn_json_text(scope->rule));
        r |= json_object_set_new(o, "mode", hn_json_text(hn_mode_to_string(scope->mode)));
        r |= json_object_set_new(o, "tasks", hn_json_number(scope->tasks));
        r |= json_object_set_new(o, "managed", hn_json_number(scope->managed));
        r |= json_object_set_new(o, "signal", hn_json_text(hn_signal_to_string(scope->signal)));
        r |= json_object_set_new(o, "note", hn_json_text(scope->note ? scope->note : ""));
        if (r == 0)
                return o;
        json_decref(o);
        return NULL;
}

static json_t *format_event(const struct hn_state_event *e) {
        json_t *o = json_object();
        int r = 0;

        r |= json_object_set_new(o, "time_usec", hn_json_number(e->time_usec));
        r |= json_object_set_new(o, "tid", json_integer(e->tid));
        r |= json_object_set_new(o, "comm", hn_json_text_n(e->comm, sizeof(e->comm)));
        r |= json_object_set_new(o, "act", hn_json_text(hn_state_act_to_string(e->act)));
        r |= json_object_set_new(o, "from", json_integer(e->from));
        r |= json_object_set_new(o, "to", json_integer(e->to));
        r |= json_object_set_new(o, "reason", hn_json_text(e->reason));
        r |= json_object_set_new(o, "text", hn_json_text(e->text));
        if (r == 0)
                return o;
        json_decref(o);
        return NULL;
}

static json_t *format_load(const struct hn_state *s) {
        json_t *a = json_array();
        int r = 0;

        for (size_t i = 0; i < s->n_load; i++) {
                const struct hn_state_node *n = &s->load[i];
                json_t *o = json_object();

                r |= json_object_set_new(o, "node", hn_json_number(n->id));
                r |= json_object_set_new(o, "busy", hn_json_number(n->busy));
                r |= json_object_set_new(o, "others", hn_json_number(n->others));
                r |= json_object_set_new(o, "opted_in", hn_json_number(n->opted_in));
                r |= json_array_append_new(a, o);
        }
        if (r == 0)
                return a;
        json_decref(a);
        return NULL;
}

static json_t *format_scopes(const struct hn_state *s) {
        json_t *a = json_array();
        int r = 0;

        for (size_t i = 0; i < s->n_scopes; i++)
                r |= json_array_append_new(a, format_scope(&s->scopes[i]));
        if (r == 0)
                return a;
        json_decref(a);
        return NULL;
}

static json_t *format_overrides(const struct hn_state *s) {
        json_t *a = json_array();
        int r = 0;

        for (size_t i = 0; s->overrides && i < s->overrides->n; i++)
                r |= json_array_append_new(a, hn_override_to_json(&s->overrides->entries[i].o));
        if (r == 0)
                return a;
        json_decref(a);
        return NULL;
}

/* Oldest first. */
static json_t *format_events(const struct hn_state *s) {
        uint64_t first = s->n_events > HN_STATE_LAST ? s->n_events - HN_STATE_LAST : 0;
        json_t *a = json_array();
        int r = 0;

        for (uint64_t i = first; i < s->n_events; i++)
                r |= json_array_append_new(a, format_event(&s->last[i % HN_STATE_LAST]));
        if (r == 0)
                return a;
        json_decref(a);
        return NULL;
}

static json_t *format_refusals(const struct hn_state *s) {
        json_t *o = json_object();
        int r = 0;

        for (size_t i = 0; i < s->n_refusals; i++)
                r |= json_object_set_new(o, s->refusals[i].reason, hn_json_number(s->refusals[i].count));
        if (r == 0)
                return o;
        json_decref(o);
        return NULL;
}

static json_t *format_notes(const struct hn_state *s) {
        json_t *a = json_array();
        int r = 0;

        for (size_t i = 0; i < s->n_notes; i++)
                r |= json_array_append_new(a, hn_json_text(s->notes[i]));
        if (r == 0)
                return a;
        json_decref(a);
        return NULL;
}

static json_t *format_budget(const struct hn_state *s) {
        json_t *o = json_object();
        int r = 0;

        r |= json_object_set_new(o, "sweep_us", hn_json_number(s->sweep_us));
        r |= json_object_set_new(o, "cpu_permille", hn_json_number(s->cpu_permille));
        if (r == 0)
                return o;
        json_decref(o);
        return NULL;
}

int hn_state_format(const struct hn_state *s, char **ret, size_t *ret_n) {
        json_t *o = json_object();
        char *text = NULL;
        size_t n;
        int r = 0;

        r |= json_object_set_new(o, "version", json_integer(HN_STATE_VERSION));
        r |= json_object_set_new(o, "pid", json_integer(s->pid));
        r |= json_object_set_new(o, "running", json_boolean(s->running));
        r |= json_object_set_new(o, "mode", hn_json_text(hn_mode_to_string(s->mode)));
        r |= json_object_set_new(o, "nodes", hn_json_number(s->n_nodes));
        r |= json_object_set_new(o, "kernel_balancing", hn_json_number(s->kernel_balancing));
        r |= json_object_set_new(o, "tick", hn_json_number(s->tick));
        r |= json_object_set_new(o, "signal", hn_json_text(hn_signal_to_string(s->signal)));
        r |= json_object_set_new(o, "time_usec", hn_json_number(s->time_usec));
        r |= json_object_set_new(o, "interval_usec", hn_json_number(s->interval));
        r |= json_object_set_new(o, "moves", hn_json_number(s->moves));
        r |= json_object_set_new(o, "moves_helped", hn_json_number(s->helped));
        r |= json_object_set_new(o, "moves_in_vain", hn_json_number(s->in_vain));
        r |= json_object_set_new(o, "pages_moved", hn_json_number(s->pages_moved));
        r |= json_object_set_new(o, "restored", hn_json_number(s->restored));
        r |= json_object_set_new(o, "refusals", format_refusals(s));
        r |= json_object_set_new(o, "load", format_load(s));
        r |= json_object_set_new(o, "scopes", format_scopes(s));
        r |= json_object_set_new(o, "overrides", format_overrides(s));
        r |= json_object_set_new(o, "last", format_events(s));
        r |= json_object_set_new(o, "notes", format_notes(s));
        r |= json_object_set_new(o, "budget", format_budget(s));
        if (r == 0)
                text = json_dumps(o, JSON_COMPACT);
        json_decref(o);
        if (!text)
                return -ENOMEM;

        /* A file ends in a newline; the text's own NUL makes the room. */
        n = strlen(text);
        text[n] = '\n';
        *ret = text;
        *ret_n = n + 1;
        return 0;
}

int hn_state_write(const char *run_dir, const struct hn_state *s) {
        _hn_cleanup_(hn_freep) char *text = NULL, *path = NULL, *aside = NULL;
        size_t n;
        int fd, r;

        r = hn_state_format(s, &text, &n);
        if (r < 0)
                return r;
        if (asprintf(&path, "%s/" HN_STATE_FILE, run_dir) < 0) {
                path = NULL;
                return -ENOMEM;
        }
        if (asprintf(&aside, "%s/." HN_STATE_FILE ".XXXXXX", run_dir) < 0) {
                aside = NULL;
                return -ENOMEM;
        }
        fd = mkostemp(aside, O_CLOEXEC);
        if (fd < 0)
                return -errno;
        r = hn_write_all(fd, text, n);
        if (r == 0 && fchmod(fd, 0644) < 0)
                r = -errno;
        if (close(fd) < 0 && r == 0)
                r = -errno;
        if (r == 0 && rename(aside, path) < 0)
                r = -errno;
        if (r < 0)
                (void) unlink(aside);
        return r;
}
