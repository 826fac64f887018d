/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/maskpool.h"
#include "base/usec.h"
#include "policy/effect.h"
#include "policy/evidence.h"
#include "policy/snapshot.h"
#include "policy/topology.h"

/* What is remembered of a task from sweep to sweep: old state + snapshot = next state. Nothing here reads a
 * clock or the machine; a recorded series of snapshots gives the same states again. */

/* More than one, as between two stays on a node there may be others on the way round. */
#define HN_DEPARTURES 4

struct hn_departure {
        hn_node_index node; /* HN_NODE_NONE: none yet */
        hn_usec_t at;
};

struct hn_task_state {
        struct hn_task_key key;
        pid_t tgid;
        uint64_t runtime_ns; /* CPU time at the last sweep */
        uint64_t wait_ns;    /* time spent waiting for a CPU, at the last sweep */
        uint32_t used;       /* thousandths of a CPU it ran since the sweep before */
        uint32_t waited;     /* and waited for one */
        uint32_t demand;   /* thousandths of a CPU it ran or waited for, averaged: what it would use if alone.
                              Both are those of its whole life until a second sweep has measured them */
        uint64_t child_ns; /* CPU time of its process's children at the last sweep */
        uint32_t children; /* thousandths of a CPU that they used, averaged: may be more than one CPU */
        uint32_t samples;  /* sweeps with a known demand, saturating */
        enum hn_signal signal; /* what to go by of what the last sweep found, and its row in the snapshot: the
                                  pages of a task that is alone in its process, where its faults are too few
                                  or may be of another time */
        size_t row;
        hn_node_index home; /* node of most faults (or pages), with hysteresis; HN_NODE_NONE: not known yet */

        /* our pin */
        hn_node_index pinned; /* node we hold it on, HN_NODE_NONE for none */
        hn_mask_id ours;      /* the mask we set */
        hn_mask_id before;    /* the mask it had before our first act */
        hn_mask_id cpuset;    /* what its cpuset allowed when we set it */
        bool unrestricted;    /* `before` was all that its cpuset allowed */
        hn_usec_t pinned_at;
        uint64_t hand;           /* the override that our pin is from, 0: it is our own */
        struct hn_effect effect; /* whether that helped */

        /* by hand */
        uint64_t order;      /* the override that holds it at this sweep, 0 for none */
        uint64_t hands_off;  /* the one whose mask somebody changed, or the kernel refused */
        bool order_refused;  /* it was the kernel */
        uint64_t hand_pages; /* the one that has brought the memory of its process */

        /* what happened to it */
        bool inherited;        /* born with a mask of ours; the ledger has yet to hear of it */
        bool lost;             /* our mask is gone; the ledger has yet to hear of it */
        bool changed_by_other; /* somebody set another mask after us: hands off for good */
        bool refused;          /* the kernel will not have it: never again */
        bool ever_moved;
        hn_usec_t last_move;
        struct hn_departure left[HN_DEPARTURES]; /* nodes it was moved away or let go from, latest first */
        uint64_t seq, move_seq; /* the scan sequence of its memory now, and at the last move */
        uint32_t reversals;     /* returns to a node left shortly before; one is forgiven a quiet minute */
        hn_usec_t quiet_since;  /* the last move, or the last time that one was forgiven */
        hn_usec_t last_pages;   /* when its process's pages were last asked to move, 0 for never */
        struct hn_evidence evidence; /* how much its faults tell after the last of these acts */
};

struct hn_model;

int hn_model_new(const struct hn_topology *topo, struct hn_model **ret);
struct hn_model *hn_model_free(struct hn_model *m);
HN_DEFINE_CLEANUP(struct hn_model *, hn_model_free);

/* Takes in one snapshot. Afterwards state i is that of `s->tasks[i]`, until the next feed. Tasks that are not
 * in the snapshot are forgotten, a tid with another start time is a new task. Returns 0, -ENOMEM (in which
 * case the model is as before), or -ENOTUNIQ where tasks are not in order of tid. */
int hn_model_feed(struct hn_model *m, const struct hn_snapshot *s);

size_t hn_model_size(const struct hn_model *m);
const struct hn_task_state *hn_model_state(const struct hn_model *m, size_t i);

/* Thousandths of a core that work outside the snapshot uses on a node, averaged over some sweeps. What the
 * nodes were busy with, less what the sampled tasks ran; as a task is counted where it was last seen, a
 * surplus on one node that is missing on another is not taken for work of others. */
uint32_t hn_model_unsampled(const struct hn_model *m, hn_node_index node);

/* The part of it that was there all the time, for HN_LASTING sweeps; what was before the first look is not
 * known, and taken for nothing. */
#define HN_LASTING 5
uint32_t hn_model_lasting(const struct hn_model *m, hn_node_index node);

/* Since when a node has had nothing to do, HN_USEC_INFINITY if it has: less than HN_IDLE_BUSY thousandths of
 * a CPU, which is us. */
#define HN_IDLE_BUSY 50u
hn_usec_t hn_model_idle_since(const struct hn_model *m, hn_node_index node);

/* What came of a decision about state i; `now` is that of the decision. What is done while an override holds
 * the task is done for that. */
void hn_model_note_pin(struct hn_model *m, size_t i, hn_node_index from, hn_node_index to, hn_mask_id ours,
                       hn_mask_id before, hn_mask_id cpuset, bool unrestricted, hn_usec_t now);
/* The pin just noted took state i to where its local share, `before` until then, was to become better: it is
 * seen later whether it did. */
void hn_model_note_promise(struct hn_model *m, size_t i, uint32_t before, hn_usec_t now);

void hn_model_note_release(struct hn_model *m, size_t i, hn_usec_t now);
void hn_model_note_changed(struct hn_model *m, size_t i);
void hn_model_note_refused(struct hn_model *m, size_t i);
void hn_model_note_pages(struct hn_model *m, size_t i, hn_usec_t now);

/* All has been moved that could be, as override `hand` had asked for. */
void hn_model_note_brought(struct hn_model *m, size_t i, uint64_t hand);

/* The ledger has heard that state i was born with our mask, or has lost it. */
void hn_model_note_recorded(struct hn_model *m, size_t i);

/* Whether the kernel has been through the memory of state i since it was moved last: until then, what is
 * known of it is what it was moved for, and nothing else may come of it. A document's point (heuristics A11,
 * H1: task_numa_placement() once a scan sequence). True for who was never moved,
 * and where the kernel does not tell its sequence. */
bool hn_model_is_news(const struct hn_model *m, size_t i, hn_usec_t now);

/* Milliseconds until state i may be moved again, 0 for now. */
uint64_t hn_model_cooldown_left(const struct hn_model *m, size_t i, hn_usec_t now);
