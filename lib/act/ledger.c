/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "act/appendfile.h"
#include "act/ledger.h"
#include "base/parse.h"
#include "sample/sysroot.h"

/* A hundred thousand threads with masks of holes stay below it. */
#define FILE_LIMIT ((size_t) 256 << 20)

/* Lines that may be past before the file is written anew. */
#define GARBAGE_MIN 4096u

struct hn_ledger {
        char boot_id[HN_BOOT_ID_MAX];
        struct hn_appendfile file; /* fd -1: in memory only */
        struct hn_entries entries;
        struct hn_mask_pool masks;
        struct hn_marks marks;
        size_t n_lines; /* in the file */
        size_t n_damaged, n_void;
        struct hn_record scratch; /* 7 KiB and 90 KiB: one at a time, not on the stack */
        char line[HN_RECORD_LINE_MAX];
};

int hn_ledger_new(const char *boot_id, struct hn_ledger **ret) {
        struct hn_ledger *l = calloc(1, sizeof(*l));

        if (!l)
                return -ENOMEM;
        l->file = HN_APPENDFILE_NULL;
        (void) snprintf(l->boot_id, sizeof(l->boot_id), "%s", boot_id);
        if (hn_entries_init(&l->entries) < 0) {
                free(l);
                return -ENOMEM;
        }
        *ret = l;
        return 0;
}

struct hn_ledger *hn_ledger_free(struct hn_ledger *l) {
        if (!l)
                return NULL;
        hn_entries_deinit(&l->entries);
        hn_mask_pool_deinit(&l->masks);
        hn_marks_deinit(&l->marks);
        hn_appendfile_close(&l->file);
        free(l);
        return NULL;
}

int hn_ledger_boot_id(int proc_fd, char ret[static HN_BOOT_ID_MAX]) {
        char buf[128];
        const char *text = buf;
        ssize_t n = hn_read_at(proc_fd, buf, sizeof(buf), "sys/kernel/random/boot_id");
        size_t k;

        if (n < 0)
                return (int) n;
        k = (size_t) n;
        hn_trim(&text, &k);
        if (k == 0 || k >= HN_BOOT_ID_MAX)
                return -EBADMSG;
        memcpy(ret, text, k);
        ret[k] = '\0';
        return 0;
}

/* the table */

static struct hn_mark mark_of(const struct hn_ledger_entry *e) {
        return (struct hn_mark){
                .tgid = e->tgid,
                .unrestricted = e->unrestricted,
                .old = e->old,
                .want = e->want,
                .since = e->boot_usec,
        };
}

/* Makes the entry of a pin, and its mark. The table is not touched yet. */
static int entry_new(struct hn_ledger *l, const struct hn_record *rec, struct hn_ledger_entry **ret) {
        _hn_cleanup_(hn_ledger_entry_freep) struct hn_ledger_entry *e = calloc(1, sizeof(*e));
        const struct hn_mask empty = HN_MASK_NULL;
        struct hn_mark mark;
        int r;

        if (!e)
                return -ENOMEM;
        e->key = rec->key;
        e->tgid = rec->tgid;
        e->unrestricted = rec->unrestricted;
        e->over_ours = rec->kind == HN_RECORD_REPIN;
        e->boot_usec = rec->boot_usec;
        e->real_usec = rec->real_usec;
        e->cgroup = strdup(rec->cgroup);
        e->reason = strdup(rec->reason);
        if (!e->cgroup || !e->reason)
                return -ENOMEM;
        r = hn_mask_pool_intern(&l->masks, rec->unrestricted ? &empty : &rec->old, &e->old);
        if (r == 0)
                r = hn_mask_pool_intern(&l->masks, &rec->before, &e->before);
        if (r == 0)
                r = hn_mask_pool_intern(&l->masks, &rec->want, &e->want);
        if (r < 0)
                return r;
        mark = mark_of(e);
        r = hn_marks_add(&l->marks, &mark, e->cgroup);
        if (r < 0)
                return r;
        e->made_mark = r > 0;
        *ret = HN_TAKE_PTR(e);
        return 0;
}

static void drop_mark_of(struct hn_ledger *l, const struct hn_ledger_entry *e) {
        struct hn_mark mark = mark_of(e);
        size_t i = e->made_mark ? hn_marks_find(&l->marks, &mark, e->cgroup) : SIZE_MAX;

        if (i != SIZE_MAX)
                hn_marks_remove(&l->marks, i);
}

