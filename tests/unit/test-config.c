/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/macro.h"
#include "daemon/config.h"

/* Warnings as lines of "file:line: text", so that a row can say all of them at once. */
struct heard {
        char text[4096];
        size_t used, n;
        const char *strip; /* taken off the file's path */
};

static void hear(void *userdata, const char *file, unsigned line, const char *text) {
        struct heard *h = userdata;

        if (h->strip && strncmp(file, h->strip, strlen(h->strip)) == 0)
                file += strlen(h->strip);
        h->n++;
        h->used += (size_t) snprintf(h->text + h->used, sizeof(h->text) - h->used, "%s:%u: %s\n", file, line,
                                     text);
        assert_true(h->used < sizeof(h->text));
}

/* The whole config in one line; what has its default is left out. */
static const char *show(const struct hn_config *c, char *buf, size_t size) {
        const struct hn_config none = HN_CONFIG_NULL;
        size_t used = 0;

#define ADD(...) used += (size_t) snprintf(buf + used, size - used, __VA_ARGS__)
        buf[0] = '\0';
        if (c->mode != none.mode)
                ADD("mode=%s ", hn_mode_to_string(c->mode));
        if (c->interval != none.interval)
                ADD("interval=%" PRIu64 " ", c->interval);
        if (c->cpu_budget_permille != none.cpu_budget_permille)
                ADD("budget=%u ", c->cpu_budget_permille);
        if (c->page_rate != none.page_rate)
                ADD("rate=%" PRIu64 " ", c->page_rate);
        if (c->page_slice != none.page_slice)
                ADD("slice=%" PRIu64 " ", c->page_slice);
        if (c->marks != none.marks)
                ADD("marks=%s ", hn_mark_trust_to_string(c->marks));
        for (size_t i = 0; i < c->n_rules; i++) {
                const struct hn_rule *rule = &c->rules[i];
                char nodes[64];

                ADD("[%s", rule->name);
                for (enum hn_matcher m = 0; m < _HN_MATCH_MAX; m++)
                        for (size_t k = 0; k < rule->match[m].n; k++)
                                ADD(" %s%s%s", m == HN_MATCH_CGROUP ? "" : hn_matcher_to_string(m),
                                    m == HN_MATCH_CGROUP ? "" : "=", rule->match[m].items[k]);
                if (rule->mode != HN_MODE_OBSERVE)
                        ADD(" %s", hn_mode_to_string(rule->mode));
                if (!rule->pages)
                        ADD(" pages=no");
                if (rule->within_user_mask)
                        ADD(" within");
                assert_true(hn_mask_print_list(&rule->nodes, nodes, sizeof(nodes)) >= 0);
                if (nodes[0] != '\0')
                        ADD(" nodes=%s", nodes);
                for (size_t k = 0; k < rule->devices.n; k++)
                        ADD(" near=%s", rule->devices.items[k]);
                ADD("] ");
        }
#undef ADD
        if (used > 0)
                buf[used - 1] = '\0';
        return buf;
}

#define A50          "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
#define KNOWN_DAEMON "known are Mode, IntervalSec, CpuBudget, PageRate, PageSliceMs, Marks"
#define KNOWN_RULE   "known are Cgroup, Unit, Comm, Exe, User, Mode, Pages, Nodes, UserMask, PreferDevice"
#define NOTHING      "matches nothing, ignored; add Cgroup=, Unit=, Comm=, Exe= or User="
#define UNITS        "expected names of services, slices or scopes such as web-*.service"
#define COMMS        "expected names of processes, which have up to 15 bytes, with *, ? and []"
#define EXES         "expected paths of programs from the root, with *, ? and [] inside a component"
#define USERS        "expected names or numbers of users"
#define DEVICES      "expected devices such as pci:0000:3b:00.0, netdev:eth0, block:nvme0n1 or a path"
#define SPAN_SEC     "expected a time from 100ms to 1h, in seconds if it has no unit"
#define SPAN_MSEC    "expected a time from 1ms to 1s, in milliseconds if it has no unit"
#define SHARE        "expected a share of one CPU from 0.1% to 100%"
#define RATE         "expected bytes a second from 1M to 1T"
#define MODES        "expected observe, advise or manage"
#define GLOBS        "expected cgroup paths below the root, with *, ? and [] inside a component"

