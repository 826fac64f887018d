/* SPDX-License-Identifier: LGPL-2.1-or-later */

/* Where would it go: a hundred who ask at once, while the pages of a load are moved to and fro; and numad,
 * asked the same. */

#include "buscalls.h"
#include "calls.h"
#include "guest.h"
#include "judge.h"
#include "scenario.h"

#include <errno.h>
#include <limits.h>
#include <linux/capability.h>
#include <math.h>
#include <numaif.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CALLS         100U
#define TURNS         20U
#define NUMAD_CALLS   20U
#define NUMAD_SECONDS 20U

/* What the slowest may take. A process that does nothing may take longer here than that: eight emulated CPUs
 * are one or two real ones, and a hundred processes that start at once are slow whatever they do. So each may
 * also take as long as so many that do nothing, started the same way in the same minute. */
#define SLOWEST_MS    200.0
#define TIMES_NOTHING 4.0

/* One after the other, a process that does nothing needs next to nothing: an eighth of a second here, of
 * which the others need several. Seen: 6 times. */
#define TIMES_IN_TURN 15.0
#define IN_TURN_WANT  "<= 200, or 15 times that of a process that does nothing"

/* By the bus no process is started; but a hundred pings at once that the daemon answers without a thought
 * take 230 to 760 ms here. So each call may also take so many times the slowest ping of the same turn: seen
 * were 0.4 to 2.1. Several turns, of which one has to do, as the emulated machine is held up by what else the
 * real one does. */
#define TIMES_PING 4.0
#define BUS_TURNS  3U

/* Less than the sixty after which a call ends itself, so that where it hangs can still be seen. */
#define CALL_SECONDS 50U

/* Between two moves of a process's pages. */
#define MOVE_USEC 20000

#define RESERVATIONS "/run/homenode/reservations"
#define LOOK_ALIKE   "/usr/libexec/homenode/numad"

static bool knows_load(struct trial *t) {
        json_t *state = trial_state();
        bool ok = json_array_size(json_object_get(state, "load")) == t->cpus->n_nodes;

        json_decref(state);
        return ok;
}

/* With this capability migrate_pages(2) moves pages that others have too: those of the C library and of the
 * loader, in every process of the machine. For each the kernel walks all mappings of the file under a lock
 * that a process needs to map a file and to unmap it, so that those who start wait, and those who have
 * answered do not come to their end: for half a minute and more. homenoded moves only what no other process
 * has. */
static void move_only_own_pages(void) {
        struct __user_cap_header_struct head = { .version = _LINUX_CAPABILITY_VERSION_3 };
        struct __user_cap_data_struct caps[2] = { { 0 } };

        if (syscall(SYS_capget, &head, caps) < 0)
                _exit(1);
        caps[0].effective &= ~(1U << CAP_SYS_NICE);
        if (syscall(SYS_capset, &head, caps) < 0)
                _exit(1);
}

/* Moves all memory of each process of the load to one node after the other, until it is killed. */
static void move_to_and_fro(const struct trial *t) {
        unsigned long all = 0;

        move_only_own_pages();
        for (unsigned i = 0; i < t->cpus->n_nodes; i++)
                all |= 1UL << t->cpus->nodes[i];
        for (unsigned turn = 0;; turn++)
                for (unsigned i = 0; i < t->table->n_threads; i++) {
                        const struct hn_load_thread *thread = &t->table->threads[i];
                        unsigned long to = 1UL << t->cpus->nodes[(turn + i) % t->cpus->n_nodes];

                        if (thread->tid == thread->pid) {
                                (void) migrate_pages(thread->pid, 8 * sizeof(all), &all, &to);
                                (void) usleep(MOVE_USEC);
                        }
                }
}

static json_t *times(const struct calls *cs) {
        return json_pack("{s:i, s:i, s:f, s:f}", "calls", (int) cs->n, "hung", (int) cs->hung, "slowest_ms",
                         cs->slowest_ms, "middle_ms", cs->middle_ms);
}

