/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <assert.h>

#include "base/macro.h"
#include "policy/nodeload.h"

/* The clock ticks of the kernel that the formula was written for, per distance of a local node. */
#define DELAY_DIVISOR 77

/* Passes until a load that is halved each time shows what is new: eight bits of it. */
#define PASSES_TO_FOLLOW 8

uint32_t hn_node_load(uint32_t before, uint32_t n_running, uint32_t n_cpus) {
        return before / 2 + (n_cpus ? (uint32_t) (UINT64_C(10) * n_running / n_cpus) : 0);
}

hn_node_index hn_find_busiest(const uint32_t *load, size_t n_nodes, hn_node_index here, unsigned threshold) {
        hn_node_index busiest = HN_NODE_NONE;
        uint32_t most = 0;

        for (size_t i = 0; i < n_nodes; i++)
                if (load[i] > most && UINT64_C(100) * load[i] > (uint64_t) threshold * load[here]) {
                        most = load[i];
                        busiest = (hn_node_index) i;
                }
        return busiest == here ? HN_NODE_NONE : busiest;
}

bool hn_worth_taking_from(uint32_t most_on_one_cpu) {
        return most_on_one_cpu >= 2;
}

struct hn_rate hn_rate(const uint32_t *load, size_t n_nodes, hn_node_index here, uint32_t min, uint32_t max) {
        uint64_t sum = 0, average;

        assert(here < n_nodes);
        for (size_t i = 0; i < n_nodes; i++)
                sum += load[i];
        average = sum / n_nodes;
        return (struct hn_rate){
                .passes = load[here] < average / 2 ? min : max,
                .may_take = load[here] < average,
        };
}

hn_node_index hn_exec_node(uint32_t on_this_cpu, const uint32_t *n_running, const uint32_t *n_cpus,
                           size_t n_nodes, hn_node_index here) {
        hn_node_index best = here;

        if (on_this_cpu <= 2)
                return here;
        for (size_t i = 0; i < n_nodes; i++) {
                uint64_t load, least;

                if (n_cpus[i] == 0)
                        continue;
                load = UINT64_C(10) * n_running[i] / n_cpus[i];
                least = n_cpus[best] ? UINT64_C(10) * n_running[best] / n_cpus[best] : UINT64_MAX;
                if (load < least)
                        best = (hn_node_index) i;
        }
        return best;
}

uint32_t hn_steal_delay(unsigned distance, bool underloaded) {
        uint64_t delay = UINT64_C(1000) * distance / DELAY_DIVISOR;

        return (uint32_t) (delay >> (underloaded ? 6 : 0));
}

uint32_t hn_steal_passes(uint32_t delay_ms, uint32_t interval_ms) {
        uint64_t followed = (uint64_t) delay_ms * PASSES_TO_FOLLOW;

        return interval_ms ? (uint32_t) HN_MAX((followed + interval_ms - 1) / interval_ms, UINT64_C(1)) : 1;
}

bool hn_balanced(uint32_t most, uint32_t this) {
        uint32_t more = HN_MAX(most, this) - this;

        return most <= 1 || more / 2 < (((uint64_t) most + this) / 2 + 3) / 4;
}