static const struct {
        const char *text, *config, *warnings;
} rows[] = {
        /* liars and damage */
        { "[Daemon\nMode=manage\n[Daemon]\nIntervalSec=2\n", "interval=2000000",
          "f:1: section line [Daemon has no \"]\"; what follows is ignored up to the next section\n" },
        { "[Rule a]\nCgroup=x\n[Rule b\nCgroup=y\nMode=manage\n", "[a x]",
          "f:3: section line [Rule b has no \"]\"; what follows is ignored up to the next section\n" },
        { "[Daemons]\nMode=manage\nfoo\n", "",
          "f:1: unknown section [Daemons], ignored; known are [Daemon] and [Rule NAME]\n" },
        { "[]\n", "", "f:1: unknown section [], ignored; known are [Daemon] and [Rule NAME]\n" },
        { "Mode=manage\nIntervalSec=2\n", "",
          "f:1: settings before the first section, ignored; put [Daemon] or [Rule NAME] above\n" },
        { "[Daemon]\n\nMode\n", "", "f:3: \"Mode\" is not of the form Key=Value, ignored\n" },
        { "[Daemon]\nMode: manage\n", "", "f:2: \"Mode: manage\" is not of the form Key=Value, ignored\n" },
        { "[Daemon]\n=manage\n", "", "f:2: \"=manage\" is not of the form Key=Value, ignored\n" },
        { "[Daemon]\na ;=\n", "", "f:2: \"a ;=\" is not of the form Key=Value, ignored\n" },
        { "[Daemon]\nx\x1b[31m\xff=1\n", "",
          "f:2: unknown key \"x\\x1b[31m\\xff\" in [Daemon], ignored; " KNOWN_DAEMON "\n" },
        { "[Rule a\tb]\nCgroup=x\n", "",
          "f:1: \"a\\x09b\" is no rule name, rule ignored; use visible ASCII without spaces and \"*\"\n" },
        { "[Rule *]\nCgroup=x\n", "",
          "f:1: \"*\" is no rule name, rule ignored; use visible ASCII without spaces and \"*\"\n" },
        { "[Rule ]\nCgroup=x\n", "",
          "f:1: \"\" is no rule name, rule ignored; use visible ASCII without spaces and \"*\"\n" },
        { "[Rule " A50 "]\nCgroup=x\n", "",
          "f:1: rule name in [Rule " A50 "] is too long, rule ignored; 44 characters are allowed\n" },
        { "[Rule a]\nCgroup=x\nCgroup=" A50 A50 A50 A50 "\nMode=advise\n", "[a x advise]",
          "f:3: line is longer than 199 bytes, ignored; Cgroup= may be given several times\n" },

        /* keys and values */
        { "[Daemon]\nIntervall=1\nMode=advise\n", "mode=advise",
          "f:2: unknown key \"Intervall\" in [Daemon], ignored; " KNOWN_DAEMON "\n" },
        { "[Daemon]\nmode=advise\n", "",
          "f:2: unknown key \"mode\" in [Daemon], ignored; " KNOWN_DAEMON "\n" },
        { "[Daemon]\nCgroup=x\n", "",
          "f:2: unknown key \"Cgroup\" in [Daemon], ignored; " KNOWN_DAEMON "\n" },
        { "[Rule a]\nCgroup=x\nIntervalSec=1\n", "[a x]",
          "f:3: unknown key \"IntervalSec\" in [Rule], ignored; " KNOWN_RULE "\n" },
        { "[Daemon]\nMode=on\n", "", "f:2: Mode=on is not understood, ignored; " MODES "\n" },
        { "[Daemon]\nMode=\n", "", "f:2: Mode= is not understood, ignored; " MODES "\n" },
        { "[Daemon]\nMode=manage # now\n", "",
          "f:2: Mode=manage # now is not understood, ignored; " MODES "\n" },
        { "[Daemon]\nIntervalSec=banana\n", "",
          "f:2: IntervalSec=banana is not understood, ignored; " SPAN_SEC "\n" },
        { "[Daemon]\nIntervalSec=-1\n", "",
          "f:2: IntervalSec=-1 is not understood, ignored; " SPAN_SEC "\n" },
        { "[Daemon]\nIntervalSec=0\n", "", "f:2: IntervalSec=0 is out of range, ignored; " SPAN_SEC "\n" },
        { "[Daemon]\nIntervalSec=99ms\n", "",
          "f:2: IntervalSec=99ms is out of range, ignored; " SPAN_SEC "\n" },
        { "[Daemon]\nIntervalSec=61min\n", "",
          "f:2: IntervalSec=61min is out of range, ignored; " SPAN_SEC "\n" },
        { "[Daemon]\nIntervalSec=99999999999999999999\n", "",
          "f:2: IntervalSec=99999999999999999999 is out of range, ignored; " SPAN_SEC "\n" },
        { "[Daemon]\nPageSliceMs=0.9\n", "",
          "f:2: PageSliceMs=0.9 is out of range, ignored; " SPAN_MSEC "\n" },
        { "[Daemon]\nPageSliceMs=2s\n", "", "f:2: PageSliceMs=2s is out of range, ignored; " SPAN_MSEC "\n" },
        { "[Daemon]\nCpuBudget=0%\n", "", "f:2: CpuBudget=0% is out of range, ignored; " SHARE "\n" },
        { "[Daemon]\nCpuBudget=101%\n", "", "f:2: CpuBudget=101% is out of range, ignored; " SHARE "\n" },
        { "[Daemon]\nCpuBudget=1x\n", "", "f:2: CpuBudget=1x is not understood, ignored; " SHARE "\n" },
        { "[Daemon]\nPageRate=0\n", "", "f:2: PageRate=0 is out of range, ignored; " RATE "\n" },
        { "[Daemon]\nPageRate=2T\n", "", "f:2: PageRate=2T is out of range, ignored; " RATE "\n" },
        { "[Daemon]\nPageRate=200MB\n", "", "f:2: PageRate=200MB is not understood, ignored; " RATE "\n" },
        { "[Rule a]\nCgroup=x\nNodes=3-1\n", "[a x]",
          "f:3: Nodes=3-1 is not understood, ignored; expected node numbers such as 0-3,6, or nothing for "
          "all\n" },
        { "[Rule a]\nCgroup=x\nNodes=99999\n", "[a x]",
          "f:3: Nodes=99999 is out of range, ignored; expected node numbers such as 0-3,6, or nothing for "
          "all\n" },
        { "[Rule a]\nCgroup=x\nPages=maybe\n", "[a x]",
          "f:3: Pages=maybe is not understood, ignored; expected yes or no\n" },
        { "[Rule a]\nCgroup=x\nUserMask=widen\n", "[a x]",
          "f:3: UserMask=widen is not understood, ignored; expected leave or within\n" },
        { "[Rule a]\nCgroup=good ../x\n", "",
          "f:2: Cgroup=good ../x is not understood, ignored; " GLOBS "\n" },
        { "[Rule a]\nCgroup=good\nCgroup=a//b\nCgroup=a/[x/b\nCgroup=/\n", "[a good]",
          "f:3: Cgroup=a//b is not understood, ignored; " GLOBS "\n"
          "f:4: Cgroup=a/[x/b is not understood, ignored; " GLOBS "\n"
          "f:5: Cgroup=/ is not understood, ignored; " GLOBS "\n" },
        { "[Rule a]\nMode=manage\n[Rule b]\nCgroup=y\n", "[b y]", "f:1: rule \"a\" " NOTHING "\n" },
        { "[Rule a]\nCgroup=x\nCgroup=\n", "", "f:1: rule \"a\" " NOTHING "\n" },

        /* processes: a key that is lost must not make a rule wider than it was meant */
        { "[Rule a]\nCgroup=x\nComm=postgres-checkpointer\n", "",
          "f:3: Comm=postgres-checkpointer is not understood, ignored; " COMMS "\n"
          "f:1: rule \"a\" would take in more than was meant without its Comm=, ignored\n" },
        { "[Rule a]\nComm=x\nCgroup=/\n", "",
          "f:3: Cgroup=/ is not understood, ignored; " GLOBS "\n"
          "f:1: rule \"a\" would take in more than was meant without its Cgroup=, ignored\n" },
        { "[Rule a]\nUnit=web\n", "", "f:2: Unit=web is not understood, ignored; " UNITS "\n" },
        { "[Rule a]\nUnit=web.timer\nUnit=a/b.service\nUnit=.service\n", "",
          "f:2: Unit=web.timer is not understood, ignored; " UNITS "\n"
          "f:3: Unit=a/b.service is not understood, ignored; " UNITS "\n"
          "f:4: Unit=.service is not understood, ignored; " UNITS "\n" },
        { "[Rule a]\nExe=java\nExe=/usr/bin/../x\nExe=/\n", "",
          "f:2: Exe=java is not understood, ignored; " EXES "\n"
          "f:3: Exe=/usr/bin/../x is not understood, ignored; " EXES "\n"
          "f:4: Exe=/ is not understood, ignored; " EXES "\n" },
        { "[Rule a]\nUser=a:b\n", "", "f:2: User=a:b is not understood, ignored; " USERS "\n" },
        { "[Rule a]\nUser=root\nUser=\n", "", "f:1: rule \"a\" " NOTHING "\n" },
        { "[Rule a]\nCgroup=x\nPreferDevice=eth0\nPreferDevice=pci:zz:00.0 pci:0000:00:02.0\n"
          "PreferDevice=netdev:../x\nPreferDevice=block:\n",
          "[a x]",
          "f:3: PreferDevice=eth0 is not understood, ignored; " DEVICES "\n"
          "f:4: PreferDevice=pci:zz:00.0 pci:0000:00:02.0 is not understood, ignored; " DEVICES "\n"
          "f:5: PreferDevice=netdev:../x is not understood, ignored; " DEVICES "\n"
          "f:6: PreferDevice=block: is not understood, ignored; " DEVICES "\n" },
        { "[Rule a]\nCgroup=x\nPreferDevice=/1 /2 /3 /4 /5 /6 /7 /8 /9 /10 /11 /12 /13 /14 /15 /16 /17\n",
          "[a x]",
          "f:3: PreferDevice=/1 /2 /3 /4 /5 /6 /7 /8 /9 /10 /11 /12 /13 /14 /15 /16 /17 is out of range, "
          "ignored; " DEVICES "\n" },
        { "[Daemon]\nMarks=own\n", "",
          "f:2: Marks=own is not understood, ignored; expected no, lower, root or all\n" },

        /* what is right has no warning */
        { "[Daemon]\nMarks=root\n[Rule a]\nComm=java CPU?*/KVM\nComm=aaaaaaaaaaaaaaa\nUser=root 1000\n"
          "Exe=/usr/lib/*/bin/x\nUnit=web@*.service nginx*\nPreferDevice=pci:3b:00.0 netdev:eth0 /srv/db\n",
          "marks=root [a Unit=web@*.service Unit=nginx* Comm=java Comm=CPU?*/KVM Comm=aaaaaaaaaaaaaaa "
          "Exe=/usr/lib/*/bin/x User=root User=1000 near=pci:3b:00.0 near=netdev:eth0 near=/srv/db]",
          "" },
        { "", "", "" },
        { "\xef\xbb\xbf# a comment\n; another\n[Daemon]\r\n  Mode = manage \r\nIntervalSec=0.5\n"
          "CpuBudget=2%\nPageRate=1G\n"
          "PageSliceMs=5\n",
          "mode=manage interval=500000 budget=20 rate=1073741824 slice=5000", "" },
        { "[Daemon]\nIntervalSec=100ms\nPageSliceMs=1s ; a comment\nCpuBudget=0.1",
          "interval=100000 budget=1 slice=1000000", "" },
        { "[Rule web]\nCgroup=/system.slice/web-*.service/ user.slice\nCgroup=a/[bc]?\nMode=manage\n"
          "Pages=no\nNodes=0-3,255\n"
          "UserMask=within\n[Rule db-1@x]\nCgroup=*\n",
          "[web system.slice/web-*.service user.slice a/[bc]? manage pages=no within nodes=0-3,255] "
          "[db-1@x *]",
          "" },
        { "[Rule a]\nCgroup=x\n[Daemon]\nMode=advise\n[Rule b]\nCgroup=y\n[Rule a]\nMode=manage\nCgroup=z\n",
          "mode=advise [a x z manage] [b y]", "" },
        { "[Rule a]\nCgroup=x y\nCgroup=\nCgroup=z\nNodes=1\nNodes=\n", "[a z]", "" },
};

