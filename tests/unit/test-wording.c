/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/macro.h"
#include "daemon/wording.h"

/* Two nodes with the ids 3 and 7: what is printed are ids, not indices. */
static void make_topology(struct hn_topology *topo) {
        assert_int_equal(hn_topology_init(topo, 2, 8), 0);
        topo->nodes[0].id = 3;
        topo->nodes[1].id = 7;
}

static struct hn_hand hand = { .id = 17 };

static void sentences(void **state) {
        static const struct {
                struct hn_decision d;
                bool dry;
                const char *text;
        } rows[] = {
                { { .act = HN_ACT_PIN,
                    .reason = HN_REASON_REMOTE_FAULTS,
                    .from = 0,
                    .to = 1,
                    .signal = HN_SIGNAL_FAULTS,
                    .share_from = 44,
                    .share_to = 956,
                    .demand = 960,
                    .used = 1960,
                    .capacity = 2000 },
                  false,
                  "moved from node 3 to node 7: most of its faults are on another node; 4 % of its faults are on node "
                  "3; 96 % of its faults are on node 7; it uses 1.0 of a core, node 7 has given away 2.0 of 2.0" },
                { { .act = HN_ACT_PIN,
                    .reason = HN_REASON_AT_HOME,
                    .from = 1,
                    .to = 1,
                    .signal = HN_SIGNAL_RESIDENCY,
                    .share_from = 1000,
                    .demand = 500,
                    .used = 500,
                    .capacity = 1800 },
                  true,
                  "would be held on node 7: it runs beside its memory and is held there; 100 % of its process's pages "
                  "are on node 7; it uses 0.5 of a core, node 7 has given away 0.5 of 1.8" },
                { { .act = HN_ACT_PIN,
                    .reason = HN_REASON_OVERRIDE,
                    .from = 0,
                    .to = 1,
                    .demand = 500,
                    .by_hand = true,
                    .hand = &hand },
                  false,
                  "moved from node 3 to node 7: it was put there by hand (override 17, nodes 7-8); it uses 0.5 of a "
                  "core" },
                { { .act = HN_ACT_RELEASE,
                    .reason = HN_REASON_OVERRIDE_OVER,
                    .from = 1,
                    .to = 1,
                    .by_hand = true },
                  false,
                  "let go from node 7: the override by hand is over for it, so it has its old mask back" },
                { { .act = HN_ACT_RELEASE, .reason = HN_REASON_NODE_OVERLOADED, .from = 0, .to = 0 },
                  false,
                  "let go from node 3: the node we held it on has more work than cores, so it is let go" },
                { { .act = HN_ACT_RELEASE,
                    .reason = HN_REASON_NO_GAIN,
                    .from = 0,
                    .to = 0,
                    .signal = HN_SIGNAL_FAULTS,
                    .share_from = 254,
                    .share_before = 300 },
                  false,
                  "let go from node 3: the move brought it no nearer to its memory, so it is undone; 25 % of its "
                  "faults are on node 3; it had 30 % beside it before" },
                { { .act = HN_ACT_NONE,
                    .reason = HN_REASON_USER_MASK,
                    .from = HN_NODE_NONE,
                    .to = HN_NODE_NONE },
                  false,
                  "left on an unknown node: somebody else narrowed its affinity mask" },
                { { .act = HN_ACT_ADOPT, .reason = HN_REASON_SETTLED, .from = 0, .to = 0 },
                  false,
                  "born with our mask of node 3" },
        };
        struct hn_topology topo;
        char buf[512];

        (void) state;
        make_topology(&topo);
        hn_mask_add_range(&hand.nodes, 7, 8);
        for (size_t i = 0; i < HN_ELEMENTS(rows); i++) {
                size_t n = hn_wording_decision(&rows[i].d, &topo, rows[i].dry, buf, sizeof(buf));

                assert_string_equal(buf, rows[i].text);
                assert_int_equal(n, strlen(rows[i].text));
        }
        hn_topology_deinit(&topo);
}

static void a_short_buffer_cuts(void **state) {
        struct hn_decision d = { .act = HN_ACT_NONE, .reason = HN_REASON_IDLE, .from = 0, .to = 0 };
        struct hn_topology topo;
        char buf[8] = "XXXXXXX";

        (void) state;
        make_topology(&topo);
        assert_int_equal(hn_wording_decision(&d, &topo, false, buf, sizeof(buf)), 7);
        assert_string_equal(buf, "left on");
        assert_int_equal(hn_wording_decision(&d, &topo, false, buf, 0), 0);
        hn_topology_deinit(&topo);
}

static void every_act_and_reason_makes_a_sentence(void **state) {
        struct hn_topology topo;
        char buf[512];

        (void) state;
        make_topology(&topo);
        for (int act = 0; act < _HN_ACT_MAX; act++)
                for (int reason = 0; reason < _HN_REASON_MAX; reason++)
                        for (int dry = 0; dry < 2; dry++) {
                                struct hn_decision d = { .act = (enum hn_act) act,
                                                         .reason = (enum hn_reason) reason,
                                                         .from = 0,
                                                         .to = 1 };

                                assert_true(hn_wording_decision(&d, &topo, dry, buf, sizeof(buf)) > 20);
                                assert_null(strstr(buf, "(null)"));
                        }
        hn_topology_deinit(&topo);
}

int main(void) {
        const struct CMUnitTest tests[] = {
                cmocka_unit_test(sentences),
                cmocka_unit_test(a_short_buffer_cuts),
                cmocka_unit_test(every_act_and_reason_makes_a_sentence),
        };

        return cmocka_run_group_tests(tests, NULL, NULL);
}
