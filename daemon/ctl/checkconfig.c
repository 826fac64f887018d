/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenode check-config: what is wrong with the configuration, before the daemon reads it. */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>

#include "daemon/conffiles.h"
#include "daemon/config.h"
#include "table.h"
#include "verb.h"

struct check {
        bool json;
        struct hn_config config;
        json_t *warnings, *files;
        size_t n_warnings;
        bool broken; /* out of memory at some point */
};

static void check_deinit(struct check *c) {
        hn_config_deinit(&c->config);
        json_decref(c->warnings);
        json_decref(c->files);
}

static int help(void) {
        printf("Usage: homenode check-config [OPTION...] [FILE...]\n\n"
               "Shows all mistakes in the configuration as FILE:LINE: TEXT. Without FILE it\n"
               "looks at all files that homenoded would read; with files, at these alone.\n\n"
               "Options:\n"
               "      --root DIR         look for the files below DIR\n"
               "  -J, --json             JSON: files, number of rules, warnings and notes\n"
               "  -h, --help             this text\n");
        return hn_flush_output();
}

static void hear(void *userdata, const char *file, unsigned line, const char *text) {
        struct check *c = userdata;
        json_t *o;

        c->n_warnings++;
        if (!c->json) {
                _hn_cleanup_(hn_freep) char *name = hn_text_escape(file);

                printf("%s:%u: %s\n", name ? name : "?", line, text);
                return;
        }
        o = json_object();
        c->broken |= json_object_set_new(o, "file", hn_json_text(file)) < 0;
        c->broken |= json_object_set_new(o, "line", json_integer(line)) < 0;
        c->broken |= json_object_set_new(o, "text", hn_json_text(text)) < 0;
        c->broken |= json_array_append_new(c->warnings, o) < 0;
}

/* Feeds the files that were named. Returns 0 or the exit code for what went wrong, which has been said. */
static int check_files(struct check *c, char **files, size_t n) {
        for (size_t i = 0; i < n; i++) {
                _hn_cleanup_(hn_freep) char *text = NULL;
                size_t length;
                int r;

                r = hn_conffile_read(files[i], HN_CONFIG_FILE_MAX, &text, &length);
                if (r == -EFBIG || r == -EBADF) {
                        hn_complain("cannot read %s: %s", files[i], hn_conffile_strerror(r));
                        return EX_NOINPUT;
                }
                if (r == 0)
                        r = hn_config_feed(&c->config, text, length, files[i], hear, c, &(size_t){ 0 });
                if (r < 0)
                        return hn_complain_errno(r, "cannot read %s", files[i]);
                c->broken |= json_array_append_new(c->files, hn_json_text(files[i])) < 0;
        }
        hn_config_settle(&c->config, hear, c, &(size_t){ 0 });
        if (hn_config_find_users(&c->config, hear, c, &(size_t){ 0 }) < 0)
                return hn_complain_errno(-ENOMEM, "cannot look up users");
        return 0;
}

static int check_all(struct check *c, const char *root) {
        _hn_cleanup_(hn_conffiles_deinit) struct hn_conffiles files = HN_CONFFILES_NULL;
        size_t warnings;
        int r;

        r = hn_conffiles_list(root, &files);
        if (r == 0)
                r = hn_config_load(root, NULL, hear, c, &c->config, &warnings);
        if (r < 0)
                return hn_complain_errno(r, "cannot read the configuration");
        for (size_t i = 0; i < files.n; i++)
                c->broken |= json_array_append_new(c->files, hn_json_text(files.files[i].path)) < 0;
        return 0;
}

/* What is no mistake, but may not be what was meant. */
static json_t *notes_of(const struct check *c) {
        json_t *notes = json_array();

        for (size_t i = 0; i < c->config.n_rules; i++) {
                const struct hn_rule *rule = &c->config.rules[i];

                if (rule->mode > c->config.mode)
                        (void) json_array_append_new(
                                notes,
                                json_sprintf(
                                        "rule \"%s\" says Mode=%s, but nothing goes beyond the Mode=%s of "
                                        "[Daemon]",
                                        rule->name, hn_mode_to_string(rule->mode),
                                        hn_mode_to_string(c->config.mode)));
        }
        if (c->config.n_rules == 0)
                (void) json_array_append_new(notes, json_string("no rule opts anything in"));
        return notes;
}

static int print(struct check *c) {
        json_t *notes = notes_of(c);
        int r = 0;

        if (c->json) {
                json_t *o = json_pack("{s:O, s:I, s:O, s:O}", "files", c->files, "rules",
                                      (json_int_t) c->config.n_rules, "warnings", c->warnings, "notes",
                                      notes);

                r = c->broken ? -ENOMEM : hn_json_print(o, stdout);
                json_decref(o);
        } else if (c->n_warnings == 0) {
                printf("No mistakes: %zu %s, %zu %s.\n", json_array_size(c->files),
                       json_array_size(c->files) == 1 ? "file" : "files", c->config.n_rules,
                       c->config.n_rules == 1 ? "rule" : "rules");
                for (size_t i = 0; i < json_array_size(notes); i++)
                        printf("Note: %s.\n", json_string_value(json_array_get(notes, i)));
        }
        json_decref(notes);
        return r;
}

int hn_verb_check_config(int argc, char **argv) {
        static const struct option options[] = {
                { "help", no_argument, NULL, 'h' },
                { "json", no_argument, NULL, 'J' },
                { "root", required_argument, NULL, 'R' },
                {},
        };
        _hn_cleanup_(check_deinit) struct check check = { .config = HN_CONFIG_NULL };
        const char *root = "";
        int c, r;

        while ((c = getopt_long(argc, argv, "hJ", options, NULL)) >= 0)
                switch (c) {
                case 'h': return help();
                case 'J': check.json = true; break;
                case 'R': root = optarg; break;
                default: return hn_complain_usage("check-config");
                }
        if (*root && optind < argc) {
                hn_complain("--root says where to look for files, so none can be named");
                return hn_complain_usage("check-config");
        }
        check.warnings = json_array();
        check.files = json_array();
        r = optind < argc ? check_files(&check, argv + optind, (size_t) (argc - optind))
                          : check_all(&check, root);
        if (r != 0)
                return r;
        r = print(&check);
        if (r < 0)
                return hn_complain_errno(r, "cannot print");
        r = hn_flush_output();
        return r == EX_OK && check.n_warnings > 0 ? EX_CONFIG : r;
}