static void lines_count_one_by_one(void **state) {
        (void) state;
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                struct hn_config c = HN_CONFIG_NULL;
                struct heard h = { .n = 0 };
                size_t warnings = 0;
                char buf[1024];

                assert_int_equal(
                        hn_config_feed(&c, rows[i].text, strlen(rows[i].text), "f", hear, &h, &warnings), 0);
                hn_config_settle(&c, hear, &h, &warnings);
                assert_string_equal(h.text, rows[i].warnings);
                assert_string_equal(show(&c, buf, sizeof(buf)), rows[i].config);
                assert_int_equal(warnings, h.n);
                hn_config_deinit(&c);
        }
}

static void a_nul_byte_costs_its_line(void **state) {
        static const char text[] = "[Daemon]\nMode=man\0age\nIntervalSec=2\n";
        struct hn_config c = HN_CONFIG_NULL;
        struct heard h = { .n = 0 };
        size_t warnings = 0;
        char buf[256];

        (void) state;
        assert_int_equal(hn_config_feed(&c, text, sizeof(text) - 1, "f", hear, &h, &warnings), 0);
        assert_string_equal(h.text, "f:2: line with a NUL byte, ignored; is this a text file?\n");
        assert_string_equal(show(&c, buf, sizeof(buf)), "interval=2000000");
        hn_config_deinit(&c);
}

