/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/overridestore.h"

/* HN_OVERRIDES_MAX of them with masks full of holes. */
#define FILE_LIMIT ((size_t) 64 << 20)

/* Lines that may be past before the file is written anew. */
#define GARBAGE_MIN 256u

void hn_override_store_deinit(struct hn_override_store *s) {
        hn_appendfile_close(&s->file);
        *s = HN_OVERRIDE_STORE_NULL;
}

/* Takes `line` over. */
static void print(FILE *f, char *line) {
        (void) fprintf(f, "%s\n", line);
        free(line);
}

/* Without what is past. A full disk is no reason to stop: the long file says the same as the short one. */
static int rewrite(struct hn_override_store *s, const struct hn_override_list *list) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        char *line;
        size_t size = 0;
        FILE *f = open_memstream(&text, &size);
        int r;

        if (!f)
                return -ENOMEM;
        r = hn_override_line_next(list->next_id, s->boot_id, &line);
        if (r == 0)
                print(f, line);
        for (size_t i = 0; r == 0 && i < list->n; i++) {
                r = hn_override_line(&list->entries[i], s->boot_id, &line);
                if (r == 0)
                        print(f, line);
        }
        if (fclose(f) != 0 && r == 0)
                r = -ENOMEM;
        if (r == 0)
                r = hn_appendfile_replace(&s->file, text, size);
        if (r == 0)
                s->n_lines = list->n + 1;
        return r;
}

int hn_override_store_init(struct hn_override_store *s, struct hn_appendfile *file, const char *boot_id,
                           struct hn_override_list *list, size_t *ret_damaged) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        size_t n, past = 0;
        int r;

        *s = (struct hn_override_store){ .file = *file };
        *file = HN_APPENDFILE_NULL;
        (void) snprintf(s->boot_id, sizeof(s->boot_id), "%s", boot_id);
        r = hn_appendfile_read(&s->file, FILE_LIMIT, &text, &n);
        if (r == 0)
                r = hn_override_list_replay(list, text, n, boot_id, ret_damaged, &past);
        if (r < 0) {
                hn_override_store_deinit(s);
                return r;
        }
        s->n_lines = list->n + past + *ret_damaged;
        if (past + *ret_damaged > 0)
                (void) rewrite(s, list);
        return 0;
}

/* Takes `line`, on the heap and without its newline, over. */
static int append(struct hn_override_store *s, char *line) {
        size_t n = strlen(line);
        int r;

        /* Its own NUL makes the room. */
        line[n] = '\n';
        r = hn_appendfile_append(&s->file, line, n + 1);
        free(line);
        s->n_lines += r == 0;
        return r;
}

int hn_override_store_add(struct hn_override_store *s, const struct hn_override_entry *e) {
        char *line;
        int r = hn_override_line(e, s->boot_id, &line);

        return r < 0 ? r : append(s, line);
}

int hn_override_store_over(struct hn_override_store *s, const struct hn_override_list *list, uint64_t id) {
        char *line;
        int r;

        if (s->n_lines > GARBAGE_MIN && s->n_lines > 4 * list->n && rewrite(s, list) == 0)
                return 0;
        r = hn_override_line_over(id, s->boot_id, &line);
        return r < 0 ? r : append(s, line);
}
