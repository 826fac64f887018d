/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "guest.h"
#include "judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/* How far below hand placement the share may be. */
#define SHARE_SLACK 0.03

/* Looks after which a daemon that wanted to act would have. */
#define TICKS_MIN 5

/* Moves that a thread may need until it is where it stays. */
#define MOVES_A_THREAD 2

bool judge_homenode(const struct trial *t) {
        return t->line->policy == POLICY_HOMENODE;
}

bool judge_text_has(const json_t *text, const char *what) {
        return json_is_string(text) && strcasestr(json_string_value(text), what);
}

int judge_since(char *buf, size_t size) {
        struct timespec ts;

        (void) clock_gettime(CLOCK_REALTIME, &ts);
        return snprintf(buf, size, "@%lld.%06ld", (long long) ts.tv_sec, ts.tv_nsec / 1000);
}

void judge_active(struct trial *t) {
        bool active = trial_service_active();

        trial_check(t, "active", active, json_boolean(active), "the service runs");
}

/* For a reader: each thread's mask before, under the daemon and after it. */
static void masks_tell(struct trial *t, const struct masks *under, const struct masks *after) {
        char was[128], is[128], back[128];

        for (size_t i = 0; i < t->before.n; i++) {
                const struct mask_entry *before = &t->before.entries[i];
                const struct mask_entry *managed = masks_find(under, before->tid, before->start);
                const struct mask_entry *restored = masks_find(after, before->tid, before->start);

                guest_say("thread %5d: allowed on CPUs %s before, %s under homenoded, %s after it%s",
                          before->tid, mask_print(&before->mask, was, sizeof(was)),
                          managed ? mask_print(&managed->mask, is, sizeof(is)) : "?",
                          restored ? mask_print(&restored->mask, back, sizeof(back)) : "?",
                          restored && CPU_EQUAL(&before->mask, &restored->mask) ? "" : "   NOT AS BEFORE");
        }
}

