/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "hostile.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/bus.h"

#define PROPERTIES  "org.freedesktop.DBus.Properties"
#define SIGNATURE   64
#define LONG_STRING (200u << 10)

/* xorshift64 */
static uint64_t draw(struct hostile *h) {
        h->seed ^= h->seed << 13;
        h->seed ^= h->seed >> 7;
        h->seed ^= h->seed << 17;
        return h->seed;
}

static uint64_t below(struct hostile *h, uint64_t n) {
        return draw(h) % n;
}

static const char *text(struct hostile *h) {
        static const char *const texts[] = {
                "",
                " ",
                "0",
                "8",
                "0,8",
                "0-8",
                "-1",
                "1",
                "99999999999999999999",
                "0-4294967295",
                "8-0",
                "0-8191:1/1",
                "all",
                "!0",
                "+0",
                "100",
                "200",
                "300",
                "301",
                "400",
                "500",
                "2",
                "0100",
                "100 ",
                "1e2",
                "process",
                "thread",
                "cgroup",
                "Process",
                "app.slice",
                "/",
                "..",
                "/../../../etc/passwd",
                "/app.slice/../../..",
                "%s%n%s%n",
                "a\nMESSAGE=b",
                "\x1b[2J",
                "\xe2\x80\xae",
                "{\"a\":1}",
                "\"",
                "\\",
                "'; DROP",
                "observe ",
                "frobnicate",
                "postgres",
                "\t",
                "Mode",
                "emerg ",
                "/dev/zero",
        };
        static char large[LONG_STRING + 1];

        switch (below(h, 40)) {
        case 0: memset(large, 'x', LONG_STRING); return large;
        case 1:
                for (size_t i = 0; i < 30000; i++)
                        memcpy(large + 2 * i, "1,", 2);
                large[60000] = '\0';
                return large;
        default: return texts[below(h, HN_ELEMENTS(texts))];
        }
}

static uint64_t number(struct hostile *h) {
        static const uint64_t numbers[] = {
                0,
                1,
                2,
                8,
                100,
                200,
                300,
                400,
                500,
                INT32_MAX,
                UINT32_MAX,
                INT64_MAX,
                UINT64_MAX,
                UINT64_MAX - 1,
                UINT64_C(1) << 63,
                UINT64_MAX / 1000000,
                UINT64_MAX / 1000000 + 1,
                4194304,
        };

        return below(h, 4) == 0 ? draw(h) : numbers[below(h, HN_ELEMENTS(numbers))];
}

/* One value of the complete type that `*sig` begins with, which moves behind it. */
static int append(struct hostile *h, sd_bus_message *m, const char **sig);

static size_t length_of(const char *sig) {
        size_t n = 1;

        if (*sig == 'a')
                return 1 + length_of(sig + 1);
        if (*sig != '(' && *sig != '{')
                return 1;
        while (sig[n] && sig[n] != ')' && sig[n] != '}')
                n += length_of(sig + n);
        return n + 1;
}

static int append_within(struct hostile *h, sd_bus_message *m, char type, const char *contents,
                         unsigned times) {
        int r = sd_bus_message_open_container(m, type, contents);

        for (unsigned i = 0; r >= 0 && i < times; i++)
                for (const char *p = contents; r >= 0 && *p;)
                        r = append(h, m, &p);
        return r < 0 ? r : sd_bus_message_close_container(m);
}

