/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/usec.h"
#include "policy/snapshot.h"
#include "sample/procid.h"
#include "sample/rowpool.h"
#include "sample/taskfiles.h"

/* What the sampler keeps of each thread and each process between two sweeps. */

enum hn_slot_kind {
        HN_SLOT_NEW, /* listed, not looked at yet */
        HN_SLOT_TASK,
        HN_SLOT_KTHREAD, /* a kernel thread: not ours to place */
        HN_SLOT_CORPSE,  /* a zombie */
        HN_SLOT_OTHER,   /* no rule takes its process */
        HN_SLOT_GONE,    /* could not be found any more, though it was listed */
};

struct hn_process {
        pid_t tgid;
        size_t n_slots;     /* threads that refer to it; 0: free for another owner of its tgid */
        uint32_t n_threads; /* as the kernel counts them, also those outside of all scopes */

        /* sums over the threads we know, made anew in each sweep */
        uint64_t sweep; /* the sweep they belong to */
        uint64_t cpu_ns;
        bool wanted; /* a thread ran which has to do with residency */

        /* where its pages are */
        uint32_t row;
        bool resident; /* the row holds something */
        bool denied;
        bool asked;
        hn_usec_t asked_at;
        uint64_t asked_cpu_ns; /* cpu_ns at that time */
        uint64_t looks;

        /* who it is, and which scope takes it; only where rules ask for that */
        struct hn_proc_id id;
        uint64_t id_sweep; /* in which that was read, 0 for never */
        unsigned id_looks; /* how often since the last of its threads came, up to 2 */
        uint64_t choice_sweep;
        uint32_t choice_place, choice;
};

struct hn_task_slot {
        pid_t tid;
        uint32_t place; /* scope it is listed under */
        uint32_t scope; /* the one it belongs to, of those of that cgroup */
        enum hn_slot_kind kind;
        bool ran;             /* its run time moved in this sweep */
        bool denied;          /* something of it could not be read for lack of rights */
        bool has_fault_lines; /* its kernel tells faults at all */
        bool has_faults;      /* its row is not all zero */
        uint32_t row;         /* of its faults */
        uint32_t idle;        /* sweeps since it last ran, saturating */
        struct hn_task_files files;
        struct hn_process *process;
        struct hn_task_sample sample;
};

struct hn_listed {
        pid_t tid;
        uint32_t scope;
};

struct hn_task_table {
        struct hn_task_slot *slots; /* ascending tid */
        size_t n_slots, slots_allocated;
        struct hn_process **processes; /* ascending tgid */
        size_t n_processes, processes_allocated;
        struct hn_row_pool *rows;
        struct hn_task_reader *reader;
};

#define HN_TASK_TABLE_NULL ((struct hn_task_table){})

void hn_task_table_init(struct hn_task_table *t, struct hn_row_pool *rows, struct hn_task_reader *reader);
void hn_task_table_deinit(struct hn_task_table *t);

/* Makes the slots those of `listed` (sorted by tid, none twice): who is not listed is dropped, who is new
 * gets a slot of kind NEW. Returns 0 or -ENOMEM, in which case the slots are those which were there before
 * and are listed. */
int hn_task_table_reconcile(struct hn_task_table *t, const struct hn_listed *listed, size_t n);

/* Forgets all about a slot but its tid and place: its tid has a new owner. */
void hn_task_slot_reset(struct hn_task_table *t, struct hn_task_slot *slot);

/* Ties a slot to the process of that tgid. Returns 0 or -ENOMEM. */
int hn_task_slot_join(struct hn_task_table *t, struct hn_task_slot *slot, pid_t tgid);

/* Frees the processes nobody refers to. */
void hn_task_table_prune(struct hn_task_table *t);
