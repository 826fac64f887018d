/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Whatever the file says, the table is one, and what is written of it reads as the same. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "daemon/overridelist.h"

#define BOOT "11111111-2222-3333-4444-555555555555"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void check_entry(const struct hn_override_entry *e) {
        struct hn_override_list again = HN_OVERRIDE_LIST_NULL;
        const struct hn_override *o;
        size_t damaged, past;
        char *line;

        assert(e->o.id > 0 && e->o.why && !hn_mask_empty(&e->o.nodes));
        assert(hn_override_kind_to_string(e->o.kind));
        assert(e->o.kind == HN_OVERRIDE_CGROUP ? hn_override_is_path(e->o.cgroup) : e->o.pid > 0);
        assert(hn_override_line(e, BOOT, &line) == 0);
        assert(!strchr(line, '\n'));
        assert(hn_override_list_replay(&again, line, strlen(line), BOOT, &damaged, &past) == 0);
        assert(again.n == 1 && damaged + past == 0);
        o = &again.entries[0].o;
        assert(o->id == e->o.id && o->pid == e->o.pid && o->expires == e->o.expires);
        assert(hn_mask_equal(&o->nodes, &e->o.nodes) && hn_mask_equal(&o->cpus, &e->o.cpus));
        assert(strcmp(o->why, e->o.why) == 0);
        free(line);
        hn_override_list_deinit(&again);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        struct hn_override_list list = HN_OVERRIDE_LIST_NULL;
        size_t damaged, past;

        assert(hn_override_list_replay(&list, (const char *) data, n, BOOT, &damaged, &past) == 0);
        assert(list.n <= HN_OVERRIDES_MAX);
        for (size_t i = 0; i < list.n; i++) {
                assert(i == 0 || list.entries[i - 1].o.id < list.entries[i].o.id);
                assert(list.entries[i].o.id < list.next_id);
                check_entry(&list.entries[i]);
        }
        hn_override_list_deinit(&list);
        return 0;
}