static int append(struct hostile *h, sd_bus_message *m, const char **sig) {
        char type = **sig, contents[SIGNATURE];
        size_t n = length_of(*sig);
        uint64_t v = number(h);
        int b = (int) below(h, 2);
        double d = (double) v;

        (void) snprintf(contents, sizeof(contents), "%.*s", (int) (n - 1), *sig + 1);
        *sig += n;
        switch (type) {
        case 's': return sd_bus_message_append_basic(m, 's', text(h));
        case 'o': return sd_bus_message_append_basic(m, 'o', below(h, 2) ? HN_BUS_PATH : "/");
        case 'g': return sd_bus_message_append_basic(m, 'g', "a{sv}");
        case 'b': return sd_bus_message_append_basic(m, 'b', &b);
        case 'h': return sd_bus_message_append_basic(m, 'h', (const int[]){ STDERR_FILENO });
        case 'd': return sd_bus_message_append_basic(m, 'd', &d);
        case 'v': return append_within(h, m, 'v', below(h, 2) ? "s" : "at", 1);
        case 'a': return append_within(h, m, 'a', contents, (unsigned) below(h, 4));
        case '(':
        case '{':
                contents[strlen(contents) - 1] = '\0';
                return append_within(h, m, type == '(' ? 'r' : 'e', contents, 1);
        default: return sd_bus_message_append_basic(m, type, &v);
        }
}

/* The signature that a method of the list takes; its name goes to `member`. */
static void choose_method(struct hostile *h, char *member, char *signature) {
        const char *p;
        size_t n = 0;

        do
                p = h->methods->line[below(h, h->methods->n)];
        while (strncmp(p, "method ", 7) != 0);
        p += 7;
        n = strcspn(p, " ");
        (void) snprintf(member, SIGNATURE, "%.*s", (int) n, p);
        signature[0] = '\0';
        for (p += n; *p == ' ' && strncmp(p, " out ", 5) != 0;) {
                size_t type = strcspn(++p, " ");

                (void) strncat(signature, p, type);
                p += type + 1;
                p += strcspn(p, " ");
        }
}

static const char *odd_signature(struct hostile *h) {
        static const char *const odd[] = { "",         "s",        "u",     "t",      "h",        "v",
                                           "as",       "ay",       "a{sv}", "sssssb", "sssssbts", "xxx",
                                           "(sa{sv})", "aaaaaaas", "ss",    "ssv",    "nqdg",     "o" };

        return odd[below(h, HN_ELEMENTS(odd))];
}

/* Arguments of Pin of which most make sense, so that the others are looked at. */
static int append_pin(struct hostile *h, sd_bus_message *m) {
        static const char *const nodes[] = { "0", "8", "0,8", "0" }, *const cpus[] = { "", "0", "2-3", "" };
        const char *const *const sane[] = { h->kinds, h->targets, nodes, cpus };
        int pages = (int) below(h, 2), r = 0;
        uint64_t seconds = below(h, 3) ? 60 : number(h);

        for (size_t i = 0; r >= 0 && i < HN_ELEMENTS(sane); i++)
                r = sd_bus_message_append_basic(m, 's', below(h, 4) ? sane[i][below(h, 4)] : text(h));
        if (r >= 0)
                r = sd_bus_message_append(m, "bt", pages, seconds);
        return r < 0 ? r : sd_bus_message_append_basic(m, 's', text(h));
}

/* Arguments of Advise of which most make sense: keys that there are, mostly of their own type. */
static int append_advise(struct hostile *h, sd_bus_message *m) {
        static const char *const keys[] = { "nodes", "near", "reserve", "json", "thousandths" };
        static const char types[] = "ssbbu";
        static const char *const nodes[] = { "0", "8", "0,8", "1", "" };
        static const char *const devices[] = { "netdev:eth0", "pci:00:00.0", "block:sda",
                                               "netdev:", "/dev/null" };
        int r = sd_bus_message_append(m, "ut", (uint32_t) (below(h, 4) ? below(h, 9) : number(h)),
                                      below(h, 4) ? below(h, 2000) : number(h));

        if (r >= 0)
                r = sd_bus_message_open_container(m, 'a', "{sv}");
        for (uint64_t n = below(h, 5); r >= 0 && n > 0; n--) {
                size_t k = below(h, HN_ELEMENTS(keys));
                char type[2] = { below(h, 8) ? types[k] : types[below(h, HN_ELEMENTS(keys))], '\0' };
                const char *p = type;

                r = sd_bus_message_open_container(m, 'e', "sv");
                if (r >= 0)
                        r = sd_bus_message_append_basic(m, 's', below(h, 16) ? keys[k] : text(h));
                if (r >= 0)
                        r = sd_bus_message_open_container(m, 'v', type);
                if (r >= 0 && type[0] == 's' && below(h, 4))
                        r = sd_bus_message_append_basic(m, 's',
                                                        k == 1 ? devices[below(h, HN_ELEMENTS(devices))]
                                                               : nodes[below(h, HN_ELEMENTS(nodes))]);
                else if (r >= 0)
                        r = append(h, m, &p);
                if (r >= 0)
                        r = sd_bus_message_close_container(m);
                if (r >= 0)
                        r = sd_bus_message_close_container(m);
        }
        return r < 0 ? r : sd_bus_message_close_container(m);
}

