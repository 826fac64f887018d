/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/macro.h"
#include "sample/procfs.h"
#include "sample/sampler.h"
#include "sample/tasklook.h"

/* Masks kept at most: somebody who sets another one each second is not to eat our memory, nor our time. */
#define MASKS_MAX 1024u

/* Sweeps after which a sleeper's larger files are closed, and after which a kernel thread is looked at again,
 * since it may have become a program by exec. */
#define IDLE_MAX 64u

/* Sweeps after which a new process is asked once more for its name. */
#define ID_SOON 4u

static bool is_denied(ssize_t r) {
        return r == -EACCES || r == -EPERM;
}

/* What can be done about a file that was not read: the task is gone, or it goes on without this file. */
static bool note_failure(struct hn_task_slot *slot, ssize_t r) {
        if (hn_is_gone((int) r)) {
                slot->kind = HN_SLOT_GONE;
                return true;
        }
        slot->denied = slot->denied || is_denied(r);
        return false;
}

static int intern(struct hn_sampler *s, const struct hn_mask *mask, hn_mask_id *id) {
        hn_mask_id fresh;
        int r;

        /* Nearly always it is the one it was. */
        if (*id != HN_MASK_ID_NONE && hn_mask_equal(hn_mask_pool_get(&s->masks, *id), mask))
                return 0;
        *id = HN_MASK_ID_NONE;
        if (s->masks.n >= MASKS_MAX) {
                for (fresh = 0; fresh < s->masks.n; fresh++)
                        if (hn_mask_equal(hn_mask_pool_get(&s->masks, fresh), mask))
                                *id = fresh;
                return 0;
        }
        r = hn_mask_pool_intern(&s->masks, mask, &fresh);
        if (r < 0)
                return r;
        *id = fresh;
        return 0;
}

static int read_status(struct hn_sampler *s, struct hn_task_slot *slot, struct hn_proc_status *ret) {
        const char *text;
        ssize_t n = hn_task_file_read(&s->reader, &slot->files, HN_TASK_FILE_STATUS, slot->tid, &text);

        if (n < 0)
                return (int) n;
        return hn_proc_status_parse(text, (size_t) n, ret);
}

static int look_at_mask(struct hn_sampler *s, struct hn_task_slot *slot,
                        const struct hn_proc_status *status) {
        struct hn_mask mask = HN_MASK_NULL;
        struct hn_proc_status own;
        long n;

        if (s->root->live) {
                /* The system call, not glibc's wrapper: that one wants a cpu_set_t. Ours holds any kernel's
                 * mask. */
                n = syscall(SYS_sched_getaffinity, slot->tid, sizeof(mask), &mask);
                if (n < 0) {
                        slot->sample.mask = HN_MASK_ID_NONE;
                        (void) note_failure(slot, -errno);
                        return 0;
                }
        } else {
                if (!status && read_status(s, slot, &own) == 0)
                        status = &own;
                if (!status || !status->has_cpus) {
                        slot->sample.mask = HN_MASK_ID_NONE;
                        return 0;
                }
                mask = status->cpus;
        }
        return intern(s, &mask, &slot->sample.mask);
}

/* The scheduler's debug file, which not every kernel has. */
static int look_at_sched(struct hn_sampler *s, struct hn_task_slot *slot) {
        struct hn_task_sample *sample = &slot->sample;
        struct hn_proc_sched sched;
        const char *text;
        hn_node_index preferred;
        uint32_t row = slot->row;
        ssize_t n;
        int r;

        n = hn_task_file_read(&s->reader, &slot->files, HN_TASK_FILE_SCHED, slot->tid, &text);
        if (n == -ENOMEM)
                return -ENOMEM;
        if (row == HN_ROW_NONE) {
                r = hn_row_pool_take(&s->rows, &row);
                if (r < 0)
                        return r;
        }
        slot->row = row;
        if (n < 0 || hn_proc_sched_parse(text, (size_t) n, s->topo, hn_row_priv(&s->rows, row),
                                         hn_row_shared(&s->rows, row), &sched) < 0) {
                /* A task that is gone will show when its stat is read; a file that is missing is a value. */
                slot->denied = slot->denied || is_denied(n);
                sched = (struct hn_proc_sched){ .preferred = -1 };
        }
        slot->has_fault_lines = sched.has_faults;
        slot->has_faults = sched.total > 0;
        if (!slot->has_faults)
                hn_row_pool_release(&s->rows, &slot->row);

        preferred = sched.preferred < 0 ? HN_NODE_NONE
                                        : hn_topology_index(s->topo, (unsigned) sched.preferred);
        sample->kernel_preferred = preferred == HN_NODE_NONE ? -1 : preferred;
        sample->runnable_avg = sched.runnable_avg;
        sample->numa_group = sched.numa_group;
        sample->scan_seq = sched.scan_seq;
        return 0;
}

/* Whether it is time to read again who a process is. One that has just come may be about to become another,
 * by exec(2) or by leaving root; later on it is rare, and each has a sweep of its own for it. */
