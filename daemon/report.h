/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base/usec.h"

struct hn_manager;

/* Tells the world how things stand: state.json, the status line of the service, and journal entries on what
 * changed as a whole. Once per tick. */
void hn_report(struct hn_manager *m, hn_usec_t now);

/* The last word: state.json of a daemon that stopped in order. */
void hn_report_stopped(struct hn_manager *m);
