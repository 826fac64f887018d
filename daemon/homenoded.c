/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <stdlib.h>
#include <sysexits.h>

#include "daemon/manager.h"
#include "daemon/options.h"
#include "daemon/undo.h"

int main(int argc, char **argv) {
        _hn_cleanup_(hn_manager_freep) struct hn_manager *manager = NULL;
        struct hn_options options;
        int r;

        r = hn_options_parse(argc, argv, &options);
        if (r < 0)
                return EX_USAGE;
        if (r == HN_OPTIONS_DONE)
                return EXIT_SUCCESS;
        if (options.restore)
                return hn_undo_main(&options);

        r = hn_manager_new(&options, &manager);
        if (r < 0)
                return EX_OSERR;
        r = hn_manager_run(manager);
        return r < 0 ? EX_SOFTWARE : EXIT_SUCCESS;
}
