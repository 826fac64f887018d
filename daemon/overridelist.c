/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "daemon/overridelist.h"

static const char *const kind_names[_HN_OVERRIDE_KIND_MAX] = {
        [HN_OVERRIDE_PROCESS] = "process",
        [HN_OVERRIDE_THREAD] = "thread",
        [HN_OVERRIDE_CGROUP] = "cgroup",
};

const char *hn_override_kind_to_string(enum hn_override_kind kind) {
        return kind >= 0 && kind < _HN_OVERRIDE_KIND_MAX ? kind_names[kind] : NULL;
}

enum hn_override_kind hn_override_kind_from_string(const char *s) {
        for (size_t i = 0; i < HN_ELEMENTS(kind_names); i++)
                if (strcmp(s, kind_names[i]) == 0)
                        return (enum hn_override_kind) i;
        return _HN_OVERRIDE_KIND_INVALID;
}

bool hn_override_is_path(const char *path) {
        size_t n = strlen(path);

        if (n == 0 || n >= PATH_MAX)
                return false;
        for (const char *p = path;; p++) {
                size_t k = strcspn(p, "/");

                if (k == 0 || (k == 1 && p[0] == '.') || (k == 2 && p[0] == '.' && p[1] == '.'))
                        return false;
                p += k;
                if (*p == '\0')
                        return true;
        }
}

/* the table */

static void entry_deinit(struct hn_override_entry *e) {
        free(e->o.cgroup);
        free(e->o.why);
        hn_kin_deinit(&e->kin);
}

void hn_override_list_deinit(struct hn_override_list *l) {
        for (size_t i = 0; i < l->n; i++)
                entry_deinit(&l->entries[i]);
        free(l->entries);
        *l = HN_OVERRIDE_LIST_NULL;
}

size_t hn_override_list_find(const struct hn_override_list *l, uint64_t id) {
        for (size_t i = 0; i < l->n; i++)
                if (l->entries[i].o.id == id)
                        return i;
        return SIZE_MAX;
}

void hn_override_list_drop(struct hn_override_list *l, size_t i) {
        entry_deinit(&l->entries[i]);
        l->n--;
        memmove(&l->entries[i], &l->entries[i + 1], (l->n - i) * sizeof(*l->entries));
}

static int entry_make(const struct hn_override *o, hn_usec_t born, struct hn_override_entry *ret) {
        struct hn_override_entry e = { .o = *o, .born = born };
        struct hn_task_key process = { .tid = o->pid, .start = o->start_time };
        int r = 0;

        e.o.why = strdup(o->why ? o->why : "");
        e.o.cgroup = o->kind == HN_OVERRIDE_CGROUP ? strdup(o->cgroup) : NULL;
        if (!e.o.why || (o->kind == HN_OVERRIDE_CGROUP && !e.o.cgroup))
                r = -ENOMEM;
        if (r == 0 && o->kind == HN_OVERRIDE_PROCESS)
                r = hn_kin_add(&e.kin, &process);
        if (r < 0) {
                entry_deinit(&e);
                return r;
        }
        *ret = e;
        return 0;
}

int hn_override_list_put(struct hn_override_list *l, const struct hn_override *o, hn_usec_t born) {
        struct hn_override_entry e;
        size_t i;
        int r;

        if (l->n >= HN_OVERRIDES_MAX && hn_override_list_find(l, o->id) == SIZE_MAX)
                return -ENOSPC;
        r = entry_make(o, born, &e);
        if (r < 0)
                return r;
        i = hn_override_list_find(l, o->id);
        if (i != SIZE_MAX)
                hn_override_list_drop(l, i);
        if (l->n == l->allocated) {
                size_t more = l->allocated ? 2 * l->allocated : 8;
                struct hn_override_entry *bigger = reallocarray(l->entries, more, sizeof(*bigger));

                if (!bigger) {
                        entry_deinit(&e);
                        return -ENOMEM;
                }
                l->entries = bigger;
                l->allocated = more;
        }
        i = l->n;
        while (i > 0 && l->entries[i - 1].o.id > o->id)
                i--;
        memmove(&l->entries[i + 1], &l->entries[i], (l->n - i) * sizeof(*l->entries));
        l->entries[i] = e;
        l->n++;
        l->next_id = HN_MAX(l->next_id, o->id + 1);
        return 0;
}