static void the_longest_line_is_taken(void **state) {
        struct hn_config c = HN_CONFIG_NULL;
        struct heard h = { .n = 0 };
        size_t warnings = 0;
        char text[256] = "[Rule a]\nCgroup=";

        (void) state;
        memset(text + strlen(text), 'x', 199 - strlen("Cgroup="));
        assert_int_equal(hn_config_feed(&c, text, strlen(text), "f", hear, &h, &warnings), 0);
        assert_string_equal(h.text, "");
        assert_int_equal(strlen(c.rules[0].match[HN_MATCH_CGROUP].items[0]), 199 - strlen("Cgroup="));
        hn_config_deinit(&c);
}

/* Files */

static char *make_root(void) {
        static char root[64];

        (void) snprintf(root, sizeof(root), "/tmp/test-config-XXXXXX");
        assert_non_null(mkdtemp(root));
        return root;
}

static void remove_root(const char *root) {
        char command[128];

        (void) snprintf(command, sizeof(command), "rm -rf -- '%s'", root);
        assert_int_equal(system(command), 0); /* NOLINT(cert-env33-c): the path is our own */
}

static void make_folders(const char *path) {
        char part[256];

        for (const char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
                (void) snprintf(part, sizeof(part), "%.*s", (int) (p - path), path);
                if (mkdir(part, 0755) < 0)
                        assert_int_equal(errno, EEXIST);
        }
}

