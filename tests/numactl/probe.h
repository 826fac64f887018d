/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/mask.h"

/* In the environment: the process that started what became the probe. */
#define PROBE_PARENT "HN_SIDE_PARENT"

/* The command that both start: says under which policy and on which CPUs it finds itself, with which
 * arguments, and what else it has inherited that it should not. */
int probe_main(int argc, char **argv);

/* What became of a file or of a segment: size, mode and the policy of each page, as "file=bind:2 x16,
 * default: x4". Nothing where there is none. */
void probe_file(FILE *f, const char *path);
void probe_shm(FILE *f, const char *key_path, int id);

/* Whether this kernel interleaves by weight. Changes nothing. */
bool probe_has_weighted(void);

/* Id lists, and "policy:nodes". */
void probe_print_list(FILE *f, const struct hn_mask *m);
