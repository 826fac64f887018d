/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>
#include <sys/types.h>

struct hn_manager;

/* Why a task is where it is: the last decision about it with the numbers it was made from, in the words of
 * the journal, how its nodes stood, what is remembered of it, and what would change the answer. Nothing is
 * decided here: it is what hn_plan_build() left.
 *
 * A task that was not looked at gets "decided": false, and why. All text in the object is escaped. Returns 0;
 * -ESRCH where there is no such task; -ENOMEM; or what reading /proc answered. The caller decrefs `*ret`. */
int hn_explain(const struct hn_manager *m, pid_t tid, json_t **ret);
