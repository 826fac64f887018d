/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/escape.h"
#include "table.h"
#include "verb.h"

#define CHOSEN_MAX 64u

struct cell {
        char *text;
        json_t *value;
        enum hn_heat heat;
};

struct hn_table {
        const struct hn_column *columns;
        size_t n_columns;
        size_t chosen[CHOSEN_MAX], n_chosen;
        struct cell *cells; /* n_rows x n_columns */
        size_t n_rows, n_allocated;
        bool broken; /* out of memory at some point */
};

bool hn_table_option(struct hn_table_options *options, int letter, char *argument) {
        switch (letter) {
        case 'J': options->json = true; return true;
        case 'n': options->noheadings = true; return true;
        case 'o': options->columns = argument; return true;
        case 'r': options->raw = true; return true;
        default: return false;
        }
}

void hn_table_help(const struct hn_column *columns, size_t n_columns, FILE *f) {
        fputs("  -o, --output COL,...   these columns; +COL,... behind the usual ones\n"
              "  -n, --noheadings       no line of headings\n"
              "  -r, --raw              for scripts: one space between columns\n"
              "  -J, --json             JSON, with exact numbers\n",
              f);
        fputs("\nColumns (* usual):\n", f);
        for (size_t i = 0; i < n_columns; i++)
                fprintf(f, " %c %-12s %s\n", columns[i].shown ? '*' : ' ', columns[i].name, columns[i].help);
}

struct hn_table *hn_table_new(const struct hn_column *columns, size_t n_columns) {
        struct hn_table *t = calloc(1, sizeof(*t));

        if (!t)
                return NULL;
        t->columns = columns;
        t->n_columns = n_columns;
        for (size_t i = 0; i < n_columns && t->n_chosen < CHOSEN_MAX; i++)
                if (columns[i].shown)
                        t->chosen[t->n_chosen++] = i;
        return t;
}

struct hn_table *hn_table_free(struct hn_table *t) {
        if (!t)
                return NULL;
        for (size_t i = 0; i < t->n_rows * t->n_columns; i++) {
                free(t->cells[i].text);
                json_decref(t->cells[i].value);
        }
        free(t->cells);
        free(t);
        return NULL;
}

static size_t find_column(const struct hn_table *t, const char *name, size_t n) {
        for (size_t i = 0; i < t->n_columns; i++)
                if (strlen(t->columns[i].name) == n && strncasecmp(t->columns[i].name, name, n) == 0)
                        return i;
        return SIZE_MAX;
}

int hn_table_select(struct hn_table *t, const char *choice, const char **ret_unknown) {
        size_t chosen[CHOSEN_MAX], n_chosen = 0;

        if (!choice)
                return 0;
        if (*choice == '+') {
                choice++;
                n_chosen = t->n_chosen;
                memcpy(chosen, t->chosen, n_chosen * sizeof(*chosen));
        }
        for (const char *name = choice;; name++) {
                size_t n = strcspn(name, ","), column = find_column(t, name, n);

                if (column == SIZE_MAX || n_chosen == CHOSEN_MAX) {
                        *ret_unknown = name;
                        return -EINVAL;
                }
                chosen[n_chosen++] = column;
                name += n;
                if (*name == '\0')
                        break;
        }
        memcpy(t->chosen, chosen, n_chosen * sizeof(*chosen));
        t->n_chosen = n_chosen;
        return 0;
}

int hn_table_choose(struct hn_table *t, const struct hn_table_options *options, const char *verb) {
        const char *unknown;
        char names[512] = "";
        size_t used = 0;
        int r;

        r = t ? hn_table_select(t, options->columns, &unknown) : -ENOMEM;
        if (r == -ENOMEM)
                return hn_complain_errno(r, "cannot make a table");
        if (r == 0)
                return 0;
        for (size_t i = 0; i < t->n_columns && used < sizeof(names); i++)
                used += (size_t) snprintf(names + used, sizeof(names) - used, "%s%s", i > 0 ? ", " : "",
                                          t->columns[i].name);
        hn_complain("there is no column \"%.*s\"; there are %s", (int) strcspn(unknown, ","), unknown, names);
        return hn_complain_usage(verb);
}

