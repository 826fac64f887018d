/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <syslog.h>

#include "base/macro.h"
#include "base/usec.h"

/* The one place that speaks: to the journal with a MESSAGE_ID and fields where stderr leads there, else in
 * plain lines to stderr. Everything is escaped on its way out (base/escape.h), so names may be passed as they
 * were read. */

/* Kinds of event. Each has a MESSAGE_ID and a text in conf/homenode.catalog (journalctl -x). */
enum hn_event {
        HN_EVENT_STARTED,
        HN_EVENT_STOPPING,
        HN_EVENT_CONFIG_WARNING,
        HN_EVENT_RELOADED,
        HN_EVENT_RELOAD_REFUSED,
        HN_EVENT_TASK_PINNED,
        HN_EVENT_TASK_WOULD_PIN,
        HN_EVENT_TASK_REFUSED,
        HN_EVENT_TASK_RELEASED,
        HN_EVENT_MASK_CHANGED, /* by somebody else, after us */
        HN_EVENT_PAGES_MOVED,
        HN_EVENT_RESTORED,
        HN_EVENT_SIGNAL_CHANGED,
        HN_EVENT_NOTHING_TO_DO,
        HN_EVENT_DENIED,
        HN_EVENT_OVERRIDE_ADDED,
        HN_EVENT_OVERRIDE_EXPIRED,
        HN_EVENT_OVERRIDE_REMOVED, /* taken back, replaced, or without a target */
        HN_EVENT_OVERRIDE_REFUSED,
        _HN_EVENT_MAX,
        _HN_EVENT_INVALID = -22,
};

const char *hn_event_to_string(enum hn_event e);     /* "task-pinned" */
const char *hn_event_to_message_id(enum hn_event e); /* 32 hex digits */

/* "warning": what journalctl -p takes. From a string: LOG_EMERG to LOG_DEBUG, or -EINVAL. */
const char *hn_log_level_to_string(int level);
int hn_log_level_from_string(const char *s);

/* A number that goes along: journal field HN_<name>. */
struct hn_log_figure {
        const char *name; /* "LOCAL_PERMILLE"; NULL ends the list */
        int64_t value;
};

/* What an event is about. Start from HN_LOG_FACTS_NULL; what is not set is not sent. */
struct hn_log_facts {
        pid_t tid, tgid;    /* 0: none */
        const char *comm;   /* HN_TASK_COMM_MAX bytes at most are looked at; need not end in a NUL */
        int from, to;       /* node ids; -1: none */
        const char *reason; /* hn_reason_to_string() */
        const char *scope;  /* cgroup path */
        const char *rule;
        const char *target; /* of an override: "process 4711" */
        const char *nodes;  /* list of ids */
        const char *why;    /* what the one who asked said */
        const char *file;   /* config-warning: CONFIG_FILE=, CONFIG_LINE= */
        unsigned line;
        const struct hn_log_figure *figures;
};

#define HN_LOG_FACTS_NULL ((struct hn_log_facts){ .from = -1, .to = -1 })

struct hn_log_once;

struct hn_log {
        FILE *stream;                                /* plain lines go here */
        int (*send)(const struct iovec *iov, int n); /* the journal's sendv, NULL for plain lines */
        int level;     /* priorities above (less important than) this one are dropped */
        hn_usec_t now; /* of the last hn_log_tick() */

        /* overall ceiling: a token a message */
        unsigned tokens;
        hn_usec_t refilled;
        uint64_t suppressed;

        /* said once, by (object, code) */
        struct hn_log_once *once;
        size_t n_once;
        hn_usec_t summed_up;
};

#define HN_LOG_BURST        1000u /* messages at once */
#define HN_LOG_RATE         20u   /* and a second after that */
#define HN_LOG_RESERVE      100u  /* of the burst, kept for LOG_WARNING and worse */
#define HN_LOG_ONCE_MAX     1024u /* (object, code) pairs remembered; the one quiet for longest makes room */
#define HN_LOG_SUMMARY_USEC (3600 * HN_USEC_PER_SEC)

/* Speaks to the journal if `stream` is what $JOURNAL_STREAM says, else in plain lines on `stream`.
 * Never fails: a log that cannot remember what was said says it each time. */
void hn_log_init(struct hn_log *log, FILE *stream);
void hn_log_deinit(struct hn_log *log);

/* Tells the log the time (CLOCK_MONOTONIC): refills the ceiling, and once an hour sums up what was repeated.
 * Once per tick of the daemon; without it nothing but the first HN_LOG_BURST messages comes out. */
void hn_log_tick(struct hn_log *log, hn_usec_t now);

/* One sentence about one event. `facts` may be NULL. */
void hn_log_event(struct hn_log *log, enum hn_event kind, int priority, const struct hn_log_facts *facts,
                  const char *fmt, ...) _hn_printf_(5, 6);

/* The same, but of all calls with an equal (object, code) only the first speaks; later ones are counted for
 * the hourly summary. `object` is a name like "task 4711" or a cgroup path, `code` an errno or a reason.
 * Returns whether it spoke. */
bool hn_log_event_once(struct hn_log *log, const char *object, int code, enum hn_event kind, int priority,
                       const struct hn_log_facts *facts, const char *fmt, ...) _hn_printf_(7, 8);

/* The trouble with (object, code) is over: says so once, with how often it came, if it was ever spoken of,
 * and forgets it. Returns whether it spoke. */
bool hn_log_recovered(struct hn_log *log, const char *object, int code, const char *fmt, ...)
        _hn_printf_(4, 5);

/* Forgets what was said of an object that is gone, without a word. */
void hn_log_forget(struct hn_log *log, const char *object);

/* Plain sentences that are no kind of event. */
void hn_log_say(struct hn_log *log, int priority, const char *fmt, ...) _hn_printf_(3, 4);

/* "<text>: Permission denied", at LOG_ERR. Returns `r` (negative), so that it can be returned on. */
int hn_log_error_errno(struct hn_log *log, int r, const char *fmt, ...) _hn_printf_(3, 4);
int hn_log_warning_errno(struct hn_log *log, int r, const char *fmt, ...) _hn_printf_(3, 4);

/* A hn_config_warn_fn with a struct hn_log * as userdata: "file:line: text", HN_EVENT_CONFIG_WARNING. */
void hn_log_config_warning(void *userdata, const char *file, unsigned line, const char *text);
