/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>
#include <stdbool.h>
#include <sys/types.h>
#include <systemd/sd-bus.h>

/* Calls on the guest's system bus as this or that user: each from a process of its own that has become him,
 * groups and all, since the bus and polkit go by the connection. */
struct caller {
        const char *name; /* of the user */
        uid_t uid;
        gid_t gid;
};

/* Looks him up. Returns 0 or -ENOENT. */
int caller_find(const char *name, struct caller *ret);

/* In a child: becomes him for good. Returns 0 or -errno. */
int caller_become(const struct caller *who);

/* Runs `f` in a process of that user, with a connection; at most `seconds`. What it is to leave behind has to
 * be in memory of caller_share(). Returns 0, -ETIMEDOUT, -ECHILD (it ended otherwise), -errno. */
int caller_run(const struct caller *who, unsigned seconds, void (*f)(sd_bus *bus, void *userdata),
               void *userdata);

/* Zeroed memory that a child writes and we read, for good; NULL without memory. */
void *caller_share(size_t size);

/* What came back. `text`: a string, path or number; of an array how many it has; of a descriptor the whole
 * file. */
struct answer {
        bool ok;
        char error[128], message[1024];
        char text[1 << 18];
};

/* In short, for a check; a new reference. */
json_t *answer_tell(const struct answer *a);

struct call {
        const char *destination, *path, *interface, *member;
        bool interactive; /* a dialogue is allowed */
};

#define CALL_MANAGER(m)                                                                \
        (struct call) {                                                                \
                "org.homenode1", "/org/homenode1", "org.homenode1.Manager", (m), false \
        }

/* The daemon's word for a polkit that it waited for in vain. */
#define CALLER_LATE "polkit did not answer in time"

/* How many calls had to be repeated because of that. */
unsigned caller_late(void);

/* One call, and again where polkit was late. The answer is valid until the next; a caller who cannot be is an
 * answer with an error too. */
const struct answer *caller_call(const struct caller *who, const struct call *call, const char *types, ...);
