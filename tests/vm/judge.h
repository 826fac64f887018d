/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "trial.h"

/* What scenarios have in common when they judge: each adds named checks to the trial. */

bool judge_homenode(const struct trial *t);

/* Whether a JSON string contains `what`, in any case of letters. */
bool judge_text_has(const json_t *text, const char *what);

/* The present as journalctl's --since takes it. */
int judge_since(char *buf, size_t size);

/* The service is active. */
void judge_active(struct trial *t);

/* It has looked five times (waited for), in mode manage, or an untouched load would prove nothing. */
void judge_ticking(struct trial *t);

/* The share is within 0.03 of hand placement's, by fault data; as many threads on a node as it has CPUs. */
void judge_share(struct trial *t, double reference);

/* The share of all accesses from 20 s after the opt-in on, where they are counted: a sample of pages says
 * little about the last hundredth, as some pages of Linux 6.12 come home only with its next scan, half a
 * minute later. */
void judge_counted(struct trial *t, double least);

/* Once settled, the share is at least this; no more than two moves for each thread; as many threads on every
 * node. */
void judge_settled(struct trial *t, double least);
void judge_moves(struct trial *t);
void judge_even(struct trial *t);

/* Stops the policy and compares the masks. With `spawned` there are threads made meanwhile, which are to have
 * the mask that their parents had. */
void judge_stop(struct trial *t, bool spawned);

/* Prints the daemon's journal for a reader. */
void judge_journal_tell(const char *since);

/* The nodes of all pages of all threads, to be compared page by page; free() it. NULL when they cannot be
 * read. */
int8_t *judge_pages_take(const struct trial *t);

/* Pages that are on another node than before, of every thread or of the odd ones; -1 when they cannot be
 * read. */
json_int_t judge_pages_changed(const struct trial *t, const int8_t *before, bool odd_only);