static void put(const char *root, const char *file, const char *text) {
        char path[256];
        FILE *f;

        (void) snprintf(path, sizeof(path), "%s%s", root, file);
        make_folders(path);
        f = fopen(path, "we");
        assert_non_null(f);
        assert_true(fputs(text, f) >= 0);
        assert_int_equal(fclose(f), 0);
}

static void put_link(const char *root, const char *file, const char *target) {
        char path[256];

        (void) snprintf(path, sizeof(path), "%s%s", root, file);
        make_folders(path);
        assert_int_equal(symlink(target, path), 0);
}

static void load(const char *root, const char *only, const char *config, const char *warnings) {
        struct hn_config c;
        struct heard h = { .strip = root };
        size_t n = 99;
        char buf[1024];

        assert_int_equal(hn_config_load(root, only, hear, &h, &c, &n), 0);
        assert_string_equal(h.text, warnings);
        assert_string_equal(show(&c, buf, sizeof(buf)), config);
        assert_int_equal(n, h.n);
        hn_config_deinit(&c);
}

#define D "/homenode/homenode.conf.d/"

static void files_come_in_order(void **state) {
        const char *root = make_root();

        (void) state;
        load(root, NULL, "", "");

        put(root, "/usr/lib/homenode/homenode.conf", "[Daemon]\nMode=manage\n");
        load(root, NULL, "mode=manage", "");
        put(root, "/run/homenode/homenode.conf", "[Daemon]\nIntervalSec=2\n");
        load(root, NULL, "interval=2000000", "");
        put(root, "/etc/homenode/homenode.conf", "[Daemon]\nMode=advise\n[Rule a]\nCgroup=a\n");
        load(root, NULL, "mode=advise [a a]", "");

        /* sorted by name over all folders, and the highest of the same name alone */
        put(root, "/usr/lib" D "10-vendor.conf", "[Daemon]\nIntervalSec=3\n[Rule b]\nCgroup=b\n");
        put(root, "/etc" D "90-admin.conf", "[Daemon]\nIntervalSec=9\n[Rule a]\nMode=manage\n");
        put(root, "/usr/local/lib" D "50-local.conf", "[Daemon]\nIntervalSec=5\nMode=manage\n");
        put(root, "/usr/lib" D "50-local.conf", "[Daemon]\nPageRate=1G\n");
        load(root, NULL, "mode=manage interval=9000000 [a a manage] [b b]", "");

        /* masked by a link to /dev/null, and by an empty file */
        put_link(root, "/etc" D "10-vendor.conf", "/dev/null");
        put(root, "/run" D "50-local.conf", "");
        load(root, NULL, "mode=advise interval=9000000 [a a manage]", "");

        /* not ours: hidden, and other endings */
        put(root, "/etc" D ".hidden.conf", "rubbish");
        put(root, "/etc" D "90-admin.conf~", "rubbish");
        put(root, "/etc" D ".conf", "rubbish");
        load(root, NULL, "mode=advise interval=9000000 [a a manage]", "");
        remove_root(root);
}

