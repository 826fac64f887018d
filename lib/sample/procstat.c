/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "sample/procstat.h"

/* 8,192 CPUs of 100 bytes, and an "intr" line with a number for each of some 100,000 interrupts. */
#define TEXT_MAX (8u << 20)

enum column { USER, NICE, SYSTEM, IDLE, IOWAIT, IRQ, SOFTIRQ, STEAL, _COLUMN_MAX };

static bool add(uint64_t *sum, uint64_t v) {
        return !__builtin_add_overflow(*sum, v, sum);
}

/* Returns false for a line that is not of a CPU of ours. */
static bool parse_line(const char *line, size_t n, size_t n_cpus, unsigned *ret_cpu,
                       struct hn_cpu_ticks *ret) {
        uint64_t v[_COLUMN_MAX] = {};
        struct hn_cpu_ticks t = {};
        const char *word, *end;
        size_t length, k = 0;
        unsigned cpu;

        if (!hn_has_prefix(line, n, "cpu") || !hn_next_word(&line, &n, &word, &length))
                return false;
        end = word + length;
        word += strlen("cpu");
        if (hn_parse_unsigned_prefix(&word, end, &cpu) < 0 || word != end || cpu >= n_cpus)
                return false;
        for (; k < _COLUMN_MAX && hn_next_word(&line, &n, &word, &length); k++)
                if (hn_parse_u64(word, length, &v[k]) < 0)
                        return false;
        if (k <= IDLE)
                return false;
        if (!add(&t.busy, v[USER]) || !add(&t.busy, v[NICE]) || !add(&t.busy, v[SYSTEM]) ||
            !add(&t.busy, v[IRQ]) || !add(&t.busy, v[SOFTIRQ]))
                return false;
        t.total = t.busy;
        if (!add(&t.total, v[IDLE]) || !add(&t.total, v[IOWAIT]) || !add(&t.total, v[STEAL]))
                return false;
        *ret_cpu = cpu;
        *ret = t;
        return true;
}

size_t hn_procstat_parse(const char *text, size_t n, struct hn_cpu_ticks *cpus, size_t n_cpus) {
        struct hn_cpu_ticks ticks;
        size_t length, taken = 0;
        const char *line;
        unsigned cpu;

        if (n_cpus > 0)
                memset(cpus, 0, n_cpus * sizeof(*cpus));
        while (hn_next_line(&text, &n, &line, &length)) {
                /* The CPUs come first; what follows is long and of no use here. */
                if (!hn_has_prefix(line, length, "cpu")) {
                        if (taken > 0)
                                break;
                        continue;
                }
                if (parse_line(line, length, n_cpus, &cpu, &ticks)) {
                        cpus[cpu] = ticks;
                        taken++;
                }
        }
        return taken;
}

ssize_t hn_procstat_read(const struct hn_sysroot *root, struct hn_cpu_ticks *cpus, size_t n_cpus) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        ssize_t n;

        n = hn_read_all_at(root->fd, TEXT_MAX, &text, "proc/stat");
        if (n == -ENOMEM)
                return -ENOMEM;
        return (ssize_t) hn_procstat_parse(n < 0 ? "" : text, n < 0 ? 0 : (size_t) n, cpus, n_cpus);
}
