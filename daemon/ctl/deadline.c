/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <signal.h>
#include <unistd.h>

#include "deadline.h"

void hn_deadline_set(unsigned seconds) {
        const struct sigaction normal = { .sa_handler = SIG_DFL };
        sigset_t set;

        (void) sigaction(SIGALRM, &normal, NULL);
        (void) sigemptyset(&set);
        (void) sigaddset(&set, SIGALRM);
        (void) sigprocmask(SIG_UNBLOCK, &set, NULL);
        (void) alarm(seconds);
}
