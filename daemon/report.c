/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>
#include <systemd/sd-daemon.h>

#include "base/macro.h"
#include "daemon/manager.h"
#include "daemon/report.h"
#include "sample/clock.h"

#define NOTE_WHOLE_PROCESS \
        "threads cannot be told apart by resident pages, so each process is placed as a whole"

static int reserve(struct hn_manager *m, size_t n) {
        struct hn_state_scope *p;

        if (n <= m->n_state_scopes)
                return 0;
        p = realloc(m->state_scopes, n * sizeof(*p));
        if (!p)
                return -1;
        m->state_scopes = p;
        m->n_state_scopes = n;
        return 0;
}

/* Marks scopes where several threads of a process stand under one sample of its pages. */
static void note_whole_processes(struct hn_manager *m) {
        const struct hn_snapshot *s = &m->snapshot;
        _hn_cleanup_(hn_freep) bool *seen = calloc(s->n_rows + 1, sizeof(*seen));

        if (!seen)
                return;
        for (size_t i = 0; i < s->n_tasks; i++) {
                const struct hn_task_sample *t = &s->tasks[i];

                if (t->signal != HN_SIGNAL_RESIDENCY)
                        continue;
                if (seen[t->row])
                        m->state_scopes[t->scope].note = NOTE_WHOLE_PROCESS;
                seen[t->row] = true;
        }
}

/* Each verdict is of one sweep, and counted in that. */
static void count_effect(struct hn_manager *m, const struct hn_effect *e) {
        m->state.helped += e->verdict == HN_VERDICT_HELPED && e->judged == m->snapshot.now;
        m->state.in_vain += e->verdict == HN_VERDICT_IN_VAIN && e->judged == m->snapshot.now;
}

/* Faults where there are any, else pages: a task counts by the signal it has. */
static void count_local(const struct hn_snapshot *s, const struct hn_task_sample *t,
                        struct hn_state_scope *sc) {
        const uint64_t *priv = &s->priv[t->row * s->n_nodes], *shared = &s->shared[t->row * s->n_nodes];

        if (t->signal == HN_SIGNAL_NONE || t->node >= s->n_nodes)
                return;
        for (size_t k = 0; k < s->n_nodes; k++)
                sc->known += priv[k] + shared[k];
        sc->local += priv[t->node] + shared[t->node];
}

/* For readers, and for the bus, which looks for them and walks through them by name. */
static void sort_scopes(struct hn_manager *m) {
        if (m->state.n_scopes > 1)
                qsort(m->state_scopes, m->state.n_scopes, sizeof(*m->state_scopes), hn_state_scope_compare);
}

static size_t count_cgroups(const struct hn_state *s) {
        size_t n = 0;

        for (size_t i = 0; i < s->n_scopes; i++)
                n += i == 0 || strcmp(s->scopes[i - 1].path, s->scopes[i].path) != 0;
        return n;
}

static void fill_scopes(struct hn_manager *m) {
        const struct hn_snapshot *s = &m->snapshot;

        m->state.n_scopes = 0;
        if (reserve(m, s->n_scopes) < 0)
                return;
        for (size_t i = 0; i < s->n_scopes; i++)
                m->state_scopes[i] = (struct hn_state_scope){
                        .path = s->scopes[i].path,
                        .rule = s->scopes[i].rule,
                        .settings = &s->scopes[i],
                        .mode = s->scopes[i].mode,
                };
        m->state.signal = HN_SIGNAL_NONE;
        for (size_t i = 0; i < s->n_tasks; i++) {
                struct hn_state_scope *sc = &m->state_scopes[s->tasks[i].scope];

                if (s->scopes[s->tasks[i].scope].by_hand)
                        continue;
                sc->tasks++;
                sc->managed += hn_model_state(m->model, i)->pinned != HN_NODE_NONE;
                sc->signal = HN_MAX(sc->signal, s->tasks[i].signal);
                count_local(s, &s->tasks[i], sc);
                count_effect(m, &hn_model_state(m->model, i)->effect);
                m->state.signal = HN_MAX(m->state.signal, s->tasks[i].signal);
        }
        note_whole_processes(m);
        /* Empty cgroups say nothing to anybody. */
        for (size_t i = 0; i < s->n_scopes; i++) {
                struct hn_state_scope *sc = &m->state_scopes[i];

                if (sc->tasks == 0)
                        continue;
                if (sc->signal == HN_SIGNAL_NONE && !sc->note)
                        sc->note = s->why_no_signal;
                m->state_scopes[m->state.n_scopes++] = *sc;
        }
        sort_scopes(m);
        m->state.scopes = m->state_scopes;
        m->state.overrides = &m->overrides.list;
}

/* What `homenode advise` goes by: how busy each node is, and what the opted-in tasks are going to want there.
 */
