/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>

struct hn_manager;
struct hn_scope;
struct hn_decision;

/* Whether what is decided for a task of this scope is only said, not done. */
bool hn_apply_is_dry(const struct hn_manager *m, const struct hn_scope *scope, const struct hn_decision *d);

/* Carries out the plan of this tick, act by act: on the ledger before, on the machine, in the model after;
 * then tells of all of them in journal, state and bus. In a scope that only advises all of it happens but the
 * call that changes something. Returns 0, or -ENOMEM with nothing done. */
int hn_apply_plan(struct hn_manager *m);
