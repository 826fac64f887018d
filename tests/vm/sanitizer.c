/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "guest.h"
#include "judge.h"
#include "sanitizer.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DROP_INS "/run/systemd/system/homenoded.service.d/"

/* Leaks are found by a process that traces the one that leaves, which the unit's own filter does not let it.
 * Of memory a daemon with a shadow of it needs more. */
#define SETTINGS                                                                     \
        "[Service]\nEnvironment=\"ASAN_OPTIONS=detect_leaks=1:abort_on_error=0%s\" " \
        "UBSAN_OPTIONS=print_stacktrace=1%s%s\nSystemCallFilter=ptrace\nMemoryMax=infinity\n"

/* What a leak has a program exit with that has AddressSanitizer too. */
#define EXIT_LEAK 1

static int write_settings(const char *file, const char *options, const char *preload) {
        char text[1024];

        (void) snprintf(text, sizeof(text), SETTINGS, options, *preload ? " LD_PRELOAD=" : "", preload);
        return guest_file_write(file, text);
}

int sanitizer_set_up(void) {
        return write_settings(DROP_INS "asan.conf", "", "");
}

static int exit_status(void) {
        char *const argv[] = { (char *) "systemctl",
                               (char *) "show",
                               (char *) "--value",
                               (char *) "-p",
                               (char *) "ExecMainStatus",
                               (char *) DAEMON_UNIT,
                               NULL };
        char text[64];

        return guest_run(argv, text, sizeof(text)) == 0 ? (int) strtol(text, NULL, 10) : -1;
}

void sanitizer_check(struct trial *t, const json_t *journal) {
        static const char *const reports[] = { "ERROR: AddressSanitizer", "ERROR: LeakSanitizer",
                                               "LeakSanitizer has encountered", "runtime error:" };
        const char *found = NULL;
        int status = exit_status();

        for (size_t i = 0; !found && i < sizeof(reports) / sizeof(reports[0]); i++)
                found = strstr(json_string_value(journal), reports[i]);
        trial_check(t, "sanitizers_silent", !found, found ? json_string(found) : json_null(), "no report");
        trial_check(t, "sanitizers_exit_status", status == 0, json_integer(status), "0");
}

void sanitizer_check_leaks_seen(struct trial *t, const char *payload) {
        char library[256], since[64];
        json_t *journal;
        int status;

        (void) snprintf(library, sizeof(library), "%s/bin/hn-leak.so", payload);
        (void) judge_since(since, sizeof(since));
        (void) write_settings(DROP_INS "leak.conf", ":verify_asan_link_order=0", library);
        (void) guest_systemctl("daemon-reload", NULL);
        (void) guest_systemctl("start", DAEMON_UNIT);
        (void) guest_systemctl("stop", DAEMON_UNIT);
        status = exit_status();
        journal = trial_journal(since);
        trial_check(t, "leaks_seen",
                    status == EXIT_LEAK && judge_text_has(journal, "LeakSanitizer: detected memory leaks") &&
                            judge_text_has(journal, "tests/vm/leak.c:"),
                    json_pack("[i, o]", status, journal), "exit status 1 and a report that names leak.c");
        (void) unlink(DROP_INS "leak.conf");
        (void) guest_systemctl("daemon-reload", NULL);
        (void) guest_systemctl("reset-failed", DAEMON_UNIT);
}
