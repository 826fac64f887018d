/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "sample/runqueue.h"

/* A line for each CPU and for each of its few scheduling domains, of up to 500 bytes. */
#define TEXT_MAX (32u << 20)

/* Which of the numbers behind "cpuN" it is. */
#define WAITED 8

static bool parse_line(const char *line, size_t n, size_t n_cpus, unsigned *ret_cpu, uint64_t *ret) {
        const char *word, *end;
        uint64_t v = 0;
        size_t length;
        unsigned cpu;

        if (!hn_has_prefix(line, n, "cpu") || !hn_next_word(&line, &n, &word, &length))
                return false;
        end = word + length;
        word += strlen("cpu");
        if (hn_parse_unsigned_prefix(&word, end, &cpu) < 0 || word != end || cpu >= n_cpus)
                return false;
        for (size_t k = 0; k < WAITED; k++)
                if (!hn_next_word(&line, &n, &word, &length) || hn_parse_u64(word, length, &v) < 0)
                        return false;
        *ret_cpu = cpu;
        *ret = v;
        return true;
}

size_t hn_runqueue_parse(const char *text, size_t n, uint64_t *waited, size_t n_cpus) {
        size_t length, taken = 0;
        const char *line;
        uint64_t v;
        unsigned cpu;

        if (n_cpus > 0)
                memset(waited, 0, n_cpus * sizeof(*waited));
        while (hn_next_line(&text, &n, &line, &length))
                if (parse_line(line, length, n_cpus, &cpu, &v)) {
                        waited[cpu] = v;
                        taken++;
                }
        return taken;
}

ssize_t hn_runqueue_read(const struct hn_sysroot *root, uint64_t *waited, size_t n_cpus) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        ssize_t n;

        n = hn_read_all_at(root->fd, TEXT_MAX, &text, "proc/schedstat");
        if (n == -ENOMEM)
                return -ENOMEM;
        return (ssize_t) hn_runqueue_parse(n < 0 ? "" : text, n < 0 ? 0 : (size_t) n, waited, n_cpus);
}

void hn_runqueue_between(const struct hn_topology *topo, const uint64_t *before, const uint64_t *now,
                         size_t n_cpus, uint64_t elapsed, uint32_t *ret_waiting) {
        for (size_t i = 0; i < topo->n_nodes; i++) {
                double waited = 0, share;

                for (size_t c = 0; c < n_cpus; c++)
                        if (hn_mask_has(&topo->nodes[i].usable, (unsigned) c) && now[c] > before[c])
                                waited += (double) (now[c] - before[c]);
                share = elapsed > 0 ? waited * 1000 / (double) elapsed : 0;
                ret_waiting[i] = share < UINT32_MAX ? (uint32_t) (share + 0.5) : UINT32_MAX;
        }
}
