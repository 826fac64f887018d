/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "base/macro.h"

/* Verbs of homenode(1). Each is handed its own name as argv[0], with getopt(3) reset, and answers with an
 * exit code of <sysexits.h>. */
int hn_verb_advise(int argc, char **argv);
int hn_verb_explain(int argc, char **argv);
int hn_verb_nodes(int argc, char **argv);
int hn_verb_ps(int argc, char **argv);
int hn_verb_run(int argc, char **argv);
int hn_verb_status(int argc, char **argv);
int hn_verb_pin(int argc, char **argv);
int hn_verb_unpin(int argc, char **argv);
int hn_verb_match(int argc, char **argv);
int hn_verb_check_config(int argc, char **argv);
int hn_verb_cat_config(int argc, char **argv);

/* What has gone wrong and what to do next, on standard error, as "homenode: TEXT". Names of others' choosing
 * may be in it: it is escaped, and cut where it is long. */
void hn_complain(const char *fmt, ...) _hn_printf_(1, 2);

/* The same with the words for a negative errno behind it, and who may do it where the right to it is lacking.
 * Returns the exit code that fits: EX_NOPERM, EX_NOINPUT, EX_OSERR, ... */
int hn_complain_errno(int r, const char *fmt, ...) _hn_printf_(2, 3);

/* After getopt_long(3) has said what it did not understand: points to --help. Returns EX_USAGE. */
int hn_complain_usage(const char *verb);

/* Makes sure that all was written. Returns EX_OK or EX_IOERR, to be the last word of a verb. */
int hn_flush_output(void);
