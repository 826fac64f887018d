/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* We send our own words about where we are; the line of log.c that called would tell nobody anything. */
#define SD_JOURNAL_SUPPRESS_LOCATION
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <systemd/sd-journal.h>

#include "base/escape.h"
#include "base/macro.h"
#include "base/parse.h"
#include "daemon/log.h"
#include "daemon/logonce.h"
#include "policy/snapshot.h"

#define TEXT_MAX  1024
#define FIELD_MAX 4400 /* a cgroup path of PATH_MAX with its name: no field may take another's room */

/* The ids are what people filter by and the catalog refers to: an event keeps its own for ever. */
static const struct {
        const char *name, *id;
} events[_HN_EVENT_MAX] = {
        [HN_EVENT_STARTED] = { "started", "6f60d2e3f254468c9a044a2f52025e74" },
        [HN_EVENT_STOPPING] = { "stopping", "5cd9baad2d1149ca8613e4d1d4da72bd" },
        [HN_EVENT_CONFIG_WARNING] = { "config-warning", "204969c8ffa641d991a2a9621158781c" },
        [HN_EVENT_RELOADED] = { "reloaded", "4bb9001beecf426291741040840df58d" },
        [HN_EVENT_RELOAD_REFUSED] = { "reload-refused", "6d2b00f2410247109ba229219bf5cf56" },
        [HN_EVENT_TASK_PINNED] = { "task-pinned", "66b53026651b485190c9e525d8ef2ffa" },
        [HN_EVENT_TASK_WOULD_PIN] = { "task-would-pin", "13c352b7ce684856adc711aafa531bfd" },
        [HN_EVENT_TASK_REFUSED] = { "task-refused", "5c8fd8b52d6845c8beea109add7dc25c" },
        [HN_EVENT_TASK_RELEASED] = { "task-released", "3477de805aba4c4f81a62fcc25c95985" },
        [HN_EVENT_MASK_CHANGED] = { "mask-changed-by-other", "9336586c9fe5480e8861b1d6277ddf7c" },
        [HN_EVENT_PAGES_MOVED] = { "pages-moved", "ac1e5e0a9c7e48e6a9cbba20ce102a38" },
        [HN_EVENT_RESTORED] = { "restored", "f2e7f49f077641b1b446f162908deb2b" },
        [HN_EVENT_SIGNAL_CHANGED] = { "signal-changed", "c8501820969a466b98f209eee96f257a" },
        [HN_EVENT_NOTHING_TO_DO] = { "nothing-to-do", "21ed4351e2e04958aff3ff5cbdc91738" },
        [HN_EVENT_DENIED] = { "denied", "947a767b867d4f9ca3a85359ff49cb8b" },
        [HN_EVENT_OVERRIDE_ADDED] = { "override-added", "97cd3053f299482c984eb20084ab915c" },
        [HN_EVENT_OVERRIDE_EXPIRED] = { "override-expired", "2a61db84dab440d994031772a9b7dfc6" },
        [HN_EVENT_OVERRIDE_REMOVED] = { "override-removed", "49fc08081c44414181802f76985aa6f3" },
        [HN_EVENT_OVERRIDE_REFUSED] = { "override-refused", "e27a2acdfb654516898c9f9f934b1266" },
};

const char *hn_event_to_string(enum hn_event e) {
        return e >= 0 && e < _HN_EVENT_MAX ? events[e].name : NULL;
}

const char *hn_event_to_message_id(enum hn_event e) {
        return e >= 0 && e < _HN_EVENT_MAX ? events[e].id : NULL;
}

static const char *const levels[] = {
        [LOG_EMERG] = "emerg",     [LOG_ALERT] = "alert",   [LOG_CRIT] = "crit", [LOG_ERR] = "err",
        [LOG_WARNING] = "warning", [LOG_NOTICE] = "notice", [LOG_INFO] = "info", [LOG_DEBUG] = "debug",
};

const char *hn_log_level_to_string(int level) {
        return level >= 0 && (size_t) level < HN_ELEMENTS(levels) ? levels[level] : NULL;
}

int hn_log_level_from_string(const char *s) {
        for (size_t i = 0; i < HN_ELEMENTS(levels); i++)
                if (strcmp(s, levels[i]) == 0)
                        return (int) i;
        return -EINVAL;
}

/* Whether `stream` is the socket that systemd connected to the journal: $JOURNAL_STREAM holds its device and
 * inode, and stays in the environment when somebody redirects stderr (systemd.exec(5)). */
