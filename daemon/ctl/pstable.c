/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "pstable.h"
#include "term.h"

const struct hn_column hn_ps_columns[_HN_PS_COLUMN_MAX] = {
        [HN_PS_PID] = { "PID", "process", true, true },
        [HN_PS_TID] = { "TID", "thread; usual with -T", true, false },
        [HN_PS_COMM] = { "COMM", "its name", false, true },
        [HN_PS_NODE] = { "NODE", "where it runs", false, true },
        [HN_PS_HOME] = { "HOME", "node of most of its faults or pages", true, true },
        [HN_PS_LOCAL] = { "LOCAL%", "part of its faults or pages on the node where it runs", true, true },
        [HN_PS_SIGNAL] = { "SIGNAL", "what HOME and LOCAL% come from: faults or residency", false, true },
        [HN_PS_PAGES] = { "PAGES", "private memory of its process, by node", false, true },
        [HN_PS_REMOTE] = { "REMOTE", "bytes of its memory away from it", true, true },
        [HN_PS_MASK] = { "MASK", "CPUs it may use", false, true },
        [HN_PS_OWNER] = { "OWNER", "who narrowed the mask: homenode, override, user or none", false, true },
        [HN_PS_THREADS] = { "THREADS", "number of threads", true, false },
        [HN_PS_MEMORY] = { "MEMORY", "private memory of its process, in bytes", true, false },
        [HN_PS_FAULTS] = { "FAULTS", "the kernel's count of NUMA hinting faults, which decays", true, false },
        [HN_PS_CGROUP] = { "CGROUP", "cgroup of its process", false, false },
};

/* One line to be: a process, or one thread of it. */
struct row {
        const struct hn_proc_view *view;
        const struct hn_thread_view *thread; /* NULL: the process */
};

static uint64_t remote_of(const struct row *row) {
        return row->thread ? row->thread->remote : row->view->remote;
}

/* Most remote bytes first, then most memory, then by number. */
static int by_remote(const void *a, const void *b) {
        const struct row *x = a, *y = b;
        int r = HN_CMP(remote_of(y), remote_of(x));

        if (r == 0)
                r = HN_CMP(y->view->bytes, x->view->bytes);
        if (r == 0)
                r = HN_CMP(x->view->pid, y->view->pid);
        return r != 0 || !x->thread ? r : HN_CMP(x->thread->key.tid, y->thread->key.tid);
}

static void set_number(struct hn_table *t, size_t column, uint64_t v) {
        hn_table_set(t, column, json_integer((json_int_t) v), "%" PRIu64, v);
}

static void set_bytes(struct hn_table *t, size_t column, uint64_t bytes) {
        char text[16];

        hn_table_set(t, column, json_integer((json_int_t) bytes), "%s",
                     hn_format_bytes(bytes, text, sizeof(text)));
}

static void set_mask(struct hn_table *t, size_t column, const struct hn_mask *mask) {
        char list[HN_MASK_LIST_MAX];

        if (hn_mask_print_list(mask, list, sizeof(list)) >= 0)
                hn_table_set_text(t, column, list);
}

static void set_comm(struct hn_table *t, const char *comm) {
        char name[4 * HN_TASK_COMM_MAX + 1];

        (void) hn_escape_text(comm, HN_TASK_COMM_MAX, name, sizeof(name));
        hn_table_set_text(t, HN_PS_COMM, name);
}

static void set_home(struct hn_table *t, const struct hn_topology *topo, hn_node_index home) {
        if (home != HN_NODE_NONE)
                set_number(t, HN_PS_HOME, topo->nodes[home].id);
}

static void set_local(struct hn_table *t, int local) {
        if (local < 0)
                return;
        hn_table_set(t, HN_PS_LOCAL, json_real(local / 10.0), "%.1f", local / 10.0);
        hn_table_heat(t, HN_PS_LOCAL, local < 500 ? HN_HEAT_HOT : local < 900 ? HN_HEAT_WARM : HN_HEAT_COOL);
}

/* "0:12.0M 3:300M", nodes without a page left out; in JSON an object by node id. */
static void set_pages(struct hn_table *t, const struct hn_topology *topo, const struct hn_proc_view *v) {
        json_t *by_node;
        char *text = NULL;
        size_t size = 0;
        FILE *f;

        if (!v->has_pages)
                return;
        f = open_memstream(&text, &size);
        by_node = json_object();
        if (!f) {
                json_decref(by_node);
                return;
        }
        for (size_t i = 0; i < topo->n_nodes; i++) {
                char id[16], bytes[16];

                if (v->by_node[i] == 0)
                        continue;
                (void) snprintf(id, sizeof(id), "%u", topo->nodes[i].id);
                fprintf(f, "%s%s:%s", ftell(f) > 0 ? " " : "", id,
                        hn_format_bytes(v->by_node[i], bytes, sizeof(bytes)));
                (void) json_object_set_new(by_node, id, json_integer((json_int_t) v->by_node[i]));
        }
        if (fclose(f) == 0)
                hn_table_set(t, HN_PS_PAGES, by_node, "%s", text);
        else
                json_decref(by_node);
        free(text);
}

