/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/usec.h"
#include "policy/snapshot.h"
#include "sample/conflicts.h"

struct hn_bus;
struct hn_manager;
struct hn_state_event;
struct hn_state_scope;

/* What is told on the bus unasked: properties that changed, scopes that came and went, moves and refusals.
 * Kept here is what was told last, so that only differences are. */

/* A tick. What is over the bound waits for the next, or for a refusal or move is left out and counted. */
#define HN_NEWS_SCOPES   512u
#define HN_NEWS_MOVES    1000u
#define HN_NEWS_REFUSALS 20u

/* With so many messages that the bus has not taken yet nothing more is said. */
#define HN_NEWS_UNSENT_MAX 4096u

#define HN_NEWS_CONFLICTS_PERIOD (300 * HN_USEC_PER_SEC)

/* A scope as it was told. Texts are kept as hashes. */
struct hn_news_scope {
        char *path, *part; /* of the cgroup, hn_state_scope_part() */
        uint64_t rule, note, tasks, held, settings;
        enum hn_mode mode;
        enum hn_signal signal;
        int local; /* thousandths, -1: not known */
};

/* The manager's properties as they were told. */
struct hn_news_facts {
        enum hn_mode mode, allowed;
        enum hn_signal signal;
        int log_level;
        unsigned signals, kernel_balancing, cpu_permille, cpu_budget;
        uint64_t nodes, why_no_signal;
        uint64_t interval, page_rate;
        uint64_t tasks, scopes, held, moves, helped, in_vain, pages_moved, restored, left_out, pins;
};

struct hn_news {
        struct hn_news_facts facts;
        struct hn_news_scope *scopes; /* ascending by path */
        size_t n_scopes;
        uint64_t *pins; /* ids, ascending */
        size_t n_pins;
        unsigned signals; /* bits 1 << enum hn_signal, of the tasks at the last tick */
        unsigned moves, refusals;
        uint64_t left_out; /* signals */
        struct hn_conflicts conflicts;
        hn_usec_t conflicts_checked; /* 0: never */
};

/* On a new connection: everything is as it is, and nothing has been told. */
void hn_news_begin(struct hn_news *n, struct hn_manager *m);
void hn_news_deinit(struct hn_news *n);

/* Once a tick, and after a request has changed something: tells what is different. */
void hn_news_tick(struct hn_bus *b, hn_usec_t now);
void hn_news_properties(struct hn_bus *b);

/* A move, a release or a refusal, as it went into the state file. */
void hn_news_event(struct hn_bus *b, const struct hn_state_event *event);

/* Threads that are held, of all scopes. */
uint64_t hn_news_count_held(const struct hn_manager *m);
