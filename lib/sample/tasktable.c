/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "sample/tasktable.h"

void hn_task_table_init(struct hn_task_table *t, struct hn_row_pool *rows, struct hn_task_reader *reader) {
        *t = (struct hn_task_table){ .rows = rows, .reader = reader };
}

void hn_task_slot_reset(struct hn_task_table *t, struct hn_task_slot *slot) {
        pid_t tid = slot->tid;
        uint32_t place = slot->place;

        hn_task_files_close(t->reader, &slot->files);
        hn_row_pool_release(t->rows, &slot->row);
        if (slot->process)
                slot->process->n_slots--;
        *slot = (struct hn_task_slot){
                .tid = tid,
                .place = place,
                .scope = place,
                .kind = HN_SLOT_NEW,
                .row = HN_ROW_NONE,
                .files = HN_TASK_FILES_NULL,
        };
}

static void free_process(struct hn_task_table *t, struct hn_process *p) {
        hn_row_pool_release(t->rows, &p->row);
        hn_proc_id_deinit(&p->id);
        free(p);
}

void hn_task_table_deinit(struct hn_task_table *t) {
        for (size_t i = 0; i < t->n_slots; i++)
                hn_task_slot_reset(t, &t->slots[i]);
        for (size_t i = 0; i < t->n_processes; i++)
                free_process(t, t->processes[i]);
        free(t->slots);
        free(t->processes);
        *t = HN_TASK_TABLE_NULL;
}

/* Drops the slots that are not listed. */
static void drop_missing(struct hn_task_table *t, const struct hn_listed *listed, size_t n) {
        size_t kept = 0, j = 0;

        for (size_t i = 0; i < t->n_slots; i++) {
                struct hn_task_slot *slot = &t->slots[i];

                while (j < n && listed[j].tid < slot->tid)
                        j++;
                if (j == n || listed[j].tid != slot->tid) {
                        hn_task_slot_reset(t, slot);
                        continue;
                }
                slot->place = listed[j].scope;
                if (kept != i)
                        t->slots[kept] = *slot;
                kept++;
        }
        t->n_slots = kept;
}

int hn_task_table_reconcile(struct hn_task_table *t, const struct hn_listed *listed, size_t n) {
        size_t old;

        drop_missing(t, listed, n);
        if (t->n_slots == n)
                return 0;
        if (n > t->slots_allocated) {
                size_t more = n + n / 4 + 64;
                struct hn_task_slot *bigger = reallocarray(t->slots, more, sizeof(*bigger));

                if (!bigger)
                        return -ENOMEM;
                t->slots = bigger;
                t->slots_allocated = more;
        }
        /* From the end, so that the old ones move up out of the way of the new ones. */
        old = t->n_slots;
        for (size_t i = n; i-- > 0;) {
                if (old > 0 && t->slots[old - 1].tid == listed[i].tid) {
                        old--;
                        if (old != i)
                                t->slots[i] = t->slots[old];
                } else
                        t->slots[i] = (struct hn_task_slot){
                                .tid = listed[i].tid,
                                .place = listed[i].scope,
                                .scope = listed[i].scope,
                                .row = HN_ROW_NONE,
                                .files = HN_TASK_FILES_NULL,
                        };
        }
        t->n_slots = n;
        return 0;
}

/* Where the process of `tgid` is, or belongs. */
static size_t find_process(const struct hn_task_table *t, pid_t tgid) {
        size_t low = 0, high = t->n_processes;

        while (low < high) {
                size_t middle = low + (high - low) / 2;

                if (t->processes[middle]->tgid < tgid)
                        low = middle + 1;
                else
                        high = middle;
        }
        return low;
}

int hn_task_slot_join(struct hn_task_table *t, struct hn_task_slot *slot, pid_t tgid) {
        size_t i = find_process(t, tgid);
        struct hn_process *p;

        if (i < t->n_processes && t->processes[i]->tgid == tgid) {
                p = t->processes[i];
                if (p->n_slots == 0) {
                        /* All its threads are dead: this is another process under the same number. */
                        hn_row_pool_release(t->rows, &p->row);
                        hn_proc_id_deinit(&p->id);
                        *p = (struct hn_process){ .tgid = tgid, .row = HN_ROW_NONE };
                }
        } else {
                if (t->n_processes == t->processes_allocated) {
                        size_t more = t->processes_allocated ? 2 * t->processes_allocated : 64;
                        struct hn_process **bigger = reallocarray(t->processes, more, sizeof(*bigger));

                        if (!bigger)
                                return -ENOMEM;
                        t->processes = bigger;
                        t->processes_allocated = more;
                }
                p = malloc(sizeof(*p));
                if (!p)
                        return -ENOMEM;
                *p = (struct hn_process){ .tgid = tgid, .row = HN_ROW_NONE };
                memmove(t->processes + i + 1, t->processes + i,
                        (t->n_processes - i) * sizeof(struct hn_process *));
                t->processes[i] = p;
                t->n_processes++;
        }
        if (slot->process)
                slot->process->n_slots--;
        p->n_slots++;
        slot->process = p;
        return 0;
}

void hn_task_table_prune(struct hn_task_table *t) {
        size_t kept = 0;

        for (size_t i = 0; i < t->n_processes; i++) {
                if (t->processes[i]->n_slots == 0)
                        free_process(t, t->processes[i]);
                else
                        t->processes[kept++] = t->processes[i];
        }
        t->n_processes = kept;
}
