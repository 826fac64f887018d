/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stddef.h>

#include "base/macro.h"
#include "sample/signal.h"

/* Bit 0 of kernel.numa_balancing: NUMA_BALANCING_NORMAL. Tiering alone counts no faults by node. */
#define BALANCING_NORMAL 1u

static const char *const sentences[_HN_NO_FAULTS_MAX] = {
        [HN_NO_FAULTS_OFF] = "kernel.numa_balancing is off, so that the kernel counts no faults by node",
        [HN_NO_FAULTS_FILE] = "this kernel has no fault statistics in /proc/PID/sched",
        [HN_NO_FAULTS_ONE_NODE] =
                "the cpuset has memory of one node only, where the kernel need not count faults",
        [HN_NO_FAULTS_YET] = "some threads have had too few faults yet",
};

const char *hn_no_faults_to_sentence(enum hn_no_faults why) {
        return (size_t) why < HN_ELEMENTS(sentences) ? sentences[why] : NULL;
}

enum hn_no_faults hn_signal_why(const struct hn_signal_inputs *in) {
        if (!(in->kernel_balancing & BALANCING_NORMAL))
                return HN_NO_FAULTS_OFF;
        if (!in->has_fault_lines)
                return HN_NO_FAULTS_FILE;
        if (in->has_faults)
                return HN_NO_FAULTS_FINE;
        return in->n_mems == 1 ? HN_NO_FAULTS_ONE_NODE : HN_NO_FAULTS_YET;
}

bool hn_signal_wants_residency(const struct hn_signal_inputs *in) {
        enum hn_no_faults why = hn_signal_why(in);

        if (in->process_cpu_ns < HN_SIGNAL_CPU_MIN_NS)
                return false;
        if (in->n_threads == 1)
                return true;
        return why != HN_NO_FAULTS_FINE && (why != HN_NO_FAULTS_YET || in->n_threads > in->fewest_cores);
}

enum hn_signal hn_signal_choose(const struct hn_signal_inputs *in) {
        enum hn_no_faults why = hn_signal_why(in);

        if (why == HN_NO_FAULTS_FINE)
                return HN_SIGNAL_FAULTS;
        return in->resident && hn_signal_wants_residency(in) &&
                               (why != HN_NO_FAULTS_YET || in->n_threads == 1)
                       ? HN_SIGNAL_RESIDENCY
                       : HN_SIGNAL_NONE;
}