static void a_bad_file_has_one_warning(void **state) {
        const char *root = make_root();
        char path[256];

        (void) state;
        put(root, "/etc/homenode/homenode.conf", "[Daemon]\nMode=advise\nx\n");
        put(root, "/etc" D "10-folder.conf/x", "");
        put_link(root, "/etc" D "20-nothing.conf", "nowhere");
        put_link(root, "/etc" D "30-circle.conf", "30-circle.conf");
        (void) snprintf(path, sizeof(path), "%s/etc" D "40-fifo.conf", root);
        assert_int_equal(mkfifo(path, 0600), 0);
        put(root, "/etc" D "50-huge.conf", "");
        (void) snprintf(path, sizeof(path), "%s/etc" D "50-huge.conf", root);
        assert_int_equal(truncate(path, (off_t) HN_CONFIG_FILE_MAX + 1), 0);
        put(root, "/etc" D "60-good.conf", "[Daemon]\nMode=manage\n\nIntervalSec=x\n");
        load(root, NULL, "mode=manage",
             "/etc/homenode/homenode.conf:3: \"x\" is not of the form Key=Value, ignored\n"
             "/etc" D "10-folder.conf:0: cannot be read, ignored: Is a directory\n"
             "/etc" D "20-nothing.conf:0: cannot be read, ignored: it is a link to nothing\n"
             "/etc" D "30-circle.conf:0: cannot be read, ignored: Too many levels of symbolic links\n"
             "/etc" D "40-fifo.conf:0: cannot be read, ignored: it is not a regular file\n"
             "/etc" D "50-huge.conf:0: cannot be read, ignored: it is larger than 1 MiB\n"
             "/etc" D "60-good.conf:4: IntervalSec=x is not understood, ignored; " SPAN_SEC "\n");
        remove_root(root);
}