/* as text */

static json_t *mask_json(const struct hn_mask *mask) {
        char list[HN_MASK_LIST_MAX];

        return hn_mask_print_list(mask, list, sizeof(list)) < 0 ? NULL : json_string(list);
}

json_t *hn_override_to_json(const struct hn_override *o) {
        json_t *j = json_object();
        int r = 0;

        r |= json_object_set_new(j, "id", json_integer((json_int_t) o->id));
        r |= json_object_set_new(j, "kind", json_string(hn_override_kind_to_string(o->kind)));
        if (o->kind == HN_OVERRIDE_CGROUP)
                r |= json_object_set_new(j, "cgroup", json_string(o->cgroup));
        else {
                r |= json_object_set_new(j, "pid", json_integer(o->pid));
                r |= json_object_set_new(j, "start", json_integer((json_int_t) o->start_time));
        }
        r |= json_object_set_new(j, "nodes", mask_json(&o->nodes));
        r |= json_object_set_new(j, "cpus", mask_json(&o->cpus));
        r |= json_object_set_new(j, "pages", json_boolean(o->pages));
        r |= json_object_set_new(j, "owner", json_integer(o->owner));
        r |= json_object_set_new(j, "since", json_integer((json_int_t) o->since));
        r |= json_object_set_new(
                j, "expires", o->expires == UINT64_MAX ? json_null() : json_integer((json_int_t) o->expires));
        r |= json_object_set_new(j, "why", json_string(o->why));
        if (r == 0)
                return j;
        json_decref(j);
        return NULL;
}

/* Takes `object` over. */
static int print_line(json_t *object, const char *boot_id, char **ret) {
        char *text = NULL;

        if (object && json_object_set_new(object, "boot", json_string(boot_id)) == 0)
                text = json_dumps(object, JSON_COMPACT);
        json_decref(object);
        if (!text)
                return -ENOMEM;
        *ret = text;
        return 0;
}

int hn_override_line(const struct hn_override_entry *e, const char *boot_id, char **ret) {
        json_t *o = hn_override_to_json(&e->o);

        if (!o)
                return -ENOMEM;
        if (json_object_set_new(o, "born", json_integer((json_int_t) e->born)) < 0) {
                json_decref(o);
                return -ENOMEM;
        }
        return print_line(o, boot_id, ret);
}

int hn_override_line_over(uint64_t id, const char *boot_id, char **ret) {
        return print_line(json_pack("{s:I}", "over", (json_int_t) id), boot_id, ret);
}

int hn_override_line_next(uint64_t next_id, const char *boot_id, char **ret) {
        return print_line(json_pack("{s:I}", "next", (json_int_t) next_id), boot_id, ret);
}

/* Returns whether there is such a number between the two. */
static bool read_number(const json_t *o, const char *key, json_int_t min, json_int_t max, json_int_t *ret) {
        const json_t *v = json_object_get(o, key);

        if (!json_is_integer(v) || json_integer_value(v) < min || json_integer_value(v) > max)
                return false;
        *ret = json_integer_value(v);
        return true;
}

static bool read_mask(const json_t *o, const char *key, struct hn_mask *ret) {
        const char *text = json_string_value(json_object_get(o, key));

        return text && hn_mask_parse_list(text, strlen(text), ret) == 0;
}

