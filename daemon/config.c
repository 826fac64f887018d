/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>
#include <errno.h>
#include <ini.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/parse.h"
#include "daemon/conffiles.h"
#include "daemon/config.h"
#include "daemon/confitem.h"
#include "sample/devnode.h"

/* inih cuts longer section names without a word. */
#define SECTION_MAX 49u

/* How much of a bad value is quoted back. */
#define QUOTE_MAX 60u

enum section {
        SECTION_NONE, /* none yet */
        SECTION_SKIP, /* one that had its warning: what is in it does not count */
        SECTION_DAEMON,
        SECTION_RULE,
};

/* One file on its way through inih. */
struct feed {
        struct hn_config *config;
        const char *text;
        size_t n;
        const char *file;
        unsigned line;
        enum section section;
        size_t rule; /* index, in SECTION_RULE */
        hn_config_warn_fn warn;
        void *userdata;
        size_t *warnings;
        int error;
};

static const char *const matcher_names[_HN_MATCH_MAX] = {
        [HN_MATCH_CGROUP] = "Cgroup", [HN_MATCH_UNIT] = "Unit", [HN_MATCH_COMM] = "Comm",
        [HN_MATCH_EXE] = "Exe",       [HN_MATCH_USER] = "User",
};

const char *hn_matcher_to_string(enum hn_matcher m) {
        return (size_t) m < HN_ELEMENTS(matcher_names) ? matcher_names[m] : NULL;
}

/* Warnings */

static void warn_at(struct feed *f, unsigned line, const char *fmt, ...) _hn_printf_(3, 4);

static void warn_at(struct feed *f, unsigned line, const char *fmt, ...) {
        char text[512];
        va_list ap;

        va_start(ap, fmt);
        (void) vsnprintf(text, sizeof(text), fmt, ap);
        va_end(ap);
        (*f->warnings)++;
        if (f->warn)
                f->warn(f->userdata, f->file, line, text);
}

struct quote {
        char text[HN_ESCAPE_SIZE(QUOTE_MAX) + 4];
};

/* A part of the file, fit for a message: escaped, and cut where it is long. */
static struct quote quote(const char *text, size_t n) {
        struct quote q = { .text = "" };
        size_t used = hn_escape_text(text, HN_MIN(n, QUOTE_MAX), q.text, HN_ESCAPE_SIZE(QUOTE_MAX));

        if (n > QUOTE_MAX)
                memcpy(q.text + used, "...", sizeof("..."));
        return q;
}

static int on_pair(void *user, const char *section, const char *name, const char *value) {
        struct feed *f = user;
        bool in_rule = f->section == SECTION_RULE;
        const struct hn_conf_item *items = in_rule ? hn_conf_rule : hn_conf_daemon;
        size_t n_items = in_rule ? hn_conf_rule_n : hn_conf_daemon_n;
        char *target = in_rule ? (char *) &f->config->rules[f->rule] : (char *) f->config;
        char keys[256];
        int r;

        /* next_line() has looked at the section line itself: inih cuts names, and does not tell of empty
         * sections. */
        (void) section;
        if (f->error < 0)
                return 1;
        for (size_t i = 0; i < n_items; i++) {
                if (strcmp(items[i].key, name) != 0)
                        continue;
                r = items[i].parse(&items[i], value, strlen(value), target + items[i].offset);
                if (r == -ENOMEM)
                        f->error = r;
                else if (r < 0)
                        warn_at(f, f->line, "%s=%s %s, ignored; expected %s", name,
                                quote(value, strlen(value)).text,
                                r == -ERANGE ? "is out of range" : "is not understood", items[i].expect);
                return 1;
        }
        hn_conf_list_keys(items, n_items, keys, sizeof(keys));
        warn_at(f, f->line, "unknown key \"%s\" in [%s], ignored; known are %s",
                quote(name, strlen(name)).text, in_rule ? "Rule" : "Daemon", keys);
        return 1;
}

/* Lines */

