/* SPDX-License-Identifier: LGPL-2.1-or-later */

#include "guest.h"
#include "rights.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define RULES "/etc/polkit-1/rules.d/10-guest.rules"

/* polkitd looks at its folders of rules by itself, after a while. */
static const struct answer *wait_reload(const struct rights *s, bool ok) {
        uint64_t end = guest_now() + UINT64_C(20000000);

        for (;;) {
                const struct answer *a = caller_call(&s->who[BY_OTHER], &CALL_MANAGER("Reload"), "");

                if (a->ok == ok || guest_now() > end)
                        return a;
                guest_sleep_until(guest_now() + UINT64_C(200000));
        }
}

void rights_rules(struct trial *t, const struct rights *s) {
        static const char rules[] = "polkit.addRule(function(action, subject) {\n"
                                    "        if (subject.user != \"hn-other\") return undefined;\n"
                                    "        if (action.id == \"" RELOAD "\" || action.id == \"" MOVE_PAGES
                                    "\")\n"
                                    "                return polkit.Result.YES;\n"
                                    "        if (action.id == \"" SET_MODE "\") return polkit.Result.NO;\n"
                                    "        return undefined;\n});\n";
        const struct answer *a;
        char target[16];
        uint64_t id;

        if (guest_file_write(RULES, rules) < 0) {
                trial_check(t, "rules_written", false, json_null(), "a file of rules");
                return;
        }
        rights_check(t, "Reload_by_other_by_rule", wait_reload(s, true), "");
        rights_check(t, "Reload_by_owner_without_rule",
                     caller_call(&s->who[BY_OWNER], &CALL_MANAGER("Reload"), ""), RELOAD);
        a = caller_call(&s->who[BY_OTHER], &CALL_MANAGER("SetMode"), "s", "manage");
        trial_check(t, "SetMode_by_other_against_rule",
                    !a->ok && strcmp(a->error, SD_BUS_ERROR_ACCESS_DENIED) == 0 &&
                            strstr(a->message, "the action " SET_MODE ". polkit says no."),
                    answer_tell(a), "AccessDenied: ... the action " SET_MODE ". polkit says no.");
        /* Who may move memory may hold the tasks it belongs to. */
        (void) snprintf(target, sizeof(target), "%d", s->own);
        id = rights_pin(&s->who[BY_OTHER], "process", target, s->node, false, &a);
        rights_check(t, "Pin_by_other_as_move_pages_implies_it", a, "");
        if (id > 0)
                rights_check(t, "Unpin_by_other_of_his_own_pin", rights_unpin(&s->who[BY_OTHER], id), "");
        (void) unlink(RULES);
        rights_check(t, "Reload_by_other_rule_gone", wait_reload(s, false), RELOAD);
}
