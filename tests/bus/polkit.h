/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include "stage.h"

/* A polkit that answers every question the same way, and says on the bus what it was asked:
 * "org.homenode1.Test.Asked / ACTION FLAGS COOKIE" and "org.homenode1.Test.Cancelled / COOKIE". */
enum polkit_answer { POLKIT_YES, POLKIT_NO, POLKIT_CHALLENGE, POLKIT_NEVER, POLKIT_ERROR, POLKIT_NONSENSE };

/* Returns its process once it is on the bus, to be given to stage_kill(). */
pid_t polkit_start(struct stage *s, enum polkit_answer answer);