/* Whether it is the list of one node or several of this machine; each gets its part in `given`. */
static bool is_list(const struct trial *t, const char *text, double *given) {
        unsigned listed = 0, nodes[HN_LOAD_NODES_MAX];
        char *end;

        for (const char *p = text;; p = end + 1) {
                unsigned long first = strtoul(p, &end, 10), last = first;

                if (end == p)
                        return false;
                if (*end == '-')
                        last = strtoul(end + 1, &end, 10);
                for (unsigned long id = first; id <= last; id++) {
                        unsigned i = 0;

                        while (i < t->cpus->n_nodes && (unsigned long) t->cpus->nodes[i] != id)
                                i++;
                        if (i == t->cpus->n_nodes || listed == HN_LOAD_NODES_MAX)
                                return false;
                        nodes[listed++] = i;
                }
                if (*end != ',')
                        break;
        }
        for (unsigned i = 0; i < listed; i++)
                given[nodes[i]] += 1.0 / listed;
        return strcmp(end, "\n") == 0;
}

static unsigned reservations(void) {
        static char text[65536];
        unsigned n = 0;

        if (guest_file_read(RESERVATIONS, text, sizeof(text)) < 0)
                return 0;
        for (const char *p = text; (p = strchr(p, '\n')); p++)
                n++;
        return n;
}

static void add_check(struct trial *t, const char *name, const char *what, bool ok, json_t *got,
                      const char *want) {
        char check[64];

        (void) snprintf(check, sizeof(check), "%s_%s", name, what);
        trial_check(t, check, ok, got, want);
}

static void check_slowest(struct trial *t, const char *name, double slowest, double bound, const char *want) {
        add_check(t, name, "slowest_ms", slowest <= fmax(SLOWEST_MS, bound), json_real(slowest), want);
}

/* A hundred at once, whose slowest is held against `nothing_ms`. 69: it does not fit on this machine, which
 * is full; the list is the best there is. */
static int ask(struct trial *t, const char *name, char *const argv[], double nothing_ms) {
        static struct calls cs;
        uint64_t moved = guest_vmstat("pgmigrate_success");
        double given[HN_LOAD_NODES_MAX] = { 0 }, least = CALLS;
        unsigned answered = 0, kept;
        char errors[1024] = "";
        json_t *o;
        int r;

        (void) unlink(RESERVATIONS);
        r = calls_make(argv, CALLS, CALLS, CALL_SECONDS, &cs);
        if (r < 0)
                return r;
        kept = reservations();
        moved = guest_vmstat("pgmigrate_success") - moved;
        for (unsigned i = 0; i < cs.n; i++)
                answered += (cs.call[i].status == 0 || cs.call[i].status == 69) &&
                            is_list(t, cs.call[i].answer, given);
        for (unsigned i = 0; i < t->cpus->n_nodes; i++)
                least = given[i] < least ? given[i] : least;
        guest_say(
                "%s: %u of %u answered, %u reservations, slowest %.1f ms, middle %.1f ms, %llu pages moved meanwhile",
                name, answered, cs.n, kept, cs.slowest_ms, cs.middle_ms, (unsigned long long) moved);
        o = times(&cs);
        json_object_set_new(o, "answered", json_integer(answered));
        json_object_set_new(o, "reservations", json_integer(kept));
        json_object_set_new(o, "pages_moved", json_integer((json_int_t) moved));
        json_object_set_new(o, "fewest_on_a_node", json_real(least));
        (void) guest_file_read(CALLS_ERRORS, errors, sizeof(errors));
        json_object_set_new(o, "complaints", json_string(errors));
        json_object_set_new(t->json, name, o);
        if (answered < CALLS)
                for (unsigned i = 0; i < cs.n; i++)
                        if (cs.call[i].status != 0 && cs.call[i].status != 69)
                                guest_say("%s: status %d, answer \"%s\"", name, cs.call[i].status,
                                          cs.call[i].answer);

        add_check(t, name, "all_answer", answered == CALLS, json_integer(answered), "100");
        add_check(t, name, "all_count", kept >= CALLS, json_integer(kept), "100: a line or more of each");
        add_check(t, name, "spread", least >= CALLS / t->cpus->n_nodes / 2, json_real(least),
                  "on each node at least half of its part");
        check_slowest(t, name, cs.slowest_ms, TIMES_NOTHING * nothing_ms,
                      "<= 200, or 4 times that of a process that does nothing");
        add_check(t, name, "pages_moved", moved > 0, json_integer((json_int_t) moved), "> 0, meanwhile");
        return 0;
}