static bool is_due(const struct hn_sampler *s, const struct hn_process *p) {
        uint64_t since = s->n_sweeps - p->id_sweep, turn = (uint64_t) p->tgid;

        if (p->id_looks < 2)
                return since >= ID_SOON + turn % ID_SOON;
        return (s->n_sweeps + turn) % HN_SAMPLER_ID_SWEEPS == 0;
}

/* Reads who the process of a thread is, where that is not known or may have changed. A thread that is new may
 * be one of another process under the same number. */
static int identify(struct hn_sampler *s, const struct hn_task_slot *slot, bool born) {
        struct hn_process *p = slot->process;
        struct hn_proc_id id;
        int r;

        if (p->id_sweep == s->n_sweeps || (p->id_sweep != 0 && !born && !is_due(s, p)))
                return 0;
        p->id_looks = born ? 1 : p->id_looks + (p->id_looks < 2);
        r = hn_proc_id_read(s->reader.proc_fd, p->tgid, slot->tid, s->chooser.wants, &s->privilege, &id);
        if (r == -ENOMEM)
                return r;
        /* What went wrong with the file for once makes nobody somebody else. */
        if (r >= 0 || born || p->id_sweep == 0) {
                hn_proc_id_deinit(&p->id);
                if (r == 0)
                        p->id = id;
                p->choice_sweep = 0;
        }
        p->id_sweep = s->n_sweeps;
        return 0;
}

/* Finds the scope that takes the process of a thread, among those of its cgroup. Returns 1, 0 for none, or
 * -ENOMEM. */
static int choose(struct hn_sampler *s, struct hn_task_slot *slot, bool born) {
        struct hn_process *p = slot->process;
        int r;

        if (!s->scopes[slot->place].by_process) {
                slot->scope = slot->place;
                return 1;
        }
        r = identify(s, slot, born);
        if (r < 0)
                return r;
        if (p->choice_sweep != s->n_sweeps || p->choice_place != slot->place) {
                p->choice_sweep = s->n_sweeps;
                p->choice_place = slot->place;
                p->choice = p->id.pid == 0 || !s->chooser.choose
                                    ? HN_SCOPE_NONE
                                    : s->chooser.choose(s->chooser.userdata, slot->place, &p->id);
                s->counts.unnamed += p->choice == HN_SCOPE_NONE && hn_proc_id_exe_denied(&p->id);
        }
        if (p->choice == HN_SCOPE_NONE)
                return 0;
        slot->scope = p->choice;
        if (slot->scope >= s->n_scopes) {
                struct hn_scope *scope = &s->scopes[slot->scope], *place = &s->scopes[slot->place];

                s->n_scopes = slot->scope + 1;
                scope->cpuset = place->cpuset;
                scope->mems = place->mems;
        }
        s->scopes[slot->scope].populated = true;
        return 1;
}

/* Keeps of a thread that no rule takes only that it is there. */
static void turn_away(struct hn_sampler *s, struct hn_task_slot *slot) {
        hn_task_files_close(&s->reader, &slot->files);
        hn_row_pool_release(&s->rows, &slot->row);
        slot->has_faults = false;
        slot->kind = HN_SLOT_OTHER;
        s->counts.turned++;
}

/* The second stage. `stat` is that of this sweep. */
static int look_closely(struct hn_sampler *s, struct hn_task_slot *slot, const struct hn_proc_stat *stat) {
        struct hn_task_sample *sample = &slot->sample;
        bool born = slot->kind == HN_SLOT_NEW || !slot->process;
        struct hn_proc_status status;
        int r;

        memcpy(sample->comm, stat->comm, sizeof(sample->comm));
        sample->key = (struct hn_task_key){ .tid = slot->tid, .start = stat->start };
        sample->state = stat->state;
        sample->sched_class = stat->sched_class;
        sample->flags = stat->flags;
        sample->cpu = stat->cpu;
        sample->child_ns = stat->child_ticks * HN_USEC_PER_TICK * 1000;
        sample->resident = stat->resident * (uint64_t) sysconf(_SC_PAGESIZE);
        sample->node = hn_topology_node_of_cpu(s->topo, stat->cpu);

        if (stat->flags & HN_PF_KTHREAD) {
                slot->kind = HN_SLOT_KTHREAD;
                return 0;
        }
        if (stat->state == 'Z' || stat->state == 'X' || stat->state == 'x') {
                slot->kind = HN_SLOT_CORPSE;
                return 0;
        }
        if (born) {
                sample->mask = HN_MASK_ID_NONE;
                r = read_status(s, slot, &status);
                if (r == -ENOMEM)
                        return r;
                if (r < 0) {
                        /* Without its process it cannot be told what it is a part of; the next sweep tries
                         * again. */
                        if (!note_failure(slot, r))
                                slot->kind = HN_SLOT_NEW;
                        return 0;
                }
                sample->tgid = status.tgid;
                r = hn_task_slot_join(&s->table, slot, status.tgid);
                if (r < 0)
                        return r;
                r = choose(s, slot, /* born= */ true);
                if (r <= 0) {
                        if (r == 0)
                                turn_away(s, slot);
                        return r;
                }
        }
        slot->kind = HN_SLOT_TASK;
        slot->process->n_threads = stat->n_threads;
        r = look_at_sched(s, slot);
        if (r < 0)
                return r;
        return look_at_mask(s, slot, born ? &status : NULL);
}