static int rule_new(struct feed *f, const char *name, size_t n) {
        struct hn_config *c = f->config;
        struct hn_rule *rules, rule = { .mode = HN_MODE_OBSERVE, .pages = true, .line = f->line };

        rules = reallocarray(c->rules, c->n_rules + 1, sizeof(*rules));
        if (!rules)
                return -ENOMEM;
        c->rules = rules;
        rule.name = strndup(name, n);
        rule.file = strdup(f->file);
        if (!rule.name || !rule.file) {
                free(rule.name);
                free(rule.file);
                return -ENOMEM;
        }
        c->rules[c->n_rules++] = rule;
        return 0;
}

static bool is_rule_name(const char *name, size_t n) {
        for (size_t i = 0; i < n; i++)
                if (name[i] <= ' ' || name[i] > '~' || name[i] == '*')
                        return false;
        return n > 0;
}

/* Reads "[Daemon]" or "[Rule NAME]". Where it is neither, everything up to the next good section is left out.
 */
static void enter_section(struct feed *f, const char *line, size_t n) {
        const char *close = memchr(line, ']', n), *name = line + 1;
        size_t length;

        f->section = SECTION_SKIP;
        if (!close) {
                warn_at(f, f->line,
                        "section line %s has no \"]\"; what follows is ignored up to the next section",
                        quote(line, n).text);
                return;
        }
        length = (size_t) (close - name);
        if (length == strlen("Daemon") && memcmp(name, "Daemon", length) == 0) {
                f->section = SECTION_DAEMON;
                return;
        }
        if (!hn_has_prefix(name, length, "Rule ")) {
                warn_at(f, f->line, "unknown section [%s], ignored; known are [Daemon] and [Rule NAME]",
                        quote(name, length).text);
                return;
        }
        if (length > SECTION_MAX) {
                warn_at(f, f->line, "rule name in [%s] is too long, rule ignored; %zu characters are allowed",
                        quote(name, length).text, SECTION_MAX - strlen("Rule "));
                return;
        }
        name += strlen("Rule ");
        length -= strlen("Rule ");
        hn_trim(&name, &length);
        if (!is_rule_name(name, length)) {
                warn_at(f, f->line,
                        "\"%s\" is no rule name, rule ignored; use visible ASCII without spaces and \"*\"",
                        quote(name, length).text);
                return;
        }
        for (f->rule = 0; f->rule < f->config->n_rules; f->rule++)
                if (strncmp(f->config->rules[f->rule].name, name, length) == 0 &&
                    f->config->rules[f->rule].name[length] == '\0')
                        break;
        if (f->rule == f->config->n_rules) {
                if (f->config->n_rules >= HN_CONFIG_RULES_MAX) {
                        warn_at(f, f->line, "more than %u rules, rule \"%s\" ignored", HN_CONFIG_RULES_MAX,
                                quote(name, length).text);
                        return;
                }
                f->error = rule_new(f, name, length);
                if (f->error < 0)
                        return;
        }
        f->section = SECTION_RULE;
}

/* Whether inih will find a name and a value here. It ends a name at " ;", and takes ':' for '='. */
static bool is_pair(const char *line, size_t n) {
        for (size_t i = 1; i < n; i++) {
                if (line[i] == '=')
                        return true;
                if (line[i] == ':' || (line[i] == ';' && (line[i - 1] == ' ' || line[i - 1] == '\t')))
                        return false;
        }
        return false;
}

/* Whether (line, n) is for inih to see; `room` is what it has. */
static bool is_wanted(struct feed *f, const char *line, size_t n, size_t room) {
        if (n == 0 || *line == '#' || *line == ';')
                return false;
        if (memchr(line, '\0', n)) {
                if (f->section != SECTION_SKIP)
                        warn_at(f, f->line, "line with a NUL byte, ignored; is this a text file?");
                return false;
        }
        if (*line == '[') {
                enter_section(f, line, n);
                return false;
        }
        if (f->section == SECTION_SKIP)
                return false;
        if (f->section == SECTION_NONE) {
                warn_at(f, f->line,
                        "settings before the first section, ignored; put [Daemon] or [Rule NAME] above");
                f->section = SECTION_SKIP;
                return false;
        }
        if (n >= room) {
                warn_at(f, f->line,
                        "line is longer than %zu bytes, ignored; Cgroup= may be given several times",
                        room - 1);
                return false;
        }
        if (!is_pair(line, n)) {
                warn_at(f, f->line, "\"%s\" is not of the form Key=Value, ignored", quote(line, n).text);
                return false;
        }
        return true;
}

