/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "daemon/bus-newscope.h"
#include "daemon/bus-pin.h"
#include "daemon/bus.h"
#include "daemon/manager.h"
#include "daemon/texthash.h"

uint64_t hn_news_count_held(const struct hn_manager *m) {
        uint64_t n = 0;

        for (size_t i = 0; i < m->state.n_scopes; i++)
                n += m->state.scopes[i].managed;
        return n;
}

static uint64_t hash_nodes(const struct hn_topology *topo) {
        uint64_t h = HN_TEXT_HASH_BEGIN;

        for (size_t i = 0; i < topo->n_nodes; i++)
                h = hn_text_hash(h, &topo->nodes[i].id, sizeof(topo->nodes[i].id));
        return h;
}

static struct hn_news_facts look(const struct hn_news *n, const struct hn_manager *m) {
        return (struct hn_news_facts){
                .mode = hn_manager_mode(m),
                .allowed = m->allowed,
                .signal = m->state.signal,
                .log_level = m->log.level,
                .signals = n->signals,
                .kernel_balancing = m->state.kernel_balancing,
                .cpu_permille = m->state.cpu_permille,
                .cpu_budget = m->config.cpu_budget_permille,
                .nodes = hash_nodes(&m->topo),
                .why_no_signal = hn_text_hash_string(m->snapshot.why_no_signal),
                .interval = m->state.interval,
                .page_rate = m->config.page_rate,
                .tasks = m->snapshot.n_tasks,
                .scopes = m->state.n_scopes,
                .held = hn_news_count_held(m),
                .moves = m->state.moves,
                .helped = m->state.helped,
                .in_vain = m->state.in_vain,
                .pages_moved = m->state.pages_moved,
                .restored = m->state.restored,
                .left_out = n->left_out,
                .pins = hn_override_count(m),
        };
}

void hn_news_begin(struct hn_news *n, struct hn_manager *m) {
        hn_news_deinit(n);
        n->facts = look(n, m);
}

void hn_news_deinit(struct hn_news *n) {
        hn_news_scopes_deinit(n);
        hn_conflicts_deinit(&n->conflicts);
        free(n->pins);
        *n = (struct hn_news){ .n_scopes = 0 };
}

static bool is_taken(const struct hn_bus *b) {
        uint64_t unsent;

        return b->bus && sd_bus_is_ready(b->bus) > 0 && sd_bus_get_n_queued_write(b->bus, &unsent) >= 0 &&
               unsent < HN_NEWS_UNSENT_MAX;
}

/* "PropertiesChanged" needs names; those of what is different go to `names`. */
static size_t name_differences(const struct hn_news_facts *a, const struct hn_news_facts *b, char **names) {
        size_t n = 0;

#define NOTE(field, property)                           \
        do {                                            \
                if (a->field != b->field)               \
                        names[n++] = (char *) property; \
        } while (false)
        NOTE(mode, "Mode");
        NOTE(allowed, "AllowedMode");
        NOTE(signal, "Signal");
        NOTE(log_level, "LogLevel");
        NOTE(signals, "SignalsInUse");
        NOTE(kernel_balancing, "KernelBalancing");
        NOTE(cpu_permille, "CpuPermille");
        NOTE(cpu_budget, "CpuBudgetPermille");
        NOTE(nodes, "Nodes");
        NOTE(why_no_signal, "WhyNoSignal");
        NOTE(interval, "IntervalUSec");
        NOTE(page_rate, "PageRate");
        NOTE(tasks, "Tasks");
        NOTE(scopes, "Scopes");
        NOTE(held, "Held");
        NOTE(moves, "Moves");
        NOTE(helped, "MovesHelped");
        NOTE(in_vain, "MovesInVain");
        NOTE(pages_moved, "PagesMoved");
        NOTE(restored, "Restored");
        NOTE(pins, "Pins");
        NOTE(left_out, "SignalsLeftOut");
#undef NOTE
        names[n] = NULL;
        return n;
}

void hn_news_properties(struct hn_bus *b) {
        struct hn_news_facts facts = look(&b->news, b->manager);
        char *names[32];

        if (!is_taken(b) || name_differences(&b->news.facts, &facts, names) == 0)
                return;
        if (sd_bus_emit_properties_changed_strv(b->bus, HN_BUS_PATH, HN_BUS_MANAGER, names) >= 0)
                b->news.facts = facts;
}

static void check_conflicts(struct hn_bus *b, hn_usec_t now) {
        struct hn_news *n = &b->news;
        struct hn_conflicts found;

        if (n->conflicts_checked != 0 && now < hn_usec_add(n->conflicts_checked, HN_NEWS_CONFLICTS_PERIOD))
                return;
        if (hn_conflicts_find(&b->manager->root, &b->manager->topo, &found) < 0)
                return;
        n->conflicts_checked = now;
        if (hn_conflicts_equal(&found, &n->conflicts)) {
                hn_conflicts_deinit(&found);
                return;
        }
        hn_conflicts_deinit(&n->conflicts);
        n->conflicts = found;
        (void) sd_bus_emit_properties_changed(b->bus, HN_BUS_PATH, HN_BUS_MANAGER, "Conflicts", NULL);
}

void hn_news_tick(struct hn_bus *b, hn_usec_t now) {
        const struct hn_snapshot *s = b->manager ? &b->manager->snapshot : NULL;

        if (!s || !is_taken(b))
                return;
        b->news.moves = b->news.refusals = 0;
        b->news.signals = 0;
        for (size_t i = 0; i < s->n_tasks; i++)
                b->news.signals |= 1u << s->tasks[i].signal;
        check_conflicts(b, now);
        hn_news_properties(b);
        hn_news_scopes(b);
        hn_bus_tell_pins(b);
}

static int tell(struct hn_bus *b, const char *member, const char *act, const struct hn_state_event *e) {
        _hn_cleanup_(sd_bus_message_unrefp) sd_bus_message *m = NULL;
        char comm[HN_TASK_COMM_MAX + 1];
        int r;

        memcpy(comm, e->comm, HN_TASK_COMM_MAX);
        comm[HN_TASK_COMM_MAX] = '\0';
        r = sd_bus_message_new_signal(b->bus, &m, HN_BUS_PATH, HN_BUS_MANAGER, member);
        if (r >= 0)
                r = sd_bus_message_append(m, "u", (uint32_t) e->tid);
        if (r >= 0)
                r = hn_bus_append_text(m, comm);
        if (r >= 0 && act)
                r = hn_bus_append_text(m, act);
        if (r >= 0)
                r = sd_bus_message_append(m, "ii", e->from, e->to);
        if (r >= 0)
                r = hn_bus_append_text(m, e->reason);
        if (r >= 0)
                r = hn_bus_append_text(m, e->text);
        return r < 0 ? r : sd_bus_send(b->bus, m, NULL);
}

void hn_news_event(struct hn_bus *b, const struct hn_state_event *e) {
        bool refusal = e->act == HN_STATE_REFUSE;

        /* What would be done is in the journal and in the state; here it is told what was. */
        if (e->act == HN_STATE_WOULD_PIN || !b->bus)
                return;
        if (!is_taken(b) ||
            (refusal ? b->news.refusals >= HN_NEWS_REFUSALS : b->news.moves >= HN_NEWS_MOVES)) {
                b->news.left_out++;
                return;
        }
        *(refusal ? &b->news.refusals : &b->news.moves) += 1;
        if (refusal)
                (void) tell(b, "MoveRefused", NULL, e);
        else
                (void) tell(b, "TaskMoved", hn_state_act_to_string(e->act), e);
}
