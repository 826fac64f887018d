/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/macro.h"
#include "statefile.h"

/* 65,536 scopes of a hundred bytes, ten times over. */
#define STATE_MAX (64u << 20)

static const char *const names[_HN_DAEMON_STATE_MAX] = {
        [HN_DAEMON_RUNNING] = "running", [HN_DAEMON_STALE] = "stale",   [HN_DAEMON_STOPPED] = "stopped",
        [HN_DAEMON_DIED] = "died",       [HN_DAEMON_NEVER] = "not-run",
};

const char *hn_daemon_state_to_string(enum hn_daemon_state s) {
        return (size_t) s < HN_ELEMENTS(names) ? names[s] : NULL;
}

int hn_statefile_read(const char *run_dir, json_t **ret) {
        _hn_cleanup_(hn_freep) char *text = NULL;
        json_error_t error;
        json_t *state;
        ssize_t n;
        int dir;

        dir = open(run_dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
        if (dir < 0)
                return -errno;
        /* Read whole: the file may be replaced at any time. */
        n = hn_read_all_at(dir, STATE_MAX, &text, "state.json");
        (void) close(dir);
        if (n < 0)
                return (int) n;
        state = json_loadb(text, (size_t) n, 0, &error);
        if (!state)
                return -EBADMSG;
        if (!json_is_object(state)) {
                json_decref(state);
                return -EBADMSG;
        }
        *ret = state;
        return 0;
}

bool hn_statefile_is_daemon(const struct hn_sysroot *root, int64_t pid) {
        char comm[32];
        ssize_t n;

        if (pid <= 0 || pid > INT32_MAX)
                return false;
        n = hn_read_at(root->fd, comm, sizeof(comm), "proc/%d/comm", (int) pid);
        return n >= 0 && strcmp(comm, "homenoded\n") == 0;
}

enum hn_daemon_state hn_statefile_judge(const json_t *state, uint64_t now, bool alive) {
        uint64_t written, limit;

        if (!state)
                return HN_DAEMON_NEVER;
        if (json_is_false(json_object_get(state, "running")))
                return HN_DAEMON_STOPPED;
        if (!alive)
                return HN_DAEMON_DIED;
        written = (uint64_t) HN_MAX(hn_state_number(state, "time_usec"), (int64_t) 0);
        limit = (uint64_t) HN_MIN(HN_MAX(hn_state_number(state, "interval_usec"), (int64_t) 0),
                                  INT64_MAX / 3);
        /* A clock that was set back makes the state one of the future: nothing to worry about. */
        return hn_usec_sub(now, written) > HN_MAX(3 * limit, HN_STATE_FRESH_MIN) ? HN_DAEMON_STALE
                                                                                 : HN_DAEMON_RUNNING;
}

const char *hn_state_text(const json_t *object, const char *key) {
        const char *text = json_string_value(json_object_get(object, key));

        return text ? text : "";
}

int64_t hn_state_number(const json_t *object, const char *key) {
        return json_integer_value(json_object_get(object, key));
}
