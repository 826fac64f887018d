/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "nodespec.h"

/* A list on its way through the parser. */
struct reader {
        const char *whole, *at;
        const struct hn_nodespec_terms *terms;
        bool relative;
        struct hn_mask *mask;
        struct hn_why *why;
};

/* As strtoul(3) reads it with base 0, white space and a sign in front included, since numactl does; without
 * what that makes of numbers below zero, which is huge ones. */
static int read_number(struct reader *r, uint64_t *ret) {
        const char *p = r->at + strspn(r->at, " \t\n\v\f\r");
        bool minus = *p == '-', digit;
        char *end = NULL;

        p += minus || *p == '+';
        digit = *p >= '0' && *p <= '9';
        errno = 0;
        if (digit)
                *ret = strtoull(p, &end, 0);
        if (!digit || (minus && *ret != 0))
                return hn_why(r->why, -EINVAL, "\"%s\": a %s number is missing at \"%s\"", r->whole,
                              r->terms->noun, r->at);
        if (errno != 0)
                *ret = UINT64_MAX;
        r->at = end;
        return 0;
}

static unsigned nth(const struct hn_mask *m, uint64_t n) {
        unsigned id = hn_mask_next(m, 0);

        while (n > 0 && id != HN_MASK_NONE) {
                id = hn_mask_next(m, id + 1);
                n--;
        }
        return id;
}

static int not_allowed(const struct reader *r, uint64_t number, unsigned id) {
        const struct hn_nodespec_terms *t = r->terms;
        char list[256];

        if (hn_mask_print_list(&t->allowed, list, sizeof(list)) < 0)
                (void) strcpy(list, "a long list");
        if (r->relative)
                return hn_why(r->why, -ERANGE,
                              "\"%s\": +%llu is past the end of the %ss that may be used: %s", r->whole,
                              (unsigned long long) number, t->noun, list);
        if (id != HN_MASK_NONE && hn_mask_has(&t->present, id) && !t->all)
                return hn_why(
                        r->why, -ERANGE,
                        "\"%s\": %s %u is not among those this process may use (%s); with --all in front it "
                        "may be named",
                        r->whole, t->noun, id, list);
        return hn_why(r->why, -ERANGE, "\"%s\": there is no %s %llu, only %s", r->whole, t->noun,
                      (unsigned long long) number, list);
}

/* A number and the id it stands for, which is allowed. */
static int read_id(struct reader *r, uint64_t *ret_number, unsigned *ret_id) {
        uint64_t number = 0;
        unsigned id;
        int k;

        k = read_number(r, &number);
        if (k < 0)
                return k;
        if (r->relative)
                id = nth(&r->terms->allowed, number);
        else
                id = number < HN_MASK_BITS ? (unsigned) number : HN_MASK_NONE;
        if (id == HN_MASK_NONE || !hn_mask_has(&r->terms->allowed, id))
                return not_allowed(r, number, id);
        *ret_number = number;
        *ret_id = id;
        return 0;
}

/* ":N" is the first of each N, ":U/G" the first U of each G. */
static int read_stride(struct reader *r, uint64_t *ret_used, uint64_t *ret_group) {
        uint64_t used = 1, group = 1;
        int k;

        if (*r->at == ':') {
                r->at++;
                k = read_number(r, &group);
                if (k < 0)
                        return k;
                if (*r->at == '/') {
                        r->at++;
                        used = group;
                        k = read_number(r, &group);
                        if (k < 0)
                                return k;
                }
                if (group == 0 || used == 0 || used > group)
                        return hn_why(
                                r->why, -EINVAL,
                                "\"%s\": a stride is :N or :U/G, with U from 1 to G: 0-7:2 is every second",
                                r->whole);
        }
        *ret_used = used;
        *ret_group = group;
        return 0;
}

/* Numbers count ids, or with "+" places among those allowed. What a range spans and is not allowed is left
 * out, as numactl does it. */
static int read_range(struct reader *r) {
        uint64_t first = 0, last = 0, used = 0, group = 0, place = 0;
        unsigned id = 0, end = 0;
        int k;

        k = read_id(r, &first, &id);
        if (k < 0)
                return k;
        end = id;
        last = first;
        if (*r->at == '-') {
                r->at++;
                k = read_id(r, &last, &end);
                if (k == 0)
                        k = read_stride(r, &used, &group);
                if (k < 0)
                        return k;
                if (end < id)
                        return hn_why(r->why, -EINVAL, "\"%s\": the range %llu-%llu runs backwards", r->whole,
                                      (unsigned long long) first, (unsigned long long) last);
        }
        for (unsigned i = id; i != HN_MASK_NONE && i <= end; i = hn_mask_next(&r->terms->allowed, i + 1)) {
                uint64_t at = r->relative ? place++ : i - id;

                if (group == 0 || at % group < used)
                        (void) hn_mask_add(r->mask, i);
        }
        return 0;
}

/* Returns 1 if the rest was a device, 0 if it is none. */
static int read_device(struct reader *r) {
        const struct hn_nodespec_terms *t = r->terms;
        unsigned node = 0;
        int k;

        if (!t->device)
                return 0;
        k = t->device(t->userdata, r->at, &node, r->why);
        if (k == -ENODATA)
                return 0;
        if (k < 0)
                return k;
        if (!hn_mask_has(&t->allowed, node))
                return hn_why(r->why, -ERANGE, "\"%s\": its node %u is not among those this process may use",
                              r->whole, node);
        (void) hn_mask_add(r->mask, node);
        return 1;
}

static int read_items(struct reader *r) {
        for (;;) {
                int k;

                if (strcmp(r->at, "all") == 0) {
                        *r->mask = hn_mask_or(r->mask, &r->terms->allowed);
                        return 0;
                }
                k = read_device(r);
                if (k != 0)
                        return k < 0 ? k : 0;
                k = read_range(r);
                if (k < 0)
                        return k;
                if (*r->at == '\0')
                        return 0;
                if (*r->at != ',')
                        return hn_why(r->why, -EINVAL, "\"%s\": \"%s\" is left over", r->whole, r->at);
                r->at++;
        }
}

int hn_nodespec_parse(const char *text, const struct hn_nodespec_terms *terms, struct hn_mask *ret,
                      struct hn_why *why) {
        struct hn_mask mask = HN_MASK_NULL;
        struct reader r = { .whole = text, .at = text, .terms = terms, .mask = &mask, .why = why };
        bool invert;
        int k;

        invert = *r.at == '!';
        r.at += invert;
        r.relative = *r.at == '+';
        r.at += r.relative;
        if (r.at > text || *text) {
                k = read_items(&r);
                if (k < 0)
                        return k;
        }
        *ret = invert ? hn_mask_andnot(&terms->present, &mask) : mask;
        return 0;
}