void judge_journal_tell(const char *since) {
        json_t *journal = trial_journal(since);
        char *text = strdup(json_string_value(journal)), *save = NULL;

        for (char *line = text ? strtok_r(text, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
                guest_say("journal: %s", line);
        free(text);
        json_decref(journal);
}

/* Whether some thread of the load is not there any more. Short tasks beside it may well be gone. */
static bool load_ended(const struct trial *t, const struct masks *now) {
        bool with_shorts = json_integer_value(json_object_get(t->json, "short_tasks")) > 0;

        for (unsigned i = 0; i < t->table->n_threads; i++) {
                bool found = false;

                for (size_t k = 0; k < now->n && !found; k++)
                        found = now->entries[k].tid == t->table->threads[i].tid;
                if (!found)
                        return true;
        }
        return !with_shorts && now->n < t->before.n;
}

/* Stops the policy and says whether every thread has the mask it had. With `spawned` there are threads made
 * meanwhile, which are to have the mask that their parents had. */
void judge_stop(struct trial *t, bool spawned) {
        static struct masks under, now;
        size_t changed, new_threads = 0;
        int r;

        (void) masks_take(LOAD_UNIT, &under);
        r = trial_policy_stop(t);
        if (r == 0)
                r = masks_take(LOAD_UNIT, &now);
        if (r < 0 || load_ended(t, &now)) {
                trial_check(t, "masks_equal_after", false, json_integer(r),
                            "a service that stops and a load that runs");
                json_object_set_new(t->json, "masks_equal_after", json_false());
                return;
        }
        if (t->line->demo)
                masks_tell(t, &under, &now);
        changed = masks_changed(&t->before, &now, spawned ? &t->before.entries[0].mask : NULL);
        for (size_t i = 0; i < now.n; i++)
                new_threads += !masks_find(&t->before, now.entries[i].tid, now.entries[i].start);
        json_object_set_new(t->json, "masks_compared", json_integer((json_int_t) now.n));
        json_object_set_new(t->json, "masks_equal_after", json_boolean(changed == 0));
        if (judge_homenode(t))
                trial_check(t, "masks_equal_after", changed == 0, json_integer((json_int_t) changed),
                            "0 masks that differ");
        if (spawned)
                trial_check(t, "spawned_compared", new_threads > 0, json_integer((json_int_t) new_threads),
                            "threads and children made while pinned");
}

void judge_share(struct trial *t, double reference) {
        json_t *after = json_object_get(t->json, "share_after"),
               *at_20 = json_object_get(t->json, "share_at_20");
        json_t *nodes = json_object_get(t->json, "threads_per_node"), *node;
        unsigned per_node = t->cpus->per_node;
        bool even = true;
        char want[64];
        size_t i;

        json_object_set_new(t->json, "share_hardbind", json_real(round(reference * 1000) / 1000));
        (void) snprintf(want, sizeof(want), ">= %.3f", reference - SHARE_SLACK);
        trial_check(t, "share_at_20",
                    json_is_number(at_20) && json_number_value(at_20) >= reference - SHARE_SLACK,
                    json_incref(at_20), want);
        trial_check(t, "share_after",
                    json_is_number(after) && json_number_value(after) >= reference - SHARE_SLACK,
                    json_incref(after), want);
        json_array_foreach (nodes, i, node)
                even = even && json_integer_value(node) == per_node;
        (void) snprintf(want, sizeof(want), "%u on each", per_node);
        trial_check(t, "threads_per_node", even, json_incref(nodes), want);
        trial_check(t, "signal", judge_text_has(json_object_get(t->json, "signal"), "faults"),
                    json_incref(json_object_get(t->json, "signal")), "faults");
}

void judge_counted(struct trial *t, double least) {
        json_t *counted = json_object_get(t->json, "exact_local_share");
        char want[64];

        if (!json_is_number(counted))
                return;
        (void) snprintf(want, sizeof(want), ">= %.3f", least);
        trial_check(t, "exact_local_share", json_number_value(counted) >= least, json_incref(counted), want);
}

void judge_settled(struct trial *t, double least) {
        json_t *settled = json_object_get(t->json, "share_settled");
        char want[64];

        (void) snprintf(want, sizeof(want), ">= %.3f", least);
        trial_check(t, "share_settled", json_is_number(settled) && json_number_value(settled) >= least,
                    json_incref(settled), want);
}

void judge_moves(struct trial *t) {
        json_int_t moves = json_integer_value(json_object_get(t->json, "moves"));
        json_int_t most = (json_int_t) MOVES_A_THREAD * t->table->n_threads;
        char want[64];

        (void) snprintf(want, sizeof(want), "<= %lld", (long long) most);
        trial_check(t, "moves", moves <= most, json_integer(moves), want);
}

void judge_even(struct trial *t) {
        json_t *nodes = json_object_get(t->json, "threads_per_node"), *node;
        json_int_t most = 0, least = HN_LOAD_THREADS_MAX;
        bool divides = t->table->n_threads % t->cpus->n_nodes == 0;
        size_t i;

        json_array_foreach (nodes, i, node) {
                json_int_t n = json_integer_value(node);

                most = n > most ? n : most;
                least = n < least ? n : least;
        }
        trial_check(t, "threads_even", most - least <= !divides, json_incref(nodes),
                    divides ? "as many on each node" : "no two nodes further apart than by one");
}

/* The nodes of all pages of all threads, to be compared page by page. */
int8_t *judge_pages_take(const struct trial *t) {
        size_t n = 0, at = 0;
        int8_t *nodes;

        for (unsigned i = 0; i < t->table->n_threads; i++)
                n += t->table->threads[i].pages;
        nodes = malloc(n);
        if (!nodes)
                return NULL;
        for (unsigned i = 0; i < t->table->n_threads; i++) {
                if (hn_load_pages(&t->table->threads[i], nodes + at) < 0) {
                        free(nodes);
                        return NULL;
                }
                at += t->table->threads[i].pages;
        }
        return nodes;
}

/* Pages that are on another node than before, of every thread or of the odd ones. */
json_int_t judge_pages_changed(const struct trial *t, const int8_t *before, bool odd_only) {
        int8_t *now = judge_pages_take(t);
        json_int_t changed = 0;
        size_t at = 0;

        if (!now)
                return -1;
        for (unsigned i = 0; i < t->table->n_threads; i++) {
                size_t n = t->table->threads[i].pages;

                for (size_t k = 0; k < n && (!odd_only || i % 2 == 1); k++)
                        changed += before[at + k] != now[at + k];
                at += n;
        }
        free(now);
        return changed;
}

static json_int_t ticks(void) {
        json_t *state = trial_state();
        json_int_t n = json_integer_value(json_object_get(state, "tick"));

        json_decref(state);
        return n;
}

static bool ticked(struct trial *t) {
        (void) t;
        return ticks() >= TICKS_MIN;
}

void judge_ticking(struct trial *t) {
        bool looked = trial_wait(t, 60, ticked), manages;
        json_t *state = trial_state();

        trial_check(t, "daemon_ticks", looked, json_integer(ticks()), ">= 5");
        manages = judge_text_has(json_object_get(state, "mode"), "manage");
        trial_check(t, "daemon_manages", manages, json_boolean(manages), "mode manage in its state");
        json_decref(state);
}
