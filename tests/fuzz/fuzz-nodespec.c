/* SPDX-License-Identifier: LGPL-2.1-or-later */
/* Lists of numactl's form: whatever the text, only what there is comes out of it, a refusal has its sentence
 * and leaves the result alone, and what was read can be printed and read again. */
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "nodespec.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n);

static void require(bool what) {
        if (!what)
                abort();
}

static int device(void *userdata, const char *text, unsigned *ret_node, struct hn_why *why) {
        (void) userdata;
        if (strncmp(text, "dev:", 4) != 0)
                return -ENODATA;
        if (text[4] < '0' || text[4] > '9')
                return hn_why(why, -ENODEV, "%s: no such device", text);
        *ret_node = (unsigned) (text[4] - '0');
        return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t n) {
        struct hn_nodespec_terms terms = {
                .noun = "node",
                .allowed = { .word = { 0x8c, 0, 1 } },
                .present = { .word = { 0x1000008d, 0, 1 } },
                .device = device,
        };
        struct hn_mask m = HN_MASK_NULL, again;
        struct hn_why why = HN_WHY_NULL;
        char list[HN_MASK_LIST_MAX], *text;
        int r;

        text = malloc(n + 1);
        require(text != NULL);
        memcpy(text, data, n);
        text[n] = '\0';
        r = hn_nodespec_parse(text, &terms, &m, &why);
        require(r == 0 || r == -EINVAL || r == -ERANGE || r == -ENODEV);
        require((r < 0) == (why.text[0] != '\0'));
        require(r == 0 || hn_mask_empty(&m));
        require(hn_mask_subset(&m, text[0] == '!' ? &terms.present : &terms.allowed));
        for (const char *p = why.text; *p; p++)
                require((unsigned char) *p >= ' ' && *p != 0x7f);
        if (r == 0 && text[0] != '!' && !hn_mask_empty(&m)) {
                require(hn_mask_print_list(&m, list, sizeof(list)) > 0);
                require(hn_nodespec_parse(list, &terms, &again, NULL) == 0);
                require(hn_mask_equal(&m, &again));
        }
        free(text);
        return 0;
}