static void confirm(struct hn_ledger *l, const struct hn_task_key *key) {
        struct hn_ledger_entry *e = hn_entries_find(&l->entries, key);

        if (e)
                e->confirmed = true;
}

/* A move that was not made leaves the mask of the one before it, which is still ours. */
static void withdraw(struct hn_ledger *l, const struct hn_task_key *key) {
        struct hn_ledger_entry *e = hn_entries_find(&l->entries, key);

        if (!e)
                return;
        drop_mark_of(l, e);
        if (e->over_ours) {
                e->want = e->before;
                e->confirmed = true;
                e->made_mark = false;
        } else
                hn_entries_remove(&l->entries, key);
}

static int replay_mark(struct hn_ledger *l, const struct hn_record *rec) {
        struct hn_mark mark = {
                .tgid = rec->tgid,
                .unrestricted = rec->unrestricted,
                .since = rec->boot_usec,
        };
        int r;

        r = hn_mask_pool_intern(&l->masks, &rec->old, &mark.old);
        if (r == 0)
                r = hn_mask_pool_intern(&l->masks, &rec->want, &mark.want);
        if (r == 0)
                r = hn_marks_add(&l->marks, &mark, rec->cgroup);
        return r < 0 ? r : 0;
}

static int replay_pin(struct hn_ledger *l, const struct hn_record *rec) {
        struct hn_ledger_entry *e;
        int r = entry_new(l, rec, &e);

        if (r == 0)
                hn_entries_insert(&l->entries, e);
        return r;
}

int hn_ledger_replay(struct hn_ledger *l, const char *text, size_t n) {
        const char *line;
        bool other_boot = false;
        size_t k;

        while (hn_next_line(&text, &n, &line, &k)) {
                struct hn_record *rec = &l->scratch;
                int r = 0;

                if (k == 0)
                        continue;
                if (hn_record_parse(line, k, l->boot_id, rec) < 0) {
                        /* Its checksum is over another boot id, or it is damaged: the header tells which. */
                        if (other_boot)
                                l->n_void++;
                        else
                                l->n_damaged++;
                        continue;
                }
                l->n_lines++;
                switch (rec->kind) {
                case HN_RECORD_HEADER: other_boot = strcmp(rec->boot_id, l->boot_id) != 0; break;
                case HN_RECORD_PIN:
                case HN_RECORD_REPIN: r = replay_pin(l, rec); break;
                case HN_RECORD_OK: confirm(l, &rec->key); break;
                case HN_RECORD_NO: withdraw(l, &rec->key); break;
                case HN_RECORD_DONE: hn_entries_remove(&l->entries, &rec->key); break;
                case HN_RECORD_MARK: r = replay_mark(l, rec); break;
                case _HN_RECORD_MAX: break;
                }
                if (r < 0)
                        return r;
        }
        return 0;
}

/* the file */

static int append(struct hn_ledger *l, const struct hn_record *rec) {
        int n, r;

        if (l->file.fd < 0)
                return 0;
        n = hn_record_print(rec, l->boot_id, l->line, sizeof(l->line));
        if (n < 0)
                return n;
        r = hn_appendfile_append(&l->file, l->line, (size_t) n);
        if (r == 0)
                l->n_lines++;
        return r;
}

static int append_key(struct hn_ledger *l, enum hn_record_kind kind, const struct hn_task_key *key) {
        l->scratch = (struct hn_record){ .kind = kind, .key = *key };
        return append(l, &l->scratch);
}

static void record_of(const struct hn_ledger *l, const struct hn_ledger_entry *e, struct hn_record *ret) {
        *ret = (struct hn_record){
                .kind = e->over_ours ? HN_RECORD_REPIN : HN_RECORD_PIN,
                .key = e->key,
                .tgid = e->tgid,
                .unrestricted = e->unrestricted,
                .old = *hn_ledger_mask(l, e->old),
                .before = *hn_ledger_mask(l, e->before),
                .want = *hn_ledger_mask(l, e->want),
                .boot_usec = e->boot_usec,
                .real_usec = e->real_usec,
        };
        (void) snprintf(ret->reason, sizeof(ret->reason), "%s", e->reason);
        (void) snprintf(ret->cgroup, sizeof(ret->cgroup), "%s", e->cgroup);
}

