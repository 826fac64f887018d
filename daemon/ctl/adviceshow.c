/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sysexits.h>

#include "adviceshow.h"
#include "base/escape.h"
#include "policy/advise.h"
#include "table.h"
#include "verb.h"

static const struct hn_column columns[] = {
        { "NODE", "", true, true },        { "CPUS", "", true, true },
        { "USED", "", true, true },        { "PROMISED", "", true, true },
        { "ROOM", "", true, true },        { "AVAILABLE", "", true, true },
        { "KEPT", "", true, true },        { "MEMORY-PROMISED", "", true, true },
        { "MEMORY-ROOM", "", true, true }, { "DISTANCE", "", true, true },
        { "VERDICT", "", false, true },    { "WHY", "", false, true },
};

/* What is in the columns, by the names that they have in JSON. */
static const struct {
        const char *key;
        bool bytes;
} cells[HN_ELEMENTS(columns)] = {
        { "node", false },       { "cpus", false },     { "used", false },    { "promised", false },
        { "room", false },       { "available", true }, { "kept", true },     { "memory_promised", true },
        { "memory_room", true }, { "distance", false }, { "verdict", false }, { "why", false },
};

static void set_cell(struct hn_table *t, size_t column, json_t *v) {
        char text[16];

        if (json_is_string(v))
                hn_table_set_text(t, column, json_string_value(v));
        else if (json_is_integer(v) && cells[column].bytes)
                hn_table_set(t, column, json_incref(v), "%s",
                             hn_format_bytes((uint64_t) HN_MAX(json_integer_value(v), (json_int_t) 0), text,
                                             sizeof(text)));
        else if (json_is_integer(v))
                hn_table_set(t, column, json_incref(v), "%" JSON_INTEGER_FORMAT, json_integer_value(v));
        else if (json_is_real(v))
                hn_table_set(t, column, json_incref(v), "%.2f", json_real_value(v));
}

static int show_table(const json_t *advice) {
        _hn_cleanup_(hn_table_freep) struct hn_table *t = hn_table_new(columns, HN_ELEMENTS(columns));
        const struct hn_table_options options = { .json = false };
        const json_t *row, *why;
        const char *text;
        size_t i;
        int r;

        if (!t)
                return -ENOMEM;
        json_array_foreach (json_object_get(advice, "nodes"), i, row) {
                hn_table_add_row(t);
                for (size_t c = 0; c < HN_ELEMENTS(cells); c++)
                        set_cell(t, c, json_object_get(row, cells[c].key));
        }
        putchar('\n');
        r = hn_table_print(t, stdout, &options);
        putchar('\n');
        json_array_foreach (json_object_get(advice, "why"), i, why) {
                char buf[1024];

                text = json_string_value(why);
                /* Whoever is on the bus given by --bus-address may not have escaped it. */
                if (text && hn_escape_text(text, sizeof(buf), buf, sizeof(buf)) > 0)
                        puts(buf);
        }
        text = json_string_value(json_object_get(advice, "answered_by"));
        if (text)
                printf("Answered by: %s.\n", text);
        return r;
}

/* Of a daemon that knows more of them the word has to do. */
static const char *shortage_of(const json_t *advice) {
        const char *word = json_string_value(json_object_get(advice, "short_of"));

        for (int s = 0; word && s < _HN_ADVISE_SHORTAGE_MAX; s++) {
                const char *name = hn_advise_shortage_to_string((enum hn_advise_shortage) s);

                if (name && strcmp(name, word) == 0)
                        return hn_advise_shortage_to_sentence((enum hn_advise_shortage) s);
        }
        return "there is too little of something";
}

int hn_advice_show(const json_t *advice, bool explain, bool json) {
        const char *list = json_string_value(json_object_get(advice, "list"));
        int r = 0;

        if (json)
                r = hn_json_print(advice, stdout);
        else {
                puts(list ? list : "");
                r = explain ? show_table(advice) : 0;
        }
        if (r < 0)
                return hn_complain_errno(r, "cannot show the figures");
        r = hn_flush_output();
        if (r != EX_OK || json_is_true(json_object_get(advice, "fits")))
                return r;
        hn_complain("it does not fit: %s; the list is the best there is", shortage_of(advice));
        return EX_UNAVAILABLE;
}
