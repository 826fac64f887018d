/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "caller.h"
#include "trial.h"

/* Who may do what on the bus, asked of the daemon by three who try everything. */
#define PIN        "org.homenode1.pin"
#define MOVE_PAGES "org.homenode1.move-pages"
#define RELOAD     "org.homenode1.reload"
#define SET_MODE   "org.homenode1.set-mode"

#define BUS_PROPERTIES "org.freedesktop.DBus.Properties"

enum { BY_ROOT, BY_OWNER, BY_OTHER, BY_MAX };

/* For names of checks. */
extern const char *const rights_by[BY_MAX];

struct rights {
        struct caller who[BY_MAX];
        pid_t own;      /* a process of the owner's */
        pid_t half;     /* one that he started, but whose saved user id is root's */
        int node;       /* where to pin things to, */
        cpu_set_t cpus; /* and its CPUs */
};

/* Makes the users and the processes; ends the processes. */
int rights_prepare(struct trial *t, struct rights *s);
void rights_end(struct rights *s);

/* A check that the answer is a refusal by polkit which names that action; "": that it is none. */
void rights_check(struct trial *t, const char *name, const struct answer *a, const char *action);

/* A check that a property of the manager is this, read by somebody. */
void rights_check_property(struct trial *t, const struct rights *s, const char *name, const char *property,
                           const char *want);

/* Each method by each of them; the methods are those that the daemon tells of, and none is left out. */
void rights_methods(struct trial *t, const struct rights *s);

/* Each property of the manager and of a scope: read, and set, which nobody can. */
void rights_properties(struct trial *t, const struct rights *s, const char *scope);

/* Something that is held: where it is, and who may let it go. */
void rights_held(struct trial *t, const struct rights *s);

/* Pins something; its id or 0. With `ret` the answer too. And lets it go. */
uint64_t rights_pin(const struct caller *who, const char *kind, const char *target, int node, bool pages,
                    const struct answer **ret);
const struct answer *rights_unpin(const struct caller *who, uint64_t id);

/* Waits until a process has that mask. */
bool rights_wait_mask(pid_t pid, const cpu_set_t *want);

/* What an administrator's rules of polkit let another user do, and what not. */
void rights_rules(struct trial *t, const struct rights *s);