/* An ini_reader. inih tells of the first bad line only, joins lines that start with white space and cuts long
 * ones: so it gets to see only what has none of that, and counting lines is ours. */
static char *next_line(char *buf, int size, void *stream) {
        struct feed *f = stream;
        const char *line;
        size_t n;

        while (f->error == 0 && hn_next_line(&f->text, &f->n, &line, &n)) {
                if (f->line++ == 0 && hn_has_prefix(line, n, "\xef\xbb\xbf")) {
                        line += 3;
                        n -= 3;
                }
                while (n > 0 && (line[n - 1] == '\r' || line[n - 1] == ' ' || line[n - 1] == '\t'))
                        n--;
                while (n > 0 && (*line == ' ' || *line == '\t')) {
                        line++;
                        n--;
                }
                if (!is_wanted(f, line, n, (size_t) size))
                        continue;
                memcpy(buf, line, n);
                buf[n] = '\0';
                return buf;
        }
        return NULL;
}

int hn_config_feed(struct hn_config *c, const char *text, size_t n, const char *file, hn_config_warn_fn warn,
                   void *userdata, size_t *warnings) {
        struct feed f = { .config = c,
                          .text = text,
                          .n = n,
                          .file = file,
                          .warn = warn,
                          .userdata = userdata,
                          .warnings = warnings };

        /* Its answer tells of lines that on_pair() refused (none) and of memory. */
        if (ini_parse_stream(next_line, &f, on_pair, &f) == -2)
                return -ENOMEM;
        return f.error;
}

/* The whole */

static void rule_deinit(struct hn_rule *rule) {
        for (size_t i = 0; i < _HN_MATCH_MAX; i++)
                hn_words_deinit(&rule->match[i]);
        hn_words_deinit(&rule->devices);
        free(rule->uids);
        free(rule->name);
        free(rule->file);
}

void hn_config_deinit(struct hn_config *c) {
        for (size_t i = 0; i < c->n_rules; i++)
                rule_deinit(&c->rules[i]);
        free(c->rules);
        *c = HN_CONFIG_NULL;
}

/* Whether a rule asks for something, and for all that its author meant to. */
static bool is_whole(const struct hn_rule *rule, struct feed *f) {
        const char *lost = NULL;
        size_t n = 0;

        for (enum hn_matcher m = 0; m < _HN_MATCH_MAX; m++) {
                n += rule->match[m].n;
                if (rule->match[m].n == 0 && rule->match[m].refused)
                        lost = hn_matcher_to_string(m);
        }
        if (n > 0 && lost)
                warn_at(f, rule->line,
                        "rule \"%s\" would take in more than was meant without its %s=, ignored", rule->name,
                        lost);
        else if (n == 0 && !lost)
                warn_at(f, rule->line,
                        "rule \"%s\" matches nothing, ignored; add Cgroup=, Unit=, Comm=, Exe= or User=",
                        rule->name);
        return n > 0 && !lost;
}

void hn_config_settle(struct hn_config *c, hn_config_warn_fn warn, void *userdata, size_t *warnings) {
        size_t kept = 0;

        for (size_t i = 0; i < c->n_rules; i++) {
                struct hn_rule *rule = &c->rules[i];
                struct feed f = {
                        .file = rule->file, .warn = warn, .userdata = userdata, .warnings = warnings
                };

                if (is_whole(rule, &f))
                        c->rules[kept++] = *rule;
                else
                        rule_deinit(rule);
        }
        c->n_rules = kept;
}

