/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

#include "machine.h"

/* A bus, a homenoded on it, and a look at all that is said there. Every wait is for something, and bounded.
 */
#define STAGE_SECONDS 30
#define NOBODY        65534u

/* What the daemon begins with. */
#define STAGE_CONFIG                                                                          \
        "[Daemon]\nMode=manage\nIntervalSec=0.2\n[Rule app]\nCgroup=app.slice\nMode=manage\n" \
        "[Rule odd]\nCgroup=odd*\nMode=advise\n"

struct stage {
        char dir[64], address[128];
        struct hn_tree tree;
        pid_t bus_pid, daemon_pid;
        pid_t listener_pid;
        int notify;  /* what the daemon says to its service manager, from the listener */
        sd_bus *ear; /* root's connection */
        char *heard; /* a line a signal: "Interface.Member path arguments" */
        size_t n_heard;
};

/* Leaves with 77 where something is missing. For cmocka's group set-up. */
void stage_need(void);

void stage_make(struct stage *s);
void stage_destroy(struct stage *s); /* the daemon must have been stopped */

/* The bus: by a configuration like a system bus's, with the policy that we ship. */
void stage_start_bus(struct stage *s);
void stage_stop_bus(struct stage *s);

/* homenoded on the made-up machine; `more` are arguments of its own, up to a NULL. Waits until it says it is
 * ready, and stage_wait_name() until it is on the bus. stop ends it by SIGTERM and returns its exit status.
 */
void stage_start_daemon(struct stage *s, const char *const *more);
void stage_start_split_daemon(struct stage *s); /* the live machine, taken for one of two nodes: 0 and 1 */
void stage_wait_name(struct stage *s);
void stage_wait_no_owner(struct stage *s, const char *name);
int stage_stop_daemon(struct stage *s);

/* Waits for the next word of the daemon to its service manager that has `text` in it. */
void stage_wait_notify(struct stage *s, const char *text);

/* What the daemon wrote to standard error so far; the caller frees. */
char *stage_log(const struct stage *s);
void stage_write_config(const struct stage *s, const char *text);

/* Waits until a line with all of `a` and `b` was heard (since the last stage_forget()). */
void stage_hear(struct stage *s, const char *a, const char *b);
bool stage_has_heard(struct stage *s, const char *a);
void stage_forget(struct stage *s);

/* An answer: text of the first argument if that is a string or number, or what refused it. */
struct answer {
        bool ok, interactive;
        char error[128], message[1024];
        char text[65536];
};

/* Calls a method of the manager as a user. With `a->interactive` dialogues are allowed. */
void stage_call(struct stage *s, uid_t uid, struct answer *a, const char *member, const char *types, ...);

/* The same on any object. */
void stage_call_on(struct stage *s, uid_t uid, struct answer *a, const char *path, const char *interface,
                   const char *member, const char *types, va_list ap);

/* A property of the manager (or of `path`) as text, read as nobody. */
void stage_get(struct stage *s, struct answer *a, const char *path, const char *interface,
               const char *property);

/* Begins a process as a user with its own connection; it runs `f` and leaves. Killed by stage_kill(). */
pid_t stage_fork_client(struct stage *s, uid_t uid, void (*f)(sd_bus *bus, void *userdata), void *userdata);
void stage_kill(pid_t pid);

/* In such a process: a connection, or its end. */
sd_bus *stage_open(const struct stage *s);

/* A connection of this process, for root. */
sd_bus *stage_connect(const struct stage *s);

/* Runs a program to its end: exit status, and what it wrote to both outputs. */
int stage_run(const char *const *argv, char *output, size_t size);
