/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/macro.h"
#include "term.h"

/* Tables as util-linux prints them: columns by name, aligned for people, raw for scripts, or JSON.
 *
 *      struct hn_table *t = hn_table_new(columns, HN_ELEMENTS(columns));
 *      hn_table_select(t, options.columns, &unknown)
 *      for each thing:
 *              hn_table_add_row(t)
 *              hn_table_set(t, COLUMN_PID, json_integer(pid), "%d", pid)
 *      hn_table_print(t, stdout, &options)
 *
 * A table remembers that it ran out of memory, so that only the last call, hn_table_print() or
 * hn_table_to_json(), needs to be asked. */
struct hn_column {
        const char *name; /* "NODE"; in JSON lower-case, with "_" for "-" and without "%" */
        const char *help; /* for --help, without a full stop */
        bool right;       /* align to the right, as numbers are */
        bool shown;       /* shown where nobody chose */
};

/* What -o, -J, -n and -r say; zero is the default of all. */
struct hn_table_options {
        const char
                *columns; /* -o: "A,B" for these, "+A,B" for the usual ones and these, NULL for the usual */
        bool json;        /* -J */
        bool noheadings;  /* -n */
        bool raw;         /* -r: one space between cells, blanks inside a cell as \x20 */
};

/* For optstrings and tables of long options of verbs with a table. */
#define HN_TABLE_OPTSTRING "Jno:r"
/* clang-format off */
#define HN_TABLE_LONG_OPTIONS                                \
        { "json", no_argument, NULL, 'J' },                  \
        { "noheadings", no_argument, NULL, 'n' },            \
        { "output", required_argument, NULL, 'o' },          \
        { "raw", no_argument, NULL, 'r' }
/* clang-format on */

/* Takes one of these options. Returns false for a letter that is none of them. */
bool hn_table_option(struct hn_table_options *options, int letter, char *argument);

/* Their lines and those of the columns, for --help. */
void hn_table_help(const struct hn_column *columns, size_t n_columns, FILE *f);

struct hn_table;

/* `columns` must outlive the table. NULL without memory. */
struct hn_table *hn_table_new(const struct hn_column *columns, size_t n_columns);
struct hn_table *hn_table_free(struct hn_table *t);
HN_DEFINE_CLEANUP(struct hn_table *, hn_table_free);

/* Chooses columns, NULL for the usual ones. Names in any case. Returns 0, -ENOMEM, or -EINVAL for a name that
 * is unknown, an empty one, or a choice of more than 64 columns: `*ret_unknown` then points to it inside
 * `choice`. */
int hn_table_select(struct hn_table *t, const char *choice, const char **ret_unknown);

/* The same by the options of `verb`, for a table that may be NULL. Returns 0 or the exit code for what went
 * wrong, which has been said: with the names that there are. */
int hn_table_choose(struct hn_table *t, const struct hn_table_options *options, const char *verb);

/* Whether a column is among those chosen: some cost time to fill. */
bool hn_table_has(const struct hn_table *t, size_t column);

/* Later cells belong to the new row. */
void hn_table_add_row(struct hn_table *t);

/* A cell: what people read and what JSON holds. The table takes over `value` (NULL is JSON's null, as for a
 * cell that is never set, which shows as "-"). Control characters and invalid UTF-8 in the text are shown as
 * \xNN, so a task may be called what it likes. */
void hn_table_set(struct hn_table *t, size_t column, json_t *value, const char *fmt, ...) _hn_printf_(4, 5);

/* The same text for both. */
void hn_table_set_text(struct hn_table *t, size_t column, const char *text);

void hn_table_heat(struct hn_table *t, size_t column, enum hn_heat heat);

/* Prints heading and rows. Returns 0, or -ENOMEM if the table lacks something. */
int hn_table_print(const struct hn_table *t, FILE *f, const struct hn_table_options *options);

/* The rows as an array of objects, to be put under a name of the verb's choice. Returns 0 or -ENOMEM; the
 * caller decrefs. */
int hn_table_to_json(const struct hn_table *t, json_t **ret);

/* Dumps an object as -J does it, with a newline. Returns 0, or -ENOMEM. */
int hn_json_print(const json_t *object, FILE *f);

/* A text of anybody's choosing as a JSON string, escaped as in hn_table_set(); NULL without memory. */
json_t *hn_json_text(const char *text);

/* The same as a C string, which the caller frees. NULL for NULL, and without memory. */
char *hn_text_escape(const char *text);
