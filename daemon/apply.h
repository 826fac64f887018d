/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

struct hn_manager;

/* Carries out the plan of this tick, act by act: on the ledger before, on the machine, in model, journal and
 * state after. In a scope that only advises all of it happens but the call that changes something. */
void hn_apply_plan(struct hn_manager *m);