static bool is_journal(FILE *stream) {
        const char *text = getenv("JOURNAL_STREAM"), *colon;
        uint64_t device, inode;
        struct stat st;

        colon = text ? strchr(text, ':') : NULL;
        return colon && hn_parse_u64(text, (size_t) (colon - text), &device) == 0 &&
               hn_parse_u64(colon + 1, strlen(colon + 1), &inode) == 0 && fstat(fileno(stream), &st) == 0 &&
               st.st_dev == device && st.st_ino == inode;
}

void hn_log_init(struct hn_log *log, FILE *stream) {
        *log = (struct hn_log){
                .stream = stream,
                .send = is_journal(stream) ? sd_journal_sendv : NULL,
                .level = LOG_INFO,
                .tokens = HN_LOG_BURST,
        };
}

void hn_log_deinit(struct hn_log *log) {
        hn_log_once_clear(&log->once, &log->n_once);
}

/* One journal entry on the stack. Fields that find no room are left off; MESSAGE comes first. */
struct entry {
        struct iovec iov[32];
        int n;
        char buf[12288];
        size_t used;
};

static void put(struct entry *e, const char *name, const char *value, size_t n) {
        size_t left = HN_MIN(sizeof(e->buf) - e->used, (size_t) FIELD_MAX), length = strlen(name);
        char *start = e->buf + e->used;

        if ((size_t) e->n >= HN_ELEMENTS(e->iov) || left < length + 2)
                return;
        (void) snprintf(start, left, "%s", name);
        length += hn_escape_text(value, n, start + length, left - length);
        e->used += length + 1;
        e->iov[e->n++] = (struct iovec){ .iov_base = start, .iov_len = length };
}

static void put_text(struct entry *e, const char *name, const char *value) {
        if (value)
                put(e, name, value, strlen(value));
}

static void put_number(struct entry *e, const char *name, int64_t value) {
        char text[24];

        (void) snprintf(text, sizeof(text), "%" PRIi64, value);
        put_text(e, name, text);
}

static void put_facts(struct entry *e, const struct hn_log_facts *facts) {
        if (facts->tid > 0)
                put_number(e, "HN_TID=", facts->tid);
        if (facts->tgid > 0)
                put_number(e, "HN_TGID=", facts->tgid);
        if (facts->comm)
                put(e, "HN_COMM=", facts->comm, HN_TASK_COMM_MAX);
        if (facts->from >= 0)
                put_number(e, "HN_FROM=", facts->from);
        if (facts->to >= 0)
                put_number(e, "HN_TO=", facts->to);
        put_text(e, "HN_REASON=", facts->reason);
        put_text(e, "HN_SCOPE=", facts->scope);
        put_text(e, "HN_RULE=", facts->rule);
        put_text(e, "HN_TARGET=", facts->target);
        put_text(e, "HN_NODES=", facts->nodes);
        put_text(e, "HN_WHY=", facts->why);
        put_text(e, "CONFIG_FILE=", facts->file);
        if (facts->line > 0)
                put_number(e, "CONFIG_LINE=", facts->line);
        for (const struct hn_log_figure *f = facts->figures; f && f->name; f++) {
                char name[64];

                (void) snprintf(name, sizeof(name), "HN_%s=", f->name);
                put_number(e, name, f->value);
        }
}

static void emit(struct hn_log *log, enum hn_event kind, int priority, const struct hn_log_facts *facts,
                 const char *text) {
        char line[HN_ESCAPE_SIZE(TEXT_MAX)];
        struct entry e;

        if (priority > log->level)
                return;
        if (log->tokens <= (priority <= LOG_WARNING ? 0 : HN_LOG_RESERVE)) {
                log->suppressed++;
                return;
        }
        log->tokens--;

        if (log->send) {
                e.n = 0;
                e.used = 0;
                put_text(&e, "MESSAGE=", text);
                put_number(&e, "PRIORITY=", priority);
                put_text(&e, "MESSAGE_ID=", hn_event_to_message_id(kind));
                put_text(&e, "HN_EVENT=", hn_event_to_string(kind));
                if (facts)
                        put_facts(&e, facts);
                if (log->send(e.iov, e.n) >= 0)
                        return;
        }
        (void) hn_escape_text(text, TEXT_MAX, line, sizeof(line));
        (void) fprintf(log->stream, "%s\n", line);
        (void) fflush(log->stream);
}

/* Says how often the entry's trouble came back since it was last spoken of. */
static void sum_up(struct hn_log *log, struct hn_log_once *once) {
        char text[TEXT_MAX];

        (void) snprintf(text, sizeof(text), "%s (%" PRIu64 " more times in the last hour)", once->text,
                        once->repeats);
        emit(log, (enum hn_event) once->kind, once->priority, NULL, text);
        once->repeats = 0;
}