/* Calls that are only timed. */
static int time_calls(struct trial *t, const char *name, char *const argv[], unsigned n, unsigned at_once,
                      double *ret_slowest) {
        static struct calls cs;
        int r = calls_make(argv, n, at_once, CALL_SECONDS, &cs);

        if (r < 0)
                return r;
        guest_say("%s: %u, %u at a time, slowest %.1f ms, middle %.1f ms", name, cs.n, at_once, cs.slowest_ms,
                  cs.middle_ms);
        json_object_set_new(t->json, name, times(&cs));
        *ret_slowest = cs.slowest_ms;
        return 0;
}

/* A hundred at once by the bus, beside as many pings. */
static int ask_by_bus(struct trial *t) {
        static struct buscalls pings, bc;
        uint64_t moved = guest_vmstat("pgmigrate_success");
        double given[HN_LOAD_NODES_MAX], least = CALLS, slowest = 0, ping = 0;
        unsigned answered = CALLS, kept = UINT_MAX;
        json_t *turns = json_array();
        int r = 0;

        for (unsigned turn = 0; turn < BUS_TURNS; turn++) {
                unsigned lists = 0;

                r = buscalls_make(BUSCALL_PING, CALLS, CALL_SECONDS, &pings);
                (void) unlink(RESERVATIONS);
                if (r >= 0)
                        r = buscalls_make(BUSCALL_ADVISE, CALLS, CALL_SECONDS, &bc);
                if (r < 0)
                        break;
                memset(given, 0, sizeof(given));
                for (unsigned i = 0; i < bc.n; i++)
                        lists += is_list(t, bc.answer[i], given);
                for (unsigned i = 0; i < t->cpus->n_nodes; i++)
                        least = fmin(least, given[i]);
                answered = lists < answered ? lists : answered;
                kept = reservations() < kept ? reservations() : kept;
                guest_say(
                        "by the bus: %u of %u answered, slowest %.1f ms, middle %.1f ms; of as many pings %.1f "
                        "and %.1f ms%s%s",
                        lists, CALLS, bc.slowest_ms, bc.middle_ms, pings.slowest_ms, pings.middle_ms,
                        bc.error[0] ? "; " : "", bc.error);
                (void) json_array_append_new(
                        turns, json_pack("{s:i, s:f, s:f, s:f, s:f}", "answered", (int) lists, "slowest_ms",
                                         bc.slowest_ms, "middle_ms", bc.middle_ms, "slowest_ping_ms",
                                         pings.slowest_ms, "middle_ping_ms", pings.middle_ms));
                if (turn == 0 || bc.slowest_ms / pings.slowest_ms < slowest / ping) {
                        slowest = bc.slowest_ms;
                        ping = pings.slowest_ms;
                }
        }
        json_object_set_new(t->json, "bus", turns);
        if (r < 0)
                return r;
        moved = guest_vmstat("pgmigrate_success") - moved;
        add_check(t, "bus", "all_answer", answered == CALLS, json_integer(answered), "100, each time");
        add_check(t, "bus", "all_count", kept >= CALLS, json_integer(kept), "100: a line or more of each");
        add_check(t, "bus", "spread", least >= CALLS / t->cpus->n_nodes / 2, json_real(least),
                  "on each node at least half of its part");
        add_check(t, "bus", "slowest_ms", ping > 0 && slowest <= fmax(SLOWEST_MS, TIMES_PING * ping),
                  json_pack("[f, f]", slowest, ping),
                  "<= 200, or 4 times that of the slowest ping, behind it");
        add_check(t, "bus", "pages_moved", moved > 0, json_integer((json_int_t) moved), "> 0, meanwhile");
        return 0;
}