static int print(struct hn_ledger *l, FILE *f) {
        int n = hn_record_print(&l->scratch, l->boot_id, l->line, sizeof(l->line));

        if (n < 0)
                return n;
        return fwrite(l->line, 1, (size_t) n, f) == (size_t) n ? 1 : -ENOMEM;
}

/* Prints the whole table. Returns the number of lines or -errno. */
static int print_all(struct hn_ledger *l, FILE *f) {
        int n_lines, r;

        l->scratch = (struct hn_record){ .kind = HN_RECORD_HEADER };
        n_lines = print(l, f);
        for (size_t i = 0; n_lines > 0 && i < l->marks.n; i++) {
                const struct hn_mark *m = &l->marks.marks[i];

                l->scratch = (struct hn_record){
                        .kind = HN_RECORD_MARK,
                        .tgid = m->tgid,
                        .unrestricted = m->unrestricted,
                        .old = *hn_ledger_mask(l, m->old),
                        .want = *hn_ledger_mask(l, m->want),
                        .boot_usec = m->since,
                };
                (void) snprintf(l->scratch.cgroup, sizeof(l->scratch.cgroup), "%s", m->cgroup);
                r = print(l, f);
                n_lines = r < 0 ? r : n_lines + r;
        }
        for (const struct hn_ledger_entry *e = NULL; n_lines > 0 && (e = hn_entries_next(&l->entries, e));) {
                record_of(l, e, &l->scratch);
                r = print(l, f);
                if (r > 0 && e->confirmed) {
                        l->scratch = (struct hn_record){ .kind = HN_RECORD_OK, .key = e->key };
                        r = print(l, f) < 0 ? -ENOMEM : 2;
                }
                n_lines = r < 0 ? r : n_lines + r;
        }
        return n_lines;
}

int hn_ledger_compact(struct hn_ledger *l) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        size_t n = 0;
        int n_lines, r;
        FILE *f;

        if (l->file.fd < 0)
                return 0;
        f = open_memstream(&text, &n);
        if (!f)
                return -errno;
        n_lines = print_all(l, f);
        if (fclose(f) != 0)
                return -ENOMEM;
        if (n_lines < 0)
                return n_lines;
        r = hn_appendfile_replace(&l->file, text, n);
        if (r < 0)
                return r;
        l->n_lines = (size_t) n_lines;
        return 0;
}

/* A full disk is no reason to stop: the long file says the same as the short one. */
static void compact_if_long(struct hn_ledger *l) {
        if (l->n_lines > GARBAGE_MIN && l->n_lines > 4 * (l->entries.n + l->marks.n))
                (void) hn_ledger_compact(l);
}

int hn_ledger_open(const char *run_dir, const char *boot_id, bool create, struct hn_ledger **ret) {
        _hn_cleanup_(hn_ledger_freep) struct hn_ledger *l = NULL;
        _hn_cleanup_(hn_freep) char *text = NULL;
        size_t n;
        int r;

        r = hn_ledger_new(boot_id, &l);
        if (r < 0)
                return r;
        r = hn_appendfile_open(run_dir, HN_LEDGER_NAME, create, &l->file);
        if (r < 0)
                return r;
        r = hn_appendfile_read(&l->file, FILE_LIMIT, &text, &n);
        if (r < 0)
                return r;
        r = hn_ledger_replay(l, text, n);
        if (r < 0)
                return r;
        /* Starts with a header and without the lines that say nothing any more. If that fails the file is
         * left as it is, which costs only the reading of it the next time: each line proves itself. */
        if (l->n_lines == 0 || l->n_damaged > 0 || l->n_void > 0) {
                r = hn_ledger_compact(l);
                if (r < 0 && create)
                        return r;
        }
        *ret = HN_TAKE_PTR(l);
        return 0;
}

int hn_ledger_open_beside(const struct hn_ledger *l, const char *name, struct hn_appendfile *ret) {
        return l->file.fd < 0 ? -EBADF : hn_appendfile_open_beside(&l->file, name, ret);
}

int hn_ledger_sync(struct hn_ledger *l) {
        return l->file.fd < 0 ? 0 : hn_appendfile_sync(&l->file);
}

/* writing */