static void fill_load(struct hn_manager *m) {
        const struct hn_snapshot *s = &m->snapshot;
        struct hn_state_node *load;

        m->state.n_load = 0;
        if (!m->numa || !s->busy_known)
                return;
        load = realloc(m->state_load, m->topo.n_nodes * sizeof(*load));
        if (!load)
                return;
        m->state_load = load;
        for (hn_node_index i = 0; i < m->topo.n_nodes; i++)
                load[i] = (struct hn_state_node){
                        .id = m->topo.nodes[i].id,
                        .busy = s->nodes[i].busy,
                        .others = hn_model_unsampled(m->model, i),
                };
        for (size_t i = 0; i < s->n_tasks; i++) {
                const struct hn_task_state *t = hn_model_state(m->model, i);
                hn_node_index node = t->pinned != HN_NODE_NONE ? t->pinned : s->tasks[i].node;

                if (node != HN_NODE_NONE)
                        load[node].opted_in += t->demand;
        }
        m->state.load = load;
        m->state.n_load = m->topo.n_nodes;
}

static void fill_notes(struct hn_manager *m) {
        hn_state_notes_clear(&m->state);
        if (!m->numa)
                hn_state_note_add(&m->state, "this machine has one node with CPUs: there is nothing to do");
        if (!m->ledger)
                hn_state_note_add(&m->state, "the ledger cannot be written, so nothing is changed");
        if (m->config.n_rules == 0 && !m->options.all)
                hn_state_note_add(&m->state, "no rule opts anything in; see homenode.conf(5)");
        if (m->numa && m->snapshot.why_no_signal)
                hn_state_note_add(&m->state, m->snapshot.why_no_signal);
        for (size_t i = 0; i < m->state.n_scopes; i++)
                if (m->state.scopes[i].note)
                        hn_state_note_add(&m->state, m->state.scopes[i].note);
        if (m->snapshot.n_denied > 0)
                hn_state_note_add(&m->state,
                                  "some tasks could not be read: CAP_SYS_PTRACE is needed for their pages");
        if (m->sampler.counts.unnamed > 0)
                hn_state_note_add(&m->state,
                                  "the programs of some processes could not be read, so no Exe= fits them: "
                                  "CAP_SYS_PTRACE is needed");
        if (m->cgroups.confined)
                hn_state_note_add(&m->state, "only a part of the cgroup tree is visible from here");
}

static void tell_signal(struct hn_manager *m) {
        if (m->snapshot.n_tasks == 0 || (m->signal_known && m->signal == m->state.signal))
                return;
        m->signal = m->state.signal;
        m->signal_known = true;
        hn_log_event(&m->log, HN_EVENT_SIGNAL_CHANGED, LOG_INFO, NULL,
                     "What is known of memory comes from: %s%s%s", hn_signal_to_string(m->signal),
                     m->snapshot.why_no_signal ? "; " : "",
                     m->snapshot.why_no_signal ? m->snapshot.why_no_signal : "");
}

static void write_state(struct hn_manager *m) {
        int r;

        m->state.mode = hn_manager_mode(m);
        m->state.n_nodes = m->topo.n_nodes;
        m->state.time_usec = hn_clock(CLOCK_REALTIME);
        r = hn_state_write(m->options.run_dir, &m->state);
        if (r < 0)
                hn_log_event_once(&m->log, "state.json", r, HN_EVENT_DENIED, LOG_WARNING, NULL,
                                  "Cannot write %s/" HN_STATE_FILE
                                  ": %s; 'homenode status' will not know of this "
                                  "daemon",
                                  m->options.run_dir, strerror(-r));
        else
                hn_log_recovered(&m->log, "state.json", r, "state.json is written again");
}

void hn_report(struct hn_manager *m, hn_usec_t now) {
        uint64_t spent = hn_clock(CLOCK_PROCESS_CPUTIME_ID);
        hn_usec_t elapsed = hn_usec_sub(now, m->last_tick);

        m->state.running = true;
        m->state.tick++;
        m->state.kernel_balancing = m->snapshot.kernel_balancing;
        m->state.sweep_us = m->snapshot.cost;
        if (m->last_tick != 0 && elapsed > 0)
                m->state.cpu_permille = (unsigned) ((spent - m->cpu_spent) * 1000 / elapsed);
        m->cpu_spent = spent;
        m->last_tick = now;

        fill_scopes(m);
        fill_load(m);
        fill_notes(m);
        tell_signal(m);
        write_state(m);

        if (!m->numa)
                (void) sd_notify(0, "STATUS=One node: nothing to do.");
        else
                (void) sd_notifyf(0, "STATUS=%s: %zu tasks in %zu cgroups, %zu held, signal %s.",
                                  hn_mode_to_string(hn_manager_mode(m)), m->snapshot.n_tasks,
                                  count_cgroups(&m->state), m->ledger ? hn_ledger_size(m->ledger) : 0,
                                  hn_signal_to_string(m->state.signal));
}

void hn_report_stopped(struct hn_manager *m) {
        m->state.running = false;
        m->state.n_scopes = 0;
        m->state.n_load = 0;
        write_state(m);
}