static int ask_numad(struct trial *t) {
        char *const argv[] = { (char *) "numad", (char *) "-w", (char *) "1:4", NULL };
        static struct calls cs;
        int r;

        r = guest_systemctl("start", "hn-numad.service");
        if (r != 0)
                return r < 0 ? r : -ECHILD;
        r = calls_make(argv, NUMAD_CALLS, NUMAD_CALLS, NUMAD_SECONDS, &cs);
        (void) guest_systemctl("stop", "hn-numad.service");
        if (r < 0)
                return r;
        guest_say("numad: %u of %u hung for %u s, slowest of the others %.1f ms", cs.hung, cs.n,
                  NUMAD_SECONDS, cs.slowest_ms);
        json_object_set_new(t->json, "numad", times(&cs));
        return 0;
}

static int ask_all(struct trial *t) {
        char *const nothing[] = { (char *) "true", NULL };
        char *const homenode[] = { (char *) "homenode", (char *) "advise", (char *) "1:4", NULL };
        char *const look_alike[] = { (char *) LOOK_ALIKE, (char *) "-w", (char *) "1:4", NULL };
        double first, nothing_turns = 0, turns = 0, look_alike_turns = 0, at_once = 0;
        int r;

        /* Once for the disk, from which they are read at first. */
        r = time_calls(t, "homenode_first", homenode, 1, 1, &first);
        if (r >= 0)
                r = time_calls(t, "look_alike_first", look_alike, 1, 1, &first);
        if (r >= 0)
                r = time_calls(t, "nothing_in_turn", nothing, TURNS, 1, &nothing_turns);
        if (r >= 0)
                r = time_calls(t, "homenode_in_turn", homenode, TURNS, 1, &turns);
        if (r >= 0)
                r = time_calls(t, "look_alike_in_turn", look_alike, TURNS, 1, &look_alike_turns);
        if (r >= 0)
                r = time_calls(t, "nothing", nothing, CALLS, CALLS, &at_once);
        if (r >= 0)
                r = ask(t, "homenode", homenode, at_once);
        if (r >= 0)
                r = ask(t, "look_alike", look_alike, at_once);
        if (r < 0)
                return r;
        check_slowest(t, "homenode_in_turn", turns, TIMES_IN_TURN * nothing_turns, IN_TURN_WANT);
        check_slowest(t, "look_alike_in_turn", look_alike_turns, TIMES_IN_TURN * nothing_turns, IN_TURN_WANT);
        return 0;
}

int scenario_advise(struct trial *t) {
        char explained[4096];
        pid_t mover;
        int r;

        r = trial_daemon_prepare(t);
        if (r >= 0)
                r = trial_load_start(t, LOAD_APART, "--mib 8 --duty 15");
        if (r >= 0)
                r = trial_policy_start(t);
        if (r < 0)
                return r;
        if (!trial_wait(t, 60, knows_load))
                return -ETIMEDOUT;
        judge_ticking(t);

        mover = fork();
        if (mover < 0)
                return -errno;
        if (mover == 0) {
                move_to_and_fro(t);
                _exit(0);
        }
        r = ask_by_bus(t);
        if (r >= 0)
                r = ask_all(t);
        if (r >= 0) {
                char *const argv[] = { (char *) "homenode", (char *) "advise", (char *) "--explain",
                                       (char *) "1:4", NULL };

                (void) guest_run(argv, explained, sizeof(explained));
                json_object_set_new(t->json, "explained", json_string(explained));
                trial_check(t, "by_the_daemons_figures", strstr(explained, "homenoded said") != NULL,
                            json_boolean(explained[0] != 0), "that the load is what homenoded said");
        }
        judge_stop(t, false);
        if (r >= 0)
                r = ask_numad(t);
        (void) kill(mover, SIGKILL);
        (void) waitpid(mover, NULL, 0);
        trial_figures(t);
        return r;
}