void hn_log_tick(struct hn_log *log, hn_usec_t now) {
        hn_usec_t fresh;

        if (log->now == 0)
                log->refilled = log->summed_up = now;
        log->now = now;

        fresh = hn_usec_sub(now, log->refilled) / (HN_USEC_PER_SEC / HN_LOG_RATE);
        log->refilled += fresh * (HN_USEC_PER_SEC / HN_LOG_RATE);
        log->tokens = (unsigned) HN_MIN(log->tokens + HN_MIN(fresh, (hn_usec_t) HN_LOG_BURST), HN_LOG_BURST);

        /* Once the storm is over, not once a second while it lasts. */
        if (log->suppressed > 0 && log->tokens >= 2 * HN_LOG_RESERVE) {
                uint64_t n = log->suppressed;

                log->suppressed = 0;
                hn_log_say(log, LOG_WARNING, "%" PRIu64 " messages were left out: more came than %u a second",
                           n, HN_LOG_RATE);
        }
        if (hn_usec_sub(now, log->summed_up) < HN_LOG_SUMMARY_USEC)
                return;
        log->summed_up = now;
        for (size_t i = 0; i < log->n_once; i++)
                if (log->once[i].repeats > 0)
                        sum_up(log, &log->once[i]);
}

#define FORMAT(text, fmt)                                       \
        do {                                                    \
                va_list _ap;                                    \
                va_start(_ap, fmt);                             \
                (void) vsnprintf(text, sizeof(text), fmt, _ap); \
                va_end(_ap);                                    \
        } while (false)

void hn_log_event(struct hn_log *log, enum hn_event kind, int priority, const struct hn_log_facts *facts,
                  const char *fmt, ...) {
        char text[TEXT_MAX];

        FORMAT(text, fmt);
        emit(log, kind, priority, facts, text);
}

void hn_log_say(struct hn_log *log, int priority, const char *fmt, ...) {
        char text[TEXT_MAX];

        FORMAT(text, fmt);
        emit(log, _HN_EVENT_INVALID, priority, NULL, text);
}

bool hn_log_event_once(struct hn_log *log, const char *object, int code, enum hn_event kind, int priority,
                       const struct hn_log_facts *facts, const char *fmt, ...) {
        struct hn_log_once *once = hn_log_once_find(log->once, log->n_once, object, code);
        char text[TEXT_MAX];

        if (once) {
                once->repeats++;
                once->total++;
                once->last = log->now;
                return false;
        }
        FORMAT(text, fmt);
        emit(log, kind, priority, facts, text);
        once = hn_log_once_add(&log->once, &log->n_once, HN_LOG_ONCE_MAX, object, code, text);
        if (once) {
                once->kind = kind;
                once->priority = priority;
                once->last = log->now;
        }
        return true;
}

bool hn_log_recovered(struct hn_log *log, const char *object, int code, const char *fmt, ...) {
        struct hn_log_once *once = hn_log_once_find(log->once, log->n_once, object, code);
        char text[TEXT_MAX];
        uint64_t total;

        if (!once)
                return false;
        total = once->total;
        hn_log_once_remove(log->once, &log->n_once, once);
        FORMAT(text, fmt);
        hn_log_say(log, LOG_INFO, "%s (after %" PRIu64 " %s)", text, total,
                   total == 1 ? "failure" : "failures");
        return true;
}

void hn_log_forget(struct hn_log *log, const char *object) {
        for (size_t i = log->n_once; i-- > 0;)
                if (strcmp(log->once[i].object, object) == 0)
                        hn_log_once_remove(log->once, &log->n_once, &log->once[i]);
}

int hn_log_error_errno(struct hn_log *log, int r, const char *fmt, ...) {
        char text[TEXT_MAX];

        FORMAT(text, fmt);
        hn_log_say(log, LOG_ERR, "%s: %s", text, strerror(-r));
        return r;
}

int hn_log_warning_errno(struct hn_log *log, int r, const char *fmt, ...) {
        char text[TEXT_MAX];

        FORMAT(text, fmt);
        hn_log_say(log, LOG_WARNING, "%s: %s", text, strerror(-r));
        return r;
}

void hn_log_config_warning(void *userdata, const char *file, unsigned line, const char *text) {
        struct hn_log_facts facts = HN_LOG_FACTS_NULL;

        facts.file = file;
        facts.line = line;
        if (line > 0)
                hn_log_event(userdata, HN_EVENT_CONFIG_WARNING, LOG_WARNING, &facts, "%s:%u: %s", file, line,
                             text);
        else
                hn_log_event(userdata, HN_EVENT_CONFIG_WARNING, LOG_WARNING, &facts, "%s: %s", file, text);
}