bool hn_table_has(const struct hn_table *t, size_t column) {
        for (size_t i = 0; i < t->n_chosen; i++)
                if (t->chosen[i] == column)
                        return true;
        return false;
}

void hn_table_add_row(struct hn_table *t) {
        if (t->broken)
                return;
        if (t->n_rows == t->n_allocated) {
                size_t more = t->n_allocated ? 2 * t->n_allocated : 16;
                struct cell *cells = reallocarray(t->cells, more * t->n_columns, sizeof(*cells));

                if (!cells) {
                        t->broken = true;
                        return;
                }
                t->cells = cells;
                t->n_allocated = more;
        }
        memset(t->cells + t->n_rows * t->n_columns, 0, t->n_columns * sizeof(*t->cells));
        t->n_rows++;
}

/* The cell of the last row, or NULL in a broken table. */
static struct cell *last_row(const struct hn_table *t, size_t column) {
        return t->broken || t->n_rows == 0 || column >= t->n_columns
                       ? NULL
                       : &t->cells[(t->n_rows - 1) * t->n_columns + column];
}

void hn_table_set(struct hn_table *t, size_t column, json_t *value, const char *fmt, ...) {
        struct cell *cell = last_row(t, column);
        char *raw = NULL, *text;
        size_t size;
        va_list ap;
        int n;

        if (!cell) {
                json_decref(value);
                return;
        }
        va_start(ap, fmt);
        n = vasprintf(&raw, fmt, ap);
        va_end(ap);
        size = n < 0 ? 0 : HN_ESCAPE_SIZE((size_t) n);
        text = size > 0 ? malloc(size) : NULL;
        if (!text) {
                t->broken = true;
                json_decref(value);
                if (n >= 0)
                        free(raw);
                return;
        }
        (void) hn_escape_text(raw, (size_t) n, text, size);
        free(raw);
        free(cell->text);
        json_decref(cell->value);
        cell->text = text;
        cell->value = value;
}

void hn_table_set_text(struct hn_table *t, size_t column, const char *text) {
        struct cell *cell;

        hn_table_set(t, column, NULL, "%s", text);
        cell = last_row(t, column);
        if (!cell)
                return;
        cell->value = json_string(cell->text); /* escaped by now, hence valid UTF-8 */
        if (!cell->value)
                t->broken = true;
}

void hn_table_heat(struct hn_table *t, size_t column, enum hn_heat heat) {
        struct cell *cell = last_row(t, column);

        if (cell)
                cell->heat = heat;
}

static const char *shown_text(const struct cell *cell) {
        return cell->text && *cell->text ? cell->text : "-";
}

/* Characters, not bytes. */
static size_t width_of(const char *text) {
        size_t n = 0;

        for (; *text; text++)
                n += ((unsigned char) *text & 0xc0) != 0x80;
        return n;
}

static void print_raw(const char *text, FILE *f) {
        for (; *text; text++) {
                if (*text == ' ')
                        fputs("\\x20", f);
                else
                        fputc(*text, f);
        }
}

static void pad(size_t n, FILE *f) {
        while (n-- > 0)
                fputc(' ', f);
}

/* One cell at its place; nothing is padded behind the last one of a line. */
static void print_cell(const struct hn_column *column, const char *text, size_t width, bool last,
                       enum hn_heat heat, bool colour, FILE *f) {
        size_t blanks = width - width_of(text);

        if (column->right)
                pad(blanks, f);
        fputs(hn_heat_on(heat, colour), f);
        fputs(text, f);
        fputs(hn_heat_off(heat, colour), f);
        if (!last) {
                if (!column->right)
                        pad(blanks, f);
                pad(2, f);
        }
}