static void an_unreadable_dropin_has_one_warning(void **state) {
        const char *root = make_root();
        char path[256];

        (void) state;
        put(root, "/etc" D "10-secret.conf", "[Daemon]\nMode=manage\n");
        put(root, "/etc" D "20-good.conf", "[Daemon]\nIntervalSec=2\n");
        (void) snprintf(path, sizeof(path), "%s/etc" D "10-secret.conf", root);
        assert_int_equal(chmod(path, 0), 0);
        assert_int_equal(chmod(root, 0755), 0);
        /* The superuser reads it all the same; the others must hear of it. */
        if (geteuid() == 0)
                assert_int_equal(seteuid(65534), 0);
        load(root, NULL, "interval=2000000",
             "/etc" D "10-secret.conf:0: cannot be read, ignored: Permission denied\n");
        if (getuid() == 0)
                assert_int_equal(seteuid(0), 0);
        remove_root(root);
}

static void a_named_file_stands_alone(void **state) {
        const char *root = make_root();
        struct heard h = { .n = 0 };
        struct hn_config c;
        size_t n = 99;
        char path[256];

        (void) state;
        put(root, "/etc" D "10-x.conf", "[Daemon]\nMode=manage\n");
        put(root, "/only.conf", "[Daemon]\nIntervalSec=2\n");
        (void) snprintf(path, sizeof(path), "%s/only.conf", root);
        load(root, path, "interval=2000000", "");
        load(root, "/dev/null", "", "");

        (void) snprintf(path, sizeof(path), "%s/absent.conf", root);
        assert_int_equal(hn_config_load("", path, hear, &h, &c, &n), -ENOENT);
        assert_int_equal(hn_config_load("", root, hear, &h, &c, &n), -EISDIR);
        assert_int_equal(h.n, 0);
        assert_int_equal(n, 99);
        remove_root(root);
}

static void what_is_shipped_changes_nothing(void **state) {
        (void) state;
        load("", HN_SRCDIR "/conf/homenode.conf", "", "");
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(lines_count_one_by_one),
                cmocka_unit_test(a_nul_byte_costs_its_line),
                cmocka_unit_test(the_longest_line_is_taken),
                cmocka_unit_test(files_come_in_order),
                cmocka_unit_test(a_bad_file_has_one_warning),
                cmocka_unit_test(an_unreadable_dropin_has_one_warning),
                cmocka_unit_test(a_named_file_stands_alone),
                cmocka_unit_test(what_is_shipped_changes_nothing),
        };

        (void) umask(022);
        return cmocka_run_group_tests(tests, NULL, NULL);
}
