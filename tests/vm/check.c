/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Judges what a scenario wrote: every field that all scenarios have is there, and every check held.
 *
 *   hn-check FILE.json      exit status: 0 all held, 1 not, 77 the guest was skipped */

#include <errno.h>
#include <jansson.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SKIP 77

enum kind { KIND_STRING, KIND_NUMBER, KIND_NUMBER_OR_NULL, KIND_ARRAY, KIND_BOOLEAN };

static const struct {
        const char *name;
        enum kind kind;
} fields[] = {
        { "scenario", KIND_STRING },
        { "policy", KIND_STRING },
        { "topology", KIND_STRING },
        { "kernel", KIND_STRING },
        { "series", KIND_ARRAY },
        { "settle_s", KIND_NUMBER_OR_NULL },
        { "share_after", KIND_NUMBER_OR_NULL },
        { "threads_per_node", KIND_ARRAY },
        { "moves", KIND_NUMBER },
        { "pages_moved", KIND_NUMBER },
        { "masks_equal_after", KIND_BOOLEAN },
        { "signal", KIND_STRING },
        { "checks", KIND_ARRAY },
};

static bool is_kind(const json_t *value, enum kind kind) {
        switch (kind) {
        case KIND_STRING: return json_is_string(value);
        case KIND_NUMBER: return json_is_number(value);
        case KIND_NUMBER_OR_NULL: return json_is_number(value) || json_is_null(value);
        case KIND_ARRAY: return json_is_array(value);
        case KIND_BOOLEAN: return json_is_boolean(value);
        }
        return false;
}

static unsigned fields_judge(const json_t *result) {
        unsigned bad = 0;

        for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
                if (!is_kind(json_object_get(result, fields[i].name), fields[i].kind)) {
                        printf("FAILED field %s: absent, or of another type\n", fields[i].name);
                        bad++;
                }
        return bad;
}

static unsigned checks_judge(const json_t *result) {
        const json_t *checks = json_object_get(result, "checks"), *check;
        unsigned bad = 0;
        size_t i;

        json_array_foreach (checks, i, check) {
                const char *name = json_string_value(json_object_get(check, "name"));
                const char *want = json_string_value(json_object_get(check, "want"));
                char *got = json_dumps(json_object_get(check, "got"), JSON_ENCODE_ANY | JSON_COMPACT);
                bool ok = json_is_true(json_object_get(check, "ok"));

                printf("%-6s %s: got %s, wanted %s\n", ok ? "ok" : "FAILED", name ? name : "?",
                       got ? got : "?", want ? want : "?");
                free(got);
                bad += !ok;
        }
        if (i == 0) {
                printf("FAILED: the scenario checked nothing\n");
                bad++;
        }
        return bad;
}

/* The guest could not be started here, and said so in the folder's file "skipped". */
static bool was_skipped(const char *path) {
        char folder[4096], marker[4200];

        (void) snprintf(folder, sizeof(folder), "%s", path);
        (void) snprintf(marker, sizeof(marker), "%s/skipped", dirname(folder));
        return access(marker, F_OK) == 0;
}

int main(int argc, char *argv[]) {
        json_error_t error;
        json_t *result;
        unsigned bad;

        if (argc != 2) {
                fprintf(stderr, "usage: hn-check FILE.json\n");
                return 64;
        }
        if (was_skipped(argv[1])) {
                printf("skipped: the guest was not started\n");
                return SKIP;
        }
        result = json_load_file(argv[1], 0, &error);
        if (!result) {
                printf("FAILED %s: %s\n", argv[1], error.text);
                return EXIT_FAILURE;
        }
        bad = fields_judge(result) + checks_judge(result);
        if (bad > 0)
                printf("the daemon's journal:\n%s\n",
                       json_is_string(json_object_get(result, "journal"))
                               ? json_string_value(json_object_get(result, "journal"))
                               : "(none)");
        json_decref(result);
        return bad > 0 ? EXIT_FAILURE : EXIT_SUCCESS;
}
