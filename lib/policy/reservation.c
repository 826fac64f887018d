/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/macro.h"
#include "base/parse.h"
#include "policy/reservation.h"

void hn_reservations_deinit(struct hn_reservations *rs) {
        free(rs->list);
        *rs = HN_RESERVATIONS_NULL;
}

static bool parse_line(const char *line, size_t n, struct hn_reservation *ret) {
        struct hn_reservation r = {};
        uint64_t *const numbers[] = { &r.made, NULL, &r.cpus, &r.memory, &r.used, &r.available };
        const char *word;
        size_t length;

        for (size_t i = 0; i < HN_ELEMENTS(numbers); i++) {
                if (!hn_next_word(&line, &n, &word, &length))
                        return false;
                if ((numbers[i] ? hn_parse_u64(word, length, numbers[i])
                                : hn_parse_unsigned(word, length, &r.id)) < 0)
                        return false;
        }
        *ret = r;
        return !hn_next_word(&line, &n, &word, &length);
}

int hn_reservations_add(struct hn_reservations *rs, const struct hn_reservation *r) {
        struct hn_reservation *list;
        size_t allocated;

        if (rs->n == HN_RESERVATIONS_MAX) {
                /* Half of them at once: one by one, a long file would be copied as often as it has lines. */
                rs->n /= 2;
                memmove(rs->list, rs->list + rs->n, rs->n * sizeof(*rs->list));
        }
        if (rs->n == rs->allocated) {
                allocated = hn_more(rs->allocated);
                list = realloc(rs->list, allocated * sizeof(*list));
                if (!list)
                        return -ENOMEM;
                rs->list = list;
                rs->allocated = allocated;
        }
        rs->list[rs->n++] = *r;
        return 0;
}

long hn_reservations_read(struct hn_reservations *rs, const char *text, size_t n, hn_usec_t now) {
        struct hn_reservation r;
        const char *line;
        size_t length;
        long lines = 0;

        while (n > 0 && text[n - 1] != '\n')
                n--;
        while (hn_next_line(&text, &n, &line, &length)) {
                lines++;
                if (!parse_line(line, length, &r) || r.made > hn_usec_add(now, HN_RESERVATION_SLACK) ||
                    hn_usec_sub(now, r.made) >= HN_RESERVATION_LIFE)
                        continue;
                if (hn_reservations_add(rs, &r) < 0)
                        return -ENOMEM;
        }
        return lines;
}

size_t hn_reservation_print(const struct hn_reservation *r, char *buf, size_t size) {
        int n = snprintf(buf, size, "%" PRIu64 " %u %" PRIu64 " %" PRIu64 " %" PRIu64 " %" PRIu64 "\n",
                         r->made, r->id, r->cpus, r->memory, r->used, r->available);

        /* If it failed, that is a negative number, and so one that is too large. */
        return (size_t) n >= size ? 0 : (size_t) n;
}

/* What of `reserved` is outstanding when so much of it has been seen to start. */
static uint64_t outstanding(uint64_t reserved, uint64_t more, uint64_t less) {
        uint64_t started = more - HN_MIN(more, less);

        return reserved - HN_MIN(reserved, started);
}

/* Sums of one node. */
struct total {
        const struct hn_reservation *oldest;
        uint64_t cpus, memory;
};

static void count(const struct hn_reservations *rs, unsigned id, struct total *t) {
        for (size_t i = 0; i < rs->n; i++) {
                const struct hn_reservation *r = &rs->list[i];

                if (r->id != id)
                        continue;
                if (!t->oldest || r->made < t->oldest->made)
                        t->oldest = r;
                if (__builtin_add_overflow(t->cpus, r->cpus, &t->cpus))
                        t->cpus = UINT64_MAX;
                if (__builtin_add_overflow(t->memory, r->memory, &t->memory))
                        t->memory = UINT64_MAX;
        }
}

void hn_reservations_apply(const struct hn_reservations *lists, size_t n_lists,
                           const struct hn_topology *topo, struct hn_advise_node *nodes) {
        for (size_t i = 0; i < topo->n_nodes; i++) {
                struct total t = { .oldest = NULL };

                for (size_t k = 0; k < n_lists; k++)
                        count(&lists[k], topo->nodes[i].id, &t);
                if (t.oldest) {
                        t.cpus = outstanding(t.cpus, hn_advise_used(&nodes[i]), t.oldest->used);
                        t.memory = outstanding(t.memory, t.oldest->available, hn_advise_available(&nodes[i]));
                }
                nodes[i].reserved_cpus = t.cpus;
                nodes[i].reserved_memory = t.memory;
        }
}
