/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "act/appendfile.h"
#include "act/entries.h"
#include "act/heirs.h"
#include "act/record.h"
#include "base/macro.h"
#include "base/maskpool.h"
#include "base/usec.h"

/* What we set and what was there, in memory by task and in RUNDIR/ledger line by line (act/record.h). A line
 * is written before the act it tells of, so that whoever finds the file can undo all of it. */
struct hn_ledger;

#define HN_LEDGER_NAME "ledger"

/* An empty ledger that lives in memory only. Returns 0 or -ENOMEM. */
int hn_ledger_new(const char *boot_id, struct hn_ledger **ret);

/* The ledger of a run dir, with what is there. Lines that are torn or damaged are counted and left out; those
 * of another boot are void. `create`: make one if there is none. Returns 0, or an error for
 * hn_appendfile_error(). */
int hn_ledger_open(const char *run_dir, const char *boot_id, bool create, struct hn_ledger **ret);

/* Another file in the ledger's folder, under its lock. Returns 0, -EBADF for a ledger in memory only, or an
 * error for hn_appendfile_error(). */
int hn_ledger_open_beside(const struct hn_ledger *l, const char *name, struct hn_appendfile *ret);
struct hn_ledger *hn_ledger_free(struct hn_ledger *l);
HN_DEFINE_CLEANUP(struct hn_ledger *, hn_ledger_free);

/* Takes over what the lines say, as hn_ledger_open() does. Returns 0 or -ENOMEM. */
int hn_ledger_replay(struct hn_ledger *l, const char *text, size_t n);

/* The id of this boot, from /proc/sys/kernel/random/boot_id below `proc_fd`. Returns 0 or -errno. */
int hn_ledger_boot_id(int proc_fd, char ret[static HN_BOOT_ID_MAX]);

/* writing */

/* Before the act. `rec` says key, tgid, before, want, times, reason, cgroup, and for a task that is not in
 * the ledger `old` or `unrestricted`; for one that is, the old mask stays what it is. `kind` is not looked
 * at. Returns 0, or -errno, and then the act must not be done. */
int hn_ledger_note(struct hn_ledger *l, const struct hn_record *rec);

/* After the act: it was done, or it was not (the entry is gone again, or as before). Unknown keys are
 * ignored. The table changes even where the file cannot be written to, of which -errno tells. */
int hn_ledger_confirm(struct hn_ledger *l, const struct hn_task_key *key);
int hn_ledger_withdraw(struct hn_ledger *l, const struct hn_task_key *key);

/* The task has its old mask back, or somebody else's, or is gone. Its marks stay. */
int hn_ledger_forget(struct hn_ledger *l, const struct hn_task_key *key);

/* Takes all marks away for which `needed` is false, unless an entry stands behind them. */
int hn_ledger_prune(struct hn_ledger *l, bool (*needed)(void *userdata, const struct hn_mark *mark),
                    void *userdata);

/* Writes the file anew with what is in the table. Done by itself when most of the file is past. */
int hn_ledger_compact(struct hn_ledger *l);
int hn_ledger_sync(struct hn_ledger *l);

/* reading */

const struct hn_ledger_entry *hn_ledger_find(const struct hn_ledger *l, const struct hn_task_key *key);
const struct hn_mask *hn_ledger_mask(const struct hn_ledger *l, hn_mask_id id);
size_t hn_ledger_size(const struct hn_ledger *l);
const struct hn_marks *hn_ledger_marks(const struct hn_ledger *l);

/* Whose mask a task without an entry wears: that of a creator we pinned, or nobody's of ours (NULL). */
const struct hn_mark *hn_ledger_heir(const struct hn_ledger *l, const struct hn_heir *heir);

/* hn_marks_may_claim() and hn_mark_claims() of this ledger. */
bool hn_ledger_may_claim(const struct hn_ledger *l, const struct hn_mask *mask, uint64_t start);
bool hn_ledger_mark_claims(const struct hn_ledger *l, const struct hn_mark *mark, const struct hn_heir *heir);

/* All keys, ascending by tid and start: the table may change while one goes through them. The caller frees.
 */
int hn_ledger_keys(const struct hn_ledger *l, struct hn_task_key **ret, size_t *ret_n);

/* What was wrong with the lines read. */
size_t hn_ledger_n_damaged(const struct hn_ledger *l);
size_t hn_ledger_n_void(const struct hn_ledger *l);
