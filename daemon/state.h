/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/usec.h"
#include "policy/snapshot.h"

/* What the daemon tells the world in RUNDIR/state.json, as a plain struct: the manager fills it,
 * hn_state_write() prints it. `homenode status` is one of its readers; anybody may read it. */

#define HN_STATE_VERSION  1
#define HN_STATE_LAST     64 /* events kept */
#define HN_STATE_TEXT     256
#define HN_STATE_NOTES    16
#define HN_STATE_REFUSALS 32
#define HN_STATE_FILE     "state.json"

enum hn_state_act {
        HN_STATE_PIN,
        HN_STATE_RELEASE,
        HN_STATE_PAGES,
        HN_STATE_REFUSE,
        HN_STATE_WOULD_PIN,
        _HN_STATE_ACT_MAX,
};

const char *hn_state_act_to_string(enum hn_state_act a); /* "would-pin" */

struct hn_state_event {
        uint64_t time_usec; /* CLOCK_REALTIME */
        pid_t tid;
        char comm[HN_TASK_COMM_MAX]; /* raw */
        enum hn_state_act act;
        int from, to;             /* node ids, -1: none */
        const char *reason;       /* static: hn_reason_to_string() */
        char text[HN_STATE_TEXT]; /* one sentence, cut if longer */
};

struct hn_state_scope {
        const char *path, *rule;         /* of the caller, alive until the next one is filled */
        const struct hn_scope *settings; /* the same */
        enum hn_mode mode;
        size_t tasks, managed;
        enum hn_signal signal; /* the best one any of its tasks has */
        const char *note;      /* of the caller, or NULL */
        uint64_t known, local; /* faults, or pages, of its tasks, and those on the node their task runs on */
};

/* The rule that a scope shares its cgroup under; "" where the whole cgroup is the rule's. With the path it is
 * the name of a scope: there are no two of the same. */
const char *hn_state_scope_part(const struct hn_state_scope *scope);

/* For qsort(3): by path, then by part. */
int hn_state_scope_compare(const void *a, const void *b);

struct hn_override_list;

/* A node's CPUs, in thousandths of one. */
struct hn_state_node {
        unsigned id;
        uint32_t busy;     /* at work since the tick before */
        uint32_t others;   /* used by what is not opted in, averaged */
        uint32_t opted_in; /* what opted-in tasks use that are held there, or run there unheld: averaged, with
                              what they wait for */
};

struct hn_state {
        pid_t pid;
        bool running; /* false: the last word of a daemon that stopped in order */
        enum hn_mode mode;
        size_t n_nodes;
        unsigned kernel_balancing;
        uint64_t tick;
        enum hn_signal signal;
        uint64_t time_usec;       /* CLOCK_REALTIME of this state */
        hn_usec_t interval;       /* between two states, so that a reader knows a stale one */
        uint64_t moves;           /* mask changes that took, or held, a task */
        uint64_t helped, in_vain; /* of those that were to bring it nearer to its memory, what came of them */
        uint64_t pages_moved, restored;
        uint64_t sweep_us;     /* CPU time of the last sweep */
        unsigned cpu_permille; /* what homenoded costs, of one CPU */

        size_t n_refusals;
        struct {
                const char *reason; /* static */
                uint64_t count;
        } refusals[HN_STATE_REFUSALS];

        size_t n_scopes;
        const struct hn_state_scope *scopes; /* ascending by path and part */

        const struct hn_override_list *overrides; /* of the caller, or NULL */
        size_t n_load;                            /* 0: not measured in this tick */
        const struct hn_state_node *load;

        uint64_t n_events; /* ever; the ring holds the last HN_STATE_LAST */
        struct hn_state_event last[HN_STATE_LAST];

        size_t n_notes;
        char notes[HN_STATE_NOTES][HN_STATE_TEXT];
};

#define HN_STATE_NULL ((struct hn_state){})

/* Puts an event into the ring, the oldest one leaves. `comm` is at most HN_TASK_COMM_MAX raw bytes. */
void hn_state_event_add(struct hn_state *s, uint64_t time_usec, enum hn_state_act act, pid_t tid,
                        const char *comm, int from, int to, const char *reason, const char *text);

/* The one that was put in last; there has been one. */
const struct hn_state_event *hn_state_last_event(const struct hn_state *s);

/* Counts a refusal under its reason (a static string). More than HN_STATE_REFUSALS different ones count as
 * "other". */
void hn_state_refusal_add(struct hn_state *s, const char *reason);

/* Notes are set afresh each tick: clear, add. One that is there already is not added twice; what is over the
 * bound is left off. */
void hn_state_notes_clear(struct hn_state *s);
void hn_state_note_add(struct hn_state *s, const char *text);

/* The JSON text, one line and a newline, always valid UTF-8. The caller frees `*ret`. Returns 0 or -ENOMEM.
 */
int hn_state_format(const struct hn_state *s, char **ret, size_t *ret_n);

/* Writes RUNDIR/state.json whole: aside in the same folder, then rename(2). Mode 0644, no fsync: it is of no
 * use after a crash of the machine. Returns 0 or -errno. */
int hn_state_write(const char *run_dir, const struct hn_state *s);