static void set_owner(struct hn_table *t, const struct hn_ps_look *l, const struct row *row) {
        static const char *const names[] = {
                [HN_OWNER_NOBODY] = "none",
                [HN_OWNER_US] = "homenode",
                [HN_OWNER_OTHER] = "user",
        };
        const struct hn_proc_view *v = row->view;
        struct hn_mask allowed = hn_owners_allowed(&l->owners, v);
        const char *name = NULL;

        for (size_t i = 0; i < v->n_threads; i++) {
                const struct hn_thread_view *thread = row->thread ? row->thread : &v->threads[i];
                enum hn_owner owner;
                const char *next;

                if (thread->mask == HN_MASK_ID_NONE)
                        return;
                owner = hn_owners_of(&l->owners, v, thread, &allowed);
                next = owner == HN_OWNER_US && hn_owners_by_hand(&l->owners, v, thread, &allowed)
                               ? "override"
                               : names[owner];
                if (name && name != next) {
                        hn_table_set_text(t, HN_PS_OWNER, "mixed");
                        return;
                }
                name = next;
                if (row->thread)
                        break;
        }
        /* A narrowed mask of an unreadable ledger may be either's. */
        if (name == names[HN_OWNER_OTHER] && l->owners.ledger_error < 0)
                return;
        if (name)
                hn_table_set_text(t, HN_PS_OWNER, name);
}

static void add_row(struct hn_table *t, const struct hn_ps_look *l, const struct row *row) {
        const struct hn_proc_view *v = row->view;
        const struct hn_thread_view *thread = row->thread;
        hn_mask_id mask = thread ? thread->mask : v->mask;
        enum hn_signal signal = thread ? thread->signal : v->signal;
        uint64_t faults = 0;

        hn_table_add_row(t);
        set_number(t, HN_PS_PID, (uint64_t) v->pid);
        set_comm(t, thread ? thread->comm : v->comm);
        set_home(t, &l->topo, thread ? thread->home : v->home);
        set_local(t, thread ? thread->local : v->local);
        hn_table_set_text(t, HN_PS_SIGNAL, hn_signal_to_string(signal));
        set_pages(t, &l->topo, v);
        /* Where the faults of others say whose the memory is, a thread without any has no known part of it.
         */
        if ((thread ? thread->local : v->local) >= 0 && signal == v->signal)
                set_bytes(t, HN_PS_REMOTE, remote_of(row));
        set_bytes(t, HN_PS_MEMORY, v->bytes);
        if (thread) {
                set_number(t, HN_PS_TID, (uint64_t) thread->key.tid);
                if (thread->node != HN_NODE_NONE)
                        hn_table_set(t, HN_PS_NODE, json_integer(l->topo.nodes[thread->node].id), "%u",
                                     l->topo.nodes[thread->node].id);
                faults = thread->faults;
        } else {
                if (!hn_mask_empty(&v->nodes))
                        set_mask(t, HN_PS_NODE, &v->nodes);
                for (size_t i = 0; i < l->topo.n_nodes; i++)
                        faults += v->faults[i];
        }
        set_number(t, HN_PS_THREADS, v->n_threads);
        set_number(t, HN_PS_FAULTS, faults);
        hn_table_set_text(t, HN_PS_CGROUP, v->cgroup);
        if (mask != HN_MASK_ID_NONE)
                set_mask(t, HN_PS_MASK, hn_mask_pool_get(&l->masks, mask));
        else if (!thread && v->masks_differ)
                hn_table_set_text(t, HN_PS_MASK, "mixed");
        set_owner(t, l, row);
}

int hn_ps_add_rows(struct hn_table *t, const struct hn_ps_look *l, bool threads) {
        _hn_cleanup_(hn_freep) struct row *rows = NULL;
        size_t n = 0, k = 0;

        for (size_t i = 0; i < l->n_views; i++)
                n += threads ? l->views[i].n_threads : 1;
        rows = calloc(n + 1, sizeof(*rows));
        if (!rows)
                return -ENOMEM;
        for (size_t i = 0; i < l->n_views; i++) {
                if (!threads)
                        rows[k++] = (struct row){ .view = &l->views[i] };
                for (size_t j = 0; threads && j < l->views[i].n_threads; j++)
                        rows[k++] = (struct row){ .view = &l->views[i], .thread = &l->views[i].threads[j] };
        }
        qsort(rows, n, sizeof(*rows), by_remote);
        for (size_t i = 0; i < n; i++)
                add_row(t, l, &rows[i]);
        return 0;
}
