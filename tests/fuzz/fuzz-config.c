/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* homenode.conf: whatever the text, the settings stay in their ranges, each rule is complete and has a name
 * of its own, and every warning is counted, names a line that is there and can be printed. */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

struct heard {
        size_t n;
        unsigned lines;
};

static void require(bool what) {
        if (!what)
                abort();
}

static void hear(void *userdata, const char *file, unsigned line, const char *text) {
        struct heard *h = userdata;

        h->n++;
        require(strcmp(file, "f") == 0);
        require(line >= 1 && line <= h->lines);
        for (const char *p = text; *p != '\0'; p++)
                require((unsigned char) *p >= ' ' && *p != 0x7f);
}

/* And nothing that was written down is left out: that would be a rule for more than its author meant. */
static bool has_something_to_match(const struct hn_rule *rule) {
        size_t words = 0;

        for (enum hn_matcher m = 0; m < _HN_MATCH_MAX; m++) {
                const struct hn_words *w = &rule->match[m];

                require(w->n <= HN_CONFIG_WORDS_MAX && !(w->refused && w->n == 0));
                for (size_t k = 0; k < w->n; k++)
                        require(w->items[k][0] != '\0');
                words += w->n;
        }
        return words > 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        struct hn_config c = HN_CONFIG_NULL;
        struct heard h = { .lines = 1 };
        size_t warnings = 0;

        for (size_t i = 0; i < n; i++)
                h.lines += data[i] == '\n';
        require(hn_config_feed(&c, (const char *) data, n, "f", hear, &h, &warnings) == 0);
        hn_config_settle(&c, hear, &h, &warnings);

        require(warnings == h.n);
        require(c.mode >= 0 && c.mode < _HN_MODE_MAX);
        require(c.interval >= 100 * HN_USEC_PER_MSEC && c.interval <= 3600 * HN_USEC_PER_SEC);
        require(c.cpu_budget_permille >= 1 && c.cpu_budget_permille <= 1000);
        require(c.page_rate >= (1u << 20) && c.page_rate <= UINT64_C(1) << 40);
        require(c.page_slice >= HN_USEC_PER_MSEC && c.page_slice <= HN_USEC_PER_SEC);
        require(c.n_rules <= HN_CONFIG_RULES_MAX);
        for (size_t i = 0; i < c.n_rules; i++) {
                const struct hn_rule *rule = &c.rules[i];

                require(rule->name[0] != '\0' && rule->mode >= 0 && rule->mode < _HN_MODE_MAX);
                require(has_something_to_match(rule));
                for (size_t k = 0; k < rule->match[HN_MATCH_CGROUP].n; k++)
                        require(rule->match[HN_MATCH_CGROUP].items[k][0] != '/');
                for (size_t k = 0; k < rule->match[HN_MATCH_EXE].n; k++)
                        require(rule->match[HN_MATCH_EXE].items[k][0] == '/');
                require(rule->devices.n <= HN_CONFIG_DEVICES_MAX);
                for (size_t k = 0; k < i; k++)
                        require(strcmp(rule->name, c.rules[k].name) != 0);
        }
        hn_config_deinit(&c);
        return 0;
}