/* Reads the run time. Returns the length read, 0 for a kernel that does not count, or -errno. */
static ssize_t read_schedstat(struct hn_sampler *s, struct hn_task_slot *slot,
                              struct hn_proc_schedstat *ret) {
        const char *text;
        ssize_t n = hn_task_file_read(&s->reader, &slot->files, HN_TASK_FILE_SCHEDSTAT, slot->tid, &text);

        if (n > 0 && (hn_proc_schedstat_parse(text, (size_t) n, ret) < 0 || ret->run_ns == 0))
                n = 0;
        return n;
}

static void note_idle(struct hn_sampler *s, struct hn_task_slot *slot) {
        slot->idle += slot->idle < UINT32_MAX;
        if (slot->idle == IDLE_MAX) {
                hn_task_file_close(&s->reader, &slot->files, HN_TASK_FILE_SCHED);
                hn_task_file_close(&s->reader, &slot->files, HN_TASK_FILE_STAT);
        }
}

/* A task sleeps through a mask that it is given, by us or by others: what it had when it last ran says
 * nothing. Nobody writes to a capture. */
static int look_at_sleeper(struct hn_sampler *s, struct hn_task_slot *slot) {
        note_idle(s, slot);
        return s->root->live && slot->kind == HN_SLOT_TASK ? look_at_mask(s, slot, NULL) : 0;
}

/* Reads stat. Returns 0, 1 where there is nothing to go on with, or -ENOMEM. */
static int read_stat(struct hn_sampler *s, struct hn_task_slot *slot, struct hn_proc_stat *ret) {
        const char *text;
        ssize_t n = hn_task_file_read(&s->reader, &slot->files, HN_TASK_FILE_STAT, slot->tid, &text);

        if (n == -ENOMEM)
                return -ENOMEM;
        if (n < 0) {
                (void) note_failure(slot, n);
                return 1;
        }
        return hn_proc_stat_parse(text, (size_t) n, ret) < 0;
}

int hn_task_look(struct hn_sampler *s, struct hn_task_slot *slot) {
        struct hn_proc_schedstat schedstat = { .run_ns = 0 };
        struct hn_proc_stat stat;
        uint64_t runtime;
        ssize_t n;
        int r;

        slot->ran = false;
        slot->denied = false;
        if (slot->kind == HN_SLOT_GONE) {
                hn_task_slot_reset(&s->table, slot);
                return 0;
        }

        if (slot->kind == HN_SLOT_OTHER || slot->kind == HN_SLOT_TASK) {
                r = choose(s, slot, /* born= */ false);
                if (r < 0)
                        return r;
                if (r == 0 && slot->kind == HN_SLOT_TASK)
                        turn_away(s, slot);
                /* Taken from now on, or nobody is left under that number: as if it were new. */
                else if (slot->kind == HN_SLOT_OTHER && (r > 0 || slot->process->id.pid == 0))
                        hn_task_slot_reset(&s->table, slot);
                if (r == 0 || slot->kind == HN_SLOT_NEW)
                        return 0;
        }

        n = read_schedstat(s, slot, &schedstat);
        if (n == -ENOMEM)
                return -ENOMEM;
        if (slot->kind != HN_SLOT_NEW) {
                if (n < 0 && hn_is_gone((int) n)) {
                        hn_task_slot_reset(&s->table, slot);
                        return 0;
                }
                if (slot->kind == HN_SLOT_KTHREAD && slot->files.fd[HN_TASK_FILE_SCHEDSTAT] >= 0) {
                        slot->idle += slot->idle < UINT32_MAX;
                        if (slot->idle % IDLE_MAX != 0)
                                return 0;
                } else if (n > 0 && schedstat.run_ns == slot->sample.runtime_ns) {
                        return look_at_sleeper(s, slot);
                }
        }

        r = read_stat(s, slot, &stat);
        if (r == 0 && slot->kind != HN_SLOT_NEW && stat.start != slot->sample.key.start) {
                /* Only for tasks whose files are not kept open: the others are told by -ESRCH above. */
                hn_task_slot_reset(&s->table, slot);
                return 0;
        }
        if (r != 0)
                return r < 0 ? r : 0;

        runtime = n > 0 ? schedstat.run_ns : stat.ticks * HN_USEC_PER_TICK * 1000;
        slot->ran = slot->kind == HN_SLOT_NEW || runtime != slot->sample.runtime_ns;
        slot->sample.runtime_ns = runtime;
        slot->sample.wait_ns = n > 0 ? schedstat.wait_ns : 0;
        if (!slot->ran)
                return look_at_sleeper(s, slot);
        slot->idle = 0;
        s->counts.looked++;
        return look_closely(s, slot, &stat);
}