/* The strings stay the object's. */
static bool read_override(const json_t *j, struct hn_override *o, hn_usec_t *ret_born) {
        const char *kind = json_string_value(json_object_get(j, "kind"));
        json_int_t id, number;

        *o = (struct hn_override){ .kind = kind ? hn_override_kind_from_string(kind)
                                                : _HN_OVERRIDE_KIND_INVALID };
        if (o->kind < 0 || !read_number(j, "id", 1, INT64_MAX - 1, &id))
                return false;
        o->id = (uint64_t) id;
        if (o->kind == HN_OVERRIDE_CGROUP) {
                o->cgroup = (char *) json_string_value(json_object_get(j, "cgroup"));
                if (!o->cgroup || !hn_override_is_path(o->cgroup))
                        return false;
        } else {
                if (!read_number(j, "pid", 1, INT32_MAX, &number))
                        return false;
                o->pid = (pid_t) number;
                if (!read_number(j, "start", 0, INT64_MAX, &number))
                        return false;
                o->start_time = (uint64_t) number;
        }
        if (!read_mask(j, "nodes", &o->nodes) || hn_mask_empty(&o->nodes) || !read_mask(j, "cpus", &o->cpus))
                return false;
        if (!json_is_boolean(json_object_get(j, "pages")) ||
            !read_number(j, "owner", 0, UINT32_MAX - 1, &number))
                return false;
        o->pages = json_is_true(json_object_get(j, "pages"));
        o->owner = (uid_t) number;
        if (!read_number(j, "since", 0, INT64_MAX, &number))
                return false;
        o->since = (uint64_t) number;
        o->expires = UINT64_MAX;
        if (!json_is_null(json_object_get(j, "expires"))) {
                if (!read_number(j, "expires", 0, INT64_MAX, &number))
                        return false;
                o->expires = (uint64_t) number;
        }
        if (!read_number(j, "born", 0, INT64_MAX, &number))
                return false;
        *ret_born = (hn_usec_t) number;
        o->why = (char *) json_string_value(json_object_get(j, "why"));
        return o->why && strlen(o->why) <= HN_OVERRIDE_WHY_MAX;
}

enum { _LINE_OK, LINE_PAST, LINE_DAMAGED };

/* Returns what became of the line, or -ENOMEM. */
static int replay_line(struct hn_override_list *l, const json_t *j, const char *boot_id) {
        const char *boot = json_string_value(json_object_get(j, "boot"));
        struct hn_override o;
        json_int_t number;
        hn_usec_t born;
        size_t i;
        int r;

        if (!boot)
                return LINE_DAMAGED;
        if (strcmp(boot, boot_id) != 0)
                return LINE_PAST;
        if (read_number(j, "next", 1, INT64_MAX - 1, &number)) {
                l->next_id = HN_MAX(l->next_id, (uint64_t) number);
                return _LINE_OK;
        }
        if (read_number(j, "over", 1, INT64_MAX - 1, &number)) {
                i = hn_override_list_find(l, (uint64_t) number);
                if (i != SIZE_MAX)
                        hn_override_list_drop(l, i);
                l->next_id = HN_MAX(l->next_id, (uint64_t) number + 1);
                return LINE_PAST;
        }
        if (!read_override(j, &o, &born))
                return LINE_DAMAGED;
        r = hn_override_list_put(l, &o, born);
        return r == -ENOSPC ? LINE_DAMAGED : r;
}

int hn_override_list_replay(struct hn_override_list *l, const char *text, size_t n, const char *boot_id,
                            size_t *ret_damaged, size_t *ret_past) {
        const char *line;
        size_t k;

        *ret_damaged = *ret_past = 0;
        while (hn_next_line(&text, &n, &line, &k)) {
                json_error_t error;
                json_t *j;
                int r;

                if (k == 0)
                        continue;
                j = json_loadb(line, k, JSON_REJECT_DUPLICATES, &error);
                r = json_is_object(j) ? replay_line(l, j, boot_id) : LINE_DAMAGED;
                json_decref(j);
                if (r < 0)
                        return r;
                *ret_damaged += r == LINE_DAMAGED;
                *ret_past += r == LINE_PAST;
        }
        return 0;
}