int hn_ledger_note(struct hn_ledger *l, const struct hn_record *rec) {
        _hn_cleanup_(hn_ledger_entry_freep) struct hn_ledger_entry *e = NULL;
        const struct hn_ledger_entry *was = hn_entries_find(&l->entries, &rec->key);
        struct hn_record *full = &l->scratch;
        int r;

        *full = *rec;
        full->kind = was ? HN_RECORD_REPIN : HN_RECORD_PIN;
        if (was) {
                full->unrestricted = was->unrestricted;
                full->old = *hn_ledger_mask(l, was->old);
        }
        if (full->unrestricted)
                full->old = HN_MASK_NULL;

        r = entry_new(l, full, &e);
        if (r < 0)
                return r;
        r = append(l, full);
        if (r < 0) {
                drop_mark_of(l, e);
                return r;
        }
        hn_entries_insert(&l->entries, HN_TAKE_PTR(e));
        return 0;
}

int hn_ledger_confirm(struct hn_ledger *l, const struct hn_task_key *key) {
        if (!hn_entries_find(&l->entries, key))
                return 0;
        confirm(l, key);
        return append_key(l, HN_RECORD_OK, key);
}

int hn_ledger_withdraw(struct hn_ledger *l, const struct hn_task_key *key) {
        struct hn_task_key copy = *key; /* it may lie in the entry that goes */

        if (!hn_entries_find(&l->entries, key))
                return 0;
        withdraw(l, &copy);
        return append_key(l, HN_RECORD_NO, &copy);
}

int hn_ledger_forget(struct hn_ledger *l, const struct hn_task_key *key) {
        struct hn_task_key copy = *key;
        int r;

        if (!hn_entries_find(&l->entries, key))
                return 0;
        hn_entries_remove(&l->entries, &copy);
        r = append_key(l, HN_RECORD_DONE, &copy);
        compact_if_long(l);
        return r;
}

int hn_ledger_prune(struct hn_ledger *l, bool (*needed)(void *userdata, const struct hn_mark *mark),
                    void *userdata) {
        _hn_cleanup_(hn_freep) bool *used = calloc(l->marks.n + 1, sizeof(*used));
        size_t before = l->marks.n;

        if (!used)
                return -ENOMEM;
        for (const struct hn_ledger_entry *e = NULL; (e = hn_entries_next(&l->entries, e));) {
                struct hn_mark mark = mark_of(e);
                size_t k = hn_marks_find(&l->marks, &mark, e->cgroup);

                if (k != SIZE_MAX)
                        used[k] = true;
        }
        /* From the end: what takes the place of a removed one has been asked about already. */
        for (size_t i = l->marks.n; i-- > 0;)
                if (!used[i] && !needed(userdata, &l->marks.marks[i]))
                        hn_marks_remove(&l->marks, i);
        return l->marks.n < before ? hn_ledger_compact(l) : 0;
}

/* reading */

const struct hn_ledger_entry *hn_ledger_find(const struct hn_ledger *l, const struct hn_task_key *key) {
        return hn_entries_find(&l->entries, key);
}

const struct hn_mask *hn_ledger_mask(const struct hn_ledger *l, hn_mask_id id) {
        return hn_mask_pool_get(&l->masks, id);
}

size_t hn_ledger_size(const struct hn_ledger *l) {
        return l->entries.n;
}

const struct hn_marks *hn_ledger_marks(const struct hn_ledger *l) {
        return &l->marks;
}

const struct hn_mark *hn_ledger_heir(const struct hn_ledger *l, const struct hn_heir *heir) {
        return hn_marks_match(&l->marks, &l->masks, heir);
}

bool hn_ledger_may_claim(const struct hn_ledger *l, const struct hn_mask *mask, uint64_t start) {
        return hn_marks_may_claim(&l->marks, &l->masks, mask, start);
}

bool hn_ledger_mark_claims(const struct hn_ledger *l, const struct hn_mark *mark,
                           const struct hn_heir *heir) {
        unsigned rank;

        return hn_mark_claims(mark, &l->masks, heir, &rank);
}

int hn_ledger_keys(const struct hn_ledger *l, struct hn_task_key **ret, size_t *ret_n) {
        return hn_entries_keys(&l->entries, ret, ret_n);
}

size_t hn_ledger_n_damaged(const struct hn_ledger *l) {
        return l->n_damaged;
}

size_t hn_ledger_n_void(const struct hn_ledger *l) {
        return l->n_void;
}