static void print_aligned(const struct hn_table *t, FILE *f, bool headings) {
        bool colour = hn_may_colour(f);
        size_t width[CHOSEN_MAX];

        for (size_t k = 0; k < t->n_chosen; k++) {
                width[k] = headings ? width_of(t->columns[t->chosen[k]].name) : 0;
                for (size_t row = 0; row < t->n_rows; row++) {
                        size_t w = width_of(shown_text(&t->cells[row * t->n_columns + t->chosen[k]]));

                        width[k] = HN_MAX(width[k], w);
                }
        }
        for (size_t k = 0; headings && k < t->n_chosen; k++) {
                const struct hn_column *column = &t->columns[t->chosen[k]];

                print_cell(column, column->name, width[k], k + 1 == t->n_chosen, HN_HEAT_NONE, colour, f);
        }
        if (headings)
                fputc('\n', f);
        for (size_t row = 0; row < t->n_rows; row++) {
                for (size_t k = 0; k < t->n_chosen; k++) {
                        const struct cell *cell = &t->cells[row * t->n_columns + t->chosen[k]];

                        print_cell(&t->columns[t->chosen[k]], shown_text(cell), width[k],
                                   k + 1 == t->n_chosen, cell->heat, colour, f);
                }
                fputc('\n', f);
        }
}

int hn_table_print(const struct hn_table *t, FILE *f, const struct hn_table_options *options) {
        if (t->broken)
                return -ENOMEM;
        if (!options->raw) {
                print_aligned(t, f, !options->noheadings);
                return 0;
        }
        for (size_t k = 0; !options->noheadings && k < t->n_chosen; k++)
                fprintf(f, "%s%c", t->columns[t->chosen[k]].name, k + 1 == t->n_chosen ? '\n' : ' ');
        for (size_t row = 0; row < t->n_rows; row++)
                for (size_t k = 0; k < t->n_chosen; k++) {
                        print_raw(shown_text(&t->cells[row * t->n_columns + t->chosen[k]]), f);
                        fputc(k + 1 == t->n_chosen ? '\n' : ' ', f);
                }
        return 0;
}

/* "LOCAL%" is "local", "HOME-NODE" is "home_node". */
static void make_key(const char *name, char *buf, size_t size) {
        size_t n = 0;

        for (; *name && n + 1 < size; name++)
                if (*name != '%')
                        buf[n++] = *name == '-'                   ? '_'
                                   : *name >= 'A' && *name <= 'Z' ? (char) (*name + 32)
                                                                  : *name;
        buf[n] = '\0';
}

int hn_table_to_json(const struct hn_table *t, json_t **ret) {
        json_t *rows = json_array();

        if (t->broken || !rows)
                goto fail;
        for (size_t row = 0; row < t->n_rows; row++) {
                json_t *object = json_object();

                if (json_array_append_new(rows, object) < 0)
                        goto fail;
                for (size_t k = 0; k < t->n_chosen; k++) {
                        json_t *value = t->cells[row * t->n_columns + t->chosen[k]].value;
                        char key[64];

                        make_key(t->columns[t->chosen[k]].name, key, sizeof(key));
                        if (json_object_set_new(object, key, value ? json_incref(value) : json_null()) < 0)
                                goto fail;
                }
        }
        *ret = rows;
        return 0;

fail:
        json_decref(rows);
        return -ENOMEM;
}

int hn_json_print(const json_t *object, FILE *f) {
        if (!object || json_dumpf(object, f, JSON_INDENT(2) | JSON_REAL_PRECISION(6)) < 0)
                return -ENOMEM;
        fputc('\n', f);
        return 0;
}

char *hn_text_escape(const char *text) {
        size_t n = text ? strlen(text) : 0;
        char *buf = text ? malloc(HN_ESCAPE_SIZE(n)) : NULL;

        if (buf)
                (void) hn_escape_text(text, n, buf, HN_ESCAPE_SIZE(n));
        return buf;
}

json_t *hn_json_text(const char *text) {
        _hn_cleanup_(hn_freep) char *escaped = hn_text_escape(text);

        return escaped ? json_string(escaped) : NULL;
}