/* The number of a user; (uid_t) -1, which is no user's, where there is none of that name. */
static uid_t find_user(const char *name) {
        struct passwd entry, *found = NULL;
        char buf[16384];
        unsigned v;

        if (hn_parse_unsigned(name, strlen(name), &v) == 0)
                return v;
        return getpwnam_r(name, &entry, buf, sizeof(buf), &found) == 0 && found ? found->pw_uid : (uid_t) -1;
}

int hn_config_find_users(struct hn_config *c, hn_config_warn_fn warn, void *userdata, size_t *warnings) {
        for (size_t i = 0; i < c->n_rules; i++) {
                struct hn_rule *rule = &c->rules[i];
                const struct hn_words *users = &rule->match[HN_MATCH_USER];
                struct feed f = {
                        .file = rule->file, .warn = warn, .userdata = userdata, .warnings = warnings
                };

                free(rule->uids);
                rule->uids = calloc(users->n + 1, sizeof(*rule->uids));
                if (!rule->uids)
                        return -ENOMEM;
                for (size_t k = 0; k < users->n; k++) {
                        rule->uids[k] = find_user(users->items[k]);
                        if (rule->uids[k] == (uid_t) -1)
                                warn_at(&f, rule->line, "there is no user \"%s\", whom rule \"%s\" asks for",
                                        quote(users->items[k], strlen(users->items[k])).text, rule->name);
                }
        }
        return 0;
}

void hn_config_find_devices(struct hn_config *c, const struct hn_sysroot *root) {
        for (size_t i = 0; i < c->n_rules; i++) {
                struct hn_rule *rule = &c->rules[i];
                unsigned id;

                rule->prefer = HN_MASK_NULL;
                for (size_t k = 0; k < rule->devices.n; k++)
                        if (hn_device_find_node(root, rule->devices.items[k], &id) == 0)
                                (void) hn_mask_add(&rule->prefer, id);
        }
}

/* Returns 0 or -ENOMEM; a file that cannot be read has its one warning. */
static int feed_file(struct hn_config *c, const char *path, hn_config_warn_fn warn, void *userdata,
                     size_t *warnings) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        struct feed f = { .file = path, .warn = warn, .userdata = userdata, .warnings = warnings };
        size_t n;
        int r = hn_conffile_read(path, HN_CONFIG_FILE_MAX, &text, &n);

        if (r == -ENOMEM)
                return r;
        if (r < 0) {
                warn_at(&f, 0, "cannot be read, ignored: %s", hn_conffile_strerror(r));
                return 0;
        }
        return hn_config_feed(c, text, n, path, warn, userdata, warnings);
}

int hn_config_load(const char *root, const char *only_file, hn_config_warn_fn warn, void *userdata,
                   struct hn_config *ret, size_t *ret_warnings) {
        _hn_cleanup_(hn_config_deinit) struct hn_config c = HN_CONFIG_NULL;
        _hn_cleanup_(hn_conffiles_deinit) struct hn_conffiles files = HN_CONFFILES_NULL;
        size_t warnings = 0;
        int r;

        if (only_file) {
                _hn_cleanup_(hn_freep) char *text = NULL;
                size_t n;

                /* Somebody named it: its absence is a mistake, not a value. */
                r = hn_conffile_read(only_file, HN_CONFIG_FILE_MAX, &text, &n);
                if (r == 0)
                        r = hn_config_feed(&c, text, n, only_file, warn, userdata, &warnings);
        } else
                r = hn_conffiles_list(root, &files);
        for (size_t i = 0; r == 0 && i < files.n; i++)
                r = feed_file(&c, files.files[i].path, warn, userdata, &warnings);
        if (r < 0)
                return r;
        hn_config_settle(&c, warn, userdata, &warnings);
        r = hn_config_find_users(&c, warn, userdata, &warnings);
        if (r < 0)
                return r;

        *ret = c;
        *ret_warnings = warnings;
        c = HN_CONFIG_NULL;
        return 0;
}