/* Of a property that there is; a value of some type behind it for Set. */
static int append_property(struct hostile *h, sd_bus_message *m, const char *signature) {
        const char *line, *value = "v";
        int r;

        do
                line = h->methods->line[below(h, h->methods->n)];
        while (strncmp(line, "property ", 9) != 0);
        r = sd_bus_message_append_basic(m, 's', below(h, 4) ? HN_BUS_MANAGER : HN_BUS_SCOPE);
        if (r >= 0 && strlen(signature) > 1) {
                char name[SIGNATURE];

                r = sd_bus_message_append_basic(m, 's', members_name(line, name, sizeof(name)));
        }
        return r < 0 || strlen(signature) < 3 ? r : append(h, m, &value);
}

sd_bus_message *hostile_next(struct hostile *h, sd_bus *bus) {
        static const char *const properties[] = { "Get", "Set", "GetAll", "Frob" };
        const char *const paths[] = { HN_BUS_PATH, "/", HN_BUS_SCOPE_PATH,
                                      HN_BUS_SCOPE_PATH "/_2fapp_2eslice", h->scope };
        const char *interface = HN_BUS_MANAGER, *path = HN_BUS_PATH, *p;
        char member[SIGNATURE], signature[SIGNATURE];
        sd_bus_message *m = NULL;
        int r;

        choose_method(h, member, signature);
        switch (below(h, 8)) {
        case 0: (void) snprintf(signature, sizeof(signature), "%s", odd_signature(h)); break;
        case 1:
                interface = PROPERTIES;
                (void) snprintf(member, sizeof(member), "%s", properties[below(h, HN_ELEMENTS(properties))]);
                (void) snprintf(signature, sizeof(signature), "%s",
                                strcmp(member, "Get") == 0   ? "ss"
                                : strcmp(member, "Set") == 0 ? "ssv"
                                                             : "s");
                path = paths[below(h, HN_ELEMENTS(paths))];
                break;
        case 2:
                path = paths[below(h, HN_ELEMENTS(paths))];
                interface = below(h, 2) ? HN_BUS_SCOPE : NULL;
                break;
        default: break;
        }
        r = sd_bus_message_new_method_call(bus, &m, HN_BUS_NAME, path, interface, member);
        if (r >= 0 && strcmp(member, "Pin") == 0 && strcmp(signature, "ssssbts") == 0 && below(h, 4))
                r = append_pin(h, m);
        else if (r >= 0 && strcmp(member, "Advise") == 0 && strcmp(signature, "uta{sv}") == 0 && below(h, 4))
                r = append_advise(h, m);
        else if (r >= 0 && h->pin > 0 && strcmp(member, "Unpin") == 0 && strcmp(signature, "t") == 0 &&
                 below(h, 4))
                r = sd_bus_message_append_basic(m, 't', &h->pin);
        else if (r >= 0 && interface && strcmp(interface, PROPERTIES) == 0 && below(h, 4))
                r = append_property(h, m, signature);
        else
                for (p = signature; r >= 0 && *p;)
                        r = append(h, m, &p);
        if (r < 0)
                m = sd_bus_message_unref(m);
        return m;
}
