/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>

#include "act/entries.h"

struct hn_ledger_entry *hn_ledger_entry_free(struct hn_ledger_entry *e) {
        if (e) {
                free(e->cgroup);
                free(e->reason);
        }
        free(e);
        return NULL;
}

int hn_entries_init(struct hn_entries *t) {
        *t = (struct hn_entries){ .n_buckets = 64 };
        t->buckets = calloc(t->n_buckets, sizeof(struct hn_ledger_entry *));
        return t->buckets ? 0 : -ENOMEM;
}

void hn_entries_deinit(struct hn_entries *t) {
        for (size_t i = 0; t->buckets && i < t->n_buckets; i++)
                for (struct hn_ledger_entry *e = t->buckets[i], *next; e; e = next) {
                        next = e->next;
                        hn_ledger_entry_free(e);
                }
        free(t->buckets);
        *t = HN_ENTRIES_NULL;
}

/* `n_buckets` is a power of two. */
static size_t bucket_of(size_t n_buckets, const struct hn_task_key *key) {
        uint64_t h = ((uint64_t) key->tid ^ key->start << 24) * UINT64_C(0x9e3779b97f4a7c15);

        return (size_t) (h >> 32) & (n_buckets - 1);
}

/* Where the pointer to the entry of this key stands, or would stand. */
static struct hn_ledger_entry **slot(const struct hn_entries *t, const struct hn_task_key *key) {
        struct hn_ledger_entry **p = &t->buckets[bucket_of(t->n_buckets, key)];

        while (*p && ((*p)->key.tid != key->tid || (*p)->key.start != key->start))
                p = &(*p)->next;
        return p;
}

/* Twice as many buckets. Without memory the chains just grow. */
static void grow(struct hn_entries *t) {
        size_t n = 2 * t->n_buckets;
        struct hn_ledger_entry **buckets = calloc(n, sizeof(struct hn_ledger_entry *));

        if (!buckets)
                return;
        for (size_t i = 0; i < t->n_buckets; i++)
                for (struct hn_ledger_entry *e = t->buckets[i], *next; e; e = next) {
                        struct hn_ledger_entry **p = &buckets[bucket_of(n, &e->key)];

                        next = e->next;
                        e->next = *p;
                        *p = e;
                }
        free(t->buckets);
        t->buckets = buckets;
        t->n_buckets = n;
}

struct hn_ledger_entry *hn_entries_find(const struct hn_entries *t, const struct hn_task_key *key) {
        return *slot(t, key);
}

void hn_entries_insert(struct hn_entries *t, struct hn_ledger_entry *e) {
        struct hn_ledger_entry **p;

        hn_entries_remove(t, &e->key);
        if (t->n >= 2 * t->n_buckets)
                grow(t);
        p = slot(t, &e->key);
        e->next = NULL;
        *p = e;
        t->n++;
}

void hn_entries_remove(struct hn_entries *t, const struct hn_task_key *key) {
        struct hn_ledger_entry **p = slot(t, key), *e = *p;

        if (!e)
                return;
        *p = e->next;
        t->n--;
        hn_ledger_entry_free(e);
}

struct hn_ledger_entry *hn_entries_next(const struct hn_entries *t, const struct hn_ledger_entry *e) {
        if (e && e->next)
                return e->next;
        for (size_t i = e ? bucket_of(t->n_buckets, &e->key) + 1 : 0; i < t->n_buckets; i++)
                if (t->buckets[i])
                        return t->buckets[i];
        return NULL;
}

static int key_cmp(const void *a, const void *b) {
        const struct hn_task_key *x = a, *y = b;
        int r = HN_CMP(x->tid, y->tid);

        return r != 0 ? r : HN_CMP(x->start, y->start);
}

int hn_entries_keys(const struct hn_entries *t, struct hn_task_key **ret, size_t *ret_n) {
        struct hn_task_key *keys = calloc(t->n + 1, sizeof(*keys));
        size_t n = 0;

        if (!keys)
                return -ENOMEM;
        for (const struct hn_ledger_entry *e = hn_entries_next(t, NULL); e; e = hn_entries_next(t, e))
                keys[n++] = e->key;
        qsort(keys, n, sizeof(*keys), key_cmp);
        *ret = keys;
        *ret_n = n;
        return 0;
}
