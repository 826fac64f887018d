/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenode cat-config: the files of the configuration, in the order in which they are read. */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sysexits.h>
#include <unistd.h>

#include "base/escape.h"
#include "base/parse.h"
#include "daemon/conffiles.h"
#include "daemon/config.h"
#include "table.h"
#include "term.h"
#include "verb.h"

static int help(void) {
        printf("Usage: homenode cat-config [OPTION...]\n\n"
               "Shows the files that homenoded reads, in their order: later ones win. Those that\n"
               "are not read, because of another one of the same name, are named.\n\n"
               "Options:\n"
               "      --root DIR         look for the files below DIR\n"
               "  -h, --help             this text\n");
        return hn_flush_output();
}

/* The comment above a file. */
static void print_head(const char *path, const char *what, const char *other, bool colour) {
        _hn_cleanup_(hn_freep) char *name = hn_text_escape(path), *second = hn_text_escape(other);

        printf("%s# %s%s%s%s\n", hn_heat_on(HN_HEAT_FAINT, colour), name ? name : "?", what,
               second ? second : "", hn_heat_off(HN_HEAT_FAINT, colour));
}

/* To a terminal nothing goes that could steer it. */
static void print_text(const char *text, size_t n, bool terminal) {
        const char *line;
        size_t length;

        if (!terminal) {
                (void) fwrite(text, 1, n, stdout);
                if (n > 0 && text[n - 1] != '\n')
                        putchar('\n');
                return;
        }
        while (hn_next_line(&text, &n, &line, &length)) {
                char buf[HN_ESCAPE_SIZE(1024)];

                (void) hn_escape_text(line, HN_MIN(length, (size_t) 1024), buf, sizeof(buf));
                puts(buf);
        }
}

static int print_file(const struct hn_conffile *file, bool colour) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        size_t n;
        int r;

        if (file->instead) {
                print_head(file->path, ": not read, there is ", file->instead, colour);
                return 0;
        }
        r = hn_conffile_read(file->path, HN_CONFIG_FILE_MAX, &text, &n);
        if (r < 0) {
                print_head(file->path, ": cannot be read: ", hn_conffile_strerror(r), colour);
                return EX_NOINPUT;
        }
        print_head(file->path, n == 0 ? ": empty, so that it turns off all others of this name" : "", "",
                   colour);
        print_text(text, n, isatty(STDOUT_FILENO));
        return 0;
}

int hn_verb_cat_config(int argc, char **argv) {
        static const struct option options[] = {
                { "help", no_argument, NULL, 'h' },
                { "root", required_argument, NULL, 'R' },
                {},
        };
        _hn_cleanup_(hn_conffiles_deinit) struct hn_conffiles files = HN_CONFFILES_NULL;
        int c, r, result = EX_OK;
        const char *root = "";

        while ((c = getopt_long(argc, argv, "h", options, NULL)) >= 0)
                switch (c) {
                case 'h': return help();
                case 'R': root = optarg; break;
                default: return hn_complain_usage("cat-config");
                }
        if (optind < argc) {
                hn_complain("cat-config takes no argument, not \"%s\"; cat(1) shows a file", argv[optind]);
                return hn_complain_usage("cat-config");
        }
        r = hn_conffiles_list_all(root, &files);
        if (r < 0)
                return hn_complain_errno(r, "cannot list the files");
        for (size_t i = 0; i < files.n; i++) {
                if (i > 0 && !files.files[i].instead)
                        putchar('\n');
                r = print_file(&files.files[i], hn_may_colour(stdout));
                if (r != 0)
                        result = r;
        }
        if (files.n == 0)
                hn_complain(
                        "there is no configuration file, so everything has its default; see homenode.conf(5)");
        r = hn_flush_output();
        return r == EX_OK ? result : r;
}
