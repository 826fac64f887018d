/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sysexits.h>

#include "base/escape.h"
#include "base/macro.h"
#include "busclient.h"
#include "verb.h"

static void unrefp(sd_bus **bus) {
        *bus = sd_bus_flush_close_unref(*bus);
}

static void message_unrefp(sd_bus_message **m) {
        *m = sd_bus_message_unref(*m);
}

int hn_busclient_open(const char *address, sd_bus **ret) {
        _hn_cleanup_(unrefp) sd_bus *bus = NULL;
        int r;

        if (!address)
                r = sd_bus_open_system(&bus);
        else {
                r = sd_bus_new(&bus);
                if (r >= 0)
                        r = sd_bus_set_address(bus, address);
                if (r >= 0)
                        r = sd_bus_set_bus_client(bus, true);
                if (r >= 0)
                        r = sd_bus_start(bus);
        }
        /* Whoever sits before a terminal may be asked for a password. */
        if (r >= 0)
                r = sd_bus_set_allow_interactive_authorization(bus, true);
        if (r < 0)
                return r;
        *ret = HN_TAKE_PTR(bus);
        return 0;
}

int hn_busclient_call(sd_bus *bus, const char *method, sd_bus_error *error, sd_bus_message **ret,
                      const char *types, ...) {
        _hn_cleanup_(message_unrefp) sd_bus_message *m = NULL;
        va_list ap;
        int r;

        r = sd_bus_message_new_method_call(bus, &m, HN_BUS_NAME, HN_BUS_PATH, HN_BUS_INTERFACE, method);
        if (r < 0)
                return r;
        r = sd_bus_message_set_auto_start(m, false);
        if (r < 0)
                return r;
        if (types[0] != '\0') {
                va_start(ap, types);
                r = sd_bus_message_appendv(m, types, ap);
                va_end(ap);
                if (r < 0)
                        return r;
        }
        return sd_bus_call(bus, m, 0, error, ret);
}

bool hn_busclient_is_absent(int r, const sd_bus_error *error) {
        if (error && error->name)
                return sd_bus_error_has_name(error, SD_BUS_ERROR_SERVICE_UNKNOWN) ||
                       sd_bus_error_has_name(error, SD_BUS_ERROR_NAME_HAS_NO_OWNER);
        return r == -ENOENT || r == -ECONNREFUSED || r == -ENOTDIR || r == -EHOSTDOWN;
}

int hn_busclient_complain(int r, const sd_bus_error *error, const char *what) {
        static const struct {
                const char *name;
                int status;
        } codes[] = {
                { SD_BUS_ERROR_ACCESS_DENIED, EX_NOPERM },
                { SD_BUS_ERROR_INTERACTIVE_AUTHORIZATION_REQUIRED, EX_NOPERM },
                { SD_BUS_ERROR_INVALID_ARGS, EX_DATAERR },
                { "org.homenode1.Error.NothingLeft", EX_DATAERR },
                { "org.homenode1.Error.NoSuchTask", EX_NOINPUT },
                { "org.homenode1.Error.NoSuchNode", EX_NOINPUT },
                { "org.homenode1.Error.NoSuchCgroup", EX_NOINPUT },
                { "org.homenode1.Error.NoSuchPin", EX_NOINPUT },
                { "org.homenode1.Error.Conflict", EX_NOPERM },
                { "org.homenode1.Error.Full", EX_TEMPFAIL },
        };
        char text[1024];

        if (hn_busclient_is_absent(r, error)) {
                hn_complain("%s: no homenoded answers on the bus: start it by \"systemctl start homenoded\"",
                            what);
                return EX_UNAVAILABLE;
        }
        if (!error || !error->message)
                return hn_complain_errno(r, "%s", what);
        (void) hn_escape_text(error->message, strlen(error->message), text, sizeof(text));
        hn_complain("%s: %s", what, text);
        for (size_t i = 0; i < HN_ELEMENTS(codes); i++)
                if (sd_bus_error_has_name(error, codes[i].name))
                        return codes[i].status;
        return EX_OSERR;
}
