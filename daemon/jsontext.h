/* SPDX-License-Identifier: LGPL-2.1-or-later */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

/* Values for jansson from what the machine says. Text is escaped (base/escape.h), so that it is always valid
 * UTF-8 and jansson takes it; what is longer than a path of the kernel's is cut there. */
json_t *hn_json_text_n(const char *text, size_t n); /* null for NULL */
json_t *hn_json_text(const char *text);
json_t *hn_json_number(uint64_t v);
